// The bodies, one row each. The rows are reordered from time to time so that neighbours in space are close in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dem/arrays.hpp"
#include "dem/vec.hpp"
#include "exec/huge_pages.hpp"

namespace vicinal::dem {

struct GrainBodies {
  HugeVector<Place> places;  // centre of mass; radius, for other shapes that of the bounding sphere
  HugeVector<Motion> motions;
  HugeVector<Quat> orientations;
  std::vector<double> masses;
  HugeVector<Vec> inertias;  // principal moments
  HugeVector<Vec4> momenta,
      half_impulses;  // angular momentum and torque × dt / 2; used if the moments of inertia differ
  std::vector<std::uint8_t> materials;
  std::vector<std::int32_t> shapes;  // -1: a sphere
  std::vector<std::int64_t> ids;
  std::vector<std::uint64_t> keys;   // rows are sorted by key, then by id (blocks.hpp)
  std::vector<std::uint8_t> ghosts;  // 1: another rank owns the body

  [[nodiscard]] std::size_t size() const { return places.size(); }

  void resize(std::size_t n) {
    each_column([n](auto& column) { column.resize(n); });
  }
  // Keeps the given rows in the given order.
  void take(std::span<const Number> rows) {
    each_column([rows](auto& column) {
      std::remove_reference_t<decltype(column)> taken;
      taken.reserve(rows.size());
      for (const Number row : rows) taken.push_back(column[row]);
      column = std::move(taken);
    });
  }
  [[nodiscard]] bool isotropic(std::size_t row) const {
    const Vec& moment = inertias[row];
    return moment.x == moment.y && moment.y == moment.z;
  }

 private:
  template <class F>
  void each_column(F&& f) {
    f(places);
    f(motions);
    f(orientations);
    f(masses);
    f(inertias);
    f(momenta);
    f(half_impulses);
    f(materials);
    f(shapes);
    f(ids);
    f(keys);
    f(ghosts);
  }
};

}  // namespace vicinal::dem
