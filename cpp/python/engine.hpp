// One structure over one set of bodies, as Python holds it: builds, searches, remembers figures for `stats`.
//
// Only declarations: the bodies are in engine_body.hpp and compiled once per dtype and dimension, in instances/.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>

#include "exec/memory.hpp"
#include "index/index.hpp"
#include "pairs/columns.hpp"
#include "pairs/found.hpp"

namespace vicinal {

struct Figures {
  std::size_t bodies = 0;
  std::size_t bytes = 0;
  Details details;
  Tally tally;
  double build_seconds = 0;
  double query_seconds = 0;
};

// Rows with their offsets (int64, one more than there are rows).
template <class T, int D>
struct FoundRows {
  Found<T, D> found;
  Region offsets;
  std::size_t rows = 0;
  Tally tally;
};

// Partners per query (int32).
struct Counted {
  Region counts;
  std::size_t size = 0;
  Tally tally;
};

template <class T, int D>
class Engine {
 public:
  // A `lasting` engine copies the points, so that the caller's may change, and keeps the memory of results that were
  // dropped for the next search. The points of any other must stay as they are while it lives.
  Engine(const std::string& structure, const Settings<T, D>& settings, bool lasting);

  void build(const Points<T, D>& points);

  // `queries` may be null: the bodies among themselves. Searches may run side by side.
  Found<T, D> pairs(const Points<T, D>* queries, const Want& want, bool half, bool sort);
  FoundRows<T, D> rows(const Points<T, D>* queries, const Want& want, bool sort);
  Counted count(const Points<T, D>* queries);

  [[nodiscard]] Figures figures() const;
  // Where the memory of results goes when nobody needs them any more, or null.
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const { return pool_; }

 private:
  template <class F>
  auto search(const Points<T, D>* queries, Mode mode, bool positions, F&& f);

  Settings<T, D> settings_;
  AnyIndex<T, D> index_;
  std::shared_ptr<Pool> pool_;
  Buffer<T> copy_;
  mutable std::shared_mutex mutex_;  // building, and adding exact positions, needs the index alone
  mutable std::mutex figures_mutex_;
  Figures figures_;
};

extern template class Engine<float, 2>;
extern template class Engine<float, 3>;
extern template class Engine<double, 2>;
extern template class Engine<double, 3>;

}  // namespace vicinal
