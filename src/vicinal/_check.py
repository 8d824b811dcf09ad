"""Checks of arguments: bad input never reaches the compiled core."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.cell import BoxLike, Cell, PeriodicLike, read_cell
from vicinal.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]

MOST_BODIES = 2**31 - 1
# Most periodic images of one body that a search visits. (The core numbers them with 16 bits per axis.)
MOST_IMAGES = 50_000
# From here on a square rounds to infinity, by the size of the dtype in bytes.
LARGEST_SQUARE = {4: (2 - 2**-24) * 2.0**127, 8: math.inf}
# Shifts, in units of the vectors of a tilted cell, must fit 32 bits: this many for the wrapping of each of two bodies,
# and twice as many for the image.
MOST_SHIFT = 2**29


@dataclass(frozen=True)
class Bodies:
    """Checked bodies: contiguous, float32 or float64, finite.

    `array` holds the positions (lower corners of boxes), `extra` the radii of spheres or the upper corners of boxes,
    `low` and `high` the bounds of the positions, `largest` the largest radius (for every axis) or the longest edges.
    `widest`: two spheres form a pair within the larger of their radii, not within the sum. `spheres`: these bodies are
    boxes around spheres.
    """

    array: Floats
    low: list[float]
    high: list[float]
    extra: Floats | None = None
    largest: list[float] = field(default_factory=list)
    widest: bool = False
    spheres: Bodies | None = None

    @property
    def dim(self) -> int:
        """Number of coordinates per point."""
        return int(self.array.shape[1])

    @property
    def kind(self) -> str:
        """Kind of the bodies: "points", "spheres" or "boxes"."""
        if self.extra is None:
            return "points"
        return "spheres" if self.extra.ndim == 1 else "boxes"

    @property
    def for_core(self) -> _core.BodyArrays:
        """The bodies as the compiled core takes them."""
        return _core.BodyArrays(
            positions=self.array,
            extra=self.extra,
            low=self.low,
            high=self.high,
            largest=self.largest or [0.0] * self.dim,
            widest=self.widest,
        )

    def __len__(self) -> int:
        """Return the number of bodies."""
        return int(self.array.shape[0])

    def none(self) -> Bodies:
        """Return an empty set of bodies of the same kind, dtype and dimension."""
        zero = [0.0] * self.dim
        extra: Any = None if self.extra is None else self.extra[:0].copy()
        return Bodies(self.array[:0].copy(), zero, zero, extra, zero, self.widest)

    def outline(self, size: int | None = None) -> Bodies:
        """Return bounds and sizes for checks, with the same (or another) number of rows but no memory behind them."""
        rows: Any = np.broadcast_to(self.array.dtype.type(0), (len(self) if size is None else size, self.dim))
        extra: Any = None if self.extra is None else self.extra[:0]
        return Bodies(rows, self.low, self.high, extra, self.largest, self.widest)

    def joined(self, more: Bodies) -> Bodies:
        """Return the outline of these bodies and others together."""
        low, high = more.low, more.high
        if len(self) and len(more):
            low = [min(two) for two in zip(self.low, low, strict=True)]
            high = [max(two) for two in zip(self.high, high, strict=True)]
        elif len(self):
            low, high = self.low, self.high
        largest = [max(two) for two in zip(self.largest, more.largest, strict=True)] if self.extra is not None else []
        return Bodies(self.array, low, high, self.extra, largest, self.widest).outline(len(self) + len(more))

    def reach(self, cutoff: float, queries: Bodies | None = None) -> list[float]:
        """Return the largest distance between the positions of a pair along each axis."""
        sizes = self.largest or [0.0] * self.dim
        others = sizes if queries is None else [max(two) for two in zip(sizes, queries.largest, strict=True)]
        if self.kind == "boxes":
            return others
        dtype = self.array.dtype
        # Squares that underflow make pairs reach farther than the cutoff; the core calls this distance reach.
        with np.errstate(under="ignore"):
            spheres = others[0] if self.widest else sizes[0] + others[0]
            r = dtype.type(cutoff if self.kind == "points" else spheres)
            square = float(r * r)
        return [math.sqrt(square + 3 * float(np.finfo(dtype).smallest_subnormal))] * self.dim


def most_wraps(dtype: np.dtype[Any]) -> float:
    """Return how many edges outside a periodic box a body may lie; farther out, too few digits are left."""
    return min(2.0**29, 0.125 / float(np.finfo(dtype).eps))


def as_array(value: object, name: str) -> npt.NDArray[Any]:
    """Convert anything array-like (lists, `__array__`, DLPack) to a NumPy array; masked arrays are refused."""
    if type(value) is np.ndarray:  # no subclass
        return value
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(
            f"{name} must not be a masked array, got one of shape {value.shape}; pass the rows to use as a plain array"
        )
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        raise InputError(f"{name} must be an array of numbers, got {type(value).__name__} ({error})") from error


def check_rows(value: object, name: str, dtype: np.dtype[Any] | None = None) -> Floats:
    """Check kind and shape of coordinates and return them contiguous, copied only where necessary.

    They are converted to `dtype`; without one, float32 and float64 are kept and other numbers become float64.
    """
    array = as_array(value, name)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers, got dtype {array.dtype}; pass float32 or float64")
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        remedy = ""
        if array.shape in ((2,), (3,)):
            remedy = "; pass one point as an array with one row"
        elif array.ndim == 2 and array.shape[0] in (2, 3):
            remedy = "; pass the transposed array, with one row per point"
        raise InputError(f"{name} must have shape (n, 2) or (n, 3), got {array.shape}{remedy}")
    if array.shape[0] > MOST_BODIES:
        raise InputError(
            f"{name} must have at most {MOST_BODIES} (2**31 - 1) rows, got {array.shape[0]}; search in parts"
        )
    if dtype is None:
        dtype = np.dtype(np.float32 if array.dtype.newbyteorder("=") == np.float32 else np.float64)
    if array.dtype == dtype:
        return np.ascontiguousarray(array)
    with np.errstate(over="ignore", invalid="ignore"):  # numbers too large for float32 become infinite
        ready: Floats = np.ascontiguousarray(array, dtype=dtype)
    return ready


def check_points(value: object, name: str = "points", dtype: np.dtype[Any] | None = None) -> Bodies:
    """Check points and their coordinates; see `check_rows` for the dtype."""
    ready = check_rows(value, name, dtype)
    low, high, bad = _core.bounds(ready)
    if bad >= 0:
        row = as_array(value, name)[bad].tolist()
        raise InputError(f"{name} must be finite in {ready.dtype}, got {row} in row {bad}; remove or correct such rows")
    return Bodies(ready, low, high)


def check_like(value: object, points: Bodies, box: Cell, name: str) -> Bodies:
    """Check a second set of points: converted to the dtype of the first, in the same space."""
    others = check_points(value, name, points.array.dtype)
    if len(others) == 0:
        return points.none()
    if others.dim != points.dim:
        raise InputError(f"{name} must have {points.dim} columns, as the points, got {others.dim}")
    check_wraps(others, box, name)
    return others


def check_number(value: Any, name: str) -> float:
    """Return a real number as a float."""
    if not isinstance(value, (bool, np.bool_, str, bytes)):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            pass
    got = f"an array of shape {value.shape}" if isinstance(value, np.ndarray) else repr(value)
    raise InputError(f"{name} must be a number, got {got}")


def check_cutoff(value: object, points: Bodies, name: str = "cutoff") -> float:
    """Check that a cutoff is not negative and its square is finite in the dtype of the points."""
    cutoff = check_number(value, name)
    dtype = points.array.dtype
    if not (math.isfinite(cutoff) and cutoff >= 0):
        raise InputError(f"{name} must be a finite number of at least 0, got {cutoff}")
    # Squares of float32 numbers are exact in float64, so no NumPy arithmetic, which is slow for one number, is needed.
    largest = LARGEST_SQUARE[dtype.itemsize]
    rounded = cutoff if dtype == np.float64 or cutoff > largest else float(dtype.type(cutoff))
    if rounded == 0 and cutoff != 0:
        raise InputError(
            f"{name} must be above 0 in the dtype of the points, got {cutoff}, which rounds to 0 in {dtype}; "
            "use float64 points or smaller units"
        )
    if not rounded * rounded < largest:
        remedy = "larger units" if dtype == np.float64 else "float64 points or larger units"
        raise InputError(
            f"{name} must have a finite square, got {cutoff}, whose square overflows {dtype}; use {remedy}"
        )
    return rounded


def check_box(value: BoxLike, points: Bodies, cutoff: float, periodic: PeriodicLike = None) -> Cell:
    """Check the periodic cell of bodies, and that they lie close enough to it and do not reach too many images."""
    cell = read_cell(value, periodic, points.dim, points.array.dtype)
    if cell.periodic:
        check_wraps(points, cell, "points")
        check_images(points, cutoff, cell)
    return cell


def check_images(points: Bodies, cutoff: float, cell: Cell, queries: Bodies | None = None) -> None:
    """Check that a body reaches at most `MOST_IMAGES` periodic images of the box, and that their shifts fit 32 bits."""
    reach = points.reach(cutoff, queries)
    edges = _edges_within(reach, points, cell)
    images = math.prod(2 * most + 1 for most in edges)
    largest_shift = points.dim * cell.steepest() * max(edges, default=0.0)
    if images <= MOST_IMAGES and largest_shift < 2 * MOST_SHIFT:
        return
    name, size = {
        "points": ("cutoff", cutoff),
        "spheres": ("radii", max(reach) / 2),
        "boxes": ("boxes", max(reach)),
    }[points.kind]
    least = math.prod(2 * most + 1 for most in _edges_within(replace(points, largest=[]).reach(0.0), points, cell))
    if least > MOST_IMAGES and (cutoff == 0 or cell.tilted):
        raise InputError(
            f"box must be such that a body reaches at most {MOST_IMAGES} periodic images by the rounding of "
            f"{points.array.dtype} alone, got box {cell}, where it reaches {least:.3g}; use float64 points, "
            "larger units or a less thin cell"
        )
    if images > MOST_IMAGES:
        raise InputError(
            f"{name} must reach at most {MOST_IMAGES} periodic images, got {size}, which reaches {images:.3g} in box "
            f"{cell}; use a smaller size, or repeat the points in a larger box"
        )
    raise InputError(
        f"{name} must be so small that shifts fit 32 bits, got {size}, which reaches {max(edges):.3g} edges in a box "
        f"whose reduced edge vectors are sums of up to {cell.steepest()} times the given ones; use a smaller size, or "
        "subtract multiples of the other edge vectors from the longest one"
    )


def _edges_within(reach: list[float], points: Bodies, cell: Cell) -> list[float]:
    """Return how many edges away an image can be that a body reaches, along each periodic axis."""
    far = [max(abs(b), abs(h)) for b, h in zip(points.low, points.high, strict=True)]
    reach = cell.reach(reach, far, float(np.finfo(points.array.dtype).eps), boxes=points.kind == "boxes")
    return [r / edge + 1 for r, edge in zip(reach, cell.edges, strict=True) if edge > 0]


def check_wraps(points: Bodies, cell: Cell, name: str) -> None:
    """Check that bodies lie close enough to a periodic box to be wrapped."""
    if cell.tilted:
        _check_tilted_wraps(points, cell, name)
        return
    for axis, edge in enumerate(cell.edges):
        if edge > 0:
            _check_wraps(points, axis, edge, name)


def _check_wraps(points: Bodies, axis: int, edge: float, name: str) -> None:
    most = most_wraps(points.array.dtype)
    if len(points) and max(abs(points.low[axis]), abs(points.high[axis])) >= most * edge:
        row = int(np.argmax(np.abs(points.array[:, axis])))
        raise InputError(
            f"{name} must lie within {most:.3g} edges of the box, got {points.array[row].tolist()} in row {row} with "
            f"box[{axis}] = {edge}; wrap the row into the box, or pass None to leave this axis open"
        )


def _check_tilted_wraps(points: Bodies, cell: Cell, name: str) -> None:
    """Check the same in a tilted cell."""
    most = min(most_wraps(points.array.dtype), MOST_SHIFT / (points.dim * cell.steepest()))
    far = [max(abs(b), abs(h)) for b, h in zip(points.low, points.high, strict=True)]
    for edge, row in zip(cell.edges, cell.inverse, strict=True):
        # The bounds of the points suffice, unless they are far away.
        if edge == 0 or not len(points) or sum(abs(x) * r for x, r in zip(row, far, strict=True)) < most:
            continue
        wraps = np.abs(points.array @ np.array(row))
        if wraps.max() >= most:
            worst = int(wraps.argmax())
            raise InputError(
                f"{name} must lie within {most:.3g} edges of the box, got {points.array[worst].tolist()} in row "
                f"{worst}; wrap the row into the box"
            )


def check_ids(value: object, size: int) -> npt.NDArray[np.uint32]:
    """Check distinct numbers of bodies."""
    array = as_array(value, "ids")
    if array.size == 0:
        array = array.reshape(-1).astype(np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"ids must be a list of whole numbers, got shape {array.shape} and dtype {array.dtype}")
    wrong = array[(array < 0) | (array >= size)]
    if len(wrong):
        raise InputError(f"ids must lie from 0 to {size - 1}, got {wrong[0]}")
    values, counts = np.unique(array, return_counts=True)
    if len(values) < len(array):
        raise InputError(f"ids must not repeat, got {values[counts > 1][0]} more than once")
    return np.ascontiguousarray(array, dtype=np.uint32)


def check_want(want: object, letters: str, name: str = "want") -> str:
    """Check that a result description contains only known letters, at least one."""
    if not isinstance(want, str) or not want or any(letter not in letters for letter in want):
        raise InputError(f"{name} must consist of the letters {', '.join(letters)}, got {want!r}")
    return want


def check_integer(value: object, name: str, *, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        # A bound that only computers know is named where it matters.
        bounds = f"of at least {least}" if most >= MOST_BODIES and number <= most else f"from {least} to {most}"
        raise InputError(f"{name} must be a whole number {bounds}, got {value!r}")
    return number


def check_path(value: object, name: str) -> Path:
    """Return the path of a file or folder."""
    if not isinstance(value, (str, PathLike)):
        raise InputError(f"{name} must be a path, got {value!r}; pass a string or a pathlib.Path")
    return Path(value)


def check_flag(value: object, name: str) -> bool:
    """Return True or False; NumPy's booleans and the integers 0 and 1 are accepted too."""
    if value is True or value is False:
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = -1
    if number not in (0, 1):
        raise InputError(f"{name} must be True or False, got {value!r}")
    return bool(number)


def check_choice(value: object, name: str, choices: Sequence[str]) -> str:
    """Return one of several words."""
    if value not in choices:
        raise InputError(f"{name} must be one of {', '.join(map(repr, choices))}, got {value!r}")
    return str(value)


def locked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a read-only view, for arrays in which writing would be lost."""
    view = array.view()
    view.flags.writeable = False
    return view
