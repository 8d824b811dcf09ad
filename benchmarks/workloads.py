"""The point clouds of the comparison and the cutoff that gives each body about thirty neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]

WORKLOADS = ("uniform", "uniform2d", "periodic", "clustered")
ORDERS = ("random", "sorted")
DTYPES = ("float64", "float32")
TASKS = ("pairs", "vectors", "rows", "count")

MEAN_NEIGHBOURS = 30.0
# Several peers assume lengths in ångström (ASE bins of at least 3, MDAnalysis adds a fixed margin to the
# cutoff) and are very slow in a unit cube, so every cloud is scaled by a power of two until cutoff >= 4.
SMALLEST_CUTOFF = 4.0


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case of the comparison: the points and the task."""

    workload: str
    bodies: int
    order: str = "random"
    dtype: str = "float64"
    task: str = "pairs"
    seed: int = 1

    @property
    def dim(self) -> int:
        """Two or three."""
        return 2 if self.workload == "uniform2d" else 3

    @property
    def periodic(self) -> bool:
        """Whether every axis is periodic."""
        return self.workload == "periodic"

    @property
    def series(self) -> tuple[str, str, str, str]:
        """All parameters but the size: the cases of a series differ in the number of bodies only."""
        return (self.workload, self.order, self.dtype, self.task)

    @property
    def label(self) -> str:
        """A description on one line."""
        return f"{self.workload} · {self.bodies:.0e} · {self.order} · {self.dtype} · {self.task}"


@dataclass(frozen=True, kw_only=True)
class Cloud:
    """Points in ``[0, edge)`` per axis, the cutoff, and the periodic edge (None: open)."""

    points: FloatArray
    cutoff: float
    edge: float
    box: float | None

    @property
    def dim(self) -> int:
        """Two or three."""
        return int(self.points.shape[1])


def make_cloud(case: Case) -> Cloud:
    """Build the points of a case; the same seed gives the same cloud on every machine."""
    scenes = import_module("vicinal.scenes")
    if case.workload == "clustered":
        scene = scenes.clustered(case.bodies, neighbours=MEAN_NEIGHBOURS, seed=case.seed)
    else:
        wanted = {"dim": case.dim, "periodic": case.periodic, "neighbours": MEAN_NEIGHBOURS}
        scene = scenes.uniform(case.bodies, seed=case.seed, **wanted)
    unit, unit_cutoff = scene.points, scene.cutoff
    edge = 2.0 ** math.ceil(math.log2(SMALLEST_CUTOFF / unit_cutoff))
    points = np.multiply(unit, edge, out=unit).astype(case.dtype, copy=False)
    # Rounding to float32 may reach the far face, which a periodic box identifies with the near one.
    np.minimum(points, np.nextafter(points.dtype.type(edge), points.dtype.type(0)), out=points)
    if case.order == "sorted":
        points = points[np.argsort(morton_keys(points, edge), kind="stable")]
    # A cutoff that float32 holds exactly is the same number for every contestant and dtype.
    cutoff = float(np.float32(unit_cutoff * edge))
    return Cloud(
        points=np.ascontiguousarray(points),
        cutoff=cutoff,
        edge=edge,
        box=edge if case.periodic else None,
    )


def morton_keys(points: FloatArray, edge: float) -> NDArray[np.uint64]:
    """Interleave the leading 21 bits of the coordinates of points in ``[0, edge)``."""
    scale = 2.0**21 / edge
    keys = np.zeros(len(points), dtype=np.uint64)
    for axis in range(points.shape[1]):
        cells = (points[:, axis].astype(np.float64) * scale).astype(np.uint64)
        keys |= _spread(cells) << np.uint64(axis)
    return keys


def _spread(x: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Put two zero bits between the bits of 21-bit numbers."""
    masks = (
        (32, 0x1F00000000FFFF),
        (16, 0x1F0000FF0000FF),
        (8, 0x100F00F00F00F00F),
        (4, 0x10C30C30C30C30C3),
        (2, 0x1249249249249249),
    )
    for shift, mask in masks:
        x = (x | (x << np.uint64(shift))) & np.uint64(mask)
    return x
