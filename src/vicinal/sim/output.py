"""The time series that a run writes, one VTKHDF file per kind of data."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from vicinal.sim.series import SeriesWriter
from vicinal.sim.team import ALONE, Team
from vicinal.sim.vtkhdf import Frame


class PictureWriter:
    """Writes frames to the time series of a run; a series begins with its first frame.

    Parameters
    ----------
    folder
        The folder of the files.
    keep
        Continue the existing series after this time instead of replacing them.
    team
        The processes whose frames belong together. All of them call every method together.
    """

    def __init__(self, folder: Path, *, keep: float | None = None, team: Team = ALONE) -> None:
        self.folder, self.keep, self.team = folder, keep, team
        self.series: dict[str, SeriesWriter] = {}
        if keep is not None:
            for name in team.told(sorted(path.name for path in folder.glob("*.vtkhdf"))):
                self._begin(name)

    def _begin(self, name: str) -> None:
        self.series[name] = SeriesWriter(self.folder / name, keep=self.keep, team=self.team)

    def append(self, frames: Mapping[str, Frame]) -> None:
        """Write frames: on several ranks those of its own particles on each; a rank may have none for some series."""
        names = Counter(name for some in self.team.gathered(list(frames)) for name in some)
        for name, pieces in names.items():
            if name not in self.series:
                self._begin(name)
            frame = frames.get(name)
            self.series[name].append(None if frame is None else replace(frame, pieces=pieces))

    def close(self) -> None:
        """Join the parts of each series: into one file, or on several ranks into one file of each."""
        for series in self.series.values():
            series.close()

    def rescue(self) -> None:
        """Make all complete steps visible to other programs, without the other ranks, which may not answer."""
        if self.team.size == 1:
            self.close()
        elif self.team.writes:
            for series in self.series.values():
                SeriesWriter(series.path, keep=math.inf)
