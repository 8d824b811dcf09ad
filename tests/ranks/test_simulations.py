"""Grains and fluids on several MPI ranks have the bits of one process (see the programs)."""

from __future__ import annotations

from pathlib import Path

import pytest

from ranks.launch import launch, needs_launcher

pytest.importorskip("mpi4py", reason="ranks need mpi4py, which is not installed")


def program(name: str) -> str:
    return str(Path(__file__).with_name(f"{name}_program.py"))


@needs_launcher
@pytest.mark.parametrize(
    ("bodies", "names", "ranks"),
    [
        ("grains", "feeding", 1),
        ("grains", "spheres,feeding,unequal,disagree,settings", 2),
        ("grains", "redivided,messages", 2),
        ("grains", "storm,shapes,validation", 3),
        ("grains", "walls", 4),
        ("fluids", "cases,disagree,settings", 2),
        ("fluids", "cases,bodies,validation", 3),
    ],
)
def test_ranks_have_the_bits_of_one_process(bodies: str, names: str, ranks: int) -> None:
    result = launch(ranks, program(bodies), names)
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == f"passed on {ranks} ranks"


@needs_launcher
@pytest.mark.parametrize(
    ("bodies", "name"), [("grains", "restart"), ("fluids", "restart"), ("fluids", "dfsph_restart")]
)
def test_a_state_goes_on_bit_for_bit_on_any_number_of_ranks(bodies: str, name: str, tmp_path: Path) -> None:
    for ranks in (4, 3, 1):
        result = launch(ranks, program(bodies), name, str(tmp_path))
        assert result.returncode == 0, result.stdout + result.stderr
