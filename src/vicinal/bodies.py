"""Bodies as users describe them: points with a cutoff, spheres with radii, axis-aligned boxes; checked and inflated."""

from __future__ import annotations

import math
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.errors import InputError

BoxesLike = tuple[npt.ArrayLike, npt.ArrayLike]
PlanesLike = tuple[npt.ArrayLike, npt.ArrayLike]


class BodyArguments(TypedDict, total=False):
    """The keywords that describe bodies and their space, besides `points` and `cutoff`; every index takes them."""

    radii: npt.ArrayLike | None
    boxes: BoxesLike | None
    skin: float
    planes: PlanesLike | None
    box: BoxLike
    periodic: PeriodicLike
    criterion: str
    types: npt.ArrayLike | None
    groups: npt.ArrayLike | None
    exclude: npt.ArrayLike | None
    r_min: float


class QueryArguments(TypedDict, total=False):
    """The keywords that describe a second set of bodies."""

    queries: npt.ArrayLike | None
    query_radii: npt.ArrayLike | None
    query_boxes: BoxesLike | None
    query_types: npt.ArrayLike | None
    query_groups: npt.ArrayLike | None


class PairArguments(BodyArguments, QueryArguments, total=False):
    """The keywords of a search for bodies and queries."""


def check_bodies(
    points: object,
    cutoff: Any = None,
    radii: object = None,
    boxes: object = None,
    skin: object = 0.0,
    criterion: str = "sum",
) -> tuple[Bodies, float]:
    """Check bodies and return them, enlarged by the skin, with the cutoff (0 for spheres and boxes)."""
    given = [name for name, value in (("cutoff", cutoff), ("radii", radii), ("boxes", boxes)) if value is not None]
    if len(given) != 1:
        raise InputError(
            f"pass exactly one of cutoff=, radii= or boxes= ({' and '.join(given) if given else 'none'} given)"
        )
    thickness = check_skin(skin)
    if cutoff is not None:
        check_one_cutoff(cutoff)
        checked = check_points(points)
        r = _check.check_cutoff(cutoff, checked)
        return checked, _check.check_cutoff(r + thickness, checked, "cutoff + skin") if thickness else r
    if boxes is not None:
        return check_boxes(points, boxes, thickness / 2), 0.0
    return check_spheres(points, radii, thickness / 2, criterion=criterion), 0.0


def check_one_cutoff(cutoff: Any) -> None:
    """Refuse an array of cutoffs."""
    if not isinstance(cutoff, float) and np.ndim(cutoff) > 0:
        raise InputError(
            f"cutoff must be one number, got an array of shape {np.shape(cutoff)}; pass radii= for spheres, or "
            "types= with a matrix of cutoffs"
        )


def check_points(points: object, name: str = "points", dtype: np.dtype[Any] | None = None) -> Bodies:
    """Check positions, which points and spheres must have."""
    if points is None:
        raise InputError(f"{name} must be an array of shape (n, 2) or (n, 3), got None")
    return _check.check_points(points, name, dtype)


def check_skin(value: object) -> float:
    """Check a finite length that is not negative."""
    skin = _check.check_number(value, "skin")
    if not (math.isfinite(skin) and skin >= 0):
        raise InputError(f"skin must be a finite length of at least 0, got {value}")
    return skin


def check_spheres(
    points: object,
    radii: object,
    half_skin: float,
    dtype: np.dtype[Any] | None = None,
    names: tuple[str, str] = ("points", "radii"),
    criterion: str = "sum",
) -> Bodies:
    """Check positions and radii; one radius may stand for all. `names` are those of both arguments.

    The radii of the result are those that the core adds up ("sum"), or of which it takes the larger one ("max"). Half
    of each is what it adds up for "mean", and the smaller of two halves, twice, is "min".
    """
    name = names[1]
    checked = check_points(points, names[0], dtype)
    kind = checked.array.dtype
    array = _check.as_array(radii, name)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must be real numbers, got dtype {array.dtype}")
    if array.ndim == 0:
        array = np.full(len(checked), array)
    if array.shape != (len(checked),):
        raise InputError(f"{name} must be one number or have shape ({len(checked)},), got {array.shape}")
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        kept: Any = np.ascontiguousarray(array, dtype=kind)
        largest = kept.max() if len(kept) else kind.type(0)
        if not (kept.min(initial=np.inf) >= 0 and largest < np.inf):
            row = np.flatnonzero(~((kept >= 0) & (kept < np.inf)))[0]
            raise InputError(f"{name} must be finite in {kind} and at least 0, got {array[row]} in row {row}")
        if criterion in ("mean", "min"):
            kept, largest = kept / kind.type(2), largest / kind.type(2)
        if half_skin:
            more = kind.type(2 * half_skin if criterion == "max" else half_skin)
            kept, largest = kept + more, largest + more
        twice = largest + largest
        if not np.isfinite(twice * twice):
            raise InputError(
                f"{name} must have finite squares of twice their size, got {largest}, which overflows {kind}; "
                "use float64 points or larger units"
            )
    sizes = [float(largest)] * checked.dim
    return Bodies(checked.array, checked.low, checked.high, kept, sizes, criterion == "max")


def check_boxes(
    points: object,
    boxes: object,
    half_skin: float,
    dtype: np.dtype[Any] | None = None,
    names: tuple[str, str] = ("points", "boxes"),
) -> Bodies:
    """Check lower and upper corners. Two dtypes become the larger of them. `names` are those of both arguments."""
    positions, name = names
    if points is not None:
        raise InputError(f"{name}= must not be combined with {positions}; boxes have corners, so leave out {positions}")
    if not isinstance(boxes, (tuple, list)) or len(boxes) != 2:
        raise InputError(f"{name} must be a pair of arrays, (lower, upper), got {type(boxes).__name__}")
    lower, upper = (_check.check_rows(corners, f"{name}[{k}]", dtype) for k, corners in enumerate(boxes))
    if len(lower) == len(upper) == 0:
        upper = lower
    if lower.shape != upper.shape:
        raise InputError(f"{name} must be two arrays of one shape, got {lower.shape} and {upper.shape}")
    if lower.dtype != upper.dtype:
        lower, upper = lower.astype(np.float64), upper.astype(np.float64)
    (low, high, bad), (shortest, longest, vast) = _core.box_bounds(lower, upper)
    if bad >= 0 or vast >= 0:  # finite corners have finite edges, except for overflow
        _check.check_points(boxes[0], f"{name}[0]", lower.dtype)
        _check.check_points(boxes[1], f"{name}[1]", lower.dtype)
    if len(lower) and min(shortest) < 0:
        row = np.flatnonzero((lower > upper).any(axis=1))[0]
        raise InputError(
            f"{name} must have lower corners below upper ones, got lower {lower[row].tolist()} and upper "
            f"{upper[row].tolist()} in row {row}; pass (lower, upper)"
        )
    if half_skin:
        with np.errstate(over="ignore"):
            step = lower.dtype.type(half_skin)
            lower, upper = lower - step, upper + step
        (low, high, _), (_, longest, vast) = _core.box_bounds(lower, upper)
    if vast >= 0:
        raise InputError(
            f"{name} must have finite edges, got one that overflows {lower.dtype} in row {vast}; "
            "use float64 or larger units"
        )
    return Bodies(lower, low, high, upper, longest if len(lower) else [0.0] * lower.shape[1])
