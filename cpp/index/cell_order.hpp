// Sorts bodies by a key, such as the cell they are in: keys, one pass into buckets that fit a cache, a counting sort in
// each.
//
// Scattering a million bodies straight to their cells misses the cache on every write. Here the first pass writes to at
// most 1024 places at a time and the second stays inside the level-2 cache; both run on all threads, and the order (by
// key, then by the user's number) does not depend on their number.
//
// The definitions are in key_sorter.hpp and compiled once per dtype and dimension (CMakeLists.txt).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "geometry/grid.hpp"
#include "index/bodies.hpp"

namespace vicinal {

// The keys of bodies: a reference to an object with for_each(begin, end, f), which calls f(body, key) for bodies in the
// numbering of the user. Valid for the duration of a call.
class KeySource {
 public:
  template <class Keys>
  // NOLINTNEXTLINE(google-explicit-constructor): callers pass any object with keys
  KeySource(const Keys& keys)
      : keys_(&keys), narrow_(&write<Keys, std::uint32_t>), wide_(&write<Keys, std::uint64_t>) {}

  // Writes the keys of bodies begin … end-1.
  void fill(std::size_t begin, std::size_t end, std::uint32_t* to) const { narrow_(keys_, begin, end, to); }
  void fill(std::size_t begin, std::size_t end, std::uint64_t* to) const { wide_(keys_, begin, end, to); }

 private:
  template <class Key>
  using Write = void (*)(const void*, std::size_t, std::size_t, Key*);
  template <class Keys, class Key>
  static void write(const void* keys, std::size_t begin, std::size_t end, Key* to) {
    static_cast<const Keys*>(keys)->for_each(
        begin, end, [=](std::size_t body, std::uint64_t key) { to[body - begin] = static_cast<Key>(key); });
  }

  const void* keys_;
  Write<std::uint32_t> narrow_;
  Write<std::uint64_t> wide_;
};

namespace detail {

// Whether a counting sort of the keys is faster than a comparison sort: clearing and reading a counter takes about half
// a nanosecond, sorting a body by comparison a few tens.
template <class Number>
constexpr bool counting_pays(Number keys, Number bodies) {
  return keys <= 32 * bodies + 4096;
}

// The key of the cell of each body.
template <class T, int D>
class CellKeys {
 public:
  CellKeys(const Grid& grid, const Bodies<T, D>& bodies) : grid_(grid), bodies_(bodies) {}

  template <class F>
  void for_each(std::size_t begin, std::size_t end, F&& f) const {
    if (grid_.plain()) {
      const PlainKey<D> key_of(grid_);
      for (std::size_t p = begin; p < end; ++p) f(p, key_of(bodies_.place_of(p)));
      return;
    }
    for (std::size_t p = begin; p < end; ++p) {
      const std::array<double, D> place = bodies_.place_of(p);
      std::array<std::int64_t, 3> cell{};
      for (std::size_t a = 0; a < D; ++a) cell[a] = grid_.axis[a].cell(place[a]);
      f(p, grid_.key(cell));
    }
  }

 private:
  const Grid& grid_;
  const Bodies<T, D>& bodies_;
};

}  // namespace detail

// Fills `bodies` (already `reset`) with slots in ascending order of key, then of the user's number, and with the groups
// of equal key. All keys are below `limit`.
template <class T, int D>
void order_by_key(std::uint64_t limit, const KeySource& source, Bodies<T, D>& bodies);

// The same with the cells of a grid as keys.
template <class T, int D>
void order_by_cell(const Grid& grid, Bodies<T, D>& bodies);

}  // namespace vicinal
