"""Schornbaum 2009, section 4.5: hash grid, sweep and prune and all pairs, from fast to almost no motion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from vicinal.lab.claims import Exponent, Order, Ratio
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._cuboids import MAKERS, OURS, PUBLISHED, move
from vicinal.lab.papers import SCHORNBAUM
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import cuboids

NAMES = (PUBLISHED, OURS, "SweepAndPrune", "Exhaustive")
MOST_EXHAUSTIVE = 20_000
FAR = 1e-5
"""Bodies that hardly move are smaller by this factor, and so is their motion."""
MOTIONS: Mapping[str, tuple[float, float]] = {"20 %": (0.2, 1.0), "1 %": (0.01, 1.0), "near zero": (0.01, FAR)}


def cases(plan: Plan) -> Sequence[Case]:
    """Return motions and numbers of bodies."""
    sizes = plan.at((1_000, 3_162, 10_000, 31_623), (1_000, 3_162, 10_000, 31_623, 100_000), (1_000, 10_000, 1_000_000))
    return [
        Case({"motion": motion, "bodies": n}, weight=n + min(n, MOST_EXHAUSTIVE) ** 2 / 1e4)
        for motion in MOTIONS
        for n in sizes
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time a step of each structure."""
    n = int(case.values["bodies"])
    share, size = MOTIONS[str(case.values["motion"])]
    scene = cuboids(n, periodic=False, seed=plan.seed)
    if scene.edges is not None:
        scene = replace(scene, edges=scene.edges * size)
    names = plan.of(name for name in NAMES if name != "Exhaustive" or n <= MOST_EXHAUSTIVE)
    makers = {name: MAKERS[name] for name in names}
    times = move(scene, makers, share=share, steps=plan.turns(5, 10), seed=plan.seed)
    for name, one in times.items():
        yield {
            "structure": name,
            "seconds": one.step,
            "update_seconds": one.update.best,
            "search_seconds": one.search.best,
            "pairs_per_body": one.pairs / n,
        }


def _at(motion: str, name: str, n: int = 10_000) -> Pick:
    return Pick("seconds", {"motion": motion, "structure": name, "bodies": n})


EXPERIMENT = Experiment(
    name="schornbaum-motion",
    title="Hash grid, sweep and prune and all pairs: much motion, little, none",
    paper=SCHORNBAUM,
    section="section 4.5, figures 28 to 30",
    setup="Cubes of one size, two pairs per body, that move by up to 20 % or 1 % of their size; and the same bodies "
    "100 000 times smaller, which hardly move and never overlap.",
    measured="the time of an update and a search.",
    notes="Space is open: our sweep and prune keeps its overlaps from step to step only there.",
    structures=NAMES,
    cases=cases,
    measure=measure,
    claims=(
        Order(
            label="20 %: HashGrid faster than SweepAndPrune, 10 000 bodies", less=_at("20 %", PUBLISHED),
            more=_at("20 %", "SweepAndPrune"), published="yes, by far",
        ),
        Order(
            label="20 %: all pairs faster than SweepAndPrune, 10 000 bodies", less=_at("20 %", "Exhaustive"),
            more=_at("20 %", "SweepAndPrune"),
            why="ours rebuilds after much motion, instead of sorting by exchanges",
        ),
        Ratio(
            label="1 %: SweepAndPrune relative to HashGrid, 10 000 bodies", over=_at("1 %", "SweepAndPrune"),
            under=_at("1 %", PUBLISHED), published="up to 5 ×", least=1.0, most=8.0,
        ),
        Ratio(
            label="near zero: HashGrid relative to SweepAndPrune, 10 000 bodies", over=_at("near zero", PUBLISHED),
            under=_at("near zero", "SweepAndPrune"), published="2 to 3 ×", least=1.5, most=6.0,
            why="both read every body once; our hash grid does so in the order of memory",
        ),
        Exponent(
            label="exponent of all pairs", x="bodies", y="seconds", where={"motion": "20 %", "structure": "Exhaustive"},
            published=2.0, tolerance=0.2,
        ),
        *(
            Exponent(
                label=f"exponent of HashGrid, {motion}", x="bodies", y="seconds",
                where={"motion": motion, "structure": PUBLISHED}, start=3_000, published=1.0, tolerance=0.2,
            )
            for motion in MOTIONS
        ),
    ),
    plots=tuple(
        Plot(
            name=f"motion-{k}", title=f"Time of a step, motion {motion}", x="bodies", y="seconds", ylabel="CPU seconds",
            where={"motion": motion},
        )
        for k, motion in enumerate(MOTIONS)
    ),
)  # fmt: skip
