"""Onderik & Ďurikovič 2008, the use of cell sorting: dam breaks of one, two and three phases, and H-masks in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.lab.claims import Order, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import ONDERIK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.sph import Phase, Simulation
from vicinal.sph.fill import fill
from vicinal.timing import race

Array = npt.NDArray[np.float64]

MASKS = (1, 2, 3)
PHASES = (1, 2, 3)
PHASE_KINDS = (Phase(density=1000.0, nu=1e-3), Phase(density=1.0, nu=1e-2), Phase(density=800.0, nu=1e-2))
SUPPORT = {2: 4.0, 3: 3.2}
"""Support of the kernel in spacings, as `vicinal.sph` has it."""

RATIOS = {2: (3.20, 2.22, 1.94), 3: (5.77, 3.41, 2.76)}
"""Candidates per pair for H = 1, 2, 3 at the start of dam breaks of one phase, from a probe of another code."""

STRUCTURES = tuple(f"H = {mask}" for mask in MASKS)


def dam(dim: int, phases: int, cells: int) -> tuple[Array, npt.NDArray[np.int32]]:
    """Return positions and phases at the start of a dam break.

    A column of water of 1 × 2 stands in a tank of 4 × 2.5. The second phase fills the tank beside and above it, the
    third is a layer on the bottom of the rest of the tank.

    Examples
    --------
    >>> points, phase = dam(2, 3, 10)
    >>> len(points), np.bincount(phase).tolist()
    (1000, [200, 680, 120])
    """
    spacing, depth = 1 / cells, [1.0] * (dim - 2)
    if phases == 1:
        points = fill((np.zeros(dim), np.array([1.0, *depth, 2.0])), spacing)
        return points, np.zeros(len(points), np.int32)
    points = fill((np.zeros(dim), np.array([4.0, *depth, 2.5])), spacing)
    phase = np.where((points[:, 0] < 1) & (points[:, -1] < 2), 0, 1).astype(np.int32)
    if phases == 3:
        phase[(phase == 1) & (points[:, -1] < 0.4)] = 2
    return points, phase


def fluid(points: Array, phase: npt.NDArray[np.int32], spacing: float) -> Simulation:
    """Return one fluid with a free surface, or several phases: water, air and oil."""
    gravity = [0.0] * (points.shape[1] - 1) + [-9.81]
    if not phase.any():
        return Simulation(points, spacing=spacing, gravity=gravity)
    return Simulation(points, spacing=spacing, gravity=gravity, phases=PHASE_KINDS, phase=phase, scheme="edac")


def cases(plan: Plan) -> Sequence[Case]:
    """Return two and three dimensions, one to three phases."""
    cells = {2: plan.at(60, 150, 300), 3: plan.at(20, 40, 60)}
    return [Case({"dim": dim, "phases": phases, "cells": cells[dim]}) for dim in (2, 3) for phases in PHASES]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Count pairs and candidates; time a search and a step of a fluid of these particles."""
    dim, phases, cells = (int(case.values[name]) for name in ("dim", "phases", "cells"))
    points, phase = dam(dim, phases, cells)
    cutoff = SUPPORT[dim] / cells
    kept = {f"H = {mask}": vc.CellSorting(points, cutoff, h_mask=mask) for mask in MASKS}
    kept = {name: kept[name] for name in plan.of(kept)}
    tasks: dict[str, Any] = {name: partial(_search, index, points) for name, index in kept.items()}
    tasks["step"] = partial(fluid(points, phase, 1 / cells).run, 1)
    clocks = race(tasks, rounds=plan.turns(3, 10), budget=5.0)
    for name, index in kept.items():
        i, j = index.pairs()
        stats = index.stats
        yield {
            "structure": name,
            "h_mask": int(name.split()[-1]),
            "particles": len(points),
            "candidates": stats.candidates,
            "pairs": stats.pairs,
            "candidates_per_pair": stats.candidates / stats.pairs,
            "pair_ratio": stats.candidates / (0.5 * len(points) * (len(points) - 1)),
            "across_phases": float((phase[i] != phase[j]).mean()),
            "seconds": clocks[name].best,
            "step_seconds": clocks["step"].best,
            "search_over_step": clocks[name].best / clocks["step"].best,
        }


def _search(index: vc.Index, points: Array) -> None:
    index.update(points)
    index.neighbors()


def _at(column: str, dim: int, mask: int, phases: int = 1) -> Pick:
    return Pick(column, {"dim": dim, "phases": phases, "h_mask": mask})


EXPERIMENT = Experiment(
    name="onderik-dam-break",
    title="Dam breaks of one to three phases by cell sorting",
    paper=ONDERIK,
    section="section 5, the use in multi-phase fluids",
    setup="A column of water of 1 × 2 (× 1) alone, in a tank of 4 × 2.5 (× 1) filled with a second phase, and with a "
    "third phase as a layer on the bottom; on a lattice, with a support of 4 spacings in 2D and 3.2 in 3D.",
    measured="candidates per pair and pair ratio for H = 1, 2, 3, the share of pairs across phases, the time of a "
    "search (update and full neighbour rows) and of a whole step of `vicinal.sph` on the same particles and phases.",
    notes="The paper shows pictures of its dam breaks and no numbers. The ratios are those of a probe; they depend on "
    "how many particles are at the faces of the column. A step of `vicinal.sph` does not list neighbours: it filters "
    "candidates in its loop, so a step can take less time than a search that lists all of them.",
    structures=STRUCTURES,
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"candidates per pair, {dim}D, H = {mask}", pick=_at("candidates_per_pair", dim, mask),
                published=RATIOS[dim][mask - 1], tolerance=0.08,
            )
            for dim in (2, 3)
            for mask in MASKS
        ),
        *(
            Order(
                label=f"{dim}D, phases: {phases}; H = {mask + 1} has fewer candidates than H = {mask}",
                less=_at("candidates", dim, mask + 1, phases), more=_at("candidates", dim, mask, phases),
            )
            for dim in (2, 3)
            for phases in PHASES
            for mask in MASKS[:-1]
        ),
        *(
            Shown(
                label=f"time of a search over that of a whole step, {dim}D, phases: {phases}, H = 1",
                pick=_at("search_over_step", dim, 1, phases), published="none", unit="",
                why="the step filters candidates in its loop and lists nothing",
            )
            for dim in (2, 3)
            for phases in PHASES
        ),
    ),
    plots=(
        Plot(
            name="candidates", title="Candidates per pair, one phase", x="h_mask", y="candidates_per_pair",
            series="dim", kind="bar", log="", where={"phases": 1}, xlabel="H", ylabel="candidates / pairs",
        ),
        Plot(
            name="seconds", title="Time of a search, three phases", x="h_mask", y="seconds", series="dim", kind="bar",
            log="", where={"phases": 3}, xlabel="H", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
