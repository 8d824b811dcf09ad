"""The bodies of `vicinal.dem` as solids that a fluid surrounds."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from vicinal.dem.shapes import Clump, Shape
from vicinal.dem.surfaces import surface
from vicinal.sim.walls import MeshWall, rotated
from vicinal.sph.solids import MeshSolid, Solid, in_space

Array = npt.NDArray[np.float64]
BodySolid: TypeAlias = "BallsSolid | MeshSolid"

FINE = 400
"""Points along the longer edge of a section whose area is counted."""


class BallsSolid(Solid):
    """The union of balls: a sphere, or a clump."""

    curved = True

    def __init__(self, centres: Array, radii: Array, dim: int) -> None:
        self.centres, self.radii, self.dim = centres, radii, dim

    def depths(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return depths in the ball in which a point is deepest, and directions away from its centre."""
        places = in_space(points)
        depth, out = np.full(len(points), -np.inf), np.zeros((len(points), 3))
        for centre, radius in zip(self.centres, self.radii, strict=True):
            away = places - centre
            length = np.linalg.norm(away, axis=1)
            here = radius - length
            deeper = here > depth
            depth[deeper] = here[deeper]
            out[deeper] = (away / np.maximum(length, np.finfo(float).tiny)[:, None])[deeper]
        flat = out[:, : self.dim]
        if self.dim == 2:
            flat = flat / np.maximum(np.linalg.norm(flat, axis=1), np.finfo(float).tiny)[:, None]
        return np.clip(depth, -reach, reach), flat

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounding box."""
        low, high = self.centres - self.radii[:, None], self.centres + self.radii[:, None]
        return low.min(axis=0)[: self.dim], high.max(axis=0)[: self.dim]


def body_solid(shape: Shape | None, radius: float, dim: int, centre: Array, orientation: Array) -> BodySolid:
    """Return a body as a solid: a sphere without a shape, or a shape in a pose."""
    if shape is None:
        return BallsSolid(centre[None], np.array([radius]), dim)
    middle = shape.properties().centre
    if isinstance(shape, Clump):
        arms = rotated(orientation, shape.offsets - middle)
        return BallsSolid(centre + arms, np.asarray(shape.radii), dim)
    corners = (centre + rotated(orientation, surface(shape) - middle)).reshape(-1, 3)
    # Corners of neighbouring triangles are the same point.
    vertices, which = np.unique(corners, axis=0, return_inverse=True)
    faces = which.reshape(-1, 3).astype(np.int32)
    return MeshSolid(MeshWall(name="a body", material="", vertices=vertices, faces=faces), dim)


def ball_particles(radius: float, spacing: float, layers: int, dim: int) -> tuple[Array, Array]:
    """Return wall particles of a ball around 0, or of a disc, and their normals: shells half a spacing, 1.5, … deep.

    Every shell has as many particles as fit into its volume, evenly spread.

    Examples
    --------
    >>> points, normals = ball_particles(2.5, 1.0, 3, dim=2)
    >>> np.linalg.norm(points, axis=1).round(6).tolist() == [2.0] * 13 + [1.0] * 6 + [0.0]
    True
    """
    points = [np.zeros((0, dim))]
    for layer in range(layers):
        outer = radius - layer * spacing
        inner = max(0.0, outer - spacing)
        volume = np.pi * (outer**2 - inner**2) if dim == 2 else 4 / 3 * np.pi * (outer**3 - inner**3)
        count = round(volume / spacing**dim)
        if outer <= 0 or count == 0:
            break
        # The golden angle spreads points on a sphere, and turns every ring against the one before.
        turn = np.pi * (3 - np.sqrt(5))
        if dim == 2:
            angle = turn * layer + 2 * np.pi * np.arange(count) / count
            shell = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        else:
            height = 1 - (2 * np.arange(count) + 1) / count
            angle, across = turn * np.arange(count), np.sqrt(1 - height**2)
            shell = np.stack([across * np.cos(angle), across * np.sin(angle), height], axis=1)
        points.append(shell * max(0.0, 0.5 * (outer + inner)) if count > 1 else np.zeros((1, dim)))
    places = np.concatenate(points)
    length = np.linalg.norm(places, axis=1, keepdims=True)
    return places, places / np.maximum(length, np.finfo(float).tiny)


def section_area(solid: BodySolid) -> float:
    """Return the area of the section of a body with the plane z = 0.

    Examples
    --------
    >>> disc = BallsSolid(np.zeros((1, 3)), np.array([2.0]), 2)
    >>> round(section_area(disc) / np.pi, 9)
    4.0
    """
    if isinstance(solid, MeshSolid):  # convex, as tablets and polyhedra are
        places = solid.outline.reshape(-1, 2)
        arms = places - places.mean(axis=0)
        ring = arms[np.argsort(np.arctan2(arms[:, 1], arms[:, 0]))]
        after = np.roll(ring, -1, axis=0)
        return float(0.5 * (ring[:, 0] * after[:, 1] - ring[:, 1] * after[:, 0]).sum())
    if len(solid.radii) == 1:
        return float(np.pi * (solid.radii[0] ** 2 - solid.centres[0, 2] ** 2))
    low, high = solid.bounds()
    step = float((high - low).max()) / FINE
    axes = [np.arange(a + 0.5 * step, b, step) for a, b in zip(low, high, strict=True)]
    points = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)
    return float((solid.depths(points, np.inf)[0] > 0).sum() * step**2)
