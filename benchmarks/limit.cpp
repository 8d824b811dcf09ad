// The best speed of this machine in the few operations that a pair search consists of. Prints one JSON object. Compiled
// and run by limit.py; standard C++20 and, on x86-64, intrinsics chosen at run time.

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include <sys/mman.h>
#include <time.h>

#if defined(__x86_64__)
#include <immintrin.h>
#define LIMIT_X86 1
#endif

namespace {

constexpr std::size_t stream_bytes = std::size_t{256} << 20;  // far beyond every cache
constexpr std::size_t huge_page = std::size_t{2} << 20;
constexpr int repeats = 5;
constexpr std::size_t tests_per_repeat = std::size_t{1} << 23;  // milliseconds, long enough for the clock

volatile std::uint64_t sink;  // keeps results alive

// / CPU seconds of this single-threaded process: other load then costs caches and bandwidth, but no time slices.
double cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double best_seconds(const std::function<void()>& work) {
  double best = 1e300;
  for (int k = 0; k < repeats; ++k) {
    const double start = cpu_seconds();
    work();
    best = std::min(best, cpu_seconds() - start);
  }
  return best;
}

void report(const std::string& name, double value) { std::printf(",\n\"%s\": %.6g", name.c_str(), value); }

// ---- memory ---------------------------------------------------------------------------------------------------

// / Fills memory that the process has not used before.
double first_touch_seconds(bool huge) {
  double best = 1e300;
  for (int k = 0; k < repeats; ++k) {
    const std::size_t length = stream_bytes + huge_page;
    void* raw = mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (raw == MAP_FAILED) return 0;
    auto address = reinterpret_cast<std::uintptr_t>(raw);
    address = (address + huge_page - 1) / huge_page * huge_page;
    void* aligned = reinterpret_cast<void*>(address);
#if defined(MADV_HUGEPAGE)
    madvise(aligned, stream_bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
#endif
    const double start = cpu_seconds();
    std::memset(aligned, 1, stream_bytes);
    best = std::min(best, cpu_seconds() - start);
    sink = static_cast<const unsigned char*>(aligned)[stream_bytes / 2];
    munmap(raw, length);
  }
  return best;
}

void measure_memory() {
  std::vector<std::uint64_t> from(stream_bytes / 8, 1), to(stream_bytes / 8, 2);
  const double gigabytes = static_cast<double>(stream_bytes) / 1e9;
  report("read_GB_per_s",
         gigabytes / best_seconds([&] { sink = std::accumulate(from.begin(), from.end(), std::uint64_t{0}); }));
  report("write_GB_per_s", gigabytes / best_seconds([&] { std::memset(to.data(), 3, stream_bytes); }));
  // Counts bytes copied; the bus carries at least twice as many.
  report("copy_GB_per_s", gigabytes / best_seconds([&] { std::memcpy(to.data(), from.data(), stream_bytes); }));
#if LIMIT_X86
  report("stream_store_GB_per_s", gigabytes / best_seconds([&] {
                                    auto* out = reinterpret_cast<__m128i*>(to.data());
                                    const __m128i value = _mm_set1_epi32(7);
                                    for (std::size_t k = 0; k < stream_bytes / sizeof(__m128i); ++k)
                                      _mm_stream_si128(out + k, value);
                                    _mm_sfence();
                                  }));
#endif
  report("first_touch_4k_GB_per_s", gigabytes / first_touch_seconds(false));
  report("first_touch_huge_GB_per_s", gigabytes / first_touch_seconds(true));
}

/// Moves n points (three doubles and an index) to random places and fetches them from there.
void measure_scatter(std::size_t n, const std::string& label) {
  std::vector<std::uint32_t> place(n);
  std::iota(place.begin(), place.end(), 0u);
  std::shuffle(place.begin(), place.end(), std::mt19937_64{1});
  std::vector<double> from(3 * n, 1.0), x(n), y(n), z(n);
  std::vector<std::uint32_t> id(n);
  const double count = static_cast<double>(n);
  report("scatter_ns_per_point_" + label, 1e9 / count * best_seconds([&] {
                                            for (std::size_t k = 0; k < n; ++k) {
                                              const std::uint32_t p = place[k];
                                              x[p] = from[3 * k], y[p] = from[3 * k + 1], z[p] = from[3 * k + 2],
                                              id[p] = static_cast<std::uint32_t>(k);
                                            }
                                          }));
  report("gather_ns_per_point_" + label, 1e9 / count * best_seconds([&] {
                                           for (std::size_t k = 0; k < n; ++k) {
                                             const double* point = &from[3 * place[k]];
                                             x[k] = point[0], y[k] = point[1], z[k] = point[2], id[k] = place[k];
                                           }
                                         }));
  sink = id[n / 2];
}

// ---- distance tests -------------------------------------------------------------------------------------------

/// Candidates; plain pointers, for a vector store may alias the members of a std::vector and force reloads.
template <class T>
struct View {
  const T *x, *y, *z;
  const std::uint32_t* id;
};

template <class T>
struct Columns {
  std::vector<T> x, y, z;
  std::vector<std::uint32_t> id;
  [[nodiscard]] View<T> view() const { return {x.data(), y.data(), z.data(), id.data()}; }
};

template <class T>
using Kernel = std::size_t (*)(const T* query, T limit, const View<T> c, std::size_t n, std::uint32_t* out);

template <class T>
std::size_t scalar_branch(const T* q, T limit, const View<T> c, std::size_t n, std::uint32_t* out) {
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const T dx = c.x[k] - q[0], dy = c.y[k] - q[1], dz = c.z[k] - q[2];
    if ((dx * dx + dy * dy) + dz * dz <= limit) out[hits++] = c.id[k];
  }
  return hits;
}

template <class T>
std::size_t scalar_branchless(const T* q, T limit, const View<T> c, std::size_t n, std::uint32_t* out) {
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const T dx = c.x[k] - q[0], dy = c.y[k] - q[1], dz = c.z[k] - q[2];
    out[hits] = c.id[k];
    hits += (dx * dx + dy * dy) + dz * dz <= limit;
  }
  return hits;
}

