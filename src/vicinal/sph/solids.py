"""What walls keep fluid out of: how deep points are inside a wall, and the way out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.meshes import SurfaceMesh
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, rotated

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

CHUNK = 1 << 18
"""Points whose distances to the segments of an outline are held in memory at a time."""


class Solid(ABC):
    """The side of a wall without fluid, in the pose that the wall has now, in 2D (x, y) or 3D."""

    wall: Wall
    curved: bool
    """Whether its surface is not a plane along the axes."""

    @abstractmethod
    def depths(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return how deep points are inside (negative outside) and unit vectors that point out of the solid.

        Points farther than `reach` from the surface have the depth `reach` or `-reach`, and no direction where the
        distance is not known.
        """

    @abstractmethod
    def bounds(self) -> tuple[Array, Array]:
        """Return the lower and upper ends of the surface; infinite where it has none."""


class PlaneSolid(Solid):
    """The half-space behind a plane."""

    def __init__(self, wall: Plane, dim: int) -> None:
        self.wall, self.dim = wall, dim
        centre = np.asarray(wall.centre)
        self.normal = _flat(rotated(wall.orientation, np.asarray(wall.normal)), dim, f"{wall.name}.normal")
        arm = rotated(wall.orientation, np.asarray(wall.point) - centre)
        self.point = (centre + wall.position + arm)[:dim]
        self.axis = int(np.argmax(np.abs(self.normal)))
        self.curved = bool(np.abs(self.normal).max() < 1 - 1e-12)

    def depths(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return depths and the normal."""
        depth = (self.point - points) @ self.normal
        return np.clip(depth, -reach, reach), np.broadcast_to(self.normal, points.shape)

    def bounds(self) -> tuple[Array, Array]:
        """Return the position of a plane along the axes; nothing else of a plane has ends."""
        low, high = np.full(self.dim, -np.inf), np.full(self.dim, np.inf)
        if not self.curved:
            low[self.axis] = high[self.axis] = self.point[self.axis]
        return low, high


class CylinderSolid(Solid):
    """The outside of a cylinder that contains the fluid, or the inside of one that it surrounds."""

    curved = True

    def __init__(self, wall: Cylinder, dim: int) -> None:
        self.wall, self.dim = wall, dim
        centre = np.asarray(wall.centre)
        self.axis = rotated(wall.orientation, wall.axis)
        if dim == 2 and abs(self.axis[2]) < 1 - 1e-12:
            raise InputError(
                f"{wall.name}.end - {wall.name}.start must point along z in a 2D simulation, got {self.axis.tolist()}; "
                "rotate the cylinder, or simulate in 3D"
            )
        arm = rotated(wall.orientation, np.asarray(wall.start) - centre)
        self.start = centre + wall.position + arm
        self.side = 1.0 if wall.inside else -1.0

    def depths(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return depths and radial directions."""
        away = in_space(points) - self.start
        radial = away - np.outer(away @ self.axis, self.axis)
        length = np.linalg.norm(radial, axis=1)
        out = -self.side * radial / np.maximum(length, np.finfo(float).tiny)[:, None]
        depth = self.side * (length - self.wall.radius)  # type: ignore[attr-defined]
        return np.clip(depth, -reach, reach), out[:, : self.dim]

    def bounds(self) -> tuple[Array, Array]:
        """Return the extent of the cylinder where it has one."""
        reach = self.wall.radius * np.sqrt(np.maximum(0, 1 - self.axis**2))  # type: ignore[attr-defined]
        along = np.abs(self.axis) > 1e-12
        low = np.where(along, -np.inf, self.start - reach)
        high = np.where(along, np.inf, self.start + reach)
        return low[: self.dim], high[: self.dim]


class MeshSolid(Solid):
    """The inside of a closed mesh, or its outside if it contains the fluid."""

    curved = True

    def __init__(self, wall: MeshWall, dim: int, *, contains_fluid: bool = False) -> None:
        self.wall, self.dim = wall, dim
        corners = wall.triangles()
        faces = np.arange(3 * len(corners), dtype=np.int32).reshape(-1, 3)
        self.mesh = SurfaceMesh(corners.reshape(-1, 3), faces)
        if self.mesh.open_edges:
            raise InputError(
                f"{wall.name}: a mesh must be closed to hold off a fluid, got {self.mesh.open_edges} open edges; "
                "fill the holes, and give a sheet a thickness"
            )
        self.contains_fluid = contains_fluid
        self.outline = section(corners) if dim == 2 else np.zeros((0, 2, 2))
        if dim == 2 and not len(self.outline):
            raise InputError(
                f"{wall.name}: a mesh must cross the plane z = 0 of a 2D simulation, got one that does not"
            )

    def inside(self, points: Array) -> Flags:
        """Return which points are inside the mesh."""
        low, high = self.bounds()
        within: Flags = np.asarray(((points > low) & (points < high)).all(axis=1))
        within[within] = self.mesh.contains(in_space(points[within]))
        return within

    def depths(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return depths and the directions to the closest points of the surface."""
        solid = self.inside(points) != self.contains_fluid
        distance, away = self._closest(points, reach)
        sign = np.where(solid, 1.0, -1.0)
        return sign * distance, -sign[:, None] * away

    def _closest(self, points: Array, reach: float) -> tuple[Array, Array]:
        """Return the distance to the surface, at most `reach`, and unit vectors from the surface to the points."""
        if self.dim == 2:
            distance, away = _from_segments(self.outline, points)
            return np.minimum(distance, reach), away
        if not len(points):
            return np.zeros(0), np.zeros((0, 3))
        distance, way = self.mesh.nearest(points, reach)
        far = ~(distance < reach)
        away = -way / np.maximum(np.where(far, 1.0, distance), np.finfo(float).tiny)[:, None]
        distance[far], away[far] = reach, 0.0
        return distance, away

    def bounds(self) -> tuple[Array, Array]:
        """Return the bounding box."""
        places = self.outline.reshape(-1, 2) if self.dim == 2 else self.mesh.vertices
        return places.min(axis=0), places.max(axis=0)


def section(corners: Array) -> Array:
    """Return the segments in which triangles (m, 3, 3) meet the plane z = 0, shape (k, 2, 2).

    Examples
    --------
    >>> section(np.array([[[0, 0, -1], [2, 0, 1], [0, 0, 1.0]]])).tolist()
    [[[1.0, 0.0], [0.0, 0.0]]]
    """
    # A corner in the plane counts as above it, so that neighbours agree on which edges cross.
    above = corners[:, :, 2] >= 0
    some = above.any(axis=1) & ~above.all(axis=1)
    corners, above = corners[some], above[some]
    # The corner that is alone on its side comes first.
    alone = np.where(above.sum(axis=1) == 1, above.argmax(axis=1), (~above).argmax(axis=1))
    rows = np.arange(len(corners))
    first, others = corners[rows, alone], [corners[rows, (alone + k) % 3] for k in (1, 2)]
    ends = [first + (first[:, 2] / (first[:, 2] - other[:, 2]))[:, None] * (other - first) for other in others]
    return np.stack(ends, axis=1)[:, :, :2]


def _from_segments(segments: Array, points: Array) -> tuple[Array, Array]:
    """Return the distance of points in the plane from the closest segment, and unit vectors away from it."""
    distance, away = np.empty(len(points)), np.empty(points.shape)
    start, along = segments[:, 0], segments[:, 1] - segments[:, 0]
    square = np.maximum((along**2).sum(axis=1), np.finfo(float).tiny)
    size = max(1, CHUNK // max(1, len(segments)))
    for begin in range(0, len(points), size):
        part = slice(begin, begin + size)
        arm = points[part, None] - start
        share = np.clip((arm * along).sum(axis=2) / square, 0, 1)
        gap = arm - share[..., None] * along
        lengths = np.linalg.norm(gap, axis=2)
        nearest = lengths.argmin(axis=1)
        rows = np.arange(len(nearest))
        distance[part] = lengths[rows, nearest]
        away[part] = gap[rows, nearest] / np.maximum(lengths[rows, nearest], np.finfo(float).tiny)[:, None]
    return distance, away


def solids_of(walls: Sequence[Wall], dim: int, fluid: Array | None = None) -> list[Solid]:
    """Return the solids of walls; planes parallel to the plane of a 2D simulation are left out.

    Parameters
    ----------
    walls
        The walls.
    dim
        2 or 3; a 2D simulation lies in the plane z = 0.
    fluid
        Positions of fluid, which decide whether a mesh contains the fluid or is surrounded by it; surrounded, if
        there are none.
    """
    made: list[Solid] = []
    if not isinstance(walls, Iterable):
        raise InputError(f"walls must be a list of walls, got {type(walls).__name__}; put a single wall into a list")
    for wall in walls:
        _check_motion(wall, dim)
        if isinstance(wall, Plane):
            if dim == 3 or np.linalg.norm(rotated(wall.orientation, np.asarray(wall.normal))[:2]) > 1e-12:
                made.append(PlaneSolid(wall, dim))
        elif isinstance(wall, Cylinder):
            made.append(CylinderSolid(wall, dim))
        elif isinstance(wall, MeshWall):
            made.append(_mesh_solid(wall, dim, fluid))
        else:
            raise InputError(
                f"walls must be planes, cylinders or meshes, got a {type(wall).__name__}; use one of these"
            )
    return made


def _mesh_solid(wall: MeshWall, dim: int, fluid: Array | None) -> MeshSolid:
    solid = MeshSolid(wall, dim)
    if fluid is not None and len(fluid):
        inside = int(solid.inside(fluid).sum())
        solid.contains_fluid = 2 * inside > len(fluid)
    return solid


def depths_in(solids: Sequence[Solid], points: Array, reach: float) -> tuple[Array, Array, npt.NDArray[np.int32]]:
    """Return the depth of points in the union of solids, directions out of the deepest one, and its place in the list.

    Examples
    --------
    >>> floor = Plane(name="floor", material="", point=(0, 0, 0), normal=(0, 1, 0))
    >>> depth, out, which = depths_in(solids_of([floor], 2), np.array([[3.0, -0.25]]), reach=1.0)
    >>> depth.tolist(), out.tolist(), which.tolist()
    ([0.25], [[0.0, 1.0]], [0])
    """
    depth, out = np.full(len(points), -reach), np.zeros(points.shape)
    which = np.full(len(points), -1, np.int32)
    for place, solid in enumerate(solids):
        here, away = solid.depths(points, reach)
        deeper = here > depth
        depth[deeper], out[deeper], which[deeper] = here[deeper], away[deeper], place
    return depth, out, which


def check_outside(walls: Sequence[Wall], fluid: Array, spacing: float) -> None:
    """Check that no fluid is inside a wall.

    Raises
    ------
    InputError
        Names how many particles are inside which wall, and the deepest of them.
    """
    for solid in solids_of(walls, fluid.shape[1], fluid):
        depth, _ = solid.depths(fluid, 4 * spacing)
        inside = np.flatnonzero(depth > 0)
        if len(inside):
            worst = int(inside[depth[inside].argmax()])
            beyond = " or more" if depth[worst] >= 4 * spacing else ""
            raise InputError(
                f"fluid must be outside of walls, got {len(inside)} particles inside {solid.wall.name!r}, the deepest "
                f"by {depth[worst]:.3g}{beyond} at {fluid[worst].tolist()}; move the region or the wall, or fill it "
                "with walls= so that particles inside walls are left out"
            )


def _flat(vector: Array, dim: int, name: str) -> Array:
    """Return a vector in the plane of a 2D simulation."""
    if dim == 2 and abs(vector[2]) > 1e-12:
        raise InputError(f"{name} must lie in the plane z = 0 of a 2D simulation, got {vector.tolist()}")
    return vector[:dim]


def _check_motion(wall: Wall, dim: int) -> None:
    if dim == 2 and (np.asarray(wall.velocity)[2] or np.asarray(wall.spin)[:2].any()):
        raise InputError(
            f"{wall.name}: a wall of a 2D simulation must move in the plane z = 0 and rotate about z, got the velocity "
            f"{np.asarray(wall.velocity).tolist()} and the spin {np.asarray(wall.spin).tolist()}"
        )


def in_space(points: Array) -> Array:
    """Return points in space: those of a 2D simulation lie in the plane z = 0."""
    return points if points.shape[1] == 3 else np.column_stack([points, np.zeros(len(points))])
