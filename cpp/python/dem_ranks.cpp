// Grains on several ranks for Python: bodies that leave and arrive, ghosts, and steps taken together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dem/simulation.hpp"
#include "python/arrays.hpp"
#include "python/dem.hpp"
#include "python/exchange.hpp"
#include "python/vectors.hpp"

namespace vicinal {
namespace {

namespace nb = nanobind;
using dem::Simulation;

nb::object bytes_of(const dem::Parcel& parcel) {
  const auto* const first = reinterpret_cast<const std::uint8_t*>(parcel.data());
  return array_of(std::vector<std::uint8_t>(first, first + parcel.size()), {parcel.size()});
}

// The bodies that leave for each rank.
nb::list depart(Simulation& sim, const In<std::int32_t>& ranks, std::int32_t own, std::size_t size) {
  if (ranks.size() != sim.assembly.bodies.size()) throw nb::value_error("one rank per row is needed");
  nb::list parcels;
  for (const dem::Parcel& parcel : sim.migration.depart(values(ranks), own, size)) parcels.append(bytes_of(parcel));
  return parcels;
}

// Sets which rows are sent and which are ghosts (dem/border.hpp). Returns the bytes of the message per body.
std::size_t set_border(Simulation& sim, const In<std::uint32_t>& sent, const In<std::uint32_t>& ghosts,
                       const std::vector<std::size_t>& counts, bool turning) {
  sim.clock.border.set(sim.assembly.bodies, values(sent), values(ghosts), counts, turning);
  return sim.clock.border.width();
}

// Advances on several ranks, which call this together (`call`: see python/exchange.hpp). Returns whether they have
// stopped because one of them was asked to.
bool advance_together(Simulation& sim, std::int64_t most, Exchange& exchange, const nb::callable& call) {
  const Calling calling(exchange, call);
  struct Reset {
    dem::Border& border;
    ~Reset() { border.exchange = nullptr; }
  } const reset{sim.clock.border};
  sim.clock.border.exchange = &exchange;
  without_lock([&] { return sim.clock.advance(most); });
  return !sim.clock.drifted && std::exchange(sim.clock.stopping, false);
}

}  // namespace

void bind_dem_ranks(nb::class_<Simulation>& grains) {
  grains.def("advance_together", &advance_together, nb::arg("most"), nb::arg("exchange"), nb::arg("call"))
      .def("depart", &depart, nb::arg("ranks"), nb::arg("own"), nb::arg("size"))
      .def(
          "copies",
          [](const Simulation& w, const In<std::uint32_t>& rows) { return bytes_of(w.migration.copies(values(rows))); },
          nb::arg("rows"))
      .def(
          "arrive",
          [](Simulation& w, const In<std::uint8_t>& parcel, bool ghosts) {
            w.migration.arrive({reinterpret_cast<const std::byte*>(parcel.data()), parcel.size()}, ghosts);
          },
          nb::arg("parcel"), nb::arg("ghosts"))
      .def("sort_rows",
           [](Simulation& w) {
             auto order = w.migration.sort();
             const std::size_t n = order.size();
             return array_of(std::move(order), {n});
           })
      .def("settle", [](Simulation& w) { w.migration.settle(); })
      .def("set_border", &set_border, nb::arg("sent"), nb::arg("ghosts"), nb::arg("counts"), nb::arg("turning"))
      .def("ghosts",
           [](const Simulation& w) {
             return array_of(std::vector<std::uint8_t>(w.assembly.bodies.ghosts), {w.assembly.bodies.size()});
           })
      .def_prop_ro("own", [](const Simulation& w) {
        const auto& ghosts = w.assembly.bodies.ghosts;
        return std::count(ghosts.begin(), ghosts.end(), std::uint8_t{0});
      });
}

}  // namespace vicinal
