"""Searches on ranks: seconds to scatter, decide ghosts, search and exchange, and of a forward.

Run it with ``VICINAL_NUM_THREADS=1 mpiexec -n 2 python benchmarks/ranks.py``.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from mpi4py import MPI

from vicinal.distributed import Domain

WORLD = MPI.COMM_WORLD


def best(call: Callable[[], Any], repeats: int) -> tuple[float, Any]:
    """The least time of several calls, that of the slowest rank, and the last result."""
    least, result = np.inf, None
    for _ in range(repeats):
        WORLD.Barrier()
        start = time.perf_counter()
        result = call()
        least = min(least, WORLD.allreduce(time.perf_counter() - start, op=MPI.MAX))
    return least, result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=float, default=1e6, help="points on all ranks together")
    parser.add_argument("--neighbors", type=float, default=30.0, help="mean number of neighbours of a point")
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()
    size = int(given.bodies)
    cutoff = float((given.neighbors / (size * 4 / 3 * np.pi)) ** (1 / 3))
    share = np.random.default_rng(WORLD.rank).random((size // WORLD.size, 3))
    domain = Domain(WORLD, box=1.0)
    seconds = {}
    seconds["scatter"], mine = best(lambda: domain.scatter(share), given.repeats)
    seconds["borders"], halo = best(lambda: mine.borders(cutoff), given.repeats)
    seconds["pairs"], _ = best(lambda: mine.pairs(cutoff), given.repeats)
    seconds["exchange"], _ = best(lambda: mine.exchange(mine.points), given.repeats)
    small = Domain(WORLD).scatter(np.random.default_rng(1).random((10_000 // WORLD.size, 3)))
    border = small.borders(0.055)
    state = np.zeros((len(small), 12))
    seconds["forward"], _ = best(lambda: border.forward(state), 2000)
    ghosts = WORLD.reduce(len(halo)), WORLD.reduce(len(border))
    if WORLD.rank == 0:
        print(f"{WORLD.size} ranks, {size} points, {ghosts[0]} ghosts; forward of {ghosts[1]} ghosts with 96 bytes")
        for name, value in seconds.items():
            print(f"{name:10s} {value * 1e3:10.3f} ms")


if __name__ == "__main__":
    main()
