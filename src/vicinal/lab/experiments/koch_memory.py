"""Koch 2020, table 11: memory of the structures."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import vicinal as vc
from vicinal.lab.claims import Exponent, Ratio, Shown
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.papers import KOCH
from vicinal.lab.plots import Plot
from vicinal.lab.published import PublishedHashGrid
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import uniform
from vicinal.scenes.scene import cube

EDGE, RADIUS = 400.0, 0.5
MEBIBYTE = 2.0**20
SIZES = (500_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)
SMALL, LARGE, OCTREE, OURS = "HashGrid 128³", "HashGrid 256³", "Octree", "HashGrid, growing"
PUBLISHED = {
    SMALL: (35, 59, 100, 200, 300),
    LARGE: (144, 200, 300, 500, 1000),
    OCTREE: (80, 120, 200, 900, 1200),
}
MAKERS: dict[str, Callable[..., vc.Index]] = {
    SMALL: lambda **bodies: PublishedHashGrid(factor=2, max_cells=128, **bodies),
    LARGE: lambda **bodies: PublishedHashGrid(factor=2, max_cells=256, **bodies),
    OCTREE: lambda **bodies: vc.Octree(capacity=11, depth=8, domain=cube(EDGE), **bodies),
    OURS: lambda **bodies: vc.HashGrid(**bodies),
}


def cases(plan: Plan) -> Sequence[Case]:
    """Return numbers of bodies."""
    most = plan.at(2_000_000, 8_000_000)
    return [Case({"bodies": size}, weight=size) for size in SIZES if size <= most]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Build each structure and read its memory."""
    bodies = int(case.values["bodies"])
    given = uniform(bodies, edge=EDGE, radius=RADIUS, seed=plan.seed).bodies
    for name in plan.of(MAKERS):
        taken = MAKERS[name](**given).stats.bytes
        yield {"structure": name, "mebibytes": taken / MEBIBYTE, "bytes_per_body": taken / bodies}


EXPERIMENT = Experiment(
    name="koch-memory",
    title="Memory of hash grids and octree",
    paper=KOCH,
    section="table 11",
    setup="Half a million to eight million spheres of radius 0.5, evenly spread over a cube of edge 400; hash grids of "
    "128³ and 256³ cells, an octree of depth 8 and capacity 11.",
    measured="memory of the structure as reported by itself, with its copy of positions and radii.",
    notes="The paper read process memory off a display and subtracted the particles, and calls its figures "
    "very inaccurate; they are shown, and only their trends are judged.",
    structures=tuple(MAKERS),
    cases=cases,
    measure=measure,
    claims=(
        *(
            Exponent(
                label=f"{name} grows about linearly", x="bodies", y="mebibytes", where={"structure": name},
                published=1.0, tolerance=0.35,
            )
            for name in (SMALL, OCTREE)
        ),
        Ratio(
            label="256³ cells take more than 128³, 2 million bodies",
            over=Pick("mebibytes", {"structure": LARGE, "bodies": 2_000_000}),
            under=Pick("mebibytes", {"structure": SMALL, "bodies": 2_000_000}),
            published="3 to 4 ×", least=1.5, most=5.0,
            why="a cell takes 4 bytes here, and bodies take the rest",
        ),
        *(
            Shown(
                label=f"{name}, {size:,} bodies", pick=Pick("mebibytes", {"structure": name, "bodies": size}),
                published=told, unit="MiB", why="ours with positions and radii",
            )
            for name, row in PUBLISHED.items()
            for size, told in zip(SIZES, row, strict=True)
        ),
    ),
    plots=(
        Plot(
            name="memory",
            title="Memory",
            x="bodies",
            y="mebibytes",
            ylabel="MiB",
            published={name: tuple(zip(SIZES, row, strict=True)) for name, row in PUBLISHED.items()},
        ),
    ),
)  # fmt: skip
