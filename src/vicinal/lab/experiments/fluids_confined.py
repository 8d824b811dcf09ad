"""Beyond the papers: confined flows of `vicinal.sph` (scheme edac) against exact and published solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from vicinal.lab import confined
from vicinal.lab.claims import Goal, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import BEYOND
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

FLOWS: dict[str, Callable[[int], dict[str, float]]] = {
    "vortices": confined.taylor_green_order,
    "poiseuille": lambda cells: confined.plates(cells, drive="force"),
    "couette": lambda cells: confined.plates(cells, drive="plate"),
    "cavity 100": confined.lid_cavity,
    "cavity 1000": lambda cells: confined.lid_cavity(cells, reynolds=1000, until=50.0),
}
CELLS = {
    "vortices": (50, 100, 200),
    "poiseuille": (20, 40, 80),
    "couette": (20, 40, 80),
    "cavity 100": (50, 50, 100),
    "cavity 1000": (50, 80, 150),
}
"""Particles along an edge or across a channel: small, paper, large."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return the flows, the cheap ones first."""
    return [
        Case({"flow": flow, "cells": plan.at(*CELLS[flow])}, weight=30 if flow == "cavity 1000" else 1)
        for flow in FLOWS
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Run a flow; a plan of one step takes the fewest particles that make sense."""
    flow = str(case.values["flow"])
    if plan.steps is None:
        yield {"structure": "edac", **FLOWS[flow](int(case.values["cells"]))}
    elif flow.startswith("cavity"):
        yield {"structure": "edac", **confined.lid_cavity(10, until=0.1)}
    else:
        yield {"structure": "edac", **FLOWS[flow](10)}


def _of(flow: str, column: str) -> Pick:
    return Pick(column, {"flow": flow})


EXPERIMENT = Experiment(
    name="fluids-confined",
    title="Confined flows against exact and published solutions",
    paper=BEYOND,
    section="fluids",
    setup="Vortices of Taylor and Green in a periodic square at Reynolds number 100 until t = 1; "
    "flows between plates that a force or a plate starts (series of Morris et al. 1997); a cavity whose lid slides, at "
    "Reynolds numbers 100 and 1000 (Ghia et al. 1982). Scheme edac, default settings.",
    measured="the mean error of speeds over the largest speed, the energy over the exact one, the L2 error across the "
    "channel, and the largest distance to Ghia's velocities along both midlines in speeds of the lid.",
    notes="`cells` is the number of particles along an edge or across the channel. The order of convergence is that of "
    "the error of speeds between half as many and as many particles along an edge.",
    structures=("edac",),
    cases=cases,
    measure=measure,
    claims=(
        Goal(label="vortices: mean error of speeds", pick=_of("vortices", "speed"), most=0.006),
        Value(
            label="vortices: energy over the exact one", pick=_of("vortices", "energy"), published=1.0, tolerance=0.016,
        ),
        Goal(label="vortices: order of convergence", pick=_of("vortices", "order"), least=1.0),
        Goal(label="Poiseuille: largest L2 error at t = 1, 2, 5", pick=_of("poiseuille", "L2"), most=0.01),
        Goal(label="Couette: largest L2 error at t = 1, 2, 5", pick=_of("couette", "L2"), most=0.01),
        *(
            Goal(
                label=f"cavity, Re {reynolds}: largest distance to Ghia's {column}",
                pick=_of(f"cavity {reynolds}", column), most=most,
            )
            for reynolds, most in ((100, 0.01), (1000, 0.03))
            for column in ("u", "v")
        ),
        *(
            Goal(label=f"cavity, Re {reynolds}: particles that left", pick=_of(f"cavity {reynolds}", "left"), most=0)
            for reynolds in (100, 1000)
        ),
    ),
    plots=(
        Plot(
            name="cavity", title="Distance to Ghia's u", x="flow", y="u", kind="bar", log="", xlabel="flow",
            ylabel="distance in speeds of the lid",
        ),
    ),
)  # fmt: skip
