"""Conversion of walls to and from the records of the compiled core."""

from __future__ import annotations

import numpy as np

from vicinal import _core
from vicinal.sim.walls import Wall


def wall_record(wall: Wall, material: int) -> _core.GrainWall:
    """Return the record of a wall; `material` is the number of its material."""
    wall.check_motion()
    vectors = ("velocity", "spin", "centre", "position", "orientation")
    motion = {name: np.asarray(getattr(wall, name), dtype=np.float64).tolist() for name in vectors}
    return _core.GrainWall(kind=wall.kind, material=material, **motion, **wall.shape())


def take_state(wall: Wall, record: _core.GrainWall) -> None:
    """Copy pose and load from a record to a wall."""
    wall.take_state(position=record.position, orientation=record.orientation, force=record.force, torque=record.torque)
