"""From a scene to a fluid: particles, wall particles and their motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.regions import BoxRegion
from vicinal.sim.scene import Scene
from vicinal.sim.scene_walls import SceneWalls
from vicinal.sim.walls import Wall
from vicinal.sph.boundary import wall_particles
from vicinal.sph.config import InletSection, OutletSection, Sph
from vicinal.sph.faults import warn_of_lost_places
from vicinal.sph.fill import contains, fill_outside
from vicinal.sph.guard import Guard
from vicinal.sph.kernels import SmoothingKernel
from vicinal.sph.open_ends import Inlet, OpenEnds, Outlet
from vicinal.sph.phases import Phase
from vicinal.sph.schemes import check_smoothing
from vicinal.sph.simulation import Simulation
from vicinal.sph.solids import Solid, depths_in
from vicinal.sph.viscosity import Artificial, Laminar, Viscosity
from vicinal.sph.vortices import taylor_green_pressures, taylor_green_velocities
from vicinal.sph.wall_motion import WallMotion

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]


def make_walls(scene: Scene) -> SceneWalls:
    """Return the walls of a scene in their first pose."""
    corners = [value for region in scene.regions.values() for value in _corners(region)]
    spread = float(np.ptp(np.array(corners), axis=0).max()) if corners else 1.0
    return SceneWalls(scene, 1.5 * spread)


def _corners(region: object) -> list[Sequence[float]]:
    return [getattr(region, name) for name in ("low", "high", "start", "end", "centre") if hasattr(region, name)]


def build(scene: Scene, walls: SceneWalls, solids: Sequence[Solid] = (), comm: Intracomm | None = None) -> Simulation:
    """Return the fluid of a scene at time 0; there is none inside `solids`, bodies that float in it."""
    section: Sph = scene.sph
    dim = section.dim
    bodies = walls.all()
    ends = make_ends(scene)
    names = list(section.phases)
    parts: list[npt.NDArray[np.float64]] = []
    velocities: list[npt.NDArray[np.float64]] = []
    pressures: list[npt.NDArray[np.float64]] = []
    phases: list[npt.NDArray[np.int32]] = []
    for place in section.fill:
        number = names.index(place.phase) if place.phase is not None else 0
        if place.replace:
            for part, numbers in zip(parts, phases, strict=True):
                numbers[contains(scene.regions[place.region], part)] = number
            continue
        points, lost = fill_outside(scene.regions[place.region], section.spacing, dim=dim, walls=bodies)
        warn_of_lost_places(place.region, lost, stacklevel=2)
        points = points[depths_in(solids, points, section.spacing)[0] < -0.25 * section.spacing]
        points = points if ends is None else points[ends.outside_inlets(points)]
        parts.append(points)
        speeds = np.tile(np.array(place.velocity[:dim]), (len(points), 1))
        density = section.density if place.phase is None else section.phases[place.phase].density
        start = _rest_pressures(points, scene, section, density) if place.still else np.zeros(len(points))
        if place.vortices is not None and scene.periodic.x is not None:
            speeds += place.vortices * taylor_green_velocities(points, scene.periodic.x)
            start += density * place.vortices**2 * taylor_green_pressures(points, scene.periodic.x)
        phases.append(np.full(len(points), number, np.int32))
        velocities.append(speeds)
        pressures.append(start)
    positions = np.concatenate(parts)
    if not len(positions):
        raise InputError("sph.fill must have room for at least one particle, got regions that are inside walls")
    layers = math.ceil(_support(section) / section.spacing - 1e-9)
    periodic = scene.periodic.lengths()
    dummies = None
    if bodies:
        dummies = wall_particles(
            bodies,
            section.spacing,
            layers,
            dim=dim,
            fluid=positions,
            slip=_slip(section, bodies),
            periodic=None if periodic is None else periodic[:dim],
        )
    rank, ranks = (0, 1) if comm is None else (comm.rank, comm.size)
    own = slice(len(positions) * rank // ranks, len(positions) * (rank + 1) // ranks)
    return Simulation(
        positions[own],
        spacing=section.spacing,
        density=section.density,
        sound_speed=section.sound_speed,
        velocities=np.concatenate(velocities)[own],
        pressures=np.concatenate(pressures)[own],
        walls=dummies,
        wall_motion=make_motion(walls, dummies),
        wall_velocities=_sliding(section, bodies) if bodies else None,
        ends=ends,
        guard=make_guard(walls, section),
        gravity=scene.gravity[:dim],
        box=None if periodic is None else periodic[:dim],
        viscosity=None if names else _viscosity(section),
        phases=[Phase(density=each.density, nu=each.nu) for each in section.phases.values()] or None,
        phase=np.concatenate(phases)[own],
        surface_tension=section.surface_tension,
        scheme=section.scheme,
        kernel=section.kernel,
        smoothing=section.smoothing,
        state=section.state,
        diffusion=section.diffusion,
        shifting=section.shifting,
        background=section.background,
        courant=section.courant,
        tolerance=section.tolerance,
        precision=section.precision,
        comm=comm,
    )


def _support(section: Sph) -> float:
    factor = check_smoothing(section.smoothing, section.scheme, section.dim)
    return SmoothingKernel(section.kernel, factor * section.spacing, section.dim).support


def make_ends(scene: Scene) -> OpenEnds | None:
    """Return the inlets and outlets of a scene before they have begun to move; None without any."""
    section: Sph = scene.sph
    if not section.inlets and not section.outlets:
        return None
    dim = section.dim

    def box(end: InletSection | OutletSection) -> dict[str, Any]:
        region = cast("BoxRegion", scene.regions[end.region])  # checked by the section
        velocity = None if end.velocity is None else end.velocity[:dim]
        return {"low": region.low[:dim], "high": region.high[:dim], "velocity": velocity}

    return OpenEnds(
        [Inlet(**box(end)) for end in section.inlets],
        [Outlet(**box(end)) for end in section.outlets],
        spacing=section.spacing,
        support=_support(section),
    )


def make_guard(walls: SceneWalls, section: Sph) -> Guard | None:
    """Return the guard of the walls in their first pose."""
    bodies = walls.all()
    return Guard(bodies, section.spacing, section.dim) if bodies else None


def make_motion(walls: SceneWalls, dummies: object) -> WallMotion | None:
    """Return the motion of the walls; None if none moves."""
    motions = [table.motion for table, group in zip(walls.tables, walls.groups, strict=True) for _ in group]
    if dummies is None or not any(motion.moments() for motion in motions):
        return None
    return WallMotion(dummies, walls.all(), motions)  # type: ignore[arg-type]


def _viscosity(section: Sph) -> Viscosity:
    if section.nu is not None:
        return Laminar(section.nu)
    return Artificial() if section.alpha is None else Artificial(section.alpha)


def _rest_pressures(points: Array, scene: Scene, section: Sph, density: float) -> Array:
    """Return the pressure below the highest particle along gravity."""
    gravity = np.array(scene.gravity[: section.dim])
    g = float(np.linalg.norm(gravity))
    if g == 0 or not len(points):
        return np.zeros(len(points))
    depth = points @ (gravity / g)
    return np.asarray(density * g * (depth - depth.min() + 0.5 * section.spacing))


def _named(walls: Sequence[Wall], name: str, path: str) -> list[Wall]:
    """Return the walls of a name: that of a wall, or that of a box and all of its sides."""
    found = [wall for wall in walls if wall.name == name or (wall.name[:-2] == name and wall.name[-2] in "+-")]
    if not found:
        raise InputError(f"{path} must name walls, got {name!r}; known: {', '.join(wall.name for wall in walls)}")
    return found


def _slip(section: Sph, walls: Sequence[Wall]) -> list[str]:
    if section.slip is None:
        return [wall.name for wall in walls] if section.nu is None and not section.phases else []
    return [wall.name for name in section.slip for wall in _named(walls, name, "sph.slip")]


def _sliding(section: Sph, walls: Sequence[Wall]) -> Array:
    velocities = np.zeros((len(walls), section.dim))
    for name, velocity in section.sliding.items():
        for wall in _named(walls, name, "sph.sliding"):
            velocities[next(k for k, other in enumerate(walls) if other is wall)] = velocity[: section.dim]
    return velocities
