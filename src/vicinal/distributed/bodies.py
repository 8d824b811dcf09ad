"""The bodies of one rank, and the search among them and the ghosts of other ranks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.bodies import BoxesLike, check_bodies
from vicinal.distributed.axes import bodies_along_axes, farthest
from vicinal.distributed.ghost_search import GhostSearch, Group
from vicinal.distributed.halo import Halo, keeps_pair
from vicinal.distributed.messages import Array, together
from vicinal.errors import InputError
from vicinal.rows import Neighbors
from vicinal.structures import StructureLike

if TYPE_CHECKING:
    from vicinal._check import Bodies
    from vicinal.distributed.domain import Domain


_Sizes = tuple[float | None, npt.ArrayLike | None, BoxesLike | None]
"""What describes the bodies besides their positions: cutoff, radii, boxes."""


class LocalBodies:
    """The bodies that this rank owns. `Domain.scatter` makes it.

    Bodies have local numbers: 0 to ``len(mine) - 1`` are own bodies, the numbers after them are ghosts of the last
    search, which other ranks own. `ids` gives the id of both. All ranks must call a method together.

    Parameters
    ----------
    domain
        The division of space.
    points
        Positions of the own bodies.
    ids
        Their ids, int64, which stay with them.
    fields
        Other columns that travel with the bodies, one row each.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> domain = vicinal.distributed.Domain(MPI.COMM_SELF, box=(10.0, None))
    >>> mine = domain.scatter([[0.5, 0.0], [9.5, 0.0], [5.0, 0.0]], ids=[7, 8, 9])
    >>> i, j = mine.pairs(2.0)
    >>> sorted(mine.ids[[*i, *j]].tolist())
    [7, 8]
    """

    def __init__(
        self,
        domain: Domain,
        points: Array,
        ids: npt.NDArray[np.int64],
        fields: Mapping[str, Array] | None = None,
    ) -> None:
        self.domain = domain
        self.points = points
        self.fields = dict(fields or {})
        self.halo: Halo | None = None
        """The ghosts of the last search."""
        self._own_ids = ids
        self._ids = ids

    def __len__(self) -> int:
        """Return the number of own bodies."""
        return len(self.points)

    def __repr__(self) -> str:
        """Return number of bodies and rank."""
        return f"LocalBodies({len(self)} bodies on rank {self.domain.rank} of {self.domain.size})"

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Ids of the own bodies, followed by those of the ghosts of the last search."""
        return self._ids

    @property
    def owned_ids(self) -> npt.NDArray[np.int64]:
        """Ids of the own bodies."""
        return self._own_ids

    def pairs(
        self,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        structure: StructureLike = None,
    ) -> tuple[Array, ...]:
        """Find pairs; each is found on exactly one rank, the rank of i, as local numbers.

        Parameters
        ----------
        cutoff, radii, boxes, want, half, sort, structure
            As for `vicinal.pairs`; radii and boxes are those of the own bodies.

        Returns
        -------
        tuple of arrays
            One per letter of `want`. In a pair with a ghost, the ghost is j; with ``half=False``, the pair comes a
            second time the other way round.
        """
        search = self._prepare((cutoff, radii, boxes), structure, want=want, letters="ijdDS", everywhere=False)
        return search.pairs(want, half=half, sort=sort)

    def neighbors(
        self,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        want: str = "j",
        sort: bool = False,
        structure: StructureLike = None,
    ) -> Neighbors:
        """Find all neighbours of the own bodies, one row each; numbers from ``len(mine)`` on are ghosts.

        Parameters
        ----------
        cutoff, radii, boxes, want, sort, structure
            As for `vicinal.neighbors`; radii and boxes are those of the own bodies.
        """
        search = self._prepare((cutoff, radii, boxes), structure, want=want, everywhere=True)
        return search.neighbors(want, sort=sort)

    def count(
        self,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        structure: StructureLike = None,
    ) -> npt.NDArray[np.int32]:
        """Count the neighbours of every own body, ghosts included.

        Parameters
        ----------
        cutoff, radii, boxes, structure
            As for `vicinal.count`; radii and boxes are those of the own bodies.
        """
        return self._prepare((cutoff, radii, boxes), structure, everywhere=True).count()

    def borders(
        self,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
    ) -> Halo:
        """Decide which bodies are ghosts where, so that every rank has all bodies that its own can form pairs with.

        `Halo.forward` and `Halo.reverse` then carry data between bodies and their ghosts.
        """
        bodies, reach = self._check(cutoff, radii, boxes)
        return self._halo(bodies, reach, everywhere=True)

    def exchange(self, points: npt.ArrayLike | None = None, **fields: npt.ArrayLike) -> LocalBodies:
        """Send bodies that have left this rank's part of space to the rank that owns the part they are in.

        Parameters
        ----------
        points
            New positions of the own bodies. None: as they are.
        fields
            New values of columns that travel with the bodies.
        """
        return self.domain.exchange(self, points, fields)

    def rebalance(self, cost: float | None = None, *, tolerance: float = 1.1) -> LocalBodies:
        """Divide space again if the ranks have unequal work; otherwise return these bodies.

        Parameters
        ----------
        cost
            What the own bodies cost since the last division, such as measured CPU seconds. None: their number.
        tolerance
            Largest ratio of the largest cost to the mean cost that is left as it is.
        """
        return self.domain.rebalance(self, cost, tolerance)

    def gather(self, values: npt.ArrayLike | None = None) -> Array | None:
        """Return a column of all ranks (by default the positions) in the order of the ids on rank 0, None elsewhere."""
        return self.domain.gather(self, self.points if values is None else np.asarray(values))

    def _check(self, cutoff: Any, radii: Any, boxes: Any) -> tuple[Bodies, float]:
        def check() -> tuple[Bodies, float]:
            bodies, reach = check_bodies(None if boxes is not None else self.points, cutoff, radii, boxes)
            if len(bodies) != len(self):
                raise InputError(f"boxes must be one for each of the {len(self)} own bodies, got {len(bodies)}")
            if bodies.array.dtype != self.points.dtype:
                raise InputError(f"boxes must have dtype {self.points.dtype}, as the points, got {bodies.array.dtype}")
            _check.check_box(self.domain.box, bodies, reach, self.domain.periodic)
            return bodies, reach

        return together(self.domain.comm, check)

    def _halo(self, bodies: Bodies, reach: float, *, everywhere: bool) -> Halo:
        wanted = {} if everywhere else {"wanted": keeps_pair}
        comm, cell = self.domain.comm, self.domain.cell(bodies.dim, bodies.array.dtype)
        if cell.tilted:
            own = max(farthest(bodies.array), 0.0 if bodies.extra is None else farthest(bodies.extra))
            bodies, reach = bodies_along_axes(bodies, reach, cell, max(comm.allgather(own)))
        return Halo.between(comm, bodies, reach, cell.edges, **wanted)

    def _prepare(
        self, sizes: _Sizes, structure: StructureLike, *, want: str = "j", letters: str = "jdDS", everywhere: bool
    ) -> GhostSearch:
        """Fetch the ghosts and return the search among them and the own bodies."""
        together(self.domain.comm, lambda: _check.check_want(want, letters))
        bodies, reach = self._check(*sizes)
        halo = self._halo(bodies, reach, everywhere=everywhere)
        self.halo = halo
        self._ids = np.concatenate([self._own_ids, halo.forward(self._own_ids)])
        extra = None if bodies.extra is None else halo.forward(bodies.extra).copy()
        ghosts = Group(halo.forward(bodies.array).copy(), extra, reach)
        own = Group(bodies.array, bodies.extra, reach)
        return GhostSearch(own, ghosts, halo.near, self.domain.box, self.domain.periodic, structure)
