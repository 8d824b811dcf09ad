"""The nearest points: those of the sorted pairs of the oracle, with and without a cutoff, on every kind of index."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import assert_same_bits
from each import check_each
from oracle import Array, Pairs, exact_pairs
from problem import Problem
from refusals import Refusal, check_refusal
from strategies import problems, tilted_problems
from structures import STRUCTURES, Structure
from vicinal import _core

Rows = tuple[Array, Array]
RNG = np.random.default_rng(18)


def first_of(pairs: Pairs, rows: int, k: int) -> Rows:
    """The first k neighbours of each row by squared distance, then number."""
    d2 = pairs.D[:, 0] * pairs.D[:, 0] + pairs.D[:, 1] * pairs.D[:, 1]
    if pairs.D.shape[1] == 3:
        d2 = d2 + pairs.D[:, 2] * pairs.D[:, 2]
    order = np.lexsort((pairs.j, d2, pairs.i))
    i, j, d = pairs.i[order], pairs.j[order], pairs.d[order]
    place = np.arange(len(i)) - np.searchsorted(i, i)
    kept = place < k
    distances, indices = np.full((rows, k), np.inf, d.dtype), np.full((rows, k), -1, np.int32)
    distances[i[kept], place[kept]], indices[i[kept], place[kept]] = d[kept], j[kept]
    return distances, indices


def check_rows(actual: Rows, expected: Rows) -> None:
    for one, other in zip(actual, expected, strict=True):
        assert_same_bits(one, other)


def clouds(n: int) -> dict[str, Array]:
    """Uniform, clustered, flat, a lattice, coincident, and a cluster with strays around it."""
    return {
        "uniform": RNG.random((n, 3)),
        "clustered": RNG.random((9, 3))[RNG.integers(0, 9, n)] + 0.02 * RNG.normal(size=(n, 3)) ** 3,
        "flat": RNG.random((n, 3)) * [1, 1, 0],
        "line": RNG.random((n, 1)) * [1.0, 2.0, -1.0],
        "lattice": np.stack(np.meshgrid(*[np.arange(round(n ** (1 / 3)))] * 3), -1).reshape(-1, 3).astype(float),
        "coincident": np.full((n, 3), 0.3),
        "strays": np.concatenate([1e-3 * RNG.random((n, 3)), 10.0 ** RNG.uniform(0, 9, (n // 20, 3))]),
    }


@given(problem=problems(with_queries=True), k=st.integers(1, 12))
def test_neighbours_within_a_cutoff_are_those_of_the_oracle(problem: Problem, k: int) -> None:
    points, queries, cutoff, box = problem.points, problem.queries, problem.cutoff, problem.box
    assert points is not None
    assert queries is not None
    assert cutoff is not None
    own = first_of(exact_pairs(points, cutoff, box), len(points), k)
    check_rows(vc.nearest(points, k, cutoff, box=box), own)
    cross = first_of(exact_pairs(points, cutoff, box, queries), len(queries), k)
    check_rows(vc.nearest(points, k, cutoff, box=box, queries=queries), cross)


@given(problem=tilted_problems("points"), k=st.integers(1, 12))
def test_neighbours_in_a_tilted_cell_are_those_of_the_oracle(problem: Problem, k: int) -> None:
    points, queries, cutoff = problem.points, problem.queries, problem.cutoff
    assert points is not None
    assert queries is not None
    space: dict[str, Any] = {"box": problem.box, "periodic": problem.periodic}
    own = first_of(exact_pairs(points, cutoff, **space), len(points), k)
    check_rows(vc.nearest(points, k, cutoff, **space), own)
    cross = first_of(exact_pairs(points, cutoff, queries=queries, **space), len(queries), k)
    check_rows(vc.nearest(points, k, cutoff, queries=queries, **space), cross)
    if np.isfinite(own[0]).all():
        check_rows(vc.nearest(points, k, **space), own)


@given(
    n=st.integers(1, 9),
    k=st.integers(1, 40),
    edges=st.lists(st.sampled_from([None, 0.5, 1.0, 1.1, 3.0]), min_size=3, max_size=3),
    dim=st.sampled_from([2, 3]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 2**32),
)
def test_without_a_cutoff_every_image_counts(n: int, k: int, edges: list[Any], dim: int, dtype: Any, seed: int) -> None:
    box = tuple(edges[:dim])
    points = np.random.default_rng(seed).integers(0, 8, (n, dim)).astype(dtype) / dtype(4)
    d, j = vc.nearest(points, k, box=box)
    if not any(box):
        assert (np.isfinite(d).sum(1) == min(k, n - 1)).all()
    else:
        assert np.isfinite(d).all()
    cutoff = float(np.nextafter(d[np.isfinite(d)].max(initial=1), dtype(np.inf)))
    check_rows((d, j), first_of(exact_pairs(points, cutoff, box), n, k))


def test_clouds_of_every_kind_have_the_neighbours_of_scipy() -> None:
    spatial = pytest.importorskip("scipy.spatial")

    def check(case: tuple[str, Array, int, float | None]) -> None:
        _, points, k, box = case
        tree = spatial.cKDTree(points, boxsize=box)
        expected = tree.query(points, k)[0]
        d, j = vc.nearest(points, k, box=box, queries=points)
        assert np.allclose(d, expected, rtol=1e-12, atol=0)
        D = points[j] - points[:, None]
        if box is not None:
            D -= box * np.round(D / box)
        else:
            d2 = D[..., 0] * D[..., 0] + D[..., 1] * D[..., 1] + D[..., 2] * D[..., 2]
            steps, numbers = np.diff(d2, axis=1), np.diff(j, axis=1)
            assert ((steps > 0) | ((steps == 0) & (numbers > 0))).all(), "not by squared distance, then number"
        assert np.allclose(np.sqrt((D**2).sum(-1)), d, rtol=1e-9, atol=1e-12)
        own_d, own_j = vc.nearest(points, k - 1, box=box)
        assert_same_bits(own_d, np.ascontiguousarray(d[:, 1:]))
        if d[:, 1].min(initial=1) > 0:
            assert_same_bits(own_j, np.ascontiguousarray(j[:, 1:]))

    cases = [(name, points, k, None) for name, points in clouds(3000).items() for k in (2, 9, 17, 40, 100)]
    cases += [("periodic", RNG.random((3000, 3)), k, 1.0) for k in (2, 9, 40)]
    check_each(cases, check)


def hard_clouds(dtype: Any) -> dict[str, tuple[Array, float | None]]:
    """Points whose distances float32 cannot tell apart, and their period."""
    grid = np.stack(np.meshgrid(*[np.arange(5.0)] * 3), -1).reshape(-1, 3)
    close = 1 + 1e-9 * RNG.random((120, 3))
    step = float(np.finfo(dtype).eps) * 512
    tiny, vast = (1e-30, 1e15) if dtype == np.float32 else (1e-150, 1e140)
    clouds: dict[str, tuple[Array, float | None]] = {
        "lattice": (grid, None),
        "periodic lattice": (grid / 5, 1.0),
        "lattice far away": (512 + step * grid, None),
        "periodic cluster": (0.99 + step * grid, 1.0),
        "close": (close, None),
        "close and strays": (np.concatenate([close, 1e4 * RNG.random((50, 3))]), None),
        "coincident beside a void": (np.concatenate([np.full((80, 3), 0.5), RNG.random((40, 3))]), None),
        "tiny": (tiny * RNG.random((120, 3)), None),
        "vast": (vast * RNG.normal(size=(120, 3)), None),
        "tiny in a vast box": (np.concatenate([tiny * grid, vast * RNG.random((20, 3))]), vast),
    }
    return {name: (points.astype(dtype), period) for name, (points, period) in clouds.items()}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points_that_float32_cannot_tell_apart_are_sorted_exactly(dtype: Any, isa: None) -> None:
    def check(case: tuple[str, tuple[Array, float | None]]) -> None:
        points, period = case[1]
        for k in (1, 8):
            d = vc.nearest(points, k, box=period)[0]
            cutoff = float(np.nextafter(d.max(), dtype(np.inf)))
            expected = first_of(exact_pairs(points, cutoff, period), len(points), k)
            for name in _core.available_isas():
                _core.set_isa(name)
                check_rows(vc.nearest(points, k, box=period), expected)
            # As a cutoff, the middle of the distances is in doubt for many points.
            middle = float(np.median(d))
            check_rows(
                vc.nearest(points, k, middle, box=period),
                first_of(exact_pairs(points, middle, period), len(points), k),
            )

    check_each(hard_clouds(dtype).items(), check)


def test_coincident_points_are_found_in_order_of_number() -> None:
    d, j = vc.nearest(np.zeros((20_000, 2)), 3)
    assert (d == 0).all()
    assert j[:4].tolist() == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    assert (j[4:] == [0, 1, 2]).all()


def test_every_thread_count_and_instruction_set_gives_the_same_bits(isa: None) -> None:
    def check(case: tuple[str, Array]) -> None:
        points = case[1].astype(np.float32)
        expected = vc.nearest(points, 8)
        with vc.threads(1):
            check_rows(vc.nearest(points, 8), expected)
        for name in _core.available_isas():
            _core.set_isa(name)
            check_rows(vc.nearest(points, 8), expected)

    check_each(clouds(5000).items(), check)


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
def test_an_index_finds_the_neighbours_of_its_present_bodies(structure: Structure) -> None:
    box = (1.0,) * max(structure.dims) if structure.periodic else None
    points, queries = structure.flatten(RNG.random((300, 3))), structure.flatten(RNG.random((20, 3)))
    index = structure.build(points, cutoff=0.1, box=box)
    check_rows(index.nearest(5), vc.nearest(points, 5, box=box))
    check_rows(index.nearest(5, 0.05, queries=queries), vc.nearest(points, 5, 0.05, box=box, queries=queries))
    assert index.stats.bytes > 0
    points = structure.flatten(RNG.random((300, 3)))
    index.update(points)
    check_rows(index.nearest(5), vc.nearest(points, 5, box=box))
    index.insert(queries)
    check_rows(index.nearest(5), vc.nearest(np.concatenate([points, queries]), 5, box=box))
    index.remove(np.arange(200))
    check_rows(index.nearest(5), vc.nearest(np.concatenate([points, queries])[200:], 5, box=box))


def test_spheres_are_searched_by_their_centres() -> None:
    points = RNG.random((200, 3))
    index = vc.HashGrid(points, radii=RNG.random(200))
    check_rows(index.nearest(4), vc.nearest(points, 4))
    check_rows(index.nearest(4, queries=points), vc.nearest(points, 4, queries=points))


def test_there_may_be_fewer_points_than_wanted() -> None:
    d, j = vc.nearest(np.zeros((0, 3)), 2, queries=[[0.0, 0.0, 0.0]])
    assert d.tolist() == [[math.inf, math.inf]]
    assert j.tolist() == [[-1, -1]]
    assert [array.shape for array in vc.nearest(np.zeros((0, 2)), 3, box=1.0)] == [(0, 3), (0, 3)]
    assert [array.shape for array in vc.nearest(np.zeros((4, 2)), 3, queries=np.zeros((0, 2)))] == [(0, 3), (0, 3)]
    assert vc.nearest([[0.0, 0.0]], 1)[1].tolist() == [[-1]]
    vast = np.array([[-3e38, 0.0], [3e38, 0.0], [3e38, 1.0]], np.float32)
    assert vc.nearest(vast, 2)[1].tolist() == [[-1, -1], [2, -1], [1, -1]]


REFUSED = [
    Refusal("no k", lambda: vc.nearest([[0.0, 0.0]], 0), "k", "0"),
    Refusal("half a neighbour", lambda: vc.nearest([[0.0, 0.0]], 1.5), "k", r"1\.5"),  # type: ignore[arg-type]
    Refusal("images", lambda: vc.nearest([[0.0, 0.0]], 10_000, box=1.0), "k", "10000"),
    Refusal("cutoff", lambda: vc.nearest([[0.0, 0.0]], 1, -1.0), "cutoff", r"-1\.0"),
    Refusal("nan", lambda: vc.nearest([[0.0, 0.0]], 1, math.nan), "cutoff", "nan"),
    Refusal("queries", lambda: vc.nearest([[0.0, 0.0]], 1, queries=[[0.0] * 3]), "queries", "3"),
    Refusal("no points", lambda: vc.nearest(None, 1), "points", "None"),  # type: ignore[arg-type]
    Refusal("boxes", lambda: vc.BVH(boxes=([[0, 0]], [[1, 1]])).nearest(1), "nearest", "boxes"),
]


@pytest.mark.parametrize("refusal", REFUSED, ids=str)
def test_invalid_arguments_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
