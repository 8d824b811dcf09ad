"""The pose of a rigid body: a rotation, then a translation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError

Vectors = npt.NDArray[np.float64]


def check_vector(value: object, name: str) -> Vectors:
    """Check three finite numbers."""
    array = _check.as_array(value, name)
    if array.shape != (3,) or array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be three numbers, got shape {array.shape} and dtype {array.dtype}")
    made = array.astype(np.float64)
    if not np.isfinite(made).all():
        raise InputError(f"{name} must be finite, got {made.tolist()}")
    return made


def check_finite(value: object, name: str) -> float:
    """Check a finite number."""
    number = _check.check_number(value, name)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {number}")
    return number


def check_rotation(value: object) -> Vectors:
    """Check a rotation matrix and return the nearest exact one."""
    array = _check.as_array(value, "rotation")
    if array.shape != (3, 3) or array.dtype.kind not in "fiu":
        raise InputError(f"rotation must be a matrix of shape (3, 3), got shape {array.shape} and dtype {array.dtype}")
    made = array.astype(np.float64)
    if not np.isfinite(made).all() or np.abs(made.T @ made - np.eye(3)).max() > 1e-6 or np.linalg.det(made) < 0:
        raise InputError(f"rotation must be an orthogonal matrix with determinant 1, got {made.tolist()}")
    return orthogonal(made)


def orthogonal(matrix: Vectors) -> Vectors:
    """Return an approximate rotation matrix with its rounding errors removed (a step of Newton's method)."""
    made: Vectors = matrix @ (3 * np.eye(3) - matrix.T @ matrix) / 2
    return made


def rotation_about(axis: Vectors, angle: float) -> Vectors:
    """Return the matrix that turns by an angle about an axis of length 1, right-handed (Rodrigues)."""
    x, y, z = axis
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return orthogonal(np.eye(3) + math.sin(angle) * k + (2 * math.sin(angle / 2) ** 2) * (k @ k))


def unit(vector: Vectors, name: str) -> Vectors:
    """Return a vector of length 1 in the same direction."""
    largest = float(np.abs(vector).max())
    if largest == 0:
        raise InputError(f"{name} must be a direction of finite length above 0, got {vector.tolist()}")
    scaled = vector / largest
    made: Vectors = scaled / np.sqrt((scaled * scaled).sum())
    return made


@dataclass(frozen=True, eq=False)
class Pose:
    """A rotation, then a translation: from the coordinates of the body to those of the world."""

    rotation: Vectors = field(default_factory=lambda: np.eye(3))
    translation: Vectors = field(default_factory=lambda: np.zeros(3))

    @property
    def at_home(self) -> bool:
        """Whether body and world coordinates are the same."""
        return bool(np.array_equal(self.rotation, np.eye(3)) and not self.translation.any())

    def out(self, points: npt.NDArray[Any]) -> Vectors:
        """Return points given in body coordinates in world coordinates."""
        made: Vectors = points if self.at_home else points @ self.rotation.T + self.translation
        return made

    def into(self, points: npt.NDArray[Any]) -> Vectors:
        """Return points given in world coordinates in body coordinates."""
        made: Vectors = points if self.at_home else (points - self.translation) @ self.rotation
        return made

    def turn_out(self, vectors: Vectors) -> Vectors:
        """Return directions given in body coordinates in world coordinates."""
        return vectors if self.at_home else vectors @ self.rotation.T

    def moved(self, offset: Vectors) -> Pose:
        """Return the pose after a translation."""
        return Pose(self.rotation, self.translation + offset)

    def turned(self, rotation: Vectors, origin: Vectors) -> Pose:
        """Return the pose after a rotation about a point given in world coordinates."""
        return Pose(orthogonal(rotation @ self.rotation), rotation @ (self.translation - origin) + origin)
