"""A tall silo: its walls carry most of the weight."""

import numpy as np
import pytest

from dem.grains import linear
from vicinal.dem import Cylinder, Plane, Simulation

RADIUS, FRICTION = 3.0, 0.5


def silo(count):
    """Weight of spheres in a pipe, their height, and the load on its floor while it sinks slowly (g = 1, d about 1).

    The floor sinks so that all grains slide down along the wall, and friction is at its limit, as Janssen assumes.
    """
    rng = np.random.default_rng(1)
    walls = [
        Cylinder(name="pipe", material="m", start=(0, 0, 0), end=(0, 0, 99), radius=RADIUS),
        Plane(name="floor", material="m", point=(0, 0, 0), normal=(0, 0, 1)),
    ]
    material = linear(kn=2500.0, restitution=0.3, friction=FRICTION)
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1), dt=2e-3)
    x, y = (1.02 * part.ravel() for part in np.mgrid[-2:3, -2:3])
    inside = np.hypot(x, y) + 0.52 < RADIUS
    k = np.arange(count)
    layer, place = np.divmod(k, inside.sum())
    places = np.c_[x[inside][place], y[inside][place], 0.55 + 1.02 * layer]
    sim.insert(places + rng.uniform(-0.01, 0.01, (count, 3)), radii=rng.uniform(0.45, 0.5, count))
    sim.run(round((3 * np.sqrt(places[:, 2].max()) + 4) / sim.dt))
    floor = sim.walls[1]
    height = np.quantile(sim.positions[:, 2], 0.99)
    floor.velocity = (0, 0, -0.05)
    sim.run(12_500)
    loads = []
    for _ in range(60):
        sim.run(125)
        loads.append(-floor.force[2])
    return sim.masses.sum(), height, np.mean(loads)


def test_load_on_the_floor_saturates_as_janssen_says():
    # Janssen, Z. VDI 39 (1895) 1045: load = W∞ (1 - exp(-weight / W∞)), with W∞ = weight per height × R / (2 μ K).
    # Vanel & Clément, Eur. Phys. J. B 11 (1999) 525, find the curve in a pipe whose floor sinks.
    weights, heights, loads = np.transpose([silo(count) for count in (100, 200, 400, 800)])
    limits = np.linspace(0.5, 2, 301)[:, None] * loads[-1]
    curves = limits * (1 - np.exp(-weights / limits))
    best = int(np.argmin(((curves / loads - 1) ** 2).sum(axis=1)))
    assert loads == pytest.approx(curves[best], rel=0.15)
    # Twice the weight adds little to the load, about a fifth; a fluid would add all of it. Grains stick and slip in a
    # narrow pipe: the mean load of a run varies by 4 to 8 % (standard deviation over seeds).
    assert loads[-1] < 0.3 * weights[-1]
    assert loads[-1] < 1.4 * loads[-2]
    assert loads[0] > 0.6 * weights[0]
    # K, the ratio of horizontal to vertical stress, is that of dense grains.
    ratio = weights[-1] / heights[-1] * RADIUS / (2 * FRICTION * limits[best, 0])
    assert 0.4 < ratio < 0.9
