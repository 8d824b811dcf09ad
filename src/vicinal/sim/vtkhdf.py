"""Time series in VTKHDF, the HDF5 layout that ParaView reads: complete after every step, whatever happens in between.

HDF5 files cannot be extended safely: a kill or a full disk during a write leaves a file that no library opens. So a
finished file is never touched again. Every step is a small VTKHDF file of its own in a folder beside the series, and
the series is an index of virtual datasets that refers to them. Both are written under another name and renamed when
they are complete. Closing the series copies everything into one file, which takes the place of the index in the same
way; only then the folder goes.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.extras import need
from vicinal.io.atomic import atomic_path, replace_file

Array = npt.NDArray[Any]

VERSION = (2, 0)
"""Of the format; 2.0 is the first with time series of PolyData, so older readers understand the files too."""

GROUPS = ("Vertices", "Lines", "Polygons", "Strips")
"""Kinds of cells, in the order the format counts them."""

LOOSE_PARTS = 12
"""Files of single steps that are kept before they are joined: an index of more takes longer to write than a step."""


@dataclass
class Frame:
    """One moment: points, cells of one kind or more, and data of both."""

    time: float
    points: Array
    cells: Mapping[str, tuple[Array, Array]] = field(default_factory=dict)
    """For a kind of cells: numbers of their points, one cell after the other, and where each begins (and the end)."""

    point_data: Mapping[str, Array] = field(default_factory=dict)
    cell_data: Mapping[str, Array] = field(default_factory=dict)


def vertices(count: int) -> dict[str, tuple[Array, Array]]:
    """Give every point a cell of its own, so that ParaView shows and selects it."""
    return {"Vertices": (np.arange(count, dtype=np.int32), np.arange(count + 1, dtype=np.int32))}


def need_h5py() -> Any:
    """Import h5py, or say how to get it."""
    need("VTKHDF output", "dem", "h5py")
    import h5py

    return h5py


@dataclass
class _Part:
    """A finished file of the series and what of it counts."""

    file: Path
    times: list[float]
    points: list[int]
    cells: list[list[int]]
    ids: list[list[int]]

    def __len__(self) -> int:
        return len(self.times)

    def first(self, count: int) -> _Part:
        return _Part(self.file, self.times[:count], self.points[:count], self.cells[:count], self.ids[:count])

    def rows(self, name: str) -> int:
        """Rows of a dataset that belong to the steps of this part."""
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
        """Whether a dataset has nothing but the zeros at which no cells begin."""
        folder = name.partition("/")[0]
        if folder in GROUPS:
            kind = GROUPS.index(folder)
            return not any(counts[kind] for counts in self.cells)
        return self.rows(name) == 0


def _joined(parts: Sequence[_Part], file: Path) -> _Part:
    lists: list[list[Any]] = [[], [], [], []]
    for part in parts:
        steps: tuple[list[Any], ...] = (part.times, part.points, part.cells, part.ids)
        for total, more in zip(lists, steps, strict=True):
            total.extend(more)
    return _Part(file, *lists)


class SeriesWriter:
    """Write a time series, one step after the other.

    Parameters
    ----------
    path
        The file to write, ending in ``.vtkhdf``. What is there is replaced at the first step.
    keep
        Go on with the series that is there instead, after its steps up to this time.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "two.vtkhdf")
    ...     with SeriesWriter(path) as series:
    ...         series.append(Frame(0.0, np.zeros((2, 3)), vertices(2), {"radius": np.ones(2)}))
    ...         series.append(Frame(0.1, np.ones((1, 3)), vertices(1), {"radius": np.ones(1)}))
    ...     SeriesReader(path).times
    array([0. , 0.1])
    """

    def __init__(self, path: Path, *, keep: float | None = None) -> None:
        need_h5py()
        self.path = path
        self.folder = path.with_name(path.name + ".parts")
        self._parts: list[_Part] = []
        self._number = 0
        self._template: Path | None = None
        if keep is not None and path.exists():
            self._take_over(keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of finished steps."""
        return sum(len(part) for part in self._parts)

    def append(self, frame: Frame) -> None:
        """Add a step. When this returns, the step can be read; if it fails, the steps before still can."""
        if not self._parts and self._template is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)
        part = _write_step(self._next(), frame)
        if len(self._parts) >= LOOSE_PARTS:
            self._tidy()
        self._parts.append(part)
        try:
            _write_index(self.path, self._parts)
        except BaseException:
            self._parts.pop()
            raise

    def close(self) -> None:
        """Make one file of all steps. If that fails (no space left, say), index and parts stay: they are valid too."""
        if not self._parts or not self.folder.exists():
            return
        if len(self._parts) > 1 or self._parts[0].file.parent == self.folder:
            _write_whole(self.path, self._parts)
        self._parts = [_joined(self._parts, self.path)]
        self._template = self.path
        shutil.rmtree(self.folder, ignore_errors=True)

    def _next(self) -> Path:
        self._number += 1
        return self.folder / f"{self._number:06d}.h5"

    def _tidy(self) -> None:
        """Join the files of single steps, so that their number stays small."""
        many = [part for part in self._parts if len(part) > 1]
        loose = [part for part in self._parts if len(part) == 1]
        file = self._next()
        _write_whole(file, loose)
        self._parts = [*many, _joined(loose, file)]
        # The old files stay until no index refers to them.
        _write_index(self.path, self._parts)
        for part in loose:
            part.file.unlink(missing_ok=True)

    def _take_over(self, until: float) -> None:
        """Make the existing series the first part of this one."""
        self.folder.mkdir(exist_ok=True)
        used = [int(file.stem) for file in self.folder.glob("*.h5") if file.stem.isdigit()]
        self._number = max(used, default=0)
        whole = _read_steps(self.path)
        count = sum(time <= until * (1 + 1e-12) for time in whole.times)
        if count == 0:
            return
        file = self._next()
        part = whole.first(count)
        _write_whole(file, [part])
        self._parts = [_joined([part], file)]
        self._template = file
        _write_index(self.path, self._parts)
        for old in self.folder.glob("*.h5"):
            if old != file:
                old.unlink()


