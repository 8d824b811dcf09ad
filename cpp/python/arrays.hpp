// Arrays between Python and the core, and calls without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "geometry/box.hpp"
#include "index/bodies.hpp"
#include "pairs/columns.hpp"
#include "pairs/result.hpp"

namespace vicinal {

namespace nb = nanobind;

// Points as Python passes them: C-contiguous float32 or float64, (n, 2) or (n, 3).
using PointArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

// Runs f without the interpreter lock; Ctrl-C becomes KeyboardInterrupt.
template <class F>
auto without_lock(F&& f) {
  try {
    const nb::gil_scoped_release release;
    enter_call();
    return f();
  } catch (const Interrupted&) {
    throw nb::python_error();
  }
}

// Calls f.operator()<T, D>() for the dtype and dimension of an array.
template <class F>
auto dispatch(const PointArray& points, F&& f) {
  const bool single = points.dtype() == nb::dtype<float>();
  if (points.ndim() != 2 || !(single || points.dtype() == nb::dtype<double>()))
    throw nb::type_error("points must be a float32 or float64 array of two dimensions");
  if (points.shape(1) == 2) return single ? f.template operator()<float, 2>() : f.template operator()<double, 2>();
  if (points.shape(1) == 3) return single ? f.template operator()<float, 3>() : f.template operator()<double, 3>();
  throw nb::type_error("points must have 2 or 3 columns");
}

// Bodies as Python passes them: positions; radii (n), upper corners (n, D) or None; bounds of the positions; the
// largest radius or edges, one number per axis; whether the larger of two radii decides.
using BodyArrays = std::tuple<PointArray, std::optional<PointArray>, std::vector<double>, std::vector<double>,
                              std::vector<double>, bool>;

template <class T, int D>
BodyView<T, D> points_of(const BodyArrays& bodies) {
  const auto& [array, extra, low, high, largest, widest] = bodies;
  const auto fits = [n = array.shape(0)](const PointArray& a) {
    return a.dtype() == nb::dtype<T>() && a.shape(0) == n;
  };
  if (array.ndim() != 2 || array.shape(1) != D || !fits(array) || low.size() != D || high.size() != D ||
      largest.size() != D)
    throw nb::type_error("bodies do not have the dtype and dimension the index was made for");
  BodyView<T, D> points;
  points.data = static_cast<const T*>(array.data());
  points.size = array.shape(0);
  points.widest = widest;
  if (extra) {
    points.shape = extra->ndim() == 1 ? Shape::sphere : Shape::box;
    if (!fits(*extra) || extra->ndim() > 2 || (extra->ndim() == 2 && extra->shape(1) != D))
      throw nb::type_error("radii or upper corners do not fit the positions");
    points.extra = static_cast<const T*>(extra->data());
  }
  for (std::size_t a = 0; a < D; ++a) {
    points.low[a] = static_cast<T>(low[a]);
    points.high[a] = static_cast<T>(high[a]);
    points.largest[a] = static_cast<T>(largest[a]);
  }
  return points;
}

// The box as Python describes it (vicinal.cell): an edge per axis and, if it is tilted, three matrices more.
template <class T, int D>
Box<T, D> box_of(std::span<const double> numbers) {
  constexpr std::size_t square = D * D;
  if (numbers.size() != D && numbers.size() != D + 3 * square)
    throw nb::type_error("the box does not have the dimension of the bodies");
  Box<T, D> box;
  for (std::size_t a = 0; a < D; ++a) box.edge[a] = static_cast<T>(numbers[a]);
  if (numbers.size() == D) return box;
  box.tilted = true;
  Lattice<T, D>& lattice = box.lattice;
  for (std::size_t k = 0; k < D; ++k) {
    double length = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const double* const entry = numbers.data() + D + k * D + a;
      lattice.vector[k][a] = static_cast<T>(entry[0]);
      lattice.inverse[k][a] = entry[square];
      lattice.turn[k][a] = static_cast<std::int32_t>(entry[2 * square]);
      length = std::hypot(length, lattice.inverse[k][a]);
    }
    for (std::size_t a = 0; a < D; ++a) lattice.normal[k][a] = lattice.inverse[k][a] / length;
  }
  lattice.back = inverse_of<D>(lattice.turn);
  return box;
}

// Passes a region to NumPy; when the array is freed, the memory returns to the pool if it still exists.
template <class T>
nb::object array_of(Region region, std::vector<std::size_t> shape, const std::shared_ptr<Pool>& pool) {
  struct Owner {
    Region region;
    std::shared_ptr<Pool> pool;
    Owner(Region r, std::shared_ptr<Pool> p) : region(std::move(r)), pool(std::move(p)) {}
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner() {
      if (pool) pool->give(std::move(region));
    }
  };
  auto owner = std::make_unique<Owner>(std::move(region), pool);
  void* const data = owner->region.data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape.size(), shape.data(), capsule));
}

// The columns named by `want`, in that order; repeated letters share one array.
template <class T, int D>
nb::list columns_of(PairResult<T, D> result, const std::string& want, const std::shared_ptr<Pool>& pool) {
  std::map<char, nb::object> made;
  const auto column = [&](char letter) -> nb::object {
    switch (letter) {
      case 'i': return array_of<std::int32_t>(std::move(result.store.i), {result.size}, pool);
      case 'j': return array_of<std::int32_t>(std::move(result.store.j), {result.size}, pool);
      case 'd': return array_of<T>(std::move(result.store.distance), {result.size}, pool);
      case 'D': return array_of<T>(std::move(result.store.vector), {result.size, D}, pool);
      default: return array_of<std::int32_t>(std::move(result.store.shift), {result.size, D}, pool);
    }
  };
  nb::list columns;
  for (const char letter : want) {
    if (!made.contains(letter)) made[letter] = column(letter);
    columns.append(made[letter]);
  }
  return columns;
}

inline Want want_of(const std::string& letters) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  return {has('i'), has('j'), has('d'), has('D'), has('S')};
}

}  // namespace vicinal
