"""Seeded scenes: positions and sizes of bodies, and the number of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import vicinal as vc

Array = NDArray[Any]

# The scale of the sizes is determined from a sample of this many bodies.
SAMPLE = 20_000
CLUSTERS = 20
BOARD = 8  # fields of the checkerboard along an axis


@dataclass(frozen=True, kw_only=True)
class Scene:
    """A recipe; `make` follows it."""

    places: str = "uniform"
    sizes: str = "points"
    bodies: int = 10_000
    pairs: float = 15.0  # per body, about
    dim: int = 3
    periodic: bool = False
    dtype: str = "float64"
    seed: int = 0

    @property
    def label(self) -> str:
        """A description on one line."""
        space = f"{self.dim}D{' periodic' if self.periodic else ''}{' float32' if self.dtype == 'float32' else ''}"
        return f"{self.places} {self.sizes} {self.bodies:.0e} {self.pairs:g}/body {space}"

    def make(self) -> dict[str, Any]:
        """Return the arguments of `vicinal.pairs` and of every index."""
        rng = np.random.default_rng([self.seed, self.bodies, self.dim])
        where = PLACES[self.places](rng, self.bodies, self.dim)
        size = SIZES[self.sizes](rng, self.bodies, self.dim)
        scale = _scale(where, size, self.pairs, periodic=self.periodic)
        if self.sizes == "giant":
            size = size.copy()
            size[0] = 0.2 / scale
        return _bodies(where.astype(self.dtype), (size * scale).astype(self.dtype), periodic=self.periodic)


def _bodies(where: Array, size: Array, *, periodic: bool) -> dict[str, Any]:
    box = 1.0 if periodic else None
    if size.ndim == 0:
        return {"points": where, "cutoff": float(size), "box": box}
    if size.ndim == 1:
        return {"points": where, "radii": size, "box": box}
    return {"boxes": (where - size / 2, where + size / 2), "box": box}


def _scale(where: Array, size: Array, pairs: float, *, periodic: bool) -> float:
    """Return the factor of the sizes that gives the requested number of pairs per body, determined from a sample."""
    n, dim = where.shape
    few = min(n, SAMPLE)
    chosen = np.random.default_rng(few).choice(n, few, replace=False) if few < n else slice(None)
    some, sizes = where[chosen], size if size.ndim == 0 else size[chosen]
    target = pairs * (few - 1) / (n - 1)
    typical = np.mean(size) if size.ndim < 2 else np.mean(size) / 2
    scale = (2 * pairs / n) ** (1 / dim) / float(typical) / 2
    for _ in range(12):
        # Bodies must not reach around the box.
        per_body = vc.BVH(**_bodies(some, sizes * scale, periodic=periodic)).count().mean() / 2
        ratio = target / max(per_body, 0.1 / few)
        if 0.97 < ratio < 1.03:
            break
        scale *= min(max(ratio, 0.01), 100) ** (1 / dim)
    return scale


def _uniform(rng: np.random.Generator, n: int, dim: int) -> Array:
    return rng.random((n, dim))


def _clustered(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Nine tenths of the bodies in round clusters of several widths, the others anywhere."""
    points = rng.random((n, dim))
    crowd = round(0.9 * n)
    centre = 0.1 + 0.8 * rng.random((CLUSTERS, dim))
    width = 0.005 * 6 ** rng.random(CLUSTERS)
    member = rng.integers(CLUSTERS, size=crowd)
    points[:crowd] = centre[member] + width[member, None] * rng.standard_normal((crowd, dim))
    rng.shuffle(points)
    return np.clip(points, 0, np.nextafter(1, 0))


