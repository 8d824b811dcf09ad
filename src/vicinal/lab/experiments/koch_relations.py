"""Koch 2020, table 9: relations between the cells of a full grid."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

import vicinal as vc
from vicinal.lab.claims import Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import KOCH
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

PUBLISHED = {2: 64, 4: 1000, 8: 10_648, 16: 97_336, 32: 830_584, 64: 6_859_000, 128: 55_742_968}


def cases(plan: Plan) -> Sequence[Case]:
    """Return grids of increasing numbers of cells."""
    most = plan.at(32, 128, 128)
    return [Case({"side": side}, weight=side**3) for side in PUBLISHED if side <= most]


def measure(case: Case, plan: Plan) -> Iterator[Row]:  # noqa: ARG001
    """Count the relations of an octree with a body in each cell."""
    side = int(case.values["side"])
    at = (np.arange(side) + 0.5) / side
    points = np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    domain = (0.0,) * 3, (1.0,) * 3
    tree = vc.Octree(points, cutoff=0.5 / side, capacity=1, depth=side.bit_length() - 1, domain=domain)
    yield {"structure": "Octree", "relations": tree.stats.details["relations"]}


EXPERIMENT = Experiment(
    name="koch-relations",
    title="Relations between the leaves of a full octree",
    paper=KOCH,
    section="table 9",
    setup="An octree over a cube with one body in each of n³ equal leaves.",
    measured="the number of ordered pairs of leaves that touch, each being its own neighbour: (3n − 2)³.",
    structures=("Octree",),
    cases=cases,
    measure=measure,
    claims=tuple(
        Value(
            label=f"relations of {side}³ leaves", pick=Pick("relations", {"side": side}), published=number, tolerance=0
        )
        for side, number in PUBLISHED.items()
    ),
    plots=(
        Plot(
            name="relations",
            title="Relations between the leaves of a full octree",
            x="side",
            y="relations",
            xlabel="leaves along an edge",
            ylabel="relations",
            published={"Octree": tuple(PUBLISHED.items())},
        ),
    ),
)
