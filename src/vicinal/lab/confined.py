"""Confined flows with exact or published solutions, at any resolution: vortices, plates, a cavity.

The tests run them coarse, the experiment `fluids-confined` fine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from vicinal.lab.flows import LAYERS
from vicinal.sim.walls import box_walls
from vicinal.sph import Laminar, Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.probes import FluidSample
from vicinal.sph.vortices import taylor_green_pressures, taylor_green_velocities

Array = npt.NDArray[np.float64]


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(word) for word in text.split())


GHIA_Y = _numbers(
    "0.9766 0.9688 0.9609 0.9531 0.8516 0.7344 0.6172 0.5 0.4531 0.2813 0.1719 0.1016 0.0703 0.0625 0.0547"
)
GHIA_X = _numbers(
    "0.9688 0.9609 0.9531 0.9453 0.9063 0.8594 0.8047 0.5 0.2344 0.2266 0.1563 0.0938 0.0781 0.0703 0.0625"
)
GHIA: Mapping[int, Mapping[str, tuple[float, ...]]] = {
    100: {
        "u": _numbers(
            "0.84123 0.78871 0.73722 0.68717 0.23151 0.00332 -0.13641 -0.20581 -0.2109 -0.15662 -0.1015 -0.06434 "
            "-0.04775 -0.04192 -0.03717"
        ),
        "v": _numbers(
            "-0.05906 -0.07391 -0.08864 -0.10313 -0.16914 -0.22445 -0.24533 0.05454 0.17527 0.17507 0.16077 0.12317 "
            "0.1089 0.10091 0.09233"
        ),
    },
    1000: {
        "u": _numbers(
            "0.65928 0.57492 0.51117 0.46604 0.33304 0.18719 0.05702 -0.0608 -0.10648 -0.27805 -0.38289 -0.2973 "
            "-0.2222 -0.20196 -0.18109"
        ),
        "v": _numbers(
            "-0.21388 -0.27669 -0.33714 -0.39188 -0.5155 -0.42665 -0.31966 0.02526 0.32235 0.33075 0.37095 0.32627 "
            "0.30353 0.29012 0.27485"
        ),
    },
}
"""Velocities along the two midlines of a square cavity by Reynolds number, without the walls: u(y) at x = 0.5 and v(x)
at y = 0.5. Ghia, Ghia & Shin, J. Comput. Phys. 48 (1982) 387, tables I and II."""


def taylor_green(
    cells: int,
    *,
    until: float = 1.0,
    reynolds: float = 100,
    scheme: str = "edac",
    kernel: str = "wendland_c2",
    smoothing: float | None = None,
    jitter: float = 5e-6,
) -> dict[str, float]:
    """Return errors of decaying vortices against the exact solution.

    The mean error of speeds is given over the largest speed, the energy over the exact one.

    Parameters
    ----------
    cells
        Particles along an edge of the periodic square.
    kernel, smoothing
        Smoothing kernel, and its length in spacings, by default that of the scheme.
    jitter
        Standard deviation of positions at the start from a lattice, in spacings. A perfect lattice breaks up along
        lines where the flow draws it out, and rounding decides how; lattices that are off by millionths of a spacing
        break up alike.
    """
    nu, points = 1 / reynolds, fill(((0, 0), (1, 1)), 1 / cells)
    points = (points + np.random.default_rng(1).normal(0, jitter / cells, points.shape)) % 1
    sim = Simulation(
        points,
        spacing=1 / cells,
        density=1.0,
        sound_speed=10.0,
        velocities=taylor_green_velocities(points),
        pressures=taylor_green_pressures(points),
        box=(1.0, 1.0),
        viscosity=Laminar(nu),
        scheme=scheme,
        kernel=kernel,
        smoothing=smoothing,
    )
    sim.run_until(until)
    decay = math.exp(-8 * math.pi**2 * nu * sim.time)
    exact = decay * np.linalg.norm(taylor_green_velocities(sim.positions), axis=1)
    found = np.linalg.norm(sim.velocities, axis=1)
    pressure = decay**2 * taylor_green_pressures(sim.positions)
    wrong = sim.pressures - sim.pressures.mean() - pressure
    return {
        "speed": float(np.abs(found - exact).mean() / exact.max()),
        "energy": float((found**2).sum() / (exact**2).sum()),
        "pressure": float(np.abs(wrong).mean() / np.abs(pressure).max()),
    }


def taylor_green_order(cells: int) -> dict[str, float]:
    """Return the errors of `taylor_green`, and the order of convergence from half as many particles along an edge."""
    coarse, fine = taylor_green(cells // 2), taylor_green(cells)
    return {**fine, "order": math.log2(coarse["speed"] / fine["speed"])}


def plates(cells: int, *, drive: str, scheme: str = "edac") -> dict[str, float]:
    """Return the largest L2 error at three moments of a flow between plates, against the series of Morris et al. 1997.

    Parameters
    ----------
    cells
        Particles across the channel.
    drive
        "force" (Poiseuille) or "plate" (Couette).
    """
    nu, spacing, length = 0.1, 1 / cells, 16 / cells
    push = 8 * nu if drive == "force" else 0.0
    modes = np.arange(1, 60)[:, None]

    def exact(y: Array, t: float) -> Array:
        if drive == "force":
            k = (2 * modes - 1) * math.pi
            series = 4 * push / (nu * k**3) * np.sin(k * y) * np.exp(-(k**2) * nu * t)
            return np.asarray(push / (2 * nu) * y * (1 - y) - series.sum(axis=0))
        k = modes * math.pi
        return np.asarray(y + (2 / k * (-1.0) ** modes * np.sin(k * y) * np.exp(-(k**2) * nu * t)).sum(axis=0))

    walls = box_walls("plate", (0, 0, 0), (length, 1, 1), "", sides=["-y", "+y"])
    periodic = (length, None)
    points = fill(((0, 0), (length, 1)), spacing)
    sim = Simulation(
        points,
        spacing=spacing,
        density=1.0,
        sound_speed=10.0,
        gravity=(push, 0.0),
        box=periodic,
        viscosity=Laminar(nu),
        walls=wall_particles(walls, spacing, LAYERS, dim=2, fluid=points, slip=[], periodic=periodic),
        wall_velocities=[[0.0, 0.0], [0.0 if push else 1.0, 0.0]],
        scheme=scheme,
    )
    worst = 0.0
    for moment in (1.0, 2.0, 5.0):
        sim.run_until(moment)
        truth = exact(sim.positions[:, 1], sim.time)
        worst = max(worst, float(np.linalg.norm(sim.velocities[:, 0] - truth) / np.linalg.norm(truth)))
    return {"L2": worst, "across": float(np.abs(sim.velocities[:, 1]).max())}


def lid_cavity(cells: int, *, reynolds: int = 100, until: float = 15.0, scheme: str = "edac") -> dict[str, float]:
    """Return the largest distance to Ghia's velocities along the midlines of a square cavity, in speeds of the lid.

    Parameters
    ----------
    cells
        Particles along an edge.
    until
        Time to simulate, in edges over speeds of the lid.
    """
    spacing = 1 / cells
    walls = box_walls("cavity", (0, 0, -1), (1, 1, 1), "", sides=["-x", "+x", "-y", "+y"])
    points = fill(((0, 0), (1, 1)), spacing)
    velocities = [[1.0 if wall.name == "cavity+y" else 0.0, 0.0] for wall in walls]
    dummies = wall_particles(walls, spacing, LAYERS, dim=2, fluid=points, slip=[])
    # Beyond the corners all of the layers above move with the lid, not only those that are closest to it.
    lid = next(k for k, wall in enumerate(walls) if wall.name == "cavity+y")
    above = np.where(dummies.positions[:, 1] > 1, lid, dummies.wall).astype(np.int32)
    sim = Simulation(
        points,
        spacing=spacing,
        density=1.0,
        sound_speed=10.0,
        viscosity=Laminar(1 / reynolds),
        walls=replace(dummies, wall=above),
        wall_velocities=velocities,
        guard=Guard(walls, spacing, 2),
        scheme=scheme,
    )
    sim.run_until(until)
    middle = np.full(len(GHIA_Y), 0.5)
    fluid = FluidSample.of(sim)
    u = fitted(fluid, sim.velocities[:, 0], np.column_stack([middle, GHIA_Y]))
    v = fitted(fluid, sim.velocities[:, 1], np.column_stack([GHIA_X, middle]))
    return {
        "u": float(np.abs(u - GHIA[reynolds]["u"]).max()),
        "v": float(np.abs(v - GHIA[reynolds]["v"]).max()),
        "left": int(((sim.positions < 0) | (sim.positions > 1)).any(axis=1).sum()),
    }


def fitted(fluid: FluidSample, values: Array, places: Array) -> Array:
    """Return values at places by the linear functions that fit the particles around them best."""
    which, particle, weight = fluid.weights(places)
    found = np.zeros(len(places))
    for place in range(len(places)):
        near = particle[which == place]
        arms = np.column_stack([np.ones(len(near)), fluid.positions[near] - places[place]])
        root = np.sqrt(weight[which == place])[:, None]
        found[place] = np.linalg.lstsq(arms * root, values[near] * root[:, 0], rcond=None)[0][0]
    return found
