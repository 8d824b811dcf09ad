"""Few queries of an index with many bodies: far apart, in clusters, outside, on bodies."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import vicinal as vc
from compare import ask, assert_same_pairs
from each import check_each
from oracle import Pairs, exact_pairs
from structures import STRUCTURES

CLOUD = np.random.default_rng(3).random((6000, 3))
CUTOFFS = {2: 0.02, 3: 0.07}
RNG = np.random.default_rng(4)
SETS = [
    CLOUD[:1],
    RNG.random((3, 3)),
    RNG.random((40, 3)) * 1.4 - 0.2,
    np.concatenate([0.001 * RNG.random((10, 3)), 1 - 0.001 * RNG.random((10, 3))]),
]


@cache
def neighbors_of(number: int, dim: int, *, periodic: bool) -> Pairs:
    """What the oracle finds; computed once for all structures."""
    box = (1.0, 1.0, 1.0)[:dim] if periodic else None
    return exact_pairs(CLOUD[:, :dim].copy(), CUTOFFS[dim], box, SETS[number][:, :dim].copy())


def test_every_structure_finds_the_neighbours_of_few_queries() -> None:
    def check(structure: Any) -> None:
        points = structure.flatten(CLOUD)
        dim = points.shape[1]
        for box in (None, (1.0, 1.0, 1.0)[:dim]):
            if not structure.lives_in(dim, box):
                continue
            index = structure.build(points=points, cutoff=CUTOFFS[dim], box=box, size=CUTOFFS[dim])
            for number, given in enumerate(SETS):
                expected = neighbors_of(number, dim, periodic=box is not None)
                found = ask(index.pairs, "points", queries=structure.flatten(given), sort=True)
                assert_same_pairs(found, expected)

    check_each([s for s in STRUCTURES if not s.label and s.name != "Delaunay"], check, at_least=7)


def test_arrays_and_lists_give_the_same_pairs() -> None:
    """Arrays of points in open space take a shorter way than other input."""
    rng = np.random.default_rng(5)
    for n in (1, 2, 10, 100, 3000):
        for dtype in (np.float64, np.float32):
            for dim in (2, 3):
                points = rng.random((n, dim)).astype(dtype)
                cutoff = float(0.5 / n ** (1 / dim) + 0.1)
                for options in ({}, {"half": False}, {"want": "ijdDS"}, {"want": "dj", "half": False}):
                    short = vc.pairs(points, cutoff, sort=True, **options)
                    long = vc.pairs(points, cutoff, sort=True, structure="CellSorting", **options)
                    assert all(np.array_equal(a, b) for a, b in zip(short, long, strict=True))
                    assert all(a.dtype == b.dtype for a, b in zip(short, long, strict=True))
                strided = np.repeat(points, 2, axis=0)[::2]
                assert not strided.flags.c_contiguous or n == 1
                found, expected = (vc.pairs(given, cutoff, sort=True) for given in (strided, points))
                assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
