// Loops on several threads: every part once, exceptions and interruptions reach the caller.
#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <vector>

#include "check.hpp"
#include "exec/threads.hpp"
#include "sph/parallel.hpp"

namespace {

using vicinal::parallel_for;
using vicinal::parallel_ranges;

// Sets the number of threads for the calls of one test.
class Threads {
 public:
  explicit Threads(int n) : before_(vicinal::thread_count_setting()) {
    vicinal::thread_count_setting() = n;
    vicinal::enter_call();
  }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;
  ~Threads() {
    vicinal::thread_count_setting() = before_;
    vicinal::enter_call();
  }

 private:
  int before_;
};

const check::Register once("every part is processed once, by an existing thread", [] {
  for (const int n : {1, 2, 3, 8}) {
    const Threads threads(n);
    for (const std::size_t parts :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{7}, std::size_t{1000}}) {
      std::vector<std::atomic<int>> visits(parts);
      std::atomic<bool> known{true};
      parallel_for(parts, [&](std::size_t part, int thread) {
        ++visits[part];
        if (thread < 0 || thread >= n) known = false;
      });
      for (const auto& count : visits) check::equal(count.load(), 1, "visits of a part");
      check::that(known, "threads are numbered from 0 to below the number of threads");
    }
  }
});

const check::Register pieces("ranges cover everything without overlap", [] {
  const Threads threads(3);
  for (const std::size_t n : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, std::size_t{1000}}) {
    std::vector<std::atomic<int>> visits(n);
    parallel_ranges(n, 64, [&](std::size_t begin, std::size_t end, std::size_t piece) {
      check::equal(begin, piece * 64, "begin of a piece");
      check::that(end <= n && end - begin <= 64, "a piece is no longer than the grain");
      for (std::size_t k = begin; k < end; ++k) ++visits[k];
    });
    for (const auto& count : visits) check::equal(count.load(), 1, "visits of a place");
  }
});

const check::Register thrown("an exception reaches the caller, with its message, and the next loop runs", [] {
  for (const int n : {1, 2, 5}) {
    const Threads threads(n);
    for (const std::size_t bad : {std::size_t{0}, std::size_t{500}, std::size_t{999}}) {
      std::string message;
      try {
        parallel_for(1000, [&](std::size_t part, int) {
          if (part == bad) throw std::runtime_error("part " + std::to_string(part));
        });
      } catch (const std::runtime_error& error) {
        message = error.what();
      }
      check::that(message == "part " + std::to_string(bad), "the message is that of the part: " + message);
    }
    std::atomic<int> count{0};
    parallel_for(100, [&](std::size_t, int) { ++count; });
    check::equal(count.load(), 100, "parts of the loop after an exception");
  }
});

const check::Register several("one of several exceptions reaches the caller, and the rest of the work is skipped", [] {
  const Threads threads(4);
  std::atomic<int> count{0};
  check::throws<std::runtime_error>(
      [&] {
        parallel_for(1000000, [&](std::size_t, int) {
          ++count;
          throw std::runtime_error("each");
        });
      },
      "an exception of each part");
  check::that(count <= 4, "each thread stops at its first exception");
});

std::atomic<int> polls{0};

const check::Register interrupted("a loop that is interrupted ends with Interrupted", [] {
  for (const int n : {1, 2}) {
    const Threads threads(n);
    polls = 0;
    vicinal::interrupt_poll() = [] { return ++polls > 10; };
    std::atomic<int> count{0};
    check::throws<vicinal::Interrupted>([&] { parallel_for(100000000, [&](std::size_t, int) { ++count; }); },
                                        "an interruption after ten polls");
    check::that(count < 100000000, "the loop ended early");
    vicinal::interrupt_poll() = nullptr;
    count = 0;
    parallel_for(100, [&](std::size_t, int) { ++count; });
    check::equal(count.load(), 100, "parts of the loop after an interruption");
  }
});

const check::Register ranges("threads of a step do their own parts first, then those that others have left", [] {
  vicinal::sph::PartRanges parts(10, 2);
  std::vector<std::size_t> taken;
  std::size_t part = 0;
  check::that(parts.take(0, part), "a part for the first thread");
  check::equal(part, 0U, "the first part of the first thread");
  while (parts.take(1, part)) taken.push_back(part);
  check::that(taken == std::vector<std::size_t>{5, 6, 7, 8, 9, 4, 3, 2, 1}, "parts of the second thread");
  check::that(!parts.take(0, part), "nothing is left");
});

const check::Register steps("every part of a step is done once, by an existing thread", [] {
  constexpr std::size_t many = 1 << 20;  // particles: enough for any number of threads
  for (const int n : {1, 2, 3, 8}) {
    const Threads threads(n);
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::size_t{5000}}) {
      std::vector<std::atomic<int>> visits(count);
      std::atomic<bool> known{true};
      vicinal::sph::each(count, many, [&](std::size_t part, std::size_t thread) {
        ++visits[part];
        if (thread >= static_cast<std::size_t>(n)) known = false;
      });
      for (const auto& v : visits) check::equal(v.load(), 1, "visits of a part");
      check::that(known, "numbers of threads");
    }
  }
});

const check::Register fixed("the number of threads is fixed when a call begins", [] {
  const Threads threads(2);
  const int during = vicinal::thread_count();
  vicinal::thread_count_setting() = 7;
  check::equal(vicinal::thread_count(), during, "threads of a call in progress");
  vicinal::enter_call();
#ifdef _OPENMP
  check::equal(vicinal::thread_count(), 7, "threads of the next call");
#else
  check::equal(vicinal::thread_count(), 1, "threads without OpenMP");
#endif
});

const check::Register forked("a forked process uses one thread", [] {
  const Threads threads(4);
  vicinal::alone_after_fork() = true;
  vicinal::enter_call();
  check::equal(vicinal::thread_count(), 1, "threads of a forked child");
  vicinal::alone_after_fork() = false;
});

}  // namespace
