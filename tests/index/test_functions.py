"""An index that is kept answers what the functions answer, bit for bit, and without a second structure."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from compare import ALL, assert_same_half, assert_same_pairs, from_rows
from each import check_each
from oracle import Array, Pairs
from refusals import Refusal, check_refusal
from structures import STRUCTURES, Structure

RNG = np.random.default_rng(31)
CLOUD = RNG.random((700, 3))
QUERIES = RNG.random((90, 3))
WEIGHTS = RNG.random(700).round(3)
TYPES = RNG.integers(0, 3, 700)
GROUPS = RNG.integers(-1, 40, 700)
EDGES = np.linspace(0.02, 0.11, 8)
CUTOFF = 0.12


def pull(_i: int, j: int, d2: float, v: Any, weights: Array) -> tuple[float, float]:
    return weights[j] * v[0], d2


def spaces(structure: Structure) -> list[Any]:
    return [None, 1.0] if structure.periodic else [None]


def cloud_of(structure: Structure) -> tuple[Array, Array, float]:
    """Points and queries; in the plane with about as many neighbours."""
    cutoff = CUTOFF if max(structure.dims) == 3 else 0.3 * CUTOFF
    return structure.flatten(CLOUD), structure.flatten(QUERIES), cutoff


def joined(chunks: Any) -> Pairs:
    return Pairs(*(np.concatenate(columns) for columns in zip(*chunks, strict=True)))


def test_a_kept_index_answers_what_the_functions_answer() -> None:
    def check(structure: Structure) -> None:
        points, others, cutoff = cloud_of(structure)
        edges = EDGES * cutoff / CUTOFF
        for box in spaces(structure):
            index = structure.build(points + 0.01, cutoff=cutoff, box=box)
            index.update(points)  # the answers are those of the bodies as they are now
            expected = vc.histogram(points, edges, box=box)
            assert expected.sum() > 100
            assert np.array_equal(index.histogram(edges), expected)
            assert np.array_equal(
                index.histogram(edges, types=TYPES, queries=others, query_types=TYPES[:90]),
                vc.histogram(points, edges, types=TYPES, queries=others, query_types=TYPES[:90], box=box),
            )
            sums = index.histogram(edges, weights=WEIGHTS)
            np.testing.assert_allclose(sums, vc.histogram(points, edges, weights=WEIGHTS, box=box), rtol=1e-12)
            assert np.array_equal(index.components(), vc.components(points, cutoff, box=box))
            assert vc.components(points, cutoff, box=box).max() < 600
            data = (WEIGHTS,)
            for options in ({}, {"each": True}, {"each": True, "queries": others}, {"queries": others}):
                found = index.reduce(pull, data=data, **options)
                assert np.array_equal(found, vc.reduce(points, cutoff, pull, data=data, box=box, **options))
            full = Pairs(*vc.pairs(points, cutoff, box=box, want=ALL, half=False, sort=True))
            assert_same_half(joined(index.pairs(want=ALL, chunks=500)), full)
            assert_same_pairs(joined(index.pairs(want=ALL, half=False, chunks=10**6)).sorted(), full)
            crossed = vc.pairs(points, cutoff, queries=others, box=box, want=ALL, sort=True)
            assert_same_pairs(joined(index.pairs(queries=others, want=ALL, chunks=77)).sorted(), Pairs(*crossed))
            nearest = vc.pairs(points, cutoff, box=box, half=False, max_neighbors=2, want=ALL, sort=True)
            assert len(nearest[0]) < len(full)
            assert_same_pairs(Pairs(*index.pairs(half=False, max_neighbors=2, want=ALL, sort=True)), Pairs(*nearest))
            assert_same_pairs(from_rows(index.neighbors(max_neighbors=2, want="jSdD", sort=True)), Pairs(*nearest))

    check_each(STRUCTURES, check, at_least=20)


def test_conditions_of_an_index_hold_for_every_answer() -> None:
    exclude = np.stack([np.arange(0, 600, 2), np.arange(1, 601, 2)], axis=1)
    matrix = np.array([[0.12, 0.05, 0.1], [0.05, 0.09, -1.0], [0.1, -1.0, 0.11]])
    typed: dict[str, Any] = {"types": TYPES, "r_min": 0.03}
    index = vc.HashGrid(CLOUD, matrix, **typed)
    d = vc.pairs(CLOUD, matrix, want="d", **typed)[0]
    assert np.array_equal(index.histogram(EDGES), np.histogram(d * d, EDGES * EDGES)[0])
    assert index.reduce(count_one) == len(d)
    assert np.array_equal(index.components(), vc.components(CLOUD, matrix, **typed))
    d = vc.pairs(CLOUD, matrix, queries=QUERIES, query_types=TYPES[:90], want="d", **typed)[0]
    found = index.histogram(EDGES, queries=QUERIES, query_types=TYPES[:90])
    assert np.array_equal(found, np.histogram(d * d, EDGES * EDGES)[0])
    grouped: dict[str, Any] = {"groups": GROUPS, "exclude": exclude}
    index = vc.BVH(CLOUD, CUTOFF, **grouped)
    assert np.array_equal(index.histogram(EDGES), vc.histogram(CLOUD, EDGES, **grouped))
    assert sum(len(i) for i, _ in index.pairs(chunks=40)) == len(vc.pairs(CLOUD, CUTOFF, **grouped)[0])
    spheres: dict[str, Any] = {"radii": 0.06 * WEIGHTS, "criterion": "max"}
    index = vc.Octree(CLOUD, **spheres)
    assert index.reduce(count_one) == vc.reduce(CLOUD, None, count_one, **spheres) == len(index.pairs()[0])
    rows = index.neighbors(max_neighbors=1, want="jd")
    assert np.array_equal(rows.distances, [d.min() for d in distances_of(vc.neighbors(CLOUD, **spheres, want="jd"))])


def count_one(_i: int, _j: int, _d2: float, _v: Any) -> float:
    return 1.0


def distances_of(rows: vc.Neighbors) -> list[Array]:
    assert rows.distances is not None
    return [part for part in np.split(rows.distances, rows.offsets[1:-1]) if len(part)]


def test_nearest_neighbours_of_queries_and_near_planes() -> None:
    index = vc.CellSorting(CLOUD, CUTOFF)
    rows = index.neighbors(queries=QUERIES, max_neighbors=4, want="jd")
    distances, found = vc.nearest(CLOUD, 4, CUTOFF, queries=QUERIES)
    assert rows.counts.tolist() == (found >= 0).sum(axis=1).tolist()
    assert sorted(rows.indices.tolist()) == sorted(found[found >= 0].tolist())
    assert sorted(vc.pairs(CLOUD, CUTOFF, queries=QUERIES, max_neighbors=4, want="d")[0]) == sorted(
        distances[found >= 0]
    )
    ground = ([[0.0, 0.0, 0.0]], [[0.0, 0.0, 1.0]])
    rows = vc.neighbors([[0.0, 0.0, 0.1], [0.0, 0.0, 0.3]], 0.2, planes=ground, max_neighbors=1, sort=True)
    assert [rows[k].tolist() for k in range(3)] == [[2], [0], [0]]


def test_an_index_that_changes_ends_its_chunks() -> None:
    for change in (lambda i: i.update(RNG.random((30_000, 3))), lambda i: i.insert(QUERIES), lambda i: i.remove([3])):
        index = vc.LinkedCells(RNG.random((30_000, 3)), 0.05)  # many pieces of work
        chunks = index.pairs(chunks=1000)
        next(chunks)
        change(index)
        with pytest.raises(RuntimeError, match="changed"):
            list(chunks)


def of_points() -> Any:
    return vc.HashGrid(CLOUD, CUTOFF)


def of_boxes() -> Any:
    return vc.BVH(boxes=(CLOUD, CLOUD + 0.1))


def of_points_and_a_plane() -> Any:
    return vc.BVH(CLOUD, CUTOFF, planes=([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]))


REFUSALS = [
    Refusal("far edges", lambda: of_points().histogram([0.0, 0.2]), "edges", "0.2"),
    Refusal("boxes' histogram", lambda: of_boxes().histogram(EDGES), "histogram", "boxes"),
    Refusal("boxes' sum", lambda: of_boxes().reduce(count_one), "reduce", "boxes"),
    Refusal("boxes' nearest", lambda: of_boxes().neighbors(max_neighbors=2), "max_neighbors", "boxes"),
    Refusal("planes' histogram", lambda: of_points_and_a_plane().histogram(EDGES), "histogram", "planes"),
    Refusal("planes' components", lambda: of_points_and_a_plane().components(), "components", "planes"),
    Refusal("planes' sum", lambda: of_points_and_a_plane().reduce(count_one), "reduce", "planes"),
    Refusal("planes' chunks", lambda: of_points_and_a_plane().pairs(chunks=3), "planes", "1"),
    Refusal("chunks of nothing", lambda: of_points().pairs(chunks=0), "chunks", "0"),
    Refusal("nearest in chunks", lambda: of_points().pairs(chunks=3, half=False, max_neighbors=2), "chunks", "max_n"),
    Refusal("half", lambda: of_points().pairs(max_neighbors=2), "half", "True"),
    Refusal("weights", lambda: of_points().histogram(EDGES, weights=[1.0]), "weights", "shape"),
    Refusal("data", lambda: of_points().reduce(count_one, data="x"), "data", "str"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_wrong_arguments_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
