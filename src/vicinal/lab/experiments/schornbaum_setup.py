"""Schornbaum 2009, figures 21 and 27: the time to set up a structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from vicinal.lab.claims import Exponent, Order
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._cuboids import MAKERS, OURS, PUBLISHED
from vicinal.lab.papers import SCHORNBAUM
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import cuboids
from vicinal.timing import race

NAMES = (PUBLISHED, OURS, "SweepAndPrune")
SIZES = (1_000, 3_162, 10_000, 31_623, 100_000, 316_228, 1_000_000)


def cases(plan: Plan) -> Sequence[Case]:
    """Return numbers of bodies, for both spreads."""
    most = plan.at(100_000, 1_000_000)
    return [Case({"bodies": n, "spread": spread}, weight=n) for n in SIZES for spread in (1, 12) if n <= most]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time the construction of each structure."""
    n, spread = int(case.values["bodies"]), float(case.values["spread"])
    # Sweep and prune keeps overlaps in open space only, so there is no period here.
    given = cuboids(n, spread=spread, periodic=False, seed=plan.seed).bodies
    calls = {name: partial(MAKERS[name], **given) for name in plan.of(NAMES)}
    for name, clock in race(calls, rounds=plan.turns(3, 5), budget=5.0).items():
        yield {"structure": name, "line": f"{name}, sizes 1 : {spread:g}", "seconds": clock.best}


EXPERIMENT = Experiment(
    name="schornbaum-setup",
    title="Set-up of hash grids, and sweep and prune",
    paper=SCHORNBAUM,
    section="figures 21 and 27",
    setup="Cubes spread evenly, two pairs per body, of one size and of sizes from 1 to 12, in open space.",
    measured="the time to build the structure.",
    structures=NAMES,
    cases=cases,
    measure=measure,
    claims=(
        *(
            Exponent(
                label=f"exponent of {name}, sizes 1 : {spread}", x="bodies", y="seconds",
                where={"structure": name, "spread": spread}, start=10_000, published=1.0, tolerance=0.15,
            )
            for name in (PUBLISHED, OURS)
            for spread in (1, 12)
        ),
        Exponent(
            label="exponent of SweepAndPrune", x="bodies", y="seconds",
            where={"structure": "SweepAndPrune", "spread": 1}, published=2.0, tolerance=0.2,
            why="the paper inserts bodies one by one; here their ends are sorted at once, as the paper suggests",
        ),
        Order(
            label="HashGrid is set up faster than SweepAndPrune, 100 000 bodies",
            less=Pick("seconds", {"structure": PUBLISHED, "bodies": 100_000, "spread": 1}),
            more=Pick("seconds", {"structure": "SweepAndPrune", "bodies": 100_000, "spread": 1}),
        ),
    ),
    plots=(
        Plot(
            name="seconds", title="Time to set up", x="bodies", y="seconds", series="line", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
