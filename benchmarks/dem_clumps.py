"""Settled clumps of five spheres in a box, for vicinal and for LIGGGHTS.

LIGGGHTS can only insert clumps at random. So it pours them once, and vicinal starts from the same positions.
"""

from __future__ import annotations

import resource
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import dem_cases as cases
from dem_peers import LIGGGHTS_CONTACTS, LIGGGHTS_START
from vicinal.dem import Clump

EDGE = 10.0
CLUMP = Clump(
    [[0, 0, 0], [0.2, 0.2, 0.2], [-0.2, -0.2, 0.2], [-0.2, 0.2, -0.2], [0.2, -0.2, -0.2]], [0.35, 0.3, 0.3, 0.3, 0.3]
)
SETTLING = 40_000  # steps of twice the usual length, with strong damping

FIXES = (
    """
neighbor 0.1 bin
neigh_modify every 1 delay 0
"""
    + LIGGGHTS_CONTACTS
    + """
timestep {dt}
fix gravi all gravity 1.0 vector 0.0 0.0 -1.0
{walls}
"""
)
WALL = "fix {name} all wall/gran model hooke/stiffness tangential history primitive type 1 {at} tangential_damping off"
POUR = """
fix pts all particletemplate/multisphere 15485863 atom_type 1 density constant {density} nspheres 5 ntry 1000000 &
  spheres {spheres} type 1
fix pdd all particledistribution/discrete 15485867 1 pts 1.0
region fill block 0.6 {high} 0.6 {high} 0.6 {top} units box
fix ins all insert/pack seed 32452843 distributiontemplate pdd insert_every once overlapcheck yes &
  orientation random vel constant 0. 0. 0. particles_in_region {count} region fill
fix integr all multisphere
thermo 10000
run {settling}
write_restart {restart}
dump d all custom 1 {places} id x y z radius id_multisphere
dump_modify d sort id format "%d %.14g %.14g %.14g %.14g %d"
run 0
"""


def installed() -> bool:
    """Return whether LIGGGHTS is installed."""
    return shutil.which("liggghts") is not None


def _fixes(gamma: float, dt: float) -> str:
    at = {"x1": "xplane 0.0", "x2": f"xplane {EDGE}", "y1": "yplane 0.0", "y2": f"yplane {EDGE}", "z1": "zplane 0.0"}
    walls = "\n".join(WALL.format(name=name, at=place) for name, place in at.items())
    return FIXES.format(kn=cases.KN, kt=2 / 7 * cases.KN, gamma=gamma, friction=cases.FRICTION, dt=dt, walls=walls)


def _run(script: str) -> float:
    """Run LIGGGHTS, and return its CPU seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "in.case").write_text(script)
        done = subprocess.run(
            ["liggghts", "-in", "in.case"], cwd=folder, capture_output=True, text=True, errors="replace", check=False
        )
    if done.returncode != 0 or "ERROR" in done.stdout:
        raise RuntimeError(f"LIGGGHTS: {done.stdout[-800:]}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime - before.ru_utime - before.ru_stime


def _files(count: int) -> tuple[Path, Path]:
    """Return the restart file and the positions of settled clumps, which are made once."""
    restart, places = (Path(tempfile.gettempdir()) / f"vicinal_clumps_{count}.{kind}" for kind in ("restart", "txt"))
    if not places.exists():
        top = 0.6 + 0.03 * count * 100 / EDGE**2
        spheres = " ".join(f"{x} {y} {z} {r}" for (x, y, z), r in zip(CLUMP.offsets, CLUMP.radii, strict=True))
        made = POUR.format(
            density=cases.GRAINS.density, spheres=spheres, high=EDGE - 0.6, top=top, count=count, settling=SETTLING,
            restart=restart, places=places,
        )  # fmt: skip
        box = f"region all block 0 {EDGE} 0 {EDGE} 0 {top + 20} units box\ncreate_box 1 all\n"
        _run(LIGGGHTS_START + box + _fixes(12 * cases.GAMMA, 2 * cases.DT) + made)
    return restart, places


def start(count: int):
    """Return centres and orientations of settled clumps."""
    _, path = _files(count)
    rows = np.loadtxt(path, skiprows=9)
    # Clumps are symmetric, so their centre is that of the first sphere; spheres of a clump have consecutive numbers.
    spheres = rows[:, 1:4].reshape(count, len(CLUMP.radii), 3)
    points = spheres[:, 0]
    # The rotation that fits the other spheres best (Kabsch 1976).
    u, _, vt = np.linalg.svd(np.einsum("kj,nki->nij", CLUMP.offsets, spheres - points[:, None]))
    turned = u @ vt
    assert np.allclose(np.linalg.det(turned), 1)
    assert np.allclose(spheres - points[:, None], np.einsum("nij,kj->nki", turned, CLUMP.offsets), atol=1e-4)
    return points, _quaternions(turned)


def _quaternions(turned):
    """Return unit quaternions of rotation matrices: the eigenvectors of largest eigenvalue (Bar-Itzhack 2000)."""
    xx, xy, xz, yx, yy, yz, zx, zy, zz = turned.reshape(-1, 9).T
    rows = [
        [xx + yy + zz, zy - yz, xz - zx, yx - xy],
        [zy - yz, xx - yy - zz, xy + yx, xz + zx],
        [xz - zx, xy + yx, yy - xx - zz, yz + zy],
        [yx - xy, xz + zx, yz + zy, zz - xx - yy],
    ]
    return np.linalg.eigh(np.array(rows).transpose(2, 0, 1))[1][:, :, -1]


def simulation(count: int):
    """Return settled clumps in vicinal."""
    points, turned = start(count)
    return cases.box(points, EDGE, shape=CLUMP, orientations=turned)


def speed(count: int, steps: int) -> float:
    """Return million clump-steps per CPU second of LIGGGHTS: a run with steps minus one without."""
    restart, _ = _files(count)
    script = (
        LIGGGHTS_START
        + f"read_restart {restart}\n"
        + _fixes(cases.GAMMA, cases.DT)
        + "fix integr all multisphere\nrun 10\n"
    )
    return count * steps / (_run(f"{script}run {steps}\n") - _run(f"{script}run 0\n")) / 1e6
