"""Speed of fluids: million particle-steps per CPU second, whole steps with walls, guard and shifting.

    python benchmarks/sph.py                  # both cases, one thread
    python benchmarks/sph.py --threads 2      # wall time on two threads, and the gain
    python benchmarks/sph.py --isa avx2       # another instruction set

Cases: dam breaks as in the examples of DualSPHysics, with 21 neighbours in two dimensions and 137 in three. Figures of
other codes on the same kind of machine (2-core Intel Xeon with AVX-512, one thread): DualSPHysics 5.4 1.2 to 1.5 and
0.19 to 0.21, PySPH 1.0b2 1.13 (WCSPH) or 0.49 (δ-SPH) in two dimensions and 0.19 in three.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import vicinal as vc
from vicinal import _core
from vicinal.sim.walls import box_walls
from vicinal.sph import Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard

PUBLISHED = {2: ("DualSPHysics 5.4", 1.35), 3: ("DualSPHysics 5.4", 0.20)}


def dam_break(dim):
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
    return Simulation(water, spacing=spacing, smoothing=smoothing, gravity=gravity, walls=layers, guard=guard)


def measure(dim, seconds, rounds, clock):
    sim = dam_break(dim)
    sim.run(20)
    best = 0.0
    for _ in range(rounds):
        begin, steps = clock(), 0
        while clock() - begin < seconds:
            sim.run(5)
            steps += 5
        best = max(best, len(sim) * steps / (clock() - begin) / 1e6)
    x = sim.positions
    neighbors = vc.count(x, sim.kernel.support).mean()
    return len(sim), len(sim.wall_positions), neighbors, best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--isa", choices=_core.available_isas(), default=_core.get_isa())
    parser.add_argument("--seconds", type=float, default=2.0, help="per round")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    _core.set_isa(options.isa)
    # CPU time of several threads would count the time in which they wait.
    clock = time.process_time if options.threads == 1 else time.perf_counter
    print(f"{options.isa}, {options.threads} thread(s), million particle-steps per second, best of {options.rounds}")
    with vc.threads(options.threads):
        for dim in (2, 3):
            fluid, walls, neighbors, rate = measure(dim, options.seconds, options.rounds, clock)
            name, other = PUBLISHED[dim]
            print(
                f"{dim}D: {fluid} particles, {walls} in walls, {neighbors:.0f} neighbours: "
                f"{rate:.2f} (of the fluid), {rate * (fluid + walls) / fluid:.2f} (walls counted), "
                f"{name} {other:.2f} (walls counted)"
            )


if __name__ == "__main__":
    main()
