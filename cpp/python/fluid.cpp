// One step of a fluid: densities and displacements from positions and rows of neighbours.
#include "python/fluid.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "fluid/relax.hpp"
#include "python/arrays.hpp"
#include "rows/sort_rows.hpp"

namespace vicinal {

namespace {

using Offsets = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Indices = nb::ndarray<const std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Ordered = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// Puts rows of neighbours into ascending order, into an array that is at least as long.
void order(const Offsets& offsets, const Indices& indices, const Ordered& ordered) {
  if (offsets.shape(0) == 0 || ordered.shape(0) < indices.shape(0)) throw nb::type_error("rows do not fit the array");
  without_lock([&] {
    sort_symmetric_rows({{offsets.data(), offsets.shape(0)}, {indices.data(), indices.shape(0)}},
                        {ordered.data(), indices.shape(0)});
  });
}

// Rows come from an index of the same particles (src/vicinal/fluid.py), so their numbers are in range.
nb::list relax(const PointArray& points, std::size_t moving, const Offsets& offsets, const Indices& indices,
               double radius, double rest_density, double stiffness, double near_stiffness, bool reaction) {
  return dispatch(points, [&]<class T, int D>() {
    const std::size_t n = points.shape(0);
    if (offsets.shape(0) != n + 1 || moving > n) throw nb::type_error("rows do not fit the particles");
    const fluid::RelaxationParticles<T, D> particles{{static_cast<const T*>(points.data()), n * D},
                                                     {{offsets.data(), n + 1}, {indices.data(), indices.shape(0)}}};
    const fluid::RelaxationLaw<T> law{static_cast<T>(radius), static_cast<T>(rest_density), static_cast<T>(stiffness),
                                      static_cast<T>(near_stiffness), reaction};
    Region felt(n * sizeof(std::int32_t));
    Region density(n * sizeof(T));
    Region near(n * sizeof(T));
    Region displacement(moving * D * sizeof(T));
    const auto numbers = [](Region& region, std::size_t size) {
      return std::span<T>(static_cast<T*>(static_cast<void*>(region.data())), size);
    };
    const fluid::Relaxed<T> result{{static_cast<std::int32_t*>(static_cast<void*>(felt.data())), n},
                                   numbers(density, n),
                                   numbers(near, n),
                                   numbers(displacement, moving * D)};
    without_lock([&] { fluid::Relaxation<T, D>(particles, law, result).run(); });
    nb::list arrays;
    arrays.append(array_of<std::int32_t>(std::move(felt), {n}, nullptr));
    arrays.append(array_of<T>(std::move(density), {n}, nullptr));
    arrays.append(array_of<T>(std::move(near), {n}, nullptr));
    arrays.append(array_of<T>(std::move(displacement), {moving, D}, nullptr));
    return arrays;
  });
}

}  // namespace

void bind_fluid(nb::module_& m) {
  m.def("fluid_order", &order, nb::arg("offsets"), nb::arg("indices"), nb::arg("ordered"));
  m.def("fluid_relax", &relax, nb::arg("points"), nb::arg("moving"), nb::arg("offsets"), nb::arg("indices"),
        nb::arg("radius"), nb::arg("rest_density"), nb::arg("stiffness"), nb::arg("near_stiffness"),
        nb::arg("reaction"));
}

}  // namespace vicinal
