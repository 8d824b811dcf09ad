#include "python/arrays.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <cstdint>
#include <map>

namespace vicinal {

template <class T, int D>
BodyView<T, D> points_of(const BodyArrays& bodies) {
  const PointArray& array = bodies.positions;
  const auto fits = [n = array.shape(0)](const PointArray& a) {
    return a.dtype() == nb::dtype<T>() && a.shape(0) == n;
  };
  if (array.ndim() != 2 || array.shape(1) != D || !fits(array) || bodies.low.size() != D || bodies.high.size() != D ||
      bodies.largest.size() != D)
    throw nb::type_error("bodies do not have the dtype and dimension the index was made for");
  BodyView<T, D> points;
  points.data = static_cast<const T*>(array.data());
  points.size = array.shape(0);
  points.widest = bodies.widest;
  if (const auto& extra = bodies.extra) {
    points.shape = extra->ndim() == 1 ? Shape::sphere : Shape::box;
    if (!fits(*extra) || extra->ndim() > 2 || (extra->ndim() == 2 && extra->shape(1) != D))
      throw nb::type_error("radii or upper corners do not fit the positions");
    points.extra = static_cast<const T*>(extra->data());
  }
  for (std::size_t a = 0; a < D; ++a) {
    points.low[a] = static_cast<T>(bodies.low[a]);
    points.high[a] = static_cast<T>(bodies.high[a]);
    points.largest[a] = static_cast<T>(bodies.largest[a]);
  }
  return points;
}

template <class T, int D>
Box<T, D> box_of(std::span<const double> numbers) {
  constexpr std::size_t square = D * D;
  if (numbers.size() != D && numbers.size() != D + 3 * square)
    throw nb::type_error("the box does not have the dimension of the bodies");
  Box<T, D> box;
  for (std::size_t a = 0; a < D; ++a) box.edge[a] = static_cast<T>(numbers[a]);
  if (numbers.size() == D) return box;
  box.tilted = true;
  Lattice<T, D>& lattice = box.lattice;
  for (std::size_t k = 0; k < D; ++k) {
    double length = 0;
    for (std::size_t a = 0; a < D; ++a) {
      const double* const entry = numbers.data() + D + k * D + a;
      lattice.vector[k][a] = static_cast<T>(entry[0]);
      lattice.inverse[k][a] = entry[square];
      lattice.basis[k][a] = static_cast<std::int32_t>(entry[2 * square]);
      length = std::hypot(length, lattice.inverse[k][a]);
    }
    for (std::size_t a = 0; a < D; ++a) lattice.normal[k][a] = lattice.inverse[k][a] / length;
    if (!(box.edge[k] > 0)) lattice.inverse[k] = {};
  }
  lattice.back = inverse_of<D>(lattice.basis);
  return box;
}

template BodyView<float, 2> points_of(const BodyArrays&);
template BodyView<float, 3> points_of(const BodyArrays&);
template BodyView<double, 2> points_of(const BodyArrays&);
template BodyView<double, 3> points_of(const BodyArrays&);
template Box<float, 2> box_of(std::span<const double>);
template Box<float, 3> box_of(std::span<const double>);
template Box<double, 2> box_of(std::span<const double>);
template Box<double, 3> box_of(std::span<const double>);

void bind_bodies(nb::module_& m) {
  nb::class_<BodyArrays>(m, "BodyArrays", "Checked bodies: positions, sizes and bounds.")
      .def(nb::init<PointArray, std::optional<PointArray>, std::vector<double>, std::vector<double>,
                    std::vector<double>, bool>(),
           nb::kw_only(), nb::arg("positions"), nb::arg("extra").none(), nb::arg("low"), nb::arg("high"),
           nb::arg("largest"), nb::arg("widest"));
}

namespace {

struct Owner {
  Region region;
  std::shared_ptr<Pool> pool;
  Owner(Region r, std::shared_ptr<Pool> p) : region(std::move(r)), pool(std::move(p)) {}
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  ~Owner() {
    if (pool) pool->give(std::move(region));
  }
};

}  // namespace

nb::object array_of(Region region, nb::dlpack::dtype type, const std::vector<std::size_t>& shape,
                    const std::shared_ptr<Pool>& pool) {
  auto owner = std::make_unique<Owner>(std::move(region), pool);
  void* const data = owner->region.data();
  nb::capsule capsule(owner.release(), [](void* p) noexcept { delete static_cast<Owner*>(p); });
  return nb::cast(nb::ndarray<nb::numpy>(data, shape.size(), shape.data(), capsule, nullptr, type));
}

nb::list columns_of(ColumnRegions store, std::size_t size, nb::dlpack::dtype type, std::size_t dimension,
                    const std::string& want, const std::shared_ptr<Pool>& pool) {
  std::map<char, nb::object> made;
  const auto column = [&](char letter) -> nb::object {
    switch (letter) {
      case 'i': return array_of<std::int32_t>(std::move(store.i), {size}, pool);
      case 'j': return array_of<std::int32_t>(std::move(store.j), {size}, pool);
      case 'd': return array_of(std::move(store.distance), type, {size}, pool);
      case 'D': return array_of(std::move(store.vector), type, {size, dimension}, pool);
      default: return array_of<std::int32_t>(std::move(store.shift), {size, dimension}, pool);
    }
  };
  nb::list columns;
  for (const char letter : want) {
    if (!made.contains(letter)) made[letter] = column(letter);
    columns.append(made[letter]);
  }
  return columns;
}

Want want_of(const std::string& letters) {
  const auto has = [&](char letter) { return letters.find(letter) != std::string::npos; };
  return {has('i'), has('j'), has('d'), has('D'), has('S')};
}

}  // namespace vicinal
