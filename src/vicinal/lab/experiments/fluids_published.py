"""Beyond the papers: fluids of `vicinal.sph` against experiments, theory and other simulations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from vicinal.lab import floating, flows
from vicinal.lab.claims import Goal, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import BEYOND
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

FLOWS: dict[str, Callable[..., dict[str, float]]] = {
    "koshizuka": flows.koshizuka_front,
    "martin moyce": flows.martin_moyce_front,
    "lobovsky": flows.lobovsky_pressure,
    "standing wave": flows.standing_wave,
    "rotating square": flows.rotating_square,
    "floating blocks": floating.floating_blocks,
    "kleefsman": flows.kleefsman_heights,
    "kleefsman dfsph": partial(flows.kleefsman_heights, scheme="dfsph", alpha=0.0),
}
CELLS = {
    "koshizuka": (20, 40, 80),
    "martin moyce": (20, 40, 80),
    "lobovsky": (30, 40, 60),
    "standing wave": (40, 50, 100),
    "rotating square": (40, 80, 160),
    "floating blocks": (10, 20, 40),
    "kleefsman": (11, 22, 33),
    "kleefsman dfsph": (11, 22, 33),
}
"""Particles along the height, the width or a wavelength: small, paper, large."""

SCHEMES = ("delta", "dfsph")
WEIGHTS = {"kleefsman": 30, "kleefsman dfsph": 8}


def cases(plan: Plan) -> Sequence[Case]:
    """Return the flows of the schemes chosen, the cheap ones first."""
    chosen = [flow for flow in FLOWS if _scheme(flow) in plan.of(SCHEMES)]
    return [Case({"flow": flow, "cells": plan.at(*CELLS[flow])}, weight=WEIGHTS.get(flow, 1)) for flow in chosen]


def _scheme(flow: str) -> str:
    return "dfsph" if flow.endswith("dfsph") else "delta"


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Run a flow; a plan of one step takes the fewest particles that make sense."""
    flow = str(case.values["flow"])
    run, cells = FLOWS[flow], int(case.values["cells"])
    if plan.steps is None:
        found = run(cells)
    elif flow in WEIGHTS:
        found = run(11, until=0.05)
    else:
        found = run(10)
    yield {"structure": _scheme(flow), **found}


def _of(flow: str, column: str) -> Pick:
    return Pick(column, {"flow": flow})


EXPERIMENT = Experiment(
    name="fluids-published",
    title="Fluids against experiments and theory",
    paper=BEYOND,
    section="fluids",
    setup="Dam breaks of Martin & Moyce 1952, Koshizuka & Oka 1996 and Lobovský et al. 2014 in two dimensions and of "
    "Kleefsman et al. 2005 in three, a standing wave of small amplitude, a square of fluid that rotates, and blocks "
    "that float; δ⁺-SPH with default settings, and the flow of Kleefsman et al. by DFSPH without viscosity, too.",
    measured="the distance to published curves (rms), times of impact, pressures, period and decay, and how many "
    "particles have left through walls.",
    notes="Experiments start with a gate, so a front may be late by a fitted time. The particles along the height, "
    "the width or the wavelength are given by `cells`.",
    structures=SCHEMES,
    cases=cases,
    measure=measure,
    claims=(
        Goal(label="front of Koshizuka & Oka: rms in widths of the column", pick=_of("koshizuka", "rms"), most=0.1),
        Goal(label="front of Martin & Moyce: rms in widths of the column", pick=_of("martin moyce", "rms"), most=0.1),
        Value(
            label="Lobovský: time of impact at the far wall", pick=_of("lobovsky", "impact"),
            published=flows.LOBOVSKY_IMPACT, tolerance=0.03,
        ),
        Value(
            label="Lobovský: mean pressure at its foot from T = 3.9 to 5.6", pick=_of("lobovsky", "plateau"),
            published=flows.LOBOVSKY_PLATEAU, tolerance=0.1,
            why="walls are without friction, as in other simulations in two dimensions, which have 0.90; with water "
            "that sticks to walls it is 0.575, but the wave is late",
        ),
        Value(
            label="the same 80 mm above the bottom", pick=_of("lobovsky", "higher"), published=flows.LOBOVSKY_HIGHER,
            tolerance=0.1, why="the same; other simulations in two dimensions have 0.42",
        ),
        Value(
            label="the same by δ-SPH in two dimensions (De Courcy et al. 2024)", pick=_of("lobovsky", "plateau"),
            published=flows.DE_COURCY_PLATEAU, tolerance=0.1,
        ),
        Value(
            label="the same 80 mm above the bottom, by δ-SPH in two dimensions", pick=_of("lobovsky", "higher"),
            published=flows.DE_COURCY_HIGHER, tolerance=0.1,
        ),
        Value(
            label="standing wave: period over that of linear theory", pick=_of("standing wave", "period"),
            published=1.0, tolerance=0.01,
        ),
        Value(
            label="standing wave: decay over 4 ν k²", pick=_of("standing wave", "decay"), published=1.0, tolerance=0.1,
        ),
        Value(
            label="rotating square: pressure in the middle", pick=_of("rotating square", "pressure"),
            published=flows.ROTATING_CENTRE, tolerance=0.03,
        ),
        Goal(
            label="rotating square: least cover after t = 1/ω, 1 without voids", pick=_of("rotating square", "cover"),
            least=0.95,
        ),
        *(
            Value(
                label=f"block of density {ratio} ρ: immersed depth over {ratio} of its height",
                pick=_of("floating blocks", f"depth {ratio}"), published=1.0, tolerance=0.02,
            )
            for ratio in floating.RATIOS
        ),
        *(
            claim
            for flow, words in (("kleefsman", "Kleefsman"), ("kleefsman dfsph", "Kleefsman by DFSPH"))
            for claim in (
                Value(
                    label=f"{words}: time in s at which the wave reaches the obstacle", pick=_of(flow, "impact"),
                    published=flows.KLEEFSMAN_IMPACT, tolerance=0.05,
                    why="viscosity and the size of particles delay the front",
                ),
                Goal(label=f"{words}: height H2 to 2 s, rms in m", pick=_of(flow, "H2"), most=0.02),
                Goal(label=f"{words}: height H4 to 2 s, rms in m", pick=_of(flow, "H4"), most=0.02),
            )
        ),
        *(
            Goal(label=f"{flow}: particles that left", pick=_of(flow, "left"), most=0)
            for flow in ("koshizuka", "martin moyce", "lobovsky", *WEIGHTS)
        ),
    ),
    plots=(
        Plot(
            name="left", title="Particles that left", x="flow", y="left", kind="bar", log="", xlabel="flow",
            ylabel="particles",
        ),
    ),
)  # fmt: skip
