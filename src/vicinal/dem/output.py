"""What a run writes while it goes on: time series for ParaView, and a table of energies and forces."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.config.scene import Output, Scene
from vicinal.dem.shapes import Clump
from vicinal.dem.simulation import Simulation
from vicinal.dem.surfaces import surfaces
from vicinal.dem.walls import Wall, rotated
from vicinal.io.atomic import replace_file
from vicinal.sim.folder import CONTACTS, PARTICLES, SURFACES, WALLS
from vicinal.sim.vtkhdf import Frame, SeriesWriter, vertices
from vicinal.sim.walls import BoxWall, CylinderWall

Array = npt.NDArray[np.float64]

ENERGIES = ("kinetic_translational", "kinetic_rotational", "potential", "elastic", "total")


class WallSurfaces:
    """What stands for each wall in pictures: rectangles for a box, discs for ends of a cylinder, else what it says."""

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
        """Return the triangles of a wall as it stands now, shape (m, 3, 3)."""
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


class PictureWriter:
    """The time series of a run: particles, contacts and walls, each a file of its own."""

    def __init__(self, folder: Path, settings: Output, surfaces: WallSurfaces, *, keep: float | None = None) -> None:
        self.settings = settings
        self.surfaces = surfaces
        self.kind = np.float32 if settings.precision == "single" else np.float64
        wanted = {PARTICLES: True, CONTACTS: settings.contacts, WALLS: settings.walls, SURFACES: True}
        self.series = {name: SeriesWriter(folder / name, keep=keep) for name, on in wanted.items() if on}

    def append(self, sim: Simulation) -> None:
        """Write this moment."""
        makers = {
            PARTICLES: self._particles,
            CONTACTS: self._contacts,
            WALLS: self._walls,
            SURFACES: self._surfaces,
        }
        # Bodies with a surface of their own may come later; what has begun is written at every step.
        solid = any(not isinstance(shape, Clump) for shape in sim.shapes)
        there = {WALLS: bool(sim.walls), SURFACES: solid or len(self.series[SURFACES]) > 0}
        for name, series in self.series.items():
            if there.get(name, True):
                series.append(makers[name](sim))

    def close(self) -> None:
        """Make each series one file."""
        for series in self.series.values():
            series.close()

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
        found = sim.contacts()
        data = {
            "force": self._short(found["force"]),
            "normal": self._short(found["normal"]),
            "overlap": self._short(found["overlap"]),
            "normal_force": self._short(found["normal_force"]),
            "tangential_force": self._short(found["tangential_force"]),
            "i": found["i"].astype(np.int32),
            "j": found["j"].astype(np.int32),
            "wall": found["wall"].astype(np.int32),
        }
        return Frame(sim.time, self._short(found["point"]), vertices(len(found["i"])), data)

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
    """Return what is drawn as spheres: row of the body, centre and radius. A clump is all of its spheres."""
    kinds = sim.shape_ids
    rows = [np.flatnonzero([kind < 0 or not isinstance(sim.shapes[kind], Clump) for kind in kinds.tolist()])]
    points, radii = [sim.positions[rows[0]]], [sim.radii[rows[0]]]
    for number, shape in enumerate(sim.shapes):
        if isinstance(shape, Clump):
            found = shape.properties()
            local = (shape.offsets - found.centre) @ found.axes
            for row in np.flatnonzero(kinds == number):
                rows.append(np.full(len(local), row))
                points.append(sim.positions[row] + rotated(sim.orientations[row], local))
                radii.append(shape.radii)
    return np.concatenate(rows), np.concatenate(points), np.concatenate(radii)


class Table:
    """Energies, number of contacts and forces on walls over time, as CSV: a line is there as a whole or not at all.

    Parameters
    ----------
    path
        The file. What is there is replaced.
    walls
        Walls with columns of their own.
    keep
        Go on with the table that is there instead, after this step.
    """

    def __init__(self, path: Path, walls: Sequence[Wall], *, keep: int | None = None) -> None:
        self.path = path
        names = ["step", "time", "bodies", "contacts", "contacts_per_body", *ENERGIES]
        for wall in walls:
            names += [f"{wall.name}.{what}" for what in ("fx", "fy", "fz", "tx", "ty", "tz")]
        head = _line(names)
        lines = [] if keep is None or not path.exists() else _kept(path, head, keep)
        replace_file(path, "".join([head, *lines]).encode())

    def append(self, sim: Simulation) -> None:
        """Write this moment."""
        contacts = sim.contact_count()
        # Contacts between two bodies count for both; the mean over bodies is the coordination number.
        energies = sim.energies()
        values: list[object] = [sim.step_count, repr(float(sim.time)), len(sim), contacts]
        values.append(f"{_coordination(sim):.6g}")
        values += [repr(float(energies[name])) for name in ENERGIES]
        for wall in sim.walls:
            values += [repr(float(x)) for x in (*wall.force, *wall.torque)]
        line = _line(values).encode()
        # One call for the whole line: the system does not interleave it, and a kill comes before or after.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                raise OSError(f"{self.path}: no space left for a line")
        finally:
            os.close(descriptor)


def _coordination(sim: Simulation) -> float:
    """Return the mean number of contacts of a body, with other bodies and with walls."""
    if not len(sim):
        return 0.0
    found = sim.contacts()
    with_walls = int((found["wall"] >= 0).sum())
    return (2 * (len(found["i"]) - with_walls) + with_walls) / len(sim)


def _line(values: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def _kept(path: Path, head: str, until: int) -> list[str]:
    """Return the lines of a table up to a step, if its columns are still the same."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines or lines[0] != head:
        return []
    return [line for line in lines[1:] if line.endswith("\n") and int(line.partition(",")[0]) <= until]
