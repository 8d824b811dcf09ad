"""Spheres against boxes: a search of the boxes around the spheres, whose hits the core tests exactly."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from vicinal import _check
from vicinal._check import Bodies
from vicinal.bodies import BoxesLike, check_boxes
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.filters import Filter
from vicinal.settings import Settings

# Relative to the largest number of a test, more than its rounding can be.
ROUNDING = 64


def boxes_around(spheres: Bodies, others: Bodies, cell: Cell) -> Bodies:
    """Return boxes around spheres, with room for the rounding of the exact test of spheres against `others`."""
    dtype: np.dtype[Any] = spheres.array.dtype
    figures = np.finfo(dtype)
    numbers = [*spheres.low, *spheres.high, *others.low, *others.high, *others.largest, *spheres.largest]
    largest = 4 * max((abs(number) for number in numbers), default=0.0) + 2 * cell.size
    room = ROUNDING * float(figures.eps) * largest + 4 * math.sqrt(float(figures.smallest_subnormal))
    reach = np.asarray(spheres.extra, np.float64)[:, None] + room
    with np.errstate(over="ignore"):
        lower: Any = np.nextafter((spheres.array - reach).astype(dtype), dtype.type(-np.inf))
        upper: Any = np.nextafter((spheres.array + reach).astype(dtype), dtype.type(np.inf))
    if not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        raise InputError(f"points and radii must not overflow {dtype} together; use float64 or larger units")
    return replace(check_boxes(None, (lower, upper), 0.0, dtype), spheres=spheres)


def as_boxes(settings: Settings, query_boxes: BoxesLike) -> Settings:
    """Return the settings of a search for points or spheres near boxes: of boxes around them."""
    bodies, kept = settings.bodies, settings.filter
    measured = kept is not None and (kept.types is not None or kept.r_min or kept.narrowest)
    if measured or settings.criterion != "sum" or len(settings.planes):
        raise InputError(
            "query_boxes= must not be combined with types, r_min, planes or a criterion where the bodies are points or "
            "spheres; search for them in a call of its own"
        )
    if bodies.kind == "points":
        radii: Any = np.full(len(bodies), settings.cutoff, bodies.array.dtype)
        bodies = replace(bodies, extra=radii, largest=[settings.cutoff] * bodies.dim)
    others = check_boxes(None, query_boxes, 0.0, bodies.array.dtype, ("queries", "query_boxes"))
    around = boxes_around(bodies, others, settings.box)
    _check.check_wraps(around, settings.box, "points")
    _check.check_images(around, 0.0, settings.box)
    return replace(settings, bodies=around, cutoff=0.0, half_skin=0.0, filter=replace(kept or Filter(), spheres=bodies))
