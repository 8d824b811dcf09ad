"""The MPI ranks that share a simulation: what they agree on, and the parts of space they own.

Without a communicator, every method answers for the one process there is.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.distributed import Domain
from vicinal.distributed.agreement import check_same
from vicinal.distributed.bisection import wrapped
from vicinal.distributed.messages import send_rows, swap_counts

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]
Result = TypeVar("Result")

DIGIT = 8
"""Bits of a number that `Ranks.kth` finds in one round."""


class Ranks:
    """The ranks that share a simulation.

    Parameters
    ----------
    comm
        An mpi4py communicator, or None for one process.
    box
        Period along each axis, 0 for an open axis.
    """

    def __init__(self, comm: Intracomm | None, box: Sequence[float]) -> None:
        self.domain = None if comm is None else Domain(comm, box=[edge or None for edge in box] if any(box) else None)
        self.rank, self.size = (0, 1) if self.domain is None else (self.domain.rank, self.domain.size)
        self.edges = list(box)
        self.divided = False
        """Whether space was divided by the positions of bodies."""
        self.asked = False
        """Whether this rank was asked to stop; the others learn it in the next step."""
        self.stopping = False
        """Whether all ranks stop after the present step."""

    @property
    def used(self) -> bool:
        """Whether there is a communicator, possibly of one rank."""
        return self.domain is not None

    @property
    def comm(self) -> Intracomm:
        """The communicator for messages of vicinal."""
        assert self.domain is not None  # noqa: S101 - callers ask `used` first
        return self.domain.comm

    # --- agreement ----------------------------------------------------------------------------------------------------

    def largest(self, value: float) -> float:
        """Return the largest value of all ranks."""
        return float(max(self.gathered(float(value))))

    def agree(self, numbers: Array) -> None:
        """Replace numbers by the largest ones of all ranks."""
        if self.used:
            from mpi4py import MPI

            self.comm.Allreduce(MPI.IN_PLACE, numbers, MPI.MAX)

    def total(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return the sum of whole numbers over all ranks."""
        if not self.used:
            return numbers
        sums = np.ascontiguousarray(numbers).copy()
        self.comm.Allreduce(_in_place(), sums)
        return sums

    def count(self, number: int) -> int:
        """Return the sum of a whole number over all ranks."""
        return int(self.total(np.array([number], np.int64))[0])

    def gathered(self, value: Result) -> list[Result]:
        """Return the values of all ranks, in their order."""
        return self.comm.allgather(value) if self.used else [value]

    def sums(self, columns: Array) -> Array:
        """Return the sums of columns over the rows of all ranks; their bits do not depend on the order of rows."""
        return _core.exact_values(self.total(_core.exact_sums(np.ascontiguousarray(columns))))

    def low(self, positions: Array) -> Array:
        """Return the smallest coordinates of all ranks."""
        return np.asarray(np.min(self.gathered(positions.min(axis=0, initial=np.inf)), axis=0))

    def kth(self, values: npt.NDArray[Any], places: npt.ArrayLike) -> npt.NDArray[Any]:
        """Return the values at these places of the sorted values of all ranks; values must not be negative.

        Examples
        --------
        >>> Ranks(None, (0, 0, 0)).kth(np.array([3.0, 1.0, 2.0]), [0, 2])
        array([1., 3.])
        """
        wanted = np.asarray(places, np.int64)
        if not self.used:
            return np.asarray(np.sort(values)[wanted])
        own = np.sort(values).view(np.uint64)  # the bits of numbers of at least 0 have the order of the numbers
        found = np.zeros(len(wanted), np.uint64)
        for shift in range(64 - DIGIT, -1, -DIGIT):
            tried = found[:, None] | (np.arange(1 << DIGIT, dtype=np.uint64) << np.uint64(shift))
            below = self.total(np.searchsorted(own, tried, side="left").astype(np.int64))
            digit = (below <= wanted[:, None]).sum(axis=1) - 1
            found = tried[np.arange(len(wanted)), digit]
        return found.view(values.dtype)

    def median(self, values: Array) -> float:
        """Return the median of the values of all ranks."""
        total = self.count(len(values))
        low, high = self.kth(values, [(total - 1) // 2, total // 2])
        return float((low + high) / 2)

    def check_same(self, **settings: object) -> None:
        """Raise `InputError` on all ranks unless they have the same settings, by name."""
        if self.used:
            check_same(self.comm, settings)

    def raise_together(self, error: Exception | None) -> None:
        """Raise an error on all ranks if there is one on any: that of the first rank that has one."""
        if not self.used:
            if error is not None:
                raise error
            return
        if self.count(int(error is not None)):
            errors = self.gathered(error)
            first = next(rank for rank, one in enumerate(errors) if one is not None)
            found = errors[first]
            assert found is not None  # noqa: S101 - `first` has one
            raise found if first == self.rank or self.size == 1 else _told(found, first)

    def together(self, call: Callable[[], Result]) -> Result:
        """Return the result of a call that may fail on some rank; if it does, all ranks raise its error."""
        result: Result | None = None
        error: Exception | None = None
        try:
            result = call()
        except Exception as failed:  # noqa: BLE001 - raised again below
            error = failed
        self.raise_together(error)
        return result  # type: ignore[return-value]

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Let Ctrl-C on any rank stop all ranks after the same step, unless the caller handles it already."""
        if not self.used or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
            yield
            return
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def request(*_: object) -> None:
            self.asked = True

        signal.signal(signal.SIGINT, request)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    # --- space --------------------------------------------------------------------------------------------------------

    def share(self, positions: Array) -> npt.NDArray[np.intp]:
        """Divide space among ranks by positions that all of them know; return which ones this rank owns."""
        domain = self.domain
        if domain is None:
            return np.arange(len(positions))
        inside = wrapped(positions, self.edges)
        part = slice(len(inside) * self.rank // self.size, len(inside) * (self.rank + 1) // self.size)
        domain.parts = domain.divide(inside[part], np.ones(len(inside[part])))
        self.divided = len(inside) > 0
        return np.flatnonzero(domain.parts.owners(inside) == self.rank)

    def at_first(self, value: Result) -> list[Result]:
        """Return the values of all ranks on rank 0; other ranks get their own."""
        if not self.used:
            return [value]
        return self.comm.gather(value) or [value]

    def swap(self, parcels: Sequence[npt.NDArray[np.uint8]]) -> list[npt.NDArray[np.uint8]]:
        """Send a parcel to each rank; return those of each rank."""
        leaving = np.array([len(parcel) for parcel in parcels], np.int64)
        arriving = swap_counts(self.comm, leaving)
        (received,) = send_rows(self.comm, [np.concatenate(parcels)], leaving, arriving)
        return np.split(received, np.cumsum(arriving)[:-1])


def _told(error: Exception, rank: int) -> Exception:
    """Return the error of another rank with the number of the rank."""
    error.args = (f"{error} (on rank {rank})", *error.args[1:])
    return error


def _in_place() -> Any:
    from mpi4py import MPI

    return MPI.IN_PLACE