def _filament(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Positions along a few smooth curves."""
    curve = rng.integers(5, size=n)
    t = rng.random(n)[:, None]
    phase, speed = 2 * math.pi * rng.random((2, 5, dim))
    points = 0.5 + 0.4 * np.sin(phase[curve] + (1 + speed[curve]) * t) + 0.002 * rng.standard_normal((n, dim))
    return np.clip(points, 0, np.nextafter(1, 0))


def _sheet(rng: np.random.Generator, n: int, dim: int) -> Array:
    """A thin, wavy sheet (in the plane a line)."""
    points = rng.random((n, dim))
    wave = np.sin(2 * math.pi * points[:, :-1]).sum(axis=1)
    points[:, -1] = 0.5 + 0.15 * wave + 0.003 * rng.standard_normal(n)
    return np.clip(points, 0, np.nextafter(1, 0))


def _checkerboard(rng: np.random.Generator, n: int, dim: int) -> Array:
    fields = np.argwhere(np.indices([BOARD] * dim).sum(axis=0) % 2 == 0)
    return (fields[rng.integers(len(fields), size=n)] + rng.random((n, dim))) / BOARD


def _stray(rng: np.random.Generator, n: int, dim: int) -> Array:
    """A compact cluster and a few bodies very far away."""
    points = 0.4 + 0.001 * rng.random((n, dim))
    points[:: max(n // 10, 1)] = rng.random(points[:: max(n // 10, 1)].shape)
    return points


PLACES = {
    "uniform": _uniform,
    "clustered": _clustered,
    "filament": _filament,
    "sheet": _sheet,
    "checkerboard": _checkerboard,
    "stray": _stray,
}


def _points(_rng: np.random.Generator, _n: int, _dim: int) -> Array:
    return np.array(1.0)


def _equal(_rng: np.random.Generator, n: int, _dim: int) -> Array:
    return np.ones(n)


def _lognormal(rng: np.random.Generator, n: int, _dim: int) -> Array:
    return rng.lognormal(0, 0.7, n)


def _wide(rng: np.random.Generator, n: int, _dim: int) -> Array:
    """Log-uniform 1 : 40."""
    return 40 ** rng.random(n)


def _bimodal(rng: np.random.Generator, n: int, _dim: int) -> Array:
    """One body in 300 is ten times as large."""
    return np.where(rng.random(n) < 1 / 300, 10.0, 1.0)


def _boxes(rng: np.random.Generator, n: int, dim: int) -> Array:
    return 0.5 + rng.random((n, dim))


def _mixed_boxes(rng: np.random.Generator, n: int, dim: int) -> Array:
    return _boxes(rng, n, dim) * rng.lognormal(0, 0.7, n)[:, None]


def _thin(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Ten times as long as wide, along any axis."""
    edges = np.ones((n, dim))
    edges[np.arange(n), rng.integers(dim, size=n)] = 10.0
    return edges


def _rods(rng: np.random.Generator, n: int, dim: int) -> Array:
    """Twenty times as long as wide, all along the first axis."""
    return np.where(np.arange(dim) == 0, 20.0, 1.0) * (0.5 + rng.random((n, 1)))


SIZES = {
    "points": _points,
    "equal": _equal,
    "lognormal": _lognormal,
    "wide": _wide,
    "bimodal": _bimodal,
    "giant": _equal,
    "boxes": _boxes,
    "mixed boxes": _mixed_boxes,
    "thin boxes": _thin,
    "rods": _rods,
}

PAIRS = (0.2, 3.0, 30.0)


def scenes(seed: int, count: int, sizes: tuple[int, ...]) -> Iterator[Scene]:
    """Yield `count` scenes with balanced combinations of all options; another seed gives other scenes."""
    rng = np.random.default_rng(seed)

    def turns(options: tuple[Any, ...]) -> list[Any]:
        """Return every option equally often, in random order."""
        return [options[k % len(options)] for k in rng.permutation(-(-count // len(options)) * len(options))[:count]]

    columns = zip(
        turns(tuple(PLACES)),
        turns(("points", "points", *SIZES)),  # points are the most common case
        turns(sizes),
        turns(PAIRS),
        turns((3, 3, 3, 2)),
        turns((False, False, True)),
        turns(("float64", "float64", "float32")),
        strict=True,
    )
    for k, (places, kind, bodies, pairs, dim, periodic, dtype) in enumerate(columns):
        number = int(bodies * 10 ** rng.uniform(-0.2, 0.2))
        yield Scene(
            places=places,
            sizes=kind,
            bodies=number,
            pairs=pairs,
            dim=dim,
            periodic=periodic and places != "stray",
            dtype=dtype,
            seed=1000 * seed + k,
        )
