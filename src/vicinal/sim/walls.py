"""Walls: planes, cylinders and triangle meshes, at rest or in motion."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.mesh import Mesh

Array = npt.NDArray[np.float64]
Vector = Sequence[float] | Array

LARGEST = 1e100
"""Larger velocities, spins and accelerations are refused: their squares, and energies, would overflow."""


def check_vector(value: object, name: str) -> Array:
    """Return three finite numbers."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"{name} must be three finite numbers, got {value!r}")
    if np.abs(array).max() > LARGEST:
        raise InputError(f"{name} must be three numbers of at most {LARGEST:g}, got {value!r}")
    return array


def check_rotation(value: object, name: str) -> Array:
    """Return a quaternion of length 1, read-only."""
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    length = float(np.linalg.norm(array))
    if array.shape != (4,) or not np.isfinite(length) or length == 0:
        raise InputError(f"{name} must be a quaternion w, x, y, z other than zero, got {value!r}")
    # A quaternion of length 1 within rounding is kept unchanged, so that a restored wall has the same bits.
    array = array if abs(length - 1) < 1e-12 else array / length
    array.flags.writeable = False
    return array


def _direction(value: Array, name: str) -> Array:
    length = float(np.linalg.norm(value))
    if length == 0:
        raise InputError(f"{name} must be a vector other than zero, got {value.tolist()}")
    return value / length


def _zero() -> Array:
    return np.zeros(3)


def rotated(quaternion: Array, vectors: Array) -> Array:
    """Return vectors (.., 3) rotated by a unit quaternion (w, x, y, z)."""
    axis = quaternion[1:]
    twice = 2 * np.cross(axis, vectors)
    return np.asarray(vectors + quaternion[0] * twice + np.cross(axis, twice))


_VECTORS = ("velocity", "spin", "centre", "position")
MOVING = (*_VECTORS, "orientation")
"""Attributes of a wall that may be assigned between runs."""


