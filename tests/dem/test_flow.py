"""Grains that flow out of a bin."""

import numpy as np
import pytest

from dem.grains import linear
from vicinal.dem import MeshWall, Simulation, box_walls

DIAMETER = 0.98


def plate(opening, edge, sides=48):
    """A floor with a round hole in its middle; it extends beyond the walls of the bin."""
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.c_[np.cos(angle), np.sin(angle), np.zeros(sides)]
    vertices = np.concatenate([0.5 * opening * ring, edge * ring])
    vertices += [edge / 2, edge / 2, 0]
    k = np.arange(sides)
    after = (k + 1) % sides
    faces = np.concatenate([np.c_[k, k + sides, after + sides], np.c_[k, after + sides, after]])
    return MeshWall(name="plate", material="m", vertices=vertices, faces=faces)


def discharge(opening, edge, layers, duration):
    """Spheres per unit of time through a hole (g = 1), once the flow is steady."""
    rng = np.random.default_rng(1)
    walls = [plate(opening, edge), *box_walls("bin", (0, 0, 0), (edge, edge, 99), "m", sides=["-x", "+x", "-y", "+y"])]
    material = linear(kn=2500.0, restitution=0.5, friction=0.5)
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1), dt=2e-3)
    per = int(edge / 1.02)
    spacing = edge / per
    k = np.arange(per * per * layers)
    grid = np.c_[k % per, k // per % per, k // per**2] * [spacing, spacing, 1.0] + [spacing / 2, spacing / 2, 0.55]
    sim.insert(grid + rng.uniform(-0.01, 0.01, grid.shape), radii=0.5 * DIAMETER * rng.uniform(0.95, 1.05, len(k)))
    start, out = 7.0, 0  # before that, the heap settles and a dilated zone grows above the hole
    for half in range(round(2 * (start + duration))):
        sim.run(250)
        gone = sim.ids[sim.positions[:, 2] < -1]
        sim.remove(gone)
        out += len(gone) if half >= 2 * start else 0
    return out / duration


def test_hopper_flow_follows_the_power_five_halves():
    # Beverloo, Leniger & van de Velde, Chem. Eng. Sci. 15 (1961) 260: W = C ρb sqrt(g) (D - k d)^(5/2), k = 1.4 for
    # spheres and one C, about 0.5 to 0.6, for every hole that is large enough not to clog.
    openings = np.array([5.0, 6.5, 8.5])
    rates = np.array([discharge(*c) for c in zip(openings, (11, 12, 15), (12, 12, 13), (12, 8, 4), strict=True)])
    free = openings - 1.4 * DIAMETER
    exponent, _ = np.polyfit(np.log(free), np.log(rates), 1)
    assert exponent == pytest.approx(2.5, rel=0.15)
    # Grains that settled with friction 0.5 fill 0.58 of the space.
    constants = rates * np.pi / 6 * DIAMETER**3 / (0.58 * free**2.5)
    assert constants == pytest.approx(np.full(3, constants.mean()), rel=0.15)
    assert 0.45 < constants.mean() < 0.65
