"""BVH: a tree that follows its bodies, suits any sizes, and takes triangles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH, DIMS

RNG = np.random.default_rng(3)
FLOOR = np.array(
    [[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]], [[4.0, 4.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]]
)


def answers(index: Any, **options: Any) -> list[list[Any]]:
    return [column.tolist() for column in index.pairs(want="ijS", sort=True, **options)]


def mixed(n: int, dim: int = 3, spread: float = 40.0) -> tuple[Any, Any]:
    """Spheres with radii log-uniform from 1 to `spread`, at moderate filling."""
    radii = np.exp(RNG.uniform(0, np.log(spread), n))
    side = (8 * (radii**dim).sum()) ** (1 / dim)
    return RNG.uniform(0, side, (n, dim)), radii


@pytest.mark.parametrize("leaf", [1, 2, 7, 40, 256])
@pytest.mark.parametrize("dim", DIMS)
def test_the_leaf_changes_candidates_not_pairs(leaf: int, dim: int) -> None:
    points, radii = mixed(1500, dim)
    index = vc.BVH(points, radii=radii, leaf=leaf)
    assert answers(index) == answers(vc.Exhaustive(points, radii=radii))


def test_smaller_leaves_propose_fewer_candidates() -> None:
    points, radii = mixed(5000)
    proposed = []
    for leaf in (8, 32, 128):
        index = vc.BVH(points, radii=radii, leaf=leaf)
        index.pairs()
        proposed.append(index.stats.candidates)
    assert proposed == sorted(set(proposed))
    assert proposed[-1] < 5000 * 4999 / 2 / 4


def test_one_giant_does_not_spoil_the_search_of_the_others() -> None:
    points = RNG.uniform(0, 60, (20000, 3))
    radii = np.ones(20000)
    alone = vc.BVH(points, radii=radii)
    alone.pairs()
    radii[777] = 25.0
    with_giant = vc.BVH(points, radii=radii)
    with_giant.pairs()
    assert with_giant.stats.details["classes"] > 1
    # It forms a pair with every body near it exactly once.
    assert with_giant.stats.candidates < alone.stats.candidates + 20000 * 3
    assert answers(with_giant) == answers(vc.CellSorting(points, radii=radii))


@pytest.mark.parametrize("dtype", BOTH)
def test_a_stray_body_costs_little(dtype: Any) -> None:
    """All others then share one cell of the curve, which is sorted again along a finer one."""
    points = RNG.random((4000, 3)).astype(dtype)
    alone = vc.BVH(points, cutoff=0.05)
    alone.pairs()
    stray = np.concatenate([points, np.full((1, 3), 1e15, dtype)])
    index = vc.BVH(stray, cutoff=0.05)
    assert answers(index) == answers(alone)
    assert index.stats.candidates < 3 * alone.stats.candidates


def test_all_coincident_bodies_are_found() -> None:
    index = vc.BVH(np.ones((300, 3)), radii=0.0)
    assert len(index.pairs()[0]) == 300 * 299 // 2


@pytest.mark.parametrize("box", [None, 30.0], ids=["open", "periodic"])
def test_small_motion_is_followed_by_a_refit(box: float | None) -> None:
    points = RNG.uniform(0, 30, (3000, 3))
    radii = RNG.uniform(0.3, 1.0, 3000)
    index = vc.BVH(points, radii=radii, box=box)
    for _ in range(3):
        points = points + RNG.normal(0, 0.01, points.shape)
        index.update(points)
        assert answers(index) == answers(vc.Exhaustive(points, radii=radii, box=box))
    assert index.stats.details["refits"] == 3
    assert index.stats.details["rebuilds"] == 0


def test_large_motion_is_followed_by_a_rebuild() -> None:
    points = RNG.uniform(0, 30, (3000, 3))
    index = vc.BVH(points, cutoff=1.0)
    index.update(points[::-1])
    fresh = vc.BVH(points[::-1], cutoff=1.0)
    assert answers(index) == answers(fresh)
    assert index.stats.candidates == fresh.stats.candidates
    assert index.stats.details["rebuilds"] == 1
    assert index.stats.details["refits"] == 0


def test_bodies_that_grow_much_are_followed_by_a_rebuild() -> None:
    points = RNG.uniform(0, 60, (3000, 3))
    radii = np.full(3000, 0.5)
    index = vc.BVH(points, radii=radii)
    radii[::20] = 8.0
    index.update(points, radii=radii)
    assert answers(index) == answers(vc.Exhaustive(points, radii=radii))
    assert index.stats.details["rebuilds"] == 1


@pytest.mark.parametrize("box", [None, (1.0, None, 1.0)], ids=["open", "slab"])
def test_a_refit_after_any_motion_finds_all_pairs(box: Any) -> None:
    points = RNG.random((400, 3))
    index = vc.BVH(points, cutoff=0.1, growth=1e300, box=box)
    for factor in (1.0, 1e-3, 1e6):
        moved = RNG.random((400, 3)) * (factor if box is None else 1)
        index.update(moved)
        for half in (True, False):
            assert answers(index, half=half) == answers(vc.Exhaustive(moved, cutoff=0.1, box=box), half=half)
    details = index.stats.details
    assert details["refits"] + details["rebuilds"] == 3
    assert details["refits"] >= 1


def test_refits_and_searches_do_not_depend_on_the_threads() -> None:
    points, radii = mixed(30000)
    moved = points + RNG.normal(0, 0.3, points.shape)
    seen = set()
    for n in (1, 2, 3):
        with vc.threads(n):
            index = vc.BVH(points, radii=radii)
            index.update(moved)
            index.pairs()
            stats = index.stats
            seen.add((stats.candidates, stats.pairs, *sorted(stats.details.items())))
    assert len(seen) == 1


def test_a_tree_takes_at_most_100_bytes_per_sphere() -> None:
    points, radii = mixed(50000)
    index = vc.BVH(points, radii=radii)
    assert index.stats.bytes <= 100 * 50000
    assert index.stats.details["depth"] < 40
    assert index.stats.details["leaves"] > 50000 / 40


@pytest.mark.parametrize("dtype", BOTH)
def test_every_triangle_a_sphere_touches_is_found(dtype: Any) -> None:
    corners = RNG.uniform(0, 10, (2000, 1, 3)) + RNG.normal(0, 0.2, (2000, 3, 3))
    triangles = corners.astype(dtype)
    points = RNG.uniform(0, 10, (500, 3)).astype(dtype)
    radii = RNG.uniform(0, 0.5, 500).astype(dtype)
    mesh = vc.BVH(triangles=triangles)
    assert len(mesh) == 2000
    i, j = mesh.pairs(queries=points, query_radii=radii, sort=True)
    lower, upper = triangles.min(axis=1), triangles.max(axis=1)
    apart = np.maximum(np.maximum(lower[None] - points[:, None], points[:, None] - upper[None]), 0)
    expected = np.nonzero((apart <= radii[:, None, None]).all(axis=2))
    missing = set(zip(*map(np.ndarray.tolist, expected), strict=True)) - set(zip(i.tolist(), j.tolist(), strict=True))
    assert not missing
    # Rounded outward by one step, so there are hardly any other pairs.
    assert len(i) <= len(expected[0]) + 2


def test_triangles_move_and_join() -> None:
    mesh = vc.BVH(triangles=FLOOR)
    above = np.array([[1.0, 1.0, 5.2]])
    assert [len(column) for column in mesh.pairs(queries=above, query_radii=1.0)] == [0, 0]
    mesh.update(triangles=FLOOR + np.array([0.0, 0.0, 5.0]))
    assert sorted(mesh.pairs(queries=above, query_radii=1.0)[1].tolist()) == [0, 1]
    assert mesh.insert(triangles=FLOOR[:1] + np.array([0.0, 0.0, 5.5])).tolist() == [2]
    assert sorted(mesh.pairs(queries=above, query_radii=1.0)[1].tolist()) == [0, 1, 2]
    assert mesh.pairs(queries=[[1.0, 1.0, 5.0]])[1].tolist() == [0, 1]


def test_no_triangles_have_no_pairs() -> None:
    mesh = vc.BVH(triangles=np.zeros((0, 3, 3)))
    assert [len(column) for column in mesh.pairs(queries=[[0.0, 0.0, 0.0]], query_radii=1.0)] == [0, 0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"triangles": np.zeros((3, 3))}, r"triangles must have shape \(m, 3, 3\).*got \(3, 3\)"),
        ({"triangles": np.zeros((2, 3, 2))}, r"triangles must have shape \(m, 3, 3\).*\(2, 3, 2\)"),
        ({"triangles": [["a"]]}, "triangles"),
        ({"triangles": np.full((2, 3, 3), np.nan)}, r"triangles must be finite.*row 0"),
        ({"triangles": FLOOR, "cutoff": 1.0}, "triangles.*cutoff"),
        ({"triangles": FLOOR, "points": np.zeros((1, 3))}, "triangles.*points"),
        ({"points": np.zeros((1, 3)), "cutoff": 1.0, "leaf": 0}, "leaf must be .* got 0"),
        ({"points": np.zeros((1, 3)), "cutoff": 1.0, "leaf": 2.5}, "leaf must be .* got 2.5"),
        ({"points": np.zeros((1, 3)), "cutoff": 1.0, "growth": 0.5}, "growth must be .* got 0.5"),
        ({"points": np.zeros((1, 3)), "cutoff": 1.0, "growth": np.nan}, "growth must be .* got nan"),
    ],
)
def test_invalid_arguments_raise_a_clear_error(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(vc.InputError, match=words):
        vc.BVH(**arguments)


def test_triangles_are_refused_where_the_bodies_are_others() -> None:
    index = vc.BVH(boxes=(np.zeros((2, 3)), np.ones((2, 3))))
    with pytest.raises(vc.InputError, match="made of triangles"):
        index.update(triangles=FLOOR)
    mesh = vc.BVH(triangles=FLOOR)
    with pytest.raises(vc.InputError, match=r"triangles must have shape"):
        mesh.update(triangles=FLOOR[0])
    with pytest.raises(vc.InputError, match=r"triangles.*boxes"):
        mesh.update(triangles=FLOOR, boxes=(np.zeros((2, 3)), np.ones((2, 3))))
