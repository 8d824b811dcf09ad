"""The hierarchical hash grid, for bodies of mixed sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

import numpy as np

from vicinal import _check
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

MOST_LEVELS = 64


class HashGrid(Index):
    """Grids of growing cell size, folded onto little memory; the fastest structure for bodies of mixed sizes.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    update
        "incremental": `update` moves only the bodies that changed cell or grid. "rebuild": it builds all grids again.
    levels
        Largest size (radius, or longest edge of a box) of the bodies in each grid, ascending; larger bodies get one
        more grid. The default minimises the total work for the sizes given.
    fill
        Bodies per cell in memory. Grids grow when there are more, and shrink when there are far fewer.
    few
        Up to this number, all bodies are kept in one cell, so that all pairs are tested.

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
        cutoff: npt.ArrayLike | None = None,
        *,
        update: Literal["incremental", "rebuild"] = "incremental",
        levels: Sequence[float] | None = None,
        fill: float = 0.5,
        few: int = 64,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(update=update, levels=levels, fill=fill, few=few)
        super().__init__(points, cutoff, **bodies)

    def _set_options(
        self,
        *,
        update: str = "incremental",
        levels: Sequence[float] | None = None,
        fill: float = 0.5,
        few: int = 64,
    ) -> None:
        _check.check_choice(update, "update", ("incremental", "rebuild"))
        self._numbers = {"incremental": float(update == "incremental")}
        share = _check.check_number(fill, "fill")
        if not 1e-3 <= share <= 1e3:
            raise InputError(f"fill must be a number of bodies per cell from 0.001 to 1000, got {fill}")
        self._numbers["fill"] = share
        self._numbers["few"] = _check.check_integer(few, "few", least=0, most=100_000)
        if levels is not None:
            self._numbers |= _check_levels(levels)

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        return dict(self._numbers)


def _check_levels(levels: Sequence[float]) -> dict[str, float]:
    sizes = np.asarray(levels, dtype=float)
    if sizes.ndim != 1 or not 1 <= len(sizes) <= MOST_LEVELS:
        raise InputError(f"levels must be a list of 1 to {MOST_LEVELS} sizes, got shape {sizes.shape}")
    if not (np.isfinite(sizes).all() and (sizes > 0).all() and (np.diff(sizes) > 0).all()):
        raise InputError(f"levels must be positive, finite sizes in ascending order, got {sizes.tolist()}")
    return {"levels": float(len(sizes))} | {f"level{k}": float(size) for k, size in enumerate(sizes)}