@dataclass(kw_only=True, eq=False)
class Wall(ABC):
    """A wall. It moves with `velocity` and rotates with `spin` about `centre`, which moves with the wall.

    `position` (displacement) and `orientation` (w, x, y, z) are its pose; `force` and `torque` (about `centre`) are
    those that bodies exerted in the last step. Motion and pose may be assigned between runs; the rest of a wall that
    belongs to a simulation is fixed.
    """

    name: str
    material: str
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)
    centre: Vector = (0.0, 0.0, 0.0)
    position: Array = field(default_factory=_zero)
    orientation: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    force: Array = field(default_factory=_zero)
    torque: Array = field(default_factory=_zero)

    kind = "wall"

    def __setattr__(self, name: str, value: object) -> None:
        """Check vectors; refuse assignments to the surface and the load of a wall that belongs to a simulation."""
        if name in _VECTORS:
            value = check_vector(value, f"{self.name}.{name}")
        elif name == "orientation":
            value = check_rotation(value, f"{self.name}.{name}")
        elif getattr(self, "_fixed", False):
            raise AttributeError(
                f"{name} of the wall {self.name!r} is fixed in a simulation; make another one, "
                f"or assign to one of {', '.join(MOVING)}"
            )
        super().__setattr__(name, value)

    def fix_surface(self) -> None:
        """Assign the wall to a simulation: from now on only motion and pose can be changed."""
        if getattr(self, "_fixed", False):
            raise InputError(f"walls must belong to one simulation, got {self.name!r} of another one; make a new wall")
        for name, value in list(vars(self).items()):
            if isinstance(value, np.ndarray) and name not in MOVING:
                # Copied, since the caller may change the array later.
                own = value.copy()
                own.flags.writeable = False
                object.__setattr__(self, name, own)
        self._fixed = True

    def __getstate__(self) -> dict[str, Any]:
        """Return surface, motion and pose for `copy` and `pickle`; the copy belongs to no simulation."""
        kept = {name: value for name, value in vars(self).items() if name not in {"_fixed", "_mesh"}}
        return {name: value.copy() if isinstance(value, np.ndarray) else value for name, value in kept.items()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self.orientation.flags.writeable = False

    def check_motion(self) -> None:
        """Check values that the user has written into the arrays of motion and pose."""
        for name in _VECTORS:
            check_vector(getattr(self, name), f"{self.name}.{name}")

    def take_state(self, **state: Sequence[float]) -> None:
        """Set pose and load to those of the simulation that the wall belongs to."""
        for name, value in state.items():
            array = np.array(value)
            # The user may only replace the orientation as a whole, and not the load.
            array.flags.writeable = name in _VECTORS
            object.__setattr__(self, name, array)

    def pose(self) -> Array:
        """Return centre, position and orientation, (10,)."""
        return np.concatenate([self.centre, self.position, self.orientation])

    @abstractmethod
    def _surface(self) -> Array:
        """Return the triangles of the surface in its first pose."""

    def shape(self) -> dict[str, Any]:
        """Return the numbers that describe the surface in its first pose, by name."""
        return {}

    def triangles(self) -> Array:
        """Return the surface in its present pose, shape (m, 3, 3), for pictures."""
        centre = np.asarray(self.centre)
        return centre + self.position + rotated(self.orientation, self._surface() - centre)

    @property
    def width(self) -> float:
        """Diameter of the largest sphere inside a wall that surrounds the bodies; infinite for any other wall."""
        return math.inf

    def drift_speed(self, reach: float) -> float:
        """Return an upper bound of the speed at which the surface approaches bodies within `reach` of `centre`."""
        return float(np.linalg.norm(self.velocity) + np.linalg.norm(self.spin) * reach)


@dataclass(kw_only=True, eq=False)
class Plane(Wall):
    """A plane; bodies are on the side to which `normal` points.

    `size` is the edge of the square that pictures show.
    """

    point: Vector
    normal: Vector
    size: float = 1.0
    kind = "plane"

    def __post_init__(self) -> None:
        self.point = check_vector(self.point, f"{self.name}.point")
        self.normal = _direction(check_vector(self.normal, f"{self.name}.normal"), f"{self.name}.normal")

    def shape(self) -> dict[str, Any]:
        """Return point and direction."""
        return {"point": np.asarray(self.point).tolist(), "direction": np.asarray(self.normal).tolist()}

    def _surface(self) -> Array:
        normal = np.asarray(self.normal)
        a = np.cross(normal, np.eye(3)[int(np.argmin(np.abs(normal)))])
        a *= 0.5 * self.size / np.linalg.norm(a)
        b = np.cross(normal, a)
        p = np.asarray(self.point)
        corners = [p - a - b, p + a - b, p + a + b, p - a + b]
        return np.array([[corners[k] for k in (0, 1, 2)], [corners[k] for k in (0, 2, 3)]])

    def drift_speed(self, reach: float) -> float:
        """Return the speed without motion along the plane and rotation about its normal, which have no effect."""
        normal = rotated(self.orientation, np.asarray(self.normal))
        spin = np.asarray(self.spin)
        tilting = float(np.linalg.norm(np.cross(spin, normal)))
        # If the plane tilts, its normal changes during a step, so the full velocity counts.
        along = np.linalg.norm(self.velocity) if tilting else abs(np.dot(self.velocity, normal))
        return float(along) + tilting * reach


@dataclass(kw_only=True, eq=False)
class Cylinder(Wall):
    """An infinite cylinder around the line from `start` to `end`; bodies are inside (or outside, `inside=False`).

    `start` and `end` limit the surface in pictures only.
    """

    start: Vector
    end: Vector
    radius: float
    inside: bool = True
    kind = "cylinder"

    def __post_init__(self) -> None:
        self.start = check_vector(self.start, f"{self.name}.start")
        self.end = check_vector(self.end, f"{self.name}.end")
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError(f"{self.name}.radius must be a positive, finite number, got {self.radius!r}")
        _direction(self.end - self.start, f"{self.name}.end - {self.name}.start")

    @property
    def axis(self) -> Array:
        """Direction from start to end."""
        return _direction(np.asarray(self.end) - np.asarray(self.start), self.name)

    @property
    def width(self) -> float:
        """Diameter of the largest sphere inside."""
        return 2 * self.radius if self.inside else math.inf

    def shape(self) -> dict[str, Any]:
        """Return point, direction, radius and side."""
        return {
            "point": np.asarray(self.start).tolist(),
            "direction": self.axis.tolist(),
            "radius": float(self.radius),
            "inside": bool(self.inside),
        }

    def _surface(self) -> Array:
        axis = self.axis
        a = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
        a *= self.radius / np.linalg.norm(a)
        angle = np.linspace(0, 2 * np.pi, 65)[:, None]
        ring = np.cos(angle) * a + np.sin(angle) * np.cross(axis, a)
        low, high = np.asarray(self.start) + ring, np.asarray(self.end) + ring
        first = np.stack([low[:-1], low[1:], high[1:]], axis=1)
        second = np.stack([low[:-1], high[1:], high[:-1]], axis=1)
        return np.concatenate([first, second])

    def drift_speed(self, reach: float) -> float:
        """Return the speed without motion along the axis and rotation about it, which have no effect."""
        axis = rotated(self.orientation, self.axis)
        spin, velocity = np.asarray(self.spin), np.asarray(self.velocity)
        tilting = float(np.linalg.norm(np.cross(spin, axis)))
        off = rotated(self.orientation, np.asarray(self.start) - np.asarray(self.centre))
        eccentric = float(np.linalg.norm(np.cross(spin, off - np.dot(off, axis) * axis)))
        across = velocity if tilting or eccentric else velocity - np.dot(velocity, axis) * axis
        return float(np.linalg.norm(across)) + tilting * reach + eccentric


@dataclass(kw_only=True, eq=False)
class MeshWall(Wall):
    """A triangle mesh; bodies may be on both sides.

    Parameters
    ----------
    vertices
        Shape (v, 3).
    faces
        Three vertices each, shape (f, 3).
    """

    vertices: npt.NDArray[np.float64]
    faces: npt.NDArray[np.int32]
    kind = "mesh"

    def __post_init__(self) -> None:
        self.vertices = np.ascontiguousarray(self.vertices, dtype=np.float64)
        self.faces = np.ascontiguousarray(self.faces, dtype=np.int32)
        if self.vertices.ndim != 2 or self.vertices.shape[1] != 3 or not np.isfinite(self.vertices).all():
            raise InputError(
                f"{self.name}.vertices must be finite coordinates of shape (v, 3), got the shape {self.vertices.shape}"
            )
        if self.faces.ndim != 2 or self.faces.shape[1] != 3 or len(self.faces) == 0:
            raise InputError(f"{self.name}.faces must have the shape (f, 3), f > 0, got {self.faces.shape}")
        least, most = int(self.faces.min()), int(self.faces.max())
        if least < 0 or most >= len(self.vertices):
            raise InputError(
                f"{self.name}.faces must be numbers of vertices from 0 to {len(self.vertices) - 1}, "
                f"got {least if least < 0 else most}"
            )
        self._mesh = Mesh(vertices=self.vertices, faces=self.faces)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._mesh = Mesh(vertices=self.vertices, faces=self.faces)

    @property
    def mesh(self) -> Mesh:
        """The triangles in their first pose, with a search tree."""
        return self._mesh

    def _surface(self) -> Array:
        return np.asarray(self.vertices[self.faces])

    def drift_speed(self, reach: float) -> float:
        """Return the speed of the fastest vertex."""
        own = float(np.linalg.norm(self.vertices - np.asarray(self.centre), axis=1).max())
        return super().drift_speed(min(own, reach) if np.isfinite(reach) else own)


SIDES = ("-x", "+x", "-y", "+y", "-z", "+z")


def box_walls(name: str, lower: Vector, upper: Vector, material: str, *, sides: Sequence[str] = SIDES) -> list[Plane]:
    """Return the sides of a box as planes named ``f"{name}{side}"``; bodies are inside.

    Examples
    --------
    >>> [wall.name for wall in box_walls("tray", (0, 0, 0), (1, 1, 1), "steel", sides=["-x", "-z"])]
    ['tray-x', 'tray-z']
    """
    low, high = check_vector(lower, f"{name}.lower"), check_vector(upper, f"{name}.upper")
    if not (low < high).all():
        raise InputError(
            f"{name}.upper must be above {name}.lower on every axis, got {high.tolist()} and {low.tolist()}"
        )
    walls = []
    for side in sides:
        if side not in SIDES:
            raise InputError(f"{name}.sides must be some of {', '.join(SIDES)}, got {side!r}")
        axis = "xyz".index(side[1])
        sign = 1.0 if side[0] == "-" else -1.0
        normal = np.zeros(3)
        normal[axis] = sign
        middle = 0.5 * (low + high)
        middle[axis] = (low if sign > 0 else high)[axis]
        size = float(np.delete(high - low, axis).max())
        walls.append(Plane(name=name + side, material=material, point=middle, normal=normal, size=size))
    return walls
