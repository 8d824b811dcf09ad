"""Cells at the limits of numbers: tiny, thin and steep ones. All images are found once, or a named error is raised."""

from __future__ import annotations

import math
import re
import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import ALL, assert_same_bits, assert_same_pairs
from oracle import Array, Pairs, exact_pairs
from refusals import Refusal, check_refusal
from structures import STRUCTURES, Structure
from test_nearest import check_rows, first_of

SINGLE = np.float32
PERIODIC = [s for s in STRUCTURES if s.periodic and not s.label]
# Linked cells would take much memory for a grid along the long axis.
WITHOUT_GRID = [s for s in PERIODIC if s.name != "LinkedCells"]
everywhere = pytest.mark.parametrize("structure", PERIODIC, ids=str)
round_everywhere = pytest.mark.parametrize("structure", [s for s in PERIODIC if "spheres" in s.kinds], ids=str)
flat_everywhere = pytest.mark.parametrize("structure", [s for s in PERIODIC if "boxes" in s.kinds], ids=str)
# One vector is 10^10 times as long as another: 32 bits round its coordinates to hundreds of short edges.
LONG = [[1, 0, 0], [0.2, 0.1, 3e9], [0, 0.3, 0]]
OPEN_FIRST = (False, True, True)
# The long vector, made shorter, is (0, 1): a shift along the first one changes the given S by a million.
STEEP = [[4000.0, 0.0], [4e9, 1.0]]
TWO = np.array([[0, 0], [2e-28, 0]], SINGLE)


def rows_of(points: Array, **search: Any) -> Pairs:
    return Pairs(*vc.pairs(points, **search, want=ALL, half=False, sort=True))


@pytest.mark.parametrize("edge", [1e-26, 1e-25, 4e-24])
def test_squares_that_underflow_reach_every_image(edge: float) -> None:
    """Squares of lengths below 2.6e-23 round to 0 in float32, so images farther away than the cutoff are pairs, too."""
    search: dict[str, Any] = {"cutoff": 0.3 * edge, "box": (edge, None)}
    points = (TWO / 1e-27 * edge).astype(SINGLE)
    expected = exact_pairs(points, **search)
    assert len(expected) > 20
    assert_same_pairs(rows_of(points, **search), expected)
    assert_same_pairs(rows_of(points, **search, skin=np.float64(0)), expected)  # with checks in Python


@pytest.mark.parametrize(("dim", "edge"), [(2, 1e-27), (3, 1e-30)])
def test_images_that_squares_reach_by_underflow_are_not_too_many(dim: int, edge: float) -> None:
    box = (edge, *[None] * (dim - 1)) if dim == 2 else (edge,) * dim
    points = (np.random.default_rng(3).random((2, dim)) * edge).astype(SINGLE)
    start = time.perf_counter()
    with pytest.raises(vc.InputError, match="must reach at most 50000 periodic images"):
        vc.pairs(points, 0.3 * edge, box=box, half=False)
    assert time.perf_counter() - start < 5


@pytest.mark.parametrize("cutoff", [60.0, 105.0])
def test_shifts_of_steep_cells_describe_the_pairs(cutoff: float) -> None:
    rows = np.array([[1.0, 0.0], [1e6, 1.0]])
    i, _, D, S = vc.pairs(np.zeros((1, 2)), cutoff, box=rows, want="ijDS", half=False)
    assert len(i) > 3 * cutoff**2
    assert np.array_equal(S.astype(object) @ rows.astype(int).astype(object), D.astype(int).astype(object))


@everywhere
def test_images_across_a_thin_cell_are_found_once(structure: Structure) -> None:
    rng = np.random.default_rng(2)
    places = rng.random((40, 3)) * [1, 1, 3e9]
    clouds = [np.zeros((1, 3)), places, np.concatenate([places[:20], places[:20] + rng.normal(size=(20, 3)) / 5])]
    for points in clouds:
        space: dict[str, Any] = {"cutoff": 0.5, "box": LONG, "periodic": OPEN_FIRST}
        points = points.astype(SINGLE)  # noqa: PLW2901
        expected = exact_pairs(points, **space)
        actual = structure.build(points, **space).pairs(want=ALL, half=False, sort=True)
        assert_same_pairs(Pairs(*actual), expected)


