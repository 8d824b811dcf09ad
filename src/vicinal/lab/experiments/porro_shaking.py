"""Porro 2021, section 5.2: points that move fast in a box; the cost of updating a structure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from math import pi, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.lab.claims import Claim, Order, Ratio
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import PORRO
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.timing import RoundTimer

SIDE = 50_000.0
SIZES = (5_000, 10_000, 100_000)
SPEEDS = (200, 500, 1_000, 2_000)
NEIGHBORS = 10.0
"""The paper does not specify the width of its cells. Here: this many neighbours per point."""
WARM_UP = 2
"""Steps before the timed ones."""

STRUCTURES = {"Delaunay": vc.Delaunay, "LinkedCells": vc.LinkedCells, "CellSorting": vc.CellSorting}


def cases(plan: Plan) -> Sequence[Case]:
    """Return the twelve cases of table 5.1."""
    del plan  # even the largest takes a second
    return [Case({"n": n, "speed": speed}, weight=n) for n in SIZES for speed in SPEEDS]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Move all points, and update every structure in turn."""
    n, speed = int(case.values["n"]), float(case.values["speed"])
    rng = np.random.default_rng([plan.seed, n, int(speed)])
    points: npt.NDArray[Any] = (rng.random((n, 2)) * SIDE).astype(np.float32)
    velocities = rng.uniform(-speed, speed, (n, 2)).astype(np.float32)
    cutoff = SIDE * sqrt(NEIGHBORS / (pi * n))
    indexes = {name: STRUCTURES[name](points, cutoff=cutoff) for name in plan.of(STRUCTURES)}
    clocks = {name: RoundTimer() for name in indexes}
    rebuilt = 0.0
    steps = plan.turns(20, 100)
    for step in range(WARM_UP + steps):
        # Algorithm 8: points at or beyond a wall reverse their velocity, then all points move.
        velocities = np.where((points >= SIDE) | (points <= 0), -velocities, velocities)
        points = points + velocities
        for name, index in indexes.items():
            (clocks[name] if step >= WARM_UP else RoundTimer()).run(partial(index.update, points))
        if "Delaunay" in indexes and step >= WARM_UP:
            rebuilt += indexes["Delaunay"].stats.details["rebuilt"]
    pairs = {name: len(index.pairs()[0]) for name, index in indexes.items()}
    for name, clock in clocks.items():
        row: Row = {"structure": name, "update_seconds": clock.total / steps, "pairs": pairs[name]}
        if name == "Delaunay":
            row["rebuilt_share"] = rebuilt / steps
        yield row


def _update(structure: str, n: int, speed: int) -> Pick:
    return Pick("update_seconds", {"n": n, "speed": speed, "structure": structure})


def _claims() -> Iterator[Claim]:
    for n in SIZES:
        for speed in SPEEDS:
            delaunay, cells = (_update(name, n, speed) for name in ("Delaunay", "LinkedCells"))
            where = f"{n:,} points, speed {speed:,}"
            if n < SIZES[-1]:
                yield Order(
                    label=f"Delaunay is updated faster than cells: {where}",
                    less=delaunay,
                    more=cells,
                    why="cells are sorted by counting here, 25 ns per point; the paper sorts pairs of key and number "
                    "by comparison, and loops over all cells, empty or not",
                )
            else:
                yield Order(label=f"cells are updated faster than Delaunay: {where}", less=cells, more=delaunay)
    for n in SIZES:
        yield Ratio(
            label=f"Delaunay, speed {SPEEDS[-1]:,} relative to speed {SPEEDS[0]:,}: {n:,} points",
            over=_update("Delaunay", n, SPEEDS[-1]),
            under=_update("Delaunay", n, SPEEDS[0]),
            published="close",
            least=0.67,
            most=1.5,
            why="if few points change their neighbours, the triangulation is repaired here, not rebuilt",
        )


EXPERIMENT = Experiment(
    name="porro-shaking",
    title="Shaking points: the cost of updates",
    paper=PORRO,
    section="section 5.2, table 5.1, algorithm 8",
    setup="Random points in a square of 50 000 × 50 000, each component of the velocity uniform up to a largest "
    "speed; walls reflect them, and points pass through each other. Single precision.",
    measured="CPU seconds per step to update a structure to the new positions.",
    notes="The paper specifies neither the number of steps nor the width of its cells: here 100 steps (20 at small "
    "scale) after two warm-up steps, and cells as wide as a radius with 10 neighbours. All structures get the same "
    "points, in turn; the number of pairs after the last step must be the same for all.",
    structures=tuple(STRUCTURES),
    cases=cases,
    measure=measure,
    claims=tuple(_claims()),
    plots=tuple(
        Plot(
            name=f"update-{n}",
            title=f"{n:,} shaking points: time of one update",
            x="speed",
            y="update_seconds",
            xlabel="largest speed, distance per step",
            ylabel="CPU seconds per step",
            where={"n": n},
        )
        for n in SIZES
    ),
)
