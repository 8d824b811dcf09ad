"""Bodies without forces: precession, and the flips of a body that rotates about its intermediate axis.

The reference integrates Euler's equations in the frame of the body, I ω' = (I ω) × ω, and the orientation with them, by
the classical method of Runge and Kutta; the simulation keeps the angular momentum in the frame of the world instead.
"""

import numpy as np
import pytest

from dem.grains import linear, simulation
from vicinal.dem import Clump, Polyhedron, Tablet

BRICK = Polyhedron([[x, y, z] for x in (0, 1.0) for y in (0, 0.6) for z in (0, 0.3)])
TRIPLE = Clump([[0, 0, 0], [0.8, 0, 0], [0, 0.5, 0.1]], [0.5, 0.45, 0.4])


def turned(q, vector):
    """Return a vector turned by a quaternion w, x, y, z."""
    twice = 2 * np.cross(q[1:], vector)
    return vector + q[0] * twice + np.cross(q[1:], twice)


def reference(moments, spin, times, step=0.01):
    """Angular velocity in the frame of the body and in the world frame; both frames are the same at the start."""
    a, b, c = moments.tolist()

    def rate(x, y, z, qw, qx, qy, qz):
        return (
            *((b - c) * y * z / a, (c - a) * z * x / b, (a - b) * x * y / c),
            *(-(qx * x + qy * y + qz * z) / 2, (qw * x + qy * z - qz * y) / 2),
            *((qw * y + qz * x - qx * z) / 2, (qw * z + qx * y - qy * x) / 2),
        )

    def added(state, h, change):
        return [s + h * d for s, d in zip(state, change, strict=True)]

    state, now = [*spin, 1.0, 0.0, 0.0, 0.0], 0.0
    own, world = [], []
    for time in times:
        count = max(1, int(np.ceil((time - now) / step)))
        h = (time - now) / count
        for _ in range(count):
            first = rate(*state)
            second = rate(*added(state, h / 2, first))
            third = rate(*added(state, h / 2, second))
            fourth = rate(*added(state, h, third))
            mean = [(p + 2 * q + 2 * r + s) / 6 for p, q, r, s in zip(first, second, third, fourth, strict=True)]
            state = added(state, h, mean)
        now = time
        own.append(state[:3])
        world.append(turned(np.array(state[3:]), np.array(state[:3])))
    return np.array(own), np.array(world)


def simulated(shape, spin, dt, steps, every):
    """Times and angular velocities in the form of `reference`, and the simulation."""
    sim = simulation(linear(kn=50.0), gravity=(0, 0, 0), dt=dt)
    # The principal axes, in the order of the moments, lie along those of the world.
    sim.insert([[0, 0, 0.0]], shape=shape, orientations=[shape.properties().frame * [1, -1, -1, -1]], spins=[spin])
    times, own, world = [], [], []
    for _ in range(steps // every):
        sim.run(every)
        times.append(sim.time)
        world.append(sim.spins[0])
        own.append(turned(sim._core.get("orientations")[0] * [1, -1, -1, -1], world[-1]))
    return np.array(times), np.array(own), np.array(world), sim


@pytest.mark.parametrize("shape", [BRICK, TRIPLE], ids=["brick", "clump"])
def test_a_body_that_rotates_about_its_intermediate_axis_flips_as_in_the_reference(shape):
    # Dzhanibekov effect: rotation about the intermediate axis is unstable; the body flips periodically.
    spin = np.array([0.05, 5.0, 0.0])
    times, own, world, sim = simulated(shape, spin, 5e-4, 40_000, 100)
    expected_own, expected_world = reference(sim.inertias[0], spin, times)
    flips, expected_flips = (times[1:][np.diff(np.sign(found[:, 1])) != 0] for found in (own, expected_own))
    assert len(flips) == len(expected_flips) >= 3
    assert flips == pytest.approx(expected_flips, abs=0.051)  # sampled every 0.05
    assert np.abs(own - expected_own).max() < 0.02 * 5
    assert np.abs(world - expected_world).max() < 0.02 * 5


def test_energy_and_angular_momentum_stay_while_it_flips():
    _, own, _, sim = simulated(BRICK, [0.05, 5.0, 0.0], 1e-3, 20_000, 100)
    moments = sim.inertias[0]
    assert (moments * own**2).sum(axis=1) == pytest.approx((moments * [0.05, 5.0, 0]) @ [0.05, 5.0, 0], rel=1e-4)
    momentum = sim._core.get("momenta")[0]
    assert momentum == pytest.approx(moments * [0.05, 5.0, 0], rel=1e-9, abs=1e-9 * moments[1])


def test_a_tablet_precesses_at_the_rate_of_theory():
    # The axis of a symmetric body (moments A, A, C) precesses about the angular momentum L at the rate L / A.
    shape = Tablet(0.5, 0.3, 0.15)
    across, along = shape.properties().moments[0], shape.properties().moments[2]
    spin = np.array([1.0, 0.0, 4.0])
    times, own, world, sim = simulated(shape, spin, 1e-3, 8000, 50)
    assert along > 1.2 * across
    expected_own, expected_world = reference(sim.inertias[0], spin, times)
    assert np.abs(own - expected_own).max() < 2e-3
    assert np.abs(world - expected_world).max() < 2e-3
    momentum = sim.inertias[0] * spin
    size = np.linalg.norm(momentum)
    up = momentum / size
    side = np.cross(up, [0, 1.0, 0])
    phases = np.unwrap(np.arctan2(world @ np.cross(up, side), world @ side))
    rate = np.polyfit(times, phases, 1)[0]
    assert rate == pytest.approx(size / sim.inertias[0, 0], rel=1e-4)
