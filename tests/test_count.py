"""vc.count: the number of neighbours, without storing them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, hard_case, hard_queries
from chooser import LIMITS, all_pairs_limit, each_limit
from each import check_each
from oracle import exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems


@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@each_limit
def test_hard_cases_are_counted_as_the_oracle_does(dtype: Any, dim: int, limit: int | None) -> None:
    def check(name: str) -> None:
        problem, expected = hard_case(name, dtype, dim)
        counts = vc.count(**problem.bodies)
        assert counts.dtype == np.int32
        assert np.array_equal(counts, np.bincount(expected.i, minlength=len(problem.positions)))
        others, expected = hard_queries(name, dtype, dim)
        counts = vc.count(**problem.bodies, **others)
        assert np.array_equal(counts, np.bincount(expected.i, minlength=len(counts)))

    with all_pairs_limit(limit):
        check_each(BUILDERS | SIZED, check)


@given(problem=problems(with_queries=True))
def test_any_problem_is_counted_as_the_oracle_does(problem: Problem) -> None:
    expected = exact_pairs(**problem.bodies)
    of_queries = exact_pairs(**problem.bodies, **problem.second)
    for limit in LIMITS.values():
        with all_pairs_limit(limit):
            counts, query_counts = vc.count(**problem.bodies), vc.count(**problem.bodies, **problem.second)
        assert np.array_equal(counts, np.bincount(expected.i, minlength=len(problem.positions)))
        assert np.array_equal(query_counts, np.bincount(of_queries.i, minlength=len(problem.second["queries"])))


def test_each_pair_is_counted_at_both_ends() -> None:
    points = np.random.default_rng(1).random((2000, 2))
    assert vc.count(points, cutoff=0.05).sum() == 2 * len(vc.pairs(points, cutoff=0.05)[0]) > 0


def test_queries_are_counted_one_by_one() -> None:
    points = np.random.default_rng(1).random((400, 2))
    counts = vc.count(points, cutoff=0.1, queries=points)
    assert np.array_equal(counts, vc.count(points, cutoff=0.1) + 1)
    assert vc.count(points, cutoff=0.1, queries=np.zeros((0, 2))).shape == (0,)
