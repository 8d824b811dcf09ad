"""Grains on several MPI ranks: bodies that change ranks, ghosts, and the messages of every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.bodies import check_spheres
from vicinal.distributed.halo import Halo
from vicinal.sim.balance import BalancedRanks

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Prequest

Array = npt.NDArray[np.float64]


class GrainRanks(BalancedRanks):
    """The ranks that share a simulation of grains."""

    def __init__(self, comm: Intracomm | None, box: Sequence[float]) -> None:
        super().__init__(comm, box)
        self._messages: _Messages | None = None

    def migrate(self, core: _core.Grains, *, divide: bool) -> None:
        """Send bodies to the ranks that own the parts of space they are in; drops ghosts and lists.

        Parameters
        ----------
        core
            The bodies, wrapped.
        divide
            Divide space again if that pays off.
        """
        domain = self.domain
        assert domain is not None  # noqa: S101 - only called with a communicator
        start = perf_counter()
        positions, own = core.get("positions"), core.ghosts() == 0
        redivide = not self.divided or (divide and self.division_pays(int(own.sum())))
        if redivide:
            self.divide_by_cost(positions[own])
        parcels = core.depart(domain.parts.owners(positions), self.rank, self.size)
        for parcel in self.swap(parcels):
            core.arrive(parcel, ghosts=False)
        if redivide:
            self.note_division(perf_counter() - start)

    def fetch_ghosts(self, core: _core.Grains, reaches: Array, centres: Array | None = None) -> Callable[[], None]:
        """Fetch ghosts of all bodies of other ranks within reach of own ones, and sort all rows.

        Bodies are at `centres`, by default at their present positions. Returns what is to be called once the elements
        of the bodies are set.
        """
        bodies = check_spheres(core.get("positions") if centres is None else centres, reaches, 0.0)
        halo = Halo.between(self.comm, bodies, 0.0, self.edges)
        sent = np.split(halo.rows.astype(np.uint32), np.cumsum(halo.leaving)[:-1])
        own = core.size
        for parcel in self.swap([core.copies(rows) if len(rows) else np.empty(0, np.uint8) for rows in sent]):
            core.arrive(parcel, ghosts=True)
        order = core.sort_rows()
        now = np.empty(len(order), np.uint32)
        now[order] = np.arange(len(order), dtype=np.uint32)
        inertias = core.get("inertias")
        # Ghosts have the inertia of their bodies, but a rank without bodies must agree, too.
        round_ = not self.count(int((inertias != inertias[:, :1]).any()))

        def settle() -> None:
            core.settle()
            if self._messages is not None:
                self._messages.free()
            outgoing, incoming, width, agreed = core.set_border(now[halo.rows], now[own:], round_)
            self._messages = _Messages(self, halo, (outgoing, incoming), width, agreed)

        return settle

    def advance(self, core: _core.Grains, steps: int) -> None:
        """Advance by at most so many steps."""
        if not self.used:
            core.advance(steps)
            return
        assert self._messages is not None  # noqa: S101 - lists exist, so ghosts were fetched
        start, waited = process_time(), self._messages.waited
        core.advance_together(steps, self._messages.exchange, self._messages.agree)
        self.spent += process_time() - start - (self._messages.waited - waited)


class _Messages:
    """The messages of every step: persistent requests for fixed buffers."""

    def __init__(self, ranks: GrainRanks, halo: Halo, buffers: tuple[Array, Array], width: int, agreed: Array) -> None:
        from mpi4py import MPI

        self._ranks, self._agreed = ranks, agreed
        self.waited = 0.0
        """CPU seconds spent on messages, most of them waiting for other ranks."""
        self._start, self._wait = MPI.Prequest.Startall, MPI.Request.Waitall
        self._reduce, self._here, self._max = halo.comm.Allreduce, MPI.IN_PLACE, MPI.MAX
        self._requests: list[Prequest] = []
        for memory, counts, init in (
            (buffers[1], halo.arriving, halo.comm.Recv_init),
            (buffers[0], halo.leaving, halo.comm.Send_init),
        ):
            ends = np.cumsum(counts) * width
            for rank in np.flatnonzero(counts):
                self._requests.append(init(memory[ends[rank] - counts[rank] * width : ends[rank]], int(rank)))

    def exchange(self) -> None:
        """Send and receive the motion of bodies; agree on the largest numbers, and whether to stop."""
        start = thread_time()
        if self._ranks.asked:
            self._agreed[3] = 1.0
        self._start(self._requests)
        self._reduce(self._here, self._agreed, self._max)
        self._wait(self._requests)
        self.waited += thread_time() - start
        if self._agreed[3] > 0:
            self._ranks.asked, self._ranks.stopping = False, True

    def agree(self) -> None:
        """Agree on the largest numbers."""
        start = thread_time()
        self._reduce(self._here, self._agreed, self._max)
        self.waited += thread_time() - start

    def free(self) -> None:
        """Release the requests."""
        for request in self._requests:
            request.Free()
