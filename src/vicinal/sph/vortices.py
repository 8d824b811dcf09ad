"""Vortices of Taylor and Green: a periodic flow in the plane with an exact solution."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def taylor_green_velocities(points: Array, length: float = 1.0) -> Array:
    """Return velocities of four vortices in a periodic square, 1 at the most; nothing moves along z.

    With a viscosity ν they decay as exp(−8 π² ν t / length²).

    Examples
    --------
    >>> taylor_green_velocities(np.array([[0.0, 0.25], [0.25, 0.0]])).round(6).ravel() + 0.0
    array([-1.,  0.,  0.,  1.])
    """
    a, b = 2 * np.pi / length * points[:, :2].T
    velocities = np.zeros(points.shape)
    velocities[:, 0] = -np.cos(a) * np.sin(b)
    velocities[:, 1] = np.sin(a) * np.cos(b)
    return velocities


def taylor_green_pressures(points: Array, length: float = 1.0) -> Array:
    """Return the pressures of these vortices for the density 1."""
    return np.asarray(-0.25 * np.cos(4 * np.pi / length * points[:, :2]).sum(axis=1))
