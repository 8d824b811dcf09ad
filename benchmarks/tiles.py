"""Pairs and counts of points that do not fit into memory: seconds, peak memory, and agreement with a search in memory.

``python benchmarks/tiles.py --points 1e8`` makes the points, divides them into tiles, and runs all tasks in one
process; with ``--compare`` the same points are searched in memory, too. ``--only counts`` leaves out the pairs.
``--chunks`` searches points in memory by ``vicinal.pairs(chunks=)`` instead, and prints the memory beyond that of the
points.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import vicinal as vc


def make(path: Path, size: int) -> None:
    """Write uniform points to a npy file, piece by piece."""
    rng = np.random.default_rng(0)
    points = np.lib.format.open_memmap(path, "w+", np.float32, (size, 3))
    for begin in range(0, size, 1_000_000):
        points[begin : begin + 1_000_000] = rng.random((min(1_000_000, size - begin), 3), np.float32)
        points.flush()


def fingerprint(i: Any, j: Any) -> int:
    """A number that depends on the set of unordered pairs, not on their order."""
    low, high = np.minimum(i, j).astype(np.uint64), np.maximum(i, j).astype(np.uint64)
    mixed = (low * np.uint64(0x9E3779B97F4A7C15)) ^ (high * np.uint64(0xC2B2AE3D27D4EB4F))
    return int((mixed ^ (mixed >> np.uint64(29))).sum(dtype=np.uint64))


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2


def search_in_chunks(size: int, cutoff: float) -> None:
    """Find all pairs of points in memory, ten million at a time."""
    rng = np.random.default_rng(0)
    points = np.empty((size, 3), np.float32)
    for begin in range(0, size, 1_000_000):
        points[begin : begin + 1_000_000] = rng.random((min(1_000_000, size - begin), 3), np.float32)
    before, start, found = peak(), time.perf_counter(), 0
    for i, _ in vc.pairs(points, cutoff, box=1.0, chunks=10_000_000):
        found += len(i)
    seconds = time.perf_counter() - start
    print(f"{found} pairs in chunks in {seconds:.1f} s, {peak() - before:.2f} GiB beyond the {before:.2f} GiB before")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--points", type=float, default=1e7)
    parser.add_argument("--neighbors", type=float, default=10.0, help="mean number of neighbours of a point")
    parser.add_argument("--compare", action="store_true", help="search in memory, too")
    parser.add_argument("--only", choices=("pairs", "counts"), help="find only these; by default both")
    parser.add_argument("--chunks", action="store_true", help="search in memory by vicinal.pairs(chunks=) only")
    given = parser.parse_args()
    size = int(given.points)
    cutoff = float((given.neighbors / (size * 4 / 3 * np.pi)) ** (1 / 3))
    if given.only and given.compare:
        parser.error("--compare needs pairs and counts; leave out --only")
    if given.chunks:
        search_in_chunks(size, cutoff)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder / "points.npy", size)
        start = time.perf_counter()
        tiles = vc.tiles.write(folder / "points.npy", folder / "tiles", box=1.0)
        print(
            f"{len(tiles.sizes)} tiles written in {time.perf_counter() - start:.1f} s, peak {peak():.2f} GiB",
            flush=True,
        )
        found = total = counted = 0
        if given.only != "counts":
            start = time.perf_counter()
            for i, j in tiles.pairs(cutoff):
                found += len(i)
                total += fingerprint(i, j)
            print(f"{found} pairs in {time.perf_counter() - start:.1f} s, peak {peak():.2f} GiB", flush=True)
        if given.only != "pairs":
            start = time.perf_counter()
            counts = tiles.count(cutoff)
            counted = int(counts.sum(dtype=np.int64))
            print(f"{counted} counted in {time.perf_counter() - start:.1f} s, peak {peak():.2f} GiB", flush=True)
        if given.only is None and counted != 2 * found:
            raise SystemExit("counts and pairs differ")
        if given.compare:
            points = np.load(folder / "points.npy")
            start = time.perf_counter()
            i, j = vc.pairs(points, cutoff, box=1.0)
            seconds = time.perf_counter() - start
            same = len(i) == found and fingerprint(i, j) == total % 2**64
            same = same and np.array_equal(counts, vc.count(points, cutoff, box=1.0))
            print(f"in memory {seconds:.1f} s; the same pairs and counts: {same}")
            if not same:
                raise SystemExit("tiles and memory differ")


if __name__ == "__main__":
    main()
