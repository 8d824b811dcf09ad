"""Kureck 2016, test case 4: the gain from storing bodies that are close in space close in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

import vicinal as vc
from vicinal.lab.claims import Ratio, Shown
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import Array, settled
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import Draws
from vicinal.timing import Call, race

SHARES = (0.0, 0.01, 0.1, 1.0)
"""Shares of bodies that are shuffled."""
SEARCH = {0.0: 16.1, 1.0: 216.0}
FORCES = {0.0: 19.6, 1.0: 103.0}
"""10 million spheres in a drum, sorted and not: collecting neighbours and forces, ms. Tables 6.8 and 6.10."""
FINE = 0.1
"""σ of the force, in diameters: small enough compared with the distances that the force stays finite."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return a single case: all orders are timed in turn."""
    return [Case({"n": plan.at(500_000, 10_000_000)})]


def mixed(points: Array, share: float, seed: int) -> Array:
    """Return the points with a share of them shuffled."""
    draws = Draws(seed)
    some = draws.order(len(points))[: round(share * len(points))]
    order = np.arange(len(points))
    order[np.sort(some)] = some
    return points[order]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Search from scratch, and compute a force over all pairs, for bodies in and out of order."""
    scene = settled(int(case.values["n"]), plan.seed)
    rounds = plan.turns(3, 3)
    calls: dict[str, Call] = {}
    for share in SHARES:
        points = mixed(scene.points, share, plan.seed)
        made = vc.NeighborList(cutoff=scene.reach, skin=0.0)
        calls[f"search {share}"] = partial(made.update, points)
        calls[f"forces {share}"] = partial(made.lennard_jones, sigma=FINE)
        calls[f"sort {share}"] = partial(_sort, points)
    clocks = race(calls, rounds=rounds)
    for share in SHARES:
        times = {f"{part}_seconds": clocks[f"{part} {share}"].best for part in ("search", "forces", "sort")}
        step = times["search_seconds"] + times["forces_seconds"]
        yield {"structure": "NeighborList", "mixed": share, **times, "step_seconds": step}


def _sort(points: Array) -> Array:
    return points[vc.spatial_order(points)]


def _at(column: str, share: float) -> Pick:
    return Pick(column, {"mixed": share})


def _ratio(label: str, column: str, published: float | str, *, least: float, most: float) -> Ratio:
    return Ratio(
        label=f"{label}: shuffled relative to sorted",
        over=_at(column, 1.0),
        under=_at(column, 0.0),
        published=published,
        least=least,
        most=most,
        why="a search here sorts its own copy of the bodies, and the caches of a CPU hold more than those of a GPU",
    )


EXPERIMENT = Experiment(
    name="kureck-order",
    title="The gain from sorting the bodies",
    paper=KURECK,
    section="section 6.3.4, tables 6.8 and 6.10",
    setup="Spheres as dense as settled grains, along a Morton curve in memory; and with 1 %, 10 % and all of them "
    "shuffled, as after a long time in a drum.",
    measured="CPU seconds to search and build a list, to compute the force of every pair, and to sort the bodies.",
    notes="The paper has a drum with walls of triangles and a contact law; here the force is a compiled "
    "Lennard-Jones loop over half rows. At small scale there are 500 000 spheres: fewer fit the caches in any order. "
    "Sorting pays off when the steps save more than it costs, so sorting every few steps is enough.",
    structures=("NeighborList",),
    cases=cases,
    measure=measure,
    claims=(
        _ratio("search", "search_seconds", SEARCH[1.0] / SEARCH[0.0], least=4.0, most=40.0),
        _ratio("forces", "forces_seconds", FORCES[1.0] / FORCES[0.0], least=2.5, most=10.0),
        _ratio("search and forces (the paper: whole steps)", "step_seconds", "4 to 5", least=3.0, most=7.0),
        Shown(label="sorted: search", pick=_at("search_seconds", 0.0), published=SEARCH[0.0] / 1e3),
        Shown(label="shuffled: search", pick=_at("search_seconds", 1.0), published=SEARCH[1.0] / 1e3),
        Shown(label="sorted: forces", pick=_at("forces_seconds", 0.0), published=FORCES[0.0] / 1e3),
        Shown(label="shuffled: forces", pick=_at("forces_seconds", 1.0), published=FORCES[1.0] / 1e3),
    ),
    plots=tuple(
        Plot(
            name=part,
            title=title,
            x="mixed",
            y=f"{part}_seconds",
            kind="bar",
            log="",
            xlabel="share of the bodies that are shuffled",
            ylabel="CPU seconds",
        )
        for part, title in (("search", "Search and list"), ("forces", "Forces"), ("sort", "Sorting the bodies"))
    ),
)
