"""Two sets: every query with every point."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, hard_problem, hard_queries
from chooser import LIMITS, all_pairs_limit, each_limit
from compare import ALL, ask, assert_same_pairs
from each import check_each
from oracle import Pairs, exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems

CLOUD = np.random.default_rng(14).random((800, 3))


def cross_pairs(points: Any, queries: Any, **space: Any) -> Pairs:
    return Pairs(*vc.pairs(points, queries=queries, **space, want=ALL, sort=True))


@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@each_limit
def test_hard_cases_are_answered_as_the_oracle_does(dtype: Any, dim: int, limit: int | None) -> None:
    def check(name: str) -> None:
        problem = hard_problem(name, dtype, dim)
        others, expected = hard_queries(name, dtype, dim)
        assert_same_pairs(ask(vc.pairs, problem.kind, **problem.bodies, **others, sort=True), expected)

    with all_pairs_limit(limit):
        check_each(BUILDERS | SIZED, check)


@given(problem=problems(with_queries=True))
def test_any_queries_are_answered_as_the_oracle_does(problem: Problem) -> None:
    expected = exact_pairs(problem.points, **problem.space, queries=problem.queries)
    for limit in LIMITS.values():
        with all_pairs_limit(limit):
            assert_same_pairs(cross_pairs(problem.points, problem.queries, **problem.space), expected)


def test_i_is_the_query_and_j_the_point() -> None:
    points, queries = np.array([[0.0, 0.0], [5.0, 5.0], [9.0, 9.0]]), np.array([[9.0, 8.5], [5.1, 5.0]])
    i, j, D = vc.pairs(points, queries=queries, cutoff=1.0, want="ijD", sort=True)
    assert (i.tolist(), j.tolist()) == ([0, 1], [2, 1])
    assert D[0].tolist() == [0.0, 0.5]


def test_a_query_at_a_point_finds_the_point() -> None:
    i, j = vc.pairs(CLOUD, queries=CLOUD, cutoff=1e-6, sort=True)
    assert np.array_equal(i, np.arange(len(CLOUD)))
    assert np.array_equal(j, i)


@pytest.mark.parametrize("queries", [1, 5, 3000])
def test_either_set_may_be_the_larger(queries: int) -> None:
    others = np.random.default_rng(queries).uniform(-0.5, 1.5, (queries, 3))
    expected = exact_pairs(CLOUD, 0.15, queries=others)
    assert_same_pairs(cross_pairs(CLOUD, others, cutoff=0.15), expected)


def test_queries_may_lie_far_from_all_points() -> None:
    far = np.array([[1e300, 0, 0], [-1e300, 1e15, 0], [0.5, 0.5, 0.5], [0, 0, -1e9]])
    assert_same_pairs(cross_pairs(CLOUD, far, cutoff=0.2), exact_pairs(CLOUD, 0.2, queries=far))


def test_no_queries_or_no_points_give_no_pairs() -> None:
    empty = np.zeros((0, 3))
    assert len(cross_pairs(CLOUD, empty, cutoff=0.2)) == 0
    assert len(cross_pairs(empty, CLOUD, cutoff=0.2)) == 0
    assert vc.neighbors(empty, queries=CLOUD, cutoff=0.2).offsets.tolist() == [0] * 801


def test_an_index_answers_many_sets_of_queries() -> None:
    index = vc.CellSorting(CLOUD, cutoff=0.2)
    for k in range(3):
        others = CLOUD[k::7] + 0.01 * k
        i, j = index.pairs(queries=others, sort=True)
        expected = exact_pairs(CLOUD, 0.2, queries=others)
        assert np.array_equal(i, expected.i)
        assert np.array_equal(j, expected.j)
    own = vc.CellSorting(CLOUD, cutoff=0.2)
    own.pairs(queries=CLOUD[:9])
    assert len(own.pairs(half=False)[0]) == len(exact_pairs(CLOUD, 0.2))


@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
@pytest.mark.parametrize("structure", [vc.CellSorting, vc.HashGrid, vc.BVH])
def test_an_index_takes_the_queries_that_the_functions_take(kind: str, structure: Any) -> None:
    radii = np.full(len(CLOUD), 0.05)
    bodies, others = {
        "points": ({"points": CLOUD, "cutoff": 0.1}, {"queries": CLOUD[::3] + 0.01}),
        "spheres": ({"points": CLOUD, "radii": radii}, {"queries": CLOUD[::3], "query_radii": 0.07}),
        "boxes": ({"boxes": (CLOUD, CLOUD + 0.1)}, {"query_boxes": (CLOUD[::3], CLOUD[::3] + 0.05)}),
    }[kind]
    index = structure(**bodies)
    expected = vc.pairs(**bodies, **others, sort=True)
    assert len(expected[0]) > 300
    assert all(map(np.array_equal, index.pairs(**others, sort=True), expected))
    assert np.array_equal(index.count(**others), vc.count(**bodies, **others))
    assert np.array_equal(index.count(**others), np.bincount(expected[0], minlength=267))
    ours, theirs = index.neighbors(**others, sort=True), vc.neighbors(**bodies, **others, sort=True)
    assert np.array_equal(ours.offsets, theirs.offsets)
    assert np.array_equal(ours.indices, theirs.indices)
    assert np.array_equal(ours.indices, expected[1])
