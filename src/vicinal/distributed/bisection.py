"""Recursive coordinate bisection: space is cut in two, and each half again, until every rank has one part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Cut:
    """One cut: bodies below `at` along `axis` go to the ranks before `middle`."""

    first: int
    middle: int
    last: int
    axis: int
    at: float


@dataclass(frozen=True)
class Bisection:
    """The parts of space, as cuts in the order in which they are made.

    Examples
    --------
    >>> import numpy as np
    >>> line = np.linspace(0.0, 1.0, 100)[:, None] * [1.0, 0.0]
    >>> parts = bisect(line, np.ones(100), 4)
    >>> np.bincount(parts.owners(line)).tolist()
    [25, 25, 25, 25]
    >>> parts.boxes(4, 2)[0].round(2).tolist()
    [[-inf, -inf], [0.25, inf]]
    """

    cuts: tuple[Cut, ...]

    def owners(self, points: npt.NDArray[Any]) -> npt.NDArray[np.int32]:
        """Return the rank that owns each point."""
        owners = np.zeros(len(points), np.int32)
        members = {0: np.arange(len(points))}  # by first rank of a group of ranks; cuts of a group follow its own
        for cut in self.cuts:
            rows = members[cut.first]
            above = points[rows, cut.axis] >= cut.at
            members[cut.middle] = rows[above]
            members[cut.first] = rows[~above]
            owners[members[cut.middle]] = cut.middle
        return owners

    def boxes(self, ranks: int, dim: int) -> npt.NDArray[np.float64]:
        """Return the lower and upper ends of the parts, shape (ranks, 2, dim); upper ends belong to the next part."""
        boxes = np.empty((ranks, 2, dim))
        boxes[:, 0], boxes[:, 1] = -np.inf, np.inf
        for cut in self.cuts:
            boxes[cut.first : cut.middle, 1, cut.axis] = cut.at
            boxes[cut.middle : cut.last, 0, cut.axis] = cut.at
        return boxes


def bisect(points: npt.NDArray[Any], weights: npt.NDArray[np.float64], ranks: int) -> Bisection:
    """Cut space so that every rank gets the same share of the weight; each cut is across the longest axis."""
    cuts: list[Cut] = []

    def split(rows: npt.NDArray[np.intp], first: int, last: int) -> None:
        if last - first < 2:
            return
        middle = (first + last) // 2
        axis, at = 0, 0.0
        if len(rows):
            mine = points[rows]
            axis = int(np.argmax(mine.max(axis=0) / 2 - mine.min(axis=0) / 2))  # halves cannot overflow
            order = np.argsort(mine[:, axis], kind="stable")
            heights = np.cumsum(weights[rows[order]])
            share = heights[-1] * (middle - first) / (last - first)
            place = int(np.searchsorted(heights, share, side="right"))
            at = float(mine[order[min(place, len(rows) - 1)], axis])
        cuts.append(Cut(first, middle, last, axis, at))
        above = points[rows, axis] >= at
        split(rows[~above], first, middle)
        split(rows[above], middle, last)

    split(np.arange(len(points)), 0, ranks)
    return Bisection(tuple(cuts))


def wrapped(points: npt.NDArray[Any], edges: list[float]) -> npt.NDArray[np.float64]:
    """Return positions inside the periodic box. They decide ownership only, so their last bits do not matter."""
    inside = points.astype(np.float64)
    for axis, edge in enumerate(edges):
        if edge > 0:
            inside[:, axis] -= np.floor(inside[:, axis] / edge) * edge
    return inside
