"""Small searches: a few bodies, a few queries on a kept index; beside cKDTree.

Run ``python benchmarks/small.py``. Times are the shortest of several, on one thread and on all.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.spatial import cKDTree

import vicinal as vc

SIZES = (10, 100, 1000, 10_000)
QUERIES = (1, 10, 100, 1000)
STRUCTURES = (vc.LinkedCells, vc.CellSorting, vc.SpatialHash, vc.HashGrid, vc.Octree, vc.BVH)


def best(task: Callable[[], object], seconds: float) -> float:
    """Return the shortest time of a task in microseconds; short tasks are repeated in each measurement."""
    task()
    begin = time.perf_counter()
    task()
    repeats = max(1, int(2e-4 / max(time.perf_counter() - begin, 1e-7)))
    shortest, end = float("inf"), time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeats):
            task()
        shortest = min(shortest, (time.perf_counter() - start) / repeats)
    return 1e6 * shortest


def cutoff_of(n: int, neighbors: float = 30.0) -> float:
    """Return the cutoff within which a point of n in the unit cube has this many neighbours."""
    return float((neighbors / (n * 4 / 3 * np.pi)) ** (1 / 3))


def tree_pairs(points: np.ndarray, r: float) -> np.ndarray:
    """Find pairs with a new tree."""
    return cKDTree(points).query_pairs(r, output_type="ndarray")


def few_bodies(seconds: float) -> None:
    """Pairs of few points, a new search each time."""
    print(
        "| points | pairs | µs, one thread | ns per pair | µs, all threads | cKDTree, µs |\n|---|---|---|---|---|---|"
    )
    for n in SIZES:
        points, r = np.random.default_rng(0).random((n, 3)), cutoff_of(n)
        pairs = len(vc.pairs(points, r)[0])
        with vc.threads(1):
            one = best(partial(vc.pairs, points, r), seconds)
        several = best(partial(vc.pairs, points, r), seconds)
        peer = best(partial(tree_pairs, points, r), seconds)
        print(f"| {n} | {pairs} | {one:.1f} | {1e3 * one / max(pairs, 1):.1f} | {several:.1f} | {peer:.1f} |")


def few_queries(n: int, seconds: float) -> None:
    """Neighbours of few queries in a kept index."""
    rng = np.random.default_rng(1)
    points, r = rng.random((n, 3)), cutoff_of(n)
    queries = [rng.random((m, 3)) for m in QUERIES]
    print(f"\n| {n:g} points, µs for … queries | " + " | ".join(map(str, QUERIES)) + " |")
    print("|---" * (len(QUERIES) + 1) + "|")
    tree = cKDTree(points)
    peers = [best(partial(tree.query_ball_point, q, r), seconds) for q in queries]
    with vc.threads(1):
        for structure in STRUCTURES:
            index = structure(points, r)
            times = [best(partial(index.pairs, queries=q), seconds) for q in queries]
            print(f"| {structure.__name__} | " + " | ".join(f"{t:.1f}" for t in times) + " |")
    print("| cKDTree | " + " | ".join(f"{t:.1f}" for t in peers) + " |")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=1e6, help="of the kept index")
    parser.add_argument("--seconds", type=float, default=0.5, help="per figure")
    options = parser.parse_args()
    print(f"{vc.info()['isa']}, {vc.get_threads()} threads\n")
    few_bodies(options.seconds)
    few_queries(int(options.points), options.seconds)


if __name__ == "__main__":
    main()
