"""Schornbaum 2009, section 4.2: the factor by which cells grow from grid to grid."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import vicinal as vc
from vicinal.lab.claims import Order
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._cuboids import USUAL, move
from vicinal.lab.papers import SCHORNBAUM
from vicinal.lab.plots import Plot
from vicinal.lab.published import PublishedHashGrid
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import cuboids

FACTORS = (1.25, 1.5, 2.0, 3.0, 4.0, 8.0)
SPREADS = (1, 12)
WHY = "many candidates are tested at once here, so fewer and larger cells cost less than in the paper"


def cases(plan: Plan) -> Sequence[Case]:
    """Return both spreads of sizes."""
    sizes = plan.at((50_000,), (10_000, 100_000, 1_000_000))
    return [Case({"bodies": n, "spread": spread}, weight=n) for n in sizes for spread in SPREADS]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time a step with each factor."""
    n, spread = int(case.values["bodies"]), float(case.values["spread"])
    scene = cuboids(n, spread=spread, seed=plan.seed)
    makers = {f"HashGrid f={f:g}": _maker(f) for f in FACTORS}
    chosen = {name: makers[name] for name in plan.of(makers)}
    times = move(scene, chosen, share=USUAL, steps=plan.turns(5, 10), seed=plan.seed)
    for name, one in times.items():
        yield {
            "structure": name,
            "factor": float(name.split("=")[1]),
            "sizes": f"sizes 1 : {spread:g}",
            "seconds": one.step,
            "search_seconds": one.search.best,
            "update_seconds": one.update.best,
        }


def _maker(factor: float) -> Callable[..., vc.Index]:
    return lambda **bodies: PublishedHashGrid(factor=factor, dims=16, fill=0.125, **bodies)


def _at(factor: float, spread: int) -> Pick:
    return Pick("seconds", {"factor": factor, "spread": spread})


EXPERIMENT = Experiment(
    name="schornbaum-factor",
    title="The hierarchy factor of hash grids",
    paper=SCHORNBAUM,
    section="section 4.2, figures 23 and 24",
    setup="Cubes in a periodic cube as before, of one size and of sizes from 1 to 12; cells grow by a factor from 1.25 "
    "to 8 from grid to grid.",
    measured="the time of an update and a search.",
    structures=tuple(f"HashGrid f={f:g}" for f in FACTORS),
    cases=cases,
    measure=measure,
    claims=(
        *(
            Order(
                label=f"one size: a factor of {less:g} is faster than {more:g}", less=_at(less, 1), more=_at(more, 1),
                why=WHY,
            )
            for less, more in ((1.25, 2.0), (2.0, 4.0), (4.0, 8.0))
        ),
        *(
            Order(
                label=f"sizes 1 : 12: a factor of 2 is faster than {other:g}", less=_at(2.0, 12), more=_at(other, 12),
                published="2 is best", why=WHY,
            )
            for other in FACTORS
            if other != 2.0
        ),
    ),
    plots=(
        Plot(
            name="seconds", title="Time of a step", x="factor", y="seconds", series="sizes", log="xy",
            xlabel="hierarchy factor", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
