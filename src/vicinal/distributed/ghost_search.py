"""Searches among own bodies and ghosts: pairs of two ghosts belong to others and are not looked for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.bodies import QueryArguments
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.self_pairs import join_rows, own_columns
from vicinal.structures import StructureLike

Array = npt.NDArray[Any]
Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class BodySet:
    """Bodies, checked: positions and a cutoff, or `extra` with radii or with the upper corners of boxes.

    `cutoff` is a matrix if there are `types`; see `vicinal.pairs` for these and for `groups`.
    """

    array: Array
    extra: Array | None
    cutoff: Any
    types: Array | None = None
    groups: Array | None = None

    def __len__(self) -> int:
        """Return the number of bodies."""
        return len(self.array)

    def as_bodies(self) -> dict[str, Any]:
        """Return the bodies as `vicinal.pairs` takes them."""
        kinds = {"types": self.types, "groups": self.groups}
        if self.extra is None:
            return {"points": self.array, "cutoff": self.cutoff, **kinds}
        if self.extra.ndim == 1:
            return {"points": self.array, "radii": self.extra, **kinds}
        return {"boxes": (self.array, self.extra), **kinds}

    def as_queries(self) -> dict[str, Any]:
        """Return the bodies as `vicinal.pairs` takes queries."""
        kinds = {"query_types": self.types, "query_groups": self.groups}
        if self.extra is None:
            return {"queries": self.array, **kinds}
        if self.extra.ndim == 1:
            return {"queries": self.array, "query_radii": self.extra, **kinds}
        return {"query_boxes": (self.array, self.extra), **kinds}

    def taken(self, rows: npt.NDArray[np.intp]) -> BodySet:
        """Return some of the bodies."""

        def some(column: Array | None) -> Array | None:
            return None if column is None else column[rows]

        return BodySet(self.array[rows], some(self.extra), self.cutoff, some(self.types), some(self.groups))


def joined(first: BodySet, second: BodySet) -> BodySet:
    """Return the bodies of two groups as one."""

    def both(one: Array | None, other: Array | None) -> Array | None:
        return None if one is None or other is None else np.concatenate([one, other])

    array = np.concatenate([first.array, second.array])
    columns = (both(getattr(first, name), getattr(second, name)) for name in ("extra", "types", "groups"))
    extra, types, groups = columns
    return BodySet(array, extra, first.cutoff, types, groups)


@dataclass(frozen=True)
class Excluded:
    """Pairs that do not count.

    Parameters
    ----------
    inner
        Pairs of own bodies, as numbers.
    border
        Pairs of an own body and a ghost, as the number of the own body times `size` plus that of the ghost.
    size
        Number of own bodies and ghosts.
    known
        Pairs of own bodies and ghosts, as numbers.
    """

    known: Ids
    inner: Ids
    border: Ids
    size: int

    @classmethod
    def of(cls, exclude: Ids, ids: Ids, own: int) -> Excluded:
        """Return the pairs of these ids, of which the first `own` belong to own bodies; others are left out."""
        order = np.argsort(ids, kind="stable")
        places = np.searchsorted(ids, exclude, sorter=order)
        numbers = order[np.minimum(places, len(ids) - 1)] if len(ids) else np.zeros(exclude.shape, np.intp)
        known = (ids[numbers] == exclude).all(axis=1) if len(ids) else np.zeros(len(exclude), bool)
        numbers = np.sort(numbers[known], axis=1).astype(np.int64)
        inside, across = (numbers < own).all(axis=1), (numbers < own).sum(axis=1) == 1
        return cls(numbers, numbers[inside], numbers[across, 0] * len(ids) + numbers[across, 1], len(ids))

    def among(self, rows: npt.NDArray[np.intp]) -> Ids:
        """Return the pairs of some bodies, as their places in `rows`."""
        places = np.full(self.size, -1)
        places[rows] = np.arange(len(rows))
        pairs = places[self.known]
        return pairs[(pairs >= 0).all(axis=1)]

    def counts(self, i: Array, j: Array) -> npt.NDArray[np.bool_]:
        """Return whether pairs of own bodies and ghosts count."""
        return ~np.isin(i.astype(np.int64) * self.size + j, self.border)


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
    conditions
        The arguments `criterion` and `r_min` of `vicinal.pairs`.
    excluded
        Pairs that do not count.
    queries
        A second set, for which bodies are looked for; ghosts are then those near it.
    """

    own: BodySet
    ghosts: BodySet
    near: npt.NDArray[np.intp]
    box: BoxLike
    periodic: PeriodicLike
    structure: StructureLike
    conditions: Mapping[str, Any] = field(default_factory=dict)
    excluded: Excluded | None = None
    queries: QueryArguments | None = None

    @property
    def alone(self) -> bool:
        """Whether there are no pairs with ghosts."""
        return not (len(self.ghosts) and len(self.near))

    @property
    def space(self) -> dict[str, Any]:
        """What all searches have in common."""
        return {"box": self.box, "periodic": self.periodic, "structure": self.structure, **self.conditions}

    def inner(self) -> dict[str, Any]:
        """Return the own bodies as `vicinal.pairs` takes them, with the pairs of them that do not count."""
        inner = None if self.excluded is None else self.excluded.inner
        return {**self.own.as_bodies(), "exclude": inner}

    def some(self, rows: npt.NDArray[np.intp]) -> dict[str, Any]:
        """Return some of the own bodies and ghosts as `vicinal.pairs` takes them, with all that belongs to them."""
        excluded = None if self.excluded is None else self.excluded.among(rows)
        return {**joined(self.own, self.ghosts).taken(rows).as_bodies(), "exclude": excluded, **self.space}

    def across(self) -> dict[str, Any]:
        """Return the search for the second set."""
        return {**joined(self.own, self.ghosts).as_bodies(), **(self.queries or {}), **self.space}

    def pairs(self, want: str, *, half: bool, sort: bool, self_pairs: bool = False) -> tuple[Array, ...]:
        """Find all pairs with an own body; a ghost is j, and with ``half=False`` also i."""
        if self.queries:
            found: tuple[Array, ...] = pairs(**self.across(), want=want, sort=sort)
            return found
        letters = "".join(dict.fromkeys("ij" + want + ("S" if sort and self_pairs else "")))
        inner = pairs(**self.inner(), **self.space, want=letters, half=half)
        columns = dict(zip(letters, inner, strict=True))
        if not self.alone:
            border = self.border_pairs(letters)
            parts = [columns, border] if half else [columns, border, _reversed(border)]
            columns = {letter: np.concatenate([part[letter] for part in parts]) for letter in letters}
        if self_pairs:
            same = own_columns(letters, len(self.own), columns)
            columns = {letter: np.concatenate([columns[letter], same[letter]]) for letter in letters}
        if sort:
            shifts = [*columns["S"].T[::-1]] if "S" in columns else []
            order = np.lexsort([*shifts, columns["j"], columns["i"]])
            columns = {letter: column[order] for letter, column in columns.items()}
        return tuple(columns[letter] for letter in want)

    def chunks(self, most: int, want: str, *, half: bool) -> Iterator[tuple[Array, ...]]:
        """Find the same pairs, at most so many at a time."""
        if self.queries:
            yield from pairs(**self.across(), want=want, chunks=most)
            return
        yield from pairs(**self.inner(), **self.space, want=want, half=half, chunks=most)
        if self.alone:
            return
        letters = "".join(dict.fromkeys("ij" + want))
        search = {**self.ghosts.as_bodies(), **self.own.taken(self.near).as_queries(), **self.space}
        for found in pairs(**search, want=letters, chunks=most):
            border = self._renumbered(dict(zip(letters, found, strict=True)))
            for part in [border] if half else [border, _reversed(border)]:
                if len(part["i"]):
                    yield tuple(part[letter] for letter in want)

    def border_pairs(self, letters: str) -> dict[str, Array]:
        """Return the pairs of own bodies i and ghosts j; `letters` includes i and j."""
        found = pairs(**self.ghosts.as_bodies(), **self.own.taken(self.near).as_queries(), **self.space, want=letters)
        return self._renumbered(dict(zip(letters, found, strict=True)))

    def _renumbered(self, border: dict[str, Array]) -> dict[str, Array]:
        """Return pairs of own bodies near ghosts and ghosts that count, by the numbers of all bodies."""
        border["i"] = self.near.astype(np.int32)[border["i"]]
        border["j"] = border["j"] + np.int32(len(self.own))
        if self.excluded is not None:
            kept = self.excluded.counts(border["i"], border["j"])
            border = {letter: column[kept] for letter, column in border.items()}
        return border

    def neighbors(self, want: str, *, sort: bool, self_pairs: bool = False) -> Neighbors:
        """Find all neighbours of the own bodies; in a row, ghosts follow own bodies."""
        if self.queries:
            return neighbors(**self.across(), want=want, sort=sort)
        if self_pairs:
            rows = join_rows(self.neighbors(want + "S", sort=sort), len(self.own))
            return rows if "S" in want else replace(rows, shifts=None)
        search = partial(neighbors, **self.space, want=want, sort=sort)
        inner = search(**self.inner())
        if self.alone:
            return replace(inner, columns=len(self.own) + len(self.ghosts))
        outer = search(**self.ghosts.as_bodies(), **self.own.taken(self.near).as_queries())
        if self.excluded is not None:
            outer = _kept_entries(outer, self.excluded.counts(*_numbers(outer, self.near, len(self.own))))
        return _joined_rows(inner, outer, self.near, len(self.ghosts))

    def count(self) -> npt.NDArray[np.int32]:
        """Count the neighbours of the own bodies."""
        if self.queries:
            return count(**self.across())
        search = partial(count, **self.space)
        counts = search(**self.inner())
        if self.alone:
            return counts
        if self.excluded is None:
            counts[self.near] += search(**self.ghosts.as_bodies(), **self.own.taken(self.near).as_queries())
        else:
            counts += np.bincount(self.border_pairs("ij")["i"], minlength=len(self.own)).astype(np.int32)
        return counts


def _reversed(columns: Mapping[str, Array]) -> dict[str, Array]:
    """Return the same pairs from the other side; 0 - 0 is 0, whereas a changed sign would make it -0."""
    signs = {letter: 0 - column for letter, column in columns.items() if letter in "DS"}
    return {**columns, **signs, "i": columns["j"], "j": columns["i"]}


def _numbers(outer: Neighbors, near: npt.NDArray[np.intp], own: int) -> tuple[Array, Array]:
    """Return the numbers of own bodies and ghosts of rows that belong to the bodies `near`."""
    return np.repeat(near, outer.counts), outer.indices + np.int64(own)


def _kept_entries(rows: Neighbors, kept: npt.NDArray[np.bool_]) -> Neighbors:
    """Return rows without some of their entries."""

    def some(column: Array | None) -> Any:
        return None if column is None else column[kept]

    before = np.concatenate([[0], np.cumsum(kept)])
    return Neighbors(
        before[rows.offsets],
        some(rows.indices),
        rows.columns,
        distances=some(rows.distances),
        vectors=some(rows.vectors),
        shifts=some(rows.shifts),
    )


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
