// Triangles by the cells of a dense grid: which ones are near a short way.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "mesh/surface.hpp"
#include "mesh/vec3.hpp"

namespace vicinal::sph {

class TriangleCells {
 public:
  TriangleCells() = default;
  // Cells of about the given size, and all triangles closer to a cell than `margin` in it.
  TriangleCells(const mesh::Surface& surface, double size, double margin) {
    low_.fill(std::numeric_limits<double>::infinity());
    high_.fill(-std::numeric_limits<double>::infinity());
    for (const mesh::Vec3& v : surface.vertices)
      for (std::size_t a = 0; a < 3; ++a) {
        low_[a] = std::min(low_[a], axis(v, a) - margin);
        high_[a] = std::max(high_[a], axis(v, a) + margin);
      }
    if (surface.faces.empty()) return;
    // Coarser where the grid would have too many cells.
    for (double cells = most_cells + 1; cells > most_cells; size *= 1.26) {
      cells = 1;
      for (std::size_t a = 0; a < 3; ++a) cells *= std::ceil((high_[a] - low_[a]) / size);
      edge_ = size;
    }
    for (std::size_t a = 0; a < 3; ++a)
      count_[a] = std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil((high_[a] - low_[a]) / edge_)));
    // Counted first, then written.
    const auto cells = static_cast<std::size_t>(count_[0] * count_[1] * count_[2]);
    offsets_.assign(cells + 1, 0);
    visit_all(surface, margin, [&](std::size_t cell, std::size_t) { ++offsets_[cell + 1]; });
    for (std::size_t k = 0; k < cells; ++k) offsets_[k + 1] += offsets_[k];
    faces_.resize(offsets_.back());
    std::vector<std::uint32_t> next(offsets_.begin(), offsets_.end() - 1);
    visit_all(surface, margin,
              [&](std::size_t cell, std::size_t face) { faces_[next[cell]++] = static_cast<std::uint32_t>(face); });
  }

  // Calls f(face) for all triangles that the way from one place to another may touch, some of them repeatedly.
  template <class F>
  void visit(const mesh::Vec3& from, const mesh::Vec3& to, F&& f) const {
    std::array<std::int64_t, 3> first{}, last{};
    for (std::size_t a = 0; a < 3; ++a) {
      const double least = std::min(axis(from, a), axis(to, a)), most = std::max(axis(from, a), axis(to, a));
      if (!(most >= low_[a] && least <= high_[a])) return;
      first[a] = cell_of(least, a);
      last[a] = cell_of(most, a);
    }
    for (std::int64_t x = first[0]; x <= last[0]; ++x)
      for (std::int64_t y = first[1]; y <= last[1]; ++y)
        for (std::int64_t z = first[2]; z <= last[2]; ++z) {
          const std::size_t cell = number(x, y, z);
          for (std::uint32_t k = offsets_[cell]; k < offsets_[cell + 1]; ++k) f(std::size_t{faces_[k]});
        }
  }

 private:
  static constexpr double most_cells = 1 << 22;

  static double axis(const mesh::Vec3& v, std::size_t a) { return a == 0 ? v.x : a == 1 ? v.y : v.z; }
  [[nodiscard]] std::int64_t cell_of(double place, std::size_t a) const {
    const double cell = std::floor((place - low_[a]) / edge_);
    return static_cast<std::int64_t>(std::clamp(cell, 0.0, static_cast<double>(count_[a] - 1)));
  }
  [[nodiscard]] std::size_t number(std::int64_t x, std::int64_t y, std::int64_t z) const {
    return static_cast<std::size_t>((x * count_[1] + y) * count_[2] + z);
  }

  // Calls f(cell, face) for all cells that a triangle may be in: in its bounding box, and met by its plane.
  template <class F>
  void visit_all(const mesh::Surface& surface, double margin, F&& f) const {
    for (std::size_t face = 0; face < surface.faces.size(); ++face) {
      std::array<std::int64_t, 3> first{}, last{};
      for (std::size_t a = 0; a < 3; ++a) {
        double least = axis(surface.corner(face, 0), a), most = least;
        for (std::size_t k = 1; k < 3; ++k) {
          least = std::min(least, axis(surface.corner(face, k), a));
          most = std::max(most, axis(surface.corner(face, k), a));
        }
        first[a] = cell_of(least - margin, a);
        last[a] = cell_of(most + margin, a);
      }
      const mesh::Vec3 normal = surface.normal(face);
      // A little more than half a cell with its margin on each side, so that rounding leaves no cell out.
      const double half = (0.5 * edge_ + margin) * (1 + 1e-9);
      const double reach = half * (std::abs(normal.x) + std::abs(normal.y) + std::abs(normal.z));
      for (std::int64_t x = first[0]; x <= last[0]; ++x)
        for (std::int64_t y = first[1]; y <= last[1]; ++y)
          for (std::int64_t z = first[2]; z <= last[2]; ++z) {
            const mesh::Vec3 middle{low_[0] + (static_cast<double>(x) + 0.5) * edge_,
                                    low_[1] + (static_cast<double>(y) + 0.5) * edge_,
                                    low_[2] + (static_cast<double>(z) + 0.5) * edge_};
            const double off = std::abs(dot(middle - surface.corner(face, 0), normal));
            if (!(off > reach + 1e-12 * off)) f(number(x, y, z), face);
          }
    }
  }

  std::array<double, 3> low_{}, high_{};
  std::array<std::int64_t, 3> count_{};
  double edge_ = 1;
  std::vector<std::uint32_t> offsets_, faces_;
};

}  // namespace vicinal::sph
