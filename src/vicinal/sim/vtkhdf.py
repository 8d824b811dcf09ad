"""Files in VTKHDF, the HDF5 layout that ParaView reads: parts with a few steps, indices of parts, and whole series."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.extras import need
from vicinal.io.atomic import atomic_path, replace_file

Array = npt.NDArray[Any]

VERSION = (2, 0)
"""Version of the format; 2.0 is the oldest with time series of PolyData."""

GROUPS = ("Vertices", "Lines", "Polygons", "Strips")
"""Kinds of cells, in the order of the format."""


@dataclass
class Frame:
    """One moment of a series: points, cells of one or more kinds, and data of both."""

    time: float
    points: Array
    cells: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    """Per kind of cells: `indices` of their points, cell by cell, and `offsets` at which the cells begin and end."""

    point_data: Mapping[str, Array] = field(default_factory=dict)
    cell_data: Mapping[str, Array] = field(default_factory=dict)


def vertices(count: int) -> dict[str, tuple[Array, Array]]:
    """Return one cell per point, so that ParaView shows and selects points."""
    return {"Vertices": (np.arange(count, dtype=np.int32), np.arange(count + 1, dtype=np.int32))}


def triangles(time: float, corners: Array, data: Mapping[str, Array]) -> Frame:
    """Return a frame of triangles, shape (m, 3, 3), with data of each."""
    points = corners.reshape(-1, 3)
    indices = np.arange(len(points), dtype=np.int32)
    offsets = np.arange(0, len(points) + 1, 3, dtype=np.int32)
    return Frame(time, points, {"Polygons": (indices, offsets)}, {}, data)


def need_h5py() -> Any:
    """Import h5py."""
    need("VTKHDF output", "dem", "h5py")
    import h5py

    return h5py


@dataclass
class Part:
    """A complete file of a series, and those of its steps that belong to the series."""

    file: Path
    times: list[float]
    points: list[int]
    cells: list[list[int]]
    ids: list[list[int]]

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def first(self, count: int) -> Part:
        """Return the part restricted to its first steps."""
        return Part(self.file, self.times[:count], self.points[:count], self.cells[:count], self.ids[:count])

    def rows(self, name: str) -> int:
        """Return the number of rows of a dataset that belong to the steps of this part."""
        folder, _, leaf = name.rpartition("/")
        if folder in GROUPS:
            kind = GROUPS.index(folder)
            if leaf == "Connectivity":
                return sum(counts[kind] for counts in self.ids)
            return sum(counts[kind] + 1 for counts in self.cells)
        if folder == "CellData":
            return sum(sum(counts) for counts in self.cells)
        return sum(self.points)

    def is_empty(self, name: str) -> bool:
        """Return whether a dataset has no entries except the zeros of empty offsets."""
        folder = name.partition("/")[0]
        if folder in GROUPS:
            kind = GROUPS.index(folder)
            return not any(counts[kind] for counts in self.cells)
        return self.rows(name) == 0


def joined(parts: Sequence[Part], file: Path) -> Part:
    """Return the steps of several parts, numbered as in one file."""
    lists: list[list[Any]] = [[], [], [], []]
    for part in parts:
        steps: tuple[list[Any], ...] = (part.times, part.points, part.cells, part.ids)
        for total, more in zip(lists, steps, strict=True):
            total.extend(more)
    return Part(file, *lists)


def check_frame(frame: Frame) -> None:
    """Raise `InputError` unless every point and cell has its data."""
    _raw(frame)


def write_steps(file: Path, frames: Sequence[Frame]) -> Part:
    """Write a few steps to a new file. The file is built in memory, so that HDF5 never sees a failing disk."""
    h5py = need_h5py()
    # Checked before anything is written.
    each = [_raw(frame) for frame in frames]
    raw = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
    kinds = [[frame.cells.get(kind, _NO_CELLS) for kind in GROUPS] for frame in frames]
    part = Part(
        file,
        [float(frame.time) for frame in frames],
        [len(frame.points) for frame in frames],
        [[len(offsets) - 1 for _, offsets in of_frame] for of_frame in kinds],
        [[len(ids) for ids, _ in of_frame] for of_frame in kinds],
    )
    with h5py.File(f"{file.name}-{os.getpid()}", "w", driver="core", backing_store=False) as memory:
        root = _begin(memory, part, raw)
        for name, values in raw.items():
            root.create_dataset(name, data=values)
        memory.flush()
        image = memory.id.get_file_image()
    replace_file(file, image)
    return part


_NO_CELLS = (np.zeros(0, np.int32), np.zeros(1, np.int32))


def _raw(frame: Frame) -> dict[str, Array]:
    """Return the arrays of a step whose lengths depend on the numbers of points and cells."""
    points = np.asarray(frame.points)
    raw: dict[str, Array] = {"Points": points.reshape(-1, 3)}
    for kind in GROUPS:
        indices, offsets = frame.cells.get(kind, _NO_CELLS)
        raw[f"{kind}/Connectivity"], raw[f"{kind}/Offsets"] = np.asarray(indices), np.asarray(offsets)
    cells = sum(len(offsets) - 1 for _, offsets in frame.cells.values())
    for group, data, count in (("PointData", frame.point_data, len(points)), ("CellData", frame.cell_data, cells)):
        for name, values in data.items():
            if len(values) != count:
                raise InputError(f"{group}/{name} must have {count} values, one per point or cell, got {len(values)}")
            raw[f"{group}/{name}"] = np.asarray(values)
    return raw


def _begin(file: Any, part: Part, names: Mapping[str, Any]) -> Any:
    """Write the description of a series: kind, counts, and the rows of the arrays at which each step begins."""
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(VERSION, dtype=np.int64)
    # Readers expect a string of fixed length; h5py would write one of variable length.
    root.attrs.create("Type", np.bytes_("PolyData"))
    points, cells, ids = (np.array(counts, np.int64) for counts in (part.points, part.cells, part.ids))
    root["NumberOfPoints"] = points
    for kind, group in enumerate(GROUPS):
        root[f"{group}/NumberOfCells"] = cells[:, kind]
        root[f"{group}/NumberOfConnectivityIds"] = ids[:, kind]
    count = len(part)
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(count)
    steps["Values"] = np.array(part.times, np.float64)
    steps["PartOffsets"] = np.arange(count, dtype=np.int64)
    steps["NumberOfParts"] = np.ones(count, np.int64)
    steps["PointOffsets"] = _starts(points)
    steps["CellOffsets"] = _starts(cells)
    steps["ConnectivityIdOffsets"] = _starts(ids)
    for name in names:
        group, _, leaf = name.rpartition("/")
        if group in {"PointData", "CellData"}:
            steps[f"{group}Offsets/{leaf}"] = _starts(points if group == "PointData" else cells.sum(axis=1))
    return root


def _starts(counts: Array) -> Array:
    """Return the row at which each step begins: the sum of the counts before."""
    return np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)[:-1]])


def read_steps(file: Path) -> Part:
    """Read the description of the steps of a file."""
    h5py = need_h5py()
    with h5py.File(file, "r") as source:
        root = source["VTKHDF"]
        cells = np.stack([root[f"{group}/NumberOfCells"][...] for group in GROUPS], axis=1)
        ids = np.stack([root[f"{group}/NumberOfConnectivityIds"][...] for group in GROUPS], axis=1)
        times = root["Steps/Values"][...]
        return Part(file, times.tolist(), root["NumberOfPoints"][...].tolist(), cells.tolist(), ids.tolist())


def _shapes(file: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shapes and types of those arrays of a file whose lengths depend on the numbers of points and cells."""
    h5py = need_h5py()
    with h5py.File(file, "r") as source:
        root = source["VTKHDF"]
        names = ["Points", *(f"{kind}/{leaf}" for kind in GROUPS for leaf in ("Connectivity", "Offsets"))]
        names += [f"{group}/{leaf}" for group in ("PointData", "CellData") for leaf in root.get(group, ())]
        return {name: (root[name].shape, root[name].dtype) for name in names}


