"""Common parts of the two experiments with fluids of Porro 2021, section 5.1.2."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from statistics import fmean
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.fluid import Fluid, FluidStep
from vicinal.lab.claims import Claim, Order, Ratio
from vicinal.lab.experiment import Case, Plan
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

Places = npt.NDArray[Any]

GRAVITY = 0.8
SMALLER = 10
"""At small scale the number of particles is divided by this, at the published density."""


@dataclass(frozen=True)
class FluidCase:
    """A line of tables 5.2 and 5.3."""

    radius: float
    side: float
    particles: int
    wall: int  # particles in a row of the wall; the column has six rows

    def smaller(self, times: float) -> FluidCase:
        """Return a setting of fewer particles with the same density."""
        edge = times**0.5
        return FluidCase(self.radius, self.side / edge, round(self.particles / times), round(self.wall / edge))


SETTINGS = (
    FluidCase(200, 4_800, 3_000, 200),
    FluidCase(300, 4_800, 3_000, 200),
    FluidCase(400, 4_800, 3_000, 200),
    FluidCase(400, 6_000, 10_000, 400),
    FluidCase(500, 6_000, 10_000, 400),
    FluidCase(600, 6_000, 10_000, 400),
    FluidCase(600, 12_000, 40_000, 800),
    FluidCase(700, 12_000, 40_000, 800),
    FluidCase(700, 24_000, 100_000, 1_600),
    FluidCase(700, 90_000, 100_000, 1_600),
)
CELLS = "LinkedCells"
"""The structure that corresponds to the paper's cell linked lists."""
FEW = (0, 1, 2)
"""Cases that the paper leaves out of its analysis because they have few particles."""
WIDE = 9
"""The case with few neighbours."""


SKIN = 0.1
"""Skin of a neighbour list, in radii: it adds a fifth more neighbours, and most steps need no search."""
STRUCTURES: dict[str, Mapping[str, Any]] = {
    "Delaunay": {"structure": vc.Delaunay},
    CELLS: {"structure": vc.LinkedCells},
    "CellSorting": {"structure": vc.CellSorting},
    "NeighborList": {"skin": SKIN},
    "NeighborList of Delaunay": {"skin": SKIN, "structure": vc.Delaunay},
}
"""The searches: the paper's two, ours, and those that the paper names as future work."""

NOTES = (
    "The text counts 11 cases, its tables have 10 lines; cases are lines here, so case 9 is the paper's case 10. All "
    "structures make the same trajectory, to the last bit; sorting the neighbours, which that requires, "
    "belongs to the whole step, not to the search. A neighbour list searches within its update, if necessary. "
    "The first step does not count: it allocates the memory that the others reuse. At small scale there are ten times "
    "fewer particles, with the same density."
)


def cases(plan: Plan) -> Sequence[Case]:
    """Return the ten settings; the cost of a step is that of its pairs."""
    chosen = (setting.smaller(plan.at(SMALLER, 1)) for setting in SETTINGS)
    return [
        Case(
            {"case": number, "radius": one.radius, "side": round(one.side), "particles": one.particles},
            weight=one.particles * (one.radius / one.side) ** 2 * one.particles,
        )
        for number, one in enumerate(chosen)
    ]