@everywhere
def test_structures_work_in_thin_cells_as_long_as_in_others(structure: Structure) -> None:
    """They do not look at as many images as rounding allows along the long axis."""
    rng = np.random.default_rng(4)
    points = (rng.random((400, 3)) * [1, 1, 1e8]).astype(SINGLE)
    rows = np.array(LONG)
    rows[1, 2] = 1e8
    sizes = {"points": {"cutoff": 0.5}, "spheres": {"radii": np.full(400, 0.25, SINGLE)}}
    for kind, size in sizes.items():
        if kind not in structure.kinds:
            continue
        space: dict[str, Any] = {**size, "box": rows, "periodic": OPEN_FIRST}
        expected = exact_pairs(points, **space)
        index = structure.build(points, **space, size=0.5)
        index.update(points)
        assert_same_pairs(Pairs(*index.pairs(want=ALL, half=False, sort=True)), expected)
        if structure.name in ("BVH", "HashGrid", "SweepAndPrune"):
            assert index.stats.candidates < 60 * 400**2 / 2


@round_everywhere
@pytest.mark.parametrize("criterion", ["sum", "max"])
def test_spheres_in_cells_that_round_by_half_their_size(structure: Structure, criterion: str) -> None:
    rng = np.random.default_rng(5)
    points = (rng.integers(0, 9, (120, 3)) * [0.125, 0.125, 3e7 / 8]).astype(SINGLE)
    radii = np.where(np.arange(120) % 5 == 0, 0.25, 0.0).astype(SINGLE)
    rows = np.array(LONG)
    rows[1, 2] = 3e7
    space: dict[str, Any] = {"radii": radii, "box": rows, "periodic": OPEN_FIRST, "criterion": criterion}
    actual = structure.build(points, **space, size=0.5).pairs(want=ALL, half=False, sort=True)
    assert_same_pairs(Pairs(*actual), exact_pairs(points, **space))


@flat_everywhere
def test_long_flat_boxes_in_a_tilted_cell(structure: Structure) -> None:
    """Boxes that are forty times as long along one axis as along the others."""
    rng = np.random.default_rng(6)
    lower = rng.random((60, 3)) * [3, 3, 90]
    boxes = lower, lower + rng.random((60, 3)) * [0.5, 0.5, 20]
    space: dict[str, Any] = {"box": [[3, 0, 0], [1, 3, 0], [0.3, 0.2, 90]]}
    index = structure.build(boxes=boxes, **space, size=20.0)
    actual = index.pairs(want="ijS", half=False, sort=True)
    expected = exact_pairs(boxes=boxes, **space)
    assert len(expected) > 20
    for name, column in zip("ijS", actual, strict=True):
        assert_same_bits(column, getattr(expected, name))


NEAREST = [
    (np.array([[0, 0], [1e-26, 0]], SINGLE), 4e-26, (2e-24, None)),
    (np.array([[0, 0], [1e-26, 0]], SINGLE), 4e-26, (1e-23, 1e-23)),
    (np.array([[0, 0], [1e-26, 0]], SINGLE), 4e-26, [[3e-24, 0], [1e-24, 3e-23]]),
    (np.array([[0, 0], [1e-165, 0]]), 4e-165, (1e-163, None)),
    (np.array([[0, 0], [1e-165, 0]]), 4e-165, (1e-162, 1e-162)),
]


@pytest.mark.parametrize(("points", "cutoff", "box"), NEAREST, ids=range(len(NEAREST)))
def test_images_at_distances_that_round_to_0_are_nearest_by_number(points: Array, cutoff: float, box: Any) -> None:
    expected = exact_pairs(points, cutoff, box)
    for k in (2, 5, 20):
        own = first_of(expected, 2, k)
        check_rows(vc.nearest(points, k, cutoff, box=box), own)
        if np.isfinite(own[0]).all() and not own[0].any():
            check_rows(vc.nearest(points, k, box=box), own)


@given(
    seed=st.integers(0, 2**32),
    dim=st.sampled_from([2, 3]),
    dtype=st.sampled_from([np.float32, np.float64]),
    cell=st.sampled_from(["cuboid", "tilted"]),
    structure=st.sampled_from(PERIODIC),
    k=st.integers(1, 30),
)
def test_lengths_whose_squares_are_denormal_or_0(
    seed: int, dim: int, dtype: Any, cell: str, structure: Structure, k: int
) -> None:
    """Boxes, cutoffs and coordinates of some roots of the smallest number."""
    rng = np.random.default_rng(seed)
    root = math.sqrt(float(np.finfo(dtype).smallest_subnormal))
    least = 0.7 if dim == 2 else 1.5
    box: Any = root * 2.0 ** rng.uniform(np.log2(least), 5, dim)
    if cell == "tilted" and dtype == np.float32:  # of float64, such vectors are refused
        box = np.diag(box)
        box[0] += box[1] * rng.choice([0, 0.5, -0.3, 4.2])
        box[1] += box[0] * rng.choice([0, 0, 0.3])
        box = box[rng.permutation(dim)]
    periodic = tuple(rng.random(dim) < 0.8)
    points = (root * rng.choice([0.1, 1.0, 8.0]) * rng.random((rng.integers(1, 6), dim))).astype(dtype)
    cutoff = root * float(rng.choice([0.01, 0.6, 1.0, 2.2]))
    space: dict[str, Any] = {"box": box, "periodic": periodic}
    expected = exact_pairs(points, cutoff, **space)
    assert_same_pairs(rows_of(points, cutoff=cutoff, **space), expected)
    index = structure.build(points, cutoff=cutoff, **space)
    assert_same_pairs(Pairs(*index.pairs(want=ALL, half=False, sort=True)), expected)
    own = first_of(expected, len(points), k)
    check_rows(vc.nearest(points, k, cutoff, **space), own)
    if np.isfinite(own[0]).all():
        check_rows(vc.nearest(points, k, **space), own)


