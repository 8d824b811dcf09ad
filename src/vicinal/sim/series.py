"""Time series in VTKHDF that never lose a complete step.

HDF5 files cannot be extended safely: if the process is killed or the disk is full during a write, no library can open
the file. Therefore a complete file is never changed. Steps are appended to a log (`frame_log`), which takes less than a
millisecond. Every few seconds the steps of the log are written to a VTKHDF file in a folder beside the series, and the
series is rewritten as an index of virtual datasets that refer to these files, which ParaView reads. Files are written
under another name and renamed when they are complete. Closing the series copies all steps into one file, which replaces
the index in the same way, and removes the folder.

Several processes write one series together: each has a log and files of its own, with its piece of every step, and the
first one writes the index. Closing the series leaves one file of each process, and the index.
"""

from __future__ import annotations

import shutil
from collections import Counter
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.frame_log import append_frame, read_frames
from vicinal.sim.team import ALONE, Team
from vicinal.sim.vtkhdf import (
    GROUPS,
    FilePart,
    Frame,
    check_frame,
    joined,
    merged,
    need_h5py,
    read_parts,
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


def log_of(path: Path, rank: int = 0) -> Path:
    """Return the log of a rank of the series in a file."""
    return _folder(path) / f"{rank}.log"


def _folder(path: Path) -> Path:
    return path.with_name(path.name + ".parts")


def _number(file: Path) -> int:
    """Return the number in the name of a part, 0 if it has none."""
    number = file.stem.rpartition("-")[2]
    return int(number) if number.isdigit() else 0


class SeriesWriter:
    """Writes a time series step by step.

    Parameters
    ----------
    path
        The file to write, ending in ``.vtkhdf``. An existing one is replaced at the first step.
    keep
        Continue the existing series after this time instead.
    team
        The processes that write pieces of every step; by default this one alone. All of them call every method
        together. An error of one is raised in all; the series must not be used afterwards.

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

    def __init__(self, path: Path, *, keep: float | None = None, team: Team = ALONE) -> None:
        need_h5py()
        self.path, self.team = path, team
        self.folder = _folder(path)
        self._log = log_of(path, team.rank)
        self._kept: list[FilePart] = []  # of earlier runs, known to the first process
        self._parts: list[FilePart] = []  # of this process
        self._files: set[Path] = set()  # of these parts, and some that were joined since the last index
        self._waiting: list[Frame] = []  # in the log, not in a part
        self._bytes = 0
        self._number = 0
        self._steps = 0
        self._begun = self._closed = False
        self._next_index = 0.0
        if keep is not None:
            team.first(lambda: self._take_over(keep))
            self._number, self._steps, self._begun = team.told((self._number, self._steps, self._begun))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        """Return the number of complete steps."""
        return self._steps

    def append(self, frame: Frame | None) -> None:
        """Append a step. Afterwards `SeriesReader` finds the step; if writing fails, all earlier steps remain.

        None: the pieces of this step are those of other processes.
        """
        if self._closed:
            raise ValueError(f"{self.path}: the series is closed; continue it with SeriesWriter(path, keep=time)")
        team = self.team
        team.together(lambda: None if frame is None else check_frame(frame))
        if not self._begun:
            team.first(self._begin)
            self._begun = True
        size = team.together(lambda: 0 if frame is None else append_frame(self._log, frame))
        if frame is not None:
            self._waiting.append(frame)
            self._bytes += size
        self._steps += 1
        if any(team.gathered(perf_counter() >= self._next_index or self._bytes > LOG_BYTES)):
            self.index()

    def _begin(self) -> None:
        """Replace what is there."""
        shutil.rmtree(self.folder, ignore_errors=True)
        self.folder.mkdir(exist_ok=True)

    def index(self) -> None:
        """Make all steps visible to other programs now; without this call they see steps a few seconds late."""
        start = perf_counter()
        if any(self.team.gathered(bool(self._waiting))):
            self._publish(self.team.together(self._written))
        now = perf_counter()
        self._next_index = now + max(INDEX_SECONDS, (now - start) / INDEX_SHARE)

    def close(self) -> None:
        """Join all steps of a process into one file. If that fails, index, parts and log remain valid.

        The steps of one process become the series; those of several remain beside an index.
        """
        if not self._begun or self._closed:
            return
        parts = self.team.together(self._written)
        if self.team.size == 1:
            write_whole(self.path, [*self._kept, *parts])
            shutil.rmtree(self.folder, ignore_errors=True)
        else:
            self._publish(self.team.together(lambda: self._as_one(parts)))
        self._closed = True

    def _next(self) -> Path:
        self._number += 1
        file = self.folder / f"{self.team.rank}-{self._number:06d}.vtkhdf"
        self._files.add(file)
        return file

    def _written(self) -> list[FilePart]:
        """Return the parts of this process with the steps of its log, as few files as they should be."""
        parts = self._parts
        if not self._waiting:
            return parts
        if len(parts) >= LOOSE_PARTS:
            count = _settled(parts)
            parts = [*parts[:count], *self._as_one(parts[count:])]
        return [*parts, write_steps(self._next(), self._waiting)]

    def _as_one(self, parts: list[FilePart]) -> list[FilePart]:
        """Return parts as one file."""
        if len(parts) < 2:
            return parts
        file = self._next()
        write_whole(file, parts)
        return [joined(parts, file)]

    def _publish(self, parts: list[FilePart]) -> None:
        """Write the index of the parts of all processes, and remove files it no longer refers to."""
        gathered = self.team.gathered(parts)
        everything = [*self._kept, *(part for some in gathered for part in some)]
        self.team.first(lambda: write_index(self.path, everything))
        # If a process is killed before this, steps are in the index and in its log; readers use those of the index.
        self._log.unlink(missing_ok=True)
        self._waiting, self._bytes = [], 0
        used = {part.file for part in parts}
        for file in self._files - used:
            file.unlink(missing_ok=True)
        self._parts, self._files = parts, used

    def _take_over(self, until: float) -> None:
        """Make the existing series the first part of this one; any number of processes may have written it."""
        if not self.path.exists():
            return
        self.folder.mkdir(exist_ok=True)
        self._number = max((_number(file) for file in self.folder.glob("*.vtkhdf")), default=0)
        parts = read_parts(self.path)
        last = max((part.times[-1] for part in parts if len(part)), default=-np.inf)
        waiting = _after(last, _logged(self.folder))
        parts = [part.first(int(_is_kept(part.times, until).sum())) for part in parts]
        parts = [part for part in parts if len(part)]
        if parts and parts[0].file == self.path:  # a single file, whose place the index takes
            file = self._next()
            write_whole(file, parts)
            parts = [joined(parts, file)]
        if frames := [frame for frame in waiting if _is_kept(np.array(frame.time), until)]:
            parts.append(write_steps(self._next(), frames))
        if not parts:
            return
        write_index(self.path, parts)
        self._kept, self._begun = parts, True
        self._files = set()
        self._steps = len(np.unique(np.concatenate([part.times for part in parts])))
        for old in self.folder.glob("*.vtkhdf"):
            if all(old != part.file for part in parts):
                old.unlink()
        for log in self.folder.glob("*.log"):
            log.unlink()


def _settled(parts: list[FilePart]) -> int:
    """Return how many parts stay as they are when the later ones are joined.

    Go backwards from the last file as long as a file holds no more than all later ones together. Then the sizes fall at
    least twofold from file to file, and both the number of files and the copies of a step are logarithmic in the number
    of steps.
    """
    count = len(parts) - 1
    while count > 0 and len(parts[count - 1]) <= sum(len(part) for part in parts[count:]):
        count -= 1
    return count


def _is_kept(times: Array, until: float) -> Array:
    return np.asarray(times <= until * (1 + 1e-12))


def _logged(folder: Path) -> list[Frame]:
    """Return the frames in the logs of a folder, in the order of time; steps without all their pieces are left out."""
    logs = sorted(folder.glob("*.log"), key=lambda log: int(log.stem))
    frames = sorted((frame for log in logs for frame in read_frames(log)), key=lambda frame: frame.time)
    found = Counter(frame.time for frame in frames)
    return [frame for frame in frames if found[frame.time] >= frame.pieces]


def _after(time: float, frames: list[Frame]) -> list[Frame]:
    """Return the frames that are later than a time."""
    return [frame for frame in frames if frame.time > time]


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
        waiting = _logged(_folder(path))
        try:
            with h5py.File(path, "r") as source:
                root = source["VTKHDF"]
                indexed: Array = root["Steps/Values"][...]
                self.names: list[str] = sorted(root.get("PointData", ()))
        except FileNotFoundError:
            raise FileNotFoundError(f"{path}: no such file") from None
        except (OSError, KeyError) as error:
            raise InputError(f"{path}: not a VTKHDF time series ({error})") from None
        late = groupby(_after(indexed.max(initial=-np.inf), waiting), key=lambda frame: frame.time)
        self._waiting = [merged(list(pieces)) for _, pieces in late]
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
            return merged(_pieces(root, read_steps(root, self.path), step))


def _pieces(root: Any, part: FilePart, step: int) -> list[Frame]:
    """Read the pieces of a step."""
    first = int(part.pieces[:step].sum())
    here = slice(first, first + int(part.pieces[step]))

    def read(name: str) -> list[Array]:
        begin, end = part.rows(name)[[step, step + 1]]
        return np.split(root[name][begin:end], np.cumsum(part.counts(name)[here])[:-1])

    kinds = [kind for number, kind in enumerate(GROUPS) if part.cells[here, number].any()]
    cells = {kind: list(zip(read(f"{kind}/Connectivity"), read(f"{kind}/Offsets"), strict=True)) for kind in kinds}
    data = {
        group: {name: read(f"{group}/{name}") for name in root.get(group, ())} for group in ("PointData", "CellData")
    }
    return [
        Frame(
            float(part.times[step]),
            points,
            {kind: of_kind[piece] for kind, of_kind in cells.items()},
            {name: values[piece] for name, values in data["PointData"].items()},
            {name: values[piece] for name, values in data["CellData"].items()},
        )
        for piece, points in enumerate(read("Points"))
    ]