def _write_step(file: Path, frame: Frame) -> _Part:
    """Write one step as a file of its own: made in memory, so that no failure reaches the HDF5 library."""
    h5py = need_h5py()
    # Copied and checked before anything is written.
    raw = _raw(frame)
    kinds = [frame.cells.get(kind, _NO_CELLS) for kind in GROUPS]
    part = _Part(
        file,
        [float(frame.time)],
        [len(frame.points)],
        [[len(offsets) - 1 for _, offsets in kinds]],
        [[len(ids) for ids, _ in kinds]],
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
    """Collect the arrays of a step that grow with the number of points and cells."""
    points = np.asarray(frame.points)
    raw: dict[str, Array] = {"Points": points.reshape(-1, 3)}
    for kind in GROUPS:
        ids, offsets = frame.cells.get(kind, _NO_CELLS)
        raw[f"{kind}/Connectivity"], raw[f"{kind}/Offsets"] = np.asarray(ids), np.asarray(offsets)
    cells = sum(len(offsets) - 1 for _, offsets in frame.cells.values())
    for group, data, count in (("PointData", frame.point_data, len(points)), ("CellData", frame.cell_data, cells)):
        for name, values in data.items():
            if len(values) != count:
                raise InputError(f"{group}/{name}: {len(values)} values found for {count} points or cells")
            raw[f"{group}/{name}"] = np.asarray(values)
    return raw


def _begin(file: Any, part: _Part, names: Mapping[str, Any]) -> Any:
    """Write what a series says about itself: kind, counts, and where in the arrays each step begins."""
    root = file.create_group("VTKHDF")
    root.attrs["Version"] = np.array(VERSION, dtype=np.int64)
    # A string of fixed length, as the reader expects; h5py would make one of variable length.
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
    """Where each step begins: the sum of those before."""
    return np.concatenate([np.zeros_like(counts[:1]), np.cumsum(counts, axis=0)[:-1]])


def _read_steps(file: Path) -> _Part:
    """Read what a file of ours says about its steps."""
    h5py = need_h5py()
    with h5py.File(file, "r") as source:
        root = source["VTKHDF"]
        cells = np.stack([root[f"{group}/NumberOfCells"][...] for group in GROUPS], axis=1)
        ids = np.stack([root[f"{group}/NumberOfConnectivityIds"][...] for group in GROUPS], axis=1)
        times = root["Steps/Values"][...]
        return _Part(file, times.tolist(), root["NumberOfPoints"][...].tolist(), cells.tolist(), ids.tolist())


def _shapes(file: Path) -> dict[str, tuple[tuple[int, ...], np.dtype[Any]]]:
    """Return shape and type of the growing arrays of a file."""
    h5py = need_h5py()
    with h5py.File(file, "r") as source:
        root = source["VTKHDF"]
        names = ["Points", *(f"{kind}/{leaf}" for kind in GROUPS for leaf in ("Connectivity", "Offsets"))]
        names += [f"{group}/{leaf}" for group in ("PointData", "CellData") for leaf in root.get(group, ())]
        return {name: (root[name].shape, root[name].dtype) for name in names}


def _write_index(path: Path, parts: Sequence[_Part]) -> None:
    """Write the file that refers to the finished ones: a few bytes per array and part."""
    h5py = need_h5py()
    whole = _joined(parts, path)
    names = _shapes(parts[-1].file)
    # Relative to the folder of the index, so that both can move together.
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


def _write_whole(path: Path, parts: Sequence[_Part]) -> None:
    """Copy finished files into one, array by array, a step at a time."""
    h5py = need_h5py()
    whole = _joined(parts, path)
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
    """Whole numbers here are mostly consecutive and shrink to almost nothing; measured values hardly do."""
    return {"chunks": True, "compression": 1, "shuffle": True} if dtype.kind in "iu" else {}


class SeriesReader:
    """Read a time series of PolyData, step by step; running simulations can be read too.

    Parameters
    ----------
    path
        The ``.vtkhdf`` file.
    """

    def __init__(self, path: Path) -> None:
        h5py = need_h5py()
        self.path = path
        try:
            with h5py.File(path, "r") as source:
                root = source["VTKHDF"]
                self.times: Array = root["Steps/Values"][...]
                self.names: list[str] = sorted(root.get("PointData", ()))
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: no such file") from None
        except (OSError, KeyError) as error:
            raise InputError(f"{path}: not a VTKHDF time series ({error})") from None

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def __getitem__(self, step: int) -> Frame:
        """Read one step."""
        if not -len(self) <= step < len(self):
            raise IndexError(f"step {step} of {len(self)}")
        step %= len(self)
        h5py = need_h5py()
        with h5py.File(self.path, "r") as source:
            root = source["VTKHDF"]
            steps = root["Steps"]
            count = int(root["NumberOfPoints"][step])
            first = int(steps["PointOffsets"][step])
            cells, all_cells = {}, 0
            for kind, group in enumerate(GROUPS):
                number = int(root[f"{group}/NumberOfCells"][step])
                all_cells += number
                if number:
                    begin = int(steps["CellOffsets"][step, kind]) + step
                    offsets = root[f"{group}/Offsets"][begin : begin + number + 1]
                    begin = int(steps["ConnectivityIdOffsets"][step, kind])
                    cells[group] = (root[f"{group}/Connectivity"][begin : begin + int(offsets[-1])], offsets)
            data: dict[str, dict[str, Array]] = {}
            for group, rows in (("PointData", count), ("CellData", all_cells)):
                data[group] = {}
                for name in root.get(group, ()):
                    begin = int(steps[f"{group}Offsets/{name}"][step])
                    data[group][name] = root[f"{group}/{name}"][begin : begin + rows]
            points = root["Points"][first : first + count]
            return Frame(float(self.times[step]), points, cells, data["PointData"], data["CellData"])