#if LIMIT_X86
/// Shuffle that moves the lanes named by the bits of a mask to the front.
struct Compress8 {
  alignas(32) std::uint32_t lanes[256][8];
  Compress8() {
    for (std::uint32_t mask = 0; mask < 256; ++mask) {
      std::uint32_t hits = 0;
      for (std::uint32_t bit = 0; bit < 8; ++bit) lanes[mask][bit] = 0;
      for (std::uint32_t bit = 0; bit < 8; ++bit)
        if (mask >> bit & 1) lanes[mask][hits++] = bit;
    }
  }
};
const Compress8 compress8;

__attribute__((target("avx2,popcnt"))) inline std::size_t store8(unsigned mask, const std::uint32_t* id,
                                                                 std::uint32_t* out) {
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i*>(compress8.lanes[mask]));
  const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(id));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permutevar8x32_epi32(ids, order));
  return static_cast<std::size_t>(__builtin_popcount(mask));
}

__attribute__((target("avx2,popcnt"))) std::size_t avx2_float(const float* q, float limit, const View<float> c,
                                                              std::size_t n, std::uint32_t* out) {
  const __m256 qx = _mm256_set1_ps(q[0]), qy = _mm256_set1_ps(q[1]), qz = _mm256_set1_ps(q[2]),
               r2 = _mm256_set1_ps(limit);
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; k += 8) {
    const __m256 dx = _mm256_sub_ps(_mm256_loadu_ps(&c.x[k]), qx);
    const __m256 dy = _mm256_sub_ps(_mm256_loadu_ps(&c.y[k]), qy);
    const __m256 dz = _mm256_sub_ps(_mm256_loadu_ps(&c.z[k]), qz);
    const __m256 d2 = _mm256_add_ps(_mm256_add_ps(_mm256_mul_ps(dx, dx), _mm256_mul_ps(dy, dy)), _mm256_mul_ps(dz, dz));
    const auto mask = static_cast<unsigned>(_mm256_movemask_ps(_mm256_cmp_ps(d2, r2, _CMP_LE_OQ)));
    hits += store8(mask, &c.id[k], out + hits);
  }
  return hits;
}

