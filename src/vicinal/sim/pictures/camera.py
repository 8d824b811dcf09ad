"""The camera: direction of view and visible box."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Camera:
    """A parallel projection: lengths do not depend on the distance.

    Parameters
    ----------
    azimuth, elevation
        Direction from the scene to the eye, in degrees: from the x axis towards y, and up from the xy plane.
    low, high
        Corners of the box that the picture shows.
    pixels
        Width and height of the picture.
    """

    azimuth: float
    elevation: float
    low: Sequence[float] | Array
    high: Sequence[float] | Array
    pixels: tuple[int, int]

    @property
    def axes(self) -> Array:
        """Right, up and towards the eye, as rows."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        eye = np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = np.array([-math.sin(a), math.cos(a), 0.0])
        return np.stack([right, np.cross(eye, right), eye])

    @property
    def scale(self) -> float:
        """Pixels per metre, chosen such that the whole box is visible."""
        corners = self._corners() @ self.axes.T
        extent = np.maximum(np.ptp(corners, axis=0), 1e-300)
        return float(min(0.94 * self.pixels[0] / extent[0], 0.94 * self.pixels[1] / extent[1]))

    def _corners(self) -> Array:
        low, high = np.asarray(self.low, float), np.asarray(self.high, float)
        choice = np.array([[i >> axis & 1 for axis in range(3)] for i in range(8)])
        return np.where(choice == 0, low, high)

    def project(self, points: npt.NDArray[np.floating]) -> Array:
        """Return column, row (from the top) and depth (larger is nearer), in pixels."""
        corners = self._corners() @ self.axes.T
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        seen = (np.asarray(points, float) @ self.axes.T - middle) * self.scale
        seen[..., 0] += 0.5 * self.pixels[0]
        seen[..., 1] = 0.5 * self.pixels[1] - seen[..., 1]
        return np.asarray(seen)
