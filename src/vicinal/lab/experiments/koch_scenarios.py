"""Koch 2020, tables 1 to 7: seven scenarios, three structures."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice

import vicinal as vc
from vicinal.lab.claims import Claim, Order, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._koch import SCENARIOS, TOLERANCE, Scenario
from vicinal.lab.figures import figure
from vicinal.lab.papers import KOCH
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.scenes import drift, shaking
from vicinal.timing import RoundTimer

GROWING = "HashGrid, growing"
STRUCTURES = ("LinkedCells", "Octree", "HashGrid", GROWING, "vicinal")
SPEED = 1e-4
"""Near-zero motion: a step is at most this share of a small radius."""
FEW_STEPS = 2

# By table: (faster, slower).
FASTER = {
    1: (("LinkedCells", "Octree"), ("LinkedCells", "HashGrid")),
    2: (("HashGrid", "LinkedCells"), ("LinkedCells", "Octree")),
    3: (("HashGrid", "LinkedCells"), ("Octree", "LinkedCells"), ("HashGrid", "Octree")),
    4: (("LinkedCells", "HashGrid"), ("LinkedCells", "Octree")),
    5: (("LinkedCells", "HashGrid"),),
    6: (("HashGrid", "LinkedCells"),),
    7: (("HashGrid", "LinkedCells"),),
}

WHY = "a candidate costs far less here than in the paper, so structures with many candidates gain most"
WHY_OURS = "our grid stores bodies in the order of its cells"
WHY_FIXED = "grids of fixed size are provided for comparison and not optimised; see the growing grid"


def cases(plan: Plan) -> Sequence[Case]:
    """Return a case for each table."""
    return [
        Case(
            {"scenario": one.table, "name": one.name},
            weight=sum(region.bodies for region in one.regions) + plan.turns(FEW_STEPS, one.steps) * 3e4,
        )
        for one in SCENARIOS
    ]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Step through a scenario with every structure in turn."""
    scenario = next(one for one in SCENARIOS if one.table == case.values["scenario"])
    scene = scenario.scene(plan.seed)
    makers = scenario.indices(scene)
    makers[GROWING] = lambda: vc.HashGrid(**scene.bodies, planes=scene.walls)
    chosen = vc.choose(**scene.bodies)
    makers["vicinal"] = lambda: getattr(vc, chosen.structure)(**scene.bodies, **chosen.parameters, planes=scene.walls)
    names = plan.of(name for name in STRUCTURES if name in makers)
    steps = plan.turns(FEW_STEPS, scenario.steps)
    kept = {name: makers[name]() for name in names}
    clocks = {name: RoundTimer() for name in names}
    candidates = dict.fromkeys(names, 0)
    pairs = dict.fromkeys(names, 0)
    speed = shaking(len(scene), SPEED, seed=plan.seed)
    path = drift(scene.points, speed, lower=scene.lower, upper=scene.upper)
    for at in islice(path, 1, steps + 1):
        now = scene.at(at)
        for name, index in kept.items():
            clocks[name].run(lambda index=index, now=now: (index.update(**now), index.pairs()))  # type: ignore[misc]
            candidates[name] += index.stats.candidates
            pairs[name] += index.stats.pairs
    if len(set(pairs.values())) > 1:
        raise RuntimeError(f"structures found different pairs: {pairs}")
    whole = scenario.steps / steps
    for name in names:
        yield {
            "structure": name,
            "bodies": len(scene),
            "steps": steps,
            # Sums over the published number of steps, as in the paper.
            "candidates": candidates[name] * whole,
            "seconds": clocks[name].best * scenario.steps,
            "pairs": pairs[name] * whole,
            "used": chosen.structure if name == "vicinal" else name,
        }


def _claims(scenario: Scenario) -> Iterator[Claim]:
    table = scenario.table
    for name, count in scenario.candidates.items():
        yield Value(
            label=f"{table} {scenario.name}: candidates of {name}",
            pick=Pick("candidates", {"scenario": table, "structure": name}),
            published=count,
            tolerance=TOLERANCE[name],
            why=scenario.why.get(name, ""),
        )
    for less, more in FASTER[table]:
        for grid in ("HashGrid", GROWING) if "HashGrid" in (less, more) else ("",):
            first, second = (grid if name == "HashGrid" else name for name in (less, more))
            yield Order(
                label=f"{table} {scenario.name}: {first} faster than {second}",
                less=Pick("seconds", {"scenario": table, "structure": first}),
                more=Pick("seconds", {"scenario": table, "structure": second}),
                published=f"yes, {figure(scenario.seconds[more] / scenario.seconds[less])} ×",
                why=WHY_FIXED if grid == "HashGrid" else WHY_OURS if second == GROWING else WHY,
            )
    for name, seconds in scenario.seconds.items():
        yield Shown(
            label=f"{table} {scenario.name}: detection with {name}",
            pick=Pick("seconds", {"scenario": table, "structure": name}),
            published=seconds,
            why="another machine; ours with the update",
        )


EXPERIMENT = Experiment(
    name="koch-scenarios",
    title="Seven scenarios: even, uneven, mixed sizes",
    paper=KOCH,
    section="tables 1 to 7",
    setup="Spheres that do not overlap, almost at rest, between six walls: evenly spread, in clusters, on a "
    "checkerboard, of four sizes, and with one giant. Structures have the published parameters; the growing hash grid "
    "has ours.",
    measured="candidates over all steps, walls included, and the time of an update and a search; “vicinal” is "
    "the choice of vicinal.choose.",
    notes="Spheres lie entirely within the walls. The first region of table 2 is the 150 × 150 × 100 of the text; "
    "its corner coordinates would make it 150 × 50 × 100. Counts of fewer steps are scaled to the published number.",
    structures=STRUCTURES,
    cases=cases,
    measure=measure,
    claims=tuple(claim for scenario in SCENARIOS for claim in _claims(scenario)),
    plots=(
        Plot(
            name="candidates",
            title="Candidates over all steps (lines: published)",
            x="scenario",
            y="candidates",
            xlabel="scenario",
            kind="bar",
            published={
                name: tuple((one.table, one.candidates[name]) for one in SCENARIOS if name in one.candidates)
                for name in ("LinkedCells", "Octree", "HashGrid")
            },
        ),
        Plot(
            name="seconds",
            title="Time of all steps (lines: published, detection in 2020)",
            x="scenario",
            y="seconds",
            xlabel="scenario",
            ylabel="CPU seconds",
            kind="bar",
            published={
                name: tuple((one.table, one.seconds[name]) for one in SCENARIOS if name in one.seconds)
                for name in ("LinkedCells", "Octree", "HashGrid")
            },
        ),
    ),
)
