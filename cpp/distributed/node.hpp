// An exchange between ranks that share memory. Every rank has a section, which it alone writes: two letters, used in
// turn. A rank writes letter s, then stores s as its number; the others wait for this number and read. A rank writes
// into the same memory again with letter s + 2, after all ranks have stored s + 1, and so have read letter s.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "distributed/exchange.hpp"
#include "exec/memory.hpp"

namespace vicinal {

class Node final : public Exchange {
 public:
  // Called from time to time, also while other ranks keep this one waiting: returns whether to set the last number on
  // which ranks agree to 1.
  std::function<bool()> poll;

  // The bytes of memory that all ranks need if letters have `capacity` bytes.
  static std::size_t bytes(std::size_t ranks, std::size_t capacity) { return ranks * section_bytes(ranks, capacity); }
  // `memory`: zeros at first, the same for all ranks, and at an address divisible by the size of a cache line.
  Node(std::span<std::byte> memory, std::size_t ranks, std::size_t rank, std::size_t capacity)
      : memory_(memory), ranks_(ranks), rank_(rank), capacity_(capacity), offsets_(ranks, 0) {
    if (rank >= ranks || memory.size() < bytes(ranks, capacity))
      throw std::invalid_argument("the memory that ranks share is too small");
  }

  // Sets where the part for each rank begins in the letters of this rank.
  void address(std::span<const std::uint64_t> offsets) {
    if (offsets.size() != ranks_) throw std::invalid_argument("one offset per rank is needed");
    offsets_.assign(offsets.begin(), offsets.end());
  }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  // Seconds of the processor for which this rank has waited for others.
  [[nodiscard]] double waited() const { return waited_; }

