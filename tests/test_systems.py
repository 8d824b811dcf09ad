"""Many small systems in one call: the pairs of a loop over the systems, bit for bit."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import ALL, assert_same_pairs, from_rows
from oracle import Array, Pairs, exact_pairs
from refusals import Refusal, check_refusal
from strategies import problems, tilted_problems


def box_of(boxes: Any, system: int, dim: int) -> Any:
    """The box of one system: of one for all, of rows of lengths, or of matrices."""
    if boxes is None or np.ndim(boxes) == 1 or np.shape(boxes) == (dim, dim):
        return boxes
    if np.ndim(boxes) == 3:
        return boxes[system]
    return [None if np.isnan(x) else float(x) for x in boxes[system]]


def expected_pairs(
    points: Array, cutoff: float, offsets: Array, boxes: Any, periodic: Any = None, **more: Any
) -> Pairs:
    """The oracle's pairs of each system, numbered by body."""
    parts = []
    for k, (begin, end) in enumerate(pairwise(offsets.tolist())):
        along = periodic if np.ndim(periodic) < 2 else periodic[k]
        part = exact_pairs(points[begin:end], cutoff, box_of(boxes, k, points.shape[1]), periodic=along, **more)
        parts.append(Pairs(part.i + np.int32(begin), part.j + np.int32(begin), part.S, part.d, part.D))
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in "ijSdD"))


def nearest(pairs: Pairs, n: int, most: int) -> Pairs:
    """Of every body the nearest neighbours, ties by number and shift."""
    squared = pairs.D[:, 0] * pairs.D[:, 0] + pairs.D[:, 1] * pairs.D[:, 1]
    if pairs.D.shape[1] == 3:
        squared = squared + pairs.D[:, 2] * pairs.D[:, 2]
    order = np.lexsort((*pairs.S.T[::-1], pairs.j, squared, pairs.i))
    kept = np.concatenate([order[pairs.i[order] == k][:most] for k in range(n)] or [order]).astype(int)
    return pairs[np.sort(kept)]


def check(points: Array, cutoff: float, offsets: Array, boxes: Any, periodic: Any = None) -> None:
    """Pairs half and full, sorted and not, rows, counts, edges, self pairs and nearest neighbours."""
    n = len(points)
    ids = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    expected = expected_pairs(points, cutoff, offsets, boxes, periodic)
    common = {"box": boxes, "periodic": periodic, "batch": offsets}
    assert_same_pairs(Pairs(*vc.pairs(points, cutoff, want=ALL, half=False, sort=True, **common)), expected)
    assert_same_pairs(Pairs(*vc.pairs(points, cutoff, want=ALL, half=False, **common)).sorted(), expected)
    assert_same_pairs(Pairs(*vc.pairs(points, cutoff, want=ALL, sort=True, **common)), expected.half())
    assert_same_pairs(Pairs(*vc.pairs(points, cutoff, want=ALL, **common)).sorted(), expected.half())
    if np.ndim(boxes) < 2:
        common["batch"] = ids
    rows = vc.neighbors(points, cutoff, want="jSdD", sort=True, **common)
    assert_same_pairs(from_rows(rows), expected)
    assert np.array_equal(vc.count(points, cutoff, **common), np.bincount(expected.i, minlength=n))
    edges, d = vc.pairs(points, cutoff, half=False, want="Ed", sort=True, **common)
    assert edges.dtype == np.int64
    assert np.array_equal(edges, np.stack([expected.i, expected.j]))
    assert np.array_equal(d, expected.d)
    own = expected_pairs(points, cutoff, offsets, boxes, periodic, self_pairs=True)
    options = {"want": ALL, "sort": True, "self_pairs": True}
    assert_same_pairs(Pairs(*vc.pairs(points, cutoff, half=False, **options, **common)), own)
    assert len(vc.pairs(points, cutoff, **options, **common)[0]) == len(expected.half()) + n
    for most in (1, 3, 1000):
        found = vc.pairs(points, cutoff, want=ALL, half=False, sort=True, max_neighbors=most, **common)
        assert_same_pairs(Pairs(*found), nearest(expected, n, most))


def test_systems_are_searched_as_if_each_were_alone() -> None:
    rng = np.random.default_rng(2)
    for dim, dtype in ((3, np.float32), (3, np.float64), (2, np.float64), (2, np.float32)):
        counts = rng.integers(0, 25, 30)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        points = rng.random((offsets[-1], dim)).astype(dtype) * 3 - dtype(1)
        boxes = rng.uniform(0.4, 3.0, (30, dim)).astype(dtype)
        boxes[::4, 0] = np.nan
        check(points, 0.5, offsets, None)
        check(points, 0.5, offsets, (1.0, None, 0.6)[:dim])
        check(points, 0.6, offsets, boxes)
        check(points[:0], 0.6, np.zeros(4, int), None)


