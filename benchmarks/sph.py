"""Speed of fluids: million particle-steps per CPU second, whole steps with walls, guard and shifting.

    python benchmarks/sph.py                  # all cases, one thread
    python benchmarks/sph.py --threads 2      # wall time on two threads, and the gain
    python benchmarks/sph.py --isa avx2       # another instruction set
    python benchmarks/sph.py --pysph          # against PySPH on the same fluid (pip install pysph)
    python benchmarks/sph.py --splishsplash   # against SPlisHSPlasH on the same fluid (pip install pysplishsplash)
    python benchmarks/sph.py --memory 1e7     # memory of a large 3D dam break

Cases: dam breaks as in the examples of DualSPHysics, with 21 neighbours in two dimensions and 137 in three; one by
DFSPH as in SPlisHSPlasH, with a cubic kernel of two spacings; vortices of Taylor and Green by EDAC with
the kernel of PySPH's example and its 28 neighbours, of one and of two phases. Figures of other codes on the same kind
of machine (2-core Intel Xeon with AVX-512, one thread): DualSPHysics 5.4 1.2 to 1.5 and 0.19 to 0.21, PySPH 1.0b2 1.13
(WCSPH) or 0.49 (δ-SPH) in two dimensions and 0.19 in three, 0.27 for vortices by EDAC, SPlisHSPlasH 2.19 0.20 (DFSPH).
"""

from __future__ import annotations

import argparse
import resource
import time

import numpy as np

import vicinal as vc
from vicinal import _core
from vicinal.sim.walls import box_walls
from vicinal.sph import Phase, Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.vortices import taylor_green_pressures, taylor_green_velocities

PUBLISHED = {
    "dam break 2D": ("DualSPHysics 5.4", 1.35),
    "dam break 3D": ("DualSPHysics 5.4", 0.20),
    "dam break 3D, dfsph": ("SPlisHSPlasH 2.19", 0.20),
    "vortices 2D, edac": ("PySPH 1.0b2", 0.27),
    "vortices 2D, edac, two phases": ("PySPH 1.0b2, one phase", 0.27),
}


def dam_break(dim, comm=None, **options):
    """Return a column of water in a tank that is open at the top."""
    if dim == 2:
        spacing, smoothing, size, column = 0.01, 1.3, (4.0, 3.0), (1.0, 2.0)
    else:
        spacing, smoothing, size, column = 0.02, 1.6, (1.6, 0.68, 0.8), (0.8, 0.68, 0.6)
    water = fill((np.zeros(dim), np.array(column)), spacing)
    high = (*size, 1.0)[:3]
    sides = ["-x", "+x", "-y"] if dim == 2 else ["-x", "+x", "-y", "+y", "-z"]
    walls = box_walls("tank", (0.0, 0.0, -1.0 if dim == 2 else 0.0), high, "", sides=sides)
    bounds = (np.zeros(dim), np.array(size))
    layers = wall_particles(walls, spacing, 4, dim=dim, bounds=bounds, slip=[wall.name for wall in walls])
    gravity = [0.0] * (dim - 1) + [-9.81]
    guard = Guard(walls, spacing, dim)
    return Simulation(
        water if comm is None or comm.rank == 0 else water[:0],
        spacing=spacing,
        gravity=gravity,
        walls=layers,
        guard=guard,
        comm=comm,
        **{"smoothing": smoothing, **options},
    )


DFSPH_TANK = (3.9, 3.9, 1.95)


def dam_break_dfsph():
    """Return a block of water in a closed box."""
    spacing, column = 0.05, (1.95, 1.95, 1.95)
    walls = box_walls("tank", (0.0, 0.0, 0.0), DFSPH_TANK, "")
    water = fill((np.zeros(3), np.array(column)), spacing)
    return Simulation(
        water,
        spacing=spacing,
        smoothing=1.0,
        kernel="cubic",
        gravity=(0.0, -9.81, 0.0),
        walls=wall_particles(walls, spacing, 2, dim=3, fluid=water, slip=[wall.name for wall in walls]),
        guard=Guard(walls, spacing, 3),
        scheme="dfsph",
    )


