"""Where the dummy particles of moving walls are at a time, and how they move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.wall_sections import MotionSection
from vicinal.sim.walls import Wall, rotated
from vicinal.sph.boundary import WallParticles
from vicinal.sph.solids import in_space

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class WallState:
    """Dummy particles at a time: positions, normals, velocities and accelerations, each of shape (m, dim)."""

    positions: Array
    normals: Array
    velocities: Array
    accelerations: Array


class WallMotion:
    """The motion of walls and of their dummy particles as a function of time.

    Every pose follows from the time alone, not from the steps taken, so that a restarted run has the same walls.

    Parameters
    ----------
    particles
        The dummy particles.
    walls
        Their walls, as they were when the particles were made.
    motions
        One per wall, as in the tables of a scene; by default walls keep the velocity and spin that they have.

    Examples
    --------
    >>> from vicinal.sim.walls import Plane
    >>> from vicinal.sph.boundary import wall_particles
    >>> piston = Plane(name="piston", material="", point=(0, 0, 0), normal=(1, 0, 0), velocity=(2, 0, 0))
    >>> dummies = wall_particles([piston], 1.0, 1, dim=2, bounds=((0, 0), (1, 1)))
    >>> state = WallMotion(dummies, [piston]).at(0.25)
    >>> state.positions.tolist(), state.velocities.tolist()
    ([[0.0, 0.5]], [[2.0, 0.0]])
    """

    def __init__(
        self, particles: WallParticles, walls: Sequence[Wall], motions: Sequence[MotionSection] | None = None
    ) -> None:
        if motions is not None and len(motions) != len(walls):
            raise InputError(f"motions must be one per wall, {len(walls)}, got {len(motions)}")
        self.particles, self.walls, self.motions = particles, walls, motions
        self.dim = particles.positions.shape[1]
        self._start = [
            (np.array(wall.position), np.array(wall.orientation), np.array(wall.velocity), np.array(wall.spin))
            for wall in walls
        ]
        self._rows = [np.flatnonzero(particles.wall == k) for k in range(len(walls))]
        self.moving = [k for k in range(len(walls)) if self._moves(k)]
        """Numbers of the walls that move at some time."""

    def _moves(self, wall: int) -> bool:
        if self.motions is not None:
            return bool(self.motions[wall].moments())
        return bool(self._start[wall][2].any() or self._start[wall][3].any())

    def _now(self, wall: int, time: float) -> tuple[Array, Array, Array, Array, Array, Array]:
        """Return displacement, rotation vector, velocity, spin, acceleration and angular acceleration of a wall."""
        if self.motions is None:
            velocity, spin = self._start[wall][2:]
            return velocity * time, spin * time, velocity, spin, np.zeros(3), np.zeros(3)
        motion = self.motions[wall]
        return (
            np.array(motion.displacement_at(time)),
            np.array(motion.rotation_at(time)),
            np.array(motion.velocity_at(time)),
            np.array(motion.spin_at(time)),
            np.array(motion.acceleration_at(time)),
            np.array(motion.spin_up_at(time)),
        )

    def at(self, time: float) -> WallState:
        """Return the dummy particles at a time."""
        dim = self.dim
        positions, normals = self.particles.positions.copy(), self.particles.normals.copy()
        velocities, accelerations = np.zeros(positions.shape), np.zeros(positions.shape)
        for k in self.moving:
            rows = self._rows[k]
            displacement, turn, velocity, spin, acceleration, spin_up = self._now(k, time)
            pivot = np.asarray(self.walls[k].centre) + self._start[k][0]
            quaternion = turned_by(turn)
            arm = rotated(quaternion, in_space(positions[rows]) - pivot)
            positions[rows] = (pivot + displacement + arm)[:, :dim]
            normals[rows] = rotated(quaternion, in_space(normals[rows]))[:, :dim]
            swing = np.cross(spin, arm)
            velocities[rows] = (velocity + swing)[:, :dim]
            accelerations[rows] = (acceleration + np.cross(spin_up, arm) + np.cross(spin, swing))[:, :dim]
        return WallState(positions=positions, normals=normals, velocities=velocities, accelerations=accelerations)

    def place(self, time: float) -> None:
        """Give the walls themselves the pose, velocity and spin that they have at a time."""
        for k in self.moving:
            displacement, turn, velocity, spin, _, _ = self._now(k, time)
            wall, (position, orientation, _, _) = self.walls[k], self._start[k]
            wall.position = position + displacement
            wall.orientation = _product(turned_by(turn), orientation)
            wall.velocity, wall.spin = velocity, spin


def turned_by(turn: Array) -> Array:
    """Return the quaternion of a rotation vector.

    Examples
    --------
    >>> turned_by(np.array([0.0, 0.0, np.pi])).round(12).tolist()
    [0.0, 0.0, 0.0, 1.0]
    """
    angle = float(np.linalg.norm(turn))
    if angle == 0:
        return np.array([1.0, 0.0, 0.0, 0.0])
    return np.concatenate([[math.cos(angle / 2)], math.sin(angle / 2) / angle * turn])


def _product(a: Array, b: Array) -> Array:
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])
