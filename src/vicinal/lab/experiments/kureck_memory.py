"""Kureck 2016, sections 3.3 and 6.3: memory per particle, of structures and of lists."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import vicinal as vc
from vicinal.lab.claims import Order, Shown, Value
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import settled
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row

STRUCTURES = {
    "LinkedCells": vc.LinkedCells,
    "CellSorting": vc.CellSorting,
    "SpatialHash": vc.SpatialHash,
    "HashGrid": vc.HashGrid,
    "Octree": vc.Octree,
    "BVH": vc.BVH,
}
LISTS = ("pairs", "hybrid 8", "Contacts")
PARTICLE, CELL = 8, 4
"""Bytes of the paper's grid."""
LEAF, NODE = 12, 52
"""Bytes of the paper's tree, which has a leaf per particle and one inner node fewer."""
ENTRY, PLACES, HISTORY = 8, 32, 16
"""Bytes per entry of a common list, per particle with 8 fixed places, and per contact with history."""
COPY = 12
"""Bytes of a position in single precision, of which every structure here keeps a copy."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return increasing numbers of bodies: memory per body hardly changes."""
    return [Case({"n": n}) for n in plan.at((16_000, 100_000), (100_000, 1_000_000))]


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Make each structure and list, and read its size in bytes."""
    n = int(case.values["n"])
    scene = settled(n, plan.seed)
    for name in plan.of(STRUCTURES):
        stats = STRUCTURES[name](scene.points, cutoff=scene.reach).stats
        cells = stats.details.get("cells", 0.0)
        yield {"kind": "structure", "structure": name, "bytes_per_body": stats.bytes / n, "cells_per_body": cells / n}
    wanted = plan.of(LISTS)
    if "pairs" in wanted:
        pairs = vc.NeighborList(cutoff=scene.reach, skin=0.0, layout="pairs", sort=False)
        pairs.update(scene.points)
        held = pairs.i.nbytes + pairs.j.nbytes
        yield {"kind": "list", "structure": "pairs", "bytes_per_body": held / n, "bytes_per_entry": held / len(pairs.i)}
    if "hybrid 8" in wanted:
        hybrid = vc.NeighborList(cutoff=scene.reach, skin=0.0, layout="hybrid", width=8)
        hybrid.update(scene.points)
        table = hybrid.table.nbytes
        yield {
            "kind": "list",
            "structure": "hybrid 8",
            "bytes_per_body": (table + hybrid.i.nbytes + hybrid.j.nbytes) / n,
            "table_bytes_per_body": table / n,
        }
    if "Contacts" in wanted:
        contacts = vc.Contacts({"tangent": 4}, dtype="float32")
        contacts.update(*vc.pairs(scene.points, cutoff=scene.reach))
        field = contacts["tangent"].nbytes
        yield {
            "kind": "list",
            "structure": "Contacts",
            "history_bytes": field / len(contacts),
            "bytes_per_body": field / n,
        }


EXPERIMENT = Experiment(
    name="kureck-memory",
    title="Memory per particle",
    paper=KURECK,
    section="sections 3.3, 6.3.3 and 6.3.6",
    setup="Spheres as dense as settled grains, in single precision, within the reach of a list of 9.31 neighbours.",
    measured="bytes per body of every structure with its copy of the positions, of lists, and of the data of contacts.",
    notes="The paper's figures are those of one array each and leave out the positions (12 bytes); ours are all that a "
    "structure holds, with the positions and the memory kept for the next build.",
    structures=(*STRUCTURES, *LISTS),
    cases=cases,
    measure=measure,
    claims=(
        Order(
            label="a grid takes less than a tree",
            less=Pick("bytes_per_body", {"structure": "LinkedCells"}),
            more=Pick("bytes_per_body", {"structure": "BVH"}),
            published=f"yes, {(LEAF + NODE) / (PARTICLE + CELL):.1f} ×",
            why="the tree here has a leaf for several spheres",
        ),
        Shown(
            label="grid, one cell per particle, with positions",
            pick=Pick("bytes_per_body", {"structure": "LinkedCells"}),
            published=PARTICLE + CELL + COPY,
            unit="B",
            why="another layout",
        ),
        Shown(
            label="tree, with positions",
            pick=Pick("bytes_per_body", {"structure": "BVH"}),
            published=LEAF + NODE + COPY,
            unit="B",
            why="another layout",
        ),
        Value(
            label="bytes per entry of a common list",
            pick=Pick("bytes_per_entry", {"structure": "pairs"}),
            published=ENTRY,
            tolerance=0,
        ),
        Value(
            label="bytes per particle of 8 fixed places",
            pick=Pick("table_bytes_per_body", {"structure": "hybrid 8"}),
            published=PLACES,
            tolerance=0,
        ),
        Value(
            label="bytes of history per contact",
            pick=Pick("history_bytes", {"structure": "Contacts"}),
            published=HISTORY,
            tolerance=0,
        ),
    ),
    plots=tuple(
        Plot(
            name=kind,
            title=title,
            x="structure",
            y="bytes_per_body",
            series="n",
            where={"kind": kind},
            kind="bar",
            log="",
            xlabel=" ",
            ylabel="bytes per body",
        )
        for kind, title in (("structure", "Structures, by number of bodies"), ("list", "Lists, by number of bodies"))
    ),
)
