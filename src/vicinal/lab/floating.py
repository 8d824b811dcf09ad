"""Bodies in water: floating blocks against Archimedes, spheres that sink and rise against their added mass.

As in `vicinal.lab.flows`, each function returns the figures that are compared.
"""

from __future__ import annotations

import itertools

import numpy as np

from vicinal.coupled import Coupling
from vicinal.coupled.immersed import solids_of_bodies
from vicinal.dem import Material, Polyhedron
from vicinal.dem import Simulation as Grains
from vicinal.lab.flows import GRAVITY, Tank
from vicinal.sim.walls import Wall, box_walls

RATIOS = (0.3, 0.5, 0.9)
"""Densities of blocks over that of water."""

SPHERES = (0.4, 2.0, 4.0)
"""Densities of spheres over that of water."""


def _grains(ratios: tuple[float, ...], walls: list[Wall], gravity: tuple[float, float, float]) -> Grains:
    materials = {str(ratio): Material(density=1000 * ratio, kn=1e4) for ratio in ratios}
    return Grains(materials=materials, law="linear", gravity=gravity, dt=1e-4, walls=walls)


def floating_blocks(cells: int, until: float = 0.8) -> dict[str, float]:
    """Return the immersed depth of blocks that float in a tank in two dimensions, over that of Archimedes.

    Blocks twice as wide as high begin at the depth at which they should float, and the mean of the second half of the
    time counts. The level of the water is where the pressure between the blocks falls to 0.

    Parameters
    ----------
    cells
        Particles along the height of a block; a multiple of 10, so that blocks fit the lattice at the start.
    until
        Time to simulate.
    """
    height, level, width = 0.2, 0.3, 2.4
    tank = Tank((width, 2 * level), height / cells)
    walls: list[Wall] = list(box_walls("tank", (0, 0, -1), (width, 2 * level, 1), "0.3", sides=["-x", "+x", "-y"]))
    grains = _grains(RATIOS, walls, (0, -GRAVITY, 0))
    block = Polyhedron(np.array(list(itertools.product((-height, height), (-0.5 * height, 0.5 * height), (-0.5, 0.5)))))
    for place, ratio in enumerate(RATIOS):
        grains.insert([(0.4 + 0.8 * place, level + (0.5 - ratio) * height, 0)], shape=block, material=str(ratio))
    # Pressures of a fluid that is compressed by 1 % are 2 % too large: particles start on a lattice that is not.
    sound = 15 * np.sqrt(2 * GRAVITY * level)
    fluid = tank.water((width, level), solids=solids_of_bodies(grains, 2), alpha=0.2, sound_speed=sound)
    coupling = Coupling(grains, fluid)
    depths, lifts = [], []
    while coupling.time < until:
        coupling.run(40)
        if coupling.time > 0.5 * until:
            x, y = fluid.positions.T
            middle = (np.abs((x + 0.4) % 0.8 - 0.4) < 0.15) & (y > 0.3 * level) & (y < level - 4 * tank.spacing)
            slope, offset = np.polyfit(y[middle], fluid.pressures[middle], 1)
            depths.append(-offset / slope - grains.positions[:, 1] + 0.5 * height)
            lifts.append(coupling.loads[:, 1] / (GRAVITY * grains.masses))
    depth, lift = np.mean(depths, axis=0) / height, np.mean(lifts, axis=0)
    return {
        **{f"depth {ratio}": float(depth[k] / ratio) for k, ratio in enumerate(RATIOS)},
        **{f"lift {ratio}": float(lift[k]) for k, ratio in enumerate(RATIOS)},
        "left": tank.left(fluid),
    }


def sinking_spheres(cells: int, until: float = 0.1) -> dict[str, float]:
    """Return speeds of spheres that sink and rise from rest in water, over those without drag.

    A sphere carries half of its volume of water along: without drag it moves with g (ρ - 1) / (ρ + 1/2).

    Parameters
    ----------
    cells
        Particles along the diameter of a sphere.
    until
        Time to simulate.
    """
    diameter = 0.08
    high = (0.6, 0.16, 0.48)
    tank = Tank((*high[:2], 0.64), diameter / cells)
    walls: list[Wall] = list(
        box_walls("tank", (0, 0, 0), tank.size, str(SPHERES[0]), sides=["-x", "+x", "-y", "+y", "-z"])
    )
    grains = _grains(SPHERES, walls, (0, 0, -GRAVITY))
    for place, ratio in enumerate(SPHERES):
        grains.insert([(0.1 + 0.2 * place, 0.08, 0.24)], radii=0.5 * diameter, material=str(ratio))
    fluid = tank.water(high, solids=solids_of_bodies(grains, 3))
    coupling = Coupling(grains, fluid)
    coupling.run_until(until)
    free = [-GRAVITY * (ratio - 1) / (ratio + 0.5) * coupling.time for ratio in SPHERES]
    speeds = grains.velocities[:, 2]
    return {
        **{f"speed {ratio}": float(speeds[k] / free[k]) for k, ratio in enumerate(SPHERES)},
        "in order": float(speeds[0] > 0 > speeds[1] > speeds[2]),
        "left": tank.left(fluid),
    }
