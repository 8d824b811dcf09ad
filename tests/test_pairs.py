"""vc.pairs: the correct pairs for every option."""

from __future__ import annotations

import subprocess
import sys
from itertools import permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, START_SECONDS, hard_case, hard_problem
from chooser import LIMITS, all_pairs_limit, each_limit
from compare import ALL, ask, assert_same_bits, assert_same_half, assert_same_pairs, assert_sorted
from each import check_each
from oracle import Pairs, exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems, sized_problems

CLOUD = np.random.default_rng(11).random((600, 3))


@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@each_limit
def test_hard_cases_are_answered_as_the_oracle_does(dtype: Any, dim: int, limit: int | None) -> None:
    def check(name: str) -> None:
        problem, expected = hard_case(name, dtype, dim)
        assert_same_pairs(ask(vc.pairs, problem.kind, **problem.bodies, half=False, sort=True), expected)
        assert_same_half(ask(vc.pairs, problem.kind, **problem.bodies), expected)

    with all_pairs_limit(limit):
        check_each(BUILDERS | SIZED, check)


def test_the_hard_cases_reach_several_structures() -> None:
    """Which of them depends on the measured seconds; the contract suite runs every structure by its name."""
    with all_pairs_limit(-1):
        problems = [hard_problem(name, np.float32, dim) for name in BUILDERS | SIZED for dim in DIMS]
        structures = {vc.choose(**problem.bodies).structure for problem in problems}
    assert "Exhaustive" in structures  # a single body
    assert len(structures) >= 5


@given(problem=problems())
def test_any_problem_is_answered_as_the_oracle_does(problem: Problem) -> None:
    expected = exact_pairs(problem.points, **problem.space)
    for limit in LIMITS.values():
        with all_pairs_limit(limit):
            full = Pairs(*vc.pairs(problem.points, **problem.space, want=ALL, half=False, sort=True))
            assert_same_pairs(full, expected)
            assert_same_half(Pairs(*vc.pairs(problem.points, **problem.space, want=ALL)), expected)


@given(problem=st.sampled_from(["spheres", "boxes"]).flatmap(sized_problems))
def test_bodies_of_any_size_are_answered_as_the_oracle_does(problem: Problem) -> None:
    expected = exact_pairs(**problem.bodies)
    of_queries = exact_pairs(**problem.bodies, **problem.second)
    for limit in LIMITS.values():
        with all_pairs_limit(limit):
            assert_same_pairs(ask(vc.pairs, problem.kind, **problem.bodies, half=False, sort=True), expected)
            assert_same_half(ask(vc.pairs, problem.kind, **problem.bodies), expected)
            assert_same_pairs(ask(vc.pairs, problem.kind, **problem.bodies, **problem.second, sort=True), of_queries)


