"""A fluid on several MPI ranks: the parts of space they own, and what is the same on all of them."""

from __future__ import annotations

from collections.abc import Sequence
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.distributed.agreement import check_same
from vicinal.distributed.bisection import wrapped
from vicinal.distributed.messages import own_communicator, send_rows, swap_counts, together
from vicinal.distributed.node import open_node
from vicinal.sim.balance import BalancedRanks
from vicinal.sph.checks import check_motion

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

Array = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]
Counts = npt.NDArray[np.int64]

STEPS = 32
"""Steps that ranks take before they look whether one of them was asked to stop, and how much work each has."""

ROUNDING = 1e-5
"""By how much of the support pairs may be farther apart in single precision."""


def check_particles(
    comm: Intracomm | None, positions: npt.ArrayLike, velocities: npt.ArrayLike | None
) -> tuple[Array, Array]:
    """Return positions and velocities of the particles of this rank; if they are wrong on one, all raise its error."""
    if comm is None:
        return check_motion(positions, velocities)
    own = own_communicator(comm)
    places, speeds = together(own, lambda: check_motion(positions, velocities))
    check_same(own, {"the number of dimensions": places.shape[1]})
    return places, speeds


class FluidRanks(BalancedRanks):
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
        self._waited = 0.0
        """CPU seconds spent on messages, most of them waiting for other ranks."""
        self._node: _core.Node | None = None
        """Memory that all ranks share."""
        self._shares_memory = True
        """Whether all ranks share memory, as far as is known."""
        self._needed = 0
        """The largest number of bytes that a rank has sent in a message since there is such memory."""

    def divide(self, core: _core.Sph) -> None:
        """Divide space by the present particles; they move to their ranks at the beginning of the next step."""
        if self.used:
            self.divide_by_cost(wrapped(core.column("positions"), self.edges))
            self.inform(core)

    def inform(self, core: _core.Sph) -> None:
        """Tell the core the parts of all ranks and how many particles there are."""
        if self.domain is None:
            return
        parts = self.domain.parts.boxes(self.size, len(self.edges))
        reach = (1 + ROUNDING) * self._support
        core.set_ranks(parts, self.rank, reach, self.count(core.size()), self._carry, self._agree, self._add)

    def balance(self, core: _core.Sph) -> None:
        """Divide space again if ranks have unequal work and that pays off."""
        self.compared = core.steps()
        if self.division_pays(core.size()):
            start = perf_counter()
            self.divide(core)
            self.note_division(perf_counter() - start)

    def advance(self, core: _core.Sph, until: float, steps: int) -> bool:
        """Take steps until a time is reached, at most so many; return whether the state is sound."""
        if self._needed and self._shares_memory:
            self._node, self._needed = open_node(self.comm, self._needed), 0
            self._shares_memory = self._node is not None
            core.set_node(self._node, self._poll)
        start, waited = process_time(), self._waiting()
        sound = core.run(until, steps)[1]
        self.spent += process_time() - start - (self._waiting() - waited)
        return sound

    def _waiting(self) -> float:
        return self._waited + (0.0 if self._node is None else self._node.waited)

    def _poll(self) -> bool:
        """Let MPI hand over messages for which other ranks wait. Ranks are not asked to stop here."""
        self.comm.Iprobe()
        return False

    def _carry(self, parcels: Bytes, leaving: Counts) -> tuple[Bytes, Counts]:
        """Send bytes to all ranks, which lie in their order; return those from all ranks, and how many from each.

        Called if ranks share no memory, or too little.
        """
        start = thread_time()
        arriving = swap_counts(self.comm, leaving)
        (received,) = send_rows(self.comm, [parcels], leaving, arriving)
        if self._shares_memory:
            sent = np.array([len(parcels) + leaving.nbytes], np.float64)
            self.agree(sent)
            self._needed = max(self._needed, int(sent[0]))
        self._waited += thread_time() - start
        return received, arriving

    def _agree(self, numbers: Array) -> None:
        start = thread_time()
        self.agree(numbers)
        self._waited += thread_time() - start

    def _add(self, numbers: npt.NDArray[np.int64]) -> None:
        start = thread_time()
        numbers[:] = self.total(numbers)
        self._waited += thread_time() - start

    def owned(self, places: Array) -> npt.NDArray[np.bool_]:
        """Return which places are in the part of this rank."""
        if self.domain is None:
            return np.ones(len(places), bool)
        return np.asarray(self.domain.parts.owners(wrapped(places, self.edges)) == self.rank)
