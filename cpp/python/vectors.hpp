// Arrays of numbers for simulations: contiguous ones in, new ones out.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace vicinal {

template <class T>
using In = nanobind::ndarray<const T, nanobind::c_contig, nanobind::device::cpu>;

template <class T>
std::span<const T> values(const In<T>& array) {
  return {array.data(), array.size()};
}

// A new array with its own memory.
template <class T>
nanobind::object array_of(std::vector<T> data, std::vector<std::size_t> shape) {
  auto owner = std::make_unique<std::vector<T>>(std::move(data));
  T* const first = owner->data();
  nanobind::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
  return nanobind::cast(nanobind::ndarray<nanobind::numpy, T>(first, shape.size(), shape.data(), capsule));
}

}  // namespace vicinal
