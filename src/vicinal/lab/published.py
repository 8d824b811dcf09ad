"""Structures as first published, where `vicinal` has a better one: they reproduce the numbers of the papers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from vicinal import _check
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.structures import HashGrid

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

MOST_CELLS = 1024


class PublishedHashGrid(HashGrid):
    """The hierarchical hash grid of Schornbaum (2009) and, with `max_cells`, of Koch (2020).

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box, update, fill, few
        As for `vicinal.HashGrid`.
    factor
        Cells grow by this factor from grid to grid, starting at the size of the first body.
    dims
        Cells per axis of a new grid, powers of two of at least 4; grids grow with the number of bodies.
    max_cells
        Cells per axis, a power of two, for any number of bodies. Every cell is tested against all cells around
        it. Only for open space.

    Examples
    --------
    >>> from vicinal.lab import PublishedHashGrid
    >>> index = PublishedHashGrid([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], radii=[1.0, 2.0, 0.5], max_cells=8)
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0], [1]]
    """

    _structure = "PublishedHashGrid"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        update: Literal["incremental", "rebuild"] = "incremental",
        factor: float = 2.0,
        dims: int | Sequence[int] | None = None,
        max_cells: int | None = None,
        fill: float = 0.5,
        few: int = 64,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        growth = _check.check_number(factor, "factor")
        if not 1.05 <= growth <= 1e6:
            raise InputError(f"factor must be a number from 1.05 to 1e6, got {factor}")
        self._factor, self._dims, self._max_cells = growth, dims, max_cells
        super().__init__(points, cutoff, update=update, fill=fill, few=few, **bodies)

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:
        options = super()._options(bodies, cutoff, box) | {"factor": self._factor}
        if self._max_cells is not None:
            if box.periodic:
                raise InputError(
                    f"max_cells= must not be combined with a periodic box, got {self._max_cells} and {box}"
                )
            options["max_cells"] = _check_power(self._max_cells, "max_cells")
        if self._dims is not None:
            dims = [self._dims] * bodies.dim if isinstance(self._dims, int) else list(self._dims)
            if len(dims) != bodies.dim:
                raise InputError(f"dims must have one entry per axis, got {len(dims)} entries for {bodies.dim} axes")
            options |= {f"dims{axis}": _check_power(entry, f"dims[{axis}]") for axis, entry in enumerate(dims)}
        return options


def _check_power(value: object, name: str) -> int:
    number = _check.check_integer(value, name, least=4, most=MOST_CELLS)
    if number & (number - 1):
        raise InputError(f"{name} must be a power of two from 4 to {MOST_CELLS}, got {number}")
    return number
