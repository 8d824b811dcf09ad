"""Schornbaum 2009, section 4.4: long and flat bodies, and uneven layouts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vicinal.lab.claims import Exponent, Ratio
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._cuboids import MAKERS, OURS, PUBLISHED, USUAL, move
from vicinal.lab.papers import SCHORNBAUM
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import cuboids

NAMES = (PUBLISHED, OURS)
LAYOUTS: Mapping[str, Mapping[str, Any]] = {
    "cubes": {},
    "long, 10 × 1 × 1": {"shape": (10.0, 1.0, 1.0), "turned": True},
    "flat, 10 × 10 × 1": {"shape": (10.0, 10.0, 1.0), "turned": True},
    "uneven, 32 : 1 : 1": {"stretch": (32.0, 1.0, 1.0)},
    "uneven, 1024 : 1 : 1": {"stretch": (1024.0, 1.0, 1.0)},
}


def cases(plan: Plan) -> Sequence[Case]:
    """Return shapes and layouts."""
    sizes = plan.at((10_000, 31_623, 100_000), (10_000, 100_000, 1_000_000))
    return [Case({"bodies": n, "layout": layout}, weight=n) for n in sizes for layout in LAYOUTS]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time a step."""
    n = int(case.values["bodies"])
    scene = cuboids(n, seed=plan.seed, **LAYOUTS[str(case.values["layout"])])
    makers = {name: MAKERS[name] for name in plan.of(NAMES)}
    times = move(scene, makers, share=USUAL, steps=plan.turns(4, 10), seed=plan.seed)
    for name, one in times.items():
        yield {
            "structure": name,
            "line": f"{case.values['layout']}, {name}",
            "seconds": one.step,
            "pairs_per_body": one.pairs / n,
        }


def _at(layout: str, name: str = PUBLISHED) -> Pick:
    return Pick("seconds", {"structure": name, "layout": layout, "bodies": 100_000})


EXPERIMENT = Experiment(
    name="schornbaum-shapes",
    title="Long and flat bodies, uneven layouts",
    paper=SCHORNBAUM,
    section="section 4.4, figure 26",
    setup="Cuboids in a periodic region, two pairs per body, 20 % motion: cubes, long and flat ones along all axes, "
    "and cubes in regions much longer than wide.",
    measured="the time of an update and a search relative to that of cubes in a cube.",
    notes="An uneven layout is a region with edges as 1024 : 1 : 1; hash grids have as many cells along each axis.",
    structures=NAMES,
    cases=cases,
    measure=measure,
    claims=(
        Ratio(
            label="long bodies, 100 000", over=_at("long, 10 × 1 × 1"), under=_at("cubes"), published="up to 5 ×",
            least=1.5, most=6.0,
        ),
        Ratio(
            label="uneven layout 1024 : 1 : 1, 100 000 bodies", over=_at("uneven, 1024 : 1 : 1"), under=_at("cubes"),
            published="performance −50 %: 2 ×", least=1.2, most=3.0,
            why="a corridor fills only a thin part of a cubic table of cells, and the rest is faster here",
        ),
        *(
            Exponent(
                label=f"{layout}: linear", x="bodies", y="seconds", where={"structure": PUBLISHED, "layout": layout},
                published=1.0, tolerance=0.2,
            )
            for layout in ("long, 10 × 1 × 1", "uneven, 1024 : 1 : 1")
        ),
    ),
    plots=(
        Plot(
            name="seconds", title="Time of a step, hash grid as published", x="bodies", y="seconds", series="layout",
            where={"structure": PUBLISHED}, ylabel="CPU seconds",
        ),
        Plot(
            name="ours", title="Time of a step, our hash grid", x="bodies", y="seconds", series="layout",
            where={"structure": OURS}, ylabel="CPU seconds",
        ),
    ),
)  # fmt: skip
