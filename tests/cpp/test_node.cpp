// The exchange of ranks that share memory; threads take the place of ranks.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <thread>
#include <vector>

#include "check.hpp"
#include "distributed/node.hpp"
#include "exec/memory.hpp"

namespace {

using vicinal::Agreed;
using vicinal::Node;

constexpr std::size_t ranks = 3, capacity = 64;

// Calls f(node, rank) for all ranks at once.
template <class F>
void together(F&& f) {
  vicinal::Buffer<std::byte> memory;
  memory.reset(Node::bytes(ranks, capacity) + vicinal::huge_page);
  std::memset(memory.data(), 0, memory.size());
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      Node node({memory.data(), memory.size()}, ranks, rank, capacity);
      f(node, rank);
    });
  for (std::thread& thread : threads) thread.join();
}

const check::Register letters("every rank reads what the others wrote, and the largest numbers", [] {
  together([](Node& node, std::size_t rank) {
    const std::uint64_t offsets[ranks] = {0, 8, 16};
    node.address(offsets);
    for (std::uint64_t round = 0; round < 2000; ++round) {
      for (std::uint64_t to = 0; to < ranks; ++to) {
        const std::uint64_t sent = 100 * round + 10 * rank + to;
        std::memcpy(node.outgoing() + offsets[to], &sent, sizeof sent);
      }
      Agreed numbers{static_cast<double>(rank + round)};
      node.exchange(numbers);
      check::equal(numbers[0], static_cast<double>(ranks - 1 + round), "the largest number");
      for (std::uint64_t from = 0; from < ranks; ++from) {
        std::uint64_t read = 0;
        std::memcpy(&read, node.incoming(from), sizeof read);
        check::equal(read, 100 * round + 10 * from + rank, "what a rank has sent");
      }
    }
  });
});

const check::Register parcels("parcels arrive at their ranks, unless one rank has too many bytes", [] {
  together([](Node& node, std::size_t rank) {
    for (std::size_t round = 0; round < 200; ++round) {
      std::vector<std::int64_t> counts(ranks, static_cast<std::int64_t>(rank + 1));
      counts[rank] = 0;
      const bool fits = round % 5 != 4;
      if (!fits && rank == 1) counts[0] = static_cast<std::int64_t>(capacity);
      std::vector<std::uint8_t> bytes;
      for (const std::int64_t count : counts)
        bytes.insert(bytes.end(), static_cast<std::size_t>(count), static_cast<std::uint8_t>(round + rank));
      std::size_t parcels = 0;
      bool right = true;
      const bool done = node.swap(bytes, counts, [&](std::size_t from, std::span<const std::uint8_t> parcel) {
        ++parcels;
        right = right && from != rank && parcel.size() == from + 1;
        for (const std::uint8_t byte : parcel) right = right && byte == static_cast<std::uint8_t>(round + from);
      });
      check::equal(done, fits, "whether the bytes fit, on all ranks");
      check::equal(parcels, fits ? ranks - 1 : 0, "parcels of the others");
      check::that(right, "what is in the parcels");
      double numbers[2] = {static_cast<double>(rank), -static_cast<double>(rank)};
      check::that(node.agree(std::span<double>(numbers)) && numbers[0] == ranks - 1 && numbers[1] == 0, "the largest");
      std::int64_t whole[2] = {static_cast<std::int64_t>(rank), -1};
      check::that(node.add(std::span<std::int64_t>(whole)) && whole[0] == 3 && whole[1] == -3, "the sums");
    }
  });
});

}  // namespace
