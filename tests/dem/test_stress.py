"""Stress inside a packing, computed from its contacts, compared with the force on the plates that hold it."""

import numpy as np
import pytest

from dem.grains import linear
from vicinal.dem import Simulation, box_walls

SIDE, HEIGHT = 6.0, 4.98


def cell(friction=0.5):
    """Spheres between two plates, periodic along both, pressed together and at rest; no gravity."""
    rng = np.random.default_rng(5)
    walls = box_walls("cell", (0, 0, 0), (SIDE, SIDE, 8.0), "m", sides=["-z", "+z"])
    sim = Simulation(
        materials={"m": linear(restitution=0.4, friction=friction, kn=1e5)},
        law="linear",
        walls=walls,
        gravity=(0, 0, 0),
        dt=1e-4,
        box=(SIDE, SIDE, None),
    )
    k = np.arange(240)
    sim.insert(np.c_[k % 6, k // 6 % 6, k // 36] + 0.5 + rng.uniform(-0.02, 0.02, (240, 3)), radii=0.48)
    sim.walls[1].velocity = (0, 0, -2.0)
    sim.run(round((8.0 - HEIGHT) / 2.0 / sim.dt))
    sim.walls[1].velocity = (0, 0, 0)
    return sim


def contact_stress(sim):
    """Sum of force × branch vector over all contacts, per volume (Love and Weber); compression is positive."""
    contacts = sim.contacts()
    x, walled = sim.positions, contacts["wall"] >= 0
    first = x[np.searchsorted(sim.ids, contacts["i"])]
    second = np.where(
        walled[:, None], contacts["point"], x[np.searchsorted(sim.ids, np.where(walled, 0, contacts["j"]))]
    )
    branch = second - first
    branch[:, :2] -= SIDE * np.round(branch[:, :2] / SIDE)
    return np.einsum("ka,kb->ab", -contacts["force"], branch) / (SIDE**2 * HEIGHT)


def motion_stress(sim):
    """The momentum flux of the bodies, per volume."""
    v = sim.velocities
    return np.einsum("k,ka,kb->ab", sim.masses, v, v) / (SIDE**2 * HEIGHT)


def traction(wall):
    return np.asarray(wall.force) / SIDE**2


def test_stress_in_a_packing_at_rest_is_that_on_its_plates():
    sim = cell()
    sim.run(20_000)
    stress = contact_stress(sim)
    low, high = sim.walls
    assert stress[2, 2] > 100
    assert traction(high)[2] == pytest.approx(stress[2, 2], rel=1e-3)
    assert traction(low)[2] == pytest.approx(-stress[2, 2], rel=1e-3)
    # No body has a torque, so the tensor is symmetric.
    assert stress == pytest.approx(stress.T, abs=1e-3 * stress[2, 2])


def test_stress_in_a_sheared_packing_is_that_on_its_plates_on_average():
    sim = cell()
    low, high = sim.walls
    high.velocity = (3.0, 0, 0)
    sim.run(6000)
    inside, outside = [], []
    for _ in range(300):
        sim.run(50)
        inside.append((contact_stress(sim) + motion_stress(sim))[[0, 2], 2])
        outside.append(0.5 * (traction(high) - traction(low))[[0, 2]])
    inside, outside = np.array(inside), np.array(outside)
    error = (inside - outside).std(axis=0) / np.sqrt(len(inside))
    shear, pressure = outside.mean(axis=0)
    assert inside[:, 1].mean() == pytest.approx(pressure, rel=0.03)
    assert inside[:, 0].mean() == pytest.approx(shear, rel=0.03, abs=4 * error[0])
    assert abs(shear) > 20 * error[0]
