"""The triangulation as an index: refused input, statistics, and recovery from an interrupt."""

from __future__ import annotations

import signal
import sys
from typing import Any

import numpy as np
import pytest

import vicinal as vc

POINTS = np.random.default_rng(61).random((3000, 2))


def test_space_is_refused() -> None:
    with pytest.raises(vc.InputError, match="points must have 2 columns for Delaunay, got 3"):
        vc.Delaunay(np.zeros((5, 3)), cutoff=1.0)


@pytest.mark.parametrize("box", [1.0, (1.0, None)])
def test_a_periodic_box_is_refused(box: Any) -> None:
    with pytest.raises(vc.InputError, match=r"open space only.*; use LinkedCells or CellSorting"):
        vc.Delaunay(POINTS, cutoff=0.1, box=box)
    assert len(vc.Delaunay(POINTS, cutoff=0.1, box=(None, None))) == len(POINTS)


@pytest.mark.parametrize("slack", [-1.0, np.nan, np.inf, "wide", True])
def test_a_skin_is_a_distance(slack: Any) -> None:
    with pytest.raises(vc.InputError, match="slack"):
        vc.Delaunay(POINTS, cutoff=0.1, slack=slack)


def test_other_structures_have_no_triangles() -> None:
    cells = vc.LinkedCells(POINTS, cutoff=0.1)
    with pytest.raises(RuntimeError, match="cannot"):
        vc._core.delaunay_edges(cells._core)


def test_the_figures_are_those_of_euler() -> None:
    index = vc.Delaunay(POINTS, cutoff=0.1)
    details = index.stats.details
    assert details["vertices"] == len(POINTS)
    assert details["triangles"] == len(index.triangles)
    hull = 2 * details["vertices"] - 2 - details["triangles"]
    assert len(index.edges) == 3 * details["vertices"] - 3 - hull


def test_memory_is_in_proportion_to_the_points() -> None:
    index = vc.Delaunay(POINTS, cutoff=0.02)
    index.pairs()
    index.pairs(queries=POINTS)
    assert index.stats.bytes < 600 * len(POINTS)


@pytest.mark.usefixtures("threads")
def test_threads_find_the_same_pairs() -> None:
    rng = np.random.default_rng(62)
    points = rng.random((20_000, 2))
    results = []
    for n in (1, 2, 3):
        vc.set_threads(n)
        index = vc.Delaunay(points, cutoff=0.01)
        index.update(points + 0.3 / 20_000**0.5 * np.sin(points * 50))
        results.append([*index.pairs(want="ijd", sort=True), index.count(), np.array([index.stats.candidates])])
        assert index.is_delaunay()
    for other in results[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(results[0], other, strict=True))


def test_the_cutoff_may_exceed_the_extent() -> None:
    assert len(vc.Delaunay(POINTS[:200], cutoff=1e6).pairs()[0]) == 199 * 100


@pytest.mark.skipif(sys.platform == "win32", reason="there are no timers to interrupt with")
def test_an_interrupted_update_leaves_an_index_that_can_be_updated() -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    index = vc.Delaunay(POINTS, cutoff=0.1)
    many = np.random.default_rng(63).random((1_500_000, 2))
    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.12)
        with pytest.raises(KeyboardInterrupt):
            index.update(many)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    with pytest.raises(RuntimeError, match="update it first"):
        index.pairs()
    with pytest.raises(RuntimeError, match="update it first"):
        index.is_delaunay()
    index.update(many)  # as many points as the incomplete triangulation has
    assert index.is_delaunay()
    index.update(POINTS)
    assert index.is_delaunay()
    expected = vc.pairs(POINTS, cutoff=0.1, sort=True)
    assert all(np.array_equal(a, b) for a, b in zip(index.pairs(sort=True), expected, strict=True))
