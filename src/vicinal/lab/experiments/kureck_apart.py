"""Kureck 2016, test case 2: spheres on a grid that do not touch; the cost of an empty list."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from vicinal.lab.claims import Ratio, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import RADIUS, Array
from vicinal.lab.experiments._kureck_lists import LAYOUTS, time_lists
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

PLACES = (0, 8)
SPACING = 2.2 * RADIUS
PUBLISHED = {0: (12.07, 0.0), 8: (12.07, 5.71)}
"""Fixed places: search and forces of 10 million spheres, ms. Table 6.6."""
STEPS = {0: 36.8, 8: 30.0}
"""Fixed places: whole steps per second."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return a single case: both lists are timed in turn."""
    return [Case({"n": plan.at(200_000, 10_000_000)})]


def lattice(n: int) -> Array:
    """Return n points of a cubic grid, layer by layer."""
    side = round(n ** (1 / 3) + 0.5)
    at = np.arange(n)
    return (np.stack([at % side, at // side % side, at // side**2], axis=1) * SPACING).astype(np.float32)


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Build empty lists, and loop over them."""
    points = lattice(int(case.values["n"]))
    layouts = plan.of(LAYOUTS)
    yield from time_lists(points, 2 * RADIUS, places=PLACES, layouts=layouts, rounds=plan.turns(5, 5))


def _at(column: str, places: int) -> Pick:
    return Pick(column, {"fixed_places": places})


EXPERIMENT = Experiment(
    name="kureck-apart",
    title="Spheres that do not touch: the cost of an empty list",
    paper=KURECK,
    section="section 6.3.2, table 6.6",
    setup="Spheres on a cubic grid, a tenth of a diameter between them: a list of pairs, one of 8 fixed places per "
    "body with a list for the others, and our own rows; all of them are empty.",
    measured="CPU seconds to search and build the list, and to loop over it.",
    notes="The paper does not specify the distance of its spheres.",
    structures=LAYOUTS,
    cases=cases,
    measure=measure,
    claims=(
        Value(label="pairs", pick=Pick("neighbors"), published=0, tolerance=0),
        Ratio(
            label="loop over an empty common list relative to the search",
            over=_at("dynamic_seconds", 0),
            under=_at("search_seconds", 0),
            published=0,
            most=0.01,
        ),
        Ratio(
            label="loop over empty fixed places relative to the search",
            over=_at("static_seconds", 8),
            under=_at("search_seconds", 8),
            published=PUBLISHED[8][1] / PUBLISHED[8][0],
            least=0.02,
            most=1.0,
            why="here the number of used places is stored per body, so empty ones are not read",
        ),
        Ratio(
            label="a step with 8 fixed places relative to one with a common list only",
            over=_at("step_seconds", 8),
            under=_at("step_seconds", 0),
            published=STEPS[0] / STEPS[8],
            least=1.05,
            most=2.0,
            why="fixed places are written at every build, empty or not",
        ),
        *(
            Shown(label=f"{places} fixed places: search", pick=_at("search_seconds", places), published=search / 1e3)
            for places, (search, _) in PUBLISHED.items()
        ),
    ),
    plots=(
        Plot(
            name="step",
            title="Search and sums of empty lists",
            x="structure",
            y="step_seconds",
            kind="bar",
            log="",
            xlabel="list",
            ylabel="CPU seconds",
        ),
    ),
)
