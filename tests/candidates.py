"""The number of candidates that a grid proposes, counted without a grid: pairs of points in close cells."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from oracle import Array


def pairs_in_reach(cells: Array, stencil: int, sides: int | None = None) -> int:
    """Unordered pairs of points whose integer cells are within the stencil and not out of reach.

    Cells are 1/stencil of the cutoff wide, so between two cells that are k apart there is a gap of
    (k - 1)/stencil cutoffs. With `sides` the grid is periodic with that many cells on each side.
    """
    total = 0
    for k in range(len(cells) - 1):
        apart = np.abs(cells[k + 1 :] - cells[k])
        if sides is not None:
            apart = np.minimum(apart, sides - apart)
        gap = np.maximum(apart - 1, 0)
        near = (apart <= stencil).all(axis=1) & ((gap * gap).sum(axis=1) <= stencil * stencil)
        total += int(np.count_nonzero(near))
    return total


def expected_ratio(side: int, dim: int) -> float:
    """Onderik & Ďurikovič 2008: candidates over all pairs, uniform points, `side` cells per side."""
    return float(((3 * side - 2) / side**2) ** dim)
