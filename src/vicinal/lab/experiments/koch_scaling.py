"""Koch 2020, tables 8 and 10: candidates and time as bodies double."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import vicinal as vc
from vicinal.lab.claims import Exponent, Order, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._koch import TOLERANCE
from vicinal.lab.papers import KOCH
from vicinal.lab.plots import Plot
from vicinal.lab.published import PublishedHashGrid
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import uniform
from vicinal.scenes.scene import cube
from vicinal.timing import RoundTimer

EDGE, STEPS, RADIUS, CUBE = 1024.0, 10, 0.5, 128
CAPACITY, DEPTH = 10, 10
# Few bodies have few candidates, whose number scatters: the mean of several placements is used.
FEW_BODIES, DRAWS = 20_000, 16
OCTREE, FIXED, GROWING = "Octree", "HashGrid", "HashGrid, growing"

SIZES = tuple(10_000 * 2**k for k in range(10))
CANDIDATES = {
    OCTREE: (2.95e6, 1.12e7, 2.00e7, 2.51e7, 9.53e7, 1.66e8, 2.08e8, 7.87e8, 1.37e9, 1.69e9),
    FIXED: (6.33e3, 2.55e4, 1.05e5, 4.19e5, 1.69e6, 6.72e6, 2.69e7, 1.08e8, 4.31e8, 1.72e9),
}
SECONDS = {
    OCTREE: (0.0692, 0.188, 0.391, 0.692, 1.88, 4.32, 8.24, 19.8, 44.3, 86.5),
    FIXED: (0.0262, 0.0472, 0.106, 0.286, 0.802, 2.15, 6.07, 17.6, 47.0, 115.1),
}
MAKERS: dict[str, Callable[..., vc.Index]] = {
    OCTREE: lambda **bodies: vc.Octree(capacity=CAPACITY, depth=DEPTH, domain=cube(EDGE), **bodies),
    FIXED: lambda **bodies: PublishedHashGrid(factor=2, max_cells=CUBE, **bodies),
    GROWING: lambda **bodies: vc.HashGrid(**bodies),
}


def cases(plan: Plan) -> Sequence[Case]:
    """Return sizes that double."""
    most = plan.at(640_000, 5_120_000)
    sizes = [*SIZES, *plan.at((), (), (10_240_000,))]
    return [Case({"bodies": size}, weight=max(size, 80_000)) for size in sizes if size <= most or size > SIZES[-1]]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Build and search with each structure; bodies do not move, so all steps are alike."""
    bodies = int(case.values["bodies"])
    draws = DRAWS if bodies <= FEW_BODIES else 1
    steps = plan.turns(2, STEPS)
    for name in plan.of(MAKERS):
        build, search = RoundTimer(), RoundTimer()
        candidates = 0
        for draw in range(draws):
            given = uniform(bodies, edge=EDGE, radius=RADIUS, seed=plan.seed + draw).bodies
            for _ in range(steps if draw == 0 else 1):
                index: vc.Index = build.run(partial(MAKERS[name], **given))
                search.run(index.pairs)
            candidates += index.stats.candidates
        yield {
            "structure": name,
            "candidates": STEPS * candidates / draws,
            "seconds": STEPS * (build.best + search.best),
            "detection_seconds": STEPS * search.best,
            "bytes": index.stats.bytes,
        }


EXPERIMENT = Experiment(
    name="koch-scaling",
    title="Candidates and time as bodies double",
    paper=KOCH,
    section="tables 8 and 10",
    setup="10 000 to 5 120 000 spheres of radius 0.5 that may overlap, evenly spread over a cube of edge 1024, without "
    "walls and motion; ten steps. Octree of depth 10 and capacity 10; hash grid of 128³ cells.",
    measured="candidates over ten steps, time to build and search, and time to search; also with our hash grid, "
    "which grows with the bodies.",
    structures=(OCTREE, FIXED, GROWING),
    cases=cases,
    measure=measure,
    claims=(
        *(
            Value(
                label=f"candidates of {name}, {size:,} bodies",
                pick=Pick("candidates", {"structure": name, "bodies": size}),
                published=count,
                tolerance=TOLERANCE[name],
            )
            for name, counts in CANDIDATES.items()
            for size, count in zip(SIZES, counts, strict=True)
        ),
        Exponent(
            label="exponent of Octree, total time", x="bodies", y="seconds", where={"structure": OCTREE},
            published=1.143, tolerance=0.15,
        ),
        Exponent(
            label="exponent of Octree, detection", x="bodies", y="detection_seconds", where={"structure": OCTREE},
            published=1.079, tolerance=0.15,
        ),
        Exponent(
            label="exponent of the candidates of a fixed hash grid", x="bodies", y="candidates",
            where={"structure": FIXED}, published=2.0, tolerance=0.02,
        ),
        *(
            Order(
                label=f"a growing grid has fewer candidates than a fixed one, {size:,} bodies",
                less=Pick("candidates", {"structure": GROWING, "bodies": size}),
                more=Pick("candidates", {"structure": FIXED, "bodies": size}),
                published="left open",
            )
            for size in (5_120_000,)
        ),
    ),
    plots=(
        Plot(
            name="candidates",
            title="Candidates over ten steps",
            x="bodies",
            y="candidates",
            published={name: tuple(zip(SIZES, counts, strict=True)) for name, counts in CANDIDATES.items()},
        ),
        Plot(
            name="seconds",
            title="Time of ten steps, rebuilt in each",
            x="bodies",
            y="seconds",
            ylabel="CPU seconds",
            published={name: tuple(zip(SIZES, times, strict=True)) for name, times in SECONDS.items()},
        ),
    ),
)  # fmt: skip
