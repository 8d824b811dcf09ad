"""What the launcher of MPI ranks has told this process."""

from __future__ import annotations

import os

from vicinal.errors import InputError


def started_ranks() -> int:
    """Return how many ranks the launcher has started, 1 without a launcher."""
    return max([1, *_told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS")])


def own_rank() -> int:
    """Return the number of this rank, 0 without a launcher."""
    return max([0, *_told("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MPI_LOCALRANKID")])


def _told(*names: str) -> list[int]:
    """Return numbers in variables of the environment."""
    return [int(text) for name in names if (text := os.environ.get(name, "")).isdigit()]


def check_launcher() -> None:
    """Refuse a world of one rank under a launcher that started several: mpi4py then belongs to another MPI."""
    from mpi4py import MPI

    started = started_ranks()
    if started > 1 and MPI.COMM_WORLD.size == 1:
        raise InputError(
            f"comm must have the {started} ranks that the launcher started, got 1: mpiexec and mpi4py belong "
            "to different MPI libraries; use the mpiexec of the MPI that mpi4py loads, or pip install mpich"
        )
