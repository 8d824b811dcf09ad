"""Beyond the papers: flows of two phases of `vicinal.sph` against exact and published solutions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from vicinal.lab import phase_flows
from vicinal.lab.claims import Goal, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import BEYOND
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

FLOWS: dict[str, Callable[..., dict[str, float]]] = {
    "jump": phase_flows.laplace_jump,
    "drop": phase_flows.drop_period,
    "fingers": phase_flows.rayleigh_taylor,
    "bubble 1": phase_flows.rising_bubble,
    "bubble 2": partial(phase_flows.rising_bubble, case=2),
}
CELLS = {"jump": (32, 40, 64), "drop": (50, 80, 120), "fingers": (32, 64, 128), "bubble 1": (40, 80, 120)}
CELLS["bubble 2"] = CELLS["bubble 1"]
"""Particles across the channel or the tank, or per unit of length: small, paper, large."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return the flows, the cheap ones first."""
    return [
        Case({"flow": flow, "cells": plan.at(*CELLS[flow])}, weight=5 if flow.startswith("bubble") else 1)
        for flow in FLOWS
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Run a flow; a plan of one step takes few particles and stops early."""
    flow = str(case.values["flow"])
    if plan.steps is None:
        yield {"structure": "edac", **FLOWS[flow](int(case.values["cells"]))}
    elif flow == "drop":
        yield {"structure": "edac", **phase_flows.drop_period(30, periods=1.6)}
    else:
        yield {"structure": "edac", **FLOWS[flow](32 if flow == "jump" else 16, until=0.02 if flow == "jump" else 0.5)}


def _of(flow: str, column: str) -> Pick:
    return Pick(column, {"flow": flow})


EXPERIMENT = Experiment(
    name="fluids-phases",
    title="Flows of two phases against exact and published solutions",
    paper=BEYOND,
    section="fluids",
    setup="A drop at rest and one that oscillates, in a gas of a thousandth of its density; fingers of a heavy fluid "
    "in one of a third of its density (He et al. 1999); bubbles that rise in a tank (Hysing et al. 2009, cases 1 and "
    "2). Scheme edac, default settings.",
    measured="the jump of pressure over σ/R, the period over that of Lamb, the largest distance of both fingers to "
    "those published in heights of the channel until t* = 4, and centre, largest speed and least circularity of "
    "bubbles.",
    notes="`cells` is the number of particles across the channel or the tank, and per unit of length for drops, whose "
    "radius is 0.25 (jump) and 0.1875 (period).",
    structures=("edac",),
    cases=cases,
    measure=measure,
    claims=(
        Value(label="jump of pressure over σ/R", pick=_of("jump", "jump"), published=1.0, tolerance=0.03),
        Value(label="period of a drop over that of Lamb", pick=_of("drop", "period"), published=1.0, tolerance=0.03),
        Goal(label="fingers: rising one, largest distance", pick=_of("fingers", "bubble"), most=0.02),
        Goal(label="fingers: sinking one, largest distance", pick=_of("fingers", "spike"), most=0.02),
        Value(
            label="bubble 1: height of its centre at t = 3", pick=_of("bubble 1", "centre"),
            published=phase_flows.HYSING_CENTRE, tolerance=0.01,
        ),
        Value(
            label="bubble 1: largest speed", pick=_of("bubble 1", "speed"), published=phase_flows.HYSING_SPEED,
            tolerance=0.03,
        ),
        Value(
            label="bubble 1: least circularity", pick=_of("bubble 1", "circularity"),
            published=phase_flows.HYSING_CIRCULARITY, tolerance=0.02,
        ),
        Goal(
            label="bubble 2: height of its centre at t = 3", pick=_of("bubble 2", "centre"),
            least=phase_flows.HYSING_CENTRES_2[0], most=phase_flows.HYSING_CENTRES_2[1],
        ),
        Shown(
            label="bubble 2: largest speed", pick=_of("bubble 2", "speed"), published="0.25", unit="m/s",
            why="the groups agree on the first maximum",
        ),
    ),
    plots=(
        Plot(
            name="centre", title="Height of the centre of a bubble at t = 3", x="flow", y="centre", kind="bar", log="",
            xlabel="flow", ylabel="m",
        ),
    ),
)  # fmt: skip
