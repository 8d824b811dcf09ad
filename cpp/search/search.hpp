// One structure over one set of bodies: builds, searches, keeps figures for `stats`.
//
// The member functions are defined in search_body.hpp and compiled once per dtype and dimension (CMakeLists.txt).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "index/structure.hpp"
#include "nearest/nearest.hpp"
#include "pairs/columns.hpp"
#include "pairs/filter.hpp"
#include "pairs/planes.hpp"
#include "pairs/result.hpp"

namespace vicinal {

struct Figures {
  std::size_t bodies = 0;
  std::size_t bytes = 0;
  Details details;
  Tally tally;
  double build_seconds = 0;
  double query_seconds = 0;
};

// Rows with their offsets (int64, one more than the number of rows).
template <class T, int D>
struct RowResult {
  PairResult<T, D> entries;
  Region offsets;
  std::size_t rows = 0;
  Tally tally;
};

// Neighbours per query (int32).
struct CountResult {
  Region counts;
  std::size_t size = 0;
  Tally tally;
};

// How far a search in chunks has come.
template <class T, int D>
struct PairChunks {
  Want want;
  Mode mode = Mode::half;
  const PairFilter* filter = nullptr;
  Bodies<T, D> queries;       // in mode cross; they look into the arrays of the caller
  std::uint64_t changes = 0;  // of the bodies before the search
  bool done = false;
  std::size_t part = 0;      // the next piece of work
  std::size_t together = 1;  // pieces of work to do at once
};

template <class T, int D>
class Search {
 public:
  // A `lasting` search copies the points, so that the caller may change them, and keeps the memory of freed results for
  // the next search. Otherwise the caller must not change the points during the life of the search.
  Search(const std::string& structure, const StructureSettings<T, D>& settings, bool lasting);

  void build(const BodyView<T, D>& points);
  // The same bodies, moved or resized, or others. Spheres given as points keep their radii.
  void update(const BodyView<T, D>& points);
  // New bodies get the numbers that follow.
  void insert(const BodyView<T, D>& more);
  // Distinct numbers; the remaining bodies are renumbered in the same order.
  void remove(std::span<const std::uint32_t> ids);

  // `queries` may be null: the bodies among themselves. Searches may run concurrently.
  // `filter` may be null, too: it says which hits are pairs.
  PairResult<T, D> pairs(const BodyView<T, D>* queries, const Want& want, bool half, bool sort,
                         const PairFilter* filter = nullptr);
  // `half`: each pair once, in the row of its smaller id.
  RowResult<T, D> rows(const BodyView<T, D>* queries, const Want& want, bool half, bool sort,
                       const PairFilter* filter = nullptr);
  CountResult count(const BodyView<T, D>* queries, const PairFilter* filter = nullptr);
  // The k nearest points of every body, or query, by their centres; see nearest/nearest.hpp. The tree is built when it
  // is first needed after a change.
  NearestResult nearest(const BodyView<T, D>* queries, std::size_t k, T cutoff);
  // The bodies, or queries, that reach a plane.
  Touching touch(const BodyView<T, D>* queries, const Planes<T, D>& planes);

  // Runs f(task) and notes the tally of its result. `positions`: it needs the details of bodies.
  template <class F>
  auto search(const BodyView<T, D>* queries, Mode mode, bool positions, F&& f, const PairFilter* filter = nullptr);

  // Begins a search whose result is not wanted at once.
  PairChunks<T, D> in_chunks(const BodyView<T, D>* queries, const Want& want, bool half, const PairFilter* filter);
  // The next pairs of it: about `most`, or those of one piece of work if they are more. Throws if the bodies, or their
  // order in the structure, have changed in between.
  PairResult<T, D> next_pairs(PairChunks<T, D>& chunks, std::size_t most);

  [[nodiscard]] Figures figures() const;

  // f(the bodies), which do not change meanwhile.
  template <class F>
  auto look(F&& f) const {
    const std::shared_lock lock(mutex_);
    require_ready();
    return f(points_);
  }

  // Beyond the contract, for structures that can: f(structure S), with the structure to itself.
  template <class S, class F>
  auto on(F&& f) {
    const std::unique_lock lock(mutex_);
    require_ready();
    return change([&] { return f(structure<S>()); });
  }
  // The pool to which the memory of a freed result returns, or null.
  [[nodiscard]] const std::shared_ptr<Pool>& pool() const { return pool_; }

 private:
  // A change that fails or is interrupted leaves the structure incomplete: no search may run before the next build.
  template <class F>
  auto change(F&& f) {
    ready_ = false;
    ++changes_;
    tree_.reset();
    structure_->bodies().forget_details();
    if constexpr (std::is_void_v<decltype(f())>) {
      f();
      structure_->bodies().note_outside();
      ready_ = true;
    } else {
      auto result = f();
      structure_->bodies().note_outside();
      ready_ = true;
      return result;
    }
  }
  void require_ready() const {
    if (!ready_) throw std::runtime_error("the last change of the index failed or was interrupted; update it first");
  }
  template <class S>
  S& structure() {
    S* const wanted = dynamic_cast<S*>(structure_.get());
    if (wanted == nullptr || !pool_) throw std::logic_error("the structure cannot do that");
    return *wanted;
  }
  // Copies the bodies if the search is `lasting`; returns a view of them.
  BodyView<T, D> keep(const BodyView<T, D>& points);
  std::shared_lock<std::shared_mutex> begin_search(const BodyView<T, D>* queries, bool positions);
  void arrange(const BodyView<T, D>& queries, bool positions, Bodies<T, D>& arranged) const;
  // Whether the structure has room for queries of these sizes.
  [[nodiscard]] bool has_room(const BodyView<T, D>& queries) const;
  // Makes room in the structure for queries larger than any before.
  void widen(const BodyView<T, D>& queries);
  void note_build(double seconds);

  StructureSettings<T, D> settings_;
  std::unique_ptr<Structure<T, D>> structure_;
  std::unique_ptr<NearestTree<T, D>> tree_;  // null until `nearest` needs it
  std::shared_ptr<Pool> pool_;
  Buffer<T> copy_;   // positions
  Buffer<T> extra_;  // radii or upper corners
  BodyView<T, D> points_;
  bool ready_ = false;
  std::uint64_t changes_ = 0;
  mutable std::shared_mutex mutex_;  // builds, and adding exact positions, need exclusive access
  mutable std::mutex figures_mutex_;
  Figures figures_;
};

extern template class Search<float, 2>;
extern template class Search<float, 3>;
extern template class Search<double, 2>;
extern template class Search<double, 3>;

}  // namespace vicinal
