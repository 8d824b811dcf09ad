"""The processes of a run: one, or the ranks of an MPI communicator."""

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
        self.rank, self.size = (0, 1) if comm is None else (comm.rank, comm.size)
        self.writes = self.rank == 0
        """Whether this process writes the results that all processes have."""

    def agree(self, *, stop: bool, chunk: int) -> tuple[bool, int]:
        """Return whether a process was asked to stop, and the number of steps until they agree again."""
        answers = self.gathered((stop, chunk))
        return any(one for one, _ in answers), answers[0][1]

    def gathered(self, value: Result) -> list[Result]:
        """Return the values of all processes."""
        return [value] if self.comm is None else self.comm.allgather(value)

    def told(self, value: Result) -> Result:
        """Return the value of the first process."""
        return value if self.comm is None else self.comm.bcast(value)

    def together(self, call: Callable[[], Result]) -> Result:
        """Return the result of a call that may fail in some process; if it does, all processes raise its error."""
        if self.comm is None:
            return call()
        result: Result | None = None
        error: Exception | None = None
        try:
            result = call()
        except (InputError, OSError) as failed:
            error = failed
        for found in self.comm.allgather(error):
            if found is not None:
                raise found
        return result  # type: ignore[return-value]

    def first(self, call: Callable[[], Result]) -> Result | None:
        """Call a function in the process that writes; if it fails there, all processes raise its error."""
        return self.together(lambda: call() if self.writes else None)


ALONE = Team(None)
"""A single process."""
