// One structure over one set of bodies, as Python holds it: builds, searches, remembers figures for `stats`.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <span>
#include <string>
#include <utility>

#include "exec/memory.hpp"
#include "index/index.hpp"
#include "pairs/rows.hpp"
#include "pairs/search.hpp"

namespace vicinal {

struct Figures {
  std::size_t bodies = 0;
  std::size_t bytes = 0;
  Details details;
  Tally tally;
  double build_seconds = 0;
  double query_seconds = 0;
};

class Stopwatch {
 public:
  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

template <class T, int D>
class Engine {
 public:
  using Make = std::function<AnyIndex<T, D>(const Settings<T, D>&)>;

  // A `lasting` engine copies the points, so that the caller's may change, and keeps the memory of results that were
  // dropped for the next search. The points of any other must stay as they are while it lives.
  Engine(const Make& make, const Settings<T, D>& settings, bool lasting)
      : settings_(settings), index_(make(settings)), pool_(lasting ? std::make_shared<Pool>() : nullptr) {}

  void build(const Points<T, D>& points) {
    const std::unique_lock lock(mutex_);
    const Stopwatch watch;
    Points<T, D> kept = points;
    if (pool_) {
      copy_.reset(points.size * D);
      std::copy_n(points.data, points.size * D, copy_.data());
      kept.data = copy_.data();
    }
    index_.build(kept);
    const std::lock_guard figures_lock(figures_mutex_);
    figures_ = {};
    figures_.build_seconds = watch.seconds();
  }

  // Searches may run side by side; only building, and adding exact positions, needs the index alone.
  template <class F>
  auto search(const Points<T, D>* queries, Mode mode, bool positions, F&& f) {
    if (positions) {
      const std::unique_lock lock(mutex_);
      index_.bodies().complete();
    }
    const std::shared_lock lock(mutex_);
    const Stopwatch watch;
    Bodies<T, D> arranged;
    if (queries != nullptr) {
      index_.arrange(*queries, arranged);
      if (positions) arranged.complete();
    }
    const Bodies<T, D>& own = index_.bodies();
    auto found = f(Task<T, D>{index_, queries != nullptr ? arranged : own, queries != nullptr ? Mode::cross : mode,
                              settings_.cutoff});
    const std::lock_guard figures_lock(figures_mutex_);
    figures_.tally = found.tally;
    figures_.query_seconds = watch.seconds();
    return found;
  }

  [[nodiscard]] Figures figures() const {
    const std::shared_lock lock(mutex_);
    const std::lock_guard figures_lock(figures_mutex_);
    Figures now = figures_;
    now.bodies = index_.bodies().size;
    now.bytes = index_.bodies().bytes() + index_.bytes() + copy_.bytes();
    now.details = index_.details();
    return now;
  }
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const { return pool_; }

 private:
  Settings<T, D> settings_;
  AnyIndex<T, D> index_;
  std::shared_ptr<Pool> pool_;
  Buffer<T> copy_;
  mutable std::shared_mutex mutex_;
  mutable std::mutex figures_mutex_;
  Figures figures_;
};

}  // namespace vicinal
