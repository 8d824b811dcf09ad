"""Insertion and removal: after any sequence of changes, an index equals a new one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

import vicinal as vc
from cases import BOTH
from triangulations import canonical, check_structure

# A small lattice: duplicates, collinear points and cocircular points are the rule.
seeds = st.integers(0, 2**32)
spans = st.sampled_from([1, 3, 8, 1000])


def places(seed: int, n: int, span: int) -> Any:
    return np.random.default_rng(seed).integers(0, span + 1, (n, 2)) / 4


class Life(RuleBasedStateMachine):
    """An index, and the plain array of its points."""

    def __init__(self) -> None:
        super().__init__()
        self.points = np.zeros((0, 2))
        self.index = vc.Delaunay(self.points, cutoff=1.0)

    @initialize(
        seed=seeds, n=st.integers(0, 40), span=spans, dtype=st.sampled_from(BOTH), slack=st.sampled_from([0, 1])
    )
    def begin(self, seed: int, n: int, span: int, dtype: Any, slack: float) -> None:
        self.points = places(seed, n, span).astype(dtype)
        self.index = vc.Delaunay(self.points, cutoff=1.0, slack=slack)

    @rule(seed=seeds, n=st.integers(0, 12), span=spans)
    def insert(self, seed: int, n: int, span: int) -> None:
        more = places(seed, n, span).astype(self.points.dtype)
        ids = self.index.insert(more)
        assert ids.tolist() == list(range(len(self.points), len(self.points) + n))
        self.points = np.concatenate([self.points, more])

    @rule(seed=seeds, share=st.sampled_from([0.0, 0.05, 0.3, 1.0]))
    def remove(self, seed: int, share: float) -> None:
        count = int(np.ceil(share * len(self.points)))
        ids = np.random.default_rng(seed).permutation(len(self.points))[:count]
        self.index.remove(ids)
        self.points = np.delete(self.points, ids, axis=0)

    @rule(seed=seeds, step=st.sampled_from([0, 1, 4]))
    def move(self, seed: int, step: int) -> None:
        moves = np.random.default_rng(seed).integers(-step, step + 1, self.points.shape) / 4
        self.points = (self.points + moves).astype(self.points.dtype)
        self.index.update(self.points)

    @invariant()
    def the_pairs_are_those_of_a_new_index(self) -> None:
        assert len(self.index) == len(self.points) == self.index.stats.bodies
        for ours, theirs in zip(
            self.index.pairs(want="ijd", sort=True),
            vc.pairs(self.points, cutoff=1.0, want="ijd", sort=True),
            strict=True,
        ):
            assert np.array_equal(ours, theirs)

    @rule()
    def look_at_the_triangulation(self) -> None:
        assert self.index.is_delaunay()
        fresh = vc.Delaunay(self.points, cutoff=1.0)
        assert canonical(self.index.triangles) == canonical(fresh.triangles)
        assert self.index.nearest_exactly().tolist() == fresh.nearest_exactly().tolist()
        check_structure(self.index, self.points)


TestLife = Life.TestCase
TestLife.settings = settings(max_examples=max(20, settings().max_examples // 2), stateful_step_count=15)


def test_points_are_inserted_one_by_one_into_a_large_set() -> None:
    rng = np.random.default_rng(51)
    points = rng.random((2000, 2))
    index = vc.Delaunay(points[:1900], cutoff=0.05)
    for k in range(1900, 2000, 10):
        index.insert(points[k : k + 10])
        assert index.stats.details["vertices"] == k + 10
    assert canonical(index.triangles) == canonical(vc.Delaunay(points, cutoff=0.05).triangles)
    index.remove(np.arange(0, 2000, 20))
    rest = np.delete(points, np.arange(0, 2000, 20), axis=0)
    assert index.is_delaunay()
    assert canonical(index.triangles) == canonical(vc.Delaunay(rest, cutoff=0.05).triangles)
    index.update(rest + 1e-4)
    assert index.is_delaunay()


def test_the_input_of_an_insertion_may_change_afterwards() -> None:
    index = vc.Delaunay([[0.0, 0.0]], cutoff=1.0)
    more = np.array([[0.5, 0.0], [9.0, 9.0]])
    index.insert(more)
    more[:] = 100
    assert index.count().tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("ids", "message"),
    [([3], "3"), ([-1], "-1"), ([0, 1, 0], "0"), ([0.0], "float64"), ([[0]], "shape"), (["a"], "dtype")],
)
def test_wrong_numbers_are_refused(ids: Any, message: str) -> None:
    index = vc.Delaunay(np.eye(3)[:, :2], cutoff=1.0)
    with pytest.raises(vc.InputError, match=f"ids must .*{message}"):
        index.remove(ids)
    assert len(index) == 3


def test_points_of_another_kind_are_not_inserted() -> None:
    index = vc.Delaunay(np.eye(3)[:, :2], cutoff=1.0)
    for wrong, message in (
        (np.ones((1, 3)), "2 columns.* got 3"),
        ([[np.nan, 0.0]], "row 0"),
    ):
        with pytest.raises(vc.InputError, match=message):
            index.insert(wrong)
        with pytest.raises(vc.InputError, match=message):
            index.locate(wrong)
    assert index.insert([]).tolist() == []
    assert len(index) == 3
