// The bodies of Engine; include it only to instantiate.
#pragma once

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "pairs/rows.hpp"
#include "pairs/search.hpp"
#include "python/engine.hpp"
#include "python/structures.hpp"

namespace vicinal {

namespace detail {

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace detail

template <class T, int D>
Engine<T, D>::Engine(const std::string& structure, const Settings<T, D>& settings, bool lasting)
    : settings_(settings), index_(make_structure(structure, settings)),
      pool_(lasting ? std::make_shared<Pool>() : nullptr) {}

template <class T, int D>
void Engine<T, D>::build(const Points<T, D>& points) {
  const std::unique_lock lock(mutex_);
  const detail::Stopwatch watch;
  change([&] {
    Points<T, D> kept = points;
    if (pool_) {
      copy_.reset(points.size * D);
      std::copy_n(points.data, points.size * D, copy_.data());
      kept.data = copy_.data();
    }
    index_.build(kept);
  });
  const std::lock_guard figures_lock(figures_mutex_);
  figures_ = {};
  figures_.build_seconds = watch.seconds();
}

// Runs f(task) and notes its figures. `positions`: distances or vectors are wanted, so exact coordinates are needed.
template <class T, int D>
template <class F>
auto Engine<T, D>::search(const Points<T, D>* queries, Mode mode, bool positions, F&& f) {
  if (positions) {
    const std::unique_lock lock(mutex_);
    require_ready();
    index_.bodies().complete();
  }
  const std::shared_lock lock(mutex_);
  require_ready();
  const detail::Stopwatch watch;
  Bodies<T, D> arranged;
  if (queries != nullptr) {
    index_.arrange(*queries, arranged);
    if (positions) arranged.complete();
    mode = Mode::cross;
  }
  auto result = f(Task<T, D>{index_, queries != nullptr ? arranged : index_.bodies(), mode, settings_.cutoff});
  const std::lock_guard figures_lock(figures_mutex_);
  figures_.tally = result.tally;
  figures_.query_seconds = watch.seconds();
  return result;
}

template <class T, int D>
Found<T, D> Engine<T, D>::pairs(const Points<T, D>* queries, const Want& want, bool half, bool sort) {
  return search(queries, half ? Mode::half : Mode::full, want.distance || want.vector, [&](const Task<T, D>& task) {
    return sort ? find_sorted_pairs(task, want, pool_.get()) : find_pairs(task, want, pool_.get());
  });
}

template <class T, int D>
FoundRows<T, D> Engine<T, D>::rows(const Points<T, D>* queries, const Want& want, bool sort) {
  Want needed = want;
  const bool positions = want.distance || want.vector;
  needed.shift = want.shift || (sort && positions);  // images of a pair are ordered by their shift
  return search(queries, Mode::full, positions, [&](const Task<T, D>& task) {
    FoundRows<T, D> result;
    result.rows = task.queries.size;
    result.offsets = Region((result.rows + 1) * sizeof(std::int64_t));
    const std::span<std::int64_t> offsets(static_cast<std::int64_t*>(result.offsets.data()), result.rows + 1);
    result.found = find_rows(task, needed, Keep::all, offsets, pool_.get());
    if (sort) sort_rows<T, D>(result.found.store.columns(), offsets);
    result.tally = result.found.tally;
    return result;
  });
}

template <class T, int D>
Counted Engine<T, D>::count(const Points<T, D>* queries) {
  return search(queries, Mode::full, false, [&](const Task<T, D>& task) {
    const std::size_t n = task.queries.size;
    Counted result{Region(n * sizeof(std::int32_t)), n, {}};
    result.tally = count_partners(task, {static_cast<std::int32_t*>(result.counts.data()), n});
    return result;
  });
}

template <class T, int D>
Figures Engine<T, D>::figures() const {
  const std::shared_lock lock(mutex_);
  const std::lock_guard figures_lock(figures_mutex_);
  Figures now = figures_;
  now.bodies = index_.bodies().size;
  now.bytes = index_.bodies().bytes() + index_.bytes() + copy_.bytes();
  now.details = index_.details();
  return now;
}

}  // namespace vicinal
