"""Schornbaum 2009, section 4.1: time linear in the number of bodies, for one size and for sizes 1 : 12."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicinal.lab.claims import Exponent, Order, Ratio, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._cuboids import MAKERS, OURS, PUBLISHED, USUAL, move
from vicinal.lab.papers import SCHORNBAUM
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import cuboids

SPREADS = (1, 12)
NAMES = (PUBLISHED, OURS, "Exhaustive")
MOST_EXHAUSTIVE = 20_000
FEW = 100
START = 3_000
"""For fewer bodies the cost of a call from Python dominates."""
SIZES = (FEW, 1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)


def cases(plan: Plan) -> Sequence[Case]:
    """Return numbers of bodies, for both spreads."""
    most = plan.at(100_000, 1_000_000)
    return [
        Case({"bodies": n, "spread": spread}, weight=n + min(n, MOST_EXHAUSTIVE) ** 2 / 1e4)
        for n in SIZES
        for spread in SPREADS
        if n <= most
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time a step of each structure."""
    n, spread = int(case.values["bodies"]), float(case.values["spread"])
    scene = cuboids(n, spread=spread, seed=plan.seed)
    names = plan.of(name for name in NAMES if name != "Exhaustive" or n <= MOST_EXHAUSTIVE)
    steps = plan.turns(3, 10)
    times = move(scene, {name: MAKERS[name] for name in names}, share=USUAL, steps=steps, seed=plan.seed)
    for name, one in times.items():
        yield {
            "structure": name,
            "line": f"{name}, sizes 1 : {spread:g}",
            "seconds": one.step,
            "update_seconds": one.update.best,
            "search_seconds": one.search.best,
            "pairs_per_body": one.pairs / n,
        }


def _at(column: str, name: str, n: int, spread: int) -> Pick:
    return Pick(column, {"structure": name, "bodies": n, "spread": spread})


EXPERIMENT = Experiment(
    name="schornbaum-scaling",
    title="Time linear in the number of bodies, for any sizes",
    paper=SCHORNBAUM,
    section="section 4.1, figures 20 and 22",
    setup="Cubes spread evenly over a periodic cube, two pairs per body, moving by up to 20 % of their size in a step; "
    "of one size, and of sizes from 1 to 12.",
    measured="the time of an update and a search; the hash grid as published, ours with its defaults, and all pairs.",
    structures=NAMES,
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"pairs per body, sizes 1 : {spread}", pick=_at("pairs_per_body", PUBLISHED, 100_000, spread),
                published=2.0, tolerance=0.05,
            )
            for spread in SPREADS
        ),
        *(
            Exponent(
                label=f"exponent of {name}, sizes 1 : {spread}", x="bodies", y="seconds",
                where={"structure": name, "spread": spread}, start=START, published=1.0, tolerance=0.15,
            )
            for name in (PUBLISHED, OURS)
            for spread in SPREADS
        ),
        Ratio(
            label="time with sizes 1 : 12 relative to one size, 100 000 bodies",
            over=_at("seconds", PUBLISHED, 100_000, 12), under=_at("seconds", PUBLISHED, 100_000, 1),
            published="a minor impact", most=3.0,
        ),
        Order(
            label="all pairs faster than HashGrid for 100 bodies", less=_at("seconds", "Exhaustive", FEW, 1),
            more=_at("seconds", PUBLISHED, FEW, 1),
            why="ours keeps few bodies in one cell, which also tests all pairs; the rest is the cost of a call",
        ),
        Ratio(
            label="all pairs relative to HashGrid, 10 000 bodies", over=_at("seconds", "Exhaustive", 10_000, 1),
            under=_at("seconds", PUBLISHED, 10_000, 1), published="by far faster", least=5.0,
            why="a test of two boxes takes a fraction of a nanosecond here",
        ),
        Shown(
            label="a step of 10 000 bodies with 20 000 pairs", pick=_at("seconds", PUBLISHED, 10_000, 1),
            published="0.01 to 0.02 s",
        ),
    ),
    plots=(
        Plot(
            name="seconds", title="Time of a step", x="bodies", y="seconds", series="line", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
