"""Distances of tablets and spheres, compared with a search over directions, which is independent of the code."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from dem.grains import linear, simulation
from vicinal.dem import Tablet

TABLET = Tablet(0.6, 0.4, 0.15, rounding=0.05)


def _turned(q, v):
    """Rotate rows of v by a quaternion."""
    w, axis = q[0], q[1:]
    t = 2 * np.cross(axis, v)
    return v + w * t + np.cross(axis, t)


def _farthest(shape, q, d):
    """The extent of a core without its rounding in directions d (rows of length 1)."""
    if shape is None:
        return np.zeros(len(d))
    m = shape.margin
    ball, band = shape.cap_radius - m, shape.radius - m
    centre = shape.band / 2 + shape.cap - shape.cap_radius
    rim = centre + np.sqrt(ball**2 - band**2)
    along = d @ _turned(q, np.array([[0.0, 0.0, 1.0]]))[0]
    up, across = np.abs(along), np.sqrt(np.maximum(1 - along**2, 0))
    return np.where(ball * across <= band, ball + centre * up, band * across + rim * up)


def _distance(shapes, apart, turns, least, most):
    """Largest distance of parallel planes between the cores: by convexity, that of the cores if they do not meet.

    Not refined if it is not between `least` and `most`.
    """

    def gap(d):
        return d @ apart - _farthest(shapes[0], turns[0], d) - _farthest(shapes[1], turns[1], -d)

    rng = np.random.default_rng(0)
    d = rng.normal(size=(4000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    best = d[np.argmax(gap(d))]
    if not least - 0.05 < gap(best[None])[0] < most:
        return -np.inf, best
    for step in 0.2 * 0.7 ** np.arange(45):
        near = np.vstack([best, best + step * rng.normal(size=(200, 3))])
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        best = near[np.argmax(gap(near))]
    return float(gap(best[None])[0]), best


@cache
def _touching_pairs(second, count):
    """Offsets, orientations, distances and normals of pairs whose roundings overlap, computed without vicinal."""
    rng = np.random.default_rng(5)
    reach = TABLET.margin + (0.3 if second is None else TABLET.margin)
    pairs = []
    while len(pairs) < count:
        turns = rng.normal(size=(2, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        line = rng.normal(size=3)
        if len(pairs) % 3 == 0:  # one stands on the other's side, or both lie side by side
            axis = _turned(turns[0], np.array([[0.0, 0.0, 1.0]]))[0]
            line -= (line @ axis) * axis
        apart = rng.uniform(0.5, 1.3) * line / np.linalg.norm(line)
        limits = 0.2 * reach, 0.99 * reach
        distance, normal = _distance((TABLET, second), apart, turns, *limits)
        if limits[0] < distance < limits[1]:
            pairs.append((apart, turns, distance, normal))
    return pairs, reach


def _insert(sim, pairs, second, **motion):
    sites = np.arange(len(pairs))[:, None] * np.array([10.0, 0, 0])
    there = sites + np.array([apart for apart, _, _, _ in pairs])
    sim.insert(sites, shape=TABLET, orientations=[turns[0] for _, turns, _, _ in pairs], **motion)
    if second is None:
        sim.insert(there, radii=0.3)
    else:
        sim.insert(there, shape=TABLET, orientations=[turns[1] for _, turns, _, _ in pairs])


@pytest.mark.parametrize("second", [TABLET, None], ids=["tablets", "tablet and sphere"])
def test_overlap_and_normal_are_those_of_the_shortest_connection(second):
    pairs, reach = _touching_pairs(second, 60)
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-6)
    _insert(sim, pairs, second)
    found = sim.contacts()
    order = np.argsort(np.minimum(found["i"], found["j"]))
    assert len(order) == len(pairs)
    for k, (_, _, distance, normal) in zip(order, pairs, strict=True):
        sign = 1 if found["i"][k] < found["j"][k] else -1
        assert found["overlap"][k] == pytest.approx(reach - distance, abs=2e-6)
        assert sign * found["normal"][k] == pytest.approx(normal, abs=5e-3)


@pytest.mark.parametrize("second", [TABLET, None], ids=["tablets", "tablet and sphere"])
def test_contacts_from_the_normals_of_the_step_before_equal_those_from_scratch(second):
    # Steps compute contacts in vectors, from the normals of the step before; contacts() uses no earlier normals.
    pairs, _ = _touching_pairs(second, 60)
    material = linear(friction=0.0, kn=50.0, restitution=1.0)
    sim = simulation(material, gravity=(0, 0, 0), dt=2e-4, max_overlap=2.0)
    rng = np.random.default_rng(1)
    _insert(sim, pairs, second, velocities=rng.normal(0, 0.05, (60, 3)), spins=rng.normal(0, 2.0, (60, 3)))

    def forces():
        found = sim.contacts()
        total = np.zeros((len(sim), 3))
        np.add.at(total, found["i"], found["force"])
        np.add.at(total, found["j"], -found["force"])
        return total, len(found["i"])

    energy, seen = sim.energies()["total"], []
    for _ in range(20):
        sim.run(20)
        before, velocities = forces()[0], sim.velocities.copy()
        sim.run(1)
        after, count = forces()
        gained = sim.masses[:, None] * (sim.velocities - velocities)
        expected = 0.5 * sim.dt * (before + after)
        off, size = (np.linalg.norm(a, axis=1) for a in (gained - expected, expected))
        assert np.all(off <= 1e-5 * size + 1e-15)  # normals are found to 1e-6
        # Forces at wrong points would give wrong spins.
        assert sim.energies()["total"] == pytest.approx(energy, rel=1e-4)
        seen.append(count)
    assert min(seen) > 20


def test_bands_that_cross_touch_at_the_shortest_connection_of_the_axes():
    # Lying tablets on top of each other, the upper one turned about z and moved, but not beyond the end of a band.
    material = linear(friction=0.0, kn=50.0, restitution=1.0)
    sim = simulation(material, gravity=(0, 0, 0), dt=2e-4, max_overlap=2.0)
    rng = np.random.default_rng(2)
    n, lying, overlap = 40, np.array([np.sqrt(0.5), np.sqrt(0.5), 0, 0]), 0.02
    turns = rng.uniform(0.3, np.pi - 0.3, n)  # more than the sine 0.2 of bands that count as parallel
    about_z = np.stack([np.cos(turns / 2), 0 * turns, 0 * turns, np.sin(turns / 2)], axis=1)
    w, z = about_z[:, 0], about_z[:, 3]
    upper = np.stack([w * lying[0], w * lying[1], z * lying[1], z * lying[0]], axis=1)
    sites = np.arange(n)[:, None] * np.array([10.0, 0, 0])
    shifts = np.c_[rng.uniform(-0.02, 0.02, (n, 2)), np.full(n, 2 * TABLET.radius - overlap)]
    sim.insert(sites, shape=TABLET, orientations=np.tile(lying, (n, 1)))
    sim.insert(sites + shifts, shape=TABLET, orientations=upper)
    start = sim.contacts()
    assert len(start["i"]) == n
    assert start["overlap"] == pytest.approx(np.full(n, overlap), rel=1e-6)
    sim.run(1)  # the first step finds the normals, later ones begin with them
    for _ in range(20):
        before, velocities = sim.contacts(), sim.velocities.copy()
        sim.run(1)
        after = sim.contacts()
        expected = np.zeros((len(sim), 3))
        for found in (before, after):
            np.add.at(expected, found["i"], 0.5 * sim.dt * found["force"])
            np.add.at(expected, found["j"], -0.5 * sim.dt * found["force"])
        gained = sim.masses[:, None] * (sim.velocities - velocities)
        assert gained == pytest.approx(expected, rel=1e-9, abs=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("gap", [1e-6, 1e-7, 3e-8])
def test_a_narrow_gap_closes_in_the_step_in_which_bodies_meet(gap):
    # Cap to cap along the axes. Pairs with a gap sleep, but not longer than until they may touch.
    height, steps, dt = TABLET.band + 2 * TABLET.cap, 10, 1e-4
    speed = gap / ((steps - 0.5) * dt)  # they meet half a step before the last one ends
    sim = simulation(linear(friction=0.0, restitution=1.0), gravity=(0, 0, 0), dt=dt)
    sim.insert(
        [[0, 0, 0], [0, 0, height + gap]],
        shape=TABLET,
        orientations=[[1, 0, 0, 0]] * 2,
        velocities=[[0, 0, 0], [0, 0, -speed]],
    )
    sim.run(steps - 1)
    assert sim.velocities[1, 2] == -speed
    sim.run(1)
    assert sim.velocities[1, 2] > -speed
