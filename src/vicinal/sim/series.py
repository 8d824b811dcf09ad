"""Time series in VTKHDF that are complete after every step.

HDF5 files cannot be extended safely: a kill or a full disk during a write leaves a file that no library opens. So a
complete file is never changed. Every step is a small VTKHDF file of its own in a folder beside the series, and the
series is an index of virtual datasets that refer to them. Both are written under another name and renamed when they are
complete. Closing the series copies everything into one file, which replaces the index in the same way; then the folder
is removed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any, Self

import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.vtkhdf import (
    GROUPS,
    Frame,
    Part,
    joined,
    need_h5py,
    read_steps,
    write_index,
    write_step,
    write_whole,
)

Array = npt.NDArray[Any]

LOOSE_PARTS = 12
"""Files of single steps that are kept before they are joined: an index of more takes longer to write than a step."""


class SeriesWriter:
    """Writes a time series step by step.

    Parameters
    ----------
    path
        The file to write, ending in ``.vtkhdf``. An existing one is replaced at the first step.
    keep
        Continue the existing series after its steps up to this time instead.

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
        self.folder = path.with_name(path.name + ".parts")
        self._parts: list[Part] = []
        self._number = 0
        self._template: Path | None = None
        if keep is not None and path.exists():
            self._take_over(keep)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of complete steps."""
        return sum(len(part) for part in self._parts)

    def append(self, frame: Frame) -> None:
        """Add a step. When this returns, the step can be read; if it fails, the steps before can still be read."""
        if not self._parts and self._template is None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)
        part = write_step(self._next(), frame)
        if len(self._parts) >= LOOSE_PARTS:
            self._tidy()
        self._parts.append(part)
        try:
            write_index(self.path, self._parts)
        except BaseException:
            self._parts.pop()
            raise

    def close(self) -> None:
        """Join all steps into one file. If that fails (a full disk, for example), index and parts remain valid."""
        if not self._parts or not self.folder.exists():
            return
        if len(self._parts) > 1 or self._parts[0].file.parent == self.folder:
            write_whole(self.path, self._parts)
        self._parts = [joined(self._parts, self.path)]
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
        write_whole(file, loose)
        self._parts = [*many, joined(loose, file)]
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
        count = sum(time <= until * (1 + 1e-12) for time in whole.times)
        if count == 0:
            return
        file = self._next()
        part = whole.first(count)
        write_whole(file, [part])
        self._parts = [joined([part], file)]
        self._template = file
        write_index(self.path, self._parts)
        for old in self.folder.glob("*.h5"):
            if old != file:
                old.unlink()


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
