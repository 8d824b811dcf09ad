// Arrays between Python and the core, and calls without the interpreter lock.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
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

// Bodies as Python passes them.
struct BodyArrays {
  PointArray positions;
  std::optional<PointArray> extra;  // radii (n) or upper corners (n, D)
  std::vector<double> low, high;    // bounds of the positions
  std::vector<double> largest;      // radius or edges, one number per axis
  bool widest = false;              // whether the larger of two radii decides
};
void bind_bodies(nb::module_& m);

template <class T, int D>
BodyView<T, D> points_of(const BodyArrays& bodies);

// The box as Python describes it (vicinal.cell): an edge per axis and, if it is tilted, three matrices more.
template <class T, int D>
Box<T, D> box_of(std::span<const double> numbers);

// Passes a region to NumPy; when the array is freed, the memory returns to the pool if it still exists.
nb::object array_of(Region region, nb::dlpack::dtype type, const std::vector<std::size_t>& shape,
                    const std::shared_ptr<Pool>& pool);
template <class T>
nb::object array_of(Region region, const std::vector<std::size_t>& shape, const std::shared_ptr<Pool>& pool) {
  return array_of(std::move(region), nb::dtype<T>(), shape, pool);
}

// The columns named by `want`, in that order; repeated letters share one array. `type` and `dimension` are those of the
// points.
nb::list columns_of(ColumnRegions store, std::size_t size, nb::dlpack::dtype type, std::size_t dimension,
                    const std::string& want, const std::shared_ptr<Pool>& pool);
template <class T, int D>
nb::list columns_of(PairResult<T, D> result, const std::string& want, const std::shared_ptr<Pool>& pool) {
  return columns_of(std::move(result.store), result.size, nb::dtype<T>(), D, want, pool);
}

Want want_of(const std::string& letters);

}  // namespace vicinal
