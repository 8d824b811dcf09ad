"""Onderik & Ďurikovič 2008, section 3: finer cells and larger masks, for fewer candidates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import Any

import vicinal as vc
from vicinal.lab.claims import Order, Ratio, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import ONDERIK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import uniform
from vicinal.timing import race

MASKS = (1, 2, 3)
POINTS = {15: 15_000, 8: 15_000}
SPARE = 0.05
"""Factor that makes `side` cells along an edge no smaller than the cutoff after rounding."""
STRUCTURES = tuple(f"H = {mask}" for mask in MASKS)


def cells(mask: int) -> int:
    """Return the cells of a mask without corners that no point within the cutoff can be in.

    Examples
    --------
    >>> [cells(mask) for mask in (1, 2, 3)]
    [27, 125, 311]
    """
    reach = range(-mask, mask + 1)
    # Between two cells there are |k| - 1 whole cells, which are a little larger than 1/H: a gap of 1 is out of reach.
    gap = {k: max(abs(k) - 1, 0) for k in reach}
    return sum(sum(gap[k] ** 2 for k in at) < mask**2 for at in product(reach, repeat=3))


def precision(mask: int) -> float:
    """Return the share of candidates that are pairs, far from any face: the volume of a ball over that of its cells.

    Examples
    --------
    >>> [round(precision(mask), 3) for mask in (1, 2, 3)]
    [0.155, 0.268, 0.364]
    """
    return 4 / 3 * math.pi / (cells(mask) / mask**3)


def cases(plan: Plan) -> Sequence[Case]:
    """Return a sparse and a dense cube; both are periodic, because faces would change the count."""
    return [
        Case({"side": side, "points": bodies * plan.at(1, 1, 20)}, weight=bodies) for side, bodies in POINTS.items()
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Count candidates and pairs, and time update and search."""
    side, bodies = int(case.values["side"]), int(case.values["points"])
    given = uniform(bodies, edge=side + SPARE, cutoff=1.0, periodic=True, seed=plan.seed).bodies
    kept = {f"H = {mask}": vc.CellSorting(h_mask=mask, **given) for mask in MASKS}
    kept = {name: kept[name] for name in plan.of(kept)}
    rounds = plan.turns(5, 20)
    clocks = race({name: partial(_step, index, given["points"]) for name, index in kept.items()}, rounds=rounds)
    for name, index in kept.items():
        stats = index.stats
        yield {
            "structure": name,
            "h_mask": int(name.split()[-1]),
            "candidates": stats.candidates,
            "pairs": stats.pairs,
            "precision": stats.pairs / stats.candidates,
            "seconds": clocks[name].best,
        }


def _step(index: vc.Index, points: Any) -> None:
    index.update(points)
    index.pairs()


def _at(column: str, mask: int, side: int = 15) -> Pick:
    return Pick(column, {"side": side, "h_mask": mask})


EXPERIMENT = Experiment(
    name="onderik-h-mask",
    title="H-masks: finer cells, fewer candidates",
    paper=ONDERIK,
    section="section 3",
    setup="15 000 points spread evenly over periodic cubes of side 15 and 8, cutoff 1; cells of 1/H of the cutoff and "
    "a mask of (2H + 1)³ of them, without the corners that cannot be reached.",
    measured="precision (pairs over candidates), and the time to update and search.",
    notes="The paper states that precision grows at a constant factor of time and gives no numbers; the expected "
    "precision is that of a ball and the cells that cover it.",
    structures=STRUCTURES,
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"precision with H = {mask}, side {side}", pick=_at("precision", mask, side),
                published=precision(mask), tolerance=0.03,
            )
            for side in POINTS
            for mask in MASKS
        ),
        *(
            Order(
                label=f"H = {mask + 1} has fewer candidates than H = {mask}", less=_at("candidates", mask + 1),
                more=_at("candidates", mask),
            )
            for mask in MASKS[:-1]
        ),
        Ratio(
            label="time with H = 2 over H = 1: a constant factor", over=_at("seconds", 2), under=_at("seconds", 1),
            published="constant", most=125 / 27,
        ),
        Ratio(
            label="time with H = 3 over H = 1: a constant factor", over=_at("seconds", 3), under=_at("seconds", 1),
            published="constant", most=311 / 27,
        ),
    ),
    plots=(
        Plot(
            name="precision", title="Precision", x="h_mask", y="precision", series="side", kind="bar", log="",
            xlabel="H", ylabel="pairs / candidates",
        ),
        Plot(
            name="seconds", title="Time of an update and a search", x="h_mask", y="seconds", series="side", kind="bar",
            log="", xlabel="H", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
