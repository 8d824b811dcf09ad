"""Pairs of very many points with little memory: slabs of space are searched one after the other.

A structure holds all its points once more, in its own order. Of many points only those of one slab at a time are
held, with the points of later slabs that are within reach of it: a pair of two slabs is found with the first of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal._check import Bodies

Array = npt.NDArray[Any]
Columns = tuple[Array, ...]

LARGE = 1 << 25
"""From this many points on, searches in chunks go slab by slab: with fewer, a structure takes less than 1 GB."""
PER_SLAB = 1 << 22
SAMPLES = 100_000
ROWS = 1 << 20
"""Points that are assigned to slabs together."""


@dataclass(frozen=True)
class Slabs:
    """Points divided at `cuts` along an axis; `owner` is the slab of each point, `edge` the period or 0."""

    points: Array
    axis: int
    edge: float
    cuts: npt.NDArray[np.float64]
    owner: npt.NDArray[np.uint16]

    def members(self, slab: int) -> npt.NDArray[np.int32]:
        """Return the numbers of the points of a slab."""
        return np.flatnonzero(self.owner == slab).astype(np.int32)

    def near(self, slab: int, reach: float) -> npt.NDArray[np.int32]:
        """Return the numbers of all points of later slabs within reach of a slab, and perhaps some more."""
        low = self.cuts[slab - 1] if slab else -np.inf if not self.edge else 0.0
        high = self.cuts[slab] if slab < len(self.cuts) else np.inf
        found = [np.zeros(0, np.int32)]
        for other in range(slab + 1, len(self.cuts) + 1):
            last = self.cuts[other] if other < len(self.cuts) else self.edge
            around = bool(self.edge) and low + self.edge - last <= reach
            if self.cuts[other - 1] - high > reach and not around:
                continue
            numbers = self.members(other)
            place = _place(self.points[numbers, self.axis], self.edge)
            within = place - high <= reach
            if self.edge:
                within |= low + self.edge - place <= reach
            found.append(numbers[within])
        return np.concatenate(found)


def _place(coordinates: Array, edge: float) -> npt.NDArray[np.float64]:
    """Return coordinates along an axis, inside the period if there is one."""
    x = coordinates.astype(np.float64)
    return x - np.floor(x / edge) * edge if edge else x


def cut(points: Array, edges: list[float]) -> Slabs:
    """Divide points into slabs of about PER_SLAB points, across the axis along which they spread most."""
    n = len(points)
    sample = points[:: max(1, n // SAMPLES)]
    places = [_place(sample[:, a], edge) for a, edge in enumerate(edges)]
    axis = int(np.argmax([np.ptp(place) for place in places]))
    count = min(-(-n // PER_SLAB), 1 << 15)
    cuts = np.quantile(places[axis], np.arange(1, count) / count)
    owner = np.empty(n, np.uint16)
    for begin in range(0, n, ROWS):
        rows = slice(begin, begin + ROWS)
        owner[rows] = np.searchsorted(cuts, _place(points[rows, axis], edges[axis]), side="right")
    return Slabs(points, axis, edges[axis], cuts, owner)


def chunks(
    bodies: Bodies,
    cutoff: float,
    edges: list[float],
    want: str,
    search: Callable[[Array, Array | None], Iterator[Columns]],
) -> Iterator[Columns]:
    """Iterate over the columns of all pairs; `search` finds those of some points, or of queries and points."""
    slabs = cut(bodies.array, edges)
    # Places and cuts are rounded, and so is the test of a pair.
    size = max(map(abs, (*bodies.low, *bodies.high, *edges)))
    reach = max(bodies.reach(cutoff)) * (1 + 1e-6) + 8 * float(np.finfo(bodies.array.dtype).eps) * size
    for slab in range(len(slabs.cuts) + 1):
        own = slabs.members(slab)
        if not len(own):
            continue
        points = bodies.array[own]
        for columns in search(points, None):
            yield _numbered(columns, want, own, own)
        ghosts = slabs.near(slab, reach)
        if len(ghosts):
            for columns in search(points, bodies.array[ghosts]):
                yield _numbered(columns, want, ghosts, own)


def _numbered(columns: Columns, want: str, first: Array, second: Array) -> Columns:
    """Return columns with the numbers of all points in place of those of a slab."""
    names = {"i": first, "j": second}
    return tuple(names[w][c] if w in names else c for w, c in zip(want, columns, strict=True))
