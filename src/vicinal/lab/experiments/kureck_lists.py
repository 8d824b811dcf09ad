"""Kureck 2016, test case 1: neighbours in fixed places per body, and in a common list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vicinal.lab.claims import Claim, Order, Ratio, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import ENTRIES, settled
from vicinal.lab.experiments._kureck_lists import LAYOUTS, time_lists
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

PUBLISHED = {
    # static entries: search, static list, dynamic list (ms); a thread per particle. Table 6.2.
    0: (1.98, 0.0, 2.50),
    1: (1.97, 0.47, 2.01),
    2: (1.92, 0.75, 1.51),
    4: (1.82, 1.28, 0.70),
    8: (1.77, 1.75, 0.09),
    16: (1.78, 1.83, 0.0),
    32: (1.80, 1.93, 0.0),
}


def cases(plan: Plan) -> Sequence[Case]:
    """Return a single case: all sizes are timed in turn."""
    return [Case({"n": plan.at(100_000, 1_000_000, 10_000_000)})]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Build a list of every layout, and sum over it."""
    scene = settled(int(case.values["n"]), plan.seed)
    layouts = plan.of(LAYOUTS)
    yield from time_lists(scene.points, scene.reach, places=PUBLISHED, layouts=layouts, rounds=plan.turns(5, 5))


def _at(column: str, entries: int) -> Pick:
    return Pick(column, {"fixed_places": entries})


def _claims() -> Iterator[Claim]:
    search, _, dynamic = zip(*PUBLISHED.values(), strict=True)
    yield Value(
        label="entries that do not fit 16 fixed places",
        pick=_at("dynamic_entries", 16),
        published=0,
        tolerance=0,
    )
    yield Order(
        label="a step with 8 fixed places is faster than with none",
        less=_at("step_seconds", 8),
        more=_at("step_seconds", 0),
        published=f"yes, {(search[0] + dynamic[0]) / sum(PUBLISHED[8]):.2f} ×",
        why="a common list is filled and read here without the atomic operations that make it expensive on a GPU",
    )
    yield Order(
        label="a step with 8 fixed places is faster than with 32",
        less=_at("step_seconds", 8),
        more=_at("step_seconds", 32),
        published=f"yes, {sum(PUBLISHED[32]) / sum(PUBLISHED[8]):.2f} ×",
    )
    yield Ratio(
        label="search with no fixed places relative to that with 8",
        over=_at("search_seconds", 0),
        under=_at("search_seconds", 8),
        published=PUBLISHED[0][0] / PUBLISHED[8][0],
        least=0.8,
        most=1.5,
        why="pairs are found first here, then sorted into their places; an unordered common list skips that",
    )
    yield Ratio(
        label="sum over 32 fixed places relative to that over 8",
        over=_at("static_seconds", 32),
        under=_at("static_seconds", 8),
        published=PUBLISHED[32][1] / PUBLISHED[8][1],
        least=0.8,
        most=2.0,
        why="rows of a wide table are farther apart, which makes prefetching less effective",
    )
    for entries, (finding, fixed, common) in PUBLISHED.items():
        yield Shown(
            label=f"{entries} fixed places: search and sums",
            pick=_at("step_seconds", entries),
            published=(finding + fixed + common) / 1e3,
            why="another machine; the paper's sums compute forces, these only add them",
        )


EXPERIMENT = Experiment(
    name="kureck-lists",
    title="Neighbour lists: fixed places per body, a common list, or both",
    paper=KURECK,
    section="section 6.3.1, table 6.2",
    setup=f"Spheres as dense as settled grains, {ENTRIES} neighbours each, each pair once. Of the neighbours of a "
    "body 0 to 32 have a fixed place, and the others go to a common list of pairs; also our own rows.",
    measured="CPU seconds to search and build the list, and to sum a force of three components per entry onto both "
    "bodies: over the fixed places, and over the common list.",
    notes="The paper settles a million spheres by simulation; here they are packed without overlap to a filling of "
    f"0.6, and the reach of the list gives {ENTRIES} neighbours. Fixed places are summed body by body (the "
    "paper's thread per particle). On a GPU many threads add to one body with atomic operations; here one thread adds.",
    structures=LAYOUTS,
    cases=cases,
    measure=measure,
    claims=tuple(_claims()),
    plots=(
        Plot(
            name="step",
            title="Search and sums by the number of fixed places",
            x="fixed_places",
            y="step_seconds",
            kind="bar",
            log="",
            xlabel="fixed places per body",
            ylabel="CPU seconds",
        ),
        Plot(
            name="dynamic",
            title="Sum over the common list",
            x="fixed_places",
            y="dynamic_seconds",
            kind="bar",
            log="",
            xlabel="fixed places per body",
            ylabel="CPU seconds",
        ),
        Plot(
            name="bytes",
            title="Memory of the list",
            x="fixed_places",
            y="bytes_per_body",
            kind="bar",
            log="",
            xlabel="fixed places per body",
            ylabel="bytes per body",
        ),
    ),
)
