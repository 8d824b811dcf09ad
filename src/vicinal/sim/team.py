"""The processes of a run: one, or the ranks of an MPI communicator, of which the first writes all results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from vicinal.errors import InputError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Result = TypeVar("Result")


class Team:
    """The processes that run a simulation together.

    Parameters
    ----------
    comm
        An mpi4py communicator, or None for one process.

    Examples
    --------
    >>> Team(None).agree(stop=False, chunk=5)
    (False, 5)
    """

    def __init__(self, comm: Intracomm | None) -> None:
        self.comm = comm
        self.writes = comm is None or comm.rank == 0
        """Whether this process writes the results."""

    def agree(self, *, stop: bool, chunk: int) -> tuple[bool, int]:
        """Return whether a process was asked to stop, and the number of steps until they agree again."""
        if self.comm is None:
            return stop, chunk
        answers = self.comm.allgather((stop, chunk))
        return any(one for one, _ in answers), answers[0][1]

    def first(self, call: Callable[[], Result]) -> Result | None:
        """Call a function in the process that writes; if it fails there, all processes raise its error."""
        if self.comm is None:
            return call()
        result: Result | None = None
        error: Exception | None = None
        if self.writes:
            try:
                result = call()
            except (InputError, OSError) as failed:
                error = failed
        error = self.comm.bcast(error)
        if error is not None:
            raise error
        return result
