"""How far apart tablets and spheres are, against a search over directions that knows of no patches or simplices."""

from __future__ import annotations

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
    """How far a core without its rounding reaches in directions d (rows of length 1)."""
    if shape is None:
        return np.zeros(len(d))
    m = shape.margin
    ball, band = shape.cap_radius - m, shape.radius - m
    centre = shape.band / 2 + shape.cap - shape.cap_radius
    rim = centre + np.sqrt(ball**2 - band**2)
    along = d @ _turned(q, np.array([[0.0, 0.0, 1.0]]))[0]
    up, across = np.abs(along), np.sqrt(np.maximum(1 - along**2, 0))
    return np.where(ball * across <= band, ball + centre * up, band * across + rim * up)


def _distance(shapes, apart, turns):
    """Largest distance of parallel planes between the cores: that of the cores, if they do not meet (convexity)."""

    def gap(d):
        return d @ apart - _farthest(shapes[0], turns[0], d) - _farthest(shapes[1], turns[1], -d)

    rng = np.random.default_rng(0)
    d = rng.normal(size=(4000, 3))
    d /= np.linalg.norm(d, axis=1, keepdims=True)
    best = d[np.argmax(gap(d))]
    for step in 0.2 * 0.7 ** np.arange(45):
        near = np.vstack([best, best + step * rng.normal(size=(200, 3))])
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        best = near[np.argmax(gap(near))]
    return float(gap(best[None])[0]), best


@pytest.mark.parametrize("second", [TABLET, None], ids=["tablets", "tablet and sphere"])
def test_overlap_and_normal_are_those_of_the_shortest_connection(second):
    rng = np.random.default_rng(5)
    reach = TABLET.margin + (0.3 if second is None else TABLET.margin)
    pairs = []
    while len(pairs) < 60:
        turns = rng.normal(size=(2, 4))
        turns /= np.linalg.norm(turns, axis=1, keepdims=True)
        line = rng.normal(size=3)
        if len(pairs) % 3 == 0:  # one stands on the other's side, or both lie side by side
            axis = _turned(turns[0], np.array([[0.0, 0.0, 1.0]]))[0]
            line -= (line @ axis) * axis
        apart = rng.uniform(0.5, 1.3) * line / np.linalg.norm(line)
        distance, normal = _distance((TABLET, second), apart, turns)
        if 0.2 * reach < distance < 0.99 * reach:
            pairs.append((apart, turns, distance, normal))
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-6)
    sites = np.arange(len(pairs))[:, None] * np.array([10.0, 0, 0])
    sim.insert(sites, shape=TABLET, orientations=[turns[0] for _, turns, _, _ in pairs])
    there = sites + np.array([apart for apart, _, _, _ in pairs])
    if second is None:
        sim.insert(there, radii=0.3)
    else:
        sim.insert(there, shape=TABLET, orientations=[turns[1] for _, turns, _, _ in pairs])
    found = sim.contacts()
    order = np.argsort(np.minimum(found["i"], found["j"]))
    assert len(order) == len(pairs)
    for k, (_, _, distance, normal) in zip(order, pairs, strict=True):
        sign = 1 if found["i"][k] < found["j"][k] else -1
        assert found["overlap"][k] == pytest.approx(reach - distance, abs=2e-6)
        assert sign * found["normal"][k] == pytest.approx(normal, abs=5e-3)
