#include "index/bodies.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

#include "exec/prefetch.hpp"
#include "exec/threads.hpp"

namespace vicinal {

template <class T, int D>
void Bodies<T, D>::reset(const BodyView<T, D>& points, const Box<T, D>& space, const NearFrame<D>& near_space) {
  size = points.size;
  slots = size;
  raw = points;
  box = space;
  frame = near_space;
  banded = std::is_same_v<T, double> && points.shape != Shape::box && frame.useful();
  ids.reset(size);
  for (std::size_t c = 0; c < most; ++c) {
    if (banded && c < columns()) near[c].reset(size);
    else near[c].release();
    if (banded || c >= columns()) exact[c].release();
    else exact[c].reset(size);
    late[c].release();
  }
}

template <class T, int D>
void Bodies<T, D>::resize(std::size_t count) {
  ids.resize(count);
  for (std::size_t slot = slots; slot < count; ++slot) ids[slot] = -1;
  slots = count;
  for (std::size_t c = 0; c < most; ++c) {
    if (banded && c < columns()) near[c].resize(count);
    else if (c < columns()) exact[c].resize(count);
  }
}

namespace {

// The bodies of some slots, wrapped together.
template <class T, int D>
class SlotPositions {
 public:
  static constexpr std::size_t most = 64;

  // Positions of slots up to `finish` may be prefetched.
  SlotPositions(const Bodies<T, D>& bodies, std::size_t finish) : bodies_(bodies), finish_(finish) {}

  // Writes the details of the bodies in slots begin … end-1. Returns whether wrapping moved one.
  bool read(std::size_t begin, std::size_t end, BodyDetail<T, D>* details) {
    constexpr std::size_t ahead = 16;  // positions are in the order of the user, anywhere in memory
    for (std::size_t slot = begin; slot < end; ++slot) {
      const std::int32_t id = bodies_.ids[slot];
      if (const std::size_t next = slot + ahead; next < finish_ && bodies_.ids[next] >= 0)
        prefetch_to_read(given(bodies_.ids[next]));
      if (id < 0) std::fill_n(given_.data() + (slot - begin) * D, D, T{0});
      else std::copy_n(given(id), D, given_.data() + (slot - begin) * D);
    }
    const std::size_t n = end - begin;
    if (bodies_.box.tilted) {
      bodies_.box.wrap_all(given_.data(), n, wrapped_.data(), wraps_.data());
    } else {
      for (std::size_t k = 0; k < n; ++k) {
        const auto x = bodies_.box.wrap(given_.data() + k * D);
        std::copy(x.begin(), x.end(), wrapped_.data() + k * D);
      }
    }
    bool moved = false;
    for (std::size_t k = 0; k < n; ++k) {
      BodyDetail<T, D>& detail = details[k];
      detail.id = bodies_.ids[begin + k];
      for (std::size_t a = 0; a < D; ++a) {
        detail.x[a] = wrapped_[k * D + a];
        moved |= wrapped_[k * D + a] != given_[k * D + a];
      }
    }
    return moved;
  }
  // Writes the wraps of these bodies.
  void write_wraps(std::size_t begin, std::size_t end, typename Bodies<T, D>::WrapRow* wraps) const {
    for (std::size_t k = 0; k < end - begin; ++k) {
      typename Box<T, D>::Integers one;
      if (bodies_.box.tilted) std::copy_n(wraps_.data() + k * D, D, one.data());
      else one = bodies_.box.wraps(given_.data() + k * D);
      one = bodies_.box.given(one);
      wraps[begin + k] = {};
      std::copy(one.begin(), one.end(), wraps[begin + k].begin());
    }
  }

 private:
  [[nodiscard]] const T* given(std::int32_t id) const { return bodies_.raw.data + static_cast<std::size_t>(id) * D; }

