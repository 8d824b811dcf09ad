"""Points in motion: after every step the triangulation is exactly that of a new build."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH
from compare import ALL, assert_same_pairs
from oracle import Pairs
from triangulations import canonical, check_structure

if TYPE_CHECKING:
    from oracle import Array

CUTOFF = 0.1
Step = Callable[[Any, np.random.Generator], Any]


def diffuse(x: Array, rng: np.random.Generator) -> Array:
    """A few per cent of the spacing."""
    return x + rng.normal(0, 0.03 / np.sqrt(len(x)), x.shape)


def wander(x: Array, rng: np.random.Generator) -> Array:
    """About one spacing, over the edge of the hull and back."""
    return x + rng.normal(0, 1 / np.sqrt(len(x)), x.shape)


def shake(x: Array, rng: np.random.Generator) -> Array:
    """Every point jumps across the domain."""
    return rng.random(x.shape)


def jump(x: Array, rng: np.random.Generator) -> Array:
    """A few points jump far, all others stay."""
    x = x.copy()
    x[rng.integers(len(x), size=3)] = rng.uniform(-3, 4, (3, 2))
    return x


def gather(x: Array, rng: np.random.Generator) -> Array:
    """Onto a coarse lattice: points coincide, and separate again in the next step."""
    return np.round(x * 12 + rng.normal(0, 0.4, x.shape)) / 12


def collapse(x: Array, rng: np.random.Generator) -> Array:
    """Onto a line, onto one position, and back."""
    kind = rng.integers(4)
    if kind == 0:
        return np.stack([x[:, 0], 2 * x[:, 0]], axis=1)
    if kind == 1:
        return np.zeros_like(x) + x[0]
    return rng.random(x.shape)


def turn(x: Array, rng: np.random.Generator) -> Array:
    """A rigid turn by a large angle: everything moves, and nothing changes."""
    c, s = np.cos(0.8), np.sin(0.8)
    return x @ np.array([[c, s], [-s, c]])


def mirror(x: Array, rng: np.random.Generator) -> Array:
    """Every triangle is inverted."""
    return x * [-1.0, 1.0]


def pass_through(x: Array, rng: np.random.Generator) -> Array:
    """Two halves move through each other."""
    return x + np.where(np.arange(len(x))[:, None] % 2 == 0, 0.02, -0.02) * [1.0, 0.0]


STEPS: list[Step] = [diffuse, wander, shake, jump, gather, collapse, turn, mirror, pass_through]
every_step = pytest.mark.parametrize("step", STEPS, ids=lambda step: step.__name__)
every_dtype = pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)


def assert_same_answers(index: vc.Delaunay, points: Array) -> None:
    wanted: Any = {"want": ALL, "half": False, "sort": True}
    expected = Pairs(*vc.LinkedCells(points, cutoff=CUTOFF).pairs(**wanted))
    assert_same_pairs(Pairs(*index.pairs(**wanted)), expected)
    assert np.array_equal(index.count(), np.bincount(expected.i, minlength=len(points)))
    assert len(index.pairs()[0]) * 2 == len(expected)


@every_step
@every_dtype
def test_every_step_of_a_long_motion_gives_the_triangulation_of_a_new_build(step: Step, dtype: Any) -> None:
    rng = np.random.default_rng(41)
    points = rng.random((150, 2)).astype(dtype)
    index = vc.Delaunay(points, cutoff=CUTOFF)
    for k in range(60):
        points = step(points, rng).astype(dtype)
        index.update(points)
        assert index.is_delaunay()
        fresh = vc.Delaunay(points, cutoff=CUTOFF)
        assert canonical(index.triangles) == canonical(fresh.triangles)
        assert np.array_equal(np.unique(index.edges, axis=0), np.unique(fresh.edges, axis=0))
        if k % 10 == 0:
            check_structure(index, points)
            assert_same_answers(index, points)


@pytest.mark.parametrize("scale", [0.01, 0.05, 0.2, 1.0])
def test_many_points_keep_up(scale: float) -> None:
    """Enough points for several threads and for the decision to rebuild."""
    rng = np.random.default_rng(42)
    points = rng.random((20_000, 2))
    index = vc.Delaunay(points, cutoff=0.01)
    for _ in range(5):
        points = points + rng.uniform(-scale, scale, points.shape) / np.sqrt(len(points))
        index.update(points)
        assert index.is_delaunay()
    assert canonical(index.triangles) == canonical(vc.Delaunay(points, cutoff=0.01).triangles)


def test_small_moves_are_repaired_and_large_ones_rebuilt() -> None:
    rng = np.random.default_rng(43)
    points = rng.random((20_000, 2))
    index = vc.Delaunay(points, cutoff=0.01)
    index.update(points + rng.normal(0, 0.02, points.shape) / np.sqrt(len(points)))
    details = index.stats.details
    assert details["rebuilt"] == 0
    assert 0 < details["inverted"] < 2000
    assert details["reinserted"] > 0
    assert details["flips"] > 0
    index.update(points[::-1])
    assert index.stats.details["rebuilt"] == 1


def test_rest_costs_no_flips() -> None:
    points = np.random.default_rng(44).random((1000, 2))
    index = vc.Delaunay(points, cutoff=0.1)
    index.update(points.copy())
    details = index.stats.details
    assert (details["flips"], details["reinserted"], details["inverted"], details["rebuilt"]) == (0, 0, 0, 0)


def test_a_point_may_leave_the_hull_and_return() -> None:
    points = np.random.default_rng(45).random((50, 2))
    index = vc.Delaunay(points, cutoff=CUTOFF)
    before = canonical(index.triangles)
    for x in [*np.linspace(0.5, 30, 20), 1e9, 1e300, -5.0, 0.2]:
        moved = points.copy()
        moved[7] = x, 0.4
        index.update(moved)
        assert index.is_delaunay()
        check_structure(index, moved)
    index.update(points)
    assert canonical(index.triangles) == before


# -------------------------------------------------------------------------------- the slack


@every_dtype
@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.usefixtures("threads")
def test_with_slack_the_pairs_are_those_of_a_fresh_search(dtype: Any, threads: int) -> None:
    rng = np.random.default_rng(46)
    vc.set_threads(threads)
    points = rng.random((5000, 2)).astype(dtype)
    index = vc.Delaunay(points, cutoff=0.02, slack=0.004)
    queries = rng.random((500, 2)).astype(dtype)
    for _ in range(25):
        points = (points + rng.normal(0, 1.5e-4, points.shape)).astype(dtype)
        index.update(points)
        fresh = vc.LinkedCells(points, cutoff=0.02)
        wanted: Any = {"want": "ijd", "sort": True}
        for ours, theirs in zip(index.pairs(**wanted), fresh.pairs(**wanted), strict=True):
            assert np.array_equal(ours, theirs)
        for ours, theirs in zip(
            index.pairs(queries=queries, **wanted), fresh.pairs(queries=queries, **wanted), strict=True
        ):
            assert np.array_equal(ours, theirs)
    details = index.stats.details
    assert details["skips"] > 2 * details["repairs"] > 0
    assert details["skips"] + details["repairs"] == 25


def test_a_skipped_repair_is_made_when_the_triangulation_is_read() -> None:
    rng = np.random.default_rng(47)
    points = rng.random((300, 2))
    index = vc.Delaunay(points, cutoff=CUTOFF, slack=0.2)
    points = points + rng.uniform(-0.05, 0.05, points.shape)
    index.update(points)
    assert index.stats.details["skips"] == 1
    assert 0 < index.stats.details["slack"] <= 0.2
    assert_same_answers(index, points)
    assert canonical(index.triangles) == canonical(vc.Delaunay(points, cutoff=CUTOFF).triangles)
    assert index.stats.details["slack"] == 0
    assert index.is_delaunay()
    assert_same_answers(index, points)


def test_a_jump_beyond_the_slack_is_repaired_at_once() -> None:
    points = np.random.default_rng(48).random((300, 2))
    index = vc.Delaunay(points, cutoff=CUTOFF, slack=0.01)
    points[5] += 0.3
    index.update(points)
    assert (index.stats.details["skips"], index.stats.details["repairs"]) == (0, 1)
    assert_same_answers(index, points)
