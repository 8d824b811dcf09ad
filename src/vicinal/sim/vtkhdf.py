"""Files in VTKHDF, the HDF5 layout that ParaView reads: parts with a few steps, indices of parts, and whole series."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
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

PARTS = "Parts"
"""Group of an index, beside that of VTKHDF, with the names of its files and the numbers of steps to use of each."""

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
    pieces: int = 1
    """Number of frames that make up this moment; each of them is one rank's."""


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
class FilePart:
    """A complete file of a series, and those of its steps that belong to the series.

    A step consists of pieces that follow each other in every array, one of each rank that wrote the step.
    """

    file: Path
    times: Array
    pieces: Array
    """Number of pieces of each step."""

    points: Array
    """Number of points of each piece."""

    cells: Array
    """Number of cells of each piece, a column per kind."""

    ids: Array
    """Number of point numbers that the cells of each piece have, a column per kind."""

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def first(self, count: int) -> FilePart:
        """Return the part restricted to its first steps."""
        end = int(self.pieces[:count].sum())
        return FilePart(
            self.file, self.times[:count], self.pieces[:count], self.points[:end], self.cells[:end], self.ids[:end]
        )

    def counts(self, name: str) -> Array:
        """Return the number of rows of a dataset in each piece."""
        folder, _, leaf = name.rpartition("/")
        if folder in GROUPS:
            kind = GROUPS.index(folder)
            return self.ids[:, kind] if leaf == "Connectivity" else self.cells[:, kind] + 1
        return np.asarray(self.cells.sum(axis=1)) if folder == "CellData" else self.points

    def rows(self, name: str) -> Array:
        """Return the row of a dataset at which each step begins, and the number of rows."""
        return _ends(self.counts(name))[_ends(self.pieces)]

    def is_empty(self, name: str) -> bool:
        """Return whether a dataset has no entries except the zeros of empty offsets."""
        folder = name.partition("/")[0]
        return not (self.cells[:, GROUPS.index(folder)] if folder in GROUPS else self.counts(name)).any()


def _ends(counts: Array) -> Array:
    """Return 0 and the sums of the counts so far."""
    return np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)])


def _described(file: Path, times: npt.ArrayLike, pieces: npt.ArrayLike, counts: Sequence[npt.ArrayLike]) -> FilePart:
    """Return a part; consecutive steps of the same time are pieces of one step."""
    moments, numbers = np.asarray(times, np.float64), np.asarray(pieces, np.int64)
    begin = np.flatnonzero(np.concatenate([[True], moments[1:] != moments[:-1]]))
    points, cells, ids = (np.asarray(values, np.int64) for values in counts)
    return FilePart(file, moments[begin], np.add.reduceat(numbers, begin), points, cells, ids)


def _runs(parts: Sequence[FilePart]) -> list[tuple[int, int, int]]:
    """Return the steps of parts in the order of time: number of the part, its first step, and that after the last."""
    steps = sorted((time, number, step) for number, part in enumerate(parts) for step, time in enumerate(part.times))
    runs: list[tuple[int, int, int]] = []
    for _, number, step in steps:
        if runs and (runs[-1][0], runs[-1][2]) == (number, step):
            runs[-1] = (number, runs[-1][1], step + 1)
        else:
            runs.append((number, step, step + 1))
    return runs


def joined(parts: Sequence[FilePart], file: Path) -> FilePart:
    """Return the steps of several parts as they are in one file: steps of the same time become one."""
    runs = [(parts[number], begin, end) for number, begin, end in _runs(parts)]
    starts = {id(part): _ends(part.pieces) for part in parts}
    times, pieces = (np.concatenate([getattr(p, name)[a:b] for p, a, b in runs]) for name in ("times", "pieces"))
    counts = [
        np.concatenate([getattr(p, name)[starts[id(p)][a] : starts[id(p)][b]] for p, a, b in runs])
        for name in ("points", "cells", "ids")
    ]
    return _described(file, times, pieces, counts)


