"""PySPH and vicinal on the same fluid, for benchmarks/sph.py --pysph.

PySPH (pip install pysph; it compiles its loops when an example first runs) takes some steps of its own examples;
vicinal takes steps from the same positions, with walls where those of the example are, in layers as deep as the kernel
reaches; beside WCSPH without diffusion and shifting, which that scheme has not. Both are measured in this process on
one thread, in CPU time. A step of either evaluates rates once.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import tempfile
import time

import numpy as np

import vicinal as vc
from vicinal.sim.walls import box_walls
from vicinal.sph import Laminar, Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.guard import Guard
from vicinal.sph.vortices import taylor_green_pressures, taylor_green_velocities

# Example, its class, options, steps, dimension.
EXAMPLES = {
    "dam break 2D, WCSPH": ("dam_break_2d", "DamBreak2D", ["--scheme=wcsph"], 200, 2),
    "dam break 2D, δ-SPH": ("dam_break_2d", "DamBreak2D", ["--scheme=wcsph", "--delta-sph"], 200, 2),
    "vortices, EDAC": ("taylor_green", "TaylorGreen", ["--scheme=edac", "--nx=112", "--perturb=0"], 60, 2),
}
TANKS = {2: (4.0, 4.0), 3: (3.22, 1.0, 1.0)}


def run_example(case):
    """Run an example of PySPH; return positions of its fluid, the number of other particles, and seconds per step."""
    module, name, options, steps, dim = EXAMPLES[case]
    base = getattr(importlib.import_module(f"pysph.examples.{module}"), name)

    class Timed(base):
        def create_particles(self):
            arrays = super().create_particles()
            self.start = {a.name: np.column_stack([a.x, a.y, a.z])[:, :dim].copy() for a in arrays}
            self.clock = []
            return arrays

        def post_step(self, _solver):
            self.clock.append(time.process_time())

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        app = Timed(output_dir=folder)
        app.run([*options, f"--max-steps={steps}", "--disable-output", "--no-openmp"])
    fluid = app.start.pop("fluid")
    times = np.diff(app.clock)
    # The best of four rounds, as for vicinal; the first steps are left out.
    rounds = [part.mean() for part in np.array_split(times[len(times) // 5 :], 4)]
    return fluid, sum(map(len, app.start.values())), min(rounds)


def same_fluid(case, fluid):
    """Return vicinal's simulation of the same fluid."""
    dim = fluid.shape[1]
    if case.startswith("vortices"):
        spacing = 1 / 112
        return Simulation(
            fluid,
            spacing=spacing,
            density=1.0,
            viscosity=Laminar(0.01),
            sound_speed=10.0,
            velocities=taylor_green_velocities(fluid),
            pressures=taylor_green_pressures(fluid),
            box=(1.0, 1.0),
            kernel="quintic",
            smoothing=1.0,
            scheme="edac",
        )
    spacing = 0.03
    low = fluid.min(axis=0) - 0.5 * spacing
    high = low + TANKS[dim]
    corners = [np.pad(low, (0, 3 - dim), constant_values=-1.0), np.pad(high, (0, 3 - dim), constant_values=1.0)]
    walls = box_walls("tank", *corners, "", sides=["-x", "+x", "-y", "+y", "-z"][: 3 if dim == 2 else 5])
    layers = wall_particles(walls, spacing, 3, dim=dim, bounds=(low, high), slip=[wall.name for wall in walls])
    return Simulation(
        fluid,
        spacing=spacing,
        smoothing=1.3,
        gravity=[0.0] * (dim - 1) + [-9.81],
        walls=layers,
        guard=Guard(walls, spacing, dim),
        **({"diffusion": 0.0, "shifting": 0.0} if case.endswith("WCSPH") else {}),
    )


def seconds_per_step(sim, seconds, rounds):
    sim.run(400 if len(sim) < 20000 else 100)  # until the first wave has passed, numbers far from it are denormal
    best = np.inf
    for _ in range(rounds):
        begin, steps = time.process_time(), 0
        while time.process_time() - begin < seconds:
            sim.run(5)
            steps += 5
        best = min(best, (time.process_time() - begin) / steps)
    return best


def rates(fluid, walls, seconds):
    return f"{fluid / seconds / 1e6:.2f} ({(fluid + walls) / seconds / 1e6:.2f})"


def compare(seconds, rounds):
    print("one thread, million particle-steps per CPU second: of the fluid (walls counted)")
    for case in EXAMPLES:
        fluid, walls, theirs = run_example(case)
        sim = same_fluid(case, fluid)
        ours = seconds_per_step(sim, seconds, rounds)
        neighbors = vc.count(fluid, sim.kernel.support, box=sim.box).mean()

        n, own = len(fluid), len(sim.wall_positions)
        print(
            f"{case}: {n} particles, {neighbors:.0f} neighbours: "
            f"vicinal {rates(n, own, ours)} with {own} in walls, PySPH {rates(n, walls, theirs)} with {walls}; "
            f"ratio {theirs / ours:.1f} ({theirs / ours * (n + own) / (n + walls):.1f})",
            flush=True,
        )
