"""What can be searched: points with a cutoff, spheres with radii, axis-aligned boxes; checked and inflated."""

from __future__ import annotations

import math
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, BoxLike
from vicinal.errors import InputError

BoxesLike = tuple[npt.ArrayLike, npt.ArrayLike]
PlanesLike = tuple[npt.ArrayLike, npt.ArrayLike]


class BodyArguments(TypedDict, total=False):
    """The keywords that say what the bodies are and where they live; every index takes them."""

    cutoff: float | None
    radii: npt.ArrayLike | None
    boxes: BoxesLike | None
    skin: float
    planes: PlanesLike | None
    box: BoxLike


def check_bodies(
    points: object,
    cutoff: object = None,
    radii: object = None,
    boxes: object = None,
    skin: object = 0.0,
) -> tuple[Bodies, float]:
    """Check bodies and return them, inflated by half the skin on each side, with the cutoff (0 if they have sizes)."""
    given = [name for name, value in (("cutoff", cutoff), ("radii", radii), ("boxes", boxes)) if value is not None]
    if len(given) != 1:
        found = " and ".join(given) if given else "none of them"
        raise InputError(f"cutoff, radii, boxes: {found} found; pass exactly one, it says what the bodies are")
    half_skin = check_skin(skin) / 2
    if cutoff is not None:
        if half_skin:
            raise InputError(f"skin: {skin} found together with cutoff; points have no size, so use a larger cutoff")
        checked = check_points(points)
        return checked, _check.check_cutoff(cutoff, checked)
    return (check_spheres(points, radii, half_skin) if boxes is None else check_boxes(points, boxes, half_skin)), 0.0


def check_points(points: object) -> Bodies:
    """Check positions, which points and spheres need."""
    if points is None:
        raise InputError("points: None found; pass positions of shape (n, 2) or (n, 3)")
    return _check.check_points(points)


def check_skin(value: object) -> float:
    """Check a finite length that is not negative."""
    skin = _check.check_number(value, "skin")
    if not (math.isfinite(skin) and skin >= 0):
        raise InputError(f"skin: {value} found; pass a finite length, 0 for none")
    return skin


def check_spheres(points: object, radii: object, half_skin: float, name: str = "radii") -> Bodies:
    """Check positions and radii; one radius may stand for all."""
    checked = check_points(points)
    dtype = checked.array.dtype
    array = _check.as_array(radii, name)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: dtype {array.dtype} is not supported; pass real numbers")
    if array.ndim == 0:
        array = np.full(len(checked), array)
    if array.shape != (len(checked),):
        raise InputError(f"{name}: shape {array.shape} found for {len(checked)} points; pass one radius per point")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        kept: Any = np.ascontiguousarray(array, dtype=dtype)
        largest = kept.max() if len(kept) else dtype.type(0)
        if not (kept.min(initial=np.inf) >= 0 and largest < np.inf):
            row = np.flatnonzero(~((kept >= 0) & (kept < np.inf)))[0]
            raise InputError(f"{name}: row {row} is {array[row]}; radii must be finite in {dtype} and not negative")
        if half_skin:
            kept, largest = kept + dtype.type(half_skin), largest + dtype.type(half_skin)
        twice = largest + largest
        if not np.isfinite(twice * twice):
            raise InputError(
                f"{name}: the square of twice {largest} overflows {dtype}; use float64 points or smaller units"
            )
    return Bodies(checked.array, checked.low, checked.high, kept, [float(largest)] * checked.dim)


def check_boxes(points: object, boxes: object, half_skin: float, name: str = "boxes") -> Bodies:
    """Check lower and upper corners."""
    if points is not None:
        raise InputError(f"points: an array found together with {name}; boxes have corners, so leave points out")
    if not isinstance(boxes, (tuple, list)) or len(boxes) != 2:
        raise InputError(f"{name}: {type(boxes).__name__} found; pass a pair of arrays, (lower, upper)")
    lower, upper = (_check.check_rows(corners, f"{name}[{k}]") for k, corners in enumerate(boxes))
    if lower.shape != upper.shape or lower.dtype != upper.dtype:
        if len(lower) == len(upper) == 0:
            upper = lower
        else:
            raise InputError(
                f"{name}: lower is {lower.dtype} {lower.shape}, upper {upper.dtype} {upper.shape}; both must agree"
            )
    (low, high, bad), (shortest, longest, vast) = _core.box_bounds(lower, upper)
    if bad >= 0 or vast >= 0:  # finite corners have finite edges, but for overflow
        _check.check_points(lower, f"{name}[0]")
        _check.check_points(upper, f"{name}[1]")
    if len(lower) and min(shortest) < 0:
        row = np.flatnonzero((lower > upper).any(axis=1))[0]
        raise InputError(
            f"{name}: row {row} has lower {lower[row].tolist()} above upper {upper[row].tolist()}; "
            "pass the smaller corner first"
        )
    if half_skin:
        with np.errstate(over="ignore"):
            step = lower.dtype.type(half_skin)
            lower, upper = lower - step, upper + step
        (low, high, _), (_, longest, vast) = _core.box_bounds(lower, upper)
    if vast >= 0:
        raise InputError(f"{name}: row {vast} has an edge that overflows {lower.dtype}; use float64 or smaller units")
    return Bodies(lower, low, high, upper, longest if len(lower) else [0.0] * lower.shape[1])