@given(
    seed=st.integers(0, 2**32),
    ratio=st.sampled_from([1e3, 1e5, 1e6, 1e7, 1e8, 1e9]),
    dtype=st.sampled_from([np.float32, np.float64]),
    structure=st.sampled_from(WITHOUT_GRID),
    k=st.integers(1, 12),
)
def test_thin_cells_of_any_orientation(seed: int, ratio: float, dtype: Any, structure: Structure, k: int) -> None:
    """All pairs are found, or rounding makes the cell too thin."""
    rng = np.random.default_rng(seed)
    dim = int(rng.integers(2, 4))
    rows = np.diag([0.3, ratio, 1.0][:dim])
    rows[0] += rng.choice([0, 0.2]) * np.eye(dim)[dim - 1]
    rows[1, 0] += rng.choice([0, 0.4])
    if rng.random() < 0.4:
        rows = rows @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    order = rng.permutation(dim)
    rows, periodic = rows[order], tuple(rng.random(dim) < 0.8)
    places = rng.random((8, dim)) * 2 - 0.5
    places[4:] = places[:4] + rng.normal(size=(4, dim)) * np.where(order == 1, 0.2 / ratio, 0.5)
    points, cutoff = (places @ rows).astype(dtype), float(rng.choice([0.2, 0.5]))
    space: dict[str, Any] = {"box": rows, "periodic": periodic}
    try:
        index = structure.build(points, cutoff=cutoff, **space)
    except vc.InputError as error:
        assert re.search("images|edges of the box|dependent|tilted by", str(error)), error  # noqa: PT017
        return
    expected = exact_pairs(points, cutoff, **space)
    assert_same_pairs(Pairs(*index.pairs(want=ALL, half=False, sort=True)), expected)
    assert_same_pairs(rows_of(points, cutoff=cutoff, **space), expected)
    check_rows(vc.nearest(points, k, cutoff, **space), first_of(expected, len(points), k))


def test_neighbours_in_a_tiny_box_do_not_take_long() -> None:
    start = time.perf_counter()
    assert vc.nearest(TWO, 5, box=(4e-27, None))[1].tolist() == [[0] * 5] * 2
    assert time.perf_counter() - start < 5


def test_systems_in_thin_cells() -> None:
    """Systems of a batch look at as many images as a search of each."""
    rows = np.array([[1, 0, 0], [0.25, 0.3, 0], [0.2, 0.1, 1e7]])
    turned = rows @ np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    points = (np.random.default_rng(7).random((40, 3)) @ rows).astype(SINGLE)
    i, j, S = vc.pairs(points, 0.5, batch=[0, 20, 40], box=[rows, 2 * rows], want="ijS", half=False, sort=True)
    for first, cell in ((0, rows), (20, 2 * rows)):
        mine = (i >= first) & (i < first + 20)
        alone = vc.pairs(points[first : first + 20], 0.5, box=cell, want="ijS", half=False, sort=True)
        for column, other in zip((i[mine] - first, j[mine] - first, S[mine]), alone, strict=True):
            assert_same_bits(column, other)
    with pytest.raises(vc.InputError, match=r"must reach at most 50000 periodic images|box"):
        vc.pairs(points, 0.5, batch=[0, 20, 40], box=[turned * [1, 1, 1], turned])


REFUSED = [
    Refusal("steep", lambda: vc.pairs(np.zeros((1, 2)), 4000.0, box=STEEP, half=False), "32 bits", "4000"),
    Refusal("steep spheres", lambda: vc.pairs([[0.0, 0.0]], radii=2000.0, box=STEEP), "32 bits", "2000"),
    Refusal("tiny for rounding", lambda: vc.nearest(TWO, 5, box=2e-25), "box must be", r"2\.0\d*e-25"),
    Refusal(
        "thin for rounding",
        lambda: vc.pairs(np.zeros((1, 2), SINGLE), 0.5, box=[[0.24, 0.18], [-6e8, 8e8]]),
        "box",
        "float32.*0.3, 1e",
    ),
]


@pytest.mark.parametrize("refusal", REFUSED, ids=str)
def test_cells_that_need_too_many_images_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
