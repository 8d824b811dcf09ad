"""Simulations that dem.py measures."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

from vicinal.dem import Material, MeshWall, Simulation, Tablet, box_walls
from vicinal.dem.meshes import load_mesh

KN, GAMMA, FRICTION, DT = 2e5, 50.0, 0.5, 1e-4
GRAINS = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=0.0, friction=FRICTION)
# Without tangential springs friction needs a dashpot.
WITHOUT = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=GAMMA, friction=FRICTION)
BOX10K = Path(__file__).parent.parent / "tests" / "dem" / "data" / "box10k.npz"
TILE_EDGE = 20.0  # of that box

# The open benchmark of Dosta et al., Comput. Phys. Commun. 296 (2024) 109066.
STEEL = {
    "grains": Material(density=2500, youngs_modulus=1e9, poisson_ratio=0.2, restitution=0.5, friction=0.3),
    "steel": Material(density=7200, youngs_modulus=210e9, poisson_ratio=0.2, restitution=0.5, friction=0.2),
}
STEEL_PAIRS = {("grains", "steel"): {"restitution": 0.4, "friction": 0.2}}
IMPACT_SPEED, DRUM_SPIN = 5.0, 2.0


def box(points, edge, *, history=True, material=GRAINS, shape=None, orientations=None):
    """Return spheres of diameter 1, or bodies of one shape, in a box without a lid."""
    walls = box_walls("box", (0, 0, 0), (edge, edge, 1000), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1), dt=DT, history=history)
    if shape is None:
        sim.insert(points, radii=0.5)
    else:
        sim.insert(points, shape=shape, orientations=orientations)
    return sim


def _kept(name, make):
    """Return arrays that are made once and kept in the folder for temporary files."""
    path = Path(tempfile.gettempdir()) / f"vicinal_{name}.npz"
    if not path.exists():
        np.savez(path, **make())
    with np.load(path) as file:
        return {key: file[key] for key in file.files}


def _poured(points, edge, *, rounds, **bodies):
    """Let bodies fall, with much damping, so that they soon lie still."""
    sim = box(points, edge, material=replace(GRAINS, gamma_n=12 * GAMMA), **bodies)
    sim.dt = 2 * DT
    for _ in range(rounds):
        sim.run(500)
        print(f"settling {len(sim)}: kinetic {sim.energies()['kinetic_translational']:.3g}", file=sys.stderr)
    return {"points": sim.positions, "orientations": sim.orientations}


def _grid(n, edge, spacing):
    per = int(edge / spacing)
    k = np.arange(n)
    points = (np.c_[k % per, k // per % per, k // per**2] + 0.5) * spacing
    return points + np.random.default_rng(0).uniform(-0.009, 0.009, (n, 3))


def settled(n):
    """Return centres of n spheres at rest in a box, and its edge: 10 000 as stored, others made once."""
    if n == 10_000:
        return np.load(BOX10K)["centres"] * 2.0**-26, TILE_EDGE
    edge = float(round((n / 25) ** 0.5))
    made = _kept(f"settled_{n}", lambda: _poured(_grid(n, edge, 1.02), edge, rounds=40))
    return made["points"], edge


# As large as a sphere of diameter 1, and about as high as half of its width.
TABLET = Tablet(radius=0.635, band=0.225, cap=0.184, rounding=0.04)


def shallow(n, shape=None):
    """Return centres, edge of the box and orientations of n bodies at rest in a few layers; made once.

    Poured without order from a small height.
    """
    edge = float(round((n / 4) ** 0.5))

    def make():
        return _poured(_grid(n, edge, 1.3), edge, rounds=100, shape=shape, orientations=_turns(n))

    made = _kept(f"shallow_{'spheres' if shape is None else 'tablets'}_{n}", make)
    return made["points"], edge, made["orientations"]


def _turns(n):
    q = np.random.default_rng(1).normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def tiles(n):
    """Return centres of n spheres: the settled box of 10 000, side by side; and the edge of the whole."""
    tile, _ = settled(10_000)
    per = int(np.ceil((n / len(tile)) ** 0.5))
    corners = TILE_EDGE * np.array([(i, j, 0) for i in range(per) for j in range(per)])
    points = (corners[:, None] + tile).reshape(-1, 3)
    return points[:n], TILE_EDGE * per


def read_case(folder, name):
    """Return (centres, radii, STL file) of a case of the open benchmark: rows x y z r."""
    rows = np.loadtxt(next(Path(folder).glob(f"{name}*.txt")))
    return rows[:, :3], rows[:, 3], next(Path(folder).glob(f"{name}*.stl"))


def impact(folder):
    """Return a bed that a ball of steel, ten times larger than its spheres, is about to hit; and the STL around it."""
    points, radii, stl = read_case(folder, "pen")
    ball = np.argmax(radii)
    # Just above the bed, so that the measured steps are those of the impact.
    points[ball] = 0, 0, (points[:, 2] + radii)[radii < radii[ball]].max() + radii[ball]
    walls = [MeshWall(name="walls", material="steel", **_triangles(stl))]
    sim = Simulation(materials=STEEL, pairs=STEEL_PAIRS, walls=walls, dt=5e-7)
    grains = np.arange(len(radii)) != ball
    sim.insert(points[grains], radii=radii[grains], material="grains")
    sim.insert(points[[ball]], radii=radii[[ball]], material="steel", velocities=[[0, 0, -IMPACT_SPEED]])
    return sim, stl


def drum(folder):
    """Return 38 000 spheres of two sizes in a turning drum of 1200 triangles, and its STL."""
    points, radii, stl = read_case(folder, "drum")
    walls = [MeshWall(name="drum", material="steel", spin=(0, DRUM_SPIN, 0), **_triangles(stl))]
    sim = Simulation(materials=STEEL, pairs=STEEL_PAIRS, walls=walls, dt=8e-7)
    sim.insert(points, radii=radii, material="grains")
    return sim, stl


def _triangles(stl):
    mesh = load_mesh(stl)
    return {"vertices": mesh.vertices, "faces": mesh.faces}
