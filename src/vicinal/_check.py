"""Checks of arguments: bad input never reaches the compiled core."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.errors import InputError

Floats: TypeAlias = npt.NDArray[np.float32] | npt.NDArray[np.float64]
BoxLike: TypeAlias = float | Sequence[float | None] | npt.NDArray[Any] | None

MOST_BODIES = 2**31 - 1
# More images than this of every body is not a search any more. (The core numbers them with 16 bits per axis.)
MOST_IMAGES = 50_000


@dataclass(frozen=True)
class Bodies:
    """Bodies that were checked: contiguous, float32 or float64, finite.

    `array` has the positions (of boxes the lower corners), `extra` the radii of spheres or the upper corners of boxes,
    `largest` the largest radius (for every axis) or the longest edges.
    """

    array: Floats
    low: list[float]
    high: list[float]
    extra: Floats | None = None
    largest: list[float] = field(default_factory=list)

    @property
    def dim(self) -> int:
        """Number of coordinates per point."""
        return int(self.array.shape[1])

    @property
    def kind(self) -> str:
        """What the bodies are: points, spheres or boxes."""
        if self.extra is None:
            return "points"
        return "spheres" if self.extra.ndim == 1 else "boxes"

    @property
    def for_core(self) -> tuple[Floats, Floats | None, list[float], list[float], list[float]]:
        """The bodies as the compiled core takes them."""
        return self.array, self.extra, self.low, self.high, self.largest or [0.0] * self.dim

    def __len__(self) -> int:
        """Return the number of bodies."""
        return int(self.array.shape[0])

    def none(self) -> Bodies:
        """Return no bodies of the same kind, dtype and dimension."""
        zero = [0.0] * self.dim
        extra: Any = None if self.extra is None else self.extra[:0].copy()
        return Bodies(self.array[:0].copy(), zero, zero, extra, zero)

    def outline(self, size: int | None = None) -> Bodies:
        """Return bounds and sizes, for checks: as many rows (or another number), but nothing in them."""
        rows: Any = np.broadcast_to(self.array.dtype.type(0), (len(self) if size is None else size, self.dim))
        extra: Any = None if self.extra is None else self.extra[:0]
        return Bodies(rows, self.low, self.high, extra, self.largest)

    def joined(self, more: Bodies) -> Bodies:
        """Return the outline of these bodies and more."""
        low, high = more.low, more.high
        if len(self) and len(more):
            low = [min(two) for two in zip(self.low, low, strict=True)]
            high = [max(two) for two in zip(self.high, high, strict=True)]
        elif len(self):
            low, high = self.low, self.high
        largest = [max(two) for two in zip(self.largest, more.largest, strict=True)] if self.extra is not None else []
        return Bodies(self.array, low, high, self.extra, largest).outline(len(self) + len(more))

    def reach(self, cutoff: float, partner: Bodies | None = None) -> list[float]:
        """Return how far positions of a pair can be apart along each axis."""
        sizes = self.largest or [0.0] * self.dim
        others = sizes if partner is None else [max(two) for two in zip(sizes, partner.largest, strict=True)]
        if self.kind == "boxes":
            return others
        dtype = self.array.dtype
        # Squares that vanish reach farther than the sum: the distance the core calls reach.
        with np.errstate(under="ignore"):
            r = dtype.type(cutoff if self.kind == "points" else sizes[0] + others[0])
            square = float(r * r)
        return [math.sqrt(square + 3 * float(np.finfo(dtype).smallest_subnormal))] * self.dim


def most_wraps(dtype: np.dtype[Any]) -> float:
    """Return how many edges outside a periodic box a body may be: farther out, too few digits are left."""
    return min(2.0**29, 0.125 / float(np.finfo(dtype).eps))


def as_array(value: object, name: str) -> npt.NDArray[Any]:
    """Turn anything array-like (lists, `__array__`, DLPack) into a NumPy array."""
    try:
        if hasattr(value, "__dlpack__") and not hasattr(value, "__array__"):
            return np.from_dlpack(value)
        return np.asarray(value)
    except (ValueError, TypeError, RuntimeError, BufferError) as error:
        raise InputError(
            f"{name}: cannot be read as an array ({error}); pass numbers of shape (n, 2) or (n, 3)"
        ) from error


def check_rows(value: object, name: str) -> Floats:
    """Check kind and shape of coordinates, and return them as the core wants them; copied only where that is needed."""
    array = as_array(value, name)
    if array.dtype.kind not in "fiu":
        raise InputError(
            f"{name}: dtype {array.dtype} is not supported; pass float32 or float64 (integers become float64)"
        )
    if array.ndim == 1 and array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (2, 3):
        raise InputError(f"{name}: shape {array.shape} found; pass (n, 2) for the plane or (n, 3) for space")
    if array.shape[0] > MOST_BODIES:
        raise InputError(
            f"{name}: {array.shape[0]} rows found; at most {MOST_BODIES} (2**31 - 1) fit, so search in parts"
        )
    kept = np.dtype(np.float32) if array.dtype.newbyteorder("=") == np.float32 else np.dtype(np.float64)
    ready: Floats = np.ascontiguousarray(array, dtype=kept)  # type: ignore[assignment]
    return ready


def check_points(value: object, name: str = "points") -> Bodies:
    """Check points, each coordinate of them too."""
    ready = check_rows(value, name)
    low, high, bad = _core.bounds(ready)
    if bad >= 0:
        raise InputError(
            f"{name}: row {bad} is {ready[bad].tolist()}; coordinates must be finite, so remove or repair such rows"
        )
    return Bodies(ready, low, high)


def check_number(value: object, name: str) -> float:
    """Return a real number as a float."""
    if isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: {value!r} found; pass a number")
    try:
        return float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{name}: {value!r} found; pass a number") from None


def check_cutoff(value: object, points: Bodies, name: str = "cutoff") -> float:
    """Check that a cutoff is positive and its square is finite in the dtype of the points."""
    cutoff = check_number(value, name)
    dtype = points.array.dtype
    if not math.isfinite(cutoff) or cutoff <= 0:
        raise InputError(f"{name}: {cutoff} found; pass a positive, finite distance")
    with np.errstate(over="ignore", under="ignore"):
        rounded = dtype.type(cutoff)
        square = rounded * rounded
    if rounded == 0:
        raise InputError(f"{name}: {cutoff} rounds to 0 in {dtype}; use float64 points or larger units")
    if not np.isfinite(square):
        raise InputError(f"{name}: the square of {cutoff} overflows {dtype}; use float64 points or smaller units")
    return float(rounded)


def check_box(value: BoxLike, points: Bodies, cutoff: float) -> list[float]:
    """Return one period per axis, 0 for an open axis."""
    dim = points.dim
    if value is None:
        return [0.0] * dim
    if np.ndim(value) == 0:  # type: ignore[arg-type]
        entries: list[object] = [value] * dim
    else:
        entries = list(value)  # type: ignore[arg-type]
    if len(entries) != dim:
        raise InputError(
            f"box: {len(entries)} entries found for {dim} dimensions; pass {dim} lengths, None for an open axis"
        )
    edges = [0.0 if entry is None else _check_edge(entry, axis, points) for axis, entry in enumerate(entries)]
    check_images(points, cutoff, edges)
    return edges


def check_images(points: Bodies, cutoff: float, edges: list[float], partner: Bodies | None = None) -> None:
    """Check that bodies do not reach through more periodic images of the box than anybody can want."""
    reach = points.reach(cutoff, partner)
    images = math.prod(2 * (r / edge + 1) + 1 for r, edge in zip(reach, edges, strict=True) if edge > 0)
    if images > MOST_IMAGES:
        name, found = {
            "points": ("cutoff", cutoff),
            "spheres": ("radii", max(reach) / 2),
            "boxes": ("boxes", max(reach)),
        }[points.kind]
        raise InputError(
            f"{name}: {found} reaches {images:.3g} periodic images in box {[edge or None for edge in edges]}; "
            "use smaller bodies or a smaller cutoff, or repeat the points yourself in a larger box"
        )


def _check_edge(entry: object, axis: int, points: Bodies) -> float:
    edge = check_number(entry, f"box[{axis}]")
    rounded = float(points.array.dtype.type(edge))
    if not math.isfinite(rounded) or rounded <= 0:
        raise InputError(f"box[{axis}]: {edge} found; pass a positive, finite length, or None for an open axis")
    _check_wraps(points, axis, rounded, "points")
    return rounded


def _check_wraps(points: Bodies, axis: int, edge: float, name: str) -> None:
    most = most_wraps(points.array.dtype)
    if len(points) and max(abs(points.low[axis]), abs(points.high[axis])) >= most * edge:
        row = int(np.argmax(np.abs(points.array[:, axis])))
        raise InputError(
            f"{name}: row {row} is {points.array[row].tolist()}, over {most:.3g} edges outside box[{axis}] = {edge}; "
            "wrap it yourself, or leave this axis open with None"
        )


def check_wraps(points: Bodies, box: list[float], name: str) -> None:
    """Check that bodies are not too far outside a periodic box to be wrapped."""
    for axis, edge in enumerate(box):
        if edge > 0:
            _check_wraps(points, axis, edge, name)


def check_ids(value: object, size: int) -> npt.NDArray[np.uint32]:
    """Check distinct numbers of bodies."""
    array = as_array(value, "ids")
    if array.size == 0:
        array = array.reshape(-1).astype(np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"ids: shape {array.shape} and dtype {array.dtype} found; pass a list of whole numbers")
    wrong = array[(array < 0) | (array >= size)]
    if len(wrong):
        raise InputError(f"ids: {wrong[0]} found; pass numbers from 0 to {size - 1}")
    values, counts = np.unique(array, return_counts=True)
    if len(values) < len(array):
        raise InputError(f"ids: {values[counts > 1][0]} found more than once; pass each number once")
    return np.ascontiguousarray(array, dtype=np.uint32)


def check_want(want: object, letters: str) -> str:
    """Check that a result description contains only known letters, at least one."""
    if not isinstance(want, str) or not want or any(letter not in letters for letter in want):
        listed = ", ".join(letters)
        raise InputError(f"want: {want!r} found; pass one or more of the letters {listed}")
    return want


def check_integer(value: object, name: str, *, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise InputError(f"{name}: {value!r} found; pass a whole number from {least} to {most}") from None
    if isinstance(value, bool) or not least <= number <= most:
        raise InputError(f"{name}: {value!r} found; pass a whole number from {least} to {most}")
    return number


def check_flag(value: object, name: str) -> bool:
    """Return True or False, and nothing that merely looks like it."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: {value!r} found; pass True or False")
    return bool(value)
