// Many small systems in one call: the neighbours of every body in its own system, each system in its own periodic cell.
//
// A call per system would cost more than its search. Threads search a few systems at a time and note what cannot be
// made of the bodies later; when the length of every row is known, columns are written once, in the order of the
// bodies.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "exec/available_memory.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "pairs/columns.hpp"
#include "pairs/kernels.hpp"
#include "pairs/search.hpp"
#include "search/system_search.hpp"

namespace vicinal {

namespace detail {

// The rows of the systems that one thread has searched, one after the other. Distances, vectors and shifts are those of
// systems that are not plain.
template <class T, int D>
struct SystemLog {
  Buffer<std::int32_t> j, shift;
  Buffer<T> distance, vector;
  std::size_t entries = 0;

  explicit SystemLog(std::size_t expected) : j(expected) {}

  // Makes room for the numbers of n more entries, or for all of their columns.
  void reserve(std::size_t n) { grow(j, n, 1); }
  void reserve(std::size_t n, const Want& want) {
    reserve(n);
    if (want.distance) grow(distance, n, 1);
    if (want.vector) grow(vector, n, D);
    if (want.shift) grow(shift, n, D);
  }
  // Adds the rows of the system that was searched last.
  void add(const SystemSearch<T, D>& search, const Want& want) {
    const auto all = search.entries();
    reserve(all.size(), want);
    const auto base = static_cast<std::int32_t>(search.first());
    std::transform(all.begin(), all.end(), j.data() + entries, [base](const auto& e) { return base + e.j; });
    if (want.slots()) describe(search, want);
    entries += all.size();
  }

 private:
  template <class V>
  void grow(Buffer<V>& column, std::size_t n, std::size_t each) {
    const std::size_t needed = (entries + n) * each;
    if (needed <= column.size()) return;
    const std::size_t room = std::max(2 * column.size(), needed);
    ensure_memory(room * sizeof(V));
    column.resize(room);
  }
  void describe(const SystemSearch<T, D>& search, const Want& want) {
    std::size_t at = entries;
    for (std::size_t k = 0; k < search.size(); ++k)
      for (const auto& entry : search.row(k)) {
        if (want.distance || want.vector) {
          std::array<T, D> d;
          const T squared = search.vector(k, entry, d);
          if (want.distance) distance[at] = std::sqrt(squared);
          if (want.vector) std::copy(d.begin(), d.end(), vector.data() + at * D);
        }
        if (want.shift) {
          const auto one = search.given_shift(k, entry);
          std::copy(one.begin(), one.end(), shift.data() + at * D);
        }
        ++at;
      }
  }
};

// Fills rows with the numbers of their bodies: those from `first` on, whose rows begin at offsets[first] … in `to`.
template <class I>
void fill_owners(std::span<const std::int64_t> offsets, std::size_t first, std::size_t last, I* to) {
  constexpr std::ptrdiff_t step = 8;  // rows are short: a fixed number of writes, of which the next row repeats some
  I* const end = to + offsets[last];
  for (std::size_t body = first; body < last; ++body) {
    I* at = to + offsets[body];
    I* const row_end = to + offsets[body + 1];
    for (; at < row_end && end - at >= step; at += step) std::fill_n(at, step, static_cast<I>(body));
    if (at < row_end) std::fill(at, row_end, static_cast<I>(body));
  }
}

}  // namespace detail

// The rows of all bodies: row k is offsets[k] … offsets[k + 1] - 1.
template <class T, int D>
class SystemRows {
 public:
  // Searches, and sets the offsets.
  SystemRows(const Systems<T, D>& systems, const Want& want, const SystemOptions& options,
             std::span<std::int64_t> offsets)
      : systems_(systems), offsets_(offsets) {
    const std::size_t expected = divide();
    offsets[0] = 0;
    Buffer<std::int32_t> numbers(offsets.size() + tile_lanes);
    std::iota(numbers.data(), numbers.data() + numbers.size(), 0);
    parallel_for(parts_.size(), [&](std::size_t part, int thread) {
      Worker& worker =
          workers_.get(static_cast<std::size_t>(thread), [&](auto& made) { made.emplace(systems, options, expected); });
      search(worker, parts_[part], static_cast<std::size_t>(thread), want, numbers.data());
    });
    std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  }

  [[nodiscard]] std::size_t entries() const { return static_cast<std::size_t>(offsets_.back()); }

  // Writes columns, and edges if not null: i of all entries, then j.
  void write(const Columns<T>& to, std::int64_t* edges) {
    parallel_for(parts_.size(), [&](std::size_t part, int) { write(parts_[part], to, edges); });
  }

 private:
  struct Worker {
    detail::SystemSearch<T, D> search;
    detail::SystemLog<T, D> log;
    Worker(const Systems<T, D>& all, const SystemOptions& how, std::size_t expected)
        : search(all, how), log(expected) {}
  };
  // Some systems, and the begin of their entries in the log of a thread.
  struct Part {
    std::size_t first_system, last_system, thread = 0, first = 0;
  };

