"""Speed of fluids: million particle-steps per CPU second, whole steps with walls and shifting.

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
from dataclasses import dataclass

import numpy as np

import vicinal as vc
from vicinal import _core
from vicinal.sph import Simulation

PUBLISHED = {2: ("DualSPHysics 5.4", 1.35), 3: ("DualSPHysics 5.4", 0.20)}


@dataclass(frozen=True)
class Layers:
    """Wall particles of a tank that is open at the top."""

    positions: np.ndarray
    normals: np.ndarray
    wall: np.ndarray
    slip: np.ndarray


def lattice(low, high, spacing):
    axes = [a + spacing * (np.arange(round((b - a) / spacing)) + 0.5) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def tank(size, spacing, layers):
    high = np.array(size)
    points = lattice([-layers * spacing] * len(size), high + layers * spacing, spacing)
    points = points[((points < 0) | (points > high)).any(axis=1) & (points[:, -1] < high[-1])]
    normals = np.where(points < 0, 1.0, np.where(points > high, -1.0, 0.0))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return Layers(points, normals, np.zeros(len(points), np.int32), np.array([True]))


def dam_break(dim):
    if dim == 2:
        spacing, smoothing, size, column = 0.01, 1.3, (4.0, 3.0), (1.0, 2.0)
    else:
        spacing, smoothing, size, column = 0.02, 1.6, (1.6, 0.68, 0.8), (0.8, 0.68, 0.6)
    water = lattice([0.0] * dim, column, spacing)
    gravity = [0.0] * (dim - 1) + [-9.81]
    return Simulation(water, spacing=spacing, smoothing=smoothing, gravity=gravity, walls=tank(size, spacing, 4))


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
