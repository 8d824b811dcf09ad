"""The walls of a fluid: which wall particles there are at a time, and how they move."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sph.checks import check_rows
from vicinal.sph.interfaces import WallMotionLike, WallParticlesLike
from vicinal.sph.open_ends import OpenEnds

Array = npt.NDArray[np.float64]
Slip = npt.NDArray[np.bool_]


class Walls:
    """Wall particles that stay, slide or move, and those of open ends.

    Parameters
    ----------
    particles, motion, velocities, ends
        As a simulation takes them.
    dim
        Dimensions of the fluid.
    """

    def __init__(
        self,
        particles: WallParticlesLike | None,
        motion: WallMotionLike | None,
        velocities: npt.ArrayLike | None,
        ends: OpenEnds | None,
        dim: int,
    ) -> None:
        self.particles, self.motion, self.ends = particles, motion, ends
        self.velocities: Array = np.zeros((0, dim))
        """Velocity of each wall."""
        self.slip: Slip = np.zeros(0, bool)
        """Slip of each wall particle."""
        if particles is None:
            if velocities is not None or motion is not None:
                raise InputError("walls must be passed together with wall_velocities and wall_motion, got None")
            return
        if not hasattr(particles, "slip"):
            raise InputError(f"walls must be the result of wall_particles(...), got {type(particles).__name__}")
        rows = check_rows(particles.positions, "walls.positions")
        if rows.shape[1] != dim:
            raise InputError(f"walls must have {dim} dimensions as the fluid has, got {rows.shape[1]}")
        shape = (len(particles.slip), dim)
        self.velocities = np.zeros(shape) if velocities is None else check_rows(velocities, "wall_velocities", shape)
        self.slip = np.ascontiguousarray(particles.slip[particles.wall], bool)

    @property
    def change(self) -> bool:
        """Whether wall particles are others from step to step."""
        return self.motion is not None or self.ends is not None

    def speeds(self) -> list[Array]:
        """Return velocities at time 0, but those of a motion."""
        return [self.velocities, *([] if self.ends is None else [self.ends.at(0.0)[1]])]

    def at(self, time: float) -> tuple[Array, Array, Array, Array, Slip]:
        """Return positions, normals, velocities, accelerations and slip at a time."""
        positions, normals, velocities, accelerations = np.zeros((4, 0, self.velocities.shape[1]))
        if self.particles is not None:
            positions, normals = self.particles.positions, self.particles.normals
            velocities = self.velocities[self.particles.wall]
            accelerations = np.zeros(velocities.shape)
        if self.motion is not None:
            now = self.motion.at(time)
            positions, normals, accelerations = now.positions, now.normals, now.accelerations
            velocities = velocities + now.velocities
        slip = self.slip
        if self.ends is not None:
            # Without a normal and with slip, viscosity sees the fluid around and nothing else.
            places, speeds = self.ends.at(time)
            more, none = len(places), np.zeros(places.shape)
            positions, velocities = np.concatenate([positions, places]), np.concatenate([velocities, speeds])
            normals, accelerations = np.concatenate([normals, none]), np.concatenate([accelerations, none])
            slip = np.concatenate([slip, np.ones(more, bool)])
        x, n, u, a = (np.ascontiguousarray(c, np.float64) for c in (positions, normals, velocities, accelerations))
        return x, n, u, a, slip
