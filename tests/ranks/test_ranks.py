"""Searches on several MPI ranks: together, the ranks find exactly the pairs of one process (see program.py)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import vicinal as vc

pytest.importorskip("mpi4py", reason="ranks need mpi4py, which is not installed")
from mpi4py import MPI

from ranks.launch import launch, needs_launcher
from vicinal.distributed import Domain

PROGRAM = str(Path(__file__).with_name("program.py"))


@needs_launcher
@pytest.mark.parametrize(
    ("program", "names", "ranks"),
    [
        ("program", "bisection", 1),
        ("program", "structures,motion,cells,disagree,arguments", 2),
        ("program", "hard_cases", 3),
        ("program", "motion,decompositions,cells", 3),
        ("program", "filters,consumers,load", 3),
        ("program", "structures,balance", 4),
        ("program", "decompositions", 8),
        ("queries_program", "consumers,wrong", 2),
        ("queries_program", "hard_cases,options", 3),
    ],
)
def test_ranks_together_do_what_one_process_does(program: str, names: str, ranks: int, tmp_path: Path) -> None:
    result = launch(ranks, str(Path(__file__).with_name(f"{program}.py")), names, str(tmp_path))
    assert result.returncode == 0, result.stdout + result.stderr
    assert result.stdout.strip() == f"passed on {ranks} ranks"


@needs_launcher
def test_a_rank_that_fails_ends_the_job_with_its_message() -> None:
    result = launch(2, PROGRAM, "fail")
    assert result.returncode != 0
    assert "the second rank has failed" in result.stdout + result.stderr


def test_a_communicator_is_needed() -> None:
    with pytest.raises(
        vc.InputError, match=r"comm must be an mpi4py communicator, got 4; pass mpi4py\.MPI\.COMM_WORLD"
    ):
        Domain(4)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"])
def test_ranks_of_another_mpi_are_refused(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv(name, "4")
    with pytest.raises(vc.InputError, match="comm must have the 4 ranks that the launcher started, got 1"):
        Domain(MPI.COMM_WORLD)


def test_later_changes_of_the_array_of_a_box_have_no_effect() -> None:
    points, cell = np.random.default_rng(0).random((60, 3)), np.eye(3)
    mine = Domain(MPI.COMM_SELF, box=cell).scatter(points)
    cell *= 9.0
    assert len(mine.pairs(0.3)[0]) == len(vc.pairs(points, 0.3, box=1.0)[0])


def test_wrong_columns_are_named() -> None:
    domain = Domain(MPI.COMM_SELF)
    with pytest.raises(vc.InputError, match="ids must have one row per point, 2, got 3"):
        domain.scatter(np.zeros((2, 3)), ids=[1, 2, 3])
    with pytest.raises(vc.InputError, match="weights must be finite and at least 0"):
        domain.scatter(np.zeros((2, 3)), weights=[1.0, -1.0])
    mine = domain.scatter(np.zeros((2, 3)), fields={"mass": [1.0, 2.0]})
    with pytest.raises(vc.InputError, match=r"fields must be among \['mass'\], got 'charge'"):
        mine.exchange(charge=[1.0, 2.0])
    with pytest.raises(vc.InputError, match="points must have one row per body, 2, got 3"):
        mine.exchange(np.zeros((3, 3)))
    with pytest.raises(vc.InputError, match="values must have one row for each of the 2 bodies, got 1"):
        mine.borders(1.0).forward(np.zeros(1))
    with pytest.raises(vc.InputError, match="pass exactly one of cutoff=, radii= or boxes="):
        mine.pairs()
