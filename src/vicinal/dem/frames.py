"""The time series of grains: particles, contacts, walls and surfaces."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.shapes import Clump
from vicinal.dem.simulation import Simulation
from vicinal.dem.surfaces import surfaces
from vicinal.dem.walls import Wall, rotated
from vicinal.sim.folder import CONTACTS, PARTICLES, SURFACES, WALLS
from vicinal.sim.scene import Output, Scene
from vicinal.sim.vtkhdf import Frame, vertices
from vicinal.sim.walls import BoxWall, CylinderWall

Array = npt.NDArray[np.float64]


class WallSurfaces:
    """What is drawn for each wall: rectangles for boxes, discs for ends of cylinders, and else its own triangles."""

    def __init__(self, scene: Scene, walls: Sequence[Sequence[Wall]]) -> None:
        self.sides: dict[str, Array] = {}
        for section, parts in zip(scene.walls, walls, strict=True):
            if isinstance(section, BoxWall):
                for side, part in zip(section.sides, parts, strict=True):
                    self.sides[part.name] = _rectangle(section, side)
            elif isinstance(section, CylinderWall):
                for part, centre in zip(parts[1:], (section.start, section.end), strict=False):
                    self.sides[part.name] = _disc(section, np.array(centre))

    def of(self, wall: Wall) -> Array:
        """Return the triangles of a wall in its present pose, shape (m, 3, 3)."""
        if wall.name not in self.sides:
            return wall.triangles()
        centre = np.asarray(wall.centre)
        return np.asarray(centre + wall.position + rotated(wall.orientation, self.sides[wall.name] - centre))


def _rectangle(box: BoxWall, side: str) -> Array:
    axis = "xyz".index(side[1])
    one, other = (k for k in range(3) if k != axis)
    corners = np.tile(np.array(box.low if side[0] == "-" else box.high), (4, 1))
    corners[:, one] = [box.low[one], box.high[one], box.high[one], box.low[one]]
    corners[:, other] = [box.low[other], box.low[other], box.high[other], box.high[other]]
    return np.stack([corners[[0, 1, 2]], corners[[0, 2, 3]]])


def _disc(cylinder: CylinderWall, centre: Array) -> Array:
    along = np.subtract(cylinder.end, cylinder.start)
    across = np.linalg.svd(along[None])[2][1:]
    angle = np.linspace(0, 2 * np.pi, 65)
    ring = centre + cylinder.radius * (np.outer(np.cos(angle), across[0]) + np.outer(np.sin(angle), across[1]))
    return np.stack([np.tile(centre, (64, 1)), ring[:-1], ring[1:]], axis=1)


class GrainFrames:
    """Collects the frames of a moment.

    Parameters
    ----------
    settings
        What is written, and with which precision.
    surfaces
        What is drawn for walls.
    """

    def __init__(self, settings: Output, surfaces: WallSurfaces) -> None:
        self.settings = settings
        self.surfaces = surfaces
        self.kind = np.float32 if settings.precision == "single" else np.float64

    def of(self, sim: Simulation) -> dict[str, Frame]:
        """Return the frames by the names of their files."""
        frames = {PARTICLES: self._particles(sim)}
        if self.settings.contacts:
            frames[CONTACTS] = self._contacts(sim)
        if self.settings.walls and sim.walls:
            frames[WALLS] = self._walls(sim)
        if any(not isinstance(shape, Clump) for shape in sim.shapes):
            frames[SURFACES] = self._surfaces(sim)
        return frames

    def _short(self, values: npt.ArrayLike) -> npt.NDArray[np.floating]:
        return np.asarray(values, dtype=self.kind)

    def _particles(self, sim: Simulation) -> Frame:
        rows, points, radii = _spheres(sim)
        data = {
            "radius": self._short(radii),
            "velocity": self._short(sim.velocities[rows]),
            "spin": self._short(sim.spins[rows]),
            "orientation": self._short(sim.orientations[rows]),
            "mass": self._short(sim.masses[rows]),
            "id": sim.ids[rows].astype(np.int32),
            "material": sim.material_ids[rows].astype(np.int32),
            "shape": sim.shape_ids[rows].astype(np.int32),
        }
        return Frame(sim.time, self._short(points), vertices(len(points)), data)

    def _surfaces(self, sim: Simulation) -> Frame:
        corners, owners = surfaces(sim)
        return _triangles(sim.time, self._short(corners), {"id": owners.astype(np.int32)})

    def _contacts(self, sim: Simulation) -> Frame:
        contacts = sim.contacts()
        data = {
            "force": self._short(contacts["force"]),
            "normal": self._short(contacts["normal"]),
            "overlap": self._short(contacts["overlap"]),
            "normal_force": self._short(contacts["normal_force"]),
            "tangential_force": self._short(contacts["tangential_force"]),
            "i": contacts["i"].astype(np.int32),
            "j": contacts["j"].astype(np.int32),
            "wall": contacts["wall"].astype(np.int32),
        }
        return Frame(sim.time, self._short(contacts["point"]), vertices(len(contacts["i"])), data)

    def _walls(self, sim: Simulation) -> Frame:
        corners = [self.surfaces.of(wall) for wall in sim.walls]
        counts = [len(part) for part in corners]
        data = {
            "wall": np.repeat(np.arange(len(counts), dtype=np.int32), counts),
            "force": self._short(np.repeat([wall.force for wall in sim.walls], counts, axis=0)),
            "torque": self._short(np.repeat([wall.torque for wall in sim.walls], counts, axis=0)),
        }
        return _triangles(sim.time, self._short(np.concatenate(corners)), data)


def _triangles(time: float, corners: npt.NDArray[np.floating], data: dict[str, npt.NDArray[Any]]) -> Frame:
    points = corners.reshape(-1, 3)
    ids = np.arange(len(points), dtype=np.int32)
    offsets = np.arange(0, len(points) + 1, 3, dtype=np.int32)
    return Frame(time, points, {"Polygons": (ids, offsets)}, {}, data)


def _spheres(sim: Simulation) -> tuple[npt.NDArray[np.intp], Array, Array]:
    """Return what is drawn as spheres: row of the body, centre and radius. A clump is drawn as its spheres."""
    kinds = sim.shape_ids
    rows = [np.flatnonzero([kind < 0 or not isinstance(sim.shapes[kind], Clump) for kind in kinds.tolist()])]
    points, radii = [sim.positions[rows[0]]], [sim.radii[rows[0]]]
    for number, shape in enumerate(sim.shapes):
        if isinstance(shape, Clump):
            own = shape.properties()
            local = (shape.offsets - own.centre) @ own.axes
            for row in np.flatnonzero(kinds == number):
                rows.append(np.full(len(local), row))
                points.append(sim.positions[row] + rotated(sim.orientations[row], local))
                radii.append(shape.radii)
    return np.concatenate(rows), np.concatenate(points), np.concatenate(radii)
