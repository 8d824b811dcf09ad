// The exact test in plain C++: branch-free, correct on every processor.
#include <cstring>

#include "pairs/kernels.hpp"

namespace vicinal {
namespace {

template <class T, int D, bool Shifted>
inline T squared_distance(const T* const* x, const ExactProbe<T>& probe, std::size_t slot) {
  T sum = 0;
  for (int a = 0; a < D; ++a) {
    T d = x[a][slot] - probe.x[a];
    if constexpr (Shifted) d = d + probe.shift[a];
    sum = a == 0 ? d * d : sum + d * d;
  }
  return sum;
}

template <int D>
inline float squared_distance(const float* const* x, const BandProbe& probe, std::size_t slot) {
  float sum = 0;
  for (int a = 0; a < D; ++a) {
    const float d = x[a][slot] - probe.x[a];
    sum = a == 0 ? d * d : sum + d * d;
  }
  return sum;
}

template <class T, int D, bool Shifted>
std::size_t exact_hits(const T* const* x, const ExactProbe<T>& probe, const Span* span, std::size_t spans,
                       const std::int32_t* payload, std::int32_t* out) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < spans; ++s)
    for (std::size_t slot = span[s].begin; slot < span[s].end; ++slot) {
      out[n] = payload[slot];  // written always, kept only when the cursor moves on: no branch to mispredict
      n += squared_distance<T, D, Shifted>(x, probe, slot) <= probe.squared ? 1 : 0;
    }
  return n;
}

template <class T, int D, bool Shifted>
std::size_t exact_count(const T* const* x, const ExactProbe<T>& probe, const Span* span, std::size_t spans) {
  std::size_t n = 0;
  for (std::size_t s = 0; s < spans; ++s)
    for (std::size_t slot = span[s].begin; slot < span[s].end; ++slot)
      n += squared_distance<T, D, Shifted>(x, probe, slot) <= probe.squared ? 1 : 0;
  return n;
}

template <class T, int D>
std::size_t hits(const T* const* x, const ExactProbe<T>& probe, const Span* span, std::size_t spans,
                 const std::int32_t* payload, std::int32_t* out) {
  return probe.shifted ? exact_hits<T, D, true>(x, probe, span, spans, payload, out)
                       : exact_hits<T, D, false>(x, probe, span, spans, payload, out);
}
template <class T, int D>
std::size_t count(const T* const* x, const ExactProbe<T>& probe, const Span* span, std::size_t spans) {
  return probe.shifted ? exact_count<T, D, true>(x, probe, span, spans)
                       : exact_count<T, D, false>(x, probe, span, spans);
}

template <int D>
std::size_t band_hits(const float* const* x, const BandProbe& probe, const Span* span, std::size_t spans,
                      const std::int32_t* payload, std::int32_t* out) {
  std::size_t n = 0;
  std::size_t maybe = 0;
  for (std::size_t s = 0; s < spans; ++s)
    for (std::size_t slot = span[s].begin; slot < span[s].end; ++slot) {
      const float d2 = squared_distance<D>(x, probe, slot);
      out[n] = payload[slot];
      n += d2 <= probe.inside ? 1 : 0;
      maybe += d2 <= probe.outside ? 1 : 0;
    }
  return n == maybe ? n : in_doubt;
}
template <int D>
std::size_t band_count(const float* const* x, const BandProbe& probe, const Span* span, std::size_t spans) {
  std::size_t n = 0;
  std::size_t maybe = 0;
  for (std::size_t s = 0; s < spans; ++s)
    for (std::size_t slot = span[s].begin; slot < span[s].end; ++slot) {
      const float d2 = squared_distance<D>(x, probe, slot);
      n += d2 <= probe.inside ? 1 : 0;
      maybe += d2 <= probe.outside ? 1 : 0;
    }
  return n == maybe ? n : in_doubt;
}

void stream(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

}  // namespace

const Kernels& baseline_kernels() {
  static constexpr Kernels kernels{
      {{hits<float, 2>, count<float, 2>}, {hits<float, 3>, count<float, 3>}},
      {{hits<double, 2>, count<double, 2>}, {hits<double, 3>, count<double, 3>}},
      {{band_hits<2>, band_count<2>}, {band_hits<3>, band_count<3>}},
      stream,
  };
  return kernels;
}

}  // namespace vicinal
