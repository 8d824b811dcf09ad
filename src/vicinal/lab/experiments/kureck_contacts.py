"""Kureck 2016, test case 6: the cost of keeping contacts, with their data, from step to step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

import vicinal as vc
from vicinal import scenes
from vicinal.lab.claims import Ratio, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import settled
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.timing import RoundTimer

MOTIONS = (0.0, 0.0001, 0.001, 0.01)
"""Largest motion of a step along an axis, in diameters."""
USUAL = 0.001
SEARCH = {"without": 1.55, "with": 3.42}
"""Collecting the neighbours of a million spheres in a drum, without and with history, ms."""
HISTORY = 4
"""Numbers of single precision per contact: a float4."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return amounts of motion, from none to much."""
    n = plan.at(100_000, 1_000_000)
    return [Case({"n": n, "motion": motion}) for motion in MOTIONS]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Search in every step, and update the contacts; the pairs are the same for all."""
    n, motion = int(case.values["n"]), float(case.values["motion"])
    scene = settled(n, plan.seed)
    path = scenes.jitter(scene.points, motion, seed=plan.seed)
    index = vc.LinkedCells(scene.points, cutoff=scene.reach)
    contacts = vc.Contacts({"tangent": HISTORY}, dtype="float32")
    contacts.update(*index.pairs())
    search, keep = RoundTimer(), RoundTimer()
    steps = plan.turns(5, 10)
    changed = 0
    for _ in range(steps):
        search.run(partial(index.update, next(path).astype(np.float32)))
        i, j = search.run(index.pairs)
        keep.run(partial(contacts.update, i, j))
        changed += len(contacts.began) + len(contacts.ended)
    searching, keeping = search.total / steps, keep.total / steps
    about = {"contacts": len(contacts), "changed_share": changed / steps / max(len(contacts), 1)}
    yield {"structure": SEARCHED, "seconds": searching, **about}
    row: Row = {"structure": KEPT, "seconds": searching + keeping, "keep_seconds": keeping, **about}
    yield row | {"history_bytes": contacts["tangent"].nbytes / max(len(contacts), 1)}


SEARCHED, KEPT = "pairs", "Contacts"


def _at(structure: str) -> Pick:
    return Pick("seconds", {"motion": USUAL, "structure": structure})


EXPERIMENT = Experiment(
    name="kureck-contacts",
    title="The cost of keeping contacts",
    paper=KURECK,
    section="section 6.3.6",
    setup="Spheres as dense as settled grains, which shake a little. In every step all pairs are searched for; "
    "in the other run, lasting contacts also keep their data (four numbers in single precision).",
    measured="CPU seconds per step to search, and to search and keep contacts; the number of contacts that change.",
    notes="The paper has a drum with walls of triangles; here there are spheres only. Its whole steps, 83 a second "
    "without history and 36 with it, contain the triangles and the forces.",
    structures=(SEARCHED, KEPT),
    cases=cases,
    measure=measure,
    claims=(
        Ratio(
            label="search with history relative to one without",
            over=_at(KEPT),
            under=_at(SEARCHED),
            published=SEARCH["with"] / SEARCH["without"],
            least=1.2,
            most=2.5,
            why="contacts in canonical order are merged in one pass; the paper looks up each in a sorted list",
        ),
        Value(
            label="bytes of history per contact",
            pick=Pick("history_bytes", {"motion": USUAL, "structure": KEPT}),
            published=16,
            tolerance=0,
        ),
    ),
    plots=(
        Plot(
            name="cost",
            title="Search, and search with contacts kept",
            x="motion",
            y="seconds",
            kind="bar",
            log="",
            xlabel="largest motion of a step, in diameters",
            ylabel="CPU seconds per step",
        ),
    ),
)