def test_every_system_has_its_own_tilted_cell() -> None:
    rng = np.random.default_rng(6)
    for dim, dtype in ((3, np.float32), (3, np.float64), (2, np.float64)):
        counts = rng.integers(0, 12, 16)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        points = (rng.random((offsets[-1], dim)) * 3 - 1).astype(dtype)
        cells = rng.normal(0, 0.3, (16, dim, dim)) + np.eye(dim) * rng.uniform(0.8, 1.6, (16, 1, 1))
        cells[::5] *= np.eye(dim)  # orthogonal ones among them
        cells[1, 0] += 4 * cells[1, 1]  # very tilted
        cells[2, 0] *= -1  # left-handed
        cells[1] *= -1  # not all positive: that could also be lengths
        cells = cells.astype(dtype)
        check(points, 0.5, offsets, cells)
        check(points, 0.5, offsets, cells, (True, False, True)[:dim])
        check(points, 0.5, offsets, cells, rng.random((16, dim)) < 0.7)
        check(points, 0.5, offsets, cells[1])
    large = rng.random((1100, 3))
    matrix = np.array([[1.0, 0.2, 0.0], [0.1, 1.1, 0.0], [0.0, 0.3, 0.9]])
    found = vc.pairs(large, 0.1, batch=[0, 20, 1100], box=[matrix, matrix], half=False, want=ALL, sort=True)
    alone = vc.pairs(large[20:], 0.1, box=matrix, half=False, want=ALL, sort=True)
    assert all(
        np.array_equal(a[-len(b) :] - 20 * (k < 2), b) for k, (a, b) in enumerate(zip(found, alone, strict=True))
    )


def test_cells_of_systems_may_be_lengths_and_angles() -> None:
    """As for a single system, bit for bit; orthogonal ones and slabs among them."""
    rng = np.random.default_rng(8)
    numbers = [
        [1.0, 1.2, 0.9, 90, 90, 60],
        [1.0, 1.1, 1.2, 90, 90, 90],
        [1.4, 0.9, 0, 75, 82, 66],
        [1.0, 1.0, 1.3, 40, 60, 75],
        [0, 0, 1.1, 90, 90, 90],
    ]
    offsets = [0, 9, 20, 20, 31, 40]
    for dtype in (np.float32, np.float64):
        points = rng.uniform(-1, 2, (40, 3)).astype(dtype)
        for periodic in (None, (True, True, False), [[True, False, k % 2 == 0] for k in range(5)]):
            if periodic is not None:
                numbers[2][2] = numbers[4][0] = numbers[4][1] = 1.5
            found = vc.pairs(
                points, 0.6, batch=offsets, box=numbers, periodic=periodic, want=ALL, half=False, sort=True
            )
            parts = []
            for k, (begin, end) in enumerate(pairwise(offsets)):
                along = periodic if np.ndim(periodic) < 2 else periodic[k]
                space: dict[str, Any] = {"box": numbers[k], "periodic": along}
                part = Pairs(*vc.pairs(points[begin:end], 0.6, **space, want=ALL, half=False, sort=True))
                parts.append(Pairs(part.i + np.int32(begin), part.j + np.int32(begin), part.S, part.d, part.D))
            expected = Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in "ijSdD"))
            assert_same_pairs(Pairs(*found), expected)
            assert np.array_equal(
                vc.count(points, 0.6, batch=offsets, box=numbers, periodic=periodic),
                np.bincount(expected.i, minlength=40),
            )


@given(problem=st.one_of(problems(most=24), tilted_problems("points", most=20)), data=st.data())
def test_any_points(problem: Any, data: st.DataObject) -> None:
    """The same box for all systems; the systems are parts of any cloud."""
    n = len(problem.points)
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    offsets = np.array([0, *cuts, n])
    ids = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    common: dict[str, Any] = {"box": problem.box, "periodic": problem.periodic, "batch": ids}
    if np.ndim(problem.box) == 2:  # a matrix without zeros could also be lengths of several systems
        common |= {"box": [problem.box] * (len(offsets) - 1), "batch": offsets}
    expected = expected_pairs(problem.points, problem.cutoff, offsets, problem.box, problem.periodic)
    found = vc.pairs(problem.points, problem.cutoff, want=ALL, half=False, sort=True, **common)
    assert_same_pairs(Pairs(*found), expected)
    found = vc.pairs(problem.points, problem.cutoff, want=ALL, sort=True, **common)
    assert_same_pairs(Pairs(*found), expected.half())


def test_large_systems_are_searched_with_a_structure() -> None:
    rng = np.random.default_rng(3)
    offsets = np.array([0, 10, 1500, 1500, 1520, 3000])
    points = rng.random((3000, 3)).astype(np.float32)
    boxes = rng.uniform(0.9, 1.5, (5, 3)).astype(np.float32)
    common = {"batch": offsets, "box": boxes}
    parts: list[list[Array]] = [[], [], []]
    for k, (begin, end) in enumerate(pairwise(offsets.tolist())):
        i, j, d = vc.pairs(points[begin:end], 0.1, box=boxes[k].tolist(), want="ijd", half=False, sort=True)
        for part, column in zip(parts, (i + begin, j + begin, d), strict=True):
            part.append(column)
    i, j, d = map(np.concatenate, parts)
    found = vc.pairs(points, 0.1, want="ijd", half=False, sort=True, **common)
    assert all(np.array_equal(a, b) for a, b in zip(found, (i, j, d), strict=True))
    assert np.array_equal(vc.count(points, 0.1, **common), np.bincount(i, minlength=3000))
    assert len(vc.pairs(points, 0.1, **common)[0]) == len(i) // 2
    few = vc.neighbors(points, 0.1, want="jd", sort=True, max_neighbors=3, **common)
    rows = vc.neighbors(points, 0.1, want="jd", sort=True, **common)
    assert np.array_equal(few.counts, np.minimum(rows.counts, 3))
    for k in range(0, 3000, 37):
        mine = slice(rows.offsets[k], rows.offsets[k + 1])
        order = np.lexsort((rows.indices[mine], rows.distances[mine]))[:3]
        assert set(few[k].tolist()) == set(rows[k][order].tolist())


