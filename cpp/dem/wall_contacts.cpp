// Where elements touch walls.
#include "dem/world.hpp"

namespace vicinal::dem {

void World::touch_walls(std::size_t row, std::vector<WallTouch>& touches) const {
  const Acting act = acting();
  touches.clear();
  const Place& p = act.places[row];
  for (std::size_t k = wall_rows_.begin(row); k < wall_rows_.end(row); ++k) {
    const std::size_t number = wall_rows_.partners()[k];
    const Wall& wall = walls[number];
    const Nearest near =
        wall.kind == WallKind::plane ? nearest_of_plane(wall, centre(p)) : nearest_of_cylinder(wall, centre(p));
    const double overlap = p.r - near.distance;
    if (overlap <= 0) continue;
    touches.push_back(
        {k,
         number,
         {centre(p) + near.distance * near.normal, near.normal, overlap, 1.0 / act.inverse_masses[row], p.r}});
  }
}

void World::meet_walls(std::size_t row, std::vector<WallTouch>& touches) {
  constexpr std::uint8_t before = 2;  // touched in the step before, perhaps no longer
  std::uint8_t* const active = wall_rows_.active();
  for (std::size_t k = wall_rows_.begin(row); k < wall_rows_.end(row); ++k)
    if (active[k] != 0) active[k] = before;
  for (WallTouch& touch : touches) {
    touch.fresh = active[touch.entry] == 0;
    active[touch.entry] = 1;
  }
  for (std::size_t k = wall_rows_.begin(row); k < wall_rows_.end(row); ++k)
    if (active[k] == before) wall_rows_.forget(k);
}

}  // namespace vicinal::dem
