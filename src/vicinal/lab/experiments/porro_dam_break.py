"""Porro 2021, the comparison of section 5 on another fluid: Delaunay and cells in dam breaks of one to three phases."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy.typing as npt

import vicinal as vc
from vicinal.lab.claims import Order, Ratio
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._dam_break import PHASES, SETUP, UNTIL, dam_break
from vicinal.lab.experiments._porro import CELLS, STRUCTURES
from vicinal.lab.papers import PORRO
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

BURSTS = 10
"""Parts of a run in which searches follow every step, evenly spread over it; each gives a row of means."""


@dataclass
class _Follower:
    """A search that follows the particles, and the seconds it takes."""

    update: Callable[[Any], object]
    find: Callable[[], int]
    updated: float = 0.0
    queried: float = 0.0
    entries: int = 0

    @classmethod
    def of(cls, name: str, points: npt.NDArray[Any], radius: float) -> _Follower:
        """Return a search of `STRUCTURES`, of all neighbours of each particle within the radius."""
        options = dict(STRUCTURES[name])
        if "skin" not in options:
            index = options["structure"](points, cutoff=radius)
            return cls(index.update, lambda: len(index.neighbors().indices))
        skin = options.pop("skin") * radius
        rows = vc.NeighborList(radius, half=False, skin=skin, **options)
        # A list searches in its update, here for the first time, and has some entries beyond the radius.
        return cls(rows.update, lambda: len(rows.indices))

    def follow(self, points: npt.NDArray[Any]) -> None:
        """Update and search, and add the seconds."""
        begin = time.process_time()
        self.update(points)
        between = time.process_time()
        self.entries += self.find()
        self.updated += between - begin
        self.queried += time.process_time() - between


def cases(plan: Plan) -> Sequence[Case]:
    """Return one to three phases."""
    return [Case({"phases": phases, "cells": plan.at(20, 40, 60)}, weight=phases) for phases in PHASES]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Let all searches follow one run, step by step, so that other load on the machine affects all of them alike.

    A plan of so many steps takes them in each burst, and nothing between.
    """
    sim = dam_break(2, int(case.values["phases"]), int(case.values["cells"]))
    radius = sim.kernel.support
    steps = plan.turns(40, 200)
    names = plan.of(STRUCTURES)
    every: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for burst in range(BURSTS):
        if plan.steps is None:
            sim.run_until(UNTIL * burst / BURSTS)
        searches = {name: _Follower.of(name, sim.positions.copy(), radius) for name in names}
        stepped = 0.0
        for _ in range(steps):
            clock = time.process_time()
            sim.run(1)
            stepped += time.process_time() - clock
            points = sim.positions.copy()
            for one in searches.values():
                one.follow(points)
        for name, one in searches.items():
            means = {
                "neighbors": one.entries / (steps * len(points)),
                "update_seconds": one.updated / steps,
                "query_seconds": one.queried / steps,
                "search_seconds": (one.updated + one.queried) / steps,
                "total_seconds": (one.updated + one.queried + stepped) / steps,
            }
            every[name].append(means)
            yield {"time": sim.time, "structure": name, "particles": len(points), **means}
    for name, rows in every.items():
        yield {"structure": name, **{f"mean_{column}": fmean(row[column] for row in rows) for column in rows[0]}}


def _of(what: str, phases: int, name: str) -> Pick:
    return Pick(f"mean_{what}_seconds", {"phases": phases, "structure": name})


EXPERIMENT = Experiment(
    name="porro-dam-break",
    title="Delaunay and cells in dam breaks of one to three phases",
    paper=PORRO,
    section="section 5.5.2, on the fluids of `vicinal.sph`",
    setup=SETUP + f"Two dimensions, {UNTIL} s by `vicinal.sph`; the searches follow ten bursts of 40 steps, at "
    "the scale of the paper of 200, evenly spread over the run, with the support of the kernel as radius.",
    measured="CPU seconds per step of update and query, of both and the step of `vicinal.sph` (total), and the mean "
    "number of neighbours.",
    notes="The claims are those of the paper about its own fluid, whose particles have 20 to 700 neighbours; here they "
    "have 28 with several phases and 50 with one. The total of the paper has its own pair loop in place of the step. "
    "Lists search in the first update of a burst, and again when particles have moved by half of their skin; they have "
    "entries beyond the radius.",
    structures=tuple(STRUCTURES),
    cases=cases,
    measure=measure,
    claims=(
        *(
            Ratio(
                label=f"update, Delaunay to cells, phases: {phases}", over=_of("update", phases, "Delaunay"),
                under=_of("update", phases, CELLS), published="about as expensive", least=0.1, most=10.0,
            )
            for phases in PHASES
        ),
        *(
            Ratio(
                label=f"query, Delaunay to cells, phases: {phases}", over=_of("query", phases, "Delaunay"),
                under=_of("query", phases, CELLS), published="at least 100", least=100.0,
                why="here one walk finds the neighbours of up to 64 points, and only its candidates are tested point "
                "by point",
            )
            for phases in PHASES
        ),
        *(
            Ratio(
                label=f"total, Delaunay to cells, phases: {phases}", over=_of("total", phases, "Delaunay"),
                under=_of("total", phases, CELLS), published="around 10", least=5.0, most=20.0,
                why="as above, so the step is a larger part of the total",
            )
            for phases in PHASES
        ),
        *(
            Order(
                label=f"search by a list of {kind} faster than by {alone} alone, phases: {phases}",
                less=_of("search", phases, rows), more=_of("search", phases, alone), published="expected",
            )
            for phases in PHASES
            for kind, rows, alone in (
                ("cells", "NeighborList", CELLS),
                ("a triangulation", "NeighborList of Delaunay", "Delaunay"),
            )
        ),
    ),
    plots=(
        Plot(
            name="neighbors", title="Mean number of neighbours", x="time", y="neighbors",
            ylabel="neighbours per particle", series="phases", where={"structure": CELLS}, log="",
        ),
        *(
            Plot(
                name=f"{what}-{phases}", title=f"{title}, phases: {phases}", x="time", y=f"{what}_seconds",
                ylabel="CPU seconds per step", where={"phases": phases}, log="y",
            )
            for what, title in (("update", "Update"), ("query", "Query"))
            for phases in PHASES
        ),
    ),
)  # fmt: skip
