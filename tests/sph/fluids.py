"""Small fluids for tests, with walls made by hand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal import _core

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layers:
    """Wall particles."""

    positions: Array
    normals: Array
    wall: npt.NDArray[np.int32]
    slip: npt.NDArray[np.bool_]


def lattice(low: Sequence[float], high: Sequence[float], spacing: float) -> Array:
    """Return a lattice that fills a box whose edges are multiples of the spacing."""
    axes = [a + spacing * (np.arange(round((b - a) / spacing)) + 0.5) for a, b in zip(low, high, strict=True)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def tank(size: Sequence[float], spacing: float, layers: int = 4, *, slip: bool = True, lid: bool = False) -> Layers:
    """Return the walls of a tank from 0 to `size`, open at the top of the last axis unless it has a lid.

    Walls are numbered as one, but for the lid.
    """
    high = np.array(size)
    depth = layers * spacing
    points = lattice([-depth] * len(high), high + depth, spacing)
    outside = ((points < 0) | (points > high)).any(axis=1)
    if not lid:
        outside &= points[:, -1] < high[-1]
    points = points[outside]
    normals = np.where(points < 0, 1.0, np.where(points > high, -1.0, 0.0))
    normals /= np.linalg.norm(normals, axis=1)[:, None]
    return Layers(points, normals, (points[:, -1] > high[-1]).astype(np.int32), np.array([slip, slip]))


def assert_same_bits_everywhere(run: Callable[[int], bytes]) -> None:
    """Call `run` with the number of threads in use, for every instruction set: its results must not differ."""
    best, found = _core.get_isa(), set()
    try:
        for isa in _core.available_isas():
            _core.set_isa(isa)
            for threads in (1, 2):
                with vc.threads(threads):
                    found.add(run(threads))
    finally:
        _core.set_isa(best)
    assert len(found) == 1
