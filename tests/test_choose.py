"""vc.choose: which structure, and why."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from compare import ALL, assert_same_pairs
from oracle import Pairs, exact_pairs
from strategies import problems

if TYPE_CHECKING:
    from cases import Problem

UNIFORM = np.random.default_rng(18).random((50000, 3))


def build(choice: Any, points: Any, **space: Any) -> Any:
    return getattr(vc, choice.structure)(points, **space, **choice.parameters)


def test_a_choice_says_what_and_why() -> None:
    choice = vc.choose(UNIFORM, cutoff=0.03)
    assert choice.structure in {"Exhaustive", "LinkedCells", "CellSorting"}
    assert isinstance(choice.parameters, dict)
    assert len(choice.reason.split()) >= 4
    with pytest.raises(FrozenInstanceError):
        choice.structure = "Octree"


@given(problem=problems())
def test_what_is_chosen_can_be_built_and_answers_rightly(problem: Problem) -> None:
    choice = vc.choose(problem.points, **problem.space)
    index = build(choice, problem.points, **problem.space)
    found = Pairs(*index.pairs(want=ALL, half=False, sort=True))
    assert_same_pairs(found, exact_pairs(problem.points, **problem.space))


@pytest.mark.parametrize("n", [0, 1, 2, 10])
def test_a_handful_is_searched_exhaustively(n: int) -> None:
    assert vc.choose(UNIFORM[:n], cutoff=0.03).structure == "Exhaustive"


def test_a_crowd_is_not() -> None:
    assert vc.choose(UNIFORM, cutoff=0.03).structure != "Exhaustive"


def test_a_dense_grid_is_never_chosen_where_it_would_not_fit() -> None:
    stretched = UNIFORM * 1e9
    choice = vc.choose(stretched, cutoff=1.0)
    assert choice.structure == "CellSorting"
    build(choice, stretched, cutoff=1.0).pairs()


def test_the_choice_is_the_one_pairs_makes() -> None:
    """What choose names finds what the one-call search finds, in the same order."""
    with vc.threads(1):
        index = build(vc.choose(UNIFORM, cutoff=0.03), UNIFORM, cutoff=0.03)
        for chosen, called in zip(index.pairs(), vc.pairs(UNIFORM, cutoff=0.03), strict=True):
            assert np.array_equal(chosen, called)


def test_choosing_checks_its_input() -> None:
    with pytest.raises(vc.InputError, match="cutoff"):
        vc.choose(UNIFORM, cutoff=-1)
    with pytest.raises(vc.InputError, match="box"):
        vc.choose(UNIFORM, cutoff=0.1, box=(1, 1))


def test_mixed_sizes_get_grids_of_several_sizes() -> None:
    points = np.random.default_rng(0).random((2000, 3))
    giant = np.full(2000, 0.01)
    assert vc.choose(points, radii=giant).structure != "HashGrid"
    giant[7] = 0.4
    choice = vc.choose(points, radii=giant)
    assert choice.structure == "HashGrid"
    assert "40" in choice.reason
    edges = np.full((2000, 3), 0.01)
    edges[7] = 0.4
    assert vc.choose(boxes=(points, points + edges)).structure == "HashGrid"
    assert vc.choose(points, radii=np.zeros(2000)).structure in ("LinkedCells", "CellSorting")
