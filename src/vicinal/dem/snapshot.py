"""The bodies of a simulation at one moment, for output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.shapes import Shape
from vicinal.sim.walls import Wall

Array = npt.NDArray[np.float64]

COLUMNS = (
    "ids",
    "positions",
    "radii",
    "velocities",
    "spins",
    "orientations",
    "masses",
    "material_ids",
    "shape_ids",
)


@dataclass(frozen=True)
class Snapshot:
    """Bodies in the order of ids. Columns are those of `vicinal.dem.Simulation`, `touching` its contacts."""

    time: float
    shapes: tuple[Shape, ...]
    walls: tuple[Wall, ...]
    ids: npt.NDArray[np.int64]
    positions: Array
    radii: Array
    velocities: Array
    spins: Array
    orientations: Array
    masses: Array
    material_ids: npt.NDArray[np.int32]
    shape_ids: npt.NDArray[np.int32]
    touching: Mapping[str, npt.NDArray[Any]]
