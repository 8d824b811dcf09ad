"""Simulations that dem.py measures."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from vicinal.dem import Material, MeshWall, Polyhedron, Simulation, Tablet, box_walls
from vicinal.sim.meshes import load_mesh

KN, GAMMA, FRICTION, DT = 2e5, 50.0, 0.5, 1e-4
GRAINS = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=0.0, friction=FRICTION)
# Without tangential springs friction needs a dashpot.
WITHOUT = Material(density=6 / np.pi, kn=KN, gamma_n=GAMMA, gamma_t=GAMMA, friction=FRICTION)
BOX10K = Path(__file__).parent.parent / "tests" / "dem" / "data" / "box10k.npz"
TILE_EDGE = 20.0  # of that box
# Bodies are at rest if their mean kinetic energy could lift a body by less than 1/10000 of its size.
AT_REST, MOST_ROUNDS = 1e-4, 400

# The open benchmark of Dosta et al., Comput. Phys. Commun. 296 (2024) 109066. M1 are the bed of the impact and the
# small grains of the drum, M2 its large ones.
NAMES = ("m1", "m2", "steel")
MODULI, DENSITIES, POISSON = np.array([1e9, 0.5e9, 210e9]), np.array([2500.0, 2000.0, 7200.0]), 0.2
RESTITUTION = np.array([[0.5, 0.45, 0.4], [0.45, 0.4, 0.4], [0.4, 0.4, 0.4]])
GRIP = np.array([[0.3, 0.2, 0.2], [0.2, 0.4, 0.2], [0.2, 0.2, 0.2]])
STEEL, GRAVITY, IMPACT_SPEED, DRUM_SPIN = 2, 9.81, 5.0, 2.0
STEPS = {"impact": 5e-7, "drum": 8e-7}


def box(points, edge, *, history=True, material=GRAINS, shape=None, orientations=None, comm=None):
    """Return spheres of diameter 1, or bodies of one shape, in a box without a lid. `edge`: one, or one per side."""
    corner = (*np.broadcast_to(edge, 2).tolist(), 1000)
    walls = box_walls("box", (0, 0, 0), corner, "m", sides=["-x", "+x", "-y", "+y", "-z"])
    settings = {"materials": {"m": material}, "law": "linear", "walls": walls, "gravity": (0, 0, -1), "dt": DT}
    sim = Simulation(**settings, history=history, **({} if comm is None else {"comm": comm}))
    if shape is None:
        sim.insert(points, radii=0.5)
    else:
        sim.insert(points, shape=shape, orientations=orientations)
    return sim


def _kept(name, make):
    """Return arrays that are computed once and cached in the folder for temporary files."""
    path = Path(tempfile.gettempdir()) / f"vicinal_{name}.npz"
    if not path.exists():
        np.savez(path, **make())
    with np.load(path) as file:
        return {key: file[key] for key in file.files}


def _poured(points, edge, **bodies):
    """Let bodies fall until they are at rest, with strong damping to speed this up."""
    sim = box(points, edge, material=replace(GRAINS, gamma_n=12 * GAMMA), **bodies)
    sim.dt = 2 * DT
    for _ in range(MOST_ROUNDS):
        sim.run(1000)
        each = sim.energies()["kinetic_translational"] / len(sim)
        print(f"settling {len(sim)}: kinetic energy {each:.3g} each", file=sys.stderr)
        if each < AT_REST:
            break
    return {"points": sim.positions, "orientations": sim.orientations}


def _grid(n, edge, spacing):
    per = int(edge / spacing)
    k = np.arange(n)
    points = (np.c_[k % per, k // per % per, k // per**2] + 0.5) * spacing
    return points + np.random.default_rng(0).uniform(-0.009, 0.009, (n, 3))


def settled(n):
    """Return centres of n spheres at rest in a box, and its edge: 10 000 as stored, others made once.

    k² times as many are the stored box and its mirror images side by side (`tiles`). Any other number is cut out of
    these, and settles between new walls, in a small part of the time that pouring it takes.
    """
    if n == 10_000:
        return np.load(BOX10K)["centres"] * 2.0**-26, TILE_EDGE
    per_edge = round((n / 10_000) ** 0.5)
    if n == 10_000 * per_edge**2:
        return tiles(n)
    points, _ = tiles(10_000 * int(np.ceil((n / 10_000) ** 0.5)) ** 2)
    away = points[:, :2].max(axis=1)  # from the corner of the first copy
    inside = np.argsort(away, kind="stable")[:n]
    edge = float(away[inside[-1]]) + 0.5
    made = _kept(f"cut_{n}", lambda: _poured(points[np.sort(inside)], edge))
    return made["points"], edge


# The volume is that of a sphere of diameter 1, and the height about half of the width.
TABLET = Tablet(radius=0.635, band=0.225, cap=0.184, rounding=0.04)

# A brick of the same volume.
_EDGES = np.array([1.0, 0.8, 0.65]) * (np.pi / 6 / 0.52) ** (1 / 3)
BRICK = Polyhedron(_EDGES * (np.array(list(np.ndindex(2, 2, 2))) - 0.5), rounding=0.04)


def shallow(n, shape=None):
    """Return centres, edge of the box and orientations of n bodies at rest in a few layers; computed once.

    They are poured at random from a small height.
    """
    edge = float(round((n / 4) ** 0.5))

    def make():
        # So far apart that bodies touch nothing in any orientation.
        spacing = 1.3 if shape is None else 2.1 * shape.properties().radius
        return _poured(_grid(n, edge, spacing), edge, shape=shape, orientations=_turns(n))

    name = "sphere" if shape is None else shape.kind
    made = _kept(f"shallow_{name}_{n}", make)
    return made["points"], edge, made["orientations"]


def _turns(n):
    q = np.random.default_rng(1).normal(size=(n, 4))
    return q / np.linalg.norm(q, axis=1, keepdims=True)


def tiles(n):
    """Return centres of n spheres: the settled box of 10 000 and its mirror images, side by side; and the edge of all.

    Neighbouring boxes are mirror images, so that a body that leaned on a wall between them leans on its own image.
    (Plain copies lose most of their contacts within a thousand steps.)
    """
    tile, _ = settled(10_000)
    per = int(np.ceil((n / len(tile)) ** 0.5))
    parts = []
    for i in range(per):
        for j in range(per):
            part = tile.copy()
            for axis, number in ((0, i), (1, j)):
                part[:, axis] = TILE_EDGE * number + (TILE_EDGE - part[:, axis] if number % 2 else part[:, axis])
            parts.append(part)
    return np.concatenate(parts)[:n], TILE_EDGE * per


@dataclass(frozen=True)
class Start:
    """The start of a case of the open benchmark: spheres, ordered by kind, and walls of triangles that may rotate."""

    case: str
    points: np.ndarray
    radii: np.ndarray
    kinds: np.ndarray
    velocities: np.ndarray
    stl: Path
    spin: float


def start(folder, case):
    """Read pen*.txt or drum*.txt (rows x y z r) and the STL beside it."""
    name = "pen" if case == "impact" else case
    x, y, z, radii = np.loadtxt(next(Path(folder).glob(f"{name}*.txt"))).T
    kinds = np.where(radii > 0.005, STEEL, np.where(radii > 0.0015, 1, 0))
    order = np.argsort(kinds, kind="stable")
    velocities = np.where(kinds[order, None] == STEEL, [0, 0, -IMPACT_SPEED], 0.0)
    stl, spin = next(Path(folder).glob(f"{name}*.stl")), DRUM_SPIN if case == "drum" else 0.0
    return Start(case, np.c_[x, y, z][order], radii[order], kinds[order], velocities, stl, spin)


def lowered(begin, height):
    """Return an impact from the moment at which the falling ball is at a height, and that moment."""
    points, velocities = begin.points.copy(), begin.velocities.copy()
    speed = float(np.sqrt(IMPACT_SPEED**2 + 2 * GRAVITY * (points[-1, 2] - height)))
    points[-1, 2], velocities[-1, 2] = height, -speed
    return replace(begin, points=points, velocities=velocities), (speed - IMPACT_SPEED) / GRAVITY


def about_to_hit(begin):
    """Return an impact with the ball just above the bed, so that the first steps are those of the impact."""
    top = (begin.points + begin.radii[:, None])[begin.kinds != STEEL, 2].max()
    return lowered(begin, float(top + begin.radii[-1]))[0]


def simulation(begin, dt, soften=1.0):
    """Return a case of the open benchmark; bodies keep their order. Moduli are divided by `soften`."""
    materials = {
        name: Material(density=density, youngs_modulus=modulus / soften, poisson_ratio=POISSON)
        for name, density, modulus in zip(NAMES, DENSITIES, MODULI, strict=True)
    }
    pairs = {
        (NAMES[a], NAMES[b]): {"restitution": RESTITUTION[a, b], "friction": GRIP[a, b]}
        for a in range(len(NAMES))
        for b in range(a, len(NAMES))
    }
    mesh = load_mesh(begin.stl)
    walls = [
        MeshWall(name="walls", material="steel", vertices=mesh.vertices, faces=mesh.faces, spin=(0, begin.spin, 0))
    ]
    sim = Simulation(materials=materials, pairs=pairs, walls=walls, gravity=(0, 0, -GRAVITY), dt=dt)
    for kind, name in enumerate(NAMES):
        of = begin.kinds == kind
        if of.any():
            sim.insert(begin.points[of], radii=begin.radii[of], material=name, velocities=begin.velocities[of])
    return sim
