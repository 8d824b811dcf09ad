"""From a scene to a simulation: walls, shapes and the time step."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicinal.dem.config.bodies import Body, ClumpBody, PolyhedronBody, Sphere, TabletBody
from vicinal.dem.config.insertion import Emitter, Place
from vicinal.dem.shapes import Clump, Polyhedron, Shape, Tablet
from vicinal.dem.simulation import COLLISION_FRACTION, RAYLEIGH_FRACTION, Simulation
from vicinal.dem.times import CriticalTimes
from vicinal.dem.walls import Cylinder, MeshWall, Plane, Wall, box_walls
from vicinal.errors import InputError
from vicinal.sim.meshes import load_mesh
from vicinal.sim.regions import BoxRegion, CylinderRegion, SphereRegion
from vicinal.sim.scene import Scene
from vicinal.sim.walls import AnyWall, BoxWall, CylinderWall, MeshWallSection, PlaneWall, Rotating

Array = npt.NDArray[np.float64]


def build(scene: Scene) -> Simulation:
    """Make the simulation of a scene, with walls but without bodies and without a time step."""
    return Simulation(
        materials=scene.dem.materials,
        pairs={pair.materials: pair.values() for pair in scene.dem.pairs},
        law=scene.dem.law,
        history=scene.dem.history,
        walls=[wall for walls in make_walls(scene) for wall in walls],
        gravity=scene.gravity,
        box=scene.periodic.lengths(),
        skin=scene.dem.skin,
        seed=scene.run.seed,
    )


def make_walls(scene: Scene) -> list[list[Wall]]:
    """Make the walls of each wall table; boxes and closed cylinders have several."""
    made = []
    taken: set[str] = set()
    size = _extent(scene)
    for place, wall in enumerate(scene.walls):
        kind = wall.TAG[1]
        name = wall.name or (kind if kind not in taken else f"{kind}{place}")
        walls = _walls(wall, name, size)
        for part in walls:
            if part.name in taken:
                raise InputError(f'walls.{place}.name must differ from the names of other walls, got "{name}"')
            taken.add(part.name)
        taken.add(name)
        made.append(walls)
    return made


def _walls(wall: AnyWall, name: str, size: float) -> list[Wall]:
    walls: list[Wall]
    assert wall.material is not None  # noqa: S101 - the section `dem` checks that
    match wall:
        case PlaneWall():
            edge = size if wall.size is None else wall.size
            walls = [Plane(name=name, material=wall.material, point=wall.point, normal=wall.normal, size=edge)]
        case BoxWall():
            walls = list(box_walls(name, wall.low, wall.high, wall.material, sides=wall.sides))
        case CylinderWall():
            walls = [
                Cylinder(
                    name=name,
                    material=wall.material,
                    start=wall.start,
                    end=wall.end,
                    radius=wall.radius,
                    inside=wall.inside,
                )
            ]
            if wall.ends:
                along = np.subtract(wall.end, wall.start)
                for end, point, normal in (("start", wall.start, along), ("end", wall.end, -along)):
                    walls.append(
                        Plane(
                            name=f"{name}-{end}",
                            material=wall.material,
                            point=point,
                            normal=normal,
                            size=2 * wall.radius,
                        )
                    )
        case MeshWallSection():
            mesh = load_mesh(wall.file, scale=wall.scale, move=wall.move)
            walls = [MeshWall(name=name, material=wall.material, vertices=mesh.vertices, faces=mesh.faces)]
    if isinstance(wall.motion, Rotating):
        for part in walls:
            part.centre = np.array(wall.motion.point)
    return walls


def set_motions(scene: Scene, walls: list[list[Wall]], time: float) -> None:
    """Set the velocities of walls to those of their motion from a time on."""
    for wall, parts in zip(scene.walls, walls, strict=True):
        # A wall without motion keeps what its user set.
        if wall.motion.moments():
            for part in parts:
                part.velocity, part.spin = np.array(wall.motion.velocity_at(time)), np.array(wall.motion.spin_at(time))


def _extent(scene: Scene) -> float:
    """Return the edge of the square that is drawn for a plane."""
    corners: list[tuple[float, ...]] = []
    for region in scene.regions.values():
        match region:
            case BoxRegion():
                corners += [region.low, region.high]
            case CylinderRegion():
                corners += [tuple(np.add(p, s * region.radius)) for p in (region.start, region.end) for s in (-1, 1)]
            case SphereRegion():
                corners += [tuple(np.add(region.centre, s * region.radius)) for s in (-1, 1)]
    for insert in scene.dem.insert:
        if isinstance(insert, Place):
            corners += insert.positions
    radii = [body.radius.smallest() for body in scene.dem.bodies.values() if isinstance(body, Sphere)]
    spread = float(np.ptp(np.array(corners), axis=0).max()) if corners else 0.0
    return max(1.5 * spread, 8 * max(radii, default=0.0)) or 1.0


@dataclass
class Kind:
    """A body of a scene, ready to be inserted."""

    body: Body
    shape: Shape | None

    @property
    def radius(self) -> float:
        """Radius of its bounding sphere; the smallest one for spheres of several sizes."""
        if isinstance(self.body, Sphere):
            return self.body.radius.smallest()
        return float(self.shape.properties().radius) if self.shape is not None else math.nan

    def volumes(self, radii: Array) -> Array:
        """Return the volumes of bodies of this kind."""
        if self.shape is None:
            return np.asarray(4 / 3 * np.pi * radii**3)
        return np.full(len(radii), float(self.shape.properties().volume))


def make_kinds(scene: Scene) -> dict[str, Kind]:
    """Make the shapes of all bodies of a scene."""
    return {name: Kind(body, _shape(body)) for name, body in scene.dem.bodies.items()}


def _shape(body: Body) -> Shape | None:
    match body:
        case Sphere():
            return None
        case ClumpBody():
            return Clump(np.array(body.offsets), np.array(body.radii))
        case TabletBody():
            return Tablet(body.radius, body.band, body.cap, body.rounding)
        case PolyhedronBody():
            return Polyhedron(np.array(body.vertices), body.rounding)


def choose_step(scene: Scene, sim: Simulation, kinds: dict[str, Kind]) -> CriticalTimes:
    """Set the time step of a simulation, and return the critical times of its bodies, later ones included."""
    times = [sim.critical_times()]
    coming = [insert for insert in scene.dem.insert if isinstance(insert, Emitter)]
    if coming:
        # One body of each kind that is inserted later, the smallest: it may be the one that limits the step.
        probe = build(scene)
        for insert in coming:
            for name in insert.shares():
                kind = kinds[name]
                radii = None if kind.shape is not None else [kind.radius]
                probe.insert(
                    [(0.0, 0.0, 0.0)],
                    radii=radii,
                    shape=kind.shape,
                    material=kind.body.material,
                    velocities=[insert.velocity],
                )
        times.append(probe.critical_times())
    collision = min(time.collision for time in times)
    rayleigh = min((time.rayleigh for time in times if not math.isnan(time.rayleigh)), default=math.inf)
    if not math.isfinite(collision):
        collision = rayleigh = math.inf
    if scene.dem.dt is not None:
        sim.dt = scene.dem.dt
    elif math.isinf(collision):
        raise InputError("dem.dt is missing, and there are no bodies to derive it from; it must be a number above 0")
    elif scene.dem.fraction is not None:
        sim.dt = scene.dem.fraction * min(collision, rayleigh)
    else:
        sim.dt = min(COLLISION_FRACTION * collision, RAYLEIGH_FRACTION * rayleigh)
    return CriticalTimes(collision, rayleigh, sim.dt / collision, sim.dt / rayleigh)
