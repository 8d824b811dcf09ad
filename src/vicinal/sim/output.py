"""The time series that a run writes, one VTKHDF file per kind of data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from vicinal.sim.series import SeriesWriter
from vicinal.sim.vtkhdf import Frame


class PictureWriter:
    """Writes frames to the time series of a run; a series begins with its first frame.

    Parameters
    ----------
    folder
        The folder of the files.
    keep
        Continue the existing series after this time instead of replacing them.
    """

    def __init__(self, folder: Path, *, keep: float | None = None) -> None:
        self.folder, self.keep = folder, keep
        self.series: dict[str, SeriesWriter] = {}
        if keep is not None:
            self.series = {path.name: SeriesWriter(path, keep=keep) for path in sorted(folder.glob("*.vtkhdf"))}

    def append(self, frames: Mapping[str, Frame]) -> None:
        """Write frames."""
        for name, frame in frames.items():
            if name not in self.series:
                self.series[name] = SeriesWriter(self.folder / name, keep=self.keep)
            self.series[name].append(frame)

    def close(self) -> None:
        """Join the parts of each series into one file."""
        for series in self.series.values():
            series.close()