__attribute__((target("avx2,popcnt"))) inline unsigned mask4(const double* q, __m256d r2, const View<double> c,
                                                             std::size_t k) {
  const __m256d dx = _mm256_sub_pd(_mm256_loadu_pd(&c.x[k]), _mm256_broadcast_sd(q));
  const __m256d dy = _mm256_sub_pd(_mm256_loadu_pd(&c.y[k]), _mm256_broadcast_sd(q + 1));
  const __m256d dz = _mm256_sub_pd(_mm256_loadu_pd(&c.z[k]), _mm256_broadcast_sd(q + 2));
  const __m256d d2 = _mm256_add_pd(_mm256_add_pd(_mm256_mul_pd(dx, dx), _mm256_mul_pd(dy, dy)), _mm256_mul_pd(dz, dz));
  return static_cast<unsigned>(_mm256_movemask_pd(_mm256_cmp_pd(d2, r2, _CMP_LE_OQ)));
}

__attribute__((target("avx2,popcnt"))) std::size_t avx2_double(const double* q, double limit, const View<double> c,
                                                               std::size_t n, std::uint32_t* out) {
  const __m256d r2 = _mm256_set1_pd(limit);
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; k += 8)
    hits += store8(mask4(q, r2, c, k) | mask4(q, r2, c, k + 4) << 4, &c.id[k], out + hits);
  return hits;
}

#define LIMIT_AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,popcnt")))

LIMIT_AVX512 std::size_t avx512_float(const float* q, float limit, const View<float> c, std::size_t n,
                                      std::uint32_t* out) {
  const __m512 qx = _mm512_set1_ps(q[0]), qy = _mm512_set1_ps(q[1]), qz = _mm512_set1_ps(q[2]),
               r2 = _mm512_set1_ps(limit);
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; k += 16) {
    const __m512 dx = _mm512_sub_ps(_mm512_loadu_ps(&c.x[k]), qx);
    const __m512 dy = _mm512_sub_ps(_mm512_loadu_ps(&c.y[k]), qy);
    const __m512 dz = _mm512_sub_ps(_mm512_loadu_ps(&c.z[k]), qz);
    const __m512 d2 = _mm512_add_ps(_mm512_add_ps(_mm512_mul_ps(dx, dx), _mm512_mul_ps(dy, dy)), _mm512_mul_ps(dz, dz));
    const __mmask16 mask = _mm512_cmp_ps_mask(d2, r2, _CMP_LE_OQ);
    // Compress in a register and store whole: a masked compress to memory is microcoded on Zen 4.
    _mm512_storeu_si512(out + hits, _mm512_maskz_compress_epi32(mask, _mm512_loadu_si512(&c.id[k])));
    hits += static_cast<std::size_t>(__builtin_popcount(mask));
  }
  return hits;
}

LIMIT_AVX512 std::size_t avx512_double(const double* q, double limit, const View<double> c, std::size_t n,
                                       std::uint32_t* out) {
  const __m512d qx = _mm512_set1_pd(q[0]), qy = _mm512_set1_pd(q[1]), qz = _mm512_set1_pd(q[2]),
                r2 = _mm512_set1_pd(limit);
  std::size_t hits = 0;
  for (std::size_t k = 0; k < n; k += 8) {
    const __m512d dx = _mm512_sub_pd(_mm512_loadu_pd(&c.x[k]), qx);
    const __m512d dy = _mm512_sub_pd(_mm512_loadu_pd(&c.y[k]), qy);
    const __m512d dz = _mm512_sub_pd(_mm512_loadu_pd(&c.z[k]), qz);
    const __m512d d2 =
        _mm512_add_pd(_mm512_add_pd(_mm512_mul_pd(dx, dx), _mm512_mul_pd(dy, dy)), _mm512_mul_pd(dz, dz));
    const __mmask8 mask = _mm512_cmp_pd_mask(d2, r2, _CMP_LE_OQ);
    const __m256i ids = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&c.id[k]));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + hits), _mm256_maskz_compress_epi32(mask, ids));
    hits += static_cast<std::size_t>(__builtin_popcount(mask));
  }
  return hits;
}
#endif

