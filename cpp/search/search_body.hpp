// The member functions of Search; included only to instantiate it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <utility>
#include <vector>

#include "exec/threads.hpp"
#include "index/registry.hpp"
#include "pairs/search.hpp"
#include "rows/find_rows.hpp"
#include "search/search.hpp"

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

// Few bodies take less time on one thread than others take to wake up.
inline void limit_threads(std::size_t bodies) {
  constexpr std::size_t each = 1024;
  const std::size_t most = std::max<std::size_t>(1, bodies / each);
  if (most < static_cast<std::size_t>(thread_count())) thread_count_of_call() = static_cast<int>(most);
}

inline bool needs_positions(const PairFilter* filter) { return filter != nullptr && filter->measures(); }

}  // namespace detail

template <class T, int D>
Search<T, D>::Search(const std::string& structure, const StructureSettings<T, D>& settings, bool lasting)
    : settings_(settings), structure_(Registry<T, D>::make(structure, settings)),
      pool_(lasting ? std::make_shared<Pool>() : nullptr) {}

template <class T, int D>
BodyView<T, D> Search<T, D>::keep(const BodyView<T, D>& points) {
  points_ = in_box(points, settings_.box);
  if (!pool_) return points_;
  copy_.reset(points.size * D);
  std::copy_n(points.data, points.size * D, copy_.data());
  points_.data = copy_.data();
  if (points.shape != Shape::point) {
    if (points.extra != extra_.data()) {
      extra_.reset(points.size * points.extras());
      std::copy_n(points.extra, extra_.size(), extra_.data());
    }
    points_.extra = extra_.data();
  }
  return points_;
}

template <class T, int D>
void Search<T, D>::note_build(double seconds) {
  const std::lock_guard figures_lock(figures_mutex_);
  figures_ = {};
  figures_.build_seconds = seconds;
}

template <class T, int D>
void Search<T, D>::build(const BodyView<T, D>& points) {
  const std::unique_lock lock(mutex_);
  const detail::Stopwatch watch;
  detail::limit_threads(points.size);
  change([&] { structure_->build(keep(points)); });
  note_build(watch.seconds());
}

template <class T, int D>
void Search<T, D>::update(const BodyView<T, D>& points) {
  const std::unique_lock lock(mutex_);
  const detail::Stopwatch watch;
  const bool sound = ready_;
  BodyView<T, D> given = points;
  if (points.shape == Shape::point && points_.shape == Shape::sphere) {
    if (points.size != points_.size) throw std::invalid_argument("spheres need radii");
    given.shape = Shape::sphere;
    given.extra = extra_.data();
    given.largest = points_.largest;
    given.widest = points_.widest;
  }
  // Most spheres keep their radii, even where these are given again.
  if (points.shape == Shape::sphere && points.size == extra_.size() &&
      std::equal(points.extra, points.extra + points.size, extra_.data()))
    given.extra = extra_.data();
  given.same_sizes = points.size == points_.size && (given.shape == Shape::point || given.extra == extra_.data());
  change([&] {
    const BodyView<T, D> kept = keep(given);
    if (sound) structure_->update(kept);
    else structure_->build(kept);
  });
  note_build(watch.seconds());
}

template <class T, int D>
void Search<T, D>::insert(const BodyView<T, D>& more) {
  if (more.size == 0) return;
  const std::unique_lock lock(mutex_);
  require_ready();
  const detail::Stopwatch watch;
  change([&] {
    const auto append = [](Buffer<T>& all, const T* values, std::size_t count) {
      const std::size_t old = all.size();
      all.resize(old + count);
      std::copy_n(values, count, all.data() + old);
      return all.data();
    };
    points_.data = append(copy_, more.data, more.size * D);
    if (more.shape != Shape::point) points_.extra = append(extra_, more.extra, more.size * more.extras());
    const BodyView<T, D> added = in_box(more, settings_.box);
    for (std::size_t a = 0; a < D; ++a) {
      points_.low[a] = points_.size == 0 ? added.low[a] : std::min(points_.low[a], added.low[a]);
      points_.high[a] = points_.size == 0 ? added.high[a] : std::max(points_.high[a], added.high[a]);
      points_.largest[a] = std::max(points_.largest[a], more.largest[a]);
    }
    points_.size += more.size;
    structure_->insert(points_);
  });
  note_build(watch.seconds());
}

