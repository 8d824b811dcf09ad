"""Linked cells: a dense grid."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Unpack

from vicinal import _check
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

# A dense grid may take this share of memory.
GRID_SHARE = 0.25
BYTES_PER_CELL = 4


class LinkedCells(Index):
    """A dense grid of cells; the fastest structure where bodies of one size fill the space.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    cell
        Shortest edge of a cell, at least the cutoff or the largest body, which is the default. Where a grid of such
        cells would not fit into memory, as with a cutoff of 0, the cells are larger.

    Examples
    --------
    >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, cell=5.0)
    >>> index.count().tolist()
    [2, 1, 1]
    """

    _structure = "LinkedCells"
    _why = "{cells}, few enough to keep all of them"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        cell: float | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(cell=cell)
        super().__init__(points, cutoff, **bodies)

    def _set_options(self, *, cell: float | None = None) -> None:
        self._cell = cell

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        if self._cell is None:
            return {"cell": 0.0}
        cell = _check.check_number(self._cell, "cell")
        # The core enlarges cells where squares of tiny sizes underflow, so that pairs reach farther than the bodies do.
        reach = cutoff if bodies.kind == "points" else max(bodies.largest) * (2 if bodies.kind == "spheres" else 1)
        if not (math.isfinite(cell) and cell >= reach):
            what = "the cutoff" if bodies.kind == "points" else "the largest body"
            raise InputError(f"cell must be a finite length of at least {what}, {reach:g}, got {self._cell}")
        return {"cell": cell}
