"""The point clouds of the comparison and the cutoff that gives each body about thirty neighbours."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]

WORKLOADS = ("uniform", "uniform2d", "periodic", "clustered")
ORDERS = ("random", "sorted")
DTYPES = ("float64", "float32")
TASKS = ("pairs", "rows", "count")

MEAN_NEIGHBOURS = 30.0
# Several peers assume lengths in ångström (ASE bins of at least 3, MDAnalysis adds a fixed margin to the
# cutoff) and collapse in a unit cube, so every cloud is scaled by a power of two until cutoff >= 4.
SMALLEST_CUTOFF = 4.0
CLUSTERS = 8  # one per octant
CLUSTERED_SHARE = 0.9
CLUSTERED_VOLUME = 0.01


@dataclass(frozen=True, kw_only=True)
class Case:
    """One row of the comparison: what is searched, and what is asked."""

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
        """Everything but the size: the cases of a series differ in the number of bodies only."""
        return (self.workload, self.order, self.dtype, self.task)

    @property
    def label(self) -> str:
        """One line for people."""
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


def pairs_share(t: float, dim: int) -> float:
    """Probability that two uniform points of the unit square or cube are within ``t <= 1`` of each other."""
    if dim == 2:
        return math.pi * t**2 - 8 / 3 * t**3 + t**4 / 2
    return 4 / 3 * math.pi * t**3 - 1.5 * math.pi * t**4 + 1.6 * t**5 - t**6 / 6


def mean_neighbours(case: Case, r: float) -> float:
    """Expected neighbours per body in the unit box at cutoff ``r``, boundaries included."""
    n = case.bodies
    ball = 4 / 3 * math.pi * r**3
    if case.workload == "periodic":
        return (n - 1) * ball
    if case.workload == "clustered":
        own = CLUSTERED_SHARE * n / CLUSTERS * pairs_share(min(r / _cluster_edge(), 1.0), 3)
        sparse = (1 - CLUSTERED_SHARE) * n
        crossing = 2 * CLUSTERED_SHARE * sparse * ball
        return CLUSTERED_SHARE * own + crossing + (1 - CLUSTERED_SHARE) * sparse * pairs_share(r, 3)
    return (n - 1) * pairs_share(min(r, 1.0), case.dim)


def make_cloud(case: Case) -> Cloud:
    """Build the points of a case; the same seed gives the same cloud on every machine."""
    unit_cutoff = _solve(lambda r: mean_neighbours(case, r), MEAN_NEIGHBOURS)
    edge = 2.0 ** math.ceil(math.log2(SMALLEST_CUTOFF / unit_cutoff))
    rng = np.random.default_rng(case.seed)
    unit = _clustered(rng, case.bodies) if case.workload == "clustered" else rng.random((case.bodies, case.dim))
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


def _cluster_edge() -> float:
    return float((CLUSTERED_VOLUME / CLUSTERS) ** (1 / 3))


def _clustered(rng: np.random.Generator, n: int) -> FloatArray:
    """90 % of the points in eight cubes, one per octant, that fill 1 % of the volume; the rest anywhere."""
    inside = round(CLUSTERED_SHARE * n)
    side = _cluster_edge()
    octants = np.stack(np.meshgrid(*[(0.0, 0.5)] * 3, indexing="ij"), axis=-1).reshape(CLUSTERS, 3)
    corners = octants + rng.random((CLUSTERS, 3)) * (0.5 - side)
    points = rng.random((n, 3))
    points[:inside] *= side
    points[:inside] += corners[rng.integers(CLUSTERS, size=inside)]
    rng.shuffle(points)
    return points


def _solve(function: Callable[[float], float], target: float) -> float:
    """Invert an increasing function on (0, 1] by bisection."""
    low, high = 0.0, 1.0
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return high
