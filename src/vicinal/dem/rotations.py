"""Rotations as quaternions w, x, y, z, one per row."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

BACK = np.array([1.0, -1.0, -1.0, -1.0])
"""Times a quaternion: the opposite rotation."""


def cross(a: Array, b: Array) -> Array:
    """Return cross products of rows. `numpy.cross` spends most of its time on other axes.

    Examples
    --------
    >>> cross(np.array([[1.0, 0, 0]]), np.array([[0, 1.0, 0]])).tolist()
    [[0.0, 0.0, 1.0]]
    """
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def rotated_back(q: Array, vectors: Array) -> Array:
    """Return vectors in the axes of bodies that have the orientations q."""
    axis = -q[:, 1:]
    twice = 2 * cross(axis, vectors)
    return np.asarray(vectors + q[:, :1] * twice + cross(axis, twice))


def product(a: Array, b: Array) -> Array:
    """Return products of quaternions: the rotation b, followed by a."""
    w, v = a[..., :1], a[..., 1:]
    w2, v2 = b[..., :1], b[..., 1:]
    vector = w * v2 + w2 * v + cross(v, v2)
    return np.concatenate([w * w2 - (v * v2).sum(axis=-1, keepdims=True), vector], axis=-1)


def momenta(q: Array, inertias: Array, spins: Array) -> Array:
    """Return angular momenta from principal moments of inertia and angular velocities, in the world frame."""
    return rotated_back(q * BACK, inertias * rotated_back(q, spins))
