"""Fluids on several MPI ranks have the bits of one process (see fluids_program.py)."""

from __future__ import annotations

from pathlib import Path

import pytest

from distributed.launch import launch, needs_launcher

pytest.importorskip("mpi4py", reason="ranks need mpi4py, which is not installed")

PROGRAM = str(Path(__file__).with_name("fluids_program.py"))


@needs_launcher
@pytest.mark.parametrize(("name", "ranks"), [("cases", 2), ("cases", 3), ("disagree", 2)])
def test_fluids_on_ranks_have_the_bits_of_one_process(name: str, ranks: int) -> None:
    result = launch(ranks, PROGRAM, name)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == f"passed on {ranks} ranks"


@needs_launcher
def test_a_state_goes_on_bit_for_bit_on_any_number_of_ranks(tmp_path: Path) -> None:
    for ranks in (4, 3, 1):
        result = launch(ranks, PROGRAM, "restart", str(tmp_path))
        assert result.returncode == 0, result.stdout + result.stderr