def flow(case: Case, plan: Plan, start: Callable[[FluidCase, np.random.Generator], Mapping[str, Any]]) -> Iterator[Row]:
    """Run a fluid with each structure, all in step, so that other load on the machine affects all of them alike.

    Rows are means of a twentieth of the run each, and of all of it.
    """
    number = int(case.values["case"])
    setting = SETTINGS[number].smaller(plan.at(SMALLER, 1))
    begin = start(setting, np.random.default_rng([plan.seed, number]))
    fluids = {
        name: Fluid(**begin, **_options(name, setting.radius), radius=setting.radius, clock=time.process_time)
        for name in plan.of(STRUCTURES)
    }
    for fluid in fluids.values():
        fluid.step()  # allocates the memory that later steps reuse
    steps = plan.turns(40, 1000)
    window = max(1, steps // 20)
    made: dict[str, list[FluidStep]] = {name: [] for name in fluids}
    for step in range(1, steps + 1):
        for name, fluid in fluids.items():
            made[name].append(fluid.step())
        if step % window == 0:
            for name, all_steps in made.items():
                yield {"step": step, "structure": name, **_means(all_steps[-window:], "")}
    whole = {name: _means(all_steps, "mean_") for name, all_steps in made.items()}
    for name, means in whole.items():
        row: Row = {"structure": name, **means}
        if CELLS in whole:
            row["search_to_cells"] = means["mean_query_seconds"] / whole[CELLS]["mean_query_seconds"]
        yield row


def _options(name: str, radius: float) -> dict[str, Any]:
    return {option: value * radius if option == "skin" else value for option, value in STRUCTURES[name].items()}


def _means(steps: Sequence[FluidStep], prefix: str) -> dict[str, float]:
    names = [one.name for one in fields(FluidStep)]
    return {prefix + name: fmean(getattr(step, name) for step in steps) for name in names}


def _picks(what: str, case: int) -> tuple[Pick, Pick]:
    delaunay, cells = (Pick(f"mean_{what}_seconds", {"case": case, "structure": name}) for name in ("Delaunay", CELLS))
    return delaunay, cells


def claims() -> Iterator[Claim]:
    """Return the statements of section 5.5.2 and of the conclusions about both experiments."""
    for case in range(len(SETTINGS)):
        over, under = _picks("total", case)
        label = f"whole step, Delaunay to cells: case {case}"
        if case in FEW:
            yield Ratio(label=label, over=over, under=under, published="very close", least=0.5, most=2.0)
        elif case == WIDE:
            yield Ratio(label=label, over=over, under=under, published="the same order", least=0.2, most=5.0)
        else:
            yield Ratio(
                label=label,
                over=over,
                under=under,
                published="around 10",
                least=5.0,
                most=20.0,
                why="here one walk finds the neighbours of up to 64 points, so most of a step is the fluid itself",
            )
    for case in range(max(FEW) + 1, WIDE):
        over, under = _picks("query", case)
        yield Ratio(
            label=f"search, Delaunay to cells: case {case}",
            over=over,
            under=under,
            published="at least 100",
            least=100.0,
            why="as above: the walk is shared, and only its candidates are tested point by point",
        )
    for case in range(len(SETTINGS)):
        over, under = _picks("update", case)
        yield Ratio(
            label=f"update, Delaunay to cells: case {case}",
            over=over,
            under=under,
            published="about as expensive",
            least=0.1,
            most=10.0,
        )
    nearer, farther = (Pick("search_to_cells", {"case": case, "structure": "Delaunay"}) for case in (WIDE, WIDE - 1))
    yield Order(
        label=f"with fewer neighbours Delaunay comes closer to cells: search in case {WIDE} to case {WIDE - 1}",
        less=nearer,
        more=farther,
        why="the paper walks from every point, and pays for every neighbour; where many points share a walk, long rows "
        "cost Delaunay little more than cells",
    )


def plots() -> tuple[Plot, ...]:
    """Return the paper's graphs: neighbours and times step by step, and of all cases side by side."""
    traces = (
        Plot(
            name=f"trace-{case}",
            title=f"Case {case}: time of a step",
            x="step",
            y="total_seconds",
            ylabel="CPU seconds per step",
            where={"case": case},
            log="y",
        )
        for case in (FEW[-1], WIDE - 1, WIDE)
    )
    bars = (
        Plot(
            name=what,
            title=title,
            x="case",
            y=f"mean_{what}_seconds",
            ylabel="CPU seconds per step",
            kind="bar",
            log="y",
        )
        for what, title in (("total", "Whole step"), ("query", "Search"), ("update", "Update"))
    )
    neighbors = Plot(
        name="neighbors",
        title="Mean number of neighbours",
        x="step",
        y="neighbors",
        ylabel="neighbours per particle",
        series="case",
        where={"structure": CELLS},
        log="y",
    )
    return (neighbors, *bars, *traces)
