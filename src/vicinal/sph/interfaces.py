"""What a simulation of a fluid asks of walls."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


class WallParticlesLike(Protocol):
    """Wall particles, such as `vicinal.sph.boundary.WallParticles`."""

    @property
    def positions(self) -> Array:
        """Positions, shape (m, dim)."""

    @property
    def normals(self) -> Array:
        """Unit vectors into the fluid, shape (m, dim)."""

    @property
    def wall(self) -> npt.NDArray[np.int32]:
        """Number of the wall of each particle."""

    @property
    def slip(self) -> npt.NDArray[np.bool_]:
        """Whether fluid slips along a wall freely, one per wall."""


class WallStateLike(Protocol):
    """Wall particles at a time, such as `vicinal.sph.wall_motion.WallState`."""

    @property
    def positions(self) -> Array:
        """Positions, shape (m, dim), as are the others."""

    @property
    def normals(self) -> Array:
        """Unit vectors into the fluid."""

    @property
    def velocities(self) -> Array:
        """Velocities."""

    @property
    def accelerations(self) -> Array:
        """Accelerations."""


class WallMotionLike(Protocol):
    """The motion of walls, such as `vicinal.sph.wall_motion.WallMotion`."""

    def at(self, time: float) -> WallStateLike:
        """Return the wall particles at a time."""

    def place(self, time: float) -> None:
        """Give the walls themselves the pose that they have at a time."""
