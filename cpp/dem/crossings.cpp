#include "dem/crossings.hpp"

#include "dem/forces.hpp"
#include "dem/walls/kinds.hpp"
#include "mesh/passes.hpp"
#include "mesh/vec3.hpp"

namespace vicinal::dem {

void Forces::note_crossings(std::size_t row, double step) {
  const Assembly::Acting act = assembly_.acting();
  const Vec now = centre(act.places[row]);
  std::size_t known = assembly_.walls.size();  // the last wall for which a crossing was added
  for (std::size_t k = lists_.walls.begin(row); k < lists_.walls.end(row); ++k) {
    const Assembly::Primitive& primitive = assembly_.primitives[lists_.walls.indices()[k]];
    if (primitive.wall == known) continue;
    const Wall& wall = assembly_.walls[primitive.wall];
    // The motion relative to the wall, which may move too.
    const Vec before = now - step * (act.motions[row].v - wall.velocity_at(now));
    bool crossed = false;
    if (wall.kind == Wall::mesh) {
      const mesh::Surface surface = assembly_.meshes[primitive.wall].surface();
      const auto described = [&](Vec p) {
        const Vec q = wall.to_description(p);
        return mesh::Vec3{q.x, q.y, q.z};
      };
      crossed = mesh::passes(described(before), described(now), surface.corner(primitive.face, 0),
                             surface.corner(primitive.face, 1), surface.corner(primitive.face, 2));
    } else {
      crossed = nearest_of(wall, now).distance < 0 && nearest_of(wall, before).distance >= 0;
    }
    if (!crossed) continue;
    known = primitive.wall;
    crossings.add(assembly_.bodies.ids[assembly_.body_of(row)], primitive.wall);
  }
}

}  // namespace vicinal::dem
