"""Rows, sorted rows, crystals and strays: nanoseconds per directed entry, CPU and wall time.

    python benchmarks/rows.py                            this installation
    python benchmarks/rows.py --before OTHER/bin/python  the same, interleaved with another one, and the ratios

Every case is timed in rounds, one process per round and installation, interleaved, so that other load affects both
alike; the best time of all rounds counts. One thread. `fresh` includes building; `kept` updates an index that is kept.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

import vicinal as vc

CASES = {"dense": (170_000, 137), "loose": (1_000_000, 30)}
CRYSTALS = {"1st shell": 0.5, "10th shell": 5.0, "28th shell": 14.0}  # of fcc: squared distance, in edges of the cell
CELLS = 30  # of a crystal, along each axis
STRAY = (1e9, -1e9, 1e9)
STRAY_POINTS = (30_000, 1_000_000)
STRAY_STRUCTURES = (None, "LinkedCells", "CellSorting", "HashGrid", "SpatialHash", "Octree", "BVH")
CHOICES = [*CASES, "crystal", "stray"]

Task = tuple[str, int, Callable[[], Any]]


def tasks_of(name: str, points: Any, cutoff: float) -> Iterator[Task]:
    """Yield the timed calls for one cloud: name, directed entries, call."""
    entries = 2 * len(vc.pairs(points, cutoff=cutoff)[0])
    yield f"{name}: pairs, fresh", entries, lambda: vc.pairs(points, cutoff=cutoff)
    yield f"{name}: pairs sorted, fresh", entries, lambda: vc.pairs(points, cutoff=cutoff, sort=True)
    yield f"{name}: neighbors, fresh", entries, lambda: vc.neighbors(points, cutoff=cutoff)
    yield f"{name}: neighbors sorted, fresh", entries, lambda: vc.neighbors(points, cutoff=cutoff, sort=True)
    index = vc.CellSorting(points, cutoff=cutoff)
    yield f"{name}: neighbors, kept", entries, lambda: (index.update(points), index.neighbors())
    for half in (True, False):
        rows = vc.NeighborList(cutoff=cutoff, skin=0.0, half=half)
        yield f"{name}: list, {'half' if half else 'full'}", entries, lambda rows=rows: rows.update(points)


def clouds(chosen: list[str]) -> Iterator[Task]:
    """Yield the tasks of random clouds, in random and in spatial order."""
    for name, (n, neighbors) in CASES.items():
        if name not in chosen:
            continue
        points = np.random.default_rng(1).random((n, 3)).astype(np.float32)
        cutoff = (neighbors / (4 / 3 * np.pi * n)) ** (1 / 3)
        yield from tasks_of(f"{name}, random order", points, cutoff)
        yield from tasks_of(f"{name}, spatial order", points[vc.spatial_order(points)], cutoff)


def crystals() -> Iterator[Task]:
    """Yield float64 lattices with the cutoff at a shell distance, and clouds with as many pairs.

    Every pair of the last shell is a tie, which float32 cannot decide.
    """
    corners = np.indices((CELLS, CELLS, CELLS)).reshape(3, -1).T[:, None, :]
    basis = np.array([(0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)])
    lattice = (corners + basis).reshape(-1, 3) * 3.615
    cloud = np.random.default_rng(2).random(lattice.shape) * CELLS * 3.615
    for name, square in CRYSTALS.items():
        shell = float(np.sqrt(square)) * 3.615
        entries = 2 * len(vc.pairs(lattice, cutoff=shell)[0])
        volume = (CELLS * 3.615) ** 3
        like = float((entries / len(lattice) ** 2 * volume / (4 / 3 * np.pi)) ** (1 / 3))
        shuffled = np.random.default_rng(3).permutation(lattice)
        kinds = {"crystal": (lattice, shell), "shuffled crystal": (shuffled, shell), "cloud": (cloud, like)}
        for kind, (points, cutoff) in kinds.items():
            count = 2 * len(vc.pairs(points, cutoff=cutoff)[0])
            for search in (vc.pairs, vc.neighbors, vc.count):
                task = f"{kind}, {name}: {search.__name__}"
                yield task, count, lambda search=search, p=points, r=cutoff: search(p, cutoff=r)


def strays() -> Iterator[Task]:
    """Yield searches of points in the unit cube, and of the same points with one far away; None: automatic choice."""
    for n, dtype in product(STRAY_POINTS, (np.float32, np.float64)):
        points = np.random.default_rng(1).random((n, 3)).astype(dtype)
        cutoff = (30 / (4 / 3 * np.pi * n)) ** (1 / 3)
        stray = np.concatenate([points, np.array([STRAY], dtype)])
        entries = 2 * len(vc.pairs(points, cutoff=cutoff)[0])
        for structure in STRAY_STRUCTURES:
            for kind, x in (("cube", points), ("stray", stray)):
                task = f"{kind}, {n} {dtype.__name__}, {structure or 'chosen'}"
                yield task, entries, lambda x=x, r=cutoff, s=structure: vc.pairs(x, cutoff=r, structure=s)


def measure(chosen: list[str], repeats: int) -> dict[str, Any]:
    """Return the best wall and CPU time of every task, in seconds, and its entries."""
    vc.set_threads(1)
    times: dict[str, Any] = {}
    tasks = [*clouds(chosen), *(crystals() if "crystal" in chosen else []), *(strays() if "stray" in chosen else [])]
    for name, entries, call in tasks:
        call()
        wall, cpu = [], []
        for _ in range(repeats):
            began, cpu_began = perf_counter(), process_time()
            call()
            wall.append(perf_counter() - began)
            cpu.append(process_time() - cpu_began)
        times[name] = [min(wall), min(cpu), entries]
    return times


def best(all_times: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the best of several rounds."""
    return {name: [min(t[name][k] for t in all_times) for k in range(3)] for name in all_times[0]}


