// Lists and contacts of grains for Python. Arguments were checked in Python (src/vicinal/dem/).
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dem/simulation.hpp"
#include "exec/memory.hpp"
#include "exec/threads.hpp"
#include "python/arrays.hpp"
#include "python/dem.hpp"
#include "python/vectors.hpp"

namespace vicinal {
namespace {

namespace nb = nanobind;
using dem::ContactHistory;
using dem::Quat;
using dem::Simulation;
using dem::Vec;

RowsView rows_of(const In<std::int64_t>& offsets, const In<std::int32_t>& indices, std::size_t rows) {
  const RowsView view{values(offsets), values(indices)};
  if (offsets.size() != rows + 1 || first_wrong_offset(view) != rows)
    throw nb::value_error("the lists belong to another number of elements");
  return view;
}

void set_lists(Simulation& sim, const In<std::int64_t>& offsets, const In<std::int32_t>& indices,
               const In<std::int64_t>& wall_offsets, const In<std::int32_t>& wall_indices, const In<double>& centres,
               const In<double>& margins, double wall_margin, double wall_drift) {
  const std::size_t size = sim.assembly.element_places().size();
  const RowsView pairs = rows_of(offsets, indices, size), wall_rows = rows_of(wall_offsets, wall_indices, size);
  if (centres.size() != 3 * size || margins.size() != size)
    throw nb::value_error("the lists belong to another number of elements");
  without_lock([&] { sim.set_lists(pairs, wall_rows, values(centres), values(margins), wall_margin, wall_drift); });
}

// The centres for which the lists were made, and the margins.
nb::tuple reference(const Simulation& sim) {
  const auto centres = sim.lists.built_centres(), margins = sim.lists.margins();
  return nb::make_tuple(array_of(std::vector<double>(centres.begin(), centres.end()), {margins.size(), 3}),
                        array_of(std::vector<double>(margins.begin(), margins.end()), {margins.size()}));
}

// The history of contacts by ids: id and part of the first and of the second element (of a wall: -1 and the primitive),
// springs (contact, point, 3), turnings (contact, point, 4), normals. Contacts whose first element is a ghost are left
// out: another rank has them.
nb::tuple history_arrays(const Simulation& sim, const ContactHistory& history, bool of_walls) {
  const std::size_t points = history.points;
  std::vector<std::int64_t> ids[2];
  std::vector<std::uint32_t> parts[2];
  std::vector<double> springs, turnings, normals;
  const auto add = [](std::vector<double>& to, auto value, std::size_t width) {
    to.resize(to.size() + width);
    put(to.data() + to.size() - width, value);
  };
  for (std::size_t k = 0; k < history.size(); ++k) {
    if (sim.assembly.bodies.ghosts[sim.assembly.body_of(history.first[k])] != 0) continue;
    const auto first = sim.migration.part_of(history.first[k]);
    ids[0].push_back(first.id);
    parts[0].push_back(first.part);
    const auto second =
        of_walls ? dem::Migration::Part{-1, history.second[k]} : sim.migration.part_of(history.second[k]);
    ids[1].push_back(second.id);
    parts[1].push_back(second.part);
    for (std::size_t p = 0; p < points; ++p) {
      const dem::Turning& turned = history.turnings[p][k];
      add(springs, Vec(history.springs[p][k]), 3);
      add(turnings, Quat{turned.x, turned.y, turned.z, turned.twist}, 4);
    }
    add(normals, Vec(history.normals[k]), 3);
  }
  const std::size_t n = ids[0].size();
  return nb::make_tuple(array_of(std::move(ids[0]), {n}), array_of(std::move(parts[0]), {n}),
                        array_of(std::move(ids[1]), {n}), array_of(std::move(parts[1]), {n}),
                        array_of(std::move(springs), {n, points, 3}), array_of(std::move(turnings), {n, points, 4}),
                        array_of(std::move(normals), {n, 3}));
}

// Of pairs and of walls. They can be restored before the next lists are set.
nb::tuple contact_memory(const Simulation& sim) {
  return nb::make_tuple(history_arrays(sim, sim.lists.pair_history(), false),
                        history_arrays(sim, sim.lists.wall_history(), true));
}

// `settle` has to be called when all bodies and elements are in their rows.
void restore_memory(Simulation& sim, bool of_walls, const In<std::int64_t>& first, const In<std::uint32_t>& first_part,
                    const In<std::int64_t>& second, const In<std::uint32_t>& second_part, const In<double>& springs,
                    const In<double>& turnings, const In<double>& normals) {
  ContactHistory& history = of_walls ? sim.lists.stashed_walls : sim.lists.stashed_pairs;
  history.clear();
  history.points = springs.ndim() == 3 ? springs.shape(1) : 0;
  if (history.points != 1 && history.points != dem::most_points)
    throw nb::value_error("springs must have the shape (contacts, points, 3)");
  const std::size_t n = first.size(), points = n * history.points;
  const auto check = [](const char* name, std::size_t got, std::size_t expected) {
    if (got == expected) return;
    const std::string text = std::string(name) + " must have " + std::to_string(expected) +
                             " numbers, as many as belong to the contacts in first, got " + std::to_string(got) +
                             "; restore all arrays of one state";
    throw nb::value_error(text.c_str());
  };
  check("first_part", first_part.size(), n);
  check("second", second.size(), n);
  check("second_part", second_part.size(), n);
  check("springs", springs.size(), 3 * points);
  check("turnings", turnings.size(), 4 * points);
  check("normals", normals.size(), 3 * n);
  for (std::size_t k = 0; k < n; ++k) {
    dem::ContactMemory memory;
    for (std::size_t p = 0; p < history.points; ++p) {
      const double* const spring = springs.data() + 3 * (k * history.points + p);
      const double* const turned = turnings.data() + 4 * (k * history.points + p);
      memory.springs[p] = vec_at(spring);
      memory.turnings[p] = {turned[0], turned[1], turned[2], turned[3]};
    }
    memory.normal = vec_at(normals.data() + 3 * k);
    sim.migration.remember(of_walls, {first.data()[k], first_part.data()[k]}, {second.data()[k], second_part.data()[k]},
                           memory);
  }
}

// i, j, wall; point, normal, force; overlap, normal force, tangential force, energy.
nb::tuple details(Simulation& sim) {
  std::vector<std::size_t> offsets{0};
  Buffer<std::int64_t> ids[2];
  Buffer<std::int32_t> wall;
  Buffer<double> vectors[3], numbers[4];
  without_lock([&] {
    const auto parts = sim.forces.details();
    for (const auto& part : parts) offsets.push_back(offsets.back() + part.size());
    for (auto& column : ids) column.reset(offsets.back());
    wall.reset(offsets.back());
    for (auto& column : vectors) column.reset(3 * offsets.back());
    for (auto& column : numbers) column.reset(offsets.back());
    parallel_for(parts.size(), [&](std::size_t part, int) {
      std::size_t k = offsets[part];
      for (const dem::Detail& one : parts[part]) {
        ids[0][k] = one.i, ids[1][k] = one.j, wall[k] = one.wall;
        put(vectors[0].data() + 3 * k, one.point);
        put(vectors[1].data() + 3 * k, one.normal);
        put(vectors[2].data() + 3 * k, one.force);
        numbers[0][k] = one.overlap, numbers[1][k] = one.normal_force, numbers[2][k] = one.tangential_force;
        numbers[3][k] = one.energy;
        ++k;
      }
    });
  });
  const std::size_t n = offsets.back();
  return nb::make_tuple(array_of(std::move(ids[0]), {n}), array_of(std::move(ids[1]), {n}),
                        array_of(std::move(wall), {n}), array_of(std::move(vectors[0]), {n, 3}),
                        array_of(std::move(vectors[1]), {n, 3}), array_of(std::move(vectors[2]), {n, 3}),
                        array_of(std::move(numbers[0]), {n}), array_of(std::move(numbers[1]), {n}),
                        array_of(std::move(numbers[2]), {n}), array_of(std::move(numbers[3]), {n}));
}

// Bodies that passed through walls since the last call: step, id of the body, number of the wall.
nb::tuple take_crossings(Simulation& sim) {
  std::vector<std::int64_t> steps, ids;
  std::vector<std::int32_t> walls;
  for (const dem::Crossing& one : sim.forces.crossings.take()) {
    steps.push_back(one.step);
    ids.push_back(one.body);
    walls.push_back(one.wall);
  }
  const std::size_t n = steps.size();
  return nb::make_tuple(array_of(std::move(steps), {n}), array_of(std::move(ids), {n}),
                        array_of(std::move(walls), {n}));
}
}  // namespace

void bind_dem_contacts(nb::class_<Simulation>& grains) {
  grains.def("drop_lists", [](Simulation& w) { w.lists.stash(); })
      .def("set_lists", &set_lists, nb::arg("offsets"), nb::arg("indices"), nb::arg("wall_offsets"),
           nb::arg("wall_indices"), nb::arg("centres"), nb::arg("margins"), nb::arg("wall_margin"),
           nb::arg("wall_drift"))
      .def("reference", &reference)
      .def("contact_memory", &contact_memory)
      .def("restore_memory", &restore_memory, nb::arg("of_walls"), nb::arg("first"), nb::arg("first_part"),
           nb::arg("second"), nb::arg("second_part"), nb::arg("springs"), nb::arg("turnings"), nb::arg("normals"))
      .def("take_crossings", &take_crossings)
      .def("details", &details)
      .def("contacts", [](const Simulation& w) { return w.lists.contacts(); })
      .def("listed", [](const Simulation& w) { return w.lists.size(); })
      .def_prop_ro("wall_margin", [](const Simulation& w) { return w.lists.wall_margin(); })
      .def_prop_ro("wall_drift", [](const Simulation& w) { return w.lists.wall_drift(); })
      .def_prop_ro("has_lists", [](const Simulation& w) { return w.lists.ready(); });
}

}  // namespace vicinal
