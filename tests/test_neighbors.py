"""vc.neighbors: one row per body."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, hard_case
from chooser import LIMITS, all_pairs_limit, each_limit
from compare import assert_same_pairs, from_rows, rows_of
from each import check_each
from oracle import exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems

CLOUD = np.random.default_rng(12).random((500, 3))


@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@each_limit
def test_hard_cases_are_answered_as_the_oracle_does(dtype: Any, dim: int, limit: int | None) -> None:
    def check(name: str) -> None:
        problem, expected = hard_case(name, dtype, dim)
        assert_same_pairs(rows_of(vc.neighbors, problem.kind, **problem.bodies, sort=True), expected)

    with all_pairs_limit(limit):
        check_each(BUILDERS | SIZED, check)


@given(problem=problems())
def test_any_problem_is_answered_as_the_oracle_does(problem: Problem) -> None:
    expected = exact_pairs(problem.points, **problem.space)
    for limit in LIMITS.values():
        with all_pairs_limit(limit):
            rows = vc.neighbors(problem.points, **problem.space, want="jSdD")
        assert_same_pairs(from_rows(rows).sorted(), expected)


def test_row_k_holds_the_neighbours_of_body_k() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    assert len(rows) == len(CLOUD)
    for k in range(len(CLOUD)):
        dx, dy, dz = (CLOUD - CLOUD[k]).T
        near = np.flatnonzero(dx * dx + dy * dy + dz * dz <= 0.2 * 0.2)
        assert np.array_equal(np.sort(rows[k]), near[near != k])


def test_a_row_is_a_view() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    assert np.shares_memory(rows[7], rows.indices)
    assert rows[7].dtype == np.int32
    assert np.array_equal(rows[-1], rows[len(rows) - 1])


def test_a_row_out_of_range_is_an_index_error() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    for k in (len(CLOUD), -len(CLOUD) - 1):
        with pytest.raises(IndexError):
            rows[k]


def test_rows_can_be_looped_over() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    assert np.array_equal(np.concatenate(list(rows)), rows.indices)


def test_offsets_bound_the_rows() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    assert rows.offsets.dtype == np.int64
    assert rows.offsets.shape == (len(CLOUD) + 1,)
    assert (rows.offsets[0], rows.offsets[-1]) == (0, len(rows.indices))
    assert np.array_equal(rows.counts, np.diff(rows.offsets))
    assert np.array_equal(rows.counts, vc.count(CLOUD, cutoff=0.2))


@pytest.mark.parametrize(
    ("want", "given_fields"),
    [
        ("j", {"indices"}),
        ("jd", {"indices", "distances"}),
        ("jD", {"indices", "vectors"}),
        ("jS", {"indices", "shifts"}),
        ("jdDS", {"indices", "distances", "vectors", "shifts"}),
    ],
)
def test_only_requested_columns_are_returned(want: str, given_fields: set[str]) -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.1, want=want)
    there = {name for name in ("indices", "distances", "vectors", "shifts") if getattr(rows, name) is not None}
    assert there == given_fields


def test_sorted_rows_ascend() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.3, sort=True)
    assert all(np.all(np.diff(row) > 0) for row in rows)
    assert max(len(row) for row in rows) > 1


def test_an_image_of_a_body_is_its_neighbour() -> None:
    rows = vc.neighbors(np.array([[0.2, 0.3]]), cutoff=1.0, box=1.0, want="jS", sort=True)
    assert rows.indices.tolist() == [0, 0, 0, 0]
    assert rows.shifts.tolist() == [[-1, 0], [0, -1], [0, 1], [1, 0]]


def test_rows_of_queries() -> None:
    others = CLOUD[:50] + 0.01
    rows = vc.neighbors(CLOUD, cutoff=0.2, queries=others, want="jSdD", sort=True)
    assert len(rows) == 50
    assert_same_pairs(from_rows(rows), exact_pairs(CLOUD, 0.2, queries=others))


def test_neighbors_do_not_change() -> None:
    rows = vc.neighbors(CLOUD, cutoff=0.2)
    with pytest.raises(FrozenInstanceError):
        rows.indices = np.zeros(0, np.int32)


def test_to_scipy_gives_the_adjacency_matrix() -> None:
    pytest.importorskip("scipy")
    matrix = vc.neighbors(CLOUD, cutoff=0.2).to_scipy()
    expected = exact_pairs(CLOUD, 0.2)
    assert matrix.shape == (500, 500)
    assert matrix.nnz == len(expected)
    dense = np.zeros((500, 500))
    dense[expected.i, expected.j] = 1
    assert np.array_equal(matrix.toarray(), dense)


def test_to_scipy_gives_distances_if_there_are_any() -> None:
    pytest.importorskip("scipy")
    points = np.concatenate([CLOUD, CLOUD[:1]])  # a distance of zero is an entry, too
    matrix = vc.neighbors(points, cutoff=0.2, want="jd", sort=True).to_scipy()
    expected = exact_pairs(points, 0.2)
    assert matrix.nnz == len(expected)
    assert np.array_equal(matrix.toarray()[expected.i, expected.j], expected.d)


def test_to_scipy_of_queries_has_a_row_per_query_and_a_column_per_point() -> None:
    pytest.importorskip("scipy")
    matrix = vc.neighbors(CLOUD, cutoff=0.2, queries=CLOUD[:30]).to_scipy()
    assert matrix.shape == (30, 500)
    assert np.all(matrix.diagonal() == 1)


def test_the_adjacency_matrix_can_be_multiplied() -> None:
    """300 bodies that all are neighbours have 298 common neighbours; an int8 would overflow."""
    pytest.importorskip("scipy")
    matrix = vc.neighbors(np.random.default_rng(0).random((300, 2)), 2.0).to_scipy()
    common = (matrix @ matrix).toarray()
    assert common.max() == 299
    assert common.min() == 298
