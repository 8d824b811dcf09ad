// The list of surfaces. A new surface needs one file and one line here. Meshes are not in the list: each of their faces
// is a primitive (wall_mesh.hpp).
#pragma once

#include <cstddef>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "dem/names.hpp"
#include "dem/walls.hpp"
#include "dem/walls/cylinder.hpp"
#include "dem/walls/plane.hpp"

namespace vicinal::dem {

using Surfaces = std::tuple<PlaneWall,  //
                            CylinderWall>;

// Calls f with the surface of a wall and returns its result.
template <std::size_t kind = 0, class F>
auto with_surface(const Wall& wall, F&& f) {
  if constexpr (kind + 1 < std::tuple_size_v<Surfaces>) {
    if (wall.kind != kind) return with_surface<kind + 1>(wall, f);
  }
  return f(std::tuple_element_t<kind, Surfaces>{});
}

// The largest number of contacts of a convex body with a wall that is not a mesh.
inline std::size_t contacts_of(const Wall& wall) {
  return with_surface(wall, [&](auto surface) { return decltype(surface)::contacts(wall); });
}

// Whether the overlap of a wall with a body that does not touch it is minus their distance.
inline bool gives_distance(const Wall& wall) {
  return with_surface(wall, [](auto surface) { return decltype(surface)::gives_distance; });
}

inline bool is_plane(const Wall& wall) { return wall.kind == 0; }
static_assert(std::is_same_v<std::tuple_element_t<0, Surfaces>, PlaneWall>);

// The nearest point of a wall that is not a mesh.
inline Nearest nearest_of(const Wall& wall, Vec p) {
  return with_surface(wall, [&](auto surface) { return decltype(surface)::nearest(wall, p); });
}

// The number of a kind of wall. Throws std::invalid_argument, which lists all names, if there is no kind of this name.
inline std::size_t wall_kind(std::string_view name) {
  return [name]<std::size_t... k>(std::index_sequence<k...>) {
    const std::string_view names[] = {std::tuple_element_t<k, Surfaces>::name..., "mesh"};
    const std::size_t place = place_of(name, names, "kind of a wall");
    return place == sizeof...(k) ? Wall::mesh : place;
  }(std::make_index_sequence<std::tuple_size_v<Surfaces>>{});
}

}  // namespace vicinal::dem
