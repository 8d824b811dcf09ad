"""Messages between ranks: columns of rows to their receivers, and errors that all ranks raise together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from vicinal.distributed.launcher import check_launcher
from vicinal.errors import InputError
from vicinal.extras import need

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Request

Result = TypeVar("Result")
Array = npt.NDArray[Any]


_DUPLICATE: list[int] = []
"""The key under which a communicator keeps the duplicate made of it; empty before the first one."""


def own_communicator(comm: Intracomm) -> Intracomm:
    """Return a duplicate for messages of vicinal, one per communicator: MPI libraries allow some thousands only.

    Raises `InputError` for what is no communicator.
    """
    need("vicinal.distributed", "mpi", "mpi4py")
    from mpi4py import MPI

    checked: object = comm  # callers may pass any object
    if not isinstance(checked, MPI.Intracomm) or checked == MPI.COMM_NULL:
        raise InputError(f"comm must be an mpi4py communicator, got {comm!r}; pass mpi4py.MPI.COMM_WORLD")
    check_launcher()
    if not _DUPLICATE:
        _DUPLICATE.append(MPI.Comm.Create_keyval(delete_fn=lambda _comm, _key, duplicate: duplicate.Free()))
    (key,) = _DUPLICATE
    kept: Any = comm.Get_attr(key)
    if kept is None:
        kept = comm.Dup()
        comm.Set_attr(key, kept)
    duplicate: Intracomm = kept
    return duplicate


def together(comm: Intracomm, check: Callable[[], Result]) -> Result:
    """Run a check on every rank; if it fails on one, all ranks raise an `InputError` that names the rank.

    Without this the other ranks would wait forever for messages of the rank that failed.
    """
    result: Result | None = None
    error: InputError | None = None
    try:
        result = check()
    except InputError as failed:
        error = failed
    first = comm.allreduce(comm.size if error is None else comm.rank, op=_minimum())
    if first < comm.size:
        message = comm.bcast(str(error) if comm.rank == first else None, root=first)
        raise InputError(message if comm.size == 1 else f"{message} (on rank {first} of {comm.size})") from error
    return result  # type: ignore[return-value]


def _minimum() -> Any:
    from mpi4py import MPI

    return MPI.MIN


def as_bytes(array: Array) -> npt.NDArray[np.uint8]:
    """Return the memory of contiguous rows: messages need not know their type."""
    return array.reshape(-1).view(np.uint8)


def row_bytes(array: Array) -> int:
    """Return the number of bytes per row."""
    return array.dtype.itemsize * int(np.prod(array.shape[1:], dtype=np.int64))


def swap_counts(comm: Intracomm, counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Tell every rank how many rows it will get from this one; return what this one will get from each."""
    arriving = np.empty_like(counts)
    comm.Alltoall(counts, arriving)
    return arriving


def send_rows(
    comm: Intracomm,
    columns: Sequence[Array],
    leaving: npt.NDArray[np.int64],
    arriving: npt.NDArray[np.int64],
) -> list[Array]:
    """Exchange rows that lie in the order of their receivers; return those that arrive in the order of their senders.

    Rows that stay are copied without a message.
    """
    results = []
    requests: list[Request] = []
    out, into = np.concatenate([[0], np.cumsum(leaving)]), np.concatenate([[0], np.cumsum(arriving)])
    for tag, given in enumerate(columns):
        column = np.ascontiguousarray(given)
        result = np.empty((int(into[-1]), *column.shape[1:]), column.dtype)
        width = row_bytes(column)
        source, target = as_bytes(column), as_bytes(result)
        for step in range(1, comm.size):
            # Each rank starts with its successor, so that not all of them send to rank 0 first.
            there, back = (comm.rank + step) % comm.size, (comm.rank - step) % comm.size
            if arriving[back]:
                requests.append(comm.Irecv(target[into[back] * width : into[back + 1] * width], back, tag))
            if leaving[there]:
                requests.append(comm.Isend(source[out[there] * width : out[there + 1] * width], there, tag))
        me = comm.rank
        result[into[me] : into[me + 1]] = column[out[me] : out[me + 1]]
        results.append(result)
    for request in requests:
        request.Wait()
    return results
