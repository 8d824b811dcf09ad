"""Ghosts: copies of bodies of other ranks that can form pairs with bodies of this one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal._check import Bodies
from vicinal.distributed.messages import Array, as_bytes, row_bytes, send_rows, swap_counts
from vicinal.errors import InputError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Prequest


def keeps_pair(rank: int, other: int) -> bool:
    """Return whether `rank` is the one of two ranks that finds the pairs between them; half of the ranks are."""
    return (rank < other) == ((rank + other) % 2 == 0)


@dataclass(eq=False)
class Halo:
    """The ghosts of this rank, and the bodies of this rank that are ghosts elsewhere.

    Parameters
    ----------
    leaving, arriving
        Number of bodies sent to each rank, and number of ghosts from each rank.
    rows
        Own bodies that are sent, in the order of their receivers.
    near
        Own bodies that can form pairs with ghosts, ascending.
    """

    comm: Intracomm
    own: int
    leaving: npt.NDArray[np.int64]
    arriving: npt.NDArray[np.int64]
    rows: npt.NDArray[np.int64]
    near: npt.NDArray[np.intp]
    _channels: dict[tuple[Any, ...], _Channel] = field(default_factory=dict, repr=False)

    @classmethod
    def between(
        cls,
        comm: Intracomm,
        bodies: Bodies,
        reach: float,
        edges: list[float],
        wanted: Callable[[int, int], bool] = lambda _rank, _other: True,
        seekers: Bodies | None = None,
    ) -> Halo:
        """Decide which own bodies the other ranks need.

        Parameters
        ----------
        bodies, reach
            The own bodies, and the cutoff of points.
        edges
            One period per axis, 0 for an open axis.
        wanted
            Whether a rank (first argument) needs the bodies of another one.
        seekers
            What this rank needs bodies for: a second set. None: its own bodies.
        """
        hulls = np.empty((comm.size, 2, bodies.dim))
        # A cutoff counts on one side only: the receiving bodies of points have no size.
        looking = bodies if seekers is None else seekers
        comm.Allgather(np.array(_core.hull_of_extents(looking.for_core, 0.0, edges)), hulls)
        meeting = _core.meeting_hulls(bodies.for_core, reach, edges, hulls, comm.rank)
        sent = [rows if wanted(rank, comm.rank) else rows[:0] for rank, rows in enumerate(meeting)]
        near = np.zeros(len(bodies), np.bool_)
        for rank, rows in enumerate(meeting):
            if wanted(comm.rank, rank):
                near[rows] = True
        leaving = np.array([len(rows) for rows in sent], np.int64)
        arriving = swap_counts(comm, leaving)
        return cls(comm, len(bodies), leaving, arriving, np.concatenate(sent), np.flatnonzero(near))

    def __len__(self) -> int:
        """Return the number of ghosts."""
        return int(self.arriving.sum())

    def forward(self, values: Array) -> Array:
        """Return the rows of the ghosts of a column of the own bodies. All ranks call it together.

        Memory and messages are kept for the next call with the same type: the result changes with it.
        """
        column = self._column(values, self.own, "bodies")
        return self._channel(column).forward(column)

    def reverse(self, values: Array) -> Array:
        """Return, for each own body, the sum of the rows of `values` of its ghosts. All ranks call it together.

        Sums are formed in the order of the ranks, so that their bits do not depend on the order of arrival.
        """
        column = self._column(values, len(self), "ghosts")
        (back,) = send_rows(self.comm, [column], self.arriving, self.leaving)
        total = np.zeros((self.own, *column.shape[1:]), column.dtype)
        np.add.at(total, self.rows, back)
        return total

    def _column(self, values: Array, size: int, name: str) -> Array:
        if len(values) != size:
            raise InputError(f"values must have one row for each of the {size} {name}, got {len(values)}")
        return np.ascontiguousarray(values)

    def _channel(self, column: Array) -> _Channel:
        key = (column.dtype.str, column.shape[1:])
        if key not in self._channels:
            self._channels[key] = _Channel(self, column, tag=len(self._channels))
        return self._channels[key]


class _Channel:
    """Messages that are sent again and again: buffers and persistent requests for columns of one type."""

    def __init__(self, halo: Halo, like: Array, tag: int) -> None:
        from mpi4py import MPI

        self._start, self._wait = MPI.Prequest.Startall, MPI.Request.Waitall
        self._rows = halo.rows
        self._packed = np.empty((len(halo.rows), *like.shape[1:]), like.dtype)
        self._ghosts = np.empty((len(halo), *like.shape[1:]), like.dtype)
        self._requests: list[Prequest] = []
        width = row_bytes(like)
        for memory, counts, init in (
            (self._ghosts, halo.arriving, halo.comm.Recv_init),
            (self._packed, halo.leaving, halo.comm.Send_init),
        ):
            ends = np.cumsum(counts) * width
            for rank in np.flatnonzero(counts):
                part = as_bytes(memory)[ends[rank] - counts[rank] * width : ends[rank]]
                self._requests.append(init(part, int(rank), tag))

    def forward(self, column: Array) -> Array:
        np.take(column, self._rows, axis=0, out=self._packed, mode="clip")  # without a check of every row
        self._start(self._requests)
        self._wait(self._requests)
        return self._ghosts
