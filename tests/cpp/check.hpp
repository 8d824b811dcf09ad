// The framework of the C++ tests: tests register themselves, checks report file and line, main.cpp runs all tests.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace check {

struct Test {
  std::string name;
  std::function<void()> run;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

// One at namespace scope for each test.
struct Register {
  Register(std::string name, std::function<void()> run) { tests().push_back({std::move(name), std::move(run)}); }
};

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// File and line of the caller; both compilers have these built in, std::source_location not yet.
inline void that(bool holds, const std::string& what, const char* file = __builtin_FILE(),
                 int line = __builtin_LINE()) {
  if (!holds) throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + what);
}

template <class A, class B>
void equal(const A& actual, const B& expected, const std::string& what, const char* file = __builtin_FILE(),
           int line = __builtin_LINE()) {
  that(actual == expected, what + " is " + std::to_string(actual) + ", expected " + std::to_string(expected), file,
       line);
}

// `run` must throw an E.
template <class E, class F>
void throws(F&& run, const std::string& what, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  bool thrown = false;
  try {
    run();
  } catch (const E&) {
    thrown = true;
  }
  that(thrown, what, file, line);
}

}  // namespace check
