"""The last guard of a fluid: no particle ever leaves through a wall.

Dummy particles hold a fluid off its walls. Should a step carry a particle through one all the same, the guard puts it
back in front of the wall, takes away the part of its velocity that leads into the wall, and counts it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal._check import check_integer, check_number
from vicinal.errors import InputError
from vicinal.mesh import Mesh
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, rotated
from vicinal.sph.solids import section, solids_of

Array = npt.NDArray[np.float64]

CLEARANCE = 1e-3
"""How far in front of a wall a particle is put, in spacings: far more than rounding, far less than matters."""


class Guard:
    """Keeps particles on their side of walls.

    Parameters
    ----------
    walls
        Planes, cylinders and meshes, in the pose that they have at the beginning of the first step.
    spacing
        Distance of neighbouring particles.
    dim
        2 or 3. A 2D simulation lies in the plane z = 0.

    Examples
    --------
    >>> floor = Plane(name="floor", material="", point=(0, 0, 0), normal=(0, 1, 0))
    >>> guard = Guard([floor], spacing=0.1, dim=2)
    >>> before, after = np.array([[0.5, 0.1]]), np.array([[0.6, -0.1]])
    >>> velocities = np.array([[1.0, -2.0]])
    >>> guard.keep(before, after, velocities), after.round(6).tolist(), velocities.tolist()
    (1, [[0.6, 0.0001]], [[1.0, 0.0]])
    """

    def __init__(self, walls: Sequence[Wall], spacing: float, dim: int = 3) -> None:
        size = check_number(spacing, "spacing")
        if not size > 0:
            raise InputError(f"spacing must be a positive number, got {size}")
        self.dim = check_integer(dim, "dim", least=2, most=3)
        self.walls = [solid.wall for solid in solids_of(walls, self.dim)]
        self.core = _core.SphGuard(CLEARANCE * size, size)
        """The compiled guard, for `vicinal.sph.Simulation`."""
        for number, wall in enumerate(self.walls):
            self._add(wall, size)
            self.core.set(number, pose_of(wall))

    def _add(self, wall: Wall, spacing: float) -> None:
        if isinstance(wall, Plane):
            self.core.add_plane(wall.point, wall.normal)
        elif isinstance(wall, Cylinder):
            self.core.add_cylinder(wall.start, wall.axis, wall.radius, wall.inside)
        elif isinstance(wall, MeshWall):
            mesh = Mesh(_extruded(wall, spacing)) if self.dim == 2 else wall.mesh
            self.core.add_mesh(mesh._surface)  # noqa: SLF001

    @property
    def count(self) -> int:
        """How often a particle was put back."""
        return int(self.core.held().sum())

    def counts(self) -> dict[str, int]:
        """Return how often each wall has put a particle back, by name, without those that never did."""
        return {wall.name: int(n) for wall, n in zip(self.walls, self.core.held(), strict=True) if n}

    def move(self) -> None:
        """Take the present pose of the walls as that at the end of the step to come, the former as its beginning."""
        for number, wall in enumerate(self.walls):
            self.core.move(number, pose_of(wall))

    def keep(self, before: Array, after: Array, velocities: Array) -> int:
        """Put back particles that a step has carried through a wall; return how many.

        Parameters
        ----------
        before
            Positions at the beginning of the step, shape (n, dim).
        after
            Positions at its end, not wrapped into a periodic box yet; corrected in place.
        velocities
            Velocities; corrected in place.
        """
        for name, array in (("before", before), ("after", after), ("velocities", velocities)):
            if (
                array.dtype != np.float64
                or array.ndim != 2
                or array.shape[1] != self.dim
                or not array.flags.c_contiguous
            ):
                raise InputError(
                    f"{name} must be a contiguous float64 array of shape (n, {self.dim}), "
                    f"got {array.dtype} and {array.shape}"
                )
        known = self.count
        self.core.keep(before, after, velocities)
        return self.count - known


def pose_of(wall: Wall) -> _core.MovingPose:
    """Return the place and the motion of a wall for the compiled core."""
    centre, position = np.asarray(wall.centre), np.asarray(wall.position)
    rotation = rotated(wall.orientation, np.eye(3)).T
    return _core.MovingPose(
        rotation=rotation.tolist(),
        translation=(centre + position - rotation @ centre).tolist(),
        velocity=np.asarray(wall.velocity).tolist(),
        spin=np.asarray(wall.spin).tolist(),
        origin=(centre + position).tolist(),
    )


def _extruded(wall: MeshWall, spacing: float) -> Array:
    """Return the outline of a mesh in the plane z = 0 as rectangles across it, two triangles each."""
    back = wall.orientation * np.array([1.0, -1.0, -1.0, -1.0])
    centre = np.asarray(wall.centre)
    segments = section(wall.triangles())
    places = np.concatenate([segments, np.zeros((*segments.shape[:2], 1))], axis=2)
    places = centre + rotated(back, places - centre - wall.position)
    half = np.array([0.0, 0.0, 2 * spacing])
    a, b = places[:, 0], places[:, 1]
    return np.concatenate(
        [np.stack([a - half, b - half, b + half], axis=1), np.stack([a - half, b + half, a + half], axis=1)]
    )


def check_guard(guard: Guard | None) -> Guard | None:
    """Return a guard or None."""
    if guard is not None and not isinstance(guard, Guard):
        raise InputError(f"guard must be a Guard, got {type(guard).__name__}; pass Guard(walls, spacing, dim)")
    return guard
