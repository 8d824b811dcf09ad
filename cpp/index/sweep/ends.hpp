// The ends of all bodies along one axis, kept in ascending order while bodies move (Schornbaum 2009, section 4.5).
//
// When an upper and a lower end change places, two bodies begin or cease to overlap along this axis; all changes of
// overlaps are such events. At one coordinate lower ends come first, so that bodies which touch overlap; ends of one
// kind are in the order of the bodies' numbers, so that the order is total and any end can be found by its coordinate.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "exec/memory.hpp"

namespace vicinal::sweep {

// The number of a body, and whether it is its upper end.
class Tag {
 public:
  Tag() = default;
  Tag(std::uint32_t body, bool upper) : bits_(body | (upper ? top : 0)) {}

  [[nodiscard]] std::uint32_t body() const { return bits_ & ~top; }
  [[nodiscard]] bool upper() const { return bits_ >= top; }
  auto operator<=>(const Tag&) const = default;

 private:
  static constexpr std::uint32_t top = std::uint32_t{1} << 31;
  std::uint32_t bits_;
};

template <class T>
class Ends {
 public:
  struct End {
    T x;
    Tag tag;
    [[nodiscard]] bool before(const End& other) const { return x < other.x || (x == other.x && tag < other.tag); }
  };

  [[nodiscard]] std::size_t size() const { return x_.size(); }
  [[nodiscard]] End operator[](std::size_t k) const { return {x_[k], tag_[k]}; }
  [[nodiscard]] std::size_t bytes() const { return x_.bytes() + tag_.bytes(); }

  // `where(tag)`: the coordinate of an end, here as everywhere below.
  template <class Where>
  void sort(std::size_t bodies, Where&& where) {
    std::vector<End> ends = ends_of(0, bodies, where);
    x_.reset(ends.size());
    tag_.reset(ends.size());
    for (std::size_t k = 0; k < ends.size(); ++k) put(k, ends[k]);
  }

  // All ends may have moved: insertion sort. `crossed(lower, upper, overlap)` is called when the lower end of one body
  // and the upper end of another have changed places. Returns the number of steps, or gives up after `most` of them
  // with the ends in disorder.
  template <class Where, class Crossed>
  std::size_t settle(Where&& where, std::size_t most, Crossed&& crossed) {
    std::size_t steps = 0;
    for (std::size_t k = 0; k < size(); ++k) {
      const End end{where(tag_[k]), tag_[k]};
      const std::size_t to = sink(end, k, crossed);
      steps += k - to;
      if (steps > most) return steps;
    }
    return steps;
  }

  // One end has moved from `from`.
  template <class Crossed>
  std::size_t move(T from, const End& end, Crossed&& crossed) {
    const std::size_t start = find({from, end.tag});
    std::size_t k = start;
    for (; k + 1 < size() && (*this)[k + 1].before(end); ++k) {
      const End other = (*this)[k + 1];
      if (other.tag.upper() != end.tag.upper()) tell(other.tag, end.tag, crossed);
      put(k, other);
    }
    if (k > start) {
      put(k, end);
      return k - start;
    }
    return start - sink(end, start, crossed);
  }

  // Ends of bodies `first` … `last`-1 are new.
  template <class Where>
  void insert(std::size_t first, std::size_t last, Where&& where) {
    const std::vector<End> more = ends_of(first, last, where);
    std::size_t old = size();
    std::size_t to = old + more.size();
    x_.resize(to);
    tag_.resize(to);
    for (std::size_t left = more.size(); left > 0;) {
      if (old > 0 && more[left - 1].before((*this)[old - 1])) put(--to, (*this)[--old]);
      else put(--to, more[--left]);
    }
  }

  // Keeps the bodies that have a number in `renumbered`, in the same order; the others have `gone`.
  void remove(const std::vector<std::uint32_t>& renumbered, std::uint32_t gone) {
    std::size_t to = 0;
    for (std::size_t k = 0; k < size(); ++k) {
      const std::uint32_t body = renumbered[tag_[k].body()];
      if (body != gone) put(to++, {x_[k], Tag(body, tag_[k].upper())});
    }
    x_.resize(to);
    tag_.resize(to);
  }

 private:
  template <class Where>
  static std::vector<End> ends_of(std::size_t first, std::size_t last, Where& where) {
    std::vector<End> ends;
    ends.reserve(2 * (last - first));
    for (std::size_t body = first; body < last; ++body)
      for (const bool upper : {false, true}) {
        const Tag tag(static_cast<std::uint32_t>(body), upper);
        ends.push_back({where(tag), tag});
      }
    std::sort(ends.begin(), ends.end(), [](const End& a, const End& b) { return a.before(b); });
    return ends;
  }

  void put(std::size_t k, const End& end) {
    x_[k] = end.x;
    tag_[k] = end.tag;
  }

  // Moves an end that belongs before place k to its place, and returns it.
  template <class Crossed>
  std::size_t sink(const End& end, std::size_t k, Crossed&& crossed) {
    while (k > 0 && end.before((*this)[k - 1])) {
      const End other = (*this)[k - 1];
      if (other.tag.upper() != end.tag.upper()) tell(end.tag, other.tag, crossed);
      put(k--, other);
    }
    put(k, end);
    return k;
  }
  // `first` now comes before `second`.
  template <class Crossed>
  static void tell(Tag first, Tag second, Crossed& crossed) {
    if (first.body() == second.body()) return;  // a body whose ends move one at a time may be inverted temporarily
    if (second.upper()) crossed(first.body(), second.body(), true);
    else crossed(second.body(), first.body(), false);
  }

  [[nodiscard]] std::size_t find(const End& end) const {
    std::size_t first = 0;
    for (std::size_t count = size(); count > 1;) {
      const std::size_t half = count / 2;
      first += end.before((*this)[first + half]) ? 0 : half;
      count -= half;
    }
    return first;
  }

  Buffer<T> x_;
  Buffer<Tag> tag_;
};

}  // namespace vicinal::sweep