  // Returns how many entries a log has room for at first: as many as there can be, if this is little memory.
  std::size_t divide() {
    constexpr std::int64_t bodies_together = 512;  // a unit of work for a thread
    constexpr std::size_t most_expected = huge_page / sizeof(std::int32_t);
    std::size_t first = 0, expected = overshoot;
    for (std::size_t k = 1; k <= systems_.size(); ++k) {
      const auto size = static_cast<std::size_t>(systems_.offsets[k] - systems_.offsets[k - 1]);
      expected = std::min(expected + size * (size + tile_lanes), most_expected);
      if (k == systems_.size() || systems_.offsets[k] - systems_.offsets[first] >= bodies_together) {
        parts_.push_back({first, k});
        first = k;
      }
    }
    return expected;
  }

  void search(Worker& worker, Part& part, std::size_t thread, const Want& want, const std::int32_t* numbers) {
    detail::SystemSearch<T, D>& search = worker.search;
    detail::SystemLog<T, D>& log = worker.log;
    part.thread = thread;
    part.first = log.entries;
    const auto room = [&log](std::size_t most) {
      log.reserve(most);
      return log.j.data() + log.entries;
    };
    const auto done = [&log, this](std::size_t body, std::uint32_t count) {
      offsets_[body + 1] = count;
      log.entries += count;
    };
    for (std::size_t system = part.first_system; system < part.last_system; ++system) {
      if (search.plain(system)) {
        search.run_plain(system, numbers, room, done);
        continue;
      }
      search.run(system);
      for (std::size_t k = 0; k < search.size(); ++k)
        offsets_[search.first() + k + 1] = static_cast<std::int64_t>(search.row(k).size());
      log.add(search, want);
    }
  }

  void write(const Part& part, const Columns<T>& to, std::int64_t* edges) {
    const auto first = static_cast<std::size_t>(systems_.offsets[part.first_system]);
    const auto last = static_cast<std::size_t>(systems_.offsets[part.last_system]);
    const auto place = static_cast<std::size_t>(offsets_[first]);
    const std::size_t count = static_cast<std::size_t>(offsets_[last]) - place;
    const Worker& worker = workers_.at(part.thread);
    const std::int32_t* const j = worker.log.j.data() + part.first;
    if (to.i != nullptr) detail::fill_owners<std::int32_t>(offsets_, first, last, to.i);
    if (to.j != nullptr) std::copy_n(j, count, to.j + place);
    if (edges != nullptr) {
      detail::fill_owners<std::int64_t>(offsets_, first, last, edges);
      // (Numbers without a sign are converted faster.)
      std::transform(j, j + count, edges + entries() + place,
                     [](std::int32_t one) { return std::int64_t{static_cast<std::uint32_t>(one)}; });
    }
    if (to.distance == nullptr && to.vector == nullptr && to.shift == nullptr) return;
    for (std::size_t system = part.first_system; system < part.last_system; ++system) {
      if (worker.search.plain(system)) measure(system, j, place, to);
      else copy(system, worker.log, part.first - place, to);
    }
  }

  // Copies what the log has of a system; entry k of the columns is entry k + from of the log.
  void copy(std::size_t system, const detail::SystemLog<T, D>& log, std::size_t from, const Columns<T>& to) const {
    const auto begin = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(systems_.offsets[system])]);
    const auto end = static_cast<std::size_t>(offsets_[static_cast<std::size_t>(systems_.offsets[system + 1])]);
    const auto one = [&](auto* column, const auto& values, std::size_t each) {
      if (column != nullptr)
        std::copy_n(values.data() + (begin + from) * each, (end - begin) * each, column + begin * each);
    };
    one(to.distance, log.distance, 1);
    one(to.vector, log.vector, D);
    one(to.shift, log.shift, D);
  }

  // Distances and vectors in open space; j[k - place] belongs to entry k.
  void measure(std::size_t system, const std::int32_t* j, std::size_t place, const Columns<T>& to) const {
    const T* const points = systems_.bodies.data;
    const auto body_end = static_cast<std::size_t>(systems_.offsets[system + 1]);
    for (auto body = static_cast<std::size_t>(systems_.offsets[system]); body < body_end; ++body) {
      std::array<T, D> x;
      std::copy_n(points + body * D, D, x.begin());
      const auto end = static_cast<std::size_t>(offsets_[body + 1]);
      for (auto k = static_cast<std::size_t>(offsets_[body]); k < end; ++k) {
        const T* const other = points + static_cast<std::size_t>(j[k - place]) * D;
        T sum = 0;
        for (std::size_t a = 0; a < D; ++a) {
          const T d = other[a] - x[a];
          sum = a == 0 ? d * d : sum + d * d;
          if (to.vector != nullptr) to.vector[k * D + a] = d;
          if (to.shift != nullptr) to.shift[k * D + a] = 0;
        }
        if (to.distance != nullptr) to.distance[k] = std::sqrt(sum);
      }
    }
  }

  const Systems<T, D>& systems_;
  std::span<std::int64_t> offsets_;
  std::vector<Part> parts_;
  detail::PerThread<Worker> workers_;
};

}  // namespace vicinal