def merged(frames: Sequence[Frame]) -> Frame:
    """Return the pieces of a step as one frame."""
    if len(frames) == 1:
        return frames[0]
    first = frames[0]
    shifts = _ends(np.array([len(frame.points) for frame in frames]))
    cells = {}
    places: list[Array] = []
    """Rows of the data of cells, which are in the order of kinds in every piece."""
    rows = _ends(np.array([_cell_count(frame) for frame in frames]))[:-1]
    for kind in GROUPS:
        here = [frame.cells.get(kind, _NO_CELLS) for frame in frames]
        numbers = np.array([len(offsets) - 1 for _, offsets in here])
        places += [np.arange(row, row + number) for row, number in zip(rows, numbers, strict=True)]
        rows = rows + numbers
        if numbers.any():
            ids = [indices + shift for (indices, _), shift in zip(here, shifts[:-1], strict=True)]
            begin = _ends(np.array([len(indices) for indices, _ in here]))[:-1]
            ends = [offsets[1:] + shift for (_, offsets), shift in zip(here, begin, strict=True)]
            cells[kind] = np.concatenate(ids), np.concatenate([[0], *ends])
    point_data = {name: np.concatenate([frame.point_data[name] for frame in frames]) for name in first.point_data}
    order = np.concatenate(places)
    cell_data = {name: np.concatenate([frame.cell_data[name] for frame in frames])[order] for name in first.cell_data}
    return Frame(first.time, np.concatenate([frame.points for frame in frames]), cells, point_data, cell_data)


def _cell_count(frame: Frame) -> int:
    return sum(len(offsets) - 1 for _, offsets in frame.cells.values())


def check_frame(frame: Frame) -> None:
    """Raise `InputError` unless every point and cell has its data."""
    _raw(frame)


def write_steps(file: Path, frames: Sequence[Frame]) -> FilePart:
    """Write a few steps to a new file; frames of the same time are pieces of one step.

    The file is built in memory, so that HDF5 never sees a failing disk.
    """
    h5py = need_h5py()
    # Checked before anything is written.
    each = [_raw(frame) for frame in frames]
    raw = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
    kinds = [[frame.cells.get(kind, _NO_CELLS) for kind in GROUPS] for frame in frames]
    counts = (
        [len(frame.points) for frame in frames],
        [[len(offsets) - 1 for _, offsets in of_frame] for of_frame in kinds],
        [[len(ids) for ids, _ in of_frame] for of_frame in kinds],
    )
    part = _described(file, [frame.time for frame in frames], np.ones(len(frames)), counts)
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
    cells = _cell_count(frame)
    for group, data, count in (("PointData", frame.point_data, len(points)), ("CellData", frame.cell_data, cells)):
        for name, values in data.items():
            if len(values) != count:
                raise InputError(f"{group}/{name} must have {count} values, one per point or cell, got {len(values)}")
            raw[f"{group}/{name}"] = np.asarray(values)
    return raw


def _begin(file: Any, part: FilePart, names: Mapping[str, Any]) -> Any:
    """Write the description of a series: kind, counts, and the rows of the arrays at which each step begins."""
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(VERSION, dtype=np.int64)
    # Readers expect a string of fixed length; h5py would write one of variable length.
    root.attrs.create("Type", np.bytes_("PolyData"))
    root["NumberOfPoints"] = part.points
    for kind, group in enumerate(GROUPS):
        root[f"{group}/NumberOfCells"] = part.cells[:, kind]
        root[f"{group}/NumberOfConnectivityIds"] = part.ids[:, kind]
    steps = root.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(len(part))
    steps["Values"] = part.times
    steps["NumberOfParts"] = part.pieces
    begin = _ends(part.pieces)[:-1]
    steps["PartOffsets"] = begin
    for name, counts in (("Point", part.points), ("Cell", part.cells), ("ConnectivityId", part.ids)):
        steps[f"{name}Offsets"] = _ends(counts)[begin]
    for name in names:
        group, _, leaf = name.rpartition("/")
        if group in {"PointData", "CellData"}:
            steps[f"{group}Offsets/{leaf}"] = part.rows(name)[:-1]
    return root


def read_steps(root: Any, file: Path) -> FilePart:
    """Read the description of the steps of an open file."""
    cells = np.stack([root[f"{group}/NumberOfCells"][...] for group in GROUPS], axis=1)
    ids = np.stack([root[f"{group}/NumberOfConnectivityIds"][...] for group in GROUPS], axis=1)
    steps = root["Steps"]
    return FilePart(file, steps["Values"][...], steps["NumberOfParts"][...], root["NumberOfPoints"][...], cells, ids)


