// Regions, buffers and the pool of result memory, which Python does not reach directly.
#include <cstdint>
#include <cstring>
#include <fstream>
#include <limits>
#include <new>
#include <string>
#include <utility>

#include "check.hpp"
#include "exec/available_memory.hpp"
#include "exec/memory.hpp"

namespace {

using vicinal::Buffer;
using vicinal::huge_page;
using vicinal::PageSize;
using vicinal::Pool;
using vicinal::Region;

bool aligned(const void* data, std::size_t to) { return reinterpret_cast<std::uintptr_t>(data) % to == 0; }

const check::Register empty("a region of no bytes holds nothing", [] {
  const Region region(0);
  check::that(region.data() == nullptr && region.bytes() == 0, "no memory is taken");
});

const check::Register alignment("regions are aligned to cache lines, large ones to huge pages", [] {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{63}, std::size_t{4096}, huge_page - 1}) {
    const Region region(bytes);
    check::equal(region.bytes(), bytes, "size of a small region");
    check::that(aligned(region.data(), vicinal::cache_line), "a small region is aligned to a cache line");
    std::memset(region.data(), 1, bytes);
  }
  for (const std::size_t bytes : {huge_page, huge_page + 1, 5 * huge_page}) {
    const Region region(bytes);
    check::that(region.bytes() >= bytes && region.bytes() <= 2 * (bytes + huge_page), "a large region is rounded up");
    check::that(aligned(region.data(), vicinal::cache_line), "a large region is aligned to a cache line");
    std::memset(region.data(), 1, bytes);
  }
});

const check::Register moved("a region that was moved from owns nothing", [] {
  Region first(1000);
  void* const data = first.data();
  Region second(std::move(first));
  check::that(second.data() == data && first.data() == nullptr, "the memory moved");
  Region third(2 * huge_page);
  third = std::move(second);
  check::that(third.data() == data && third.bytes() == 1000, "assignment frees the old memory and takes over the new");
});

const check::Register trimmed("a trimmed region keeps its beginning", [] {
  Region region(8 * huge_page);
  auto* const bytes = static_cast<unsigned char*>(region.data());
  std::memset(bytes, 7, 10000);
  region.trim(10000);
  check::that(region.data() == bytes, "the beginning stays where it is");
  check::that(region.bytes() >= 10000, "the used part stays");
#if VICINAL_HAS_MMAP
  check::that(region.bytes() < huge_page, "the rest is freed");
#endif
  for (std::size_t k = 0; k < 10000; ++k) check::that(bytes[k] == 7, "the contents stay");
  const std::size_t kept = region.bytes();
  region.trim(2 * kept);
  check::equal(region.bytes(), kept, "size after a trim to more than the size");
});

const check::Register refused("memory that cannot exist is refused", [] {
  check::throws<std::bad_alloc>([] { const Region region(std::numeric_limits<std::size_t>::max() / 4); },
                                "a quarter of the address space must not be granted");
});

const check::Register overrun("memory behind the last value of a buffer may be read", [] {
  for (const std::size_t n : {0U, 1U, 15U, 16U, 1000U}) {
    const Buffer<float> buffer(n);
    check::equal(buffer.size(), n, "size");
    for (std::size_t k = 0; k < vicinal::overrun / sizeof(float); ++k)
      check::that(buffer.data()[n + k] == 0, "the overrun is zero");
  }
});

const check::Register reuse("a buffer that shrinks and grows again keeps its memory", [] {
  Buffer<int> buffer(1000);
  const int* const data = buffer.data();
  buffer.reset(10);
  buffer.reset(1000);
  check::that(buffer.data() == data, "the same memory");
  check::equal(buffer.bytes(), 1000 * sizeof(int), "bytes in use");
  buffer.release();
  check::equal(buffer.size(), 0U, "size after release");
});

const check::Register grown("a buffer that is resized keeps its values", [] {
  Buffer<int> buffer;
  for (int k = 0; k < 3000; ++k) {
    buffer.resize(static_cast<std::size_t>(k) + 1);
    buffer[static_cast<std::size_t>(k)] = k;
  }
  for (int k = 0; k < 3000; ++k) check::equal(buffer[static_cast<std::size_t>(k)], k, "a value");
});

const check::Register pooled("the pool returns a region that fits and keeps those that do not", [] {
  Pool pool;
  Region region = pool.take(4000, PageSize::small);
  void* const data = region.data();
  pool.give(std::move(region));
  const Region large = pool.take(8000, PageSize::small);
  check::that(large.data() != data && large.bytes() >= 8000, "a region that is too small is not returned");
  const Region tiny = pool.take(100, PageSize::small);
  check::that(tiny.data() != data, "a region more than twice as large as needed is not returned");
  const Region fitting = pool.take(3000, PageSize::small);
  check::that(fitting.data() == data, "a region that fits is used again");
});

const check::Register hoard("the pool keeps a limited number of regions", [] {
  Pool pool;
  for (int k = 0; k < 100; ++k) pool.give(Region(128));
  int kept = 0;
  for (int k = 0; k < 100; ++k) {
    // A new region has the size that is asked for; one that was kept is known by its larger size.
    const Region region = pool.take(64, PageSize::small);
    kept += region.bytes() == 128 ? 1 : 0;
  }
  check::equal(kept, 10, "regions that were kept");
});

