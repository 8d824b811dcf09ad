// Rows: the partners of every query, in the user's order of queries; the base of everything that has an order.
//
// A row's place is known only when all rows before it are counted. So hits are first kept in the order they are found,
// with a log of whose they are, and then brought to their rows: 4 bytes per entry and 16 per query more while that
// lasts. (Testing everything twice instead would need no such memory, but tests are most of the work.)
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <span>
#include <vector>

#include "pairs/search.hpp"

namespace vicinal {

// Which hits of a row are kept.
enum class Keep {
  all,
  upper,  // only partners with a larger number: each pair once (of a body's own images, one of two opposite ones)
};

namespace detail {

// Hits of one query through one image.
struct Run {
  Slot query;
  std::uint32_t count;
  Shift shift;
};

// The hits one thread finds, in the order it finds them.
template <class T, int D>
class Harvest {
 public:
  // `counts[id]` grows with every hit of that query.
  Harvest(const Bodies<T, D>& queries, const Bodies<T, D>& bodies, bool slots, Keep keep, std::int32_t* counts,
          Pool* pool)
      : queries_(queries), bodies_(bodies), slots_(slots), keep_(keep), counts_(counts) {
    // As much address space as there is memory; only what is written becomes memory. Where that is not to be had
    // (ulimit -v, strict overcommit), as much as there is.
    const auto pages = queries.size < few_bodies ? Region::Pages::small : Region::Pages::huge;
    for (std::size_t most = physical_memory(); hits_.data() == nullptr; most /= 2) {
      try {
        hits_ = pool != nullptr ? pool->take(most, pages) : Region(most, pages);
      } catch (const std::bad_alloc&) {
        if (most < 2 * huge_page) throw;
      }
    }
    room_ = hits_.bytes() / sizeof(std::int32_t);
  }

  HitRoom room(std::size_t most) {
    if (size_ + most + overshoot > room_) throw std::bad_alloc();
    return {hits() + size_, nullptr};
  }
  void take(Slot first, std::span<const std::uint32_t> counts, const Shift& shift) {
    const std::int32_t* from = hits() + size_;
    for (std::size_t k = 0; k < counts.size(); ++k) {
      const Slot query = first + static_cast<Slot>(k);
      const auto id = static_cast<std::size_t>(queries_.ids[query]);
      const std::uint32_t n = keep_ == Keep::all ? counts[k] : keep_upper(query, from, counts[k], shift);
      from += counts[k];
      size_ += n;
      counts_[id] += static_cast<std::int32_t>(n);
      runs_.push_back({query, n, shift});
    }
  }

