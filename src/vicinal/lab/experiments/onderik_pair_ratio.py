"""Onderik & Ďurikovič 2008, figures 4 and 5: cell sorting, spatial hashing and all pairs, from dense to sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import vicinal as vc
from vicinal.lab.claims import Order, Ratio, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import ONDERIK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import uniform
from vicinal.timing import race

POINTS, CUTOFF = 15_000, 1.0
SIDES = range(2, 16)
DRAWS, DENSE = 4, 4
"""Counts of one placement scatter by 1 %, but hardly if every point has very many neighbours."""
PRINTED = {2: 0.9999, 15: 0.0069}
MAKERS: dict[str, Callable[..., vc.Index]] = {
    "CellSorting": lambda **bodies: vc.CellSorting(h_mask=1, **bodies),
    "SpatialHash": lambda **bodies: vc.SpatialHash(**bodies),
    "Exhaustive": lambda **bodies: vc.Exhaustive(**bodies),
}


def expected(side: int) -> float:
    """Return candidates over all pairs: each of n cells per axis is paired with itself and its neighbours.

    Examples
    --------
    >>> expected(2), round(expected(15), 4)
    (1.0, 0.007)
    """
    return float(((3 * side - 2) / side**2) ** 3)


def cases(plan: Plan) -> Sequence[Case]:
    """Return cubes of growing side."""
    sides = plan.at((2, 3, 4, 6, 8, 10, 12, 15), tuple(SIDES))
    return [Case({"side": side}, weight=0.2 + expected(side)) for side in sides]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Count candidates over several placements, and time the search of one."""
    side = int(case.values["side"])
    draws = range(1 if side <= DENSE else DRAWS)
    scenes = [uniform(POINTS, edge=side, cutoff=CUTOFF, seed=plan.seed + draw).bodies for draw in draws]
    names = plan.of(MAKERS)
    clocks = race(
        {name: partial(_search, MAKERS[name], scenes[0]) for name in names}, rounds=plan.turns(2, 5), budget=5.0
    )
    every = POINTS * (POINTS - 1) / 2
    for name in names:
        stats = [_search(MAKERS[name], given) for given in scenes]
        yield {
            "structure": name,
            "expected_ratio": expected(side),
            "pair_ratio": sum(one.candidates for one in stats) / len(stats) / every,
            "pairs": sum(one.pairs for one in stats) / len(stats),
            "seconds": clocks[name].best,
        }


def _search(make: Callable[..., vc.Index], given: dict[str, object]) -> vc.Stats:
    index = make(**given)
    index.pairs()
    return index.stats


EXPERIMENT = Experiment(
    name="onderik-pair-ratio",
    title="Cell sorting, spatial hashing and all pairs, from dense to sparse",
    paper=ONDERIK,
    section="figures 4 and 5",
    setup="15 000 points spread evenly over cubes of side 2 to 15, cutoff 1.",
    measured="the pair ratio (candidates over all pairs), and the time to build and to report all close pairs.",
    notes="The paper prints the ratio for the first and the last cube; ((3n − 2) / n²)³ gives the others.",
    structures=tuple(MAKERS),
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"pair ratio of CellSorting, side {side}",
                pick=Pick("pair_ratio", {"side": side, "structure": "CellSorting"}),
                published=PRINTED.get(side, expected(side)), tolerance=0.02,
            )
            for side in SIDES
        ),
        Ratio(
            label="CellSorting faster than SpatialHash at low pair ratio (side 15)",
            over=Pick("seconds", {"side": 15, "structure": "SpatialHash"}),
            under=Pick("seconds", {"side": 15, "structure": "CellSorting"}),
            published="almost 2 ×", least=1.5, most=3.0,
        ),
        Order(
            label="CellSorting faster than all pairs at low pair ratio (side 15)",
            less=Pick("seconds", {"side": 15, "structure": "CellSorting"}),
            more=Pick("seconds", {"side": 15, "structure": "Exhaustive"}),
        ),
    ),
    plots=(
        Plot(
            name="seconds", title="Time to report all close pairs of 15 000 points", x="expected_ratio",
            y="seconds", xlabel="pair ratio ((3n − 2) / n²)³", ylabel="CPU seconds",
        ),
        Plot(
            name="ratio", title="Pair ratio", x="side", y="pair_ratio", xlabel="side of the cube, in cutoffs",
            ylabel="candidates / all pairs",
            published={"CellSorting": tuple((float(side), expected(side)) for side in SIDES)},
        ),
    ),
)  # fmt: skip
