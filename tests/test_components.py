"""Connected components: those of SciPy's graph of the oracle's pairs, numbered by their first body."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from each import check_each
from oracle import Array, Pairs, exact_pairs
from problem import Problem
from strategies import problems, sized_problems
from structures import STRUCTURES


def expected_labels(pairs: Pairs, n: int) -> Array:
    """Labels by repeated minima: a body has the smallest number of its component."""
    least = np.arange(n)
    while True:
        lower = least.copy()
        np.minimum.at(lower, pairs.i, least[pairs.j])
        if np.array_equal(lower, least):
            return np.unique(least, return_inverse=True)[1]
        least = lower


@given(problem=problems())
def test_components_are_those_of_the_pairs(problem: Problem) -> None:
    assert problem.points is not None
    expected = expected_labels(exact_pairs(**problem.bodies), len(problem.points))
    labels = vc.components(**problem.bodies)
    assert labels.dtype == np.int32
    assert labels.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", ["spheres", "boxes"])
def test_bodies_with_a_size_have_components(kind: str) -> None:
    @given(problem=sized_problems(kind))
    def check(problem: Problem) -> None:
        expected = expected_labels(exact_pairs(**problem.bodies), len(problem.positions))
        assert vc.components(**problem.bodies).tolist() == expected.tolist()

    check()


def test_every_structure_and_thread_count_gives_the_labels_of_scipy() -> None:
    graph = pytest.importorskip("scipy.sparse.csgraph")
    cloud = np.random.default_rng(3).random((6000, 3))

    def check(structure: Any) -> None:
        points = structure.flatten(cloud)
        cutoff = 0.035 if points.shape[1] == 3 else 0.01
        box = (1.0,) * points.shape[1] if structure.periodic else None
        matrix = vc.neighbors(points, cutoff, box=box).to_scipy()
        count, expected = graph.connected_components(matrix, directed=False)
        assert 100 < count < 5900, "the case is too simple"
        first = np.unique(expected, return_index=True)[1]
        expected = np.argsort(np.argsort(first))[expected]
        labels = vc.components(points, cutoff, box=box, structure=structure.type)
        assert labels.tolist() == expected.tolist()
        with vc.threads(1):
            assert vc.components(points, cutoff, box=box, structure=structure.type).tolist() == expected.tolist()

    check_each([structure for structure in STRUCTURES if not structure.label], check, at_least=9)


def test_chains_and_nothing() -> None:
    chain = np.random.default_rng(0).permutation(np.arange(5000.0))
    assert (vc.components(np.stack([chain, 0 * chain], 1), 1.0) == 0).all()
    assert vc.components(np.zeros((0, 3)), 1.0).tolist() == []
    assert vc.components([[0.0, 0.0], [5.0, 0.0]], 1.0).tolist() == [0, 1]
