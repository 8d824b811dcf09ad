"""Sample scenes: bodies, and the region they are in."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError

Array = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class SampleScene:
    """Bodies in a region, ready for a search.

    Parameters
    ----------
    points
        Positions; of boxes the centres.
    lower, upper
        Corners of the region.
    cutoff, radii, edges
        Points with a cutoff, spheres, or boxes with these edges; at most one of them is given.
    periodic
        Whether the region is periodic along every axis.

    Examples
    --------
    >>> scene = vicinal.scenes.uniform(1000, neighbours=10, seed=1)
    >>> i, j = vicinal.pairs(**scene.bodies)
    >>> 8 < 2 * len(i) / len(scene) < 12
    True
    """

    points: Array
    lower: tuple[float, ...]
    upper: tuple[float, ...]
    cutoff: float | None = None
    radii: Array | None = None
    edges: Array | None = None
    periodic: bool = False

    def __len__(self) -> int:
        """Return the number of bodies."""
        return len(self.points)

    @property
    def dim(self) -> int:
        """Number of dimensions, 2 or 3."""
        return int(self.points.shape[1])

    @property
    def box(self) -> tuple[float, ...] | None:
        """The period along each axis, or None if the region is open."""
        return tuple(high - low for low, high in zip(self.lower, self.upper, strict=True)) if self.periodic else None

    @property
    def bodies(self) -> dict[str, Any]:
        """Arguments for `vicinal.pairs` and every index: ``vicinal.pairs(**scene.bodies)``."""
        return {**self.at(self.points), "box": self.box} | ({} if self.cutoff is None else {"cutoff": self.cutoff})

    def at(self, points: Array) -> dict[str, Any]:
        """Return the arguments for `update` after the bodies have moved: ``index.update(**scene.at(points))``."""
        if self.edges is not None:
            half = self.edges / 2
            return {"boxes": (points - half, points + half)}
        return {"points": points} | ({} if self.radii is None else {"radii": self.radii})

    @property
    def walls(self) -> tuple[Array, Array]:
        """Planes around the region, as `planes=` takes them."""
        eye = np.eye(self.dim)
        points = np.repeat([self.lower, self.upper], self.dim, axis=0)
        return points, np.vstack([eye, -eye])

    @property
    def filling(self) -> float:
        """Volume of all spheres (or boxes) divided by that of the region; 0 for points."""
        from vicinal.sim.arithmetic import volume

        space = float(np.prod(np.subtract(self.upper, self.lower)))
        if self.radii is not None:
            return volume(self.radii, self.dim) / space
        return 0.0 if self.edges is None else float(self.edges.prod(axis=1).sum()) / space

    def astype(self, dtype: npt.DTypeLike) -> SampleScene:
        """Return the scene in float32 or float64. Rounding may move a point onto the upper face."""
        changed = {
            name: getattr(self, name).astype(dtype)
            for name in ("points", "radii", "edges")
            if getattr(self, name) is not None
        }
        return replace(self, **changed)


def check_size(n: object, name: str = "n", *, least: int = 0) -> int:
    """Check a number of bodies."""
    return _check.check_integer(n, name, least=least, most=_check.MOST_BODIES)


def check_dim(dim: object) -> int:
    """Check a number of dimensions."""
    return _check.check_integer(dim, "dim", least=2, most=3)


def check_positive(value: object, name: str) -> float:
    """Check a number that must be positive and finite."""
    number = _check.check_number(value, name)
    if not 0 < number < float("inf"):
        raise InputError(f"{name} must be a positive, finite number, got {value!r}")
    return number


def cube(edge: float, dim: int = 3) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the corners of a cube (or square) at the origin."""
    return (0.0,) * dim, (edge,) * dim