#if VICINAL_KEEPS_PAGES
const check::Register pages_again("pages of a region that was freed are used again", [] {
  void* data = nullptr;
  {
    const Region region(40 * huge_page);
    data = region.data();
    std::memset(data, 3, 1000);
  }
  const Region again(39 * huge_page);
  check::that(again.data() == data && again.bytes() >= 39 * huge_page, "the same pages");
  const Region other(39 * huge_page);
  check::that(other.data() != data, "pages in use are not handed out");
});

const check::Register pages_first("fewer pages than needed become the beginning of a region", [] {
  {
    const Region region(60 * huge_page);
  }
  Region large(std::size_t{20} << 30);
  auto* const bytes = static_cast<unsigned char*>(large.data());
  check::that(aligned(bytes, huge_page), "aligned to huge pages");
  check::equal(large.bytes(), std::size_t{20} << 30, "size");
  for (const std::size_t at : {std::size_t{0}, 60 * huge_page - 1, 60 * huge_page, 100 * huge_page}) bytes[at] = 5;
  large.trim(61 * huge_page);
  check::equal(large.bytes(), 61 * huge_page, "size after the trim");
  check::that(bytes[60 * huge_page] == 5, "what was written stays");
});

const check::Register pages_alike("pages that were reserved with the same size come before larger ones", [] {
  const auto use = [](std::size_t reserved, std::size_t used, unsigned char mark) {
    Region region(reserved * huge_page, PageSize::small);
    *static_cast<unsigned char*>(region.data()) = mark;
    region.trim(used * huge_page);
    return region;
  };
  {
    const Region one = use(33, 1, 7), other = use(57, 2, 9);
  }
  const Region again(33 * huge_page, PageSize::small);
  check::equal(int{*static_cast<const unsigned char*>(again.data())}, 7, "what the smaller of two regions held");
});

#ifdef __linux__
// How many mappings of this process lie in a region. (One that reaches beyond it was merged with its neighbour.)
int mappings_in(const Region& region) {
  const auto begin = reinterpret_cast<std::uintptr_t>(region.data()), end = begin + region.bytes();
  std::ifstream maps("/proc/self/maps");
  int count = 0;
  for (std::string line; std::getline(maps, line);) {
    const std::size_t dash = line.find('-');
    const std::uintptr_t low = std::stoull(line.substr(0, dash), nullptr, 16);
    const std::uintptr_t high = std::stoull(line.substr(dash + 1), nullptr, 16);
    count += low < end && high > begin ? 1 : 0;
  }
  return count;
}

const check::Register pages_joined("a region that grew from kept pages is one mapping, which can grow again", [] {
  for (const std::size_t pages : {70U, 75U, 90U, 200U}) {
    Region region(std::size_t{20} << 30);
    auto* const bytes = static_cast<unsigned char*>(region.data());
    for (std::size_t page = 0; page < pages; ++page) bytes[page * huge_page] = 1;
    check::equal(mappings_in(region), 1, "mappings: kernels before 6.17 do not move several");
    region.trim(pages * huge_page);
  }
});
#endif

const check::Register pages_few("small pages do not serve as huge ones, nor many pages where few are needed", [] {
  void* data = nullptr;
  {
    const Region region(50 * huge_page, PageSize::small);
    data = region.data();
  }
  const Region huge(50 * huge_page);
  check::that(huge.data() != data, "pages of another size");
  const Region few(20 * huge_page, PageSize::small);
  check::that(few.data() != data, "more than twice as many pages as needed");
  const Region fitting(50 * huge_page, PageSize::small);
  check::that(fitting.data() == data, "pages that fit");
});
#endif

const check::Register checked("memory is checked before much of it is written", [] {
  using vicinal::ensure_growth, vicinal::ensure_memory, vicinal::unchecked_bytes;
  const auto refused = [](auto&& call) {
    try {
      call();
    } catch (const vicinal::OutOfMemory&) {
      return true;
    }
    return false;
  };
  check::that(vicinal::available_memory() <= vicinal::physical_memory(), "no more is available than there is");
  vicinal::pretend_available_memory(3 * unchecked_bytes);
  check::that(!refused([] { ensure_memory(3 * unchecked_bytes); }), "what fits");
  check::that(refused([] { ensure_memory(3 * unchecked_bytes + 1); }), "what does not");
  check::that(!refused([] { ensure_growth(unchecked_bytes - 1, unchecked_bytes); }), "a step that leaves room");
  check::that(refused([] { ensure_growth(0, 2 * unchecked_bytes); }), "a step that leaves none for other threads");
  vicinal::pretend_available_memory(1);
  check::that(!refused([] { ensure_memory(unchecked_bytes - 1); }), "little memory is not checked");
  check::that(!refused([] { ensure_growth(unchecked_bytes, 2 * unchecked_bytes - 1); }),
              "nor are steps between checks");
  check::that(refused([] { ensure_growth(unchecked_bytes, 2 * unchecked_bytes); }), "but every so many bytes");
  vicinal::pretend_available_memory(0);
});

}  // namespace