template <class T, int D>
void Search<T, D>::remove(std::span<const std::uint32_t> ids) {
  if (ids.empty()) return;
  const std::unique_lock lock(mutex_);
  require_ready();
  const detail::Stopwatch watch;
  change([&] {
    std::vector<bool> gone(points_.size, false);
    for (const std::uint32_t id : ids) gone[id] = true;
    const auto first = static_cast<std::size_t>(*std::min_element(ids.begin(), ids.end()));
    const auto close = [&](Buffer<T>& all, std::size_t each) {
      T* to = all.data() + first * each;
      for (std::size_t k = first; k < gone.size(); ++k)
        if (!gone[k]) to = std::copy_n(all.data() + k * each, each, to);
      all.resize((gone.size() - ids.size()) * each);
    };
    close(copy_, D);
    if (points_.shape != Shape::point) close(extra_, points_.extras());
    // Bounds and sizes are kept: all bodies are within them, and the next update computes them again.
    points_.size -= ids.size();
    if (points_.size == 0) points_.low = points_.high = points_.largest = {};
    structure_->remove(ids, points_);
  });
  note_build(watch.seconds());
}

template <class T, int D>
bool Search<T, D>::has_room(const BodyView<T, D>& queries) const {
  for (std::size_t a = 0; a < D; ++a)
    if (queries.largest[a] > std::max(points_.largest[a], points_.largest_query[a])) return false;
  return true;
}

template <class T, int D>
void Search<T, D>::widen(const BodyView<T, D>& queries) {
  const std::unique_lock lock(mutex_);
  require_ready();
  if (has_room(queries)) return;
  const std::array<T, D> old = points_.largest_query;
  for (std::size_t a = 0; a < D; ++a) points_.largest_query[a] = std::max(points_.largest_query[a], queries.largest[a]);
  try {
    change([&] { structure_->build(points_); });
  } catch (...) {
    // The bodies are unchanged: only this query fails.
    points_.largest_query = old;
    change([&] { structure_->build(points_); });
    throw;
  }
}

// Room for the queries, if any, and the details of the bodies, if they are needed; then no change may begin until the
// lock is released.
template <class T, int D>
std::shared_lock<std::shared_mutex> Search<T, D>::begin_search(const BodyView<T, D>* queries, bool positions) {
  while (true) {
    {
      std::shared_lock lock(mutex_);
      require_ready();
      const bool wide = queries == nullptr || has_room(*queries);
      if (wide && (!positions || structure_->bodies().is_complete())) return lock;
    }
    // Another thread may undo either by a change before this one has the lock again.
    if (queries != nullptr) widen(*queries);
    const std::unique_lock lock(mutex_);
    require_ready();
    if (positions) structure_->bodies().complete();
  }
}

template <class T, int D>
void Search<T, D>::arrange(const BodyView<T, D>& queries, bool positions, Bodies<T, D>& arranged) const {
  structure_->arrange(queries, arranged);
  arranged.note_outside();
  if (positions) arranged.complete();
}

template <class T, int D>
template <class F>
auto Search<T, D>::search(const BodyView<T, D>* queries, Mode mode, bool positions, F&& f, const PairFilter* filter) {
  positions = positions || detail::needs_positions(filter);
  const auto lock = begin_search(queries, positions);
  const detail::Stopwatch watch;
  detail::limit_threads(queries != nullptr ? queries->size : structure_->bodies().size);
  Bodies<T, D> arranged;
  if (queries != nullptr) {
    arrange(*queries, positions, arranged);
    mode = Mode::cross;
  }
  auto result =
      f(Task<T, D>{*structure_, queries != nullptr ? arranged : structure_->bodies(), mode, settings_.cutoff, filter});
  const std::lock_guard figures_lock(figures_mutex_);
  figures_.tally = result.tally;
  figures_.query_seconds = watch.seconds();
  return result;
}

template <class T, int D>
PairChunks<T, D> Search<T, D>::in_chunks(const BodyView<T, D>* queries, const Want& want, bool half,
                                         const PairFilter* filter) {
  PairChunks<T, D> chunks;
  chunks.want = want;
  chunks.want.filtered = filter != nullptr;
  chunks.mode = queries != nullptr ? Mode::cross : half ? Mode::half : Mode::full;
  chunks.filter = filter;
  const auto lock = begin_search(queries, chunks.want.slots());
  if (queries != nullptr) arrange(*queries, chunks.want.slots(), chunks.queries);
  chunks.changes = changes_;
  return chunks;
}

