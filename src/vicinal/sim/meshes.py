"""Triangle meshes of regions and walls: reading, volume and point-in-mesh tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.io.meshes import read_mesh

Array = npt.NDArray[np.float64]

# An arbitrary rotation, so that rays along the third axis do not hit edges of axis-aligned meshes.
_ODD = np.linalg.qr(np.array([[0.9, 0.31, -0.17], [-0.23, 0.8, 0.41], [0.12, -0.37, 0.77]]))[0]


@dataclass(frozen=True)
class SurfaceMesh:
    """Vertices and triangles of a surface; a closed surface has an inside.

    Examples
    --------
    >>> corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1.0]])
    >>> mesh = SurfaceMesh(corners, np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32))
    >>> mesh.open_edges, round(mesh.volume, 3), mesh.contains(np.array([[0.1, 0.1, 0.1], [1, 1, 1.0]])).tolist()
    (0, 0.167, [True, False])
    """

    vertices: Array
    faces: npt.NDArray[np.int32]

    @cached_property
    def _search(self) -> vc.Mesh:
        return vc.Mesh(vertices=self.vertices, faces=self.faces)

    @property
    def corners(self) -> Array:
        """The corners of every triangle, shape (m, 3, 3)."""
        return self.vertices[self.faces]

    @property
    def volume(self) -> float:
        """The volume inside, if the mesh is closed."""
        a, b, c = np.moveaxis(self.corners - self.vertices.mean(axis=0), 1, 0)
        return abs(float(np.einsum("ij,ij->", a, np.cross(b, c)))) / 6

    @property
    def open_edges(self) -> int:
        """Number of edges that do not belong to two triangles."""
        # Files of triangles repeat vertices, so equal coordinates count as the same vertex.
        faces = self._search.faces
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        return int((counts % 2 == 1).sum())

    def contains(self, points: Array) -> npt.NDArray[np.bool_]:
        """Return which points are inside: a ray from such a point crosses the surface an odd number of times."""
        inside = np.zeros(len(points), bool)
        if not len(points):
            return inside
        turned, corners = points @ _ODD, self.corners @ _ODD
        flat = corners[:, :, :2]
        which, triangle = vc.pairs(
            boxes=(flat.min(axis=1), flat.max(axis=1)), query_boxes=(turned[:, :2].copy(), turned[:, :2].copy())
        )
        a, b, c = np.moveaxis(corners[triangle], 1, 0)
        p = turned[which]
        # Barycentric coordinates in the plane perpendicular to the ray, and the height of the intersection.
        u, v, area = (_cross(b - a, p - a), _cross(p - a, c - a), _cross(b - a, c - a))
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = u / area, v / area
            height = a[:, 2] + v * (b - a)[:, 2] + u * (c - a)[:, 2]
            hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (height > p[:, 2])
        return np.asarray(np.bincount(which[hit], minlength=len(points)) % 2 == 1)

    def touches(self, points: Array, radii: Array) -> npt.NDArray[np.bool_]:
        """Return which spheres touch the surface."""
        touching = np.zeros(len(points), bool)
        if len(points):
            touching[self._search.contacts(points, radii).body] = True
        return touching

    def nearest(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return the distance from points to the surface and the vectors there; infinity and 0 beyond `reach`."""
        return self._search.nearest(points, reach)

    def pushed_off(self, points: Array, radii: Array) -> Array:
        """Move spheres away from the nearest point of the surface until they no longer touch it."""
        moved = points.copy()
        if len(points):
            contacts = self._search.contacts(points, radii)
            # The closest contact of a sphere is last and overwrites the others.
            order = np.argsort(-contacts.distance, kind="stable")
            body = contacts.body[order]
            moved[body] = contacts.point[order] + contacts.normal[order] * ((1 + 1e-9) * radii[body])[:, None]
        return moved


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def load_mesh(file: str | Path, *, scale: float = 1.0, move: Any = (0.0, 0.0, 0.0)) -> SurfaceMesh:
    """Read a mesh from an STL, OBJ or PLY file.

    Parameters
    ----------
    file
        The file.
    scale
        Factor on all coordinates.
    move
        Displacement after scaling.
    """
    vertices, faces = read_mesh(file)
    return SurfaceMesh(vertices * scale + np.asarray(move, np.float64), faces)