def write_index(path: Path, parts: Sequence[Part]) -> None:
    """Write a file of virtual datasets that refer to the parts; it takes a few bytes per array and part."""
    h5py = need_h5py()
    whole = joined(parts, path)
    names = _shapes(parts[-1].file)
    # Paths are relative to the folder of the index, so that both can be moved together.
    files = [os.path.relpath(part.file, path.parent) for part in parts]
    with h5py.File(f"{path.name}-{os.getpid()}", "w", driver="core", backing_store=False) as memory:
        root = _begin(memory, whole, names)
        for name, (shape, dtype) in names.items():
            total = whole.rows(name)
            if whole.is_empty(name):
                root[name] = np.zeros((total, *shape[1:]), dtype)
                continue
            layout = h5py.VirtualLayout((total, *shape[1:]), dtype)
            begin = 0
            for part, file in zip(parts, files, strict=True):
                rows = part.rows(name)
                if rows:
                    source = h5py.VirtualSource(file, f"VTKHDF/{name}", (rows, *shape[1:]), dtype)
                    layout[begin : begin + rows] = source
                begin += rows
            root.create_virtual_dataset(name, layout)
        memory.flush()
        image = memory.id.get_file_image()
    replace_file(path, image)


def write_whole(path: Path, parts: Sequence[Part]) -> None:
    """Copy parts into one file, array by array."""
    h5py = need_h5py()
    whole = joined(parts, path)
    names = _shapes(parts[-1].file)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as target:
        root = _begin(target, whole, names)
        places = {
            name: root.create_dataset(name, (whole.rows(name), *shape[1:]), dtype, **_filters(dtype))
            for name, (shape, dtype) in names.items()
        }
        begin = dict.fromkeys(names, 0)
        for part in parts:
            with h5py.File(part.file, "r") as source:
                for name, place in places.items():
                    rows = part.rows(name)
                    if rows:
                        place[begin[name] : begin[name] + rows] = source["VTKHDF"][name][:rows]
                    begin[name] += rows


def _filters(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the compression of integers, which are mostly consecutive; floats are stored uncompressed."""
    return {"chunks": True, "compression": 1, "shuffle": True} if dtype.kind in "iu" else {}
