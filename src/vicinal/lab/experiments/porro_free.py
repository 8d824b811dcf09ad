"""Porro 2021, section 5.4: a fluid without gravity, from random positions in a box."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._porro import NOTES, STRUCTURES, FluidCase, cases, claims, flow, plots
from vicinal.lab.papers import PORRO
from vicinal.lab.rows import Row


def start(setting: FluidCase, rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the initial state of a fluid."""
    return {"points": (rng.random((setting.particles, 2)) * setting.side).astype(np.float32)}


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Let the particles spread."""
    return flow(case, plan, start)


EXPERIMENT = Experiment(
    name="porro-free",
    title="Fluid without gravity",
    paper=PORRO,
    section="section 5.4, table 5.3",
    setup="Double-density relaxation (Δt 1/60, ρ₀ 6, k 0.005, k_near 0.4), 1000 steps, single precision: particles "
    "start at random positions in a square and push each other apart. There are no walls.",
    measured="CPU seconds per step of search, update and the whole, and the mean number of neighbours.",
    notes=NOTES,
    structures=tuple(STRUCTURES),
    cases=cases,
    measure=measure,
    claims=tuple(claims()),
    plots=plots(),
)
