"""Triangle meshes: reading them, and what is inside of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.errors import InputError
from vicinal.extras import need

Array = npt.NDArray[np.float64]

# A turn about an odd angle, so that no ray along the third axis runs through the edges of meshes that people build.
_ODD = np.linalg.qr(np.array([[0.9, 0.31, -0.17], [-0.23, 0.8, 0.41], [0.12, -0.37, 0.77]]))[0]


@dataclass(frozen=True)
class Mesh:
    """Corners and triangles."""

    vertices: Array
    faces: npt.NDArray[np.int32]

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
        # Files of triangles repeat every corner: equal coordinates are the same corner.
        _, same = np.unique(self.vertices, axis=0, return_inverse=True)
        faces = same.reshape(-1)[self.faces]
        edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
        _, counts = np.unique(edges, axis=0, return_counts=True)
        return int((counts % 2 == 1).sum())

    def contains(self, points: Array) -> npt.NDArray[np.bool_]:
        """Tell which points are inside: a ray from there crosses the surface an odd number of times."""
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
        # Barycentric coordinates in the plane of view, and the height at which the ray crosses.
        u, v, area = (_cross(b - a, p - a), _cross(p - a, c - a), _cross(b - a, c - a))
        with np.errstate(divide="ignore", invalid="ignore"):
            u, v = u / area, v / area
            height = a[:, 2] + v * (b - a)[:, 2] + u * (c - a)[:, 2]
            hit = (u >= 0) & (v >= 0) & (u + v <= 1) & (height > p[:, 2])
        return np.asarray(np.bincount(which[hit], minlength=len(points)) % 2 == 1)

    def _near(self, points: Array, radii: Array) -> tuple[npt.NDArray[Any], Array, Array]:
        """Find spheres and triangles that touch: the sphere, the way from the surface to its centre, its length."""
        corners, reach = self.corners, radii[:, None]
        which, triangle = vc.pairs(
            boxes=(corners.min(axis=1), corners.max(axis=1)), query_boxes=(points - reach, points + reach)
        )
        way = points[which] - closest_on_triangles(points[which], corners[triangle])
        length = np.linalg.norm(way, axis=1)
        close = length < radii[which]
        return which[close], way[close], length[close]

    def touches(self, points: Array, radii: Array) -> npt.NDArray[np.bool_]:
        """Tell which spheres touch the surface."""
        touching = np.zeros(len(points), bool)
        if len(points):
            touching[self._near(points, radii)[0]] = True
        return touching

    def pushed_off(self, points: Array, radii: Array) -> Array:
        """Move spheres away from the part of the surface that is closest, until they only just touch it."""
        moved = points.copy()
        which, way, length = self._near(points, radii)
        # The closest part comes last, and what is assigned last stays.
        order = np.argsort(-length, kind="stable")
        which, way, length = which[order], way[order], np.maximum(length[order], np.finfo(float).tiny)
        moved[which] = points[which] + way * ((1 + 1e-9) * radii[which] / length - 1)[:, None]
        return moved


def _cross(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def closest_on_triangles(points: Array, corners: Array) -> Array:
    """Return the point of each triangle that is closest to the point of the same row."""
    a, b, c = np.moveaxis(corners, 1, 0)
    normal = np.cross(b - a, c - a)
    square = np.maximum(np.einsum("ij,ij->i", normal, normal), np.finfo(float).tiny)
    height = np.einsum("ij,ij->i", points - a, normal) / square
    foot = points - height[:, None] * normal
    best: Array = np.array(foot)
    # Outside of the triangle the closest point is on one of the three edges.
    inside = np.ones(len(points), bool)
    for p, q in ((a, b), (b, c), (c, a)):
        inside &= np.einsum("ij,ij->i", np.cross(q - p, foot - p), normal) >= 0
    distance = np.full(len(points), np.inf)
    for p, q in ((a, b), (b, c), (c, a)):
        along = q - p
        length = np.maximum(np.einsum("ij,ij->i", along, along), np.finfo(float).tiny)
        share = np.clip(np.einsum("ij,ij->i", points - p, along) / length, 0, 1)
        spot = p + share[:, None] * along
        d = np.einsum("ij,ij->i", points - spot, points - spot)
        closer = ~inside & (d < distance)
        best[closer], distance[closer] = spot[closer], d[closer]
    return best


def load_mesh(file: str | Path, *, scale: float = 1.0, move: Any = (0.0, 0.0, 0.0)) -> Mesh:
    """Read triangles from an STL or OBJ file.

    Parameters
    ----------
    file
        The file.
    scale
        Factor on all coordinates.
    move
        Displacement after scaling.
    """
    need("reading a mesh", "dem", "trimesh")
    import trimesh

    if not Path(file).is_file():
        raise FileNotFoundError(f"{file}: no such mesh file")
    try:
        # The triangles as they stand in the file; nothing is joined or dropped.
        found = trimesh.load_mesh(str(file), process=False)
        vertices = np.asarray(found.vertices, np.float64)
        faces = np.asarray(found.faces, np.int32)
    except Exception as error:  # noqa: BLE001 - the reader raises whatever its parsers meet
        raise InputError(f"{file}: cannot be read as a mesh ({error}); give a STL or OBJ file of triangles") from None
    if not len(faces) or not np.isfinite(vertices).all():
        raise InputError(f"{file}: {len(faces)} triangles found; give a mesh with triangles and finite coordinates")
    return Mesh(vertices * scale + np.asarray(move, np.float64), faces)
