"""Pairs in chunks: together the pairs of one search, each chunk no larger than wanted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import ALL, assert_same_half, assert_same_pairs
from each import check_each
from oracle import Pairs, exact_pairs
from problem import Problem
from refusals import Refusal, check_refusal
from strategies import problems
from structures import STRUCTURES
from vicinal import slabs

CLOUD = np.random.default_rng(2).random((20_000, 3))


def joined(chunks: Any, most: int) -> Pairs:
    """All chunks as one result; each must be of the wanted size."""
    found = list(chunks)
    assert all(0 < len(columns[0]) <= most for columns in found)
    return Pairs(*(np.concatenate(columns) for columns in zip(*found, strict=True)))


@given(problem=problems(with_queries=True), most=st.sampled_from([1, 3, 50, 10**9]))
def test_chunks_hold_the_pairs_of_the_oracle(problem: Problem, most: int) -> None:
    expected = exact_pairs(**problem.bodies)
    if len(expected):
        assert_same_half(joined(vc.pairs(**problem.bodies, want=ALL, chunks=most), most), expected)
        full = joined(vc.pairs(**problem.bodies, want=ALL, half=False, chunks=most), most)
        assert_same_pairs(full.sorted(), expected)
    else:
        assert list(vc.pairs(**problem.bodies, chunks=most)) == []
    crossed = exact_pairs(**problem.bodies, **problem.second)
    if len(crossed):
        chunks = vc.pairs(**problem.bodies, **problem.second, want=ALL, chunks=most)
        assert_same_pairs(joined(chunks, most).sorted(), crossed)


def test_every_structure_and_thread_count_finds_the_same() -> None:
    def check(structure: Any) -> None:
        points = structure.flatten(CLOUD)
        cutoff = 0.05 if points.shape[1] == 3 else 0.01
        expected = vc.pairs(points, cutoff, want=ALL, half=False, sort=True)
        for most in (1000, 10**6):
            chunks = vc.pairs(points, cutoff, want=ALL, structure=structure.type, chunks=most)
            assert_same_half(joined(chunks, most), Pairs(*expected))
            with vc.threads(1):
                chunks = vc.pairs(points, cutoff, want=ALL, half=False, structure=structure.type, chunks=most)
                assert_same_pairs(joined(chunks, most).sorted(), Pairs(*expected))

    slow = {"Exhaustive", "Delaunay"}
    check_each([s for s in STRUCTURES if not s.label and s.name not in slow], check, at_least=7)


@given(problem=problems(), per_slab=st.sampled_from([1, 3, 40]))
def test_slabs_find_the_pairs_of_the_oracle(problem: Problem, per_slab: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slabs, "LARGE", 2)
        patch.setattr(slabs, "PER_SLAB", per_slab)
        patch.setattr(slabs, "ROWS", 7)
        expected = exact_pairs(**problem.bodies)
        if len(expected):
            assert_same_half(joined(vc.pairs(**problem.bodies, want=ALL, chunks=50), 50), expected)
        else:
            assert list(vc.pairs(**problem.bodies, chunks=50)) == []


def test_slabs_of_many_points_are_searched_one_after_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    searched = []
    made = slabs.Slabs.members
    monkeypatch.setattr(slabs, "LARGE", len(CLOUD))
    monkeypatch.setattr(slabs, "PER_SLAB", 3000)
    monkeypatch.setattr(slabs.Slabs, "members", lambda self, slab: searched.append(slab) or made(self, slab))
    expected = Pairs(*vc.pairs(CLOUD, 0.05, box=1.0, want=ALL, half=False, sort=True))
    assert_same_half(joined(vc.pairs(CLOUD, 0.05, box=1.0, want=ALL, chunks=5000), 5000), expected)
    # Each alone, with the next as its neighbour, and the last as the neighbour of the first.
    assert searched == [0, 1, 6, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]


def test_chunks_fit_where_density_changes() -> None:
    points = np.concatenate([CLOUD, 0.01 * CLOUD[:1500]])
    most = 10_000
    found = joined(vc.pairs(points, 0.01, want=ALL, chunks=most), most)
    assert len(found) == len(vc.pairs(points, 0.01)[0]) > 50 * most


def test_arguments_are_checked_before_the_first_chunk() -> None:
    refusals = [
        Refusal("none", lambda: vc.pairs(CLOUD, 0.1, chunks=0), "chunks", "0"),
        Refusal("sort", lambda: vc.pairs(CLOUD, 0.1, sort=True, chunks=9), "sort", "True"),
        Refusal("want", lambda: vc.pairs(CLOUD, 0.1, want="x", chunks=9), "want", "x"),
        Refusal("planes", lambda: vc.pairs(CLOUD, 0.1, planes=([[0] * 3], [[0, 0, 1]]), chunks=9), "planes", "1"),
        Refusal("half", lambda: vc.pairs(CLOUD, 0.1, queries=CLOUD, half=False, chunks=9), "half", "False"),
    ]
    check_each(refusals, check_refusal)


def test_nothing_gives_no_chunk() -> None:
    assert list(vc.pairs(np.zeros((0, 3)), 1.0, chunks=5)) == []
    with pytest.raises(StopIteration):
        next(iter(vc.pairs([[0.0, 0.0], [9.0, 0.0]], 1.0, chunks=5)))
