"""CellSorting: memory for the points alone, for any extent, and finer cells by the H-mask."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from candidates import expected_ratio, pairs_in_reach


@pytest.mark.parametrize("side", [2, 3, 5, 8, 15])
def test_candidates_are_the_pairs_in_neighbouring_cells(side: int) -> None:
    """The experiment of Onderik & Ďurikovič 2008: uniform points, h = 1, cubes of side 2 ... 15."""
    n = 15000 if side > 3 else 4000
    points = np.random.default_rng(side).uniform(0, side, (n, 3)).astype(np.float32)
    index = vc.CellSorting(points, cutoff=1.0, h_mask=1)
    index.pairs()
    assert index.stats.candidates == pytest.approx(n * (n - 1) / 2 * expected_ratio(side, 3), rel=0.02)


@pytest.mark.parametrize("h_mask", [1, 2, 3])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_stencil_is_the_h_mask_without_unreachable_corners(h_mask: int, dim: int) -> None:
    n, side = 3000, 6
    points = np.random.default_rng(h_mask).uniform(0, side, (n, dim))
    index = vc.CellSorting(points, cutoff=1.0, h_mask=h_mask)
    index.pairs()
    cells = np.floor((points - points.min(axis=0)) * h_mask).astype(np.int64)
    assert index.stats.candidates == pytest.approx(pairs_in_reach(cells, h_mask), rel=0.02)


def test_a_finer_mask_proposes_fewer_candidates() -> None:
    points = np.random.default_rng(2).random((20000, 3))
    proposed = []
    for h_mask in (1, 2, 3):
        index = vc.CellSorting(points, cutoff=0.08, h_mask=h_mask)
        index.pairs()
        proposed.append(index.stats.candidates)
    assert proposed[0] > proposed[1] > proposed[2]


@pytest.mark.parametrize("h_mask", [1, 2, 3])
@pytest.mark.parametrize("dim", [2, 3])
def test_two_groups_may_be_any_number_of_cells_apart(h_mask: int, dim: int) -> None:
    """Keys of every length, from a few bits over 32 to more than 64."""
    for k in range(1, 80):
        points = np.zeros((4, dim))
        points[1, 1] = 0.5
        points[2:, 0] = 2.0**k
        points[3, 1] = 0.75
        i, j = vc.CellSorting(points, cutoff=1.0, h_mask=h_mask).pairs(sort=True)
        assert (i.tolist(), j.tolist()) == ([0, 2], [1, 3])


@pytest.mark.parametrize("stretch", [1.0, 1e6, 1e12])
def test_memory_depends_on_the_points_and_not_on_the_extent(stretch: float) -> None:
    points = np.random.default_rng(4).random((10000, 3)) * stretch
    index = vc.CellSorting(points, cutoff=0.05)
    index.pairs()
    assert index.stats.bytes < 200 * len(points)


@pytest.mark.parametrize("h_mask", [0, 4, -1, 1.5, "2"])
def test_an_h_mask_other_than_1_2_3_is_refused(h_mask: Any) -> None:
    with pytest.raises(vc.InputError, match=r"h_mask.*(1, 2|1 to 3)"):
        vc.CellSorting(np.zeros((2, 3)), cutoff=0.1, h_mask=h_mask)
