// Which bodies are ghosts on other ranks; messages are Python's.
#include "python/distributed.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "distributed/extents.hpp"
#include "python/arrays.hpp"

namespace vicinal {

namespace {

template <int D>
std::array<double, D> edges_of(const std::vector<double>& box) {
  if (box.size() != D) throw nb::type_error("box must have one edge per axis");
  std::array<double, D> edges{};
  std::copy(box.begin(), box.end(), edges.begin());
  return edges;
}

std::vector<double> hull(const BodyArrays& bodies, double reach, const std::vector<double>& box) {
  return dispatch(std::get<0>(bodies), [&]<class T, int D>() {
    const Extents<T, D> extents(points_of<T, D>(bodies), reach, edges_of<D>(box));
    const Hull<D> all = without_lock([&] { return extents.hull(); });
    std::vector<double> corners(all.low.begin(), all.low.end());
    corners.insert(corners.end(), all.high.begin(), all.high.end());
    return corners;
  });
}

using Hulls = nb::ndarray<const double, nb::ndim<3>, nb::c_contig, nb::device::cpu>;

nb::list meeting(const BodyArrays& bodies, double reach, const std::vector<double>& box, const Hulls& hulls,
                 std::size_t own) {
  return dispatch(std::get<0>(bodies), [&]<class T, int D>() {
    if (hulls.shape(1) != 2 || hulls.shape(2) != D) throw nb::type_error("hulls must have shape (ranks, 2, D)");
    const Extents<T, D> extents(points_of<T, D>(bodies), reach, edges_of<D>(box));
    std::vector<Hull<D>> ranks(hulls.shape(0));
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      std::copy_n(&hulls(rank, 0, 0), D, ranks[rank].low.begin());
      std::copy_n(&hulls(rank, 1, 0), D, ranks[rank].high.begin());
    }
    const auto rows = without_lock([&] { return extents.meeting(ranks, own); });
    nb::list arrays;
    for (const auto& row : rows) {
      Region region(row.size() * sizeof(std::int64_t) + overrun);
      std::copy(row.begin(), row.end(), static_cast<std::int64_t*>(region.data()));
      arrays.append(array_of<std::int64_t>(std::move(region), {row.size()}, nullptr));
    }
    return arrays;
  });
}

}  // namespace

void bind_distributed(nb::module_& m) {
  m.def("hull_of_extents", &hull, nb::arg("bodies"), nb::arg("reach"), nb::arg("box"));
  m.def("meeting_hulls", &meeting, nb::arg("bodies"), nb::arg("reach"), nb::arg("box"), nb::arg("hulls"),
        nb::arg("own"));
}

}  // namespace vicinal
