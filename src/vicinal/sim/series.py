"""Time series in VTKHDF that never lose a complete step.

HDF5 files cannot be extended safely: if the process is killed or the disk is full during a write, no library can open
the file. Therefore a complete file is never changed. Steps are appended to a log (`frame_log`), which takes less than a
millisecond. Every few seconds the steps of the log are written to a VTKHDF file in a folder beside the series, and the
series is rewritten as an index of virtual datasets that refer to these files, which ParaView reads. Files are written
under another name and renamed when they are complete. Closing the series copies all steps into one file, which replaces
the index in the same way, and removes the folder.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.frame_log import append_frame, read_frames
from vicinal.sim.vtkhdf import (
    GROUPS,
    Frame,
    Part,
    check_frame,
    joined,
    need_h5py,
    read_steps,
    write_index,
    write_steps,
    write_whole,
)

Array = npt.NDArray[Any]

LOOSE_PARTS = 12
"""The largest number of files before they are joined; an index of more files takes longer to write than a step."""

INDEX_SECONDS, INDEX_SHARE = 5.0, 0.02
"""Largest age of the index in seconds when a step is written, and the largest fraction of time to spend on it."""

LOG_BYTES = 1 << 25
"""Largest size of the steps in the log, in bytes."""


def log_of(path: Path) -> Path:
    """Return the log of the series in a file."""
    return _folder(path) / "steps.log"


def _folder(path: Path) -> Path:
    return path.with_name(path.name + ".parts")


class SeriesWriter:
    """Writes a time series step by step.

    Parameters
    ----------
    path
        The file to write, ending in ``.vtkhdf``. An existing one is replaced at the first step.
    keep
        Continue the existing series after this time instead.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from vicinal.sim.vtkhdf import vertices
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
        self.folder = _folder(path)
        self._log = log_of(path)
        self._parts: list[Part] = []
        self._waiting: list[Frame] = []  # in the log, not in a part
        self._bytes = 0
        self._number = 0
        self._begun = False
        self._next_index = 0.0
        if keep is not None and path.exists():
            self._take_over(keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of complete steps."""
        return sum(len(part) for part in self._parts) + len(self._waiting)

    def append(self, frame: Frame) -> None:
        """Append a step. Afterwards `SeriesReader` finds the step; if writing fails, all earlier steps remain."""
        check_frame(frame)
        if not self._begun:
            shutil.rmtree(self.folder, ignore_errors=True)
            self._begun = True
        self.folder.mkdir(exist_ok=True)
        self._bytes += append_frame(self._log, frame)
        self._waiting.append(frame)
        if perf_counter() >= self._next_index or self._bytes > LOG_BYTES:
            self.index()

    def index(self) -> None:
        """Make all steps visible to other programs now; without this call they see steps a few seconds late."""
        start = perf_counter()
        if self._waiting:
            if len(self._parts) >= LOOSE_PARTS:
                self._tidy()
            parts = [*self._parts, write_steps(self._next(), self._waiting)]
            write_index(self.path, parts)
            self._parts = parts
            # If the process is killed before this, steps are in the index and in the log; readers use those of the
            # index.
            self._log.unlink(missing_ok=True)
            self._waiting, self._bytes = [], 0
        now = perf_counter()
        self._next_index = now + max(INDEX_SECONDS, (now - start) / INDEX_SHARE)

    def close(self) -> None:
        """Join all steps into one file. If that fails (for example, disk full), index, parts and log remain valid."""
        if not len(self) or not self.folder.exists():
            return
        parts = list(self._parts)
        if self._waiting:
            parts.append(write_steps(self._next(), self._waiting))
        if len(parts) > 1 or parts[0].file.parent == self.folder:
            write_whole(self.path, parts)
        self._parts, self._waiting, self._bytes = [joined(parts, self.path)], [], 0
        shutil.rmtree(self.folder, ignore_errors=True)

    def _next(self) -> Path:
        self._number += 1
        return self.folder / f"{self._number:06d}.h5"

    def _tidy(self) -> None:
        """Join the newer files into one, so that their number stays small; larger files are not changed."""
        count = len(self._parts) - 1
        # Go backwards from the last file as long as a file holds no more than all later ones together. Then the sizes
        # fall at least twofold from file to file, and both the number of files and the copies of a step are logarithmic
        # in the number of steps.
        while count > 0 and len(self._parts[count - 1]) <= sum(len(part) for part in self._parts[count:]):
            count -= 1
        old, loose = self._parts[:count], self._parts[count:]
        if len(loose) < 2:
            return
        file = self._next()
        write_whole(file, loose)
        self._parts = [*old, joined(loose, file)]
        # The old files are removed once no index refers to them.
        write_index(self.path, self._parts)
        for part in loose:
            part.file.unlink(missing_ok=True)

    def _take_over(self, until: float) -> None:
        """Make the existing series the first part of this one."""
        self.folder.mkdir(exist_ok=True)
        used = [int(file.stem) for file in self.folder.glob("*.h5") if file.stem.isdigit()]
        self._number = max(used, default=0)
        whole = read_steps(self.path)
        waiting = _after(whole.times, read_frames(self._log))
        count = sum(_is_kept(time, until) for time in whole.times)
        parts: list[Part] = []
        if count:
            file = self._next()
            part = whole.first(count)
            write_whole(file, [part])
            parts.append(joined([part], file))
        if frames := [frame for frame in waiting if _is_kept(frame.time, until)]:
            parts.append(write_steps(self._next(), frames))
        if not parts:
            return
        write_index(self.path, parts)
        self._parts, self._begun = parts, True
        for old in self.folder.glob("*.h5"):
            if all(old != part.file for part in parts):
                old.unlink()
        self._log.unlink(missing_ok=True)


def _is_kept(time: float, until: float) -> bool:
    return time <= until * (1 + 1e-12)


def _after(times: npt.ArrayLike, frames: list[Frame]) -> list[Frame]:
    """Return the frames that are later than all given times."""
    last = np.max(times, initial=-np.inf)
    return [frame for frame in frames if frame.time > last]


class SeriesReader:
    """Reads a time series step by step, also while it is being written.

    Parameters
    ----------
    path
        The ``.vtkhdf`` file.
    """

    def __init__(self, path: Path) -> None:
        h5py = need_h5py()
        self.path = path
        # Read the log before the index: steps move from the log to the index, never back.
        waiting = read_frames(log_of(path))
        try:
            with h5py.File(path, "r") as source:
                root = source["VTKHDF"]
                indexed: Array = root["Steps/Values"][...]
                self.names: list[str] = sorted(root.get("PointData", ()))
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: no such file") from None
        except (OSError, KeyError) as error:
            raise InputError(f"{path}: not a VTKHDF time series ({error})") from None
        self._waiting = _after(indexed, waiting)
        self._indexed = len(indexed)
        self.times: Array = np.concatenate([indexed, [frame.time for frame in self._waiting]])

    def __len__(self) -> int:
        """Return the number of steps."""
        return len(self.times)

    def __getitem__(self, step: int) -> Frame:
        """Read one step."""
        if not -len(self) <= step < len(self):
            raise IndexError(f"step {step} of {len(self)}")
        step %= len(self)
        if step >= self._indexed:
            return self._waiting[step - self._indexed]
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
