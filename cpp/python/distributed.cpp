// Which bodies are ghosts on other ranks, and exchanges between ranks; messages are Python's.
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
#include "python/exchange.hpp"
#include "python/vectors.hpp"

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
  return dispatch(bodies.positions, [&]<class T, int D>() {
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
  return dispatch(bodies.positions, [&]<class T, int D>() {
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
  nb::class_<Exchange>(m, "Exchange");
  nb::class_<Node, Exchange>(m, "Node")
      .def(
          "__init__",
          [](Node* self, const MessageExchange::Bytes& memory, std::size_t ranks, std::size_t rank,
             std::size_t capacity) {
            new (self) Node({reinterpret_cast<std::byte*>(memory.data()), memory.size()}, ranks, rank, capacity);
          },
          nb::arg("memory"), nb::arg("ranks"), nb::arg("rank"), nb::arg("capacity"), nb::keep_alive<1, 2>())
      .def_static("bytes", &Node::bytes, nb::arg("ranks"), nb::arg("capacity"))
      .def(
          "address", [](Node& node, const In<std::uint64_t>& offsets) { node.address(values(offsets)); },
          nb::arg("offsets"))
      .def_prop_ro("capacity", &Node::capacity)
      .def_prop_ro("waited", &Node::waited);
  nb::class_<MessageExchange, Exchange>(m, "MessageExchange")
      .def(nb::init<MessageExchange::Bytes, MessageExchange::Bytes, std::vector<std::size_t>,
                    MessageExchange::Numbers>(),
           nb::arg("outgoing"), nb::arg("incoming"), nb::arg("starts"), nb::arg("numbers"));
}

}  // namespace vicinal
