// Arrays of numbers for simulations: contiguous ones in, new ones out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

namespace vicinal {

template <class T>
using In = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::span<const T> values(const In<T>& array) {
  return {array.data(), array.size()};
}

// A new array, whose memory is that of a vector or buffer.
template <class Column>
nanobind::object array_of(Column data, std::vector<std::size_t> shape) {
  using T = std::remove_pointer_t<decltype(data.data())>;
  auto owner = std::make_unique<Column>(std::move(data));
  T* const first = owner->data();
  nanobind::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<Column*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(first, shape.size(), shape.data(), capsule));
}

}  // namespace vicinal
