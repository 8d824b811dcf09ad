"""
Where one structure overtakes another: the measurement behind the constants of ``vicinal.choose``.

Two questions. Up to how many bodies is testing all pairs the fastest? Up to how many cells per body is a
dense grid faster than sorted cells, when bodies get sparse and when one strays far away?
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

LEAST_SECONDS = 0.005  # a batch of calls must last this long for the clock
BODIES = (16, 32, 64, 96, 128, 192, 256, 384, 512, 1024)
CELLS_PER_BODY = (0.25, 0.5, 1, 2, 4, 8, 16, 32, 64)
NEIGHBOURS = 30.0


def per_call(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """Best CPU seconds of each call, in interleaved batches."""
    batches = {}
    for name, call in calls.items():
        start = time.process_time()
        call()
        batches[name] = max(1, int(LEAST_SECONDS / max(time.process_time() - start, 1e-6)))
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.process_time()
            for _ in range(batches[name]):
                call()
            best[name] = min(best[name], (time.process_time() - start) / batches[name])
    return best


def searches(points: Any, cutoff: float, structures: tuple[str, ...]) -> dict[str, Callable[[], Any]]:
    """Build and search, once per structure."""
    vc = import_module("vicinal")

    def search(name: str) -> Callable[[], Any]:
        structure = getattr(vc, name)
        return lambda: structure(points, cutoff=cutoff).pairs()

    return {name: search(name) for name in structures}


def cutoff_for(bodies: float, neighbours: float) -> float:
    """Cutoff in the unit cube, boundaries neglected."""
    return float((neighbours / (bodies * 4 / 3 * 3.141592653589793)) ** (1 / 3))


def few_bodies(repeats: int) -> list[tuple[str, dict[str, float]]]:
    """All pairs against cells, at few neighbours per body and at many."""
    np = import_module("numpy")
    lines = []
    for neighbours in (5.0, NEIGHBOURS):
        for bodies in BODIES:
            points = np.random.default_rng(1).random((bodies, 3))
            calls = searches(points, cutoff_for(bodies, neighbours), ("Exhaustive", "LinkedCells", "CellSorting"))
            lines.append((f"{bodies} bodies, {neighbours:.0f} neighbours", per_call(calls, repeats)))
    return lines


def empty_space(bodies: int, repeats: int) -> list[tuple[str, dict[str, float]]]:
    """A dense grid against sorted cells: bodies spread thin, and a dense cloud with one body far away."""
    np = import_module("numpy")
    points = np.random.default_rng(1).random((bodies, 3))
    lines = []
    for cells in CELLS_PER_BODY:
        thin = searches(points, (1 / (cells * bodies)) ** (1 / 3), ("LinkedCells", "CellSorting"))
        lines.append((f"{cells:g} cells per body, spread thin", per_call(thin, repeats)))
    cutoff = cutoff_for(bodies, NEIGHBOURS)
    for cells in CELLS_PER_BODY:
        extent = (cells * bodies) ** (1 / 3) * cutoff
        if extent > 1:
            stray = points.copy()
            stray[0] = extent
            calls = searches(stray, cutoff, ("LinkedCells", "CellSorting"))
            lines.append((f"{cells:g} cells per body, one astray", per_call(calls, repeats)))
    return lines


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bodies", type=float, default=1e5, help="for the second question")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    os.environ["VICINAL_NUM_THREADS"] = "1"
    for lines in (few_bodies(options.repeats), empty_space(int(options.bodies), options.repeats)):
        for label, times in lines:
            fastest = min(times, key=lambda name: times[name])
            figures = "  ".join(f"{name} {seconds * 1e6:10.1f} µs" for name, seconds in times.items())
            print(f"{label:34} {figures}  {fastest}")
        print()
    return 0


if __name__ == "__main__":
    sys.exit(main())
