"""Simulations that several tests need."""

import numpy as np

from vicinal.dem import Material, Plane, Simulation

GLASS = Material(density=2500, youngs_modulus=5e7, poisson_ratio=0.25, restitution=0.8, friction=0.4)


def floor(material="m", **changes):
    return Plane(name="floor", material=material, point=(0, 0, 0), normal=(0, 0, 1), **changes)


def linear(**changes):
    """A linear material whose unit sphere (r 0.5) has mass 1."""
    return Material(**({"density": 6 / np.pi, "kn": 2e5, "restitution": 0.9} | changes))


def simulation(material, *, walls=(), law=None, **options):
    law = law or ("linear" if material.kn is not None else "hertz")
    return Simulation(materials={"m": material}, law=law, walls=walls, **options)


def bed(n=300, seed=0, **options):
    """Spheres of several sizes thrown into a small tray: covers rebuilds, re-sorting, walls and friction."""
    from vicinal.dem import box_walls

    rng = np.random.default_rng(seed)
    side = int(np.ceil(n ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:n]
    material = options.pop("material", None) or linear(restitution=0.5, friction=0.5, kn=2e4)
    walls = box_walls("tray", (0, 0, 0), (side, side, 4 * side), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    sim = simulation(material, walls=options.pop("walls", walls), gravity=(0, 0, -10), dt=2e-4, **options)
    sim.insert(grid + 0.5, radii=rng.uniform(0.3, 0.45, n), velocities=rng.normal(0, 2, (n, 3)))
    return sim
