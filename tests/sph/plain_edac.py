"""The right-hand side of EDAC in plain NumPy, all pairs at once, for particles in open space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sph.plain import slope_of
from vicinal.sph import Simulation

Array = npt.NDArray[np.float64]


@dataclass
class EdacRates:
    """What a pass over all pairs gives, and what the next pass takes from it."""

    acceleration: Array
    volume: Array
    per_moment: Array
    shift: Array
    colour: Array


def edac_pass(
    sim: Simulation, densities: Array, viscosities: Array, before: EdacRates | None, *, background: float = 0.0
) -> EdacRates:
    """Return the rates of fluids whose particles have these rest densities and dynamic viscosities.

    `background` is a pressure: above it, sums of pressures act instead of differences to their mean.
    """
    x, u, p = sim.positions, sim.velocities, sim.pressures
    n, dim = x.shape
    spacing, h = sim.spacing, sim.kernel.length
    volume = np.full(n, spacing**dim) if before is None else before.volume
    per_moment = np.ones(n) if before is None else before.per_moment
    shift = np.zeros((n, dim)) if before is None else before.shift
    r = x[:, None] - x
    distance = np.linalg.norm(r, axis=2)
    w, f = sim.kernel(distance), slope_of(sim, distance)
    f[distance >= sim.kernel.support] = 0
    f[np.arange(n), np.arange(n)] = 0
    mass = densities * spacing**dim
    g = f * volume
    both = f * (volume[:, None] ** 2 + volume**2) / mass[:, None]
    share = densities[:, None] / (densities[:, None] + densities)
    mu = 2 * viscosities[:, None] * viscosities / (viscosities[:, None] + viscosities)
    du = u - u[:, None]
    rubbed = du
    if (viscosities != viscosities[0]).any():
        along = np.einsum("ijk,ijk->ij", du, r) / np.where(distance > 0, distance**2, 1)
        rubbed = (dim + 2) * along[:, :, None] * r
    pull = share * (p - p[:, None])
    same = densities == densities[:, None]
    above = (w * same * (p - p[:, None])).sum(axis=1) / w.sum(axis=1)
    if background > 0:
        above = -(p + background)
    drift = np.einsum("ik,ijk->ij", shift, r)
    acceleration = (
        np.einsum("ij,ijk->ik", both * (above[:, None] - pull), r)
        - np.einsum("ij,ijk->ik", both * mu, rubbed) * per_moment[:, None]
        + np.einsum("ij,ijk->ik", g * drift * same, du)
        + sim.gravity
    )
    a = np.arange(-6, 7) * spacing
    lattice = sim.kernel(np.sqrt(sum(c**2 for c in np.meshgrid(*[a] * dim)))).sum() * spacing**dim
    crowding = np.einsum("ij,ijk->ik", g * (1 + 0.2 * (w / sim.kernel(spacing)) ** 4), r)
    speed = np.linalg.norm(u, axis=1)
    fastest = np.array([speed[densities == own].max() for own in densities])
    new_shift = -4 * h * fastest[:, None] * crowding
    length = np.linalg.norm(new_shift, axis=1)
    new_shift *= np.where(length > 0.5 * fastest, 0.5 * fastest / np.maximum(length, 1e-300), 1)[:, None]
    moment = -(both * distance**2).sum(axis=1) * densities / (2 * dim)
    return EdacRates(
        acceleration=acceleration,
        volume=lattice / w.sum(axis=1),
        per_moment=np.where(moment > 0.2, 1 / np.maximum(moment, 1e-300), 1),
        shift=new_shift,
        colour=np.einsum("ij,ijk->ik", both * share * ~same, r),
    )
