"""The shortest collision time and Rayleigh time, which the time step must resolve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal.sim.solver import SimulationWarning

if TYPE_CHECKING:
    from vicinal import _core
    from vicinal.dem.simulation import Simulation


class TimeStepWarning(SimulationWarning):
    """The time step is too long to resolve contacts."""


@dataclass(frozen=True)
class CriticalTimes:
    """The shortest collision time, the shortest Rayleigh time, and the step as a fraction of each.

    `rayleigh` is NaN for laws without moduli, such as the linear one.
    """

    collision: float
    rayleigh: float
    collision_fraction: float
    rayleigh_fraction: float


def critical_times(sim: Simulation, core: _core.Grains, dt: float | None) -> CriticalTimes:
    """Return the times of a simulation; infinite without bodies."""
    collision = rayleigh = math.inf
    masses, radii, kinds = sim.masses, sim.radii, sim.material_ids
    own: dict[int, tuple[float, float]] = {}
    for kind in np.unique(kinds):
        of = kinds == kind
        own[int(kind)] = (float(masses[of].min()), float(radii[of].min()))
    ranks = sim._ranks.gathered((own, _speed(sim, radii)))  # noqa: SLF001
    lightest: dict[int, tuple[float, float]] = {}
    for mine, _ in ranks:
        for kind, (mass, radius) in mine.items():
            mass_so_far, radius_so_far = lightest.get(kind, (math.inf, math.inf))
            lightest[kind] = (min(mass, mass_so_far), min(radius, radius_so_far))
    lightest = dict(sorted(lightest.items()))
    speed = max(one for _, one in ranks)
    walls = {sim.material_index(wall.material) for wall in sim.walls}
    for a, (mass, radius) in lightest.items():
        others = [(b, *other) for b, other in lightest.items()] + [(b, math.inf, math.inf) for b in walls]
        for b, other_mass, other_radius in others:
            m = 1 / (1 / mass + 1 / other_mass)
            r = 1 / (1 / radius + 1 / other_radius)
            collision = min(collision, core.collision_time(a, b, m, r, speed))
        rayleigh = min(rayleigh, core.rayleigh_time(a, radius))
    if not any(math.isfinite(core.rayleigh_time(k, 1.0)) for k in range(len(sim.materials))):
        rayleigh = math.nan  # the law has no moduli
    step = 0.0 if dt is None else dt
    return CriticalTimes(collision, rayleigh, step / collision, step / rayleigh)


def _speed(sim: Simulation, radii: npt.NDArray[np.float64]) -> float:
    """Return the largest expected speed: that of bodies, of walls, or after a fall from ten diameters."""
    speeds = [math.sqrt(20 * float(np.linalg.norm(sim.gravity)) * float(radii.max()))] if len(radii) else [0.0]
    if len(radii):
        speeds.append(float(np.linalg.norm(sim.velocities, axis=1).max()))
    speeds += [float(np.linalg.norm(wall.velocity)) for wall in sim.walls]
    return max(*speeds, 1e-3)