@pytest.mark.parametrize("space", [{}, {"box": 1.0}, {"box": (1.0, 2.0, None)}], ids=["open", "periodic", "slab"])
def test_a_search_makes_at_most_two_calls_of_the_core(space: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def counted(name: str, function: Any) -> Any:
        def call(*args: Any, **kwargs: Any) -> Any:
            calls.append(name)
            return function(*args, **kwargs)

        return call

    calls: list[str] = []
    expected = vc.pairs(CLOUD, 0.1, sort=True, **space)  # the first search also reads what is kept for later ones
    for name, function in vars(vc._core).items():
        if callable(function) and not isinstance(function, type):
            monkeypatch.setattr(vc._core, name, counted(name, function))
    found = vc.pairs(CLOUD, 0.1, sort=True, **space)
    assert 1 <= len(calls) <= 2, calls
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_by_default_each_pair_comes_once() -> None:
    i, j = vc.pairs(CLOUD, cutoff=0.1)
    assert np.all(i != j)
    unordered = {frozenset(pair) for pair in zip(i.tolist(), j.tolist(), strict=True)}
    assert len(unordered) == len(i) == len(exact_pairs(CLOUD, 0.1)) // 2 > 0


def test_full_means_both_directions() -> None:
    i, j = vc.pairs(CLOUD, cutoff=0.1, half=False)
    both = set(zip(i.tolist(), j.tolist(), strict=True))
    assert len(both) == len(i)
    assert both == {(b, a) for a, b in both}


def test_sorted_means_by_i_then_j_with_i_below_j() -> None:
    i, j = vc.pairs(CLOUD, cutoff=0.1, sort=True)
    assert np.all(i < j)
    assert np.array_equal(np.lexsort((j, i)), np.arange(len(i)))


def test_sorted_images_come_in_the_order_of_their_shifts() -> None:
    pairs = Pairs(*vc.pairs(CLOUD[:9], cutoff=1.1, box=(1.0, 0.6, None), want=ALL, half=False, sort=True))
    assert_sorted(pairs)
    assert len(np.unique(np.stack([pairs.i, pairs.j]), axis=1).T) < len(pairs)


@pytest.mark.parametrize("want", ["".join(p) for k in range(1, 6) for p in permutations("ijdDS", k)][::7])
@pytest.mark.parametrize("box", [None, (1.0, None, 0.7)])
def test_arrays_come_in_the_order_they_are_wanted(want: str, box: Any) -> None:
    points = CLOUD[:120]
    everything = Pairs(*vc.pairs(points, cutoff=0.2, box=box, want=ALL, sort=True))
    pairs = vc.pairs(points, cutoff=0.2, box=box, want=want, sort=True)
    assert isinstance(pairs, tuple)
    for letter, array in zip(want, pairs, strict=True):
        assert_same_bits(array, getattr(everything, letter))


@pytest.mark.parametrize("dtype", BOTH)
def test_vectors_lead_from_i_to_j_and_are_as_long_as_the_distance(dtype: Any) -> None:
    points = CLOUD.astype(dtype)
    for half in (True, False):
        i, j, d, D, S = vc.pairs(points, cutoff=0.15, want="ijdDS", half=half)
        assert np.array_equal(D, points[j] - points[i])
        assert np.array_equal(d, np.sqrt((D[:, 0] * D[:, 0] + D[:, 1] * D[:, 1]) + D[:, 2] * D[:, 2]))
        assert not S.any()


def test_the_definition_itself() -> None:
    """The definition of the documentation, written out in NumPy without helper functions."""
    points = CLOUD[:300].astype(np.float32)
    dx, dy, dz = (points[None, :, axis] - points[:, None, axis] for axis in range(3))
    r = np.float32(0.2)
    within = (dx * dx + dy * dy) + dz * dz <= r * r
    i, j = np.nonzero(np.triu(within, 1))
    pairs = vc.pairs(points, cutoff=0.2, sort=True)
    assert np.array_equal(pairs[0], i)
    assert np.array_equal(pairs[1], j)


def test_the_cutoff_is_rounded_to_the_dtype_of_the_points() -> None:
    """0.1 is less in float64 than in float32: two float32 points 0.1 apart are still a pair."""
    points = np.array([[0, 0], [0.1, 0]], np.float32)
    assert float(points[1, 0]) > 0.1
    assert len(vc.pairs(points, cutoff=0.1)[0]) == 1
    assert len(vc.pairs(points.astype(np.float64), cutoff=0.1)[0]) == 0


def test_squares_are_not_fused() -> None:
    """Fused multiply-adds decide some of these ties the other way."""
    rng = np.random.default_rng(0)
    for dtype in BOTH:
        r = dtype(1)
        angle, tilt = rng.uniform(0, 2 * np.pi, 4000), rng.uniform(-1, 1, 4000)
        shell = np.stack([np.cos(angle) * np.sqrt(1 - tilt**2), np.sin(angle) * np.sqrt(1 - tilt**2), tilt], axis=1)
        queries, points = np.zeros((1, 3), dtype), shell.astype(dtype)
        x, y, z = points.T
        within = (x * x + y * y) + z * z <= r * r
        assert 1000 < np.count_nonzero(within) < 3900
        j = vc.pairs(points, cutoff=1.0, queries=queries, want="j", sort=True)[0]
        assert np.array_equal(j, np.flatnonzero(within))


def test_later_searches_do_not_change_results() -> None:
    """Small results are copied out of memory that the next search reuses, large ones keep theirs."""
    rng = np.random.default_rng(8)
    kept = []
    for n in (50, 800, 50, 9000, 800, 3000):
        points = rng.random((n, 3))
        pairs = vc.pairs(points, cutoff=(30 / n) ** (1 / 3), want="ijdD", sort=True)
        kept.append((pairs, [column.copy() for column in pairs]))
    for pairs, before in kept:
        assert len(pairs[0]) > 0
        for column, copy in zip(pairs, before, strict=True):
            assert_same_bits(column, copy)


@pytest.mark.skipif(sys.platform != "linux", reason="address space can be limited only there")
def test_few_bodies_need_no_more_address_space_than_is_allowed() -> None:
    script = """
import resource, numpy, vicinal
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**26, resource.RLIM_INFINITY))
points = numpy.random.default_rng(1).random((9000, 3))
for box in (None, 1.0):
    print(len(vicinal.pairs(points, cutoff=0.05, box=box)[0]))
"""
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=START_SECONDS, check=False
    )
    points = np.random.default_rng(1).random((9000, 3))
    expected = [len(vc.pairs(points, cutoff=0.05, box=box)[0]) for box in (None, 1.0)]
    assert result.stdout.split() == [str(number) for number in expected], result.stderr
