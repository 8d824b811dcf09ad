"""Histograms of pair distances: those of NumPy for the squared distances of the oracle, in every form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from each import check_each
from oracle import Array, Pairs, exact_pairs
from problem import Problem
from refusals import Refusal, check_refusal
from strategies import problems
from structures import STRUCTURES

RNG = np.random.default_rng(5)
POINTS = RNG.random((400, 3))
ONES = np.ones(len(POINTS))
EDGES = np.array([0.0, 0.01, 0.05, 0.1, 0.11, 0.2])


def squares_of(pairs: Pairs) -> Array:
    d2 = pairs.D[:, 0] * pairs.D[:, 0] + pairs.D[:, 1] * pairs.D[:, 1]
    return d2 + pairs.D[:, 2] * pairs.D[:, 2] if pairs.D.shape[1] == 3 else d2


def expected_counts(pairs: Pairs, edges: Array, **options: Any) -> Array:
    rounded = edges.astype(pairs.D.dtype)
    return np.histogram(squares_of(pairs), rounded * rounded, **options)[0]


@given(problem=problems(with_queries=True), data=st.data())
def test_counts_are_those_of_numpy(problem: Problem, data: st.DataObject) -> None:
    points, queries, cutoff, box = problem.points, problem.queries, problem.cutoff, problem.box
    assert points is not None
    assert queries is not None
    assert cutoff is not None
    r = points.dtype.type(cutoff)
    shares = data.draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.7, 0.75, 0.9, 0.999]), max_size=4, unique=True))
    edges = np.array([*sorted(shares), 1.0], points.dtype) * r
    with np.errstate(under="ignore"):
        if len(edges) < 2 or not (np.diff(edges * edges) > 0).all():
            return
        full = exact_pairs(points, cutoff, box)
        half, cross = full.half(), exact_pairs(points, cutoff, box, queries)
        assert vc.histogram(points, edges, box=box).tolist() == expected_counts(half, edges).tolist()
        assert vc.histogram(points, edges, box=box, queries=queries).tolist() == expected_counts(cross, edges).tolist()


def test_every_structure_counts_the_same() -> None:
    def check(structure: Any) -> None:
        points = structure.flatten(POINTS)
        box = (1.0,) * points.shape[1] if structure.periodic else None
        expected = expected_counts(exact_pairs(points, EDGES[-1], box).half(), EDGES)
        assert vc.histogram(points, EDGES, box=box, structure=structure.type).tolist() == expected.tolist()

    check_each([structure for structure in STRUCTURES if not structure.label], check, at_least=9)


def test_bins_may_be_many_or_few_and_of_any_width() -> None:
    pairs = exact_pairs(POINTS, 0.5).half()

    def check(edges: Array) -> None:
        assert vc.histogram(POINTS, edges).tolist() == expected_counts(pairs, edges).tolist()

    cubes = 4 * np.linspace(0, 0.5, 18) ** 3
    check_each([np.array([0, 0.5]), np.linspace(0.1, 0.5, 1001), np.geomspace(1e-9, 0.5, 300), cubes], check)


def test_counts_per_pair_of_types() -> None:
    types = RNG.integers(0, 3, len(POINTS))
    pairs = exact_pairs(POINTS, EDGES[-1]).half()
    counts = vc.histogram(POINTS, EDGES, types=types)
    assert counts.shape == (3, 3, len(EDGES) - 1)
    for a, b in np.ndindex(3, 3):
        chosen = ((types[pairs.i] == a) & (types[pairs.j] == b)) | ((types[pairs.i] == b) & (types[pairs.j] == a))
        expected = np.histogram(squares_of(pairs)[chosen], EDGES * EDGES)[0]
        assert counts[a, b].tolist() == expected.tolist()
    queries, of_queries = POINTS[:50] + 0.01, RNG.integers(0, 2, 50)
    cross = exact_pairs(POINTS, EDGES[-1], None, queries)
    counts = vc.histogram(POINTS, EDGES, types=types, queries=queries, query_types=of_queries)
    assert counts.shape == (2, 3, len(EDGES) - 1)
    for a, b in np.ndindex(2, 3):
        chosen = (of_queries[cross.i] == a) & (types[cross.j] == b)
        assert counts[a, b].tolist() == np.histogram(squares_of(cross)[chosen], EDGES * EDGES)[0].tolist()


def near_edges(distances: Array, edges: Array) -> int:
    """How many distances float32 may put into another bin."""
    return int((np.abs(distances[:, None] - edges) < 1e-5 * edges[-1]).sum())


@pytest.mark.parametrize("tilts", [(0, 0, 0), (0.5, 0.3, -0.4)], ids=["cube", "tilted"])
def test_freud_finds_the_same_radial_distribution(tilts: tuple[float, ...]) -> None:
    freud = pytest.importorskip("freud")
    xy, xz, yz = tilts
    rows = np.array([[1, 0, 0], [xy, 1, 0], [xz, yz, 1]]) * 2.0
    points = (RNG.random((1500, 3)) @ rows).astype(np.float32)
    bins, reach = 40, 0.6
    theirs = freud.density.RDF(bins, reach)
    theirs.compute((freud.box.Box(2, 2, 2, xy, xz, yz), points))
    edges = np.linspace(0, reach, bins + 1)
    ours = 2 * vc.histogram(points, edges, box=rows)
    doubtful = near_edges(vc.pairs(points, reach, box=rows, want="d")[0], edges[1:])
    assert ours.sum() > 100 * len(points)
    assert doubtful < 1e-3 * ours.sum()
    assert np.abs(np.cumsum(ours) - np.cumsum(theirs.bin_counts)).max() <= 2 * doubtful
    shells = 4 / 3 * np.pi * np.diff(edges**3)
    g = ours / shells / len(points) * np.linalg.det(rows) / len(points)
    assert np.allclose(g[5:], theirs.rdf[5:], rtol=2e-3)


def test_counts_of_pairs_of_catalogues_are_those_of_scipy() -> None:
    """DD, DR and RR of a correlation function, in one call with types and one by one."""
    spatial = pytest.importorskip("scipy.spatial")
    data = RNG.random((9, 3))[RNG.integers(0, 9, 800)] + 0.05 * RNG.normal(size=(800, 3))
    data, random = data % 1.0, RNG.random((1200, 3))
    edges = np.geomspace(0.01, 0.3, 12)
    trees = [spatial.cKDTree(points, boxsize=1.0) for points in (data, random)]
    both, types = np.concatenate([data, random]), np.repeat([0, 1], [800, 1200])
    counts = vc.histogram(both, edges, types=types, box=1.0)
    for a, b in ((0, 0), (0, 1), (1, 1)):
        expected = np.diff(trees[a].count_neighbors(trees[b], edges)) // (2 if a == b else 1)
        assert counts[a, b].tolist() == counts[b, a].tolist() == expected.tolist()
        points = (data, random)
        alone = (
            vc.histogram(points[a], edges, box=1.0)
            if a == b
            else vc.histogram(points[b], edges, queries=points[a], box=1.0)
        )
        assert alone.tolist() == expected.tolist()


def test_weights_are_multiplied_and_summed_the_same_on_any_number_of_threads() -> None:
    points, weights = RNG.random((20_000, 3)), RNG.normal(size=20_000)
    edges = np.linspace(0, 0.05, 11)
    i, j, D = vc.pairs(points, 0.05, want="ijD")
    d2 = D[:, 0] * D[:, 0] + D[:, 1] * D[:, 1] + D[:, 2] * D[:, 2]
    sums = vc.histogram(points, edges, weights=weights)
    expected = np.histogram(d2, edges * edges, weights=weights[i] * weights[j])[0]
    assert np.allclose(sums, expected, rtol=1e-9, atol=1e-9)
    with vc.threads(1):
        assert vc.histogram(points, edges, weights=weights).tobytes() == sums.tobytes()
    whole = vc.histogram(points, edges, weights=np.full(20_000, 2.0))
    assert (whole == 4.0 * vc.histogram(points, edges)).all()
    crossed = vc.histogram(points, edges, weights=weights, queries=points[:9], query_weights=weights[:9] * 0)
    assert crossed.tolist() == [0.0] * 10


def test_nothing_in_gives_zeros() -> None:
    assert vc.histogram(np.zeros((0, 3)), [0, 1]).tolist() == [0]
    assert vc.histogram(POINTS, [0, 1], queries=np.zeros((0, 3))).tolist() == [0]


REFUSED = [
    Refusal("one edge", lambda: vc.histogram(POINTS, [1.0]), "edges", r"\(1,\)"),
    Refusal("falling", lambda: vc.histogram(POINTS, [0.0, 2.0, 1.0]), "edges", r"2\.0 and 1\.0"),
    Refusal("equal squares", lambda: vc.histogram(POINTS, [0.0, 1e-200, 1.0]), "edges", "1e-200"),
    Refusal("negative", lambda: vc.histogram(POINTS, [-1.0, 1.0]), "edges", r"-1\.0"),
    Refusal("infinite", lambda: vc.histogram(POINTS, [0.0, np.inf]), "edges", "inf"),
    Refusal("weights", lambda: vc.histogram(POINTS, [0, 1], weights=[1.0]), "weights", r"\(1,\)"),
    Refusal("nan weight", lambda: vc.histogram(POINTS[:1], [0, 1], weights=[np.nan]), "weights", "nan"),
    Refusal("types", lambda: vc.histogram(POINTS[:1], [0, 1], types=[0.5]), "types", "float64"),
    Refusal("type -1", lambda: vc.histogram(POINTS[:1], [0, 1], types=[-1]), "types", "-1"),
    Refusal("no queries", lambda: vc.histogram(POINTS, [0, 1], query_types=[0]), "query_types", "None"),
    Refusal("one set", lambda: vc.histogram(POINTS, [0, 1], weights=ONES, queries=POINTS), "query_weights", "one"),
]


@pytest.mark.parametrize("refusal", REFUSED, ids=str)
def test_invalid_arguments_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
