"""What the launcher of MPI ranks has told this process."""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from vicinal.errors import InputError, MissingExtraError
from vicinal.extras import need


def started_ranks() -> int:
    """Return how many ranks the launcher has started, 1 without a launcher."""
    # In a step of Slurm, mpiexec may start other numbers of ranks; it has the last word.
    told = _told("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS") or _told("SLURM_STEP_NUM_TASKS")
    if not told and "PMIX_RANK" in os.environ:  # the number of ranks is known to MPI only
        size: int = load_mpi("a launcher that uses PMIx").COMM_WORLD.size
        return max(own_rank() + 1, size)
    return max([1, *told])


def own_rank() -> int:
    """Return the number of this rank, 0 without a launcher."""
    told = _told("OMPI_COMM_WORLD_RANK", "PMI_RANK", "MPI_LOCALRANKID")
    return max([0, *(told or _told("PMIX_RANK", "SLURM_PROCID"))])


def _told(*names: str) -> list[int]:
    """Return numbers in variables of the environment."""
    return [int(text) for name in names if (text := os.environ.get(name, "")).isdigit()]


def load_mpi(user: str) -> Any:
    """Return mpi4py.MPI; raise `MissingExtraError` if `user`, the subject of the message, cannot have it."""
    need(user, "mpi", "mpi4py")
    try:
        return import_module("mpi4py.MPI")
    except (ImportError, RuntimeError) as error:
        raise MissingExtraError(
            f"{user} needs an MPI library that mpi4py can load, got: {error}; pip install mpich, or load the module of "
            "the MPI whose launcher is used",
            name="mpi4py",
        ) from error


def check_launcher() -> None:
    """Refuse a world of one rank under a launcher that started several: mpi4py then belongs to another MPI."""
    started, world = started_ranks(), load_mpi("a run on ranks").COMM_WORLD
    if started > 1 and world.size == 1:
        raise InputError(
            f"comm must have the {started} ranks that the launcher started, got 1: the launcher and mpi4py belong "
            "to different MPI libraries; use the mpiexec of the MPI that mpi4py loads, or pip install mpich; with "
            "srun, choose the interface of that MPI by --mpi"
        )
