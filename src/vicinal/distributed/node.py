"""Memory that all ranks share if they run on one machine; they exchange through it without messages."""

from __future__ import annotations

import mmap
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from vicinal import _core

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

FOLDER = Path("/dev/shm")  # noqa: S108 - memory, on Linux
"""Where files are that live in memory."""


SPARE = 1.5
"""How much larger than the present messages the memory is, so that it lasts if bodies move."""


def open_node(comm: Intracomm, needed: int) -> _core.Node | None:
    """Return an exchange through shared memory for messages of so many bytes, and some more.

    Returns None on all ranks if some of them cannot share memory. All ranks call it together, with the same number.
    """
    if not _on_one_machine(comm):
        return None
    capacity = int(SPARE * needed)
    size = _core.Node.bytes(comm.size, capacity)
    path = comm.bcast(_new_file(size) if comm.rank == 0 else None)
    memory = None if path is None else _map(path, size)
    shared = all(comm.allgather(memory is not None))
    if path is not None and comm.rank == 0:
        path.unlink()  # the memory remains as long as a rank uses it
    if memory is None or not shared:
        return None
    return _core.Node(np.frombuffer(memory, np.uint8), comm.size, comm.rank, capacity)


def _on_one_machine(comm: Intracomm) -> bool:
    from mpi4py import MPI

    near = comm.Split_type(MPI.COMM_TYPE_SHARED)
    size = near.size
    near.Free()
    return bool(size == comm.size)


def _new_file(size: int) -> Path | None:
    """Return a file of zeros in memory, or None if that is not possible."""
    if not (hasattr(os, "posix_fallocate") and FOLDER.is_dir()):
        return None
    path: Path | None = None
    try:
        file, name = tempfile.mkstemp(prefix="vicinal-", dir=FOLDER)
        path = Path(name)
        try:
            os.posix_fallocate(
                file, 0, size
            )  # fails if there is too little memory; a later write would end the process
        finally:
            os.close(file)
    except OSError:
        if path is not None:
            path.unlink()
        return None
    return path


def _map(path: Path, size: int) -> mmap.mmap | None:
    """Return the memory of a file, or None where it is not there."""
    with suppress(OSError):
        file = os.open(path, os.O_RDWR)
        try:
            return mmap.mmap(file, size)
        finally:
            os.close(file)
    return None
