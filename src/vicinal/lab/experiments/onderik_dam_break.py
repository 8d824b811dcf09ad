"""Onderik & Ďurikovič 2008, the use of cell sorting: dam breaks of one, two and three phases, and H-masks in them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.lab.claims import Order, Ratio, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._dam_break import PHASES, SETUP, UNTIL, dam_break, places, size_of
from vicinal.lab.papers import ONDERIK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row, Scalar
from vicinal.timing import race

Array = npt.NDArray[np.float64]

MASKS = (1, 2, 3)
MOMENTS = 5
"""States of a run that are counted, evenly spread from its start to its end."""

SUPPORT = {2: 4.0, 3: 3.2}
"""Spacings within which particles are neighbours at the start: those of the probe, and of the scheme delta."""

CELLS = {"start": {2: (60, 150, 300), 3: (20, 40, 60)}, "run": {2: (20, 40, 60), 3: (8, 12, 16)}}
"""Particles along a unit of length: small, paper, large."""

RATIOS = {2: (3.20, 2.22, 1.94), 3: (5.77, 3.41, 2.76)}
"""Candidates per pair for H = 1, 2, 3 at the start of dam breaks of one phase, from a probe of another code."""

HASH = "SpatialHash"
STRUCTURES = (*(f"H = {mask}" for mask in MASKS), HASH)


def expected(sides: Sequence[float], cutoff: float, *, periodic: int | None = None) -> float:
    """Return candidates over all pairs in a full tank by the paper's formula, (3n − 2)/n² for n cells along each edge.

    Along a periodic axis there are only whole cells, and it is 3/n: more than 1 for two cells, which are tested with
    several images.

    Examples
    --------
    >>> round(expected((15, 15, 15), 1), 4), expected((2, 2.5), 1, periodic=1)
    (0.007, 1.5)
    """
    counts = [side / cutoff for side in sides]
    shares = [3 / math.floor(n) if axis == periodic else (3 * n - 2) / n**2 for axis, n in enumerate(counts)]
    return math.prod(shares)


def cases(plan: Plan) -> Sequence[Case]:
    """Return fine lattices at the start and coarser runs, in two and three dimensions, of one to three phases."""
    return [
        Case(
            {"state": state, "dim": dim, "phases": phases, "cells": plan.at(*sizes)},
            weight=dim if state == "start" else 10 * dim * phases,
        )
        for state, of_dim in CELLS.items()
        for dim, sizes in of_dim.items()
        for phases in PHASES
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Count pairs and candidates; time a search and a step of a fluid of these particles.

    A plan of so many steps takes them between two states of a run.
    """
    dim, phases, cells = (int(case.values[name]) for name in ("dim", "phases", "cells"))
    sim = dam_break(dim, phases, cells)
    if case.values["state"] == "start":
        points, phase = places(dim, phases, cells)
        yield from _count(plan, points, phase, SUPPORT[dim] / cells, sim)
        return
    for moment in range(MOMENTS):
        if moment and plan.steps is None:
            sim.run_until(UNTIL * moment / (MOMENTS - 1))
        elif moment:
            sim.run(plan.steps or 0)
        filled: Row = {}
        if phases > 1:
            across = 1 if dim == 3 else None
            filled = {"expected_ratio": expected(size_of(dim), sim.kernel.support, periodic=across)}
        found = {"moment": moment, "time": sim.time, **filled}
        for row in _count(plan, sim.positions.copy(), sim.phase, sim.kernel.support, sim, box=sim.box):
            yield {**found, **row}


