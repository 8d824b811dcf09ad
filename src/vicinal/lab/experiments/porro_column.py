"""Porro 2021, section 5.3: a column of fluid that falls between walls of particles."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._porro import GRAVITY, NOTES, STRUCTURES, FluidCase, Places, cases, claims, flow, plots
from vicinal.lab.papers import PORRO
from vicinal.lab.rows import Row

WIDTH, HEIGHT = 0.25, 0.9
"""Width and height of the column, in sides of the box."""


def walls(setting: FluidCase) -> Places:
    """Return floor, left and right wall, two rows of particles each, the outer one a spacing behind the inner one."""
    side, many = setting.side, setting.wall
    along = np.linspace(0.0, side, many)
    rows = []
    for behind in (0.0, along[1]):
        below, beyond = np.full(many, -behind), np.full(many, side + behind)
        rows += [(along, below), (below, along), (beyond, along)]
    return np.concatenate([np.stack(row, axis=1) for row in rows])


def column(setting: FluidCase, rng: np.random.Generator) -> Places:
    """Return particles in slightly perturbed rows, in a column beside the left wall."""
    gap = setting.radius / 4
    width, height = WIDTH * setting.side, HEIGHT * setting.side
    across = max(1, round((setting.particles * width / height) ** 0.5))
    number = np.arange(setting.particles)
    spacing = width / across
    at = np.stack([number % across, number // across], axis=1) + rng.uniform(-0.1, 0.1, (setting.particles, 2))
    return np.asarray(gap + (at + 0.5) * spacing)


def start(setting: FluidCase, rng: np.random.Generator) -> Mapping[str, Any]:
    """Return the initial state of a fluid."""
    return {"points": column(setting, rng).astype(np.float32), "walls": walls(setting), "gravity": GRAVITY}


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Let the column fall."""
    return flow(case, plan, start)


EXPERIMENT = Experiment(
    name="porro-column",
    title="A falling column of fluid",
    paper=PORRO,
    section="section 5.3, table 5.2",
    setup="Double-density relaxation (Δt 1/60, ρ₀ 6, k 0.005, k_near 0.4, gravity 0.8), 1000 steps, single precision: "
    "a column of particles falls and spreads between walls of six rows of particles that do not move.",
    measured="CPU seconds per step of search, update and the whole, and the mean number of neighbours.",
    notes="The paper shows the column and the walls in a picture only. Here the column is a quarter of the box wide "
    "and nine tenths high, beside the left wall, and floor, left and right wall have two rows each. " + NOTES,
    structures=tuple(STRUCTURES),
    cases=cases,
    measure=measure,
    claims=tuple(claims()),
    plots=plots(),
)
