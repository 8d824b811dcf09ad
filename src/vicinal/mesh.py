"""Surfaces of triangles, fixed or moving as rigid bodies, and their contacts with spheres."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._contact_checks import Ids
from vicinal._pose import Pose, Vectors, check_finite, check_rotation, check_vector, rotation_about, unit
from vicinal.bodies import check_spheres
from vicinal.errors import InputError
from vicinal.structures.bvh import BVH, boxes_around

# Fourth powers of larger coordinates overflow.
LARGEST = 1e70
# Faces with a smaller angle between them are coplanar up to rounding.
FLAT = 1e-6

FACE, EDGE, VERTEX = 0, 1, 2


@dataclass(frozen=True, eq=False)
class MeshContacts:
    """Contacts of spheres with a mesh, ordered by body, then by key, in world coordinates.

    Parameters
    ----------
    body
        Number of the sphere.
    triangle
        Triangle of the contact point.
    feature
        Feature of the triangle: 0 its face, 1 an edge, 2 a vertex.
    key
        Number of the feature, below `Mesh.keys`, which identifies a contact from step to step: a patch of faces that
        continue each other has one key, a sharp edge or vertex has its own. No body has a key twice.
    point
        Point of the mesh closest to the centre of the sphere, shape (m, 3).
    normal
        Unit vector from the point to the centre, shape (m, 3).
    distance
        Distance from the point to the centre.
    overlap
        Radius of the sphere minus the distance.
    velocity
        Velocity of the mesh at the point, shape (m, 3).
    """

    body: Ids
    triangle: Ids
    feature: npt.NDArray[np.int8]
    key: Ids
    point: Vectors
    normal: Vectors
    distance: npt.NDArray[np.float64]
    overlap: npt.NDArray[np.float64]
    velocity: Vectors

    def __len__(self) -> int:
        """Return the number of contacts."""
        return len(self.body)


class Mesh:
    """A surface of triangles that spheres can touch; it may move as a rigid body without rebuilding its search tree.

    Corners with exactly equal coordinates are one vertex. Triangles have no inside: the normal points to the side of
    the sphere's centre.

    Parameters
    ----------
    triangles
        Corners, shape (m, 3, 3). Or:
    vertices, faces
        Coordinates, shape (v, 3), and the numbers of the three vertices of each triangle, shape (m, 3).
    smooth
        Faces that meet at a smaller angle than this, in degrees, form one patch: a contact that rolls from one to the
        other keeps its key. The default, 0, joins only coplanar faces.

    Examples
    --------
    >>> floor = [[[0, 0, 0], [4, 0, 0], [4, 4, 0]], [[0, 0, 0], [4, 4, 0], [0, 4, 0]]]
    >>> mesh = vicinal.Mesh(floor)
    >>> touching = mesh.contacts([[2.0, 2.0, 0.5], [1.0, 3.0, 2.0], [4.5, 1.0, 0.0]], radii=0.75)
    >>> touching.body.tolist(), touching.overlap.tolist(), touching.normal.tolist()
    ([0, 2], [0.25, 0.25], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    >>> mesh.translate([0.0, 0.0, 1.5])
    >>> mesh.contacts([[2.0, 2.0, 0.5], [1.0, 3.0, 2.0]], radii=0.75).body.tolist()
    [1]
    """

    def __init__(
        self,
        triangles: npt.ArrayLike | None = None,
        *,
        vertices: npt.ArrayLike | None = None,
        faces: npt.ArrayLike | None = None,
        smooth: float = 0.0,
    ) -> None:
        corners = _check_corners(triangles, vertices, faces)
        degrees = check_finite(smooth, "smooth")
        if not 0 <= degrees <= 180:
            raise InputError(f"smooth must be an angle from 0 to 180 degrees, got {smooth}")
        self._places, numbers = _unique_places(corners.reshape(-1, 3))
        self._faces: Ids = np.ascontiguousarray(numbers.reshape(-1, 3), dtype=np.int32)
        ends = np.sort(np.stack([self._faces, np.roll(self._faces, -1, axis=1)], axis=-1).astype(np.int64), axis=-1)
        edges, of_side = np.unique(ends[..., 0] * len(self._places) + ends[..., 1], return_inverse=True)
        face_edges = np.ascontiguousarray(of_side.reshape(-1, 3), dtype=np.int32)
        self._surface = self._places, self._faces, face_edges, len(edges)
        self._feature_keys, patches = _core.mesh_keys(self._surface, float(np.cos(max(np.radians(degrees), FLAT))))
        self._keys = len(self._feature_keys) + patches
        self._tree = BVH(triangles=corners)
        # Computed distances may be too small by rounding; the search must cover that.
        self._slack = float(np.abs(corners).max(initial=0.0)) * 2.0**-46
        self._smooth = degrees
        self._pose = Pose()
        self.set_motion()

    def __len__(self) -> int:
        """Return the number of triangles."""
        return len(self._faces)

    def __repr__(self) -> str:
        """Return numbers of triangles, edges and vertices."""
        return f"Mesh({len(self)} triangles, {self._surface[3]} edges, {len(self._places)} vertices)"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the triangles and the motion; the copy builds its own search tree."""
        motion = self._pose, self._velocity, self._spin, self._origin
        return _rebuilt, (self._places[self._faces], self._smooth, motion)

    @property
    def keys(self) -> int:
        """Number of keys, which number the features that can be touched from 0 on."""
        return self._keys

    @property
    def vertices(self) -> Vectors:
        """Current coordinates of the vertices, read-only."""
        return _check.locked(self._pose.out(self._places))

    @property
    def faces(self) -> Ids:
        """Numbers of the three vertices of each triangle, read-only."""
        return _check.locked(self._faces)

    @property
    def triangles(self) -> Vectors:
        """Current corners of the triangles, shape (m, 3, 3), read-only."""
        return _check.locked(self._pose.out(self._places)[self._faces])

    # ---------------------------------------------------------------------------- motion

    @property
    def rotation(self) -> Vectors:
        """Rotation matrix of the mesh relative to its original orientation, read-only."""
        return _check.locked(self._pose.rotation)

    @property
    def translation(self) -> Vectors:
        """Current position of the original origin, read-only."""
        return _check.locked(self._pose.translation)

    def place(self, rotation: npt.ArrayLike | None = None, translation: npt.ArrayLike | None = None) -> None:
        """Place the mesh: rotate the original by a matrix, then translate it.

        Examples
        --------
        >>> mesh = vicinal.Mesh([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
        >>> mesh.place(translation=[0, 0, 5])
        >>> mesh.triangles[0].tolist()
        [[0.0, 0.0, 5.0], [1.0, 0.0, 5.0], [0.0, 1.0, 5.0]]
        """
        self._pose = Pose(
            np.eye(3) if rotation is None else check_rotation(rotation),
            np.zeros(3) if translation is None else check_vector(translation, "translation"),
        )

    def translate(self, offset: npt.ArrayLike) -> None:
        """Move the mesh."""
        self._pose = self._pose.moved(check_vector(offset, "offset"))

    def rotate(self, angle: float, axis: npt.ArrayLike, origin: npt.ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Rotate the mesh by an angle in radians about an axis through a point; right-handed.

        Examples
        --------
        >>> mesh = vicinal.Mesh([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
        >>> mesh.rotate(np.pi / 2, axis=[0, 0, 1])
        >>> mesh.triangles[0].round(12).tolist()
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]
        """
        direction = unit(check_vector(axis, "axis"), "axis")
        turn = rotation_about(direction, check_finite(angle, "angle"))
        self._pose = self._pose.turned(turn, check_vector(origin, "origin"))

    def set_motion(
        self,
        velocity: npt.ArrayLike = (0.0, 0.0, 0.0),
        spin: npt.ArrayLike = (0.0, 0.0, 0.0),
        origin: npt.ArrayLike = (0.0, 0.0, 0.0),
    ) -> None:
        """Set the motion of the mesh for `advance` and the velocities of contacts.

        Parameters
        ----------
        velocity
            Velocity of the origin.
        spin
            Angular velocity: a vector along the axis whose length is the radians per unit of time.
        origin
            A point on the axis; it moves with the mesh.
        """
        self._velocity = check_vector(velocity, "velocity")
        self._spin = check_vector(spin, "spin")
        self._origin = check_vector(origin, "origin")

    def advance(self, dt: float) -> None:
        """Move the mesh for a time as set by `set_motion`; exact for any time.

        Examples
        --------
        >>> mesh = vicinal.Mesh([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
        >>> mesh.set_motion(velocity=[0, 0, 2], spin=[0, 0, np.pi])
        >>> mesh.advance(0.5)
        >>> mesh.triangles[0].round(12).tolist()
        [[0.0, 0.0, 1.0], [0.0, 1.0, 1.0], [-1.0, 0.0, 1.0]]
        """
        time = check_finite(dt, "dt")
        if self._spin.any():
            speed = float(np.sqrt((self._spin * self._spin).sum()))
            turn = rotation_about(unit(self._spin, "spin"), speed * time)
            self._pose = self._pose.turned(turn, self._origin)
        if self._velocity.any():
            self._pose = self._pose.moved(self._velocity * time)
            self._origin = self._origin + self._velocity * time

    def velocity_at(self, points: npt.ArrayLike) -> Vectors:
        """Return the velocity of the mesh at points, shape (n, 3).

        Examples
        --------
        >>> mesh = vicinal.Mesh([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
        >>> mesh.set_motion(velocity=[0, 0, 2], spin=[0, 0, 3])
        >>> mesh.velocity_at([[1.0, 0.0, 0.0]]).tolist()
        [[0.0, 3.0, 2.0]]
        """
        places = _check_space(_check.check_points(points).array)
        return self._velocity + np.cross(self._spin, places - self._origin)

    # ---------------------------------------------------------------------------- contacts

    def contacts(self, points: npt.ArrayLike, radii: npt.ArrayLike) -> MeshContacts:
        """Find the contacts of spheres with the mesh.

        A sphere touches the mesh where the distance from its centre to the surface has a local minimum that is not
        greater than its radius. So a sphere on a flat floor of many triangles has one contact, one in a concave corner
        has one with each wall, and one at a convex edge has one with the edge. All triangles within the radius are
        tested; the closest points of two contacts are at least 1/65536 of the radius apart.

        Parameters
        ----------
        points
            Centres, shape (n, 3).
        radii
            One per sphere, or one for all.

        Examples
        --------
        >>> corner = [[[0, 0, 0], [4, 0, 0], [0, 4, 0]], [[0, 0, 0], [0, 4, 0], [0, 0, 4]]]
        >>> touching = vicinal.Mesh(corner).contacts([[0.5, 1.0, 0.5]], radii=0.625)
        >>> touching.triangle.tolist(), touching.normal.tolist(), touching.overlap.tolist()
        ([0, 1], [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [0.125, 0.125])
        """
        given = check_spheres(_check.check_points(points).array.astype(np.float64), radii, 0.0)
        places = np.ascontiguousarray(self._pose.into(_check_space(given.array)))
        sizes: Any = given.extra
        around = boxes_around(places, sizes * (1 + 2.0**-40) + self._slack)
        near = self._tree.neighbors(query_boxes=around)
        offsets = near.offsets if len(places) else np.zeros(1, np.int64)
        body, face, kind, key, point, normal, distance = _core.mesh_touches(
            self._surface, self._feature_keys, places, sizes, offsets, near.indices
        )
        there = self._pose.out(point)
        return MeshContacts(
            body=body,
            triangle=face,
            feature=kind,
            key=key,
            point=there,
            normal=self._pose.turn_out(normal),
            distance=distance,
            overlap=sizes[body] - distance,
            velocity=self.velocity_at(there),
        )

    def nearest(self, points: npt.ArrayLike, reach: float) -> tuple[Vectors, Vectors]:
        """Return the distance from points to the surface, and the vectors there.

        Beyond `reach`, the distance is infinite where no triangle was found and not less than `reach` elsewhere.

        Examples
        --------
        >>> mesh = vicinal.Mesh([[[0, 0, 0], [4, 0, 0], [0, 4, 0]]])
        >>> distance, way = mesh.nearest([[1.0, 1.0, -0.5], [9.0, 9.0, 9.0]], reach=1.0)
        >>> distance.tolist(), way.tolist()
        ([0.5, inf], [[0.0, 0.0, 0.5], [0.0, 0.0, 0.0]])
        """
        places = np.ascontiguousarray(self._pose.into(_check_space(_check.check_points(points).array.astype(float))))
        limit = check_finite(reach, "reach")
        if limit <= 0:
            raise InputError(f"reach must be above 0, got {limit}")
        distance, way = np.full(len(places), np.inf), np.zeros(places.shape)
        # From near to far: within the whole reach there may be very many triangles.
        left, radius = np.arange(len(places)), limit / 16
        while len(left):
            around = boxes_around(places[left], np.full(len(left), radius * (1 + 2.0**-40) + self._slack))
            near = self._tree.neighbors(query_boxes=around)
            distance[left], way[left] = _core.mesh_nearest(self._surface, places[left], near.offsets, near.indices)
            left = left[distance[left] > radius] if radius < limit else left[:0]
            radius = min(2 * radius, limit)
        return distance, self._pose.turn_out(way)

    # ---------------------------------------------------------------------------- files

    @classmethod
    def load(cls, path: str | Path, *, smooth: float = 0.0) -> Mesh:
        """Read a mesh from an STL, OBJ or PLY file; needs trimesh."""
        from vicinal.io.meshes import read_mesh

        vertices, faces = read_mesh(path)
        return cls(vertices=vertices, faces=faces, smooth=smooth)


def _rebuilt(corners: Vectors, smooth: float, motion: tuple[Pose, Vectors, Vectors, Vectors]) -> Mesh:
    """Return the mesh that a pickle describes."""
    made = Mesh(corners, smooth=smooth)
    made._pose, made._velocity, made._spin, made._origin = motion  # noqa: SLF001
    return made


def _unique_places(corners: Vectors) -> tuple[Vectors, npt.NDArray[np.int64]]:
    """Return distinct rows and the number of each corner's row; `numpy.unique` by rows is far slower."""
    order = np.lexsort(corners.T[::-1])
    ordered = corners[order]
    new = np.ones(len(corners), bool)
    new[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    numbers = np.empty(len(corners), np.int64)
    numbers[order] = np.cumsum(new) - 1
    return np.ascontiguousarray(ordered[new]), numbers


def _check_space(points: npt.NDArray[Any]) -> Vectors:
    if points.shape[1] != 3:
        raise InputError(f"points must have shape (n, 3), got {points.shape}")
    return points


def _check_corners(triangles: object, vertices: object, faces: object) -> Vectors:
    """Check triangles and return their corners, shape (m, 3, 3)."""
    if triangles is None:
        if vertices is None or faces is None:
            raise InputError("pass triangles, or both vertices= and faces=")
        return _check_faces(faces, _check_places(vertices, "vertices"))
    if vertices is not None or faces is not None:
        raise InputError("triangles must not be combined with vertices= or faces=; pass one or the other")
    array = _check.as_array(triangles, "triangles")
    if array.size == 0:
        array = np.zeros((0, 3, 3))
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(f"triangles must have shape (m, 3, 3), three corners of each triangle, got {array.shape}")
    return _check_places(array.reshape(-1, 3), "triangles").reshape(-1, 3, 3)


def _check_places(value: object, name: str) -> Vectors:
    array = _check.as_array(value, name)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "fiu":
        raise InputError(
            f"{name} must be real numbers of shape (v, 3), got shape {array.shape} and dtype {array.dtype}"
        )
    places: Vectors = array.astype(np.float64) + 0.0  # -0 becomes 0: corners with equal coordinates are one vertex
    wrong = np.flatnonzero(~(np.abs(places) <= LARGEST).all(axis=1))
    if len(wrong):
        row = wrong[0] if name == "vertices" else wrong[0] // 3
        raise InputError(f"{name} must be finite and at most {LARGEST:g}, got {places[wrong[0]].tolist()} in row {row}")
    return places


def _check_faces(value: object, places: Vectors) -> Vectors:
    numbers = _check.as_array(value, "faces")
    if numbers.size == 0:
        return np.zeros((0, 3, 3))
    if numbers.ndim != 2 or numbers.shape[1] != 3 or numbers.dtype.kind not in "iu":
        raise InputError(
            f"faces must be whole numbers of shape (m, 3), got shape {numbers.shape} and dtype {numbers.dtype}"
        )
    wrong = numbers[(numbers < 0) | (numbers >= len(places))]
    if len(wrong):
        raise InputError(f"faces must hold numbers from 0 to {len(places) - 1}, got {wrong[0]}")
    corners: Vectors = places[numbers]
    return corners
