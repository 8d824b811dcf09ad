"""The bodies of one rank, and the search among them and the ghosts of other ranks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.bodies import BoxesLike, check_bodies
from vicinal.distributed.halo import Halo, keeps_pair
from vicinal.distributed.messages import Array, together
from vicinal.errors import InputError
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.structures import StructureLike

if TYPE_CHECKING:
    from vicinal._check import Bodies
    from vicinal.distributed.domain import Domain


class _Sizes(TypedDict, total=False):
    points: Array
    cutoff: float
    radii: Array
    boxes: tuple[Array, Array]


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
        letters = "".join(dict.fromkeys("ij" + want))
        own, ghosts, halo = self._prepare(cutoff, radii, boxes, want, "ijdDS", everywhere=False)
        search = partial(pairs, box=self.domain.box, want=letters, structure=structure)
        inner = dict(zip(letters, search(**own, half=half), strict=True))
        if len(halo) and len(halo.near):
            outer = dict(zip(letters, search(**ghosts, **_as_queries(own, halo.near)), strict=True))
            outer["i"] = halo.near.astype(np.int32)[outer["i"]]
            outer["j"] = outer["j"] + np.int32(len(self))
            parts = [inner, outer] if half else [inner, outer, _reversed(outer)]
            inner = {letter: np.concatenate([part[letter] for part in parts]) for letter in letters}
        if sort:
            keys = [inner["S"][:, axis] for axis in range(inner["S"].shape[1])[::-1]] if "S" in inner else []
            order = np.lexsort([*keys, inner["j"], inner["i"]])
            inner = {letter: column[order] for letter, column in inner.items()}
        return tuple(inner[letter] for letter in want)

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
        own, ghosts, halo = self._prepare(cutoff, radii, boxes, want, "jdDS", everywhere=True)
        search = partial(neighbors, box=self.domain.box, want=want, sort=sort, structure=structure)
        inner = search(**own)
        if not (len(halo) and len(halo.near)):
            return replace(inner, columns=len(self) + len(halo))
        return _joined_rows(inner, search(**ghosts, **_as_queries(own, halo.near)), halo.near, len(halo))

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
        own, ghosts, halo = self._prepare(cutoff, radii, boxes, "j", "j", everywhere=True)
        search = partial(count, box=self.domain.box, structure=structure)
        counts = search(**own)
        if len(halo) and len(halo.near):
            counts[halo.near] += search(**ghosts, **_as_queries(own, halo.near))
        return counts

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
            _check.check_box(self.domain.box, bodies, reach)
            return bodies, reach

        return together(self.domain.comm, check)

    def _halo(self, bodies: Bodies, reach: float, *, everywhere: bool) -> Halo:
        wanted = {} if everywhere else {"wanted": keeps_pair}
        return Halo.between(self.domain.comm, bodies, reach, self.domain.edges(bodies.dim), **wanted)

    def _prepare(
        self, cutoff: Any, radii: Any, boxes: Any, want: str, letters: str, *, everywhere: bool
    ) -> tuple[_Sizes, _Sizes, Halo]:
        """Return the own bodies and the ghosts as `vicinal.pairs` takes them."""
        together(self.domain.comm, lambda: _check.check_want(want, letters))
        bodies, reach = self._check(cutoff, radii, boxes)
        halo = self._halo(bodies, reach, everywhere=everywhere)
        self.halo = halo
        self._ids = np.concatenate([self._own_ids, halo.forward(self._own_ids)])
        own = _sizes(reach, bodies.array, bodies.extra)
        extra = None if bodies.extra is None else halo.forward(bodies.extra).copy()
        return own, _sizes(reach, halo.forward(bodies.array).copy(), extra), halo


def _sizes(cutoff: float, array: Array, extra: Array | None) -> _Sizes:
    """Return bodies as `vicinal.pairs` takes them; `extra` holds radii, or upper corners of boxes."""
    if extra is None:
        return {"points": array, "cutoff": cutoff}
    return {"points": array, "radii": extra} if extra.ndim == 1 else {"boxes": (array, extra)}


def _as_queries(sizes: _Sizes, rows: npt.NDArray[np.intp]) -> dict[str, Any]:
    """Return some of the bodies as `vicinal.pairs` takes queries."""
    if "boxes" in sizes:
        lower, upper = sizes["boxes"]
        return {"query_boxes": (lower[rows], upper[rows])}
    queries = {"queries": sizes["points"][rows]}
    return {**queries, "query_radii": sizes["radii"][rows]} if "radii" in sizes else queries


def _reversed(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same pairs from the other side. Adding 0 keeps the sign of zeros as the definition has it."""
    signs = {letter: 0 - column for letter, column in columns.items() if letter in "DS"}
    return {**columns, **signs, "i": columns["j"], "j": columns["i"]}


def _joined_rows(inner: Neighbors, outer: Neighbors, near: npt.NDArray[np.intp], ghosts: int) -> Neighbors:
    """Append the ghosts in the rows of `outer`, which belong to the bodies `near`, to the rows of `inner`."""
    size = len(inner)
    added = np.zeros(size, np.int64)
    added[near] = outer.counts
    offsets = inner.offsets + np.concatenate([[0], np.cumsum(added)])
    from_inner = np.arange(len(inner.indices)) + np.repeat(offsets[:-1] - inner.offsets[:-1], inner.counts)
    begins = offsets[1:][near] - outer.counts
    from_outer = np.arange(len(outer.indices)) + np.repeat(begins - outer.offsets[:-1], outer.counts)

    def join(first: Array | None, second: Array | None) -> Any:
        if first is None or second is None:
            return None
        both = np.empty((int(offsets[-1]), *first.shape[1:]), first.dtype)
        both[from_inner] = first
        both[from_outer] = second
        return both

    return Neighbors(
        offsets,
        join(inner.indices, outer.indices + np.int32(size)),
        size + ghosts,
        distances=join(inner.distances, outer.distances),
        vectors=join(inner.vectors, outer.vectors),
        shifts=join(inner.shifts, outer.shifts),
    )
