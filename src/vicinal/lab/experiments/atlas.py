"""Beyond the papers: the fastest structure of each case, and the choice of `vicinal.choose`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from typing import Any

import numpy as np

import vicinal as vc
from vicinal.lab.claims import Goal
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._atlas_map import draw_map
from vicinal.lab.papers import BEYOND
from vicinal.lab.peers import Search, peers
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import SampleScene, clustered, drift, filament, headings, power_law, spheres
from vicinal.timing import RoundTimer

STRUCTURES = (
    "Exhaustive", "LinkedCells", "CellSorting", "SpatialHash", "HashGrid", "Octree", "BVH", "SweepAndPrune",
)  # fmt: skip
PEERS = ("scipy cKDTree", "vesin", "rtree (boxes)")
MOST_EXHAUSTIVE = 5_000
TOO_SLOW = 0.5
"""A search that needs more seconds for the first step (per 100 000 bodies, if there are more) is not run again."""
FILLING, CLUSTERED_FILLING = 0.5, 0.01
"""About two pairs per body, inside the clusters if there are any."""


def even(n: int, spread: float, seed: int) -> SampleScene:
    """Spread bodies evenly."""
    return spheres(_radii(n, spread, seed), filling=FILLING, seed=seed)


def crowded(n: int, spread: float, seed: int) -> SampleScene:
    """Put nine tenths of the bodies into eight small cubes."""
    loose = spheres(_radii(n, spread, seed), filling=CLUSTERED_FILLING, seed=seed)
    return replace(loose, points=clustered(n, edge=loose.upper[0], seed=seed, neighbours=1e-3).points)


def thread(n: int, spread: float, seed: int) -> SampleScene:
    """Place the bodies along a curve."""
    radii = _radii(n, spread, seed)
    made = filament(n, spacing=float(np.median(radii)), seed=seed)
    return replace(made, radii=radii)


def _radii(n: int, spread: float, seed: int) -> Any:
    return power_law(n, spread=spread, evenly="volume", seed=seed) if spread > 1 else np.ones(n)


LAYOUTS: dict[str, Callable[[int, float, int], SampleScene]] = {"even": even, "crowded": crowded, "thread": thread}


def cases(plan: Plan) -> Sequence[Case]:
    """Return every combination of number, spread of sizes, layout and motion."""
    sizes = plan.at((1_000, 10_000, 30_000), (1_000, 10_000, 100_000, 1_000_000), (1_000, 30_000, 1_000_000, 5_000_000))
    spreads = plan.at((1, 10), (1, 4, 40))
    motions = plan.at((0.0, 0.2), (0.0, 0.01, 0.2))
    return [
        Case({"bodies": n, "spread": spread, "layout": layout, "motion": motion}, weight=n + 2e3)
        for n, spread, layout, motion in product(sizes, spreads, LAYOUTS, motions)
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Time a step of every structure and of every peer, and return the choice and its cost."""
    n, spread = int(case.values["bodies"]), float(case.values["spread"])
    scene = LAYOUTS[str(case.values["layout"])](n, spread, plan.seed)
    if scene.radii is None:
        raise TypeError("the scene has no spheres")
    motion = float(case.values["motion"])
    speed = headings(n, motion * 2 * scene.radii, seed=plan.seed)
    # Speeds are spread evenly from 0 to the largest.
    choice = vc.choose(**scene.bodies, motion=motion / 2)
    path = list(islice(drift(scene.points, speed), 1, plan.turns(2, 5) + 2))
    runners: dict[str, Search] = {}
    for name in plan.of(STRUCTURES):
        if name == "Exhaustive" and n > MOST_EXHAUSTIVE:
            continue
        try:
            index = getattr(vc, name)(**scene.bodies, **(choice.parameters if name == choice.structure else {}))
        except vc.InputError:  # such as a structure of open space in a periodic box
            continue
        runners[name] = partial(_step, index, scene)
    runners |= {name: search for name, search in peers(scene).items() if plan.of([name])}
    clocks = _race(runners, path)
    own = {name: clock.best for name, clock in clocks.items() if name in STRUCTURES}
    for name, clock in clocks.items():
        row: Row = {"structure": name, "seconds": clock.best}
        if name not in STRUCTURES and choice.structure in own:
            row["times_chosen"] = clock.best / own[choice.structure]
        yield row
    if choice.structure in own:
        winner = min(own, key=lambda name: own[name])
        regret = own[choice.structure] / own[winner]
        yield {"structure": "chosen", "choice": choice.structure, "winner": winner, "regret": regret}


def _step(index: vc.Index, scene: SampleScene, points: Any) -> Any:
    index.update(**scene.at(points))
    return index.pairs()


def _race(runners: dict[str, Search], path: Sequence[Any]) -> dict[str, RoundTimer]:
    """Run all along the same path, step by step in turn; the first step is a warm-up."""
    clocks = {name: RoundTimer() for name in runners}
    slow: set[str] = set()
    for turn, at in enumerate(path):
        for name, search in runners.items():
            if name in slow:
                continue
            clock = RoundTimer()
            clock.run(partial(search, at))
            if turn == 0 and clock.best > TOO_SLOW * max(1, len(at) / 1e5):
                slow.add(name)
                clocks[name] = clock
            elif turn:
                clocks[name].cpu += clock.cpu
    return clocks


EXPERIMENT = Experiment(
    name="atlas",
    title="The atlas: the fastest structure of each case",
    paper=BEYOND,
    section="an open question of Koch 2020",
    setup="Spheres, about two pairs per body: from a thousand to millions; of one size, or with radii up to 1 : 40; "
    "spread evenly, in eight clusters, or along a curve; at rest, or moving by 1 % or 20 % of their size.",
    measured="the time of an update and a search with every structure and with the installed peers from PyPI; "
    "the choice of vicinal.choose, and its regret: the time of the choice divided by that of the best.",
    notes="vicinal.choose is called once, with the initial bodies and the motion per step.",
    structures=(*STRUCTURES, *PEERS),
    cases=cases,
    measure=measure,
    claims=(
        Goal(label="regret of the chooser, median", pick=Pick("regret", take="median"), most=1.25),
        Goal(label="regret of the chooser, mean", pick=Pick("regret"), most=1.5),
        Goal(
            label="regret of the chooser, worst", pick=Pick("regret", take="max"), most=3.0,
        ),
        *(
            Goal(
                label=f"{peer} relative to the chosen structure, least",
                pick=Pick("times_chosen", {"structure": peer}, take="min"), least=1.0,
            )
            for peer in PEERS
        ),
    ),
    plots=(
        Plot(name="map", title="The fastest structures", draw=draw_map, where={"structure": "chosen"}, height=5.6),
        Plot(
            name="even", title="One size, evenly spread, 20 % motion", x="bodies", y="seconds", ylabel="CPU seconds",
            where={"spread": 1, "layout": "even", "motion": 0.2}, height=5.6,
        ),
        Plot(
            name="mixed", title="Radii 1 : 10, evenly spread, 20 % motion", x="bodies", y="seconds",
            ylabel="CPU seconds", where={"spread": 10, "layout": "even", "motion": 0.2}, height=5.6,
        ),
    ),
)  # fmt: skip
