// The vector code for few nearest points: candidates are sorted by a network without branches.
//
// A key is the squared distance of a candidate in float32, whose last bits are replaced by the place of the candidate
// in the tile. Keys are not negative, so they are in the order of their squares, nearly.
#pragma once

#include <bit>

#include "pairs/kernels.hpp"
#include "pairs/nearest_kernels.hpp"

namespace vicinal {
namespace {

// Sixteen keys in as many registers as it takes.
template <class Lanes>
class SixteenKeys {
 public:
  inline explicit SixteenKeys(const float* keys) {
    unrolled<registers>([&](auto r) { of_[r] = Lanes::load(keys + r * Lanes::width); });
  }
  inline void store(float* to) const {
    unrolled<registers>([&](auto r) { Lanes::store(to + r * Lanes::width, of_[r]); });
  }
  // A bitonic network. In every step, the smaller of two keys comes to the lower place.
  inline void sort() {
    compare<1>();
    compare<3>();
    compare<1>();
    compare<7>();
    compare<2>();
    compare<1>();
    compare<15>();
    merge();
  }
  // Keeps the least of these and of others; both are sorted.
  inline void keep_least(const SixteenKeys& others) {
    unrolled<registers>([&](auto r) {
      of_[r] = Lanes::least(of_[r], Lanes::template exchanged<Lanes::width - 1>(others.of_[registers - 1 - r]));
    });
    compare<8>();
    merge();
  }

 private:
  static constexpr std::size_t registers = few_keys / Lanes::width;

  inline void merge() {
    compare<4>();
    compare<2>();
    compare<1>();
  }
  // Compares the key in place i with that in place i ^ X.
  template <std::size_t X>
  inline void compare() {
    constexpr std::size_t across = X / Lanes::width;
    constexpr std::size_t inside = X % Lanes::width;
    unrolled<registers>([&](auto r) {
      if constexpr (across == 0) {
        of_[r] = Lanes::template ordered<inside>(of_[r]);
      } else if constexpr (r < (r ^ across)) {
        const auto low = of_[r];
        const auto high = of_[r ^ across];
        of_[r] = Lanes::least(low, Lanes::template exchanged<inside>(high));
        of_[r ^ across] = Lanes::most(high, Lanes::template exchanged<inside>(low));
      }
    });
  }

  typename Lanes::vector of_[registers];
};

template <class Lanes, int D>
std::size_t keys_within(const float* const* x, std::size_t size, const float* at, float most, const float* places,
                        std::uint32_t bits, float* keys) {
  const From<Lanes, D, false> from(at, nullptr);
  const ColumnPointers<const float, D> column(x);
  const auto limit = Lanes::broadcast(most);
  const auto replaced = Lanes::broadcast(std::bit_cast<float>(bits));
  std::size_t n = 0;
  for (std::size_t k = 0; k < size; k += Lanes::width) {
    const auto square = from.square([&](int a) { return Lanes::load(column[a] + k); });
    const auto near = Lanes::at_most(square, limit);
    Lanes::store(keys + n, Lanes::packed(Lanes::with_bits(square, replaced, Lanes::load(places + k)), near));
    n += Lanes::number(near);
  }
  for (std::size_t k = 0; k < key_padding; k += Lanes::width) Lanes::store(keys + n + k, Lanes::broadcast(infinite));
  return n;
}

// One short loop over many queries: the processor works on several of them at once, as each waits for one step after
// another. Twice `few_keys` are always sorted: there are mostly about as many, and a branch would be hard to predict.
template <class Lanes>
void least_keys(const float* keys, const KeyRange* of, std::size_t count, float* sorted) {
  for (std::size_t query = 0; query < count; ++query) {
    const float* const from = keys + of[query].begin;
    SixteenKeys<Lanes> least(from);
    SixteenKeys<Lanes> more(from + few_keys);
    least.sort();
    more.sort();
    least.keep_least(more);
    for (std::size_t k = 2 * few_keys; k < of[query].count; k += few_keys) {
      SixteenKeys<Lanes> rest(from + k);
      rest.sort();
      least.keep_least(rest);
    }
    least.store(sorted + query * few_keys);
  }
}

template <class Exact, int D, bool Shifted>
typename Exact::value first_of(const FewNearest<typename Exact::value>& of, const float* sorted,
                               const typename Exact::value* at, std::int32_t self, typename Exact::value* distances,
                               std::int32_t* ids) {
  using V = typename Exact::value;
  // Twice as many: registers are read from the second place on.
  std::int32_t places[2 * few_keys] = {};
  std::int32_t slots[2 * few_keys] = {};
  for (std::size_t c = 0; c < few_keys; ++c)
    places[c] = static_cast<std::int32_t>(std::bit_cast<std::uint32_t>(sorted[c]) & of.bits);
  const std::size_t own = self != no_slot ? 1 : 0;
  const std::size_t end = own + of.k;
  for (std::size_t c = 0; c < end; ++c) slots[c] = of.slots[places[c]];
  if (own != 0 && slots[0] != self) return -1;
  const auto last = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sorted[end - 1]) | of.bits);
  const auto next = std::bit_cast<float>(std::bit_cast<std::uint32_t>(sorted[end]) & ~of.bits);
  if (!(next > last * of.slope + of.offset)) return -1;
  // From here on, numbers of the exact test.
  const From<Exact, D, false> from(at, nullptr);
  alignas(64) V squares[2 * few_keys];
  for (std::size_t c = 0; c < of.k; c += Exact::width) {
    typename Exact::vector sum{};
    for (int a = 0; a < D; ++a) {
      auto d = Exact::subtract(Exact::at(of.x[a], slots + own + c), from.from[a]);
      if constexpr (Shifted) d = Exact::add(d, Exact::at(of.shift[a], places + own + c));
      const auto d2 = Exact::multiply(d, d);
      sum = a == 0 ? d2 : Exact::add(sum, d2);
    }
    Exact::store(squares + c, sum);
  }
  bool ascending = squares[of.k - 1] <= of.most;
  for (std::size_t c = 1; c < of.k; ++c) ascending &= squares[c - 1] < squares[c];
  if (!ascending) return -1;
  std::size_t c = 0;
  for (; c + Exact::width <= of.k; c += Exact::width)
    Exact::store(distances + c, Exact::roots(Exact::load(squares + c)));
  for (; c < of.k; ++c) distances[c] = Exact::root(squares[c]);
  for (c = 0; c < of.k; ++c) ids[c] = of.ids[slots[own + c]];
  return squares[of.k - 1];
}
template <class Exact, int D>
typename Exact::value first(const FewNearest<typename Exact::value>& of, const float* sorted,
                            const typename Exact::value* at, std::int32_t self, typename Exact::value* distances,
                            std::int32_t* ids) {
  return of.shift[0] != nullptr ? first_of<Exact, D, true>(of, sorted, at, self, distances, ids)
                                : first_of<Exact, D, false>(of, sorted, at, self, distances, ids);
}

}  // namespace
}  // namespace vicinal
