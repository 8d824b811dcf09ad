"""Particle-steps per second of Yade for the bricks of `dem.py polyhedra`, which must have run before.

    yade -n -x -j1 benchmarks/yade_bricks.py

Yade (Debian: yade) starts from the same positions and orientations. Its law is another one: the force follows from the
volume of the overlap.
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from yade import O, Vector3, polyhedra_utils, utils
from yade.wrapper import (
    Bo1_Polyhedra_Aabb,
    Bo1_Wall_Aabb,
    ForceResetter,
    Ig2_Polyhedra_Polyhedra_PolyhedraGeom,
    Ig2_Wall_Polyhedra_PolyhedraGeom,
    InsertionSortCollider,
    InteractionLoop,
    Ip2_PolyhedraMat_PolyhedraMat_PolyhedraPhys,
    Law2_PolyhedraGeom_PolyhedraPhys_Volumetric,
    NewtonIntegrator,
    PolyhedraMat,
)

STEPS = 100
EDGES = np.array([1.0, 0.8, 0.65]) * (np.pi / 6 / 0.52) ** (1 / 3)  # as in dem_cases.py


def matrix(w, x, y, z):
    """Return the rotation of a quaternion."""
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )


with np.load(Path(tempfile.gettempdir()) / "vicinal_shallow_polyhedron_500.npz") as start:
    centres, orientations = start["points"], start["orientations"]
edge = float(round((len(centres) / 4) ** 0.5))
corners = EDGES * (np.array(list(np.ndindex(2, 2, 2))) - 0.5)
stone = PolyhedraMat(density=6 / np.pi, young=2e5, poisson=2e5 * 2 / 7, frictionAngle=float(np.arctan(0.5)))
for centre, turned in zip(centres, orientations, strict=True):
    placed = corners @ matrix(*turned).T + centre
    O.bodies.append(polyhedra_utils.polyhedra(stone, v=[Vector3(*map(float, corner)) for corner in placed]))
for axis, places in enumerate(((0, edge), (0, edge), (0,))):
    for place in places:
        O.bodies.append(utils.wall(place, axis=axis, sense=-1 if place else 1, material=stone))
O.engines = [
    ForceResetter(),
    InsertionSortCollider([Bo1_Polyhedra_Aabb(), Bo1_Wall_Aabb()], verletDist=0.05),
    InteractionLoop(
        [Ig2_Wall_Polyhedra_PolyhedraGeom(), Ig2_Polyhedra_Polyhedra_PolyhedraGeom()],
        [Ip2_PolyhedraMat_PolyhedraMat_PolyhedraPhys()],
        [Law2_PolyhedraGeom_PolyhedraPhys_Volumetric()],
    ),
    NewtonIntegrator(damping=0.3, gravity=(0, 0, -1)),
]
O.dt = 1e-4
O.run(5, True)
begin = time.process_time()
O.run(STEPS, True)
speed = len(centres) * STEPS / (time.process_time() - begin) / 1e6
contacts = O.interactions.countReal() / len(centres)
print(f"million particle-steps per CPU second, {STEPS} steps")
print(f"Yade, {len(centres)} bricks ({contacts:.2f} contacts per body): {speed:.4f}")
sys.stdout.flush()
os._exit(0)  # Yade waits for its console otherwise
