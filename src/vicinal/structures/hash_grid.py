"""The hierarchical hash grid: bodies of every size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from vicinal import _check
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

MOST_LEVELS = 64
MOST_CELLS = 1024


class HashGrid(Index):
    """Grids of growing cells, folded onto little memory: the fastest for bodies of mixed sizes.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for every index.
    update
        "incremental": `update` moves only the bodies that changed cell or grid. "rebuild": it lays out all anew.
    levels
        Sizes (radii, or longest edges of boxes) up to which bodies share a grid, ascending; larger ones get one more.
        The default is chosen from the sizes for the least total work.
    factor
        Cells grow by this factor from grid to grid, from the size of the first body on, as first published. The default
        chooses levels instead.
    fill
        Bodies per cell in memory: with fewer cells than that, grids grow; far fewer bodies, and they shrink.
    dims
        Cells per axis a grid starts with, powers of two of at least 4; they grow with the bodies.
    max_cells
        Cells per axis, a power of two, fixed whatever the number of bodies; every cell is tested against all around
        it. Slower, as published; only for open space.
    few
        Up to this many bodies are kept in one cell, so that all pairs are tested.

    Examples
    --------
    >>> index = vicinal.HashGrid([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], radii=[1.0, 2.0, 0.5])
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0], [1]]
    >>> index.update([[0.0, 0.0], [3.0, 0.0], [0.0, 1.5]])
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0, 0], [1, 2]]
    """

    _structure = "HashGrid"
    _why = "{sizes}, and a grid for each range of sizes tests few candidates"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        update: Literal["incremental", "rebuild"] = "incremental",
        levels: Sequence[float] | None = None,
        factor: float | None = None,
        fill: float = 0.5,
        dims: int | Sequence[int] | None = None,
        max_cells: int | None = None,
        few: int = 64,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(
            update=update, levels=levels, factor=factor, fill=fill, dims=dims, max_cells=max_cells, few=few
        )
        super().__init__(points, **bodies)

    def _set_options(
        self,
        *,
        update: str = "incremental",
        levels: Sequence[float] | None = None,
        factor: float | None = None,
        fill: float = 0.5,
        dims: int | Sequence[int] | None = None,
        max_cells: int | None = None,
        few: int = 64,
    ) -> None:
        if update not in ("incremental", "rebuild"):
            raise InputError(f"update: {update!r} found; pass 'incremental' or 'rebuild'")
        self._numbers = {"incremental": float(update == "incremental")}
        share = _check.check_number(fill, "fill")
        if not 1e-3 <= share <= 1e3:
            raise InputError(f"fill: {fill} found; pass bodies per cell from 0.001 to 1000, such as 0.5")
        self._numbers["fill"] = share
        self._numbers["few"] = _check.check_integer(few, "few", least=0, most=100_000)
        if levels is not None and factor is not None:
            raise InputError(f"levels: {levels} found together with factor {factor}; pass only one of them")
        if levels is not None:
            self._numbers |= _check_levels(levels)
        if factor is not None:
            growth = _check.check_number(factor, "factor")
            if not 1.05 <= growth <= 1e6:
                raise InputError(f"factor: {factor} found; pass a number from 1.05 to 1e6, such as 2")
            self._numbers["factor"] = growth
        self._dims = dims
        self._max_cells = max_cells

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        options = dict(self._numbers)
        if self._max_cells is not None:
            if any(edge > 0 for edge in box):
                raise InputError(f"max_cells: {self._max_cells} found for a periodic box {box}; leave it out there")
            options["max_cells"] = _check_power(self._max_cells, "max_cells")
        if self._dims is not None:
            dims = [self._dims] * bodies.dim if isinstance(self._dims, int) else list(self._dims)
            if len(dims) != bodies.dim:
                raise InputError(f"dims: {len(dims)} entries found for {bodies.dim} dimensions; pass one per axis")
            options |= {f"dims{axis}": _check_power(entry, f"dims[{axis}]") for axis, entry in enumerate(dims)}
        return options


def _check_levels(levels: Sequence[float]) -> dict[str, float]:
    sizes = np.asarray(levels, dtype=float)
    if sizes.ndim != 1 or not 1 <= len(sizes) <= MOST_LEVELS:
        raise InputError(f"levels: shape {sizes.shape} found; pass 1 to {MOST_LEVELS} sizes")
    if not (np.isfinite(sizes).all() and (sizes > 0).all() and (np.diff(sizes) > 0).all()):
        raise InputError(f"levels: {sizes.tolist()} found; pass positive, finite sizes in ascending order")
    return {"levels": float(len(sizes))} | {f"level{k}": float(size) for k, size in enumerate(sizes)}


def _check_power(value: object, name: str) -> int:
    number = _check.check_integer(value, name, least=4, most=MOST_CELLS)
    if number & (number - 1):
        raise InputError(f"{name}: {number} found; pass a power of two from 4 to {MOST_CELLS}")
    return number
