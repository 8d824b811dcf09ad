"""One step of DFSPH in plain NumPy, all pairs at once, in open space."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sph.fluids import Layers
from sph.plain import slope_of
from vicinal.sph import Artificial, Laminar, Simulation

Array = npt.NDArray[np.float64]


@dataclass
class Solution:
    """What the solvers find in a step; pressures are divided by the density."""

    acceleration: Array
    pressure: Array
    correction: Array
    excess: Array


def stiffness_of(sim: Simulation) -> tuple[float, float]:
    """Return the sum of the kernel on a lattice, and the largest eigenvalue of J Jᵀ there over its diagonal."""
    dim, dx = sim.positions.shape[1], sim.spacing
    reach = int(sim.kernel.support / dx)
    x = np.stack(np.meshgrid(*[np.arange(-reach, reach + 1.0)] * dim), axis=-1).reshape(-1, dim)
    distance = dx * np.linalg.norm(x, axis=1)
    x, distance = x[distance < sim.kernel.support], distance[distance < sim.kernel.support]
    total = float(sim.kernel(distance).sum())
    x, distance = x[distance > 0], distance[distance > 0]
    slopes = slope_of(sim, distance)[:, None] * x
    directions = [np.arange(dim) < axes for axes in range(1, dim + 1)]
    waves = np.array([wave * np.pi / 64 * way for way in directions for wave in range(1, 64)])
    sizes = ((np.sin(waves @ x.T) @ slopes) ** 2).sum(axis=1)
    return total, float(sizes.max() / (slopes**2).sum())


def iterate(
    start: Array, factor: Array, iterations: int, left: Callable[[Array], Array], weight: float
) -> tuple[Array, Array, float]:
    """Return the pressure of the last evaluation, that after it, and the error it left."""
    found, trial, momentum, error = start, start, 1.0, 0.0
    for _ in range(iterations):
        last, residual = trial, left(trial)
        new = np.maximum(trial + factor * residual, 0)
        error = weight * float(np.mean(np.abs(new - trial) / factor))
        following = 0.5 * (1 + np.sqrt(1 + 4 * momentum**2))
        trial = np.maximum(new + (momentum - 1) / following * (new - found), 0)
        found, momentum = new, following
    return last, found, error


def dfsph_pass(
    sim: Simulation, walls: Layers, dt: float, before: Solution, iterations: tuple[int, int]
) -> tuple[Solution, tuple[float, float]]:
    """Return what the solvers find for the present positions and velocities, and their errors.

    Walls are at rest, and fluid slips along all of them. Numbers of iterations are for density and divergence.
    """
    x, u, y, normals = sim.positions, sim.velocities, walls.positions, walls.normals
    n, h = len(x), sim.kernel.length
    lattice, stiffness = stiffness_of(sim)
    total = before.pressure + before.correction
    # Walls, after Adami et al. 2012.
    r = y[:, None] - x
    w = sim.kernel(np.linalg.norm(r, axis=2))
    weight = w.sum(axis=1)
    safe = np.where(weight > 0, weight, 1)
    wall_pressure = np.maximum((w @ total + np.einsum("ij,ijk->ik", w, r) @ sim.gravity) / safe, 0)
    velocity = (w @ u) / safe[:, None]
    mirrored = velocity - 2 * (velocity * normals).sum(axis=1)[:, None] * normals
    # All neighbours, fluid first.
    r = x[:, None] - np.concatenate([x, y])
    distance = np.linalg.norm(r, axis=2)
    f = np.where(distance < sim.kernel.support, slope_of(sim, distance), 0) / lattice
    f[np.arange(n), np.arange(n)] = 0
    slope = f[..., None] * r
    fluid, wall = slope[:, :n], slope[:, n:]
    excess = sim.kernel(distance).sum(axis=1) / lattice - 1
    pull = fluid.sum(axis=1) + 2 * wall.sum(axis=1)
    rate = np.einsum("ijk,ijk->i", fluid, u[:, None] - u) + 2 * np.einsum("ijk,ik->i", wall, u)
    seen = np.concatenate([u, mirrored]) - u[:, None]
    other = sim.gravity - np.einsum("ij,ijk->ik", wall_pressure - total[:, None], wall)
    if isinstance(sim.viscosity, Artificial):
        along = -sim.viscosity.alpha * h * sim.sound_speed * (seen * r).sum(axis=2) / (distance**2 + 0.01 * h * h)
        other = other + np.einsum("ij,ijk->ik", along, slope)
    elif isinstance(sim.viscosity, Laminar):
        other = other - 2 * sim.viscosity.nu * np.einsum("ij,ijk->ik", f, seen)

    def acceleration(pressure: Array) -> Array:
        return np.asarray(-(pressure[:, None] * pull + np.einsum("j,ijk->ik", pressure, fluid)))

    def divergence(a: Array) -> Array:
        return np.asarray((a * pull).sum(axis=1) - np.einsum("jk,ijk->i", a, fluid))

    covered = excess > -0.25
    factor = 1 / (stiffness * (fluid**2).sum(axis=(1, 2)) + (pull**2).sum(axis=1) + 1e-6 / sim.spacing**2)
    _, correction, error_divergence = iterate(
        np.where(covered, before.correction, 0),
        factor / dt,
        iterations[1],
        lambda q: np.where(covered, rate + dt * divergence(acceleration(q)), 0),
        dt,
    )
    # A small part of a small excess is corrected in a step, and all of a large one.
    source = 0.02 * np.minimum(excess, 0.005) + np.maximum(excess - 0.005, 0)
    last, pressure, error_density = iterate(
        before.pressure,
        factor / dt**2,
        iterations[0],
        lambda p: source + dt * (rate + dt * divergence(other + acceleration(p + correction))),
        1.0,
    )
    found = Solution(other + acceleration(last + correction), pressure, correction, np.maximum(excess, 0))
    return found, (error_density, error_divergence)
