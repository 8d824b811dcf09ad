"""The right-hand side of δ⁺-SPH in plain NumPy, all pairs at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicinal.sph import Artificial, Laminar, Simulation

Array = npt.NDArray[np.float64]


@dataclass
class Rates:
    """What a pass over all pairs gives, and what the next pass takes from it."""

    acceleration: Array
    gradient: Array
    shift: Array
    surface: npt.NDArray[np.bool_]
    wall_pressure: Array


def slope_of(sim: Simulation, distance: Array) -> Array:
    """Return the derivative of the kernel by the distance, over the distance, from differences."""
    step = 1e-6 * sim.kernel.length
    near = np.maximum(distance, 2 * step)
    return (sim.kernel(near + step) - sim.kernel(near - step)) / (2 * step * near)


def one_pass(sim: Simulation, walls: object, slip: bool, before: Rates | None) -> Rates:
    """Return the rates of a fluid whose equation of state is linear, in open space."""
    n, dim = sim.positions.shape
    x, u, mass, rest, sound = sim.positions, sim.velocities, sim.masses[0], sim.density, sim.sound_speed
    h, spacing = sim.kernel.length, sim.spacing
    excess = sim.densities - rest
    pressure = sound**2 * excess
    y, normals = walls.positions, walls.normals  # type: ignore[attr-defined]
    # Walls, after Adami et al. 2012.
    r = y[:, None] - x
    w = sim.kernel(np.linalg.norm(r, axis=2))
    weight = w.sum(axis=1)
    wet = weight > 0
    safe = np.where(wet, weight, 1)
    lever = np.einsum("ij,ij,ijk->ik", w, np.broadcast_to(sim.densities, w.shape), r)
    wall_pressure = np.where(wet, (w @ pressure + lever @ sim.gravity) / safe, 0)
    fluid_velocity = (w @ u) / safe[:, None]
    across = (fluid_velocity * normals).sum(axis=1)[:, None] * normals
    mirrored = fluid_velocity - 2 * across if slip else -fluid_velocity
    mirrored = np.where(wet[:, None], mirrored, 0)
    # All neighbours, fluid first.
    z = np.concatenate([x, y])
    r = x[:, None] - z
    distance = np.linalg.norm(r, axis=2)
    w, f = sim.kernel(distance), slope_of(sim, distance)
    f[distance >= sim.kernel.support] = 0
    f[np.arange(n), np.arange(n)] = 0
    density = rest + np.concatenate([excess, wall_pressure / sound**2])
    g = f * mass / density
    pressures = np.concatenate([pressure, wall_pressure])
    seen = np.concatenate([u, mirrored]) - u[:, None]
    own = np.zeros(n, bool) if before is None else before.surface
    p = np.where((pressure < 0) & ~own, -pressure, pressure)
    along_r = -(pressures + p[:, None]) / density[:n, None]
    along_du = np.zeros(r.shape[:2]) if before is None else np.einsum("ik,ijk->ij", before.shift, r)
    approach = (seen * r).sum(axis=2)
    if isinstance(sim.viscosity, Artificial):
        alpha = sim.viscosity.alpha * h * sound * rest / density[:n, None]
        along_r = along_r - alpha * approach / (distance**2 + 0.01 * h * h)
    elif isinstance(sim.viscosity, Laminar):
        along_du = along_du - 2 * sim.viscosity.nu * rest / density[:n, None]
    acceleration = np.einsum("ij,ijk->ik", g * along_r, r) + np.einsum("ij,ijk->ik", g * along_du, seen) + sim.gravity
    moments = -np.einsum("ij,ijk,ijl->ikl", g, r, r)
    least = np.linalg.eigvalsh(moments)[:, 0]
    raw = np.einsum("ij,ijk->ik", g * (density - density[:n, None]), r)
    gradient = np.where(
        least[:, None] > 0.2, np.linalg.solve(moments + 1e-300 * np.eye(dim), raw[..., None])[..., 0], 0
    )
    surface = least <= 0.75
    near = ((distance[:, :n] < sim.kernel.support) & own).any(axis=1)
    crowding = np.einsum("ij,ijk->ik", g * (1 + 0.2 * (w / sim.kernel(spacing)) ** 4), r)
    fastest = np.linalg.norm(u, axis=1).max()
    shift = -4 * h * fastest * crowding
    length = np.linalg.norm(shift, axis=1)
    shift *= np.where(length > 0.5 * fastest, 0.5 * fastest / np.maximum(length, 1e-300), 1)[:, None]
    shift[surface | near] = 0
    return Rates(acceleration, gradient, shift, surface, wall_pressure)
