"""Conversion of walls to and from the records of the compiled core."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.sim.walls import Wall


def wall_record(wall: Wall, material: int) -> _core.GrainWall:
    """Return the record of a wall; `material` is the number of its material."""
    wall.check_motion()
    vectors = ("velocity", "spin", "centre", "position", "orientation")
    motion = {name: np.asarray(getattr(wall, name), dtype=np.float64).tolist() for name in vectors}
    return _core.GrainWall(kind=wall.kind, material=material, **motion, **wall.shape())


def take_states(walls: Sequence[Wall], records: Sequence[_core.GrainWall], digits: npt.NDArray[np.int64]) -> None:
    """Copy poses from records to walls, and loads from the digits of exact sums, six per wall."""
    loads = _core.exact_values(np.ascontiguousarray(digits)).reshape(-1, 6)
    for wall, record, load in zip(walls, records, loads, strict=True):
        wall.take_state(
            position=record.position, orientation=record.orientation, force=load[:3].tolist(), torque=load[3:].tolist()
        )
