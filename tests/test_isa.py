"""Instruction sets: chosen at run time, lowered on request, and the same result from each."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, START_SECONDS, hard_case
from compare import ask, assert_same_pairs
from oracle import exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems, sized_problems
from structures import STRUCTURES, Structure
from vicinal import _core

AVAILABLE: list[str] = vc.info()["isa_available"]
LOWEST_FIRST = ["baseline", "avx2", "avx512", "neon"]

pytestmark = pytest.mark.usefixtures("isa")
every_isa = pytest.mark.parametrize("name", AVAILABLE)


def test_the_baseline_is_always_there() -> None:
    assert AVAILABLE[0] == "baseline"
    assert [name for name in LOWEST_FIRST if name in AVAILABLE] == AVAILABLE
    assert vc.info()["isa"] in AVAILABLE


@every_isa
def test_the_instruction_set_can_be_switched(name: str) -> None:
    _core.set_isa(name)
    assert vc.info()["isa"] == name


def test_an_unknown_instruction_set_is_refused() -> None:
    with pytest.raises(ValueError, match="sse9"):
        _core.set_isa("sse9")


def test_an_invalid_environment_variable_raises_a_clear_error() -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import vicinal; print('imported'); vicinal.pairs([[0, 0], [1, 1]], 2)"],
        env={**os.environ, "VICINAL_ISA": "sse9"},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    assert result.returncode != 0
    assert result.stdout == "imported\n"
    assert "InputError: VICINAL_ISA must be one of" in result.stderr
    assert "sse9" in result.stderr
    assert "baseline" in result.stderr


@every_isa
def test_the_environment_lowers_the_instruction_set(name: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", "import vicinal; print(vicinal.info()['isa'])"],
        env={**os.environ, "VICINAL_ISA": name},
        capture_output=True,
        text=True,
        timeout=START_SECONDS,
        check=False,
    )
    assert result.stdout.strip() == name, result.stderr


@every_isa
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
def test_every_hard_case_is_answered_as_the_oracle_does(name: str, dtype: Any, dim: int) -> None:
    _core.set_isa(name)
    for problem, expected in (hard_case(case, dtype, dim) for case in BUILDERS | SIZED):
        assert_same_pairs(ask(vc.pairs, problem.kind, **problem.bodies, half=False, sort=True), expected)


@settings(max_examples=max(30, settings().max_examples // 3))
@given(problem=problems(most=150))
def test_any_problem_has_the_same_result_with_every_instruction_set_and_structure(problem: Problem) -> None:
    check_alike(problem)


@settings(max_examples=max(30, settings().max_examples // 3))
@given(problem=st.sampled_from(["spheres", "boxes"]).flatmap(lambda kind: sized_problems(kind, most=100)))
def test_bodies_of_any_size_have_the_same_result_with_every_instruction_set_and_structure(problem: Problem) -> None:
    check_alike(problem)


def check_alike(problem: Problem) -> None:
    assume(len(problem.positions))
    expected = exact_pairs(**problem.bodies)
    for name in AVAILABLE:
        _core.set_isa(name)
        for structure in STRUCTURES:
            if structure.takes(problem):
                pairs = ask(structure.solve(problem).pairs, problem.kind, half=False, sort=True)
                assert_same_pairs(pairs, expected)


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
def test_candidates_and_pairs_are_the_same_for_every_instruction_set(
    structure: Structure, dtype: Any, dim: int
) -> None:
    box = (1.0, None, 1.0)[:dim] if structure.periodic else None
    if not structure.lives_in(dim, box):
        pytest.skip("not a space of this structure")
    points = np.random.default_rng(17).random((5000, 3))[:, :dim].astype(dtype)
    figures = set()
    for name in AVAILABLE:
        _core.set_isa(name)
        index = structure.build(points, cutoff=0.04, box=box)
        index.pairs()
        figures.add((index.stats.candidates, index.stats.pairs))
    assert len(figures) == 1


@every_isa
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
def test_vectors_are_those_of_numpy_for_any_number_of_hits(name: str, dtype: Any, dim: int) -> None:
    _core.set_isa(name)
    for n in range(2, 20):
        points = np.random.default_rng(n).random((n, dim)).astype(dtype)
        for sort in (False, True):
            i, j, d, vectors = vc.pairs(points, cutoff=2.0, want="ijdD", half=False, sort=sort)
            assert len(i) == n * (n - 1)
            expected = points[j] - points[i]
            squares = expected[:, 0] * expected[:, 0]
            for axis in range(1, dim):
                squares = squares + expected[:, axis] * expected[:, axis]
            assert np.array_equal(vectors, expected)
            assert np.array_equal(d, np.sqrt(squares))
        assert np.array_equal(vc.pairs(points, cutoff=2.0, want="d", half=False, sort=True)[0], d)


@pytest.mark.parametrize("n", [*range(1, 70), 127, 128, 129])
def test_no_length_of_a_row_is_cut_short(n: int) -> None:
    """Remainders of vectors: all points in one cell, every candidate a hit or none, for every remainder."""
    rng = np.random.default_rng(n)
    for dtype in BOTH:
        points = rng.random((n, 3)).astype(dtype)
        for name in AVAILABLE:
            _core.set_isa(name)
            assert len(vc.pairs(points, cutoff=2.0)[0]) == n * (n - 1) // 2
            assert len(vc.pairs(points, cutoff=1e-9)[0]) == 0
            assert vc.count(points, cutoff=2.0).tolist() == [n - 1] * n
            assert vc.count(points, radii=np.full(n, 1.0)).tolist() == [n - 1] * n
            assert len(vc.pairs(points, radii=0.0)[0]) == 0
            assert vc.count(boxes=(points, points + 1)).tolist() == [n - 1] * n
            assert len(vc.pairs(boxes=(points, points))[0]) == 0