def vortices(phases):
    """Return vortices in a periodic square, one half of it of another phase if there are two."""
    points = fill(((0, 0), (1, 1)), 1 / 112)
    kinds = [Phase(density=1.0, nu=0.01), Phase(density=0.1, nu=0.01)][:phases]
    return Simulation(
        points,
        spacing=1 / 112,
        phases=kinds,
        phase=(points[:, 0] > 0.5).astype(int) if phases == 2 else None,
        surface_tension=0.01 if phases == 2 else 0.0,
        sound_speed=10.0,
        velocities=taylor_green_velocities(points),
        pressures=taylor_green_pressures(points),
        box=(1.0, 1.0),
        kernel="quintic",
        smoothing=1.0,
        scheme="edac",
    )


CASES = {
    "dam break 2D": lambda: dam_break(2),
    "dam break 3D": lambda: dam_break(3),
    "dam break 3D, dfsph": dam_break_dfsph,
    "vortices 2D, edac": lambda: vortices(1),
    "vortices 2D, edac, two phases": lambda: vortices(2),
}


def measure(case, seconds, rounds, clock):
    sim = CASES[case]()
    # Until the first wave has passed, numbers far from it are denormal: processors need many times as long for them.
    sim.run(100 if "3D" in case else 400)
    best = 0.0
    for _ in range(rounds):
        begin, steps = clock(), 0
        while clock() - begin < seconds:
            sim.run(5)
            steps += 5
        best = max(best, len(sim) * steps / (clock() - begin) / 1e6)
    x = sim.positions
    neighbors = vc.count(x, sim.kernel.support, box=sim.box).mean()
    return len(sim), len(sim.wall_positions), neighbors, best


def report_memory(count):
    """Take steps of a large dam break in three dimensions; print the peak of memory."""
    edge = round((count / 2) ** (1 / 3))
    column = np.array([2 * edge, edge, edge], float)
    sides = ["-x", "+x", "-y", "+y", "-z"]
    walls = box_walls("tank", (0.0, 0.0, 0.0), (2.5 * edge, edge, 1.5 * edge), "", sides=sides)
    high = np.array([2.5 * edge, edge, 1.5 * edge])
    layers = wall_particles(walls, 1.0, 4, dim=3, bounds=(np.zeros(3), high), slip=[wall.name for wall in walls])
    water = fill((np.zeros(3), column), 1.0)
    sim = Simulation(water, spacing=1.0, gravity=(0, 0, -9.81), walls=layers, guard=Guard(walls, 1.0, 3))
    del water
    begin = time.perf_counter()
    sim.run(2)
    seconds = time.perf_counter() - begin  # of four evaluations: two of them prepare the first step
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(
        f"{len(sim)} particles, {len(sim.wall_positions)} in walls: peak of memory {peak:.1f} GiB, "
        f"{seconds / 4:.1f} s per step"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", choices=_core.available_isas(), default=_core.get_isa())
    parser.add_argument("--seconds", type=float, default=2.0, help="per round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pysph", action="store_true", help="compare with PySPH on the same fluid")
    parser.add_argument("--splishsplash", action="store_true", help="compare with SPlisHSPlasH on the same fluid")
    parser.add_argument("--memory", type=float, help="take steps with so many particles, report memory")
    options = parser.parse_args()
    _core.set_isa(options.isa)
    if options.memory:
        report_memory(options.memory)
        return
    if options.pysph:
        # Only here: PySPH is not needed for the rest.
        from sph_pysph import compare

        with vc.threads(1):
            compare(options.seconds, options.rounds)
        return
    if options.splishsplash:
        from sph_splishsplash import compare as compare_dfsph

        compare_dfsph(dam_break_dfsph(), DFSPH_TANK, 5, 2 * options.rounds)
        return
    # CPU time of several threads would count the time in which they wait.
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{options.isa}, {options.threads} thread(s), million particle-steps per second, best of {options.rounds}")
    with vc.threads(options.threads):
        for case in CASES:
            fluid, walls, neighbors, rate = measure(case, options.seconds, options.rounds, clock)
            name, other = PUBLISHED[case]
            print(
                f"{case}: {fluid} particles, {walls} in walls, {neighbors:.0f} neighbours: "
                f"{rate:.2f} (of the fluid), {rate * (fluid + walls) / fluid:.2f} (walls counted), "
                f"{name} {other:.2f} (walls counted)"
            )


if __name__ == "__main__":
    main()
