"""The time series of grains: particles, contacts, walls and surfaces."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal.dem.shapes import Clump
from vicinal.dem.snapshot import Snapshot
from vicinal.dem.surfaces import surfaces
from vicinal.sim.folder import CONTACTS, PARTICLES, SURFACES, WALLS
from vicinal.sim.scene import Output
from vicinal.sim.scene_walls import SceneWalls
from vicinal.sim.vtkhdf import Frame, triangles, vertices
from vicinal.sim.walls import rotated

Array = npt.NDArray[np.float64]


class GrainFrames:
    """Collects the frames of a moment.

    Parameters
    ----------
    settings
        The data to write, and their precision.
    walls
        The walls of the scene.
    """

    def __init__(self, settings: Output, walls: SceneWalls) -> None:
        self.settings = settings
        self.walls = walls
        self.kind = np.float32 if settings.precision == "single" else np.float64

    def of(self, sim: Snapshot, *, walls: bool = True) -> dict[str, Frame]:
        """Return the frames by the names of their files, with or without that of the walls."""
        frames = {PARTICLES: self._particles(sim)}
        if self.settings.contacts:
            frames[CONTACTS] = self._contacts(sim)
        if walls and self.settings.walls and sim.walls:
            frames[WALLS] = self.walls.frame(sim.time, self.kind)
        if any(not isinstance(shape, Clump) for shape in sim.shapes):
            frames[SURFACES] = self._surfaces(sim)
        return frames

    def _short(self, values: npt.ArrayLike) -> npt.NDArray[np.floating]:
        return np.asarray(values, dtype=self.kind)

    def _particles(self, sim: Snapshot) -> Frame:
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

    def _surfaces(self, sim: Snapshot) -> Frame:
        corners, owners = surfaces(sim)
        return triangles(sim.time, self._short(corners), {"id": owners.astype(np.int32)})

    def _contacts(self, sim: Snapshot) -> Frame:
        contacts = sim.touching
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


def _spheres(sim: Snapshot) -> tuple[npt.NDArray[np.intp], Array, Array]:
    """Return the spheres to draw: row of the body, centre and radius. A clump is drawn as its spheres."""
    kinds = sim.shape_ids
    rows = [np.flatnonzero([kind < 0 or not isinstance(sim.shapes[kind], Clump) for kind in kinds.tolist()])]
    points, radii = [sim.positions[rows[0]]], [sim.radii[rows[0]]]
    for number, shape in enumerate(sim.shapes):
        if isinstance(shape, Clump):
            local = shape.offsets - shape.properties().centre
            for row in np.flatnonzero(kinds == number):
                rows.append(np.full(len(local), row))
                points.append(sim.positions[row] + rotated(sim.orientations[row], local))
                radii.append(shape.radii)
    return np.concatenate(rows), np.concatenate(points), np.concatenate(radii)
