#include "index/bodies.hpp"

#include <atomic>

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

template <class T, int D>
void Bodies<T, D>::complete() const {
  if (is_complete()) return;
  Buffer<BodyDetail<T, D>> filled = std::move(details);
  filled.reset(slots);
  std::atomic<bool> turned = false;
  const auto given = [&](std::size_t slot) { return raw.data + static_cast<std::size_t>(ids[slot]) * D; };
  constexpr std::size_t ahead = 16;  // positions are in the order of the user, anywhere in memory
  parallel_ranges(slots, 1 << 14, [&](std::size_t begin, std::size_t end, std::size_t) {
    bool any = false;
    for (std::size_t slot = begin; slot < end; ++slot) {
      if (const std::size_t next = slot + ahead; next < end && ids[next] >= 0) prefetch_to_read(given(next));
      filled[slot] = {{}, ids[slot]};
      if (ids[slot] < 0) continue;
      values(static_cast<std::size_t>(ids[slot]), filled[slot].x.data(), D);
      for (std::size_t a = 0; a < D; ++a) any |= filled[slot].x[a] != given(slot)[a];
    }
    if (any) turned = true;
  });
  if (turned) {
    turns.reset(slots);
    parallel_ranges(slots, 1 << 14, [&](std::size_t begin, std::size_t end, std::size_t) {
      for (std::size_t slot = begin; slot < end; ++slot)
        turns[slot] = ids[slot] < 0 ? std::array<std::int32_t, D>{} : box.wraps(given(slot));
    });
  }
  details = std::move(filled);
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
  std::size_t sum = ids.bytes() + group_key.bytes() + group_begin.bytes() + details.bytes() + turns.bytes();
  for (std::size_t c = 0; c < most; ++c) sum += near[c].bytes() + exact[c].bytes();
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
