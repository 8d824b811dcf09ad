"""The BVH on Kureck's (2016) bi-disperse spheres: against LinkedCells, by leaf size, and growth with their number.

Times are CPU seconds of one thread, the best of several.
"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING, Any

import numpy as np

import vicinal as vc

if TYPE_CHECKING:
    from collections.abc import Callable

LARGE_PER_MILLION = 276


def bidisperse(n: int, filling: float) -> tuple[Any, Any]:
    """Return uniformly random spheres: n of radius 1, and as many of radius 10 per million as in the paper."""
    rng = np.random.default_rng(n)
    radii = np.concatenate([np.ones(n), np.full(n * LARGE_PER_MILLION // 10**6, 10.0)])
    side = (4 / 3 * math.pi * (radii**3).sum() / filling) ** (1 / 3)
    return rng.uniform(0, side, (len(radii), 3)), radii


def best(f: Callable[[], object], times: int) -> float:
    """Return the least CPU time of a call."""
    spent = []
    for _ in range(times):
        start = time.process_time()
        f()
        spent.append(time.process_time() - start)
    return min(spent)


def against_linked_cells() -> None:
    """Print the search times of both structures, and of the BVH with other leaf sizes."""
    print("| filling | structure | leaf | search s | times LinkedCells | candidates per body | bytes per body |")
    print("|---|---|---|---|---|---|---|")
    for filling in (0.3, 0.6):
        points, radii = bidisperse(10**6, filling)
        cells = vc.LinkedCells(points, radii=radii)
        slow = best(cells.pairs, 3)
        line(filling, cells, "", slow, 1.0)
        for leaf in (8, 16, 32, 40, 64):
            tree = vc.BVH(points, radii=radii, leaf=leaf)
            fast = best(tree.pairs, 5)
            line(filling, tree, leaf, fast, slow / fast)


def line(filling: float, index: Any, leaf: object, seconds: float, ratio: float) -> None:
    """Print one line of the table."""
    stats = index.stats
    figures = f"{stats.candidates / stats.bodies:.1f} | {stats.bytes / stats.bodies:.1f}"
    print(f"| {filling} | {stats.structure} | {leaf} | {seconds:.3f} | {ratio:.1f} | {figures} |", flush=True)


def growth() -> None:
    """Print times per body, and per body and level of a tree over all of them."""
    print("\n| bodies | build ns/body | refit ns/body | search ns/body | search ns/(body log2 n) | depth |")
    print("|---|---|---|---|---|---|")
    for n in (10**4, 10**5, 10**6):
        points, radii = bidisperse(n, 0.3)
        times = max(3, 10**6 // n)
        # Of a kept index, because the first search also allocates memory.
        tree = vc.BVH(points, radii=radii, growth=1.0)
        build = best(lambda p=points, r=radii: vc.BVH(p, radii=r), times)  # type: ignore[misc]
        refit = best(lambda t=tree, p=points: t.update(p), times)  # type: ignore[misc]
        search = best(tree.pairs, times)
        per = 1e9 / len(points)
        level = per / math.log2(n)
        print(
            f"| {n} | {build * per:.0f} | {refit * per:.0f} | {search * per:.0f} | {search * level:.2f} "
            f"| {tree.stats.details['depth']:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    with vc.threads(1):
        against_linked_cells()
        growth()
