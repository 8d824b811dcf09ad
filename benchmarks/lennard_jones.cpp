// A Lennard-Jones sum as one writes it by hand: points sorted into cells, half of the neighbouring cells visited, every
// pair of points in them tested. A periodic cube of edge 1 with at least three cells along an edge. One thread.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

struct Point {
  double x, y, z;
};

struct Cells {
  std::size_t edge = 0;  // cells along an edge
  std::vector<std::uint32_t> begin;
  std::vector<Point> points;          // by cell
  std::vector<std::uint32_t> number;  // of the point in the caller's arrays

  Cells(const double* at, std::size_t n, double cutoff) : edge(static_cast<std::size_t>(1 / cutoff)) {
    const auto along = [&](double x) {
      return std::min(static_cast<std::size_t>(x * static_cast<double>(edge)), edge - 1);
    };
    std::vector<std::uint32_t> cell(n);
    begin.assign(edge * edge * edge + 1, 0);
    for (std::size_t k = 0; k < n; ++k) {
      cell[k] =
          static_cast<std::uint32_t>((along(at[3 * k]) * edge + along(at[3 * k + 1])) * edge + along(at[3 * k + 2]));
      ++begin[cell[k] + 1];
    }
    for (std::size_t c = 1; c < begin.size(); ++c) begin[c] += begin[c - 1];
    points.resize(n);
    number.resize(n);
    std::vector<std::uint32_t> next(begin.begin(), begin.end() - 1);
    for (std::size_t k = 0; k < n; ++k) {
      const std::uint32_t slot = next[cell[k]]++;
      points[slot] = {at[3 * k], at[3 * k + 1], at[3 * k + 2]};
      number[slot] = static_cast<std::uint32_t>(k);
    }
  }

  // Calls pair(a, b, dx, dy, dz, d2) for every pair of slots within the cutoff.
  template <class F>
  void for_each_pair(double cutoff, F&& pair) const {
    const double most = cutoff * cutoff;
    const auto test = [&](std::uint32_t a, std::uint32_t b, const Point& image) {
      const double dx = points[b].x - points[a].x + image.x;
      const double dy = points[b].y - points[a].y + image.y;
      const double dz = points[b].z - points[a].z + image.z;
      const double d2 = dx * dx + dy * dy + dz * dz;
      if (d2 <= most) pair(a, b, dx, dy, dz, d2);
    };
    for (std::size_t x = 0; x < edge; ++x)
      for (std::size_t y = 0; y < edge; ++y)
        for (std::size_t z = 0; z < edge; ++z) {
          const std::size_t here = (x * edge + y) * edge + z;
          for (std::uint32_t a = begin[here]; a < begin[here + 1]; ++a)
            for (std::uint32_t b = a + 1; b < begin[here + 1]; ++b) test(a, b, {0, 0, 0});
          for (int step = 14; step < 27; ++step) {
            const auto next = [&](std::size_t from, int by, double& image) {
              const auto to = static_cast<std::ptrdiff_t>(from) + by;
              const auto cells = static_cast<std::ptrdiff_t>(edge);
              image = to < 0 ? -1 : to >= cells ? 1 : 0;
              return static_cast<std::size_t>((to + cells) % cells);
            };
            Point image{};
            const std::size_t tx = next(x, step / 9 - 1, image.x);
            const std::size_t ty = next(y, step / 3 % 3 - 1, image.y);
            const std::size_t tz = next(z, step % 3 - 1, image.z);
            const std::size_t there = (tx * edge + ty) * edge + tz;
            for (std::uint32_t a = begin[here]; a < begin[here + 1]; ++a)
              for (std::uint32_t b = begin[there]; b < begin[there + 1]; ++b) test(a, b, image);
          }
        }
  }
};

}  // namespace

extern "C" double energy(const double* points, std::size_t n, double cutoff, double sigma) {
  const Cells cells(points, n, cutoff);
  double sum = 0;
  cells.for_each_pair(cutoff, [&](std::uint32_t, std::uint32_t, double, double, double, double d2) {
    const double s2 = sigma * sigma / d2;
    const double s6 = s2 * s2 * s2;
    sum += 4 * (s6 * s6 - s6);
  });
  return sum;
}

extern "C" void forces(const double* points, std::size_t n, double cutoff, double sigma, double* to) {
  const Cells cells(points, n, cutoff);
  std::vector<Point> sums(n, Point{0, 0, 0});
  cells.for_each_pair(cutoff, [&](std::uint32_t a, std::uint32_t b, double dx, double dy, double dz, double d2) {
    const double s2 = sigma * sigma / d2;
    const double s6 = s2 * s2 * s2;
    const double f = 24 * (2 * s6 * s6 - s6) / d2;
    sums[a].x -= f * dx;
    sums[a].y -= f * dy;
    sums[a].z -= f * dz;
    sums[b].x += f * dx;
    sums[b].y += f * dy;
    sums[b].z += f * dz;
  });
  for (std::size_t k = 0; k < n; ++k) {
    double* const row = to + 3 * static_cast<std::size_t>(cells.number[k]);
    row[0] = sums[k].x;
    row[1] = sums[k].y;
    row[2] = sums[k].z;
  }
}
