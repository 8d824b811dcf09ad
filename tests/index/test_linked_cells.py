"""LinkedCells: a dense grid whose cells may exceed the cutoff and that covers most bodies."""

from __future__ import annotations

import numpy as np
import pytest

import vicinal as vc
from candidates import expected_ratio
from cases import DIMS


@pytest.mark.parametrize("side", [2, 3, 5, 8, 15])
def test_candidates_are_the_pairs_in_neighbouring_cells(side: int) -> None:
    """The experiment of Onderik & Ďurikovič 2008: 15 000 uniform points, cubes of 2 ... 15 cells."""
    n = 15000
    points = np.random.default_rng(side).uniform(0, side, (n, 3))
    index = vc.LinkedCells(points, cutoff=0.01, cell=1.0)
    index.pairs()
    assert index.stats.candidates == pytest.approx(n * (n - 1) / 2 * expected_ratio(side, 3), rel=0.02)


@pytest.mark.parametrize("dim", DIMS)
def test_larger_cells_propose_more_candidates_and_find_the_same(dim: int) -> None:
    points = np.random.default_rng(5).random((3000, dim))
    proposed, pairs = [], []
    for cell in (0.05, 0.1, 0.25, 10.0):
        index = vc.LinkedCells(points, cutoff=0.05, cell=cell)
        pairs.append(len(index.pairs()[0]))
        proposed.append(index.stats.candidates)
    assert len(set(pairs)) == 1
    assert proposed == sorted(set(proposed))
    assert proposed[-1] == 3000 * 2999 // 2


@pytest.mark.parametrize("dim", DIMS)
def test_cells_searched_together_propose_what_single_cells_propose(dim: int) -> None:
    rng = np.random.default_rng(dim)
    points, queries = rng.random((4000, dim)), 1.4 * rng.random((500, dim)) - 0.2
    cutoff = (2 / 4000) ** (1 / dim)  # two points per cell
    together, single = vc.LinkedCells(points, cutoff=cutoff), vc.CellSorting(points, cutoff=cutoff)
    for search in (
        lambda index: index.pairs(),
        lambda index: index.neighbors(),
        lambda index: index.pairs(queries=queries),
    ):
        search(together)
        search(single)
        assert together.stats.candidates == single.stats.candidates
        assert together.stats.pairs == single.stats.pairs


@pytest.mark.parametrize(
    "bodies", [{"cutoff": 0.0}, {"radii": 0.0}, {"cutoff": 1e-12}], ids=["cutoff 0", "radii 0", "tiny cutoff"]
)
@pytest.mark.parametrize("box", [None, 1.0], ids=["open", "periodic"])
def test_cells_are_larger_than_a_tiny_reach_and_hold_few_points(bodies: dict[str, float], box: float | None) -> None:
    points = np.random.default_rng(1).random((20000, 3))
    points[5000:10000] = points[:5000]
    index = vc.LinkedCells(points, box=box, **bodies)
    i, j = index.pairs(sort=True)
    assert np.array_equal(i, np.arange(5000))
    assert np.array_equal(j, i + 5000)
    assert 1e4 < index.stats.details["cells"] < 2e6
    assert index.stats.candidates < 10 * len(points)


def test_cells_are_larger_where_a_grid_of_the_given_ones_would_not_fit_into_memory() -> None:
    points = np.array([[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [1e6, 1e6, 1e6]])
    index = vc.LinkedCells(points, cutoff=1.0, cell=1.0)
    assert [column.tolist() for column in index.pairs()] == [[0], [1]]
    assert index.stats.details["cells"] < 2e6


def test_no_points_need_no_grid_however_vast_the_box() -> None:
    index = vc.LinkedCells(np.zeros((0, 3)), cutoff=1.0, box=1e7)
    assert [len(column) for column in index.pairs()] == [0, 0]
    assert [len(column) for column in index.pairs(queries=np.ones((4, 3)))] == [0, 0]


def test_a_point_far_away_does_not_change_the_cells_of_the_others() -> None:
    points = np.random.default_rng(0).random((1000, 3))
    index = vc.LinkedCells(points, cutoff=0.1, cell=0.1)
    before = index.stats.details["cells"]
    points[5] = 1e9
    index.update(points)
    assert index.stats.details["cells"] == pytest.approx(before, rel=0.2)


@pytest.mark.parametrize("cell", [0.0999, 0.0, -1.0, np.nan, np.inf])
def test_a_cell_smaller_than_the_cutoff_is_refused(cell: float) -> None:
    with pytest.raises(vc.InputError, match=r"(?s)cell.*cutoff"):
        vc.LinkedCells(np.zeros((2, 3)), cutoff=0.1, cell=cell)
