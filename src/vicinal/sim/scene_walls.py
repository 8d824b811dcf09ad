"""The walls of a scene: construction, motion and output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.meshes import load_mesh
from vicinal.sim.regions import MeshRegion
from vicinal.sim.scene import Scene
from vicinal.sim.spaces import space
from vicinal.sim.vtkhdf import Frame, triangles
from vicinal.sim.wall_sections import (
    AnyWall,
    BoxWallSection,
    CylinderWallSection,
    MeshWallSection,
    Oscillating,
    PlaneWallSection,
    Rotating,
)
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, box_walls, rotated

Array = npt.NDArray[np.float64]


class SceneWalls:
    """The walls of a scene, in groups: one table of a box or a closed cylinder describes several walls.

    Parameters
    ----------
    scene
        The scene.
    size
        Edge of the square that is drawn for a plane whose table has no size.
    walls
        Existing walls to use instead of new ones of the same names, such as those of a restored solver.
    """

    def __init__(self, scene: Scene, size: float, walls: Sequence[Wall] | None = None) -> None:
        self.tables = scene.walls
        self.groups = _groups(scene, size)
        if walls is not None:
            own = {wall.name: wall for wall in walls}
            self.groups = [[own[wall.name] for wall in group] for group in self.groups]
        self._drawn = self._surfaces()

    def all(self) -> list[Wall]:
        """Return all walls."""
        return [wall for group in self.groups for wall in group]

    def moments(self) -> list[float]:
        """Return the times after 0 at which a motion starts or stops."""
        return sorted({moment for table in self.tables for moment in table.motion.moments() if moment > 0})

    @property
    def steady(self) -> bool:
        """Whether velocities only change at `moments`."""
        return all(table.motion.STEADY for table in self.tables)

    def set_motions(self, time: float, step: float = 0.0) -> None:
        """Set the velocities of walls to those of their motion from a time on, or to their mean over a step."""
        for table, group in zip(self.tables, self.groups, strict=True):
            # A wall without motion keeps the velocity that the user has set.
            if table.motion.moments():
                velocity, spin = np.array(table.motion.velocity_at(time)), np.array(table.motion.spin_at(time))
                if step and not table.motion.STEADY:
                    velocity, spin = (
                        (np.array(at(time + step)) - at(time)) / step
                        for at in (table.motion.displacement_at, table.motion.rotation_at)
                    )
                for wall in group:
                    wall.velocity, wall.spin = velocity, spin

    def frame(self, time: float, dtype: npt.DTypeLike) -> Frame:
        """Return the surfaces in their present pose, with the forces and torques on them."""
        walls = self.all()
        corners = [self.surface(wall) for wall in walls]
        counts = [len(part) for part in corners]
        data: dict[str, npt.NDArray[Any]] = {
            "wall": np.repeat(np.arange(len(counts), dtype=np.int32), counts),
            "force": np.repeat([wall.force for wall in walls], counts, axis=0).astype(dtype),
            "torque": np.repeat([wall.torque for wall in walls], counts, axis=0).astype(dtype),
        }
        return triangles(time, np.concatenate(corners).astype(dtype), data)

    def surface(self, wall: Wall) -> Array:
        """Return the triangles to draw for a wall in its present pose, shape (m, 3, 3)."""
        if wall.name not in self._drawn:
            return wall.triangles()
        centre = np.asarray(wall.centre)
        return np.asarray(centre + wall.position + rotated(wall.orientation, self._drawn[wall.name] - centre))

    def _surfaces(self) -> dict[str, Array]:
        """Return the triangles to draw instead of planes: rectangles for boxes, discs for the ends of cylinders."""
        drawn: dict[str, Array] = {}
        for table, group in zip(self.tables, self.groups, strict=True):
            if isinstance(table, BoxWallSection):
                for side, wall in zip(table.sides, group, strict=True):
                    drawn[wall.name] = _rectangle(table, side)
            elif isinstance(table, CylinderWallSection):
                for wall, centre in zip(group[1:], (table.start, table.end), strict=False):
                    drawn[wall.name] = _disc(table, np.array(centre))
        return drawn


def check_surfaces(scene: Scene) -> None:
    """Make all walls and the meshes of regions, to find files that cannot be read before bodies are placed."""
    _groups(scene, 1.0)
    for region in scene.regions.values():
        if isinstance(region, MeshRegion):
            space(region)


def _groups(scene: Scene, size: float) -> list[list[Wall]]:
    groups = []
    taken: set[str] = set()
    for place, table in enumerate(scene.walls):
        kind = table.TAG[1]
        name = table.name or (kind if kind not in taken else f"{kind}{place}")
        group = _walls(table, name, size)
        for wall in group:
            if wall.name in taken:
                raise InputError(f'walls.{place}.name must differ from the names of other walls, got "{name}"')
            taken.add(wall.name)
        taken.add(name)
        groups.append(group)
    return groups


def _walls(wall: AnyWall, name: str, size: float) -> list[Wall]:
    walls: list[Wall]
    material = wall.material or ""
    match wall:
        case PlaneWallSection():
            edge = size if wall.size is None else wall.size
            walls = [Plane(name=name, material=material, point=wall.point, normal=wall.normal, size=edge)]
        case BoxWallSection():
            walls = list(box_walls(name, wall.low, wall.high, material, sides=wall.sides))
        case CylinderWallSection():
            walls = [
                Cylinder(
                    name=name,
                    material=material,
                    start=wall.start,
                    end=wall.end,
                    radius=wall.radius,
                    inside=wall.inside,
                )
            ]
            if wall.ends:
                along = np.subtract(wall.end, wall.start)
                for end, point, normal in (("start", wall.start, along), ("end", wall.end, -along)):
                    walls.append(
                        Plane(
                            name=f"{name}-{end}",
                            material=material,
                            point=point,
                            normal=normal,
                            size=2 * wall.radius,
                        )
                    )
        case MeshWallSection():
            mesh = load_mesh(wall.file, scale=wall.scale, move=wall.move)
            walls = [MeshWall(name=name, material=material, vertices=mesh.vertices, faces=mesh.faces)]
    if isinstance(wall.motion, (Rotating, Oscillating)):
        for part in walls:
            part.centre = np.array(wall.motion.point)
    return walls


def _rectangle(box: BoxWallSection, side: str) -> Array:
    axis = "xyz".index(side[1])
    one, other = (k for k in range(3) if k != axis)
    corners = np.tile(np.array(box.low if side[0] == "-" else box.high), (4, 1))
    corners[:, one] = [box.low[one], box.high[one], box.high[one], box.low[one]]
    corners[:, other] = [box.low[other], box.low[other], box.high[other], box.high[other]]
    return np.stack([corners[[0, 1, 2]], corners[[0, 2, 3]]])


def _disc(cylinder: CylinderWallSection, centre: Array) -> Array:
    along = np.subtract(cylinder.end, cylinder.start)
    across = np.linalg.svd(along[None])[2][1:]
    angle = np.linspace(0, 2 * np.pi, 65)
    ring = centre + cylinder.radius * (np.outer(np.cos(angle), across[0]) + np.outer(np.sin(angle), across[1]))
    return np.stack([np.tile(centre, (64, 1)), ring[:-1], ring[1:]], axis=1)
