"""The triangulation of points at rest: Delaunay, unique, and the same as those of other libraries."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH, BUILDERS, hard_case
from triangulations import canonical, check_circles, check_structure, sides

if TYPE_CHECKING:
    from oracle import Array

RNG = np.random.default_rng(31)
GRID = np.stack(np.meshgrid(np.arange(9.0), np.arange(7.0)), axis=-1).reshape(-1, 2)
ANGLES = RNG.random(40) * 7
SETS: dict[str, Array] = {
    "nothing": np.zeros((0, 2)),
    "one": np.ones((1, 2)),
    "two": np.array([[0.0, 0.0], [1.0, 3.0]]),
    "three_on_a_line": np.array([[0.0, 0.0], [2.0, 2.0], [1.0, 1.0]]),
    "all_at_one_place": np.full((20, 2), 1.5),
    "two_places": np.array([[0.0, 0.0], [1.0, 3.0]]).repeat(5, axis=0),
    "line": RNG.permutation(np.stack([np.arange(50.0), 3 * np.arange(50.0)], axis=1)),
    "line_with_duplicates": np.stack([RNG.integers(0, 9, 50), np.zeros(50)], axis=1).astype(float),
    "fan_over_a_line": np.concatenate([[[0.5, 1.0]], np.stack([np.arange(40.0), np.zeros(40)], axis=1)]),
    "random": RNG.random((60, 2)),
    "duplicates": RNG.integers(0, 6, (60, 2)).astype(float),
    "grid": RNG.permutation(GRID),
    "grid_of_tenths": RNG.permutation(GRID) * 0.1,
    "lattice_circle": np.array([[a, b] for a in range(-25, 26) for b in range(-25, 26) if a * a + b * b == 625], float),
    "circle": np.stack([np.cos(ANGLES), np.sin(ANGLES)], axis=1),
    "clusters_far_apart": np.concatenate([RNG.random((25, 2)), RNG.random((25, 2)) + 1e9]),
    "nearly_on_a_line": RNG.random((40, 2)) * [1.0, 1e-17],
    "any_exponent": np.ldexp(RNG.random((40, 2)), RNG.integers(-1020, 1000, (40, 2))),
    "huge": RNG.uniform(-1, 1, (30, 2)) * 1.7e308,
    "subnormal": RNG.integers(-9, 10, (40, 2)) * 5e-324,
}
every_set = pytest.mark.parametrize("name", SETS)
every_dtype = pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)


def points_of(name: str, dtype: Any) -> Array:
    limit = np.finfo(dtype).max
    return np.clip(SETS[name], -limit, limit).astype(dtype)


@every_set
@every_dtype
def test_any_set_is_triangulated(name: str, dtype: Any) -> None:
    points = points_of(name, dtype)
    index = vc.Delaunay(points, cutoff=1.0)
    assert index.is_delaunay()
    check_structure(index, points)
    check_circles(index.triangles, points)


@every_set
def test_the_order_of_the_points_does_not_matter(name: str) -> None:
    """Not even for ties: the triangulation depends on the positions alone."""
    points, order = SETS[name], RNG.permutation(len(SETS[name]))
    triangles, shuffled = vc.Delaunay(points, cutoff=1.0).triangles, vc.Delaunay(points[order], cutoff=1.0).triangles
    places = {place: k for k, place in enumerate(map(tuple, points.tolist()))}
    number = np.array([places[place] for place in map(tuple, points.tolist())], dtype=int)
    assert canonical(number[triangles]) == canonical(number[order[shuffled]])


def test_ties_are_cut_away_from_the_greatest_point() -> None:
    square = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    assert [1, 2] in vc.Delaunay(square, cutoff=1.0).edges.tolist()
    assert [0, 3] not in vc.Delaunay(square, cutoff=1.0).edges.tolist()


@every_dtype
@pytest.mark.parametrize("name", [name for name in BUILDERS if "periodic" not in name])
def test_the_hard_cases_of_the_search_are_triangulated(name: str, dtype: Any) -> None:
    problem, _ = hard_case(name, dtype, 2)
    index = vc.Delaunay(problem.points, cutoff=problem.cutoff)
    assert index.is_delaunay()
    check_structure(index, problem.points)


@every_dtype
@pytest.mark.parametrize("n", [4, 10, 100, 1000, 20_000])
def test_scipy_finds_the_same_edges(n: int, dtype: Any) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(n).random((n, 2)).astype(dtype)
    index = vc.Delaunay(points, cutoff=0.1)
    theirs = np.unique(np.sort(sides(spatial.Delaunay(points.astype(float)).simplices), axis=1), axis=0)
    assert np.array_equal(np.unique(index.edges, axis=0), theirs)
    assert index.is_delaunay()


@every_dtype
def test_scipy_finds_the_same_nearest_neighbours(dtype: Any) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    points = np.random.default_rng(3).random((5000, 2)).astype(dtype)
    index = vc.Delaunay(points, cutoff=0.1)
    assert np.array_equal(index.nearest_exactly(), spatial.cKDTree(points).query(points, 2)[1][:, 1])


@every_set
def test_the_nearest_is_the_nearest_and_joined(name: str) -> None:
    points = SETS[name]
    index = vc.Delaunay(points, cutoff=1.0)
    nearest = index.nearest_exactly()
    assert nearest.dtype == np.int32
    if len(points) < 2:
        assert nearest.tolist() == [-1] * len(points)
        return
    joined = set(map(tuple, index.edges.tolist()))
    places = [(Fraction(x), Fraction(y)) for x, y in points.tolist()]
    for k, (x, y) in enumerate(places):
        expected = min((i for i in range(len(places)) if i != k), key=lambda i: distance2(places[i], x, y))
        assert nearest[k] == expected
        assert (min(k, expected), max(k, expected)) in joined


def distance2(place: tuple[Fraction, Fraction], x: Fraction, y: Fraction) -> Fraction:
    return (place[0] - x) ** 2 + (place[1] - y) ** 2


@every_set
def test_locate_returns_the_triangle_that_contains_a_position(name: str) -> None:
    points = SETS[name]
    index = vc.Delaunay(points, cutoff=1.0)
    triangles = index.triangles
    own = index.locate(points)
    assert own.dtype == np.int32
    if len(triangles) == 0:
        assert np.all(own == -1)
        return
    assert all((points[triangles[t]] == p).all(axis=1).any() for t, p in zip(own, points, strict=True))
    if np.abs(points).max() > 1e300:
        return
    low, high = points.min(axis=0), points.max(axis=0)
    places = np.random.default_rng(5).uniform(low - (high - low) / 4, high + (high - low) / 4, (50, 2))
    for place, t in zip(places.tolist(), index.locate(places), strict=True):
        holds = [
            all(vc._core.orient2d(*points[side].tolist(), place) >= 0 for side in ([a, b], [b, c], [c, a]))
            for a, b, c in triangles.tolist()
        ]
        assert holds[t] if t >= 0 else not any(holds)
