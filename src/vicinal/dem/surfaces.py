"""Surfaces of bodies that are not spheres, as triangles, for pictures."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import numpy.typing as npt

from vicinal.dem.shapes import Polyhedron, Shape, Tablet
from vicinal.dem.simulation import Simulation
from vicinal.dem.snapshot import Snapshot
from vicinal.sim.walls import rotated

Array = npt.NDArray[np.float64]

SEGMENTS = 16
"""Corners around the axis of a tablet."""

RINGS = 3
"""Rings between the middle of a cap and its edge."""


def surface(shape: Shape) -> Array:
    """Return the triangles of a tablet or polyhedron as given, shape (m, 3, 3), counter-clockwise from outside.

    Examples
    --------
    >>> surface(Polyhedron([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])).shape
    (4, 3, 3)
    """
    if isinstance(shape, Tablet):
        return _tablet(shape)
    if isinstance(shape, Polyhedron):
        return _hull(np.asarray(shape.vertices))
    return np.zeros((0, 3, 3))


def _tablet(shape: Tablet) -> Array:
    ball = shape.cap_radius
    out = shape.radius * np.arange(RINGS + 1) / RINGS
    height = 0.5 * shape.band + shape.cap - ball + np.sqrt(ball**2 - out**2)
    profile = [*zip(out, height, strict=True), *zip(out[::-1], -height[::-1], strict=True)]
    # The last corner has the bits of the first, so that the surface is closed.
    angle = 2 * np.pi * (np.arange(SEGMENTS + 1) % SEGMENTS) / SEGMENTS
    rings = [np.stack([r * np.cos(angle), r * np.sin(angle), np.full(len(angle), z)], axis=1) for r, z in profile]
    parts = []
    for upper, lower in pairwise(rings):
        parts.append(np.stack([upper[:-1], lower[:-1], lower[1:]], axis=1))
        parts.append(np.stack([upper[:-1], lower[1:], upper[1:]], axis=1))
    triangles = np.concatenate(parts)
    # At the poles one of the two triangles has no area.
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    return np.asarray(triangles[area > 1e-12 * shape.radius**2])


def _hull(points: Array) -> Array:
    """Return the faces of the convex hull of a few points: three points span a face if the rest is on one side."""
    scale = float(np.ptp(points, axis=0).max())
    triangles: list[Array] = []
    seen: set[tuple[int, ...]] = set()
    for i, j, k in combinations(range(len(points)), 3):
        normal = np.cross(points[j] - points[i], points[k] - points[i])
        length = float(np.linalg.norm(normal))
        if length < 1e-12 * scale**2:
            continue
        normal /= length
        side = (points - points[i]) @ normal
        if side.max() > 1e-9 * scale:
            if side.min() < -1e-9 * scale:
                continue
            normal, side = -normal, -side
        on = np.flatnonzero(np.abs(side) <= 1e-9 * scale)
        if tuple(on) in seen:
            continue
        seen.add(tuple(on))
        middle = points[on].mean(axis=0)
        right = points[on[0]] - middle
        up = np.cross(normal, right)
        arms = points[on] - middle
        ring = points[on[np.argsort(np.arctan2(arms @ up, arms @ right))]]
        triangles += [np.array([ring[0], ring[n], ring[n + 1]]) for n in range(1, len(ring) - 1)]
    return np.array(triangles)


def surfaces(sim: Simulation | Snapshot) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return the triangles of all tablets and polyhedra in their present pose, and the body id of each triangle."""
    corners, owners = [np.zeros((0, 3, 3))], [np.zeros(0, np.int64)]
    kinds = sim.shape_ids
    if len(sim.shapes) and len(kinds):
        positions, orientations, ids = sim.positions, sim.orientations, sim.ids
        for number, shape in enumerate(sim.shapes):
            own = surface(shape)
            if not len(own):
                continue
            local = own - shape.properties().centre
            for row in np.flatnonzero(kinds == number):
                corners.append(positions[row] + rotated(orientations[row], local))
                owners.append(np.full(len(local), ids[row]))
    return np.concatenate(corners), np.concatenate(owners)
