"""From a scene to a simulation: shapes of bodies and the time step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal.dem.bodies import check_sizes
from vicinal.dem.config.bodies import Body, Sphere
from vicinal.dem.config.insertion import Emitter, Placement
from vicinal.dem.shapes import Shape
from vicinal.dem.simulation import COLLISION_FRACTION, RAYLEIGH_FRACTION, Simulation
from vicinal.dem.times import CriticalTimes
from vicinal.errors import InputError
from vicinal.sim.regions import BoxRegion, CylinderRegion, SphereRegion
from vicinal.sim.scene import Scene
from vicinal.sim.scene_walls import SceneWalls

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]


def build(scene: Scene, comm: Intracomm | None = None) -> Simulation:
    """Return the simulation of a scene, with walls but without bodies and without a time step."""
    return Simulation(
        materials=scene.dem.materials,
        pairs=_pair_values(scene),
        law=scene.dem.law,
        history=scene.dem.history,
        walls=SceneWalls(scene, extent(scene)).all(),
        gravity=scene.gravity,
        box=scene.periodic.lengths(),
        skin=scene.dem.skin,
        seed=scene.run.seed,
        max_overlap=scene.dem.max_overlap,
        comm=comm,
    )


def change_materials(scene: Scene, sim: Simulation) -> bool:
    """Give a restored simulation the materials of its scene; return whether they are others."""
    pairs = _pair_values(scene)
    if dict(sim.materials) == dict(scene.dem.materials) and {k: dict(v) for k, v in sim.pairs.items()} == pairs:
        return False
    sim.materials = scene.dem.materials
    sim.pairs = pairs
    return True


def _pair_values(scene: Scene) -> dict[tuple[str, str], dict[str, float]]:
    return {pair.materials: dict(pair.values()) for pair in scene.dem.pairs}


def extent(scene: Scene) -> float:
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
        if isinstance(insert, Placement):
            corners += insert.positions
    radii = [body.radius.smallest() for body in scene.dem.bodies.values() if isinstance(body, Sphere)]
    spread = float(np.ptp(np.array(corners), axis=0).max()) if corners else 0.0
    return max(1.5 * spread, 8 * max(radii, default=0.0)) or 1.0


@dataclass
class BodyKind:
    """A body of a scene, ready to be inserted."""

    body: Body
    shape: Shape | None

    @property
    def radius(self) -> float:
        """Radius of its bounding sphere; the smallest one for spheres of several sizes."""
        if isinstance(self.body, Sphere):
            return self.body.radius.smallest()
        return float(self.shape.properties().radius) if self.shape is not None else math.nan

    @property
    def largest(self) -> float:
        """Radius of the largest body of this kind."""
        return self.body.radius.largest() if isinstance(self.body, Sphere) else self.radius

    def volumes(self, radii: Array) -> Array:
        """Return the volumes of bodies of this kind."""
        if self.shape is None:
            return np.asarray(4 / 3 * np.pi * radii**3)
        return np.full(len(radii), float(self.shape.properties().volume))


def make_kinds(scene: Scene) -> dict[str, BodyKind]:
    """Return the shapes of all bodies of a scene."""
    return {name: BodyKind(body, body.make()) for name, body in scene.dem.bodies.items()}


def choose_step(scene: Scene, sim: Simulation, kinds: dict[str, BodyKind]) -> CriticalTimes:
    """Set the time step of a simulation; return the critical times, including those of bodies inserted later."""
    times = [sim.critical_times()]
    coming = [insert for insert in scene.dem.insert if isinstance(insert, Emitter)]
    if coming:
        # The smallest body of each kind that is inserted later, since it may limit the time step.
        probe = build(scene)
        for insert in coming:
            for name in insert.shares():
                kind = kinds[name]
                check_sizes(sim.box, np.array([kind.largest]))  # now, and not hours later
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
