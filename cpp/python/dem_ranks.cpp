// Grains on several ranks for Python: bodies that leave and arrive, ghosts, and steps taken together.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "dem/simulation.hpp"
#include "python/arrays.hpp"
#include "python/dem.hpp"
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

// An array that shares the memory of the simulation. It is valid until the border is set again.
nb::object view_of(nb::handle owner, double* data, std::size_t size) {
  return nb::cast(nb::ndarray<nb::numpy, double>(data, {size}, owner), nb::rv_policy::reference);
}

// Sets which rows are sent and which are ghosts. Returns the messages, outgoing and incoming, the numbers per body, and
// the numbers on which ranks agree.
nb::tuple set_border(nb::handle self, const In<std::uint32_t>& sent, const In<std::uint32_t>& ghosts, bool all_round) {
  auto& sim = nb::cast<Simulation&>(self);
  dem::Border& border = sim.clock.border;
  border.set(sim.assembly.bodies, values(sent), values(ghosts), all_round);
  return nb::make_tuple(view_of(self, border.outgoing.data(), border.outgoing.size()),
                        view_of(self, border.incoming.data(), border.incoming.size()), border.width(),
                        view_of(self, border.agreed.data(), border.agreed.size()));
}

// Advances on several ranks, which call `exchange` and `agree` together (dem/border.hpp). The two are kept for the time
// of the call only, so that no reference to the simulation can keep itself alive.
std::int64_t advance_together(Simulation& sim, std::int64_t most, const nb::callable& exchange,
                              const nb::callable& agree) {
  const auto calling = [](const nb::callable& function) {
    return [&function] {
      const nb::gil_scoped_acquire lock;
      function();
    };
  };
  struct Reset {
    dem::Border& border;
    ~Reset() { border.exchange = border.agree = nullptr; }
  } const reset{sim.clock.border};
  sim.clock.border.exchange = calling(exchange);
  sim.clock.border.agree = calling(agree);
  return without_lock([&] { return sim.clock.advance(most); });
}

}  // namespace

void bind_dem_ranks(nb::class_<Simulation>& grains) {
  grains.def("advance_together", &advance_together, nb::arg("most"), nb::arg("exchange"), nb::arg("agree"))
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
      .def("set_border", &set_border, nb::arg("sent"), nb::arg("ghosts"), nb::arg("all_round"))
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
