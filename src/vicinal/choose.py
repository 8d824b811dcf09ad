"""Which structure for which case."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from vicinal import costs as _costs
from vicinal._check import BoxLike, check_number
from vicinal.bodies import BoxesLike, PlanesLike
from vicinal.costs import Outlook, seconds
from vicinal.errors import InputError
from vicinal.index import Settings, check_settings


@dataclass(frozen=True)
class Choice:
    """A structure, its parameters, why it was chosen, and what each alternative would cost.

    `costs` are the seconds predicted for one search, building included, with one thread on the machine where the
    constants of the prediction were measured; elsewhere only their ratios mean something. A structure that is not there
    cannot hold the bodies.
    """

    structure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    costs: Mapping[str, float] = field(default_factory=dict)


def choose(
    points: npt.ArrayLike | None = None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    motion: float | None = None,
) -> Choice:
    """Say which structure `vicinal.pairs` would use, and why. The choice changes speed only, never the result.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.pairs`.
    motion
        How far bodies move from step to step, on average and in units of their size (or of the cutoff), for an index
        that is kept and updated. None: a single search.

    Examples
    --------
    >>> import numpy as np
    >>> choice = vicinal.choose(np.random.default_rng(0).random((5000, 3)), cutoff=0.1)
    >>> choice.structure
    'LinkedCells'
    >>> choice.costs["LinkedCells"] < choice.costs["Exhaustive"]
    True
    """
    settings = check_settings(points, cutoff=cutoff, radii=radii, boxes=boxes, skin=skin, planes=planes, box=box)
    if motion is not None:
        motion = check_number(motion, "motion")
        if not (math.isfinite(motion) and motion >= 0):
            raise InputError(f"motion: {motion} found; pass a finite number of body sizes per step, or None")
    return choose_checked(settings, motion=motion, tell=True)


def choose_checked(
    settings: Settings, *, motion: float | None = None, tell: bool = False, limit: int | None = None
) -> Choice:
    """Choose for arguments that were checked already. Only with `tell` there is a reason, and costs for few bodies.

    `limit` takes the place of `costs.ALL_PAIRS_LIMIT`.
    """
    n = len(settings.bodies)
    limit = _costs.ALL_PAIRS_LIMIT if limit is None else limit
    if n <= max(1, seconds()["few"] if limit is None else limit):
        reason = f"{n} bodies are so few that testing all pairs takes less time than looking for anything better"
        return Choice("Exhaustive", {}, reason, _few_costs(settings) if tell else {})
    outlook = Outlook(settings)
    ways = outlook.best(motion)
    if limit is not None and limit < 0:
        del ways["Exhaustive"]
    best = min(ways, key=lambda name: ways[name][0])
    costs = {name: cost for name, (cost, _) in ways.items()}
    return Choice(best, ways[best][1], _reason(outlook, best, costs) if tell else "", costs)


def _few_costs(settings: Settings) -> dict[str, float]:
    """Predict for bodies that are searched exhaustively anyway; anything else would have to be chosen first."""
    if len(settings.bodies) < 2:
        return {}
    ways = Outlook(settings).best()
    return {name: cost + (name != "Exhaustive") * seconds()["choosing"] for name, (cost, _) in ways.items()}


def _reason(outlook: Outlook, best: str, costs: Mapping[str, float]) -> str:
    """Say in one sentence what speaks for a structure."""
    n = outlook.bodies
    sizes = outlook.largest / outlook.pair_size if outlook.pair_size > 0 else 1.0
    spread = f"the largest body is {sizes:.2g} times as large as most" if sizes > 2 else ""
    empty = (
        f"a grid with cells as large as the reach of bodies would have {outlook.grid_cells / n:.2g} of them per body"
    )
    why = {
        "Exhaustive": f"each of {n} bodies has many of the others around it",
        "LinkedCells": f"{empty}, so they can all be kept",
        "CellSorting": f"{empty}, and only occupied ones are kept",
        "SpatialHash": f"{empty}, and a table finds the occupied ones",
        "HashGrid": f"{spread}, and grids of {outlook.levels} sizes test few candidates" if spread else empty,
        "BVH": f"{spread or empty}, and a tree of boxes adapts to that",
        "Octree": f"{empty}, and leaves adapt to where bodies are",
        "SweepAndPrune": f"few of {n} bodies overlap along one axis, or little moves",
    }[best]
    others = {name: cost for name, cost in costs.items() if name != best}
    second = min(others, key=lambda name: others[name])
    return f"{why}; {second} would take about {others[second] / costs[best]:.2g} times as long"
