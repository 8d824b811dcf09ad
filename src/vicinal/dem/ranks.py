"""Grains on several MPI ranks: bodies that change ranks, ghosts, and the messages of every step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter, process_time, thread_time
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.bodies import check_spheres
from vicinal.dem.relist import Elements
from vicinal.distributed.bisection import wrapped
from vicinal.distributed.halo import Halo
from vicinal.distributed.messages import send_rows, swap_counts
from vicinal.distributed.node import open_node
from vicinal.search import count
from vicinal.sim.balance import BalancedRanks

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm, Prequest

Array = npt.NDArray[np.float64]

STEPS = 256
"""Steps after which the work of ranks is compared."""


class GrainRanks(BalancedRanks):
    """The ranks that share a simulation of grains."""

    def __init__(self, comm: Intracomm | None, box: Sequence[float]) -> None:
        super().__init__(comm, box)
        self._node: _core.Node | None = None
        self._shares_memory = True
        """Whether all ranks share memory, as far as is known."""
        self._messages: _Messages | None = None
        self._sent = np.empty(0, np.int64), np.empty(0, np.int64)
        """Ids of the own bodies that are ghosts elsewhere, in the order of ranks, and how many each rank has."""

    def migrate(self, core: _core.Grains, *, divide: bool) -> None:
        """Send bodies to the ranks that own the parts of space they are in; drops ghosts and lists.

        `divide`: divide space again if that pays off.
        """
        start = perf_counter()
        redivide = divide and self.pays(core)
        if redivide or not self.divided:
            self._divide(core)
        self._move(core, self._owners(core))
        if redivide:
            self.note_division(perf_counter() - start)

    def _divide(self, core: _core.Grains) -> None:
        own = core.get("positions")[core.ghosts() == 0]
        self.divide_by_cost(wrapped(own, self.edges))

    def _owners(self, core: _core.Grains) -> npt.NDArray[np.int32]:
        """Return the ranks to which bodies belong."""
        assert self.domain is not None  # noqa: S101 - only called with a communicator
        return self.domain.parts.owners(wrapped(core.get("positions"), self.edges))

    def _move(self, core: _core.Grains, owners: npt.NDArray[np.int32]) -> None:
        for parcel in self.swap(core.depart(owners, self.rank, self.size)):
            core.arrive(parcel, ghosts=False)

    def due(self, core: _core.Grains) -> bool:
        """Return whether the work of ranks is to be compared; all ranks get the same answer."""
        return self.size > 1 and core.steps >= self.compared + STEPS

    def pays(self, core: _core.Grains) -> bool:
        """Compare the work of ranks; return whether to divide space again."""
        self.compared = core.steps
        return self.division_pays(core.own)

    def redivide(self, core: _core.Grains, elements: Elements) -> Elements:
        """Divide space again and send bodies to their ranks; return the elements of those that this rank has now.

        Drops ghosts and lists.
        """
        self._divide(core)
        owners, ids = self._owners(core), core.ids()
        order = np.argsort(ids)
        targets = owners[order][np.searchsorted(ids[order], elements.ids)]
        sent = elements.rows(np.argsort(targets, kind="stable"))
        moved = self._sent_elements(sent, np.bincount(targets, minlength=self.size).astype(np.int64))
        self._move(core, owners)
        return moved.sorted()

    def elements_of_ghosts(self, own: Elements) -> Elements:
        """Return the elements of the ghosts that were fetched."""
        ids, leaving = self._sent
        rows, counts = own.of_bodies(ids)
        of_ranks = np.bincount(np.repeat(np.arange(self.size), leaving), weights=counts, minlength=self.size)
        return self._sent_elements(own.rows(rows), of_ranks.astype(np.int64))

    def _sent_elements(self, elements: Elements, leaving: npt.NDArray[np.int64]) -> Elements:
        """Send elements that lie in the order of their receivers; return those that arrive."""
        return Elements(*send_rows(self.comm, elements.columns, leaving, swap_counts(self.comm, leaving)))

    def fetch_ghosts(self, core: _core.Grains, reaches: Array, centres: Array | None = None) -> Callable[[], None]:
        """Fetch ghosts of all bodies of other ranks within reach of own ones, and sort all rows.

        Bodies are at `centres`, by default at their present positions. Returns what is to be called once the elements
        of the bodies are set.
        """
        places = core.get("positions") if centres is None else centres
        halo = self._near(
            Halo.between(self.comm, check_spheres(places, reaches, 0.0), 0.0, self.edges), places, reaches
        )
        sent = np.split(halo.rows.astype(np.uint32), np.cumsum(halo.leaving)[:-1])
        self._sent = core.ids()[halo.rows], halo.leaving
        own = core.size
        for parcel in self.swap([core.copies(rows) if len(rows) else np.empty(0, np.uint8) for rows in sent]):
            core.arrive(parcel, ghosts=True)
        order = core.sort_rows()
        now = np.empty(len(order), np.uint32)
        now[order] = np.arange(len(order), dtype=np.uint32)
        turning = bool((core.shapes() >= 0).any())

        def settle() -> None:
            core.settle()
            agreed = np.array([turning], np.float64)
            self.agree(agreed)  # a rank that knows spheres only must send what the others do
            width = core.set_border(now[halo.rows], now[own:], halo.arriving.tolist(), bool(agreed[0]))
            self._set_exchange(halo, width)

        return settle

    def _near(self, halo: Halo, places: Array, reaches: Array) -> Halo:
        """Leave out bodies that meet the hull of another rank but are within reach of none of its bodies."""
        wide = reaches * (1 + 1e-9)  # no rounding can leave out a pair of the lists
        columns = places[halo.rows], wide[halo.rows]
        candidates, radii = send_rows(self.comm, columns, halo.leaving, halo.arriving)
        wanted = np.zeros(len(candidates), np.bool_)
        if len(candidates) and len(halo.near):
            own = places[halo.near], wide[halo.near]
            box = [edge or None for edge in self.edges] if any(self.edges) else None
            wanted = count(own[0], radii=own[1], queries=candidates, query_radii=radii, box=box) > 0
        (kept,) = send_rows(self.comm, [wanted], halo.arriving, halo.leaving)

        def left(mask: npt.NDArray[np.bool_], counts: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
            ranks = np.repeat(np.arange(self.size), counts)
            return np.bincount(ranks[mask], minlength=self.size)

        leaving, arriving = left(kept, halo.leaving), left(wanted, halo.arriving)
        return Halo(halo.comm, halo.own, leaving, arriving, halo.rows[kept], halo.near)

    def _set_exchange(self, halo: Halo, width: int) -> None:
        """Prepare messages of so many bytes per body: through memory if ranks share it."""
        if self._messages is not None:
            self._messages.free()
            self._messages = None
        leaving = halo.leaving * width
        needed = np.array([leaving.sum()], np.float64)
        self.agree(needed)
        if self._shares_memory and (self._node is None or self._node.capacity < needed[0]):
            self._node = open_node(self.comm, int(needed[0]))
            self._shares_memory = self._node is not None
        if self._node is None:
            self._messages = _Messages(self, halo, width)
        else:
            self._node.address((np.cumsum(leaving) - leaving).astype(np.uint64))

    def advance(self, core: _core.Grains, steps: int) -> None:
        """Advance by at most so many steps, and not beyond the step in which the work of ranks is compared."""
        if not self.used:
            core.advance(steps)
            return
        if self.size > 1:
            steps = min(steps, max(1, self.compared + STEPS - core.steps))
        start = process_time()
        if self._node is not None:
            waited = self._node.waited
            stopped = core.advance_together(steps, self._node, self._poll)
            waited = self._node.waited - waited
        else:
            assert self._messages is not None  # noqa: S101 - lists exist, so ghosts were fetched
            waited = self._messages.waited
            stopped = core.advance_together(steps, self._messages.exchange, self._messages.send)
            waited = self._messages.waited - waited
        self.spent += process_time() - start - waited
        if stopped:
            self.asked, self.stopping = False, True

    def _poll(self) -> bool:
        """Return whether this rank was asked to stop; let MPI hand over messages for which other ranks wait."""
        self.comm.Iprobe()
        return self.asked


class _Messages:
    """The messages of every step: persistent requests for fixed buffers."""

    def __init__(self, ranks: GrainRanks, halo: Halo, width: int) -> None:
        from mpi4py import MPI

        self._ranks, self._numbers = ranks, np.zeros(4)
        self.waited = 0.0
        """CPU seconds spent on messages, most of them waiting for other ranks."""
        self._start, self._wait = MPI.Prequest.Startall, MPI.Request.Waitall
        self._reduce, self._here, self._max = halo.comm.Allreduce, MPI.IN_PLACE, MPI.MAX
        self._requests: list[Prequest] = []
        outgoing, incoming = np.zeros(len(halo.rows) * width, np.uint8), np.zeros(len(halo) * width, np.uint8)
        for memory, counts, init in (
            (incoming, halo.arriving, halo.comm.Recv_init),
            (outgoing, halo.leaving, halo.comm.Send_init),
        ):
            ends = np.cumsum(counts) * width
            for rank in np.flatnonzero(counts):
                self._requests.append(init(memory[ends[rank] - counts[rank] * width : ends[rank]], int(rank)))
        starts = (np.cumsum(halo.arriving) - halo.arriving) * width
        self.exchange = _core.MessageExchange(outgoing, incoming, starts.tolist(), self._numbers)

    def send(self, messages: bool) -> None:  # noqa: FBT001 - the core passes it
        """Agree on the largest numbers, the last of which asks ranks to stop; send and receive messages."""
        start = thread_time()
        if self._ranks.asked:
            self._numbers[3] = 1.0
        if messages:
            self._start(self._requests)
        self._reduce(self._here, self._numbers, self._max)
        if messages:
            self._wait(self._requests)
        self.waited += thread_time() - start

    def free(self) -> None:
        """Release the requests."""
        for request in self._requests:
            request.Free()
