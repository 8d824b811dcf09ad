"""
The Delaunay structure: build, motion and search, compared with other triangulators and our cells.

One process, one thread, CPU time, the contestants of a question in turn, the best of several rounds. An update
moves every point at random by up to a share of the mean spacing along each axis, starting from the positions of
the previous update. Compare the ratios; the milliseconds depend on the machine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from vicinal.machine import describe

HERE = Path(__file__).resolve().parent
SHARES = (0.01, 0.02, 0.05, 0.2, 1.0)
NEIGHBOURS = 20.0
Seconds = dict[str, float]


def interleaved(calls: dict[str, Callable[[], Any]], rounds: int) -> Seconds:
    """Best CPU seconds of each call."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.process_time()
            result = call()
            best[name] = min(best[name], time.process_time() - start)
            del result
    return best


def cutoff_for(points: int, neighbours: float) -> float:
    """Cutoff in the unit square, boundaries neglected."""
    return float((neighbours / (points * 3.141592653589793)) ** 0.5)


def builds(points: Any, cutoff: float, rounds: int) -> Seconds:
    """Time a new triangulation, ours and those of the peers."""
    vc = import_module("vicinal")
    ours = vc.Delaunay(points, cutoff=cutoff)
    # An update to another number of points rebuilds in existing memory.
    calls: dict[str, Callable[[], Any]] = {
        "vicinal, new": lambda: vc.Delaunay(points, cutoff=cutoff),
        "vicinal, again": lambda: ours.update(points),
    }
    try:
        triangle = import_module("triangle")
        calls["triangle"] = lambda: triangle.triangulate({"vertices": points})
    except ImportError:
        print("triangle is not installed: pip install triangle")
    try:
        spatial = import_module("scipy.spatial")
        calls["scipy"] = lambda: spatial.Delaunay(points)
    except ImportError:
        print("scipy is not installed")
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        ours.update(points[:3])
        for name, seconds in interleaved(calls, 1).items():
            best[name] = min(best[name], seconds)
    return best


def updates(points: Any, cutoff: float, rounds: int, share: float) -> tuple[Seconds, dict[str, float]]:
    """Motion by a share of the spacing, compared with a rebuild; figures of the last motion, and all rebuilds."""
    np, vc = import_module("numpy"), import_module("vicinal")
    rng = np.random.default_rng(2)
    moving, rebuilt = vc.Delaunay(points, cutoff=cutoff), vc.Delaunay(points, cutoff=cutoff)
    steps: dict[str, list[float]] = {"update": [], "rebuild": []}
    here, rebuilds = points, 0.0
    for _ in range(rounds):
        here = here + rng.uniform(-share, share, here.shape) / np.sqrt(len(here))
        rebuilt.update(here[:3])
        for name, index in (("update", moving), ("rebuild", rebuilt)):
            start = time.process_time()
            index.update(here)
            steps[name].append(time.process_time() - start)
        rebuilds += moving.stats.details["rebuilt"]
    if not moving.is_delaunay():
        raise SystemExit("the triangulation is not Delaunay")
    seconds = {name: min(times) for name, times in steps.items()}
    seconds |= {f"median {name}": sorted(times)[len(times) // 2] for name, times in steps.items()}
    return seconds, {**moving.stats.details, "rebuilds": rebuilds}


def searches(points: Any, cutoff: float, rounds: int) -> tuple[Seconds, int]:
    """Half pairs from structures that are already built; ours lists the edges again for every search."""
    vc = import_module("vicinal")
    kept = {name: getattr(vc, name)(points, cutoff=cutoff) for name in ("Delaunay", "LinkedCells", "CellSorting")}
    entries = len(kept["LinkedCells"].pairs()[0])
    first = vc.Delaunay(points, cutoff=cutoff)
    best = dict.fromkeys(["Delaunay, after an update", *kept], float("inf"))
    for _ in range(rounds):
        first.update(points)
        calls: dict[str, Callable[[], Any]] = {"Delaunay, after an update": first.pairs}
        calls |= {name: index.pairs for name, index in kept.items()}
        for name, seconds in interleaved(calls, 1).items():
            best[name] = min(best[name], seconds)
    return best, entries


def main() -> int:
    """Measure, print and write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=float, default=1e5)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    os.environ["VICINAL_NUM_THREADS"] = "1"
    np = import_module("numpy")
    n = int(options.points)
    points = np.random.default_rng(1).random((n, 2))
    cutoff = cutoff_for(n, NEIGHBOURS)
    data: dict[str, Any] = {"machine": describe(), "points": n, "rounds": options.rounds}
    print(f"{n} random points, float64, one thread, CPU time, load {data['machine']['load']:.1f}\n")

    data["build"] = build = builds(points, cutoff, options.rounds)
    for name, seconds in build.items():
        print(f"build    {name:28} {seconds * 1e3:8.1f} ms   {seconds / build['vicinal, new']:6.1f} × ours")

    data["update"] = {}
    for share in SHARES:
        times, details = updates(points, cutoff, options.rounds, share)
        data["update"][str(share)] = times | {"details": dict(details)}
        figures = ", ".join(f"{details[name]:.0f} {name}" for name in ("inverted", "flips", "reinserted"))
        note = f"{details['rebuilds']:.0f} of {options.rounds} rebuilt" if details["rebuilds"] else figures
        saved = f"{times['rebuild'] / times['update']:6.1f} × cheaper than a rebuild ({times['rebuild'] * 1e3:.1f} ms)"
        middle = f"by medians {times['median rebuild'] / times['median update']:.1f} ×"
        print(
            f"update   {share:4.0%} of the spacing          {times['update'] * 1e3:8.1f} ms   {saved}, {middle}; {note}"
        )

    data["search"], data["pairs"] = searches(points, cutoff, options.rounds)
    for name, seconds in data["search"].items():
        entry = seconds / data["pairs"] * 1e9
        ratio = seconds / data["search"]["LinkedCells"]
        print(f"search   {name:28} {seconds * 1e3:8.1f} ms   {entry:6.1f} ns per pair, {ratio:.1f} × LinkedCells")

    path = options.out / "delaunay.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwritten to {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