  [[nodiscard]] std::int32_t* hits() const { return static_cast<std::int32_t*>(hits_.data()); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const std::vector<Run>& runs() const { return runs_; }
  [[nodiscard]] Region release() { return std::move(hits_); }

 private:
  // Moves the hits of a query that stay to the end of the harvest. They never overtake those still to be looked at.
  std::uint32_t keep_upper(Slot query, const std::int32_t* from, std::uint32_t n, const Shift& shift) {
    const std::int32_t id = queries_.ids[query];
    const bool image = (shift.x != 0 ? shift.x : shift.y != 0 ? shift.y : shift.z) > 0;
    std::int32_t* const to = hits() + size_;
    std::uint32_t kept = 0;
    for (std::uint32_t k = 0; k < n; ++k) {
      const std::int32_t hit = from[k];
      const std::int32_t partner = slots_ ? bodies_.ids[static_cast<std::size_t>(hit)] : hit;
      to[kept] = hit;
      kept += partner > id || (partner == id && image) ? 1 : 0;
    }
    return kept;
  }

  const Bodies<T, D>& queries_;
  const Bodies<T, D>& bodies_;
  bool slots_;
  Keep keep_;
  std::int32_t* counts_;
  Region hits_;
  std::size_t room_ = 0;
  std::size_t size_ = 0;
  std::vector<Run> runs_;
};

// Where the harvest of a part is.
struct PartOfHarvest {
  std::size_t thread = 0, first_run = 0, last_run = 0, first_hit = 0;
};

// Rows are short: four at a time and the last four once more beats a call.
inline void copy_row(const std::int32_t* from, std::size_t n, std::int32_t* to) {
  constexpr std::size_t four = 4 * sizeof(std::int32_t);
  if (n < 4) {
    for (std::size_t k = 0; k < n; ++k) to[k] = from[k];
    return;
  }
  for (std::size_t k = 0; k + 4 < n; k += 4) std::memcpy(to + k, from + k, four);
  std::memcpy(to + n - 4, from + n - 4, four);
}

}  // namespace detail

// Row k is offsets[k] … offsets[k+1]-1.
template <class T, int D>
Found<T, D> find_rows(const Task<T, D>& task, const Want& want, Keep keep, std::span<std::int64_t> offsets,
                      Pool* pool) {
  const Bodies<T, D>& queries = task.queries;
  const Bodies<T, D>& bodies = task.index.bodies();
  const std::size_t n = queries.size;
  Found<T, D> found;
  Buffer<std::int32_t> left(n);  // first the entries of each row, then those still to be put there
  std::fill_n(left.data(), n, 0);
  std::vector<detail::PartOfHarvest> parts(task.index.parts(queries));
  detail::PerThread<detail::Harvest<T, D>> harvests;
  {
    const detail::Payload<T, D> payload(bodies, want.slots());
    found.tally.candidates = detail::for_each_part(task, [&](std::size_t part, std::size_t thread, auto&& run) {
      auto& harvest =
          harvests.get(thread, [&](auto& h) { h.emplace(queries, bodies, want.slots(), keep, left.data(), pool); });
      parts[part] = {thread, harvest.runs().size(), 0, harvest.size()};
      run([&](Test<T, D>& test, const Block& block) { test.hits(block, payload.data(), harvest); });
      parts[part].last_run = harvest.runs().size();
    });
  }
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < n; ++k) {
    offsets[k] = sum;
    sum += left[k];
  }
  offsets[n] = sum;
  found.size = static_cast<std::size_t>(sum);
  found.tally.pairs = found.size;
  found.store = ColumnStore<T, D>(want, found.size, pool);
  const Columns<T> columns = found.store.columns();
  parallel_for(parts.size(), [&](std::size_t part, int) {
    const detail::PartOfHarvest& place = parts[part];
    const auto& harvest = harvests.at(place.thread);
    const std::int32_t* hits = harvest.hits() + place.first_hit;
    for (std::size_t r = place.first_run; r < place.last_run; ++r) {
      const detail::Run& run = harvest.runs()[r];
      const auto id = static_cast<std::size_t>(queries.ids[run.query]);
      const auto at = static_cast<std::size_t>(offsets[id + 1] - left[id]);
      left[id] -= static_cast<std::int32_t>(run.count);
      if (want.slots()) describe_hits(queries, bodies, run.query, run.shift, hits, run.count, columns, at);
      else if (columns.j != nullptr) detail::copy_row(hits, run.count, columns.j + at);
      hits += run.count;
    }
  });
  if (pool != nullptr) harvests.for_each([&](detail::Harvest<T, D>& harvest) { pool->give(harvest.release()); });
  return found;
}

// Puts every row into ascending order of partner, then of shift.
template <class T, int D>
void sort_rows(const Columns<T>& columns, std::span<const std::int64_t> offsets) {
  const bool plain = columns.distance == nullptr && columns.vector == nullptr && columns.shift == nullptr;
  parallel_ranges(offsets.size() - 1, 1024, [&](std::size_t first, std::size_t last, std::size_t) {
    std::vector<std::size_t> order;
    std::vector<std::byte> copy;
    for (std::size_t row = first; row < last; ++row) {
      const auto begin = static_cast<std::size_t>(offsets[row]);
      const auto size = static_cast<std::size_t>(offsets[row + 1]) - begin;
      if (size < 2) continue;
      if (plain) {
        std::sort(columns.j + begin, columns.j + begin + size);
        continue;
      }
      order.resize(size);
      std::iota(order.begin(), order.end(), begin);
      std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        if (columns.j[a] != columns.j[b]) return columns.j[a] < columns.j[b];
        if (columns.shift == nullptr) return false;
        return std::lexicographical_compare(columns.shift + a * D, columns.shift + a * D + D, columns.shift + b * D,
                                            columns.shift + b * D + D);
      });
      Columns<T>::template for_each<D>(columns, columns, [&](void* column, void*, std::size_t bytes) {
        if (column == nullptr) return;
        auto* const base = static_cast<std::byte*>(column);
        copy.resize(size * bytes);
        for (std::size_t k = 0; k < size; ++k) std::memcpy(copy.data() + k * bytes, base + order[k] * bytes, bytes);
        std::memcpy(base + begin * bytes, copy.data(), size * bytes);
      });
    }
  });
}

// All pairs in canonical order: by i, then j, then shift; of a half list with i < j.
template <class T, int D>
Found<T, D> find_sorted_pairs(const Task<T, D>& task, const Want& want, Pool* pool) {
  Want needed = want;
  needed.i = false;
  needed.j = true;
  // Images of one pair are told apart by their shift, so ordering them needs it.
  needed.shift = want.shift || (task.queries.box.periodic() && want.slots());
  Task<T, D> whole = task;
  const Keep keep = task.mode == Mode::half ? Keep::upper : Keep::all;
  if (task.mode == Mode::half) whole.mode = Mode::full;
  const std::size_t n = task.queries.size;
  Buffer<std::int64_t> offsets(n + 1);
  Found<T, D> found = find_rows(whole, needed, keep, offsets.span(), pool);
  sort_rows<T, D>(found.store.columns(), offsets.span());
  if (want.i) {
    Want only_i;
    only_i.i = true;
    found.store.i = std::move(ColumnStore<T, D>(only_i, found.size, pool).i);
    auto* const i = found.store.columns().i;
    parallel_ranges(n, 4096, [&](std::size_t first, std::size_t last, std::size_t) {
      for (std::size_t row = first; row < last; ++row)
        std::fill(i + offsets[row], i + offsets[row + 1], static_cast<std::int32_t>(row));
    });
  }
  if (!want.j) found.store.j = Region();
  if (!want.shift) found.store.shift = Region();
  return found;
}

}  // namespace vicinal