  const Bodies<T, D>& bodies_;
  const std::size_t finish_;
  std::array<T, most * D> given_, wrapped_;
  std::array<std::int32_t, most * D> wraps_;
};

}  // namespace

template <class T, int D>
void Bodies<T, D>::complete() const {
  if (is_complete()) return;
  Buffer<BodyDetail<T, D>> filled = std::move(details);
  filled.reset(slots);
  wraps.reset(slots);  // pages that are not touched cost nothing
  constexpr std::size_t grain = std::size_t{1} << 14;
  std::vector<char> wrapped((slots + grain - 1) / grain, 0);
  const auto none = [&](std::size_t begin, std::size_t end) {
    std::fill(wraps.data() + begin, wraps.data() + end, WrapRow{});
  };
  parallel_ranges(slots, grain, [&](std::size_t begin, std::size_t end, std::size_t piece) {
    SlotPositions<T, D> some(*this, end);
    bool any = false;
    for (std::size_t slot = begin; slot < end; slot += some.most) {
      const std::size_t last = std::min(slot + some.most, end);
      const bool here = some.read(slot, last, filled.data() + slot);
      if (here && !any) none(begin, slot);
      any = any || here;
      if (any) some.write_wraps(slot, last, wraps.data());
    }
    wrapped[piece] = any ? 1 : 0;
  });
  details = std::move(filled);
  if (std::find(wrapped.begin(), wrapped.end(), 1) == wrapped.end()) {
    wraps.reset(0);
    return;
  }
  for (std::size_t piece = 0; piece < wrapped.size(); ++piece)
    if (wrapped[piece] == 0) none(piece * grain, std::min((piece + 1) * grain, slots));
}

template <class T, int D>
const std::array<Buffer<T>, Bodies<T, D>::most>& Bodies<T, D>::exact_columns() const {
  if (!banded) return exact;
  // One for all bodies: it is locked once per search and thread.
  static std::mutex filling;
  const std::lock_guard lock(filling);
  if (late[0].size() == slots) return late;
  for (std::size_t c = columns(); c-- > 0;) late[c].reset(slots);
  SlotPositions<T, D> some(*this, slots);
  std::array<BodyDetail<T, D>, some.most> read;
  for (std::size_t begin = 0; begin < slots; begin += some.most) {
    const std::size_t end = std::min(begin + some.most, slots);
    some.read(begin, end, read.data());
    for (std::size_t slot = begin; slot < end; ++slot) {
      const BodyDetail<T, D>& body = read[slot - begin];
      for (std::size_t a = 0; a < D; ++a) late[a][slot] = body.x[a];
      if (raw.shape == Shape::sphere)
        late[D][slot] = body.id < 0 ? T{0} : raw.radius(static_cast<std::size_t>(body.id));
    }
  }
  return late;
}

template <class T, int D>
void Bodies<T, D>::note_outside() const {
  outside.clear();
  if (!banded || !frame.cut) return;
  for (std::size_t slot = 0; slot < slots; ++slot)
    if (ids[slot] >= 0 && is_outside(slot)) outside.push_back(static_cast<std::uint32_t>(slot));
}

template <class T, int D>
std::size_t Bodies<T, D>::bytes() const {
  std::size_t sum = ids.bytes() + group_key.bytes() + group_begin.bytes() + details.bytes() + wraps.bytes();
  for (std::size_t c = 0; c < most; ++c) sum += near[c].bytes() + exact[c].bytes() + late[c].bytes();
  return sum;
}

template <class T, int D>
std::array<double, D> Bodies<T, D>::tilted_place(std::size_t point) const {
  const auto x = box.wrap(raw.data + point * D);
  std::array<double, D> place{};
  for (int a = 0; a < D; ++a) place[static_cast<std::size_t>(a)] = box.along(x, a);
  return place;
}

template <class T, int D>
template <class V>
void Bodies<T, D>::tilted_values(std::size_t point, V* to, std::size_t count) const {
  const auto x = box.wrap(raw.data + point * D);
  for (std::size_t a = 0; a < D; ++a) {
    if constexpr (std::is_same_v<V, T>) to[a] = x[a];
    else to[a] = frame(static_cast<double>(x[a]), static_cast<int>(a));
  }
  for (std::size_t c = D; c < count; ++c) {
    if constexpr (std::is_same_v<V, T>) to[c] = value(point, static_cast<int>(c));
    else to[c] = near_value(point, static_cast<int>(c));
  }
}

template <class T, int D>
T Bodies<T, D>::tilted_value(std::size_t point, int column) const {
  if (column >= D && raw.shape == Shape::sphere) return raw.radius(point);
  const auto axis = static_cast<std::size_t>(column % D);
  const T* const x = raw.data + point * D;
  const T lower = box.wrap(x)[axis];
  if (column < D) return lower;
  return std::max(raw.upper(point, column - D) - box.image(box.wraps(x))[axis], lower);
}

template struct Bodies<float, 2>;
template struct Bodies<float, 3>;
template struct Bodies<double, 2>;
template struct Bodies<double, 3>;
template void Bodies<float, 2>::tilted_values(std::size_t, float*, std::size_t) const;
template void Bodies<float, 3>::tilted_values(std::size_t, float*, std::size_t) const;
template void Bodies<double, 2>::tilted_values(std::size_t, double*, std::size_t) const;
template void Bodies<double, 2>::tilted_values(std::size_t, float*, std::size_t) const;
template void Bodies<double, 3>::tilted_values(std::size_t, double*, std::size_t) const;
template void Bodies<double, 3>::tilted_values(std::size_t, float*, std::size_t) const;

}  // namespace vicinal