def test_nearest_neighbours_without_batches() -> None:
    points = np.random.default_rng(4).random((300, 3))
    expected = nearest(exact_pairs(points, 0.3, (1.0, 1.0, None)), 300, 5)
    found = vc.pairs(points, 0.3, box=(1.0, 1.0, None), half=False, sort=True, max_neighbors=5, want=ALL)
    assert_same_pairs(Pairs(*found), expected)
    assert np.array_equal(
        vc.neighbors(points, 0.3, box=(1.0, 1.0, None), sort=True, max_neighbors=5).indices, expected.j
    )


def test_results_do_not_depend_on_the_number_of_threads() -> None:
    points = np.random.default_rng(5).random((4000, 3))
    batch = np.repeat(np.arange(200), 20)
    with vc.threads(1):
        one = vc.pairs(points, 0.3, batch=batch, want=ALL)
    with vc.threads(3):
        several = vc.pairs(points, 0.3, batch=batch, want=ALL)
    assert all(np.array_equal(a, b) for a, b in zip(one, several, strict=True))


FOUR = np.random.default_rng(0).random((4, 3))
REFUSALS = [
    Refusal("falling", lambda: vc.pairs(FOUR, 1.0, batch=[0, 1, 0, 1]), "batch", "fall"),
    Refusal("negative", lambda: vc.pairs(FOUR, 1.0, batch=[-1, 0, 0, 0]), "batch", "4"),
    Refusal("not whole", lambda: vc.pairs(FOUR, 1.0, batch=[0.0, 0.0, 1.0, 1.0]), "batch", "float64"),
    Refusal("too few", lambda: vc.pairs(FOUR, 1.0, batch=[0, 0]), "batch", "2 numbers"),
    Refusal("ambiguous", lambda: vc.pairs(FOUR, 1.0, batch=[0, 1, 3, 4]), "batch", "from 0 to 4"),
    Refusal("no cutoff", lambda: vc.pairs(FOUR, batch=[0, 0, 1, 1]), "cutoff", "none given"),
    Refusal("few boxes", lambda: vc.pairs(FOUR, 1.0, box=[[1, 1, 1]], batch=[0, 0, 1, 1]), "batch", "got 1"),
    Refusal("flat boxes", lambda: vc.pairs(FOUR, 1.0, box=[[1, 1]] * 2, batch=[0, 0, 1, 1]), "box", r"\(2, 2\)"),
    Refusal("lengths or vectors", lambda: vc.pairs(FOUR, 1.0, box=np.ones((3, 3)), batch=[0, 0, 1, 1]), "box", "both"),
    Refusal("dependent", lambda: vc.pairs(FOUR, 1.0, box=np.ones((2, 3, 3)), batch=[0, 0, 1, 1]), "box", "independent"),
    Refusal(
        "periodic",
        lambda: vc.pairs(FOUR, 1.0, box=np.ones((2, 3)), periodic=[True], batch=[0, 0, 1, 1]),
        "periodic",
        "True",
    ),
    Refusal("an angle", lambda: vc.pairs(FOUR, 1.0, box=[[1, 1, 1, 90, 90, 200]], batch=[0] * 4), "box", "200"),
    Refusal("six numbers in a plane", lambda: vc.pairs(FOUR[:, :2], 1.0, box=[[1] * 6], batch=[0] * 4), "box", "6"),
    Refusal("chunks", lambda: vc.pairs(FOUR, 1.0, batch=[0, 0, 1, 1], chunks=3), "chunks", "batch"),
    Refusal("an empty box", lambda: vc.pairs(FOUR, 1.0, box=[[1, 0, 1]] * 2, batch=[0, 0, 1, 1]), "box", "0.0"),
    Refusal("images", lambda: vc.pairs(FOUR, 99.0, box=[[1, 1, 1]] * 2, batch=[0, 0, 1, 1]), "cutoff", "99.0"),
    Refusal("far out", lambda: vc.pairs(FOUR * 1e300, 1.0, box=[[9, 9, 9]] * 2, batch=[0, 0, 1, 1]), "points", "row 0"),
    Refusal("half", lambda: vc.pairs(FOUR, 1.0, max_neighbors=2), "half", "True"),
    Refusal("none", lambda: vc.pairs(FOUR, 1.0, max_neighbors=0, half=False), "max_neighbors", "0"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_wrong_batches_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
