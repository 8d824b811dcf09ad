// Exact sums in plain C++, on every processor.
#include <array>
#include <cmath>

#include "pairs/sum_kernels_simd.hpp"

namespace vicinal {
namespace {

struct Lanes {
  static constexpr std::size_t width = 2;
  using vector = std::array<double, width>;

  static vector load(const double* p) { return {p[0], p[1]}; }
  static vector load_first(const double* p, std::size_t /*n*/) { return {p[0], 0}; }
  static void store(double* p, const vector& v) {
    p[0] = v[0];
    p[1] = v[1];
  }
  static vector broadcast(double x) { return {x, x}; }
  static vector add(const vector& a, const vector& b) { return {a[0] + b[0], a[1] + b[1]}; }
  static vector subtract(const vector& a, const vector& b) { return {a[0] - b[0], a[1] - b[1]}; }
  static vector magnitude(const vector& v) { return {std::fabs(v[0]), std::fabs(v[1])}; }
  static vector most(const vector& a, const vector& b) {
    return {a[0] > b[0] ? a[0] : b[0], a[1] > b[1] ? a[1] : b[1]};
  }
  static double sum(const vector& v) { return v[0] + v[1]; }
  static double largest(const vector& v) { return v[0] > v[1] ? v[0] : v[1]; }
};

}  // namespace

const SumKernels& baseline_sum_kernels() {
  static constexpr SumKernels kernels{largest_of<Lanes>, split_numbers<Lanes>};
  return kernels;
}

}  // namespace vicinal
