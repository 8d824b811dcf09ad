// Runs every C++ test, or those whose name contains the first argument; fails if one of them fails.
#include <cstdio>
#include <exception>
#include <string>

#include "check.hpp"

int main(int argc, char** argv) {
  const std::string wanted = argc > 1 ? argv[1] : "";
  int run = 0;
  int failed = 0;
  for (const check::Test& test : check::tests()) {
    if (test.name.find(wanted) == std::string::npos) continue;
    ++run;
    try {
      test.run();
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %s\n  %s\n", test.name.c_str(), error.what());
    }
  }
  std::printf("C++: %d tests passed, %d failed\n", run - failed, failed);
  return failed > 0 || run == 0 ? 1 : 0;
}
