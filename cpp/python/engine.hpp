// One structure over one set of bodies, as Python holds it: builds, searches, remembers figures for `stats`.
#pragma once

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

  // A `lasting` engine keeps the memory of results that were dropped for the next search.
  Engine(const Make& make, const Settings<T, D>& settings, bool lasting)
      : settings_(settings), index_(make(settings)), pool_(lasting ? std::make_shared<Pool>() : nullptr) {}

  void build(const Points<T, D>& points) {
    const std::unique_lock lock(mutex_);
    const Stopwatch watch;
    index_.build(points);
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
    const std::lock_guard lock(figures_mutex_);
    return figures_;
  }
  [[nodiscard]] Details details() const {
    const std::shared_lock lock(mutex_);
    return index_.details();
  }
  [[nodiscard]] std::size_t bytes() const {
    const std::shared_lock lock(mutex_);
    return index_.bodies().bytes() + index_.bytes();
  }
  [[nodiscard]] std::size_t size() const {
    const std::shared_lock lock(mutex_);
    return index_.bodies().size;
  }
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const { return pool_; }

 private:
  Settings<T, D> settings_;
  AnyIndex<T, D> index_;
  std::shared_ptr<Pool> pool_;
  mutable std::shared_mutex mutex_;
  mutable std::mutex figures_mutex_;
  Figures figures_;
};

}  // namespace vicinal