  [[nodiscard]] std::byte* outgoing() override { return content(rank_, last_ + 1); }
  void exchange(Agreed& numbers) override {
    std::memcpy(letter(rank_, last_ + 1) + sizeof(Head), offsets_.data(), ranks_ * sizeof(std::uint64_t));
    agree(numbers);
  }
  void agree(Agreed& numbers) override {
    if (asked()) numbers.back() = 1;
    ++last_;
    head(rank_).numbers = numbers;
    std::atomic_ref(head(rank_).letter).store(last_, std::memory_order_release);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      if (!has_arrived(r)) wait_for(r);
      for (std::size_t k = 0; k < numbers.size(); ++k) numbers[k] = std::max(numbers[k], head(r).numbers[k]);
    }
  }
  // Replaces any number of numbers, the same on all ranks, by the largest; returns false, and does nothing, if a letter
  // cannot hold them.
  bool agree(std::span<double> numbers) {
    return combine(numbers, [](double one, double other) { return std::max(one, other); });
  }
  // Replaces whole numbers by their sums in the same way.
  bool add(std::span<std::int64_t> numbers) {
    return combine(numbers, [](std::int64_t one, std::int64_t other) { return one + other; });
  }
  // Sends bytes to all ranks, which lie in their order, `counts` for each, and calls take(rank, bytes) with what comes
  // from each other rank, in their order. Returns false on all ranks, and calls nothing, if a letter cannot hold them.
  template <class Take>
  bool swap(std::span<const std::uint8_t> bytes, std::span<const std::int64_t> counts, Take&& take) {
    const std::size_t table = counts.size_bytes(), needed = table + bytes.size();
    if (needed <= capacity_) {
      std::memcpy(outgoing(), counts.data(), table);
      if (!bytes.empty()) std::memcpy(outgoing() + table, bytes.data(), bytes.size());
    }
    Agreed most{static_cast<double>(needed)};
    agree(most);
    if (most[0] > static_cast<double>(capacity_)) return false;
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      const std::byte* const letter = content(r, last_);
      std::vector<std::int64_t> theirs(ranks_);
      std::memcpy(theirs.data(), letter, table);
      const auto before =
          std::accumulate(theirs.begin(), theirs.begin() + static_cast<std::ptrdiff_t>(rank_), std::int64_t{0});
      const auto* const from = reinterpret_cast<const std::uint8_t*>(letter + table) + before;
      take(r, std::span(from, static_cast<std::size_t>(theirs[rank_])));
    }
    return true;
  }
  [[nodiscard]] const std::byte* incoming(std::size_t rank) const override {
    std::uint64_t offset = 0;
    std::memcpy(&offset, letter(rank, last_) + sizeof(Head) + rank_ * sizeof offset, sizeof offset);
    return content(rank, last_) + offset;
  }

 private:
  // What other ranks wait for is alone in its cache lines; processors fetch pairs of them.
  struct alignas(2 * cache_line) Head {
    std::uint64_t letter;
    Agreed numbers;
  };
  static constexpr int patience = 4096;  // rounds; a rank that yields to other programs comes back late

  template <class Number, class Both>
  bool combine(std::span<Number> numbers, Both&& both) {
    if (numbers.size_bytes() > capacity_) return false;
    if (!numbers.empty()) std::memcpy(outgoing(), numbers.data(), numbers.size_bytes());
    Agreed none{};
    agree(none);
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (r == rank_) continue;
      const std::byte* const theirs = content(r, last_);
      for (std::size_t k = 0; k < numbers.size(); ++k) {
        Number other = 0;
        std::memcpy(&other, theirs + k * sizeof other, sizeof other);
        numbers[k] = both(numbers[k], other);
      }
    }
    return true;
  }
  static std::size_t whole(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }
  static std::size_t head_bytes(std::size_t ranks) {
    return whole(sizeof(Head) + ranks * sizeof(std::uint64_t), alignof(Head));
  }
  static std::size_t letter_bytes(std::size_t ranks, std::size_t capacity) {
    return whole(head_bytes(ranks) + capacity, alignof(Head));
  }
  static std::size_t section_bytes(std::size_t ranks, std::size_t capacity) {
    constexpr std::size_t page = 4096;  // a page lies where it is first written
    return whole(2 * letter_bytes(ranks, capacity), page);
  }
  [[nodiscard]] std::byte* letter(std::size_t rank, std::uint64_t number) const {
    return memory_.data() + rank * section_bytes(ranks_, capacity_) + number % 2 * letter_bytes(ranks_, capacity_);
  }
  [[nodiscard]] std::byte* content(std::size_t rank, std::uint64_t number) const {
    return letter(rank, number) + head_bytes(ranks_);
  }
  [[nodiscard]] Head& head(std::size_t rank) const { return *reinterpret_cast<Head*>(letter(rank, last_)); }
  [[nodiscard]] bool has_arrived(std::size_t rank) const {
    return std::atomic_ref(head(rank).letter).load(std::memory_order_acquire) == last_;
  }

  // Whether poll() says so; calls it every few milliseconds only.
  bool asked() {
    constexpr std::chrono::milliseconds often{20};
    const auto now = std::chrono::steady_clock::now();
    if (now - polled_ >= often && poll) {
      polled_ = now;
      asked_ = poll() || asked_;
    }
    return std::exchange(asked_, false);
  }
  void wait_for(std::size_t rank) {
    for (int round = 0; round < patience; ++round) {
      if (has_arrived(rank)) {
        waited_ += round * round_seconds();
        return;
      }
      pause();
    }
    const double start = processor_seconds();
    while (!has_arrived(rank)) {
      std::this_thread::yield();
      // The other rank may be waiting for a message of MPI that this one has to hand over.
      const auto now = std::chrono::steady_clock::now();
      if (now - polled_ >= std::chrono::milliseconds(1) && poll) {
        polled_ = now;
        asked_ = poll() || asked_;
      }
    }
    waited_ += patience * round_seconds() + processor_seconds() - start;
  }
  // The time of a round: the clock of the processor would take longer to read than most waits last.
  static double round_seconds() {
    static const double seconds = [] {
      const double start = processor_seconds();
      for (int round = 0; round < patience; ++round) pause();
      return (processor_seconds() - start) / patience;
    }();
    return seconds;
  }
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  static double processor_seconds() {
    std::timespec time{};
#ifdef CLOCK_THREAD_CPUTIME_ID
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
#endif
    return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
  }

  std::span<std::byte> memory_;
  std::size_t ranks_, rank_, capacity_;
  std::vector<std::uint64_t> offsets_;
  std::uint64_t last_ = 0;  // the number of the last letter
  double waited_ = 0;
  bool asked_ = false;
  std::chrono::steady_clock::time_point polled_{};
};

}  // namespace vicinal
