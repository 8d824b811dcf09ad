"""Searches among own bodies and ghosts: pairs of two ghosts belong to others and are not looked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.cell import BoxLike, PeriodicLike
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.structures import StructureLike

Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Group:
    """Bodies, checked: positions and a cutoff, or `extra` with radii or with the upper corners of boxes."""

    array: Array
    extra: Array | None
    cutoff: float

    def __len__(self) -> int:
        """Return the number of bodies."""
        return len(self.array)

    def as_bodies(self) -> dict[str, Any]:
        """Return the bodies as `vicinal.pairs` takes them."""
        if self.extra is None:
            return {"points": self.array, "cutoff": self.cutoff}
        if self.extra.ndim == 1:
            return {"points": self.array, "radii": self.extra}
        return {"boxes": (self.array, self.extra)}

    def as_queries(self, rows: npt.NDArray[np.intp]) -> dict[str, Any]:
        """Return some of the bodies as `vicinal.pairs` takes queries."""
        if self.extra is None:
            return {"queries": self.array[rows]}
        if self.extra.ndim == 1:
            return {"queries": self.array[rows], "query_radii": self.extra[rows]}
        return {"query_boxes": (self.array[rows], self.extra[rows])}


@dataclass(frozen=True)
class GhostSearch:
    """Own bodies, ghosts, and the own bodies near them. Ghosts are numbered after the own bodies.

    Parameters
    ----------
    own, ghosts
        The bodies.
    near
        Own bodies that can form pairs with ghosts, ascending.
    box, periodic, structure
        As for `vicinal.pairs`.
    """

    own: Group
    ghosts: Group
    near: npt.NDArray[np.intp]
    box: BoxLike
    periodic: PeriodicLike
    structure: StructureLike

    @property
    def _alone(self) -> bool:
        return not (len(self.ghosts) and len(self.near))

    def pairs(self, want: str, *, half: bool, sort: bool) -> tuple[Array, ...]:
        """Find all pairs with an own body; a ghost is j, and with ``half=False`` also i."""
        letters = "".join(dict.fromkeys("ij" + want))
        search = partial(pairs, box=self.box, periodic=self.periodic, want=letters, structure=self.structure)
        columns = dict(zip(letters, search(**self.own.as_bodies(), half=half), strict=True))
        if not self._alone:
            outer = search(**self.ghosts.as_bodies(), **self.own.as_queries(self.near))
            border = dict(zip(letters, outer, strict=True))
            border["i"] = self.near.astype(np.int32)[border["i"]]
            border["j"] = border["j"] + np.int32(len(self.own))
            parts = [columns, border] if half else [columns, border, _reversed(border)]
            columns = {letter: np.concatenate([part[letter] for part in parts]) for letter in letters}
        if sort:
            shifts = [*columns["S"].T[::-1]] if "S" in columns else []
            order = np.lexsort([*shifts, columns["j"], columns["i"]])
            columns = {letter: column[order] for letter, column in columns.items()}
        return tuple(columns[letter] for letter in want)

    def neighbors(self, want: str, *, sort: bool) -> Neighbors:
        """Find all neighbours of the own bodies; in a row, ghosts follow own bodies."""
        search = partial(
            neighbors, box=self.box, periodic=self.periodic, want=want, sort=sort, structure=self.structure
        )
        inner = search(**self.own.as_bodies())
        if self._alone:
            return replace(inner, columns=len(self.own) + len(self.ghosts))
        outer = search(**self.ghosts.as_bodies(), **self.own.as_queries(self.near))
        return _joined_rows(inner, outer, self.near, len(self.ghosts))

    def count(self) -> npt.NDArray[np.int32]:
        """Count the neighbours of the own bodies."""
        search = partial(count, box=self.box, periodic=self.periodic, structure=self.structure)
        counts = search(**self.own.as_bodies())
        if not self._alone:
            counts[self.near] += search(**self.ghosts.as_bodies(), **self.own.as_queries(self.near))
        return counts


def _reversed(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same pairs from the other side; 0 - 0 is 0, whereas a changed sign would make it -0."""
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
