"""Common parts of the experiments of Kureck 2016, section 6.3."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal import scenes

Array = npt.NDArray[Any]

RADIUS = 0.5
FILLING = 0.6
"""Filling of settled grains of one size."""
ENTRIES = 9.31
"""Mean number of neighbours that the paper reports for a million settled spheres (table 6.2)."""
MOST_PACKED = 16_000
"""Number of spheres that are packed; larger numbers consist of copies side by side."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Spheres as dense as settled grains, along a Morton curve, and the reach of a list with `ENTRIES` per sphere."""

    points: Array
    reach: float


@cache
def settled(n: int, seed: int) -> Settled:
    """Pack a periodic cube and repeat it until there are n spheres."""
    times = copies(n)
    tile = scenes.packed(np.full(n // times**3, RADIUS), filling=FILLING, periodic=True, seed=seed)
    points = tiled(tile, (times, times, times)).astype(np.float32)
    return Settled(points[vc.spatial_order(points)], _reach(tile))


def copies(n: int) -> int:
    """Return the number of copies of a small cube along each axis that give n spheres."""
    times = 1
    while n > MOST_PACKED * times**3 or n % times**3:
        times += 1
    return times


def tiled(tile: scenes.SampleScene, times: tuple[int, int, int]) -> Array:
    """Return copies of a periodic scene side by side."""
    edges = np.subtract(tile.upper, tile.lower)
    shifts = np.stack(np.meshgrid(*[np.arange(count) for count in times], indexing="ij"), axis=-1).reshape(-1, 1, 3)
    placed: Array = (tile.points + shifts * edges).reshape(-1, 3)
    return placed


def _reach(tile: scenes.SampleScene) -> float:
    """Return the distance within which a sphere has `ENTRIES` neighbours on average."""
    low, high = 2 * RADIUS, 4 * RADIUS
    for _ in range(30):
        middle = (low + high) / 2
        few = vc.count(tile.points, cutoff=middle, box=tile.box).mean() < ENTRIES
        low, high = (middle, high) if few else (low, middle)
    return high