template <class T, int D>
PairResult<T, D> Search<T, D>::next_pairs(PairChunks<T, D>& chunks, std::size_t most) {
  const auto lock = begin_search(nullptr, chunks.want.slots());
  if (chunks.changes != changes_)
    throw std::runtime_error("the index has changed while its pairs were found in chunks; start again");
  const Task<T, D> task{*structure_, chunks.mode == Mode::cross ? chunks.queries : structure_->bodies(), chunks.mode,
                        settings_.cutoff, chunks.filter};
  PairResult<T, D> result = find_pairs_from(task, chunks.want, most, chunks.part, chunks.together);
  chunks.done = chunks.part >= task.index.parts(task.queries);
  return result;
}

template <class T, int D>
PairResult<T, D> Search<T, D>::pairs(const BodyView<T, D>* queries, const Want& want, bool half, bool sort,
                                     const PairFilter* filter) {
  Want needed = want;
  needed.filtered = filter != nullptr;
  const Mode mode = half ? Mode::half : Mode::full;
  const auto find = [&](const Task<T, D>& task) {
    return sort ? find_sorted_pairs(task, needed, pool_.get()) : find_pairs(task, needed, pool_.get());
  };
  return search(queries, mode, needed.slots(), find, filter);
}

template <class T, int D>
RowResult<T, D> Search<T, D>::rows(const BodyView<T, D>* queries, const Want& want, bool half, bool sort,
                                   const PairFilter* filter) {
  Want needed = want;
  needed.filtered = filter != nullptr;
  needed.shift = want.shift || (sort && (want.distance || want.vector));  // images of a pair are ordered by their shift
  const auto find = [&](const Task<T, D>& task) {
    RowResult<T, D> result;
    result.rows = task.queries.size;
    const std::size_t bytes = (result.rows + 1) * sizeof(std::int64_t);
    result.offsets = pool_ ? pool_->take(bytes, PageSize::huge) : Region(bytes);
    const std::span<std::int64_t> offsets(static_cast<std::int64_t*>(result.offsets.data()), result.rows + 1);
    result.entries = find_rows(task, needed, half ? Keep::upper : Keep::all, sort, offsets, pool_.get());
    result.tally = result.entries.tally;
    return result;
  };
  return search(queries, Mode::full, needed.slots(), find, filter);
}

template <class T, int D>
CountResult Search<T, D>::count(const BodyView<T, D>* queries, const PairFilter* filter) {
  const auto find = [&](const Task<T, D>& task) {
    const std::size_t n = task.queries.size;
    CountResult result{Region(n * sizeof(std::int32_t)), n, {}};
    result.tally = count_neighbors(task, {static_cast<std::int32_t*>(result.counts.data()), n});
    return result;
  };
  return search(queries, Mode::full, false, find, filter);
}

template <class T, int D>
NearestResult Search<T, D>::nearest(const BodyView<T, D>* queries, std::size_t k, T cutoff) {
  {
    const std::unique_lock lock(mutex_);
    require_ready();
    if (!tree_) tree_ = std::make_unique<NearestTree<T, D>>(points_, settings_.box);
  }
  const std::shared_lock lock(mutex_);
  require_ready();
  if (tree_) return find_nearest(*tree_, queries, k, cutoff);
  // Another thread has changed the bodies in between.
  return find_nearest(NearestTree<T, D>(points_, settings_.box), queries, k, cutoff);
}

template <class T, int D>
Touching Search<T, D>::touch(const BodyView<T, D>* queries, const Planes<T, D>& planes) {
  const std::shared_lock lock(mutex_);
  require_ready();
  return find_touching(queries != nullptr ? *queries : points_, settings_.cutoff, planes);
}

template <class T, int D>
Figures Search<T, D>::figures() const {
  const std::shared_lock lock(mutex_);
  const std::lock_guard figures_lock(figures_mutex_);
  Figures now = figures_;
  now.bodies = structure_->bodies().size;
  now.bytes = structure_->bodies().bytes() + structure_->bytes() + copy_.bytes() + extra_.bytes() +
              (tree_ ? tree_->bytes() : 0);
  now.details = structure_->details();
  return now;
}

}  // namespace vicinal
