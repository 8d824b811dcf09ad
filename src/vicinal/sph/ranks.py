"""A fluid on several MPI ranks: the parts of space they own, and what is the same on all of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.distributed.bisection import wrapped
from vicinal.distributed.messages import own_communicator, together
from vicinal.sim.ranks import Ranks

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]
Result = TypeVar("Result")

TOLERANCE = 1.1
"""Space is divided again when the rank with most particles has more than this many times the mean."""

STEPS = 32
"""Steps that ranks take before they look whether one of them was asked to stop, and how many particles each has."""

ROUNDING = 1e-5
"""By how much of the support pairs may be farther apart in single precision."""


def check_together(comm: Intracomm | None, check: Callable[[], Result]) -> Result:
    """Run a check of what ranks pass; if it fails on one, all raise its error."""
    return check() if comm is None else together(own_communicator(comm), check)


class FluidRanks(Ranks):
    """The ranks that share a fluid.

    Parameters
    ----------
    comm
        An mpi4py communicator, or None for one process.
    box
        Period along each axis, 0 for an open axis.
    support
        That of the kernel.
    """

    def __init__(self, comm: Intracomm | None, box: Sequence[float], support: float) -> None:
        super().__init__(comm, box)
        self._support = support
        self.balanced = 0
        """The step in which the work of ranks was last compared."""

    def divide(self, core: _core.Sph) -> None:
        """Divide space by the present particles; they move to their ranks at the beginning of the next step."""
        if self.domain is None:
            return
        positions = core.column("positions")
        self.domain.parts = self.domain.divide(wrapped(positions, self.edges), np.ones(len(positions)))
        self.divided = True
        self.inform(core)

    def inform(self, core: _core.Sph) -> None:
        """Tell the core the parts of all ranks and how many particles there are."""
        if self.domain is None:
            return
        # Pressures of wall particles that a particle sees depend on fluid as far again from them.
        margin = (1 + ROUNDING) * self._support * (2 if len(core.wall_column("pressures")) else 1)
        parts = self.domain.parts.boxes(self.size, len(self.edges))
        core.set_ranks(parts, self.rank, margin, self.count(core.size()), self.swap, self.agree)

    def balance(self, core: _core.Sph) -> None:
        """Divide space again if ranks have unequal numbers of particles."""
        self.balanced = core.steps()
        counts = self.gathered(core.size())
        if max(counts) > TOLERANCE * np.mean(counts):
            self.divide(core)

    def owned(self, places: Array) -> npt.NDArray[np.bool_]:
        """Return which places are in the part of this rank."""
        if self.domain is None:
            return np.ones(len(places), bool)
        return np.asarray(self.domain.parts.owners(wrapped(places, self.edges)) == self.rank)
