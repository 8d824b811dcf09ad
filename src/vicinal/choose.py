"""Which structure for which case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal._check import BoxLike, Points
from vicinal.bodies import BoxesLike, PlanesLike
from vicinal.index import Index, Setting, check_setting
from vicinal.structures import CellSorting, Exhaustive, HashGrid, LinkedCells
from vicinal.structures.linked_cells import grid_cells

STRUCTURES: dict[str, type[Index]] = {kind.__name__: kind for kind in (Exhaustive, LinkedCells, CellSorting, HashGrid)}

# Below this all pairs cost less than sorting does. Set by benchmarks/crossover.py.
FEW_BODIES = 128
# A dense grid is worth its memory up to this many cells per body. Set by benchmarks/crossover.py.
CELLS_PER_BODY = 8.0
# From this ratio of the largest body to a typical one on, one size of cells is no longer enough.
MIXED_SIZES = 2.0
# Bodies looked at to find a typical one.
SAMPLE = 1000


@dataclass(frozen=True)
class Choice:
    """A structure, its parameters, and why it was chosen."""

    structure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""


def choose(
    points: npt.ArrayLike | None = None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
) -> Choice:
    """Say which structure `vicinal.pairs` would use, and why. The choice changes speed only, never the result.

    Examples
    --------
    >>> import numpy as np
    >>> vicinal.choose(np.random.default_rng(0).random((5000, 3)), cutoff=0.1).structure
    'LinkedCells'
    """
    return choose_checked(
        check_setting(points, cutoff=cutoff, radii=radii, boxes=boxes, skin=skin, planes=planes, box=box)
    )


def choose_checked(setting: Setting) -> Choice:
    """Choose for arguments that were checked already."""
    n = len(setting.bodies)
    if n <= FEW_BODIES:
        return Choice("Exhaustive", {}, f"{n} bodies are so few that testing all pairs costs less than sorting them")
    spread = size_spread(setting.bodies)
    if spread > MIXED_SIZES:
        return Choice("HashGrid", {}, f"the largest body is {spread:.2g} times as large as a typical one")
    cells = grid_cells(setting.bodies, setting.cutoff, 0.0, setting.box)
    if cells <= CELLS_PER_BODY * n:
        return Choice(
            "LinkedCells", {}, f"a dense grid has {cells / n:.2g} cells per body, so looking cells up is cheap"
        )
    return Choice("CellSorting", {}, f"a dense grid would have {cells / n:.2g} cells per body, most of them empty")


def size_spread(bodies: Points) -> float:
    """Return how much larger than the median of a sample the largest body is; 1 for points."""
    if bodies.extra is None or max(bodies.largest) == 0:
        return 1.0
    step = max(1, len(bodies) // SAMPLE)
    sizes = bodies.extra[::step] if bodies.extra.ndim == 1 else (bodies.extra - bodies.array)[::step].max(axis=1)
    typical = float(np.median(sizes))
    return max(bodies.largest) / typical if typical > 0 else np.inf