def read_parts(path: Path) -> list[FilePart]:
    """Read the description of the files that a series consists of: those of an index, or the file itself."""
    h5py = need_h5py()
    with h5py.File(path, "r") as source:
        if PARTS not in source:
            return [read_steps(source["VTKHDF"], path)]
        files = [path.parent / os.fsdecode(name) for name in source[PARTS]["files"][...]]
        steps = source[PARTS]["steps"][...].tolist()
    parts = []
    for file, count in zip(files, steps, strict=True):
        with h5py.File(file, "r") as source:
            parts.append(read_steps(source["VTKHDF"], file).first(count))
    return parts


def _shapes(file: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shapes and types of those arrays of a file whose lengths depend on the numbers of points and cells."""
    h5py = need_h5py()
    with h5py.File(file, "r") as source:
        root = source["VTKHDF"]
        names = ["Points", *(f"{kind}/{leaf}" for kind in GROUPS for leaf in ("Connectivity", "Offsets"))]
        names += [f"{group}/{leaf}" for group in ("PointData", "CellData") for leaf in root.get(group, ())]
        return {name: (root[name].shape, root[name].dtype) for name in names}


def write_index(path: Path, parts: Sequence[FilePart]) -> None:
    """Write a file of virtual datasets that refer to the parts; it takes a few bytes per array and part."""
    h5py = need_h5py()
    whole = joined(parts, path)
    names = _shapes(parts[-1].file)
    # Paths are relative to the folder of the index, so that both can be moved together.
    files = [os.path.relpath(part.file, path.parent) for part in parts]
    runs = _runs(parts)
    with h5py.File(f"{path.name}-{os.getpid()}", "w", driver="core", backing_store=False) as memory:
        root = _begin(memory, whole, names)
        memory[f"{PARTS}/files"] = np.array([os.fsencode(file) for file in files])
        memory[f"{PARTS}/steps"] = np.array([len(part) for part in parts], np.int64)
        for name, (shape, dtype) in names.items():
            total = whole.rows(name)[-1]
            if whole.is_empty(name):
                root[name] = np.zeros((total, *shape[1:]), dtype)
                continue
            layout = h5py.VirtualLayout((total, *shape[1:]), dtype)
            rows = [part.rows(name) for part in parts]
            sources = [
                h5py.VirtualSource(file, f"VTKHDF/{name}", (of_part[-1], *shape[1:]), dtype)
                for file, of_part in zip(files, rows, strict=True)
            ]
            at = 0
            for number, first, last in runs:
                begin, end = rows[number][[first, last]]
                if begin < end:
                    layout[at : at + end - begin] = sources[number][begin:end]
                at += end - begin
            root.create_virtual_dataset(name, layout)
        memory.flush()
        image = memory.id.get_file_image()
    replace_file(path, image)


def write_whole(path: Path, parts: Sequence[FilePart]) -> None:
    """Copy parts into one file, array by array."""
    h5py = need_h5py()
    whole = joined(parts, path)
    names = _shapes(parts[-1].file)
    with atomic_path(path) as temporary, h5py.File(temporary, "w") as target:
        root = _begin(target, whole, names)
        places = {
            name: root.create_dataset(name, (whole.rows(name)[-1], *shape[1:]), dtype, **_filters(dtype))
            for name, (shape, dtype) in names.items()
        }
        at = dict.fromkeys(names, 0)
        rows = [{name: part.rows(name) for name in names} for part in parts]
        with ExitStack() as opened:
            sources: dict[int, Any] = {}
            for number, first, last in _runs(parts):
                if number not in sources:
                    sources[number] = opened.enter_context(h5py.File(parts[number].file, "r"))["VTKHDF"]
                for name, place in places.items():
                    begin, end = rows[number][name][[first, last]].tolist()
                    if begin < end:
                        place[at[name] : at[name] + end - begin] = sources[number][name][begin:end]
                    at[name] += end - begin


def _filters(dtype: np.dtype[Any]) -> dict[str, Any]:
    """Return the compression of integers, which are mostly consecutive; floats are stored uncompressed."""
    return {"chunks": True, "compression": 1, "shuffle": True} if dtype.kind in "iu" else {}