def _count(
    plan: Plan, points: Array, phase: npt.NDArray[np.int32], cutoff: float, sim: Any, box: Any = None
) -> Iterator[Row]:
    given = {"points": points, "cutoff": cutoff, "box": box}
    kept: Mapping[str, vc.Index] = {
        **{f"H = {mask}": vc.CellSorting(**given, h_mask=mask) for mask in MASKS},
        HASH: vc.SpatialHash(**given),
    }
    kept = {name: kept[name] for name in plan.of(kept)}
    tasks: dict[str, Any] = {name: partial(_search, index, points) for name, index in kept.items()}
    tasks["step"] = partial(sim.run, 1)
    # No budget: the steps that are timed are part of the run, so their number must not depend on the machine.
    clocks = race(tasks, rounds=plan.turns(3, 10))
    for name, index in kept.items():
        i, j = index.pairs()
        stats = index.stats
        masks: dict[str, Scalar] = {} if name == HASH else {"h_mask": int(name.split()[-1])}
        yield {
            "structure": name,
            **masks,
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


def _start(column: str, dim: int, mask: int, phases: int = 1) -> Pick:
    return Pick(column, {"state": "start", "dim": dim, "phases": phases, "h_mask": mask})


def _end(column: str, dim: int, name: str, phases: int) -> Pick:
    last = MOMENTS - 1
    return Pick(column, {"state": "run", "moment": last, "dim": dim, "phases": phases, "structure": name})


def _fewer(dim: int, phases: int, mask: int) -> Iterator[Order]:
    """Return that a finer mask has fewer candidates than this one, at the start and at the end of a run."""
    label = f"{dim}D, phases: {phases}; H = {mask + 1} has fewer candidates than H = {mask}"
    less, more = (_start("candidates", dim, one, phases) for one in (mask + 1, mask))
    yield Order(label=f"start, {label}", less=less, more=more)
    less, more = (_end("candidates", dim, f"H = {one}", phases) for one in (mask + 1, mask))
    yield Order(label=f"end of the run, {label}", less=less, more=more)


EXPERIMENT = Experiment(
    name="onderik-dam-break",
    title="Dam breaks of one to three phases by cell sorting",
    paper=ONDERIK,
    section="section 5, the use in multi-phase fluids",
    setup=SETUP + "At its start on a fine lattice, in open space, with a support of 4 spacings in 2D and 3.2 in 3D; "
    f"and five states of a coarser run of {UNTIL} s by `vicinal.sph`, with the support of its kernel, in 3D on a "
    "periodic depth of 1.",
    measured="candidates per pair and pair ratio (candidates over all pairs) for H = 1, 2, 3 and spatial hashing, the "
    "share of pairs across phases, the time of a search (update and full neighbour rows) and of a whole step of "
    "`vicinal.sph` on the same particles and phases.",
    notes="The paper shows pictures of its dam breaks and no numbers of them: judged are its formula for the pair "
    "ratio, on tanks that are full of several phases, and its statement about spatial hashing. The candidates per pair "
    "at the start are those of a probe; they depend on how many particles are at the faces of the column. A step of "
    "`vicinal.sph` does not list neighbours: it filters candidates in its loop, so a step can take less time than a "
    "search that lists all of them.",
    structures=STRUCTURES,
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"start, candidates per pair, {dim}D, H = {mask}", pick=_start("candidates_per_pair", dim, mask),
                published=RATIOS[dim][mask - 1], tolerance=0.08,
            )
            for dim in (2, 3)
            for mask in MASKS
        ),
        *(
            Ratio(
                label=f"end of the run, pair ratio over that of the paper's formula, {dim}D, phases: {phases}, H = 1",
                over=_end("pair_ratio", dim, "H = 1", phases), under=_end("expected_ratio", dim, "H = 1", phases),
                published=1.0, least=0.95, most=1.05,
            )
            for dim in (2, 3)
            for phases in PHASES[1:]
        ),
        *(
            claim
            for dim in (2, 3)
            for phases in PHASES
            for mask in MASKS[:-1]
            for claim in _fewer(dim, phases, mask)
        ),
        *(
            Ratio(
                label=f"end of the run, spatial hashing over H = 1, {dim}D, phases: {phases}",
                over=_end("seconds", dim, HASH, phases), under=_end("seconds", dim, "H = 1", phases),
                published="almost 2 ×", least=1.5, most=3.0,
                why="here both sort particles by cell and test the same candidates in the same loop; the paper's hash "
                "table missed the cache",
            )
            for dim in (2, 3)
            for phases in PHASES
        ),
        *(
            Shown(
                label=f"end of the run, search over a whole step (time), {dim}D, phases: {phases}, H = {mask}",
                pick=_end("search_over_step", dim, f"H = {mask}", phases), published="none", unit="",
                why="the step filters candidates in its loop and lists nothing",
            )
            for dim in (2, 3)
            for phases in PHASES
            for mask in MASKS
        ),
    ),
    plots=(
        Plot(
            name="candidates", title="Candidates per pair at the start, one phase", x="h_mask", y="candidates_per_pair",
            series="dim", kind="bar", log="", where={"state": "start", "phases": 1}, xlabel="H",
            ylabel="candidates / pairs",
        ),
        *(
            Plot(
                name=f"run-{dim}d", title=f"Candidates per pair, three phases in {dim}D", x="time",
                y="candidates_per_pair", log="", where={"state": "run", "dim": dim, "phases": 3}, xlabel="seconds",
                ylabel="candidates / pairs",
            )
            for dim in (2, 3)
        ),
        Plot(
            name="seconds", title="Time of a search at the start, three phases", x="h_mask", y="seconds", series="dim",
            kind="bar", log="", where={"state": "start", "phases": 3}, xlabel="H", ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
