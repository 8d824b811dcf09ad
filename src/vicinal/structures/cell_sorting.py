"""Cell sorting: bodies sorted by the key of their cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from vicinal import _check
from vicinal.cell import Cell
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments


class CellSorting(Index):
    """Bodies sorted by the key of their cell, without a grid in memory; fast for any extent of space.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    h_mask
        Cells per cutoff (or per largest body), 1, 2 or 3: smaller cells propose fewer candidates with more look-ups.
        The default is 1.

    Examples
    --------
    >>> far = [[0.0, 0.0], [3.0, 0.0], [1e15, 4.0], [1e15, 5.0]]
    >>> index = vicinal.CellSorting(far, cutoff=4.0)
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0, 2], [1, 3]]
    """

    _structure = "CellSorting"
    _why = "{cells}, and only the occupied ones are kept"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        h_mask: int | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(h_mask=h_mask)
        super().__init__(points, cutoff, **bodies)

    def _set_options(self, *, h_mask: int | None = None) -> None:
        self._h_mask = 1 if h_mask is None else _check.check_integer(h_mask, "h_mask", least=1, most=3)

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        return {"h_mask": float(self._h_mask)}
