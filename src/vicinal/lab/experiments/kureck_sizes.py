"""Kureck 2016, test case 5: a uniform grid against a tree of boxes, for spheres of one size and of two."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache, partial
from typing import Any

import numpy as np

import vicinal as vc
from vicinal import scenes
from vicinal.lab.claims import Ratio, Shown
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.experiments._kureck import RADIUS, settled, tiled
from vicinal.lab.papers import KURECK
from vicinal.lab.plots import Plot
from vicinal.lab.rows import Pick, Row
from vicinal.timing import race

GRID = "LinkedCells"
STRUCTURES = {GRID: vc.LinkedCells, "BVH": vc.BVH, "HashGrid": vc.HashGrid}
ONE, TWO = "one size", "sizes 1:10"
SMALL, LARGE = 1_000_000, 276
FILLING = 0.55
TILES = (2, 2, 1)
"""The mixture is packed once and repeated, at the published size."""

ONE_BUILD = {GRID: 12.0, "BVH": 27.0}
ONE_SEARCH = {GRID: 18.0, "BVH": 153.0}
"""10 million spheres, ms. Table 6.12."""
TWO_SEARCH = {GRID: 328.0, "BVH": 14.0}
TWO_STEPS = {GRID: 3.0, "BVH": 45.0}
"""1 000 000 spheres of radius 1 mm and 276 of 10 mm: ms, and steps per second. Table 6.13."""


def cases(plan: Plan) -> Sequence[Case]:
    """Return both mixtures."""
    alike, small = plan.at((100_000, SMALL // 50), (10_000_000, SMALL))
    return [Case({"sizes": ONE, "n": alike}, weight=alike), Case({"sizes": TWO, "n": small}, weight=5 * small)]


@cache
def mixture(small: int, seed: int) -> dict[str, Any]:
    """Pack small spheres with as many large ones among them as in the paper."""
    tiles = TILES if small == SMALL else (1, 1, 1)
    copies = int(np.prod(tiles))
    each, large = small // copies, round(LARGE * small / SMALL / copies)
    radii = scenes.bimodal(each + large, large=large, small_radius=1.0, large_radius=10.0, seed=seed)
    tile = scenes.packed(radii, filling=FILLING, periodic=True, seed=seed)
    return {"points": tiled(tile, tiles).astype(np.float32), "radii": np.tile(radii, copies).astype(np.float32)}


def measure(case: Case, plan: Plan) -> Iterator[Row]:
    """Build every structure, and find all pairs that touch or nearly touch."""
    n = int(case.values["n"])
    if case.values["sizes"] == ONE:
        scene = settled(n, plan.seed)
        bodies: dict[str, Any] = {"points": scene.points, "radii": np.full(n, scene.reach / 2, np.float32)}
    else:
        bodies = mixture(n, plan.seed)
        bodies = {**bodies, "radii": bodies["radii"] + np.float32(0.05 * RADIUS)}
    kept = {name: STRUCTURES[name](**bodies) for name in plan.of(STRUCTURES)}
    rounds = plan.turns(3, 3)
    # New structures: an update of a tree with unmoved spheres would only recompute its boxes.
    builds = race({name: partial(STRUCTURES[name], **bodies) for name in kept}, rounds=rounds, budget=60)
    searches = race({name: index.pairs for name, index in kept.items()}, rounds=rounds, budget=60)
    for name, index in kept.items():
        build, search = builds[name].best, searches[name].best
        yield {
            "structure": name,
            "build_seconds": build,
            "search_seconds": search,
            "both_seconds": build + search,
            "candidates": index.stats.candidates,
            "pairs": index.stats.pairs,
            "bytes_per_body": index.stats.bytes / len(index),
        }


def _at(column: str, sizes: str, structure: str) -> Pick:
    return Pick(column, {"sizes": sizes, "structure": structure})


EXPERIMENT = Experiment(
    name="kureck-sizes",
    title="Spheres of one size and of two: grid against tree",
    paper=KURECK,
    section="section 6.3.5, tables 6.12 and 6.13",
    setup="Spheres of one size as dense as settled grains; and a million small spheres with 276 that are ten times as "
    "large among them. A grid whose cells are as wide as the largest sphere, a tree of boxes, and hierarchical grids.",
    measured="CPU seconds to build and to search, candidates, and memory.",
    notes="The paper settles its spheres by simulation; here they are packed without overlap, to a filling of 0.6 (one "
    "size) and 0.55 (two), and enlarged a little, so that spheres that nearly touch are pairs. HashGrid is not in the "
    "paper: it is the choice of vicinal. At small scale there are 20 000 small spheres with 6 large ones.",
    structures=tuple(STRUCTURES),
    cases=cases,
    measure=measure,
    claims=(
        Ratio(
            label="two sizes: search by the grid to that by the tree",
            over=_at("search_seconds", TWO, GRID),
            under=_at("search_seconds", TWO, "BVH"),
            published=TWO_SEARCH[GRID] / TWO_SEARCH["BVH"],
            least=5.0,
            most=100.0,
        ),
        Ratio(
            label="two sizes: build and search, grid to tree (the paper: whole steps)",
            over=_at("both_seconds", TWO, GRID),
            under=_at("both_seconds", TWO, "BVH"),
            published=TWO_STEPS["BVH"] / TWO_STEPS[GRID],
            least=3.0,
            most=60.0,
        ),
        Ratio(
            label="one size: build and search, tree to grid",
            over=_at("both_seconds", ONE, "BVH"),
            under=_at("both_seconds", ONE, GRID),
            published=(ONE_BUILD["BVH"] + ONE_SEARCH["BVH"]) / (ONE_BUILD[GRID] + ONE_SEARCH[GRID]),
            least=1.5,
            most=12.0,
            why="leaves of the tree here hold several spheres, which are tested by vector instructions",
        ),
        Ratio(
            label="one size: building the tree to building the grid",
            over=_at("build_seconds", ONE, "BVH"),
            under=_at("build_seconds", ONE, GRID),
            published=ONE_BUILD["BVH"] / ONE_BUILD[GRID],
            least=1.1,
            most=5.0,
            why="the tree here has a leaf for several spheres, so far fewer nodes",
        ),
        *(
            Shown(label=f"two sizes: search, {name}", pick=_at("search_seconds", TWO, name), published=time / 1e3)
            for name, time in TWO_SEARCH.items()
        ),
        *(
            Shown(label=f"one size: search, {name}", pick=_at("search_seconds", ONE, name), published=time / 1e3)
            for name, time in ONE_SEARCH.items()
        ),
    ),
    plots=(
        Plot(
            name="search",
            title="Search",
            x="sizes",
            y="search_seconds",
            kind="bar",
            log="y",
            xlabel="spheres",
            ylabel="CPU seconds",
        ),
        Plot(
            name="candidates",
            title="Candidates",
            x="sizes",
            y="candidates",
            kind="bar",
            log="y",
            xlabel="spheres",
            ylabel="pairs tested",
        ),
    ),
)
