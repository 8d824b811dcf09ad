"""Periodic boxes: every image within reach is a separate pair, identified by its shift."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH
from compare import ALL, assert_same_bits, assert_same_half, assert_same_pairs
from oracle import Pairs, exact_pairs

CLOUD = np.random.default_rng(13).random((400, 3))


def full(points: Any, **space: Any) -> Pairs:
    return Pairs(*vc.pairs(points, **space, want=ALL, half=False, sort=True))


def test_a_pair_reaches_through_the_face() -> None:
    i, j, S, D = vc.pairs(np.array([[0.05, 0.5], [0.95, 0.5]]), cutoff=0.2, box=1.0, want="ijSD", sort=True)
    assert (i.tolist(), j.tolist(), S.tolist()) == ([0], [1], [[-1, 0]])
    assert D[0] == pytest.approx([-0.1, 0.0])


def test_a_pair_reaches_through_a_corner() -> None:
    points = np.array([[0.02, 0.98, 0.01], [0.99, 0.01, 0.97]])
    i, j, S = vc.pairs(points, cutoff=0.1, box=1.0, want="ijS", sort=True)
    assert (i.tolist(), j.tolist(), S.tolist()) == ([0], [1], [[-1, 1, -1]])


@pytest.mark.parametrize("dtype", BOTH)
@pytest.mark.parametrize("cutoff", [0.1, 0.5, 0.8, 1.0, 1.7, 2.3])
def test_cutoffs_beyond_half_the_box_find_every_image(dtype: Any, cutoff: float) -> None:
    points = CLOUD[:25].astype(dtype)
    expected = exact_pairs(points, cutoff, 1.0)
    assert_same_pairs(full(points, cutoff=cutoff, box=1.0), expected)
    assert_same_half(Pairs(*vc.pairs(points, cutoff=cutoff, box=1.0, want=ALL)), expected)


@pytest.mark.parametrize(("cutoff", "images"), [(0.999, 0), (1.0, 6), (1.5, 18), (1.8, 26), (2.0, 32)])
def test_a_single_body_is_paired_with_its_own_images(cutoff: float, images: int) -> None:
    point = np.array([[0.25, 0.5, 0.75]])
    assert vc.count(point, cutoff=cutoff, box=1.0).tolist() == [images]
    i, j, S = vc.pairs(point, cutoff=cutoff, box=1.0, want="ijS", half=False)
    assert len(i) == len(j) == images == len(set(map(tuple, S.tolist())))
    half = vc.pairs(point, cutoff=cutoff, box=1.0, want="S")[0]
    assert len(half) == images // 2
    assert {tuple(s) for s in half.tolist()} | {tuple(-s) for s in half} == set(map(tuple, S.tolist()))


@pytest.mark.parametrize("structure", [vc.Exhaustive, vc.LinkedCells, vc.CellSorting])
def test_images_may_be_many(structure: Any) -> None:
    """More images along one axis than 16 bits can number: all are found, or the box is refused."""
    try:
        index = structure(np.zeros((1, 2)), cutoff=40000.0, box=(1.0, None))
    except vc.InputError:
        return
    (S,) = index.pairs(want="S", half=False, sort=True)
    assert np.array_equal(S[:, 0], np.delete(np.arange(-40000, 40001), 40000))


@pytest.mark.parametrize("structure", ["Exhaustive", "LinkedCells", "CellSorting"])
def test_images_within_reach_by_underflow_are_counted_too(structure: str) -> None:
    """1e-170 squared is zero, and so is the square of millions of edges of 1e-169: too many images, refused at once."""
    script = f"import vicinal as vc; vc.{structure}([[0.0, 0.0]], cutoff=1e-170, box=1e-169).count()"
    command = [sys.executable, "-c", script]
    result = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert "InputError: cutoff" in result.stderr


def test_a_number_is_a_cube() -> None:
    assert_same_pairs(full(CLOUD, cutoff=0.2, box=1.5), full(CLOUD, cutoff=0.2, box=(1.5, 1.5, 1.5)))


@pytest.mark.parametrize("like", [list, tuple, np.array, lambda box: np.array(box, np.float32)])
def test_a_box_may_be_any_sequence(like: Any) -> None:
    expected = exact_pairs(CLOUD, 0.2, (1.0, 1.5, 2.0))
    assert_same_pairs(full(CLOUD, cutoff=0.2, box=like([1.0, 1.5, 2.0])), expected)


def test_an_open_axis_has_no_images() -> None:
    S = full(CLOUD, cutoff=0.3, box=(1.0, None, 1.0)).S
    assert not S[:, 1].any()
    assert S[:, 0].any()
    assert S[:, 2].any()


def test_a_box_open_on_every_axis_is_no_box() -> None:
    assert_same_pairs(full(CLOUD, cutoff=0.2, box=(None, None, None)), full(CLOUD, cutoff=0.2))


@pytest.mark.parametrize("dtype", BOTH)
def test_shifts_belong_to_the_points_as_given(dtype: Any) -> None:
    """Points outside are wrapped, but D = points[j] - points[i] + S * box holds for the points as passed."""
    box = np.array([1.0, 0.7, 1.3], dtype)
    points = (CLOUD * 20 - 10).astype(dtype)
    pairs = full(points, cutoff=0.25, box=tuple(box.tolist()))
    assert np.abs(pairs.S).max() > 5
    as_given = points[pairs.j] - points[pairs.i] + pairs.S * box
    assert np.allclose(pairs.D, as_given, atol=50 * np.finfo(dtype).eps)
    assert_same_pairs(pairs, exact_pairs(points, 0.25, tuple(box.tolist())))


def test_moving_points_by_whole_edges_changes_the_shifts_only() -> None:
    points = np.floor(CLOUD * 256) / 256  # exact under the moves below
    moved = points + np.random.default_rng(0).integers(-9, 10, points.shape)
    a, b = full(points, cutoff=0.2, box=1.0), full(moved, cutoff=0.2, box=1.0)
    for letter in "ijdD":
        assert_same_bits(getattr(b, letter), getattr(a, letter))
    edges = np.round(moved - points).astype(np.int32)
    assert np.array_equal(b.S, a.S + edges[a.i] - edges[a.j])


@pytest.mark.parametrize("dtype", BOTH)
def test_points_on_opposite_faces_are_the_same_point(dtype: Any) -> None:
    points = np.array([[0, 0.35], [0.7, 0.35], [-0.7, 0.35], [1.4, 0.35]], dtype)
    pairs = full(points, cutoff=1e-3, box=0.7)
    assert_same_pairs(pairs, exact_pairs(points, 1e-3, 0.7))
    assert len(pairs) == 12
    assert not pairs.d.any()


@pytest.mark.parametrize("dtype", BOTH)
def test_a_point_an_ulp_below_the_face_stays_inside(dtype: Any) -> None:
    """A point so little below zero that adding the edge rounds to L is wrapped to zero, never to L."""
    L = dtype(0.7)
    points = np.array([[np.nextafter(L, dtype(0)), 0], [-1e-30, 0], [0, 0]], dtype)
    pairs = full(points, cutoff=0.01, box=0.7)
    assert_same_pairs(pairs, exact_pairs(points, 0.01, 0.7))
    assert len(pairs) == 6
    assert pairs.D[(pairs.i == 1) & (pairs.j == 2)].tolist() == [[0, 0]]


@pytest.mark.parametrize("dtype", BOTH)
@pytest.mark.parametrize("edge", [0.7, 1.0, 0.1])
def test_points_near_the_limit_of_wrapping_are_right_or_refused(dtype: Any, edge: float) -> None:
    """2**30 edges out, float32 cannot distinguish adjacent edges; the definition still applies."""
    rng = np.random.default_rng(1)
    for reach in (2**12, 2**18, 2**24, 2**29):
        points = (rng.integers(-reach, reach, (40, 2)) * edge + rng.uniform(0, edge, (40, 2))).astype(dtype)
        expected = exact_pairs(points, 0.3 * edge, edge)
        refusal = ""
        try:
            pairs = full(points, cutoff=0.3 * edge, box=edge)
        except vc.InputError as error:
            refusal = str(error)
        if refusal:
            assert reach > 2**18
            assert "box" in refusal
        else:
            assert_same_pairs(pairs, expected)


def test_queries_are_wrapped_too() -> None:
    queries = CLOUD[:40] * 9 - 4
    pairs = Pairs(*vc.pairs(CLOUD, cutoff=0.2, box=1.0, queries=queries, want=ALL, sort=True))
    assert_same_pairs(pairs, exact_pairs(CLOUD, 0.2, 1.0, queries))
    assert np.abs(pairs.S).max() >= 4