/// Tests `queries` points against ranges of `length` candidates, one in 6.5 of them a hit, all in cache.
template <class T>
double ns_per_test(Kernel<T> kernel, std::size_t length) {
  constexpr std::size_t bodies = 8192;
  const std::size_t queries = tests_per_repeat / length;
  constexpr std::size_t spare = 64;  // vector loads and stores may pass the end
  std::mt19937_64 random{2};
  std::uniform_real_distribution<T> uniform;
  Columns<T> c{std::vector<T>(bodies + spare), std::vector<T>(bodies + spare), std::vector<T>(bodies + spare),
               std::vector<std::uint32_t>(bodies + spare)};
  for (std::size_t k = 0; k < bodies; ++k) c.x[k] = uniform(random), c.y[k] = uniform(random), c.z[k] = uniform(random);
  std::iota(c.id.begin(), c.id.end(), 0u);
  std::vector<std::uint32_t> out(length + spare);
  constexpr T limit = T(0.1521);  // cutoff 0.39: two random points of the unit cube are that close with p = 0.153
  // A shifted view of the columns per query: different data each time, contiguous as a row of cells is.
  std::vector<Columns<T>> ranges(16);
  for (auto& range : ranges) {
    const std::size_t start = random() % (bodies - length) / 16 * 16;
    const auto cut = [&](const auto& column) {
      using Column = std::remove_cvref_t<decltype(column)>;
      return Column(column.begin() + static_cast<std::ptrdiff_t>(start),
                    column.begin() + static_cast<std::ptrdiff_t>(start + length + spare));
    };
    range = {cut(c.x), cut(c.y), cut(c.z), cut(c.id)};
  }
  const double seconds = best_seconds([&] {
    std::uint64_t hits = 0;
    for (std::size_t k = 0; k < queries; ++k) {
      const std::size_t q = k % bodies;
      const T query[3] = {c.x[q], c.y[q], c.z[q]};
      hits += kernel(query, limit, ranges[k % ranges.size()].view(), length, out.data());
    }
    sink = hits;
  });
  return seconds * 1e9 / static_cast<double>(queries * length);
}

template <class T>
void measure_tests(const std::string& type, const std::string& isa, Kernel<T> kernel) {
  for (const std::size_t length : {32, 96, 384})
    report("test_ns_" + type + "_" + isa + "_" + std::to_string(length), ns_per_test<T>(kernel, length));
}

}  // namespace

int main() {
  std::printf("{\"repeats\": %d", repeats);
  measure_memory();
  measure_scatter(100'000, "1e5");
  measure_scatter(1'000'000, "1e6");
  measure_scatter(10'000'000, "1e7");
  measure_tests<float>("float32", "branch", scalar_branch<float>);
  measure_tests<double>("float64", "branch", scalar_branch<double>);
  measure_tests<float>("float32", "baseline", scalar_branchless<float>);
  measure_tests<double>("float64", "baseline", scalar_branchless<double>);
#if LIMIT_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2")) {
    measure_tests<float>("float32", "avx2", avx2_float);
    measure_tests<double>("float64", "avx2", avx2_double);
  }
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    measure_tests<float>("float32", "avx512", avx512_float);
    measure_tests<double>("float64", "avx512", avx512_double);
  }
#endif
  std::printf("}\n");
}
