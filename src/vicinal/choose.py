"""Which structure for which case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from vicinal import _check
from vicinal._check import BoxLike, Points
from vicinal.index import CellSorting, Exhaustive, Index, LinkedCells, grid_cells

STRUCTURES: dict[str, type[Index]] = {kind.__name__: kind for kind in (Exhaustive, LinkedCells, CellSorting)}

# Below this all pairs cost less than sorting does. Set by benchmarks/crossover.py.
FEW_BODIES = 128
# A dense grid is worth its memory up to this many cells per body. Set by benchmarks/crossover.py.
CELLS_PER_BODY = 8.0


@dataclass(frozen=True)
class Choice:
    """A structure, its parameters, and why it was chosen."""

    structure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def choose(points: npt.ArrayLike, *, cutoff: float, box: BoxLike = None) -> Choice:
    """Say which structure `vicinal.pairs` would use, and why. The choice changes speed only, never the result.

    Examples
    --------
    >>> import numpy as np
    >>> vicinal.choose(np.random.default_rng(0).random((5000, 3)), cutoff=0.1).structure
    'LinkedCells'
    """
    checked = _check.check_points(points)
    radius = _check.check_cutoff(cutoff, checked)
    return choose_checked(checked, radius, _check.check_box(box, checked, radius))


def choose_checked(points: Points, cutoff: float, box: list[float]) -> Choice:
    """Choose for arguments that were checked already."""
    n = len(points)
    if n <= FEW_BODIES:
        return Choice("Exhaustive", {}, f"{n} bodies are so few that testing all pairs costs less than sorting them")
    cells = grid_cells(points, cutoff, box)
    if cells <= CELLS_PER_BODY * n:
        return Choice(
            "LinkedCells", {}, f"a dense grid has {cells / n:.2g} cells per body, so looking cells up is cheap"
        )
    return Choice("CellSorting", {}, f"a dense grid would have {cells / n:.2g} cells per body, most of them empty")
