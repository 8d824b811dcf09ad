"""What a neighbour list is made from: checks, and bodies that reach as far as the skin says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies, Floats
from vicinal.errors import InputError
from vicinal.index import Index, Settings
from vicinal.planes import check_planes
from vicinal.structures import STRUCTURES, Delaunay

# Two images of a pair must never be within reach at the same time; this much of an edge is left to rounding.
IMAGE_MARGIN = 16
# Bodies that are followed to see how fast all move while there is no skin to watch them in.
SAMPLE = 1024


def as_kept(value: npt.ArrayLike, like: Any, name: str) -> Any:
    """Return an array of the dtype and shape of another, or None if it has another dtype or shape."""
    array = _check.as_array(value, name)
    if array.dtype.kind not in "fiu":
        return None
    if array.ndim == 0 and like.ndim == 1:
        return np.full(like.shape, array, like.dtype)
    if array.shape != like.shape:
        return None
    if like.ndim == 2 and (array.dtype == np.float32) != (like.dtype == np.float32):
        return None
    return np.ascontiguousarray(array, dtype=like.dtype)


def sample_stride(points: Floats) -> int:
    """Return the step from one body that is followed to the next."""
    return max(1, len(points) // SAMPLE)


def room_for_skin(bodies: Bodies, reach: float, edges: list[float]) -> float:
    """Return how thick a skin may be so that one image at most of a pair is within reach."""
    eps = float(np.finfo(bodies.array.dtype).eps)
    periods = [edge for edge in edges if edge > 0]
    if not periods:
        return float("inf")
    room = min(periods) / 2 * (1 - IMAGE_MARGIN * eps * len(edges)) / (1 + IMAGE_MARGIN * eps) - reach
    if room < 0:
        raise InputError(
            f"box: {[edge or None for edge in edges]} found; pairs of reach {reach:g} meet through several images, "
            f"which a list cannot tell apart, so use edges above {2 * reach:g}, or vicinal.pairs with its shifts"
        )
    return room


def with_skin(bodies: Bodies, cutoff: float, skin: float, edges: list[float]) -> Settings:
    """Return what to search for: bodies that reach as far as the skin says."""
    dtype = bodies.array.dtype
    planes = check_planes(None, bodies, edges)
    if skin == 0:
        return Settings(bodies, cutoff, edges, planes)
    if bodies.extra is None:
        return Settings(bodies, _check.check_cutoff(cutoff + skin, bodies, "cutoff + skin"), edges, planes)
    with np.errstate(over="ignore"):
        extra: Any = bodies.extra + dtype.type(skin / 2)
        largest = extra.max() if len(extra) else dtype.type(0)
        twice = largest + largest
        if not np.isfinite(twice * twice):
            raise InputError(f"skin: {skin:g} found; the square of twice {largest} overflows {dtype}; use less")
    return Settings(replace(bodies, extra=extra, largest=[float(largest)] * bodies.dim), 0.0, edges, planes)


def check_width(value: object, layout: str) -> int:
    """Return the width of a table, 0 for layouts without one."""
    if layout not in ("fixed", "hybrid"):
        if value is not None:
            raise InputError(f"width: {value!r} found with layout {layout!r}; use it with fixed and hybrid only")
        return 0
    if value is None:
        raise InputError(f"width: None found with layout {layout!r}; pass how many neighbours a body has room for")
    return _check.check_integer(value, "width", least=1, most=2**20)


def check_structure(index: object, *, spheres: bool) -> type[Index] | None:
    """Return the class of a structure given by itself or by name; None is to be chosen."""
    if index is None:
        return None
    kind = STRUCTURES.get(index) if isinstance(index, str) else index
    if not (isinstance(kind, type) and issubclass(kind, Index) and kind is not Index):
        raise InputError(f"index: {index!r} found; pass a structure or its name, one of {', '.join(STRUCTURES)}")
    if spheres and kind is Delaunay:
        raise InputError("index: Delaunay found together with radii; it knows points only, so use another structure")
    return kind


def check_consumer(value: object) -> float | None:
    """Check seconds per entry; None is to be measured."""
    if value is None:
        return None
    seconds = _check.check_number(value, "consumer")
    if not 0 <= seconds < float("inf"):
        raise InputError(f"consumer: {value} found; pass seconds per entry, such as 2e-9, or None to measure")
    return seconds
