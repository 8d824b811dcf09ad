"""How long contacts last and waves travel: what the time step has to resolve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from vicinal.dem.simulation import Simulation


class TimeStepWarning(UserWarning):
    """The time step is too long to resolve contacts."""


@dataclass(frozen=True)
class CriticalTimes:
    """How long the shortest contact lasts and a Rayleigh wave needs; and the step as a fraction of them.

    `rayleigh` is not a number for the linear law, which knows no moduli.
    """

    collision: float
    rayleigh: float
    collision_fraction: float
    rayleigh_fraction: float


def critical_times(sim: Simulation, table: npt.NDArray[np.float64], dt: float | None) -> CriticalTimes:
    """Return the times of a simulation; infinite without bodies."""
    collision = rayleigh = math.inf
    masses, radii, kinds = sim.masses, sim.radii, sim.material_ids
    lightest: dict[int, tuple[float, float]] = {}
    for kind in np.unique(kinds):
        of = kinds == kind
        lightest[int(kind)] = (float(masses[of].min()), float(radii[of].min()))
    materials = list(sim.materials.values())
    speed = _speed(sim, radii)
    walls = {sim.material_index(wall.material) for wall in sim.walls}
    for a, (mass, radius) in lightest.items():
        partners = [(b, *other) for b, other in lightest.items()] + [(b, math.inf, math.inf) for b in walls]
        for b, other_mass, other_radius in partners:
            m = 1 / (1 / mass + 1 / other_mass)
            r = 1 / (1 / radius + 1 / other_radius)
            kn, _, rate, _, damping = table[a, b, :5]
            if sim.law == "linear":
                omega = kn / m - 0.25 * (rate + damping * math.sqrt(kn / m)) ** 2
                lasts = math.pi / math.sqrt(omega) if omega > 0 else math.pi / math.sqrt(kn / m)
            else:
                # Hertz: 2.94 (15 m / (16 E* sqrt(R)))^(2/5) v^(-1/5); damping only makes it longer.
                lasts = 2.94 * (15 * m / (16 * kn * math.sqrt(r))) ** 0.4 * speed**-0.2
            collision = min(collision, lasts)
        material = materials[a]
        if sim.law == "hertz":
            shear = material.youngs_modulus / (2 * (1 + material.poisson_ratio))  # type: ignore[operator]
            wave = math.pi * radius * math.sqrt(material.density / shear)
            rayleigh = min(rayleigh, wave / (0.1631 * material.poisson_ratio + 0.8766))  # type: ignore[operator]
    step = 0.0 if dt is None else dt
    if sim.law == "linear":
        return CriticalTimes(collision, math.nan, step / collision, math.nan)
    return CriticalTimes(collision, rayleigh, step / collision, step / rayleigh)


def _speed(sim: Simulation, radii: npt.NDArray[np.float64]) -> float:
    """Return how fast bodies may meet: as they fly now, as walls move, or as they fall from ten diameters."""
    speeds = [math.sqrt(20 * float(np.linalg.norm(sim.gravity)) * float(radii.max()))] if len(radii) else [0.0]
    if len(radii):
        speeds.append(float(np.linalg.norm(sim.velocities, axis=1).max()))
    speeds += [float(np.linalg.norm(wall.velocity)) for wall in sim.walls]
    return max(*speeds, 1e-3)