def run(python: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure one round in a separate process."""
    command = [python, str(Path(__file__).resolve()), "--worker", "--repeats", str(arguments.repeats)]
    done = subprocess.run(
        [*command, "--cases", *arguments.cases],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "VICINAL_NUM_THREADS": "1"},
    )
    times: dict[str, Any] = json.loads(done.stdout)
    return times


def compare(now: dict[str, Any]) -> None:
    """Print the ratios of times: sorted rows to pairs, crystals to clouds, strays to cubes."""
    for name, (_, cpu, _) in now.items():
        kind, _, rest = name.partition(", ")
        cloud, _, search = name.partition(": ")
        if kind.endswith("crystal"):
            print(f"{name:44} takes {cpu / now[f'cloud, {rest}'][1]:.2f}x the time of the cloud")
        elif kind == "stray":
            print(f"{name:44} takes {cpu / now[f'cube, {rest}'][1]:.2f}x the time without the stray")
        elif "sorted" in search or "list" in search:
            print(f"{name:44} takes {cpu / now[f'{cloud}: pairs, fresh'][1]:.2f}x the time of unsorted pairs")


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", help="the Python of an installation to compare with")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--cases", nargs="+", default=CHOICES, choices=CHOICES)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        json.dump(measure(arguments.cases, arguments.repeats), sys.stdout)
        return
    pythons = [sys.executable] if arguments.before is None else [arguments.before, sys.executable]
    rounds = [[run(python, arguments) for python in pythons] for _ in range(arguments.rounds)]
    results = [best([one[k] for one in rounds]) for k in range(len(pythons))]
    now, before = results[-1], results[0]
    print(f"{'':44} {'wall ms':>9} {'CPU ms':>9} {'ns/entry':>9} {'before':>9} {'ratio':>7}   (CPU time)")
    for name, (wall, cpu, entries) in now.items():
        old = before[name][1] if len(results) > 1 else float("nan")
        print(
            f"{name:44} {wall * 1e3:9.1f} {cpu * 1e3:9.1f} {cpu * 1e9 / entries:9.2f} {old * 1e3:9.1f} {cpu / old:7.2f}"
        )
    compare(now)


if __name__ == "__main__":
    main()
