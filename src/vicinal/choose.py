"""Choose the structure that searches given bodies fastest."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy.typing as npt

from vicinal import _core
from vicinal import costs as measured
from vicinal._check import check_number
from vicinal._environment import check_environment
from vicinal.bodies import BoxesLike, PlanesLike
from vicinal.cell import LONGEST_EDGE, BoxLike, PeriodicLike, read_cell
from vicinal.costs import Costs, all_pairs_limit, chooser, current_costs, survey
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.settings import Settings, check_settings
from vicinal.structures import STRUCTURES


@dataclass(frozen=True)
class Choice:
    """A structure, its parameters, why it was chosen, and what each alternative would cost.

    Parameters
    ----------
    structure
        Name of the structure.
    parameters
        Its parameters.
    reason
        One sentence on why it was chosen.
    costs
        By structure: the seconds predicted for one search, building included, with one thread on the machine on which
        the constants of the prediction were measured; on another machine only their ratios matter. A structure that
        is missing cannot hold the bodies.
    measured_with
        The instruction set with which the constants were measured. It differs from ``vicinal.info()["isa"]`` if none
        were measured with that one.
    """

    structure: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    reason: str = ""
    costs: Mapping[str, float] = field(default_factory=dict)
    measured_with: str = ""


def choose(
    points: npt.ArrayLike | None = None,
    cutoff: float | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    motion: float | None = None,
) -> Choice:
    """Return which structure `vicinal.pairs` would use, and why. The choice affects speed only, never the result.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box, periodic
        As for `vicinal.pairs`.
    motion
        How far bodies move from step to step, on average and in units of their size (or of the cutoff), for an index
        that is kept and updated. None: a single search.

    Examples
    --------
    >>> import numpy as np
    >>> choice = vicinal.choose(np.random.default_rng(0).random((5000, 3)), cutoff=0.1)
    >>> choice.costs[choice.structure] == min(choice.costs.values())
    True
    >>> choice.structure != "Exhaustive"
    True
    """
    settings = check_settings(
        points, cutoff=cutoff, radii=radii, boxes=boxes, skin=skin, planes=planes, box=box, periodic=periodic
    )
    if motion is not None:
        motion = check_number(motion, "motion")
        if not (math.isfinite(motion) and motion >= 0):
            raise InputError(f"motion must be a finite number of body sizes per step, 0 or more, got {motion}")
    return choose_checked(settings, motion=motion, tell=True)


def choose_checked(
    settings: Settings, *, motion: float | None = None, tell: bool = False, limit: int | None = None
) -> Choice:
    """Choose for checked arguments. The reason, and the costs for few bodies, are computed with `tell` only.

    `limit` takes the place of `costs.ALL_PAIRS_LIMIT`.
    """
    n = len(settings.bodies)
    costs = current_costs()
    limit = all_pairs_limit(costs, limit)
    if _core.tests_all_pairs(n, limit):
        reason = f"{n} bodies are so few that testing all pairs takes less time than choosing a structure"
        return Choice("Exhaustive", {}, reason, _few_costs(settings, costs) if tell else {}, costs.isa)
    surveyed = survey(settings)
    ways = surveyed.predict(costs.table, motion, limit)
    best = min(ways, key=lambda name: ways[name][0])
    seconds = {name: cost for name, (cost, _) in ways.items()}
    reason = _reason(surveyed.facts(), best, ways[best][1], seconds) + _fallback(costs) if tell else ""
    return Choice(best, ways[best][1], reason, seconds, costs.isa)


def chosen_index(settings: Settings) -> Index:
    """Return an index for a single search with the structure that suits it."""
    return Index._chosen(settings, chooser(), measured.ALL_PAIRS_LIMIT)  # noqa: SLF001


def plain_pairs(
    points: npt.NDArray[Any],
    cutoff: float,
    box: BoxLike,
    periodic: PeriodicLike,
    want: str,
    *,
    half: bool,
    sort: bool,
) -> tuple[npt.NDArray[Any], ...] | None:
    """Find the pairs of points in one call of the core; None if it needs other checks or ways."""
    check_environment()
    space: Sequence[float] = ()
    if box is not None or periodic is not None:
        if points.dtype.name not in LONGEST_EDGE or points.ndim != 2 or points.shape[1] not in (2, 3):
            return None
        try:
            space = read_cell(box, periodic, points.shape[1], points.dtype).for_core
        except InputError:  # which argument is named first is decided by the other way
            return None
    return _core.plain_pairs(points, cutoff, space, want, half, sort, chooser(), measured.ALL_PAIRS_LIMIT)


def _few_costs(settings: Settings, costs: Costs) -> dict[str, float]:
    """Predict costs for few bodies, of which all pairs are tested; other structures also cost the time to choose."""
    if len(settings.bodies) < 2:
        return {}
    ways = survey(settings).predict(costs.table, None, 0)
    return {name: cost + (name != "Exhaustive") * costs.choosing for name, (cost, _) in ways.items()}


def _reason(facts: Mapping[str, Any], best: str, parameters: Mapping[str, Any], seconds: Mapping[str, float]) -> str:
    """Return one sentence on what makes a structure the fastest, and on the second best."""
    n = facts["bodies"]
    ratio = facts["largest"] / facts["pair_size"] if facts["pair_size"] > 0 else 1.0
    cells = (
        f"a grid with cells as large as the reach of the bodies would have {facts['grid_cells'] / n:.2g} cells per body"
    )
    if "cell" in parameters:
        wide = f"a grid with cells of {parameters['cell']:.3g}, wider than the reach of the bodies"
        cells = f"{wide}, has fewer cells than one with cells as large as that"
    sizes = f"the largest body is {ratio:.2g} times as large as most" if ratio > 2 else cells
    why = STRUCTURES[best]._why.format(bodies=f"{n:.0f}", cells=cells, sizes=sizes)  # noqa: SLF001
    others = {name: cost for name, cost in seconds.items() if name != best}
    second = min(others, key=lambda name: others[name])
    longer = f"{others[second] / seconds[best]:.2g}"
    return f"{why}; {second} would take about {'as long' if longer == '1' else f'{longer} times as long'}"


def _fallback(costs: Costs) -> str:
    isa = _core.get_isa()
    if costs.isa == isa:
        return ""
    return f" (predicted with constants for {costs.isa}; none were measured for {isa})"
