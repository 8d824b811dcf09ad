"""The input of a neighbour list: bodies enlarged by the skin, and the limits of a skin in a periodic box."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies, Floats
from vicinal.bodies import check_one_cutoff
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.filters import NEEDS_POINTS, check_criterion
from vicinal.index import Index
from vicinal.planes import Planes
from vicinal.settings import Settings
from vicinal.structures import Delaunay, StructureLike, find_structure

# The share of an edge, in units of epsilon, reserved for rounding where two images of a pair must be distinguished.
IMAGE_MARGIN = 16
# The number of bodies whose motion is measured while a list has no skin.
SAMPLE = 1024
# With less room for a skin than this share of the reach, a list keeps shifts, which allows a thicker skin.
LEAST_ROOM = 0.1


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


def copy_of_planes(value: Any) -> Any:
    """Return a copy of unchecked planes."""
    return tuple(np.array(entry) for entry in value) if isinstance(value, (tuple, list)) else value


def sample_stride(points: Floats) -> int:
    """Return the step from one body whose motion is measured to the next."""
    return max(1, len(points) // SAMPLE)


def reach_of(bodies: Bodies, cutoff: float) -> tuple[float, float]:
    """Return how far apart the positions of a pair can be, for the largest and for a typical pair."""
    if bodies.kind == "points" or not len(bodies):
        return cutoff, cutoff
    if bodies.kind == "spheres":
        both = 1 if bodies.widest else 2  # the larger radius of a pair, or their sum
        return both * max(bodies.largest), both * float(bodies.extra.mean(dtype=np.float64))  # type: ignore[union-attr]
    edges: Any = bodies.extra
    return max(bodies.largest), float((edges - bodies.array).max(axis=1).mean(dtype=np.float64))


@dataclass(frozen=True)
class SkinRoom:
    """Upper limits of the skin.

    Parameters
    ----------
    one_image
        Up to here, at most one image of a pair is in the list; negative if there are more even without a skin.
    most
        Up to here, the motion of a body within its margin is distinguished from a change by a whole period.

    automatic
        Limit of an automatic skin: one image, if that leaves enough room.
    """

    one_image: float
    most: float
    automatic: float

    def check(self, skin: float, reach: float, cell: Cell, layout: str, *, boxes: bool) -> bool:
        """Check a skin, and return whether the list has to keep shifts."""
        if skin > self.most:
            raise InputError(
                f"skin must be less than the shortest edge of the box {cell}, got {skin:g}; use at most {self.most:g}"
            )
        # Boxes always keep them: the nearest image of a box is not always the one that overlaps.
        several = cell.periodic and (skin > self.one_image or boxes)
        if several and layout in ("fixed", "hybrid"):
            raise InputError(
                f"box must have edges above {2 * (reach + skin):g} with layout {layout!r}, got "
                f"{cell}: pairs have several images, so use layout 'rows' or 'pairs'"
            )
        return several


def room_for_skin(bodies: Bodies, reach: float, cell: Cell) -> SkinRoom:
    """Return how thick a skin may be in a periodic box."""
    eps = float(np.finfo(bodies.array.dtype).eps)
    periods = [edge for edge in cell.edges if edge > 0]
    if not periods:
        return SkinRoom(float("inf"), float("inf"), float("inf"))
    rounding = IMAGE_MARGIN * eps * len(cell.edges)
    if cell.tilted:  # images are sums of vectors, which round relative to the longest of them
        rounding *= len(cell.edges) * max(math.hypot(*vector) for vector in cell.vectors) / min(periods)
    one_image = min(periods) / 2 * (1 - rounding) / (1 + IMAGE_MARGIN * eps) - reach
    most = min(periods) * (1 - 4 * rounding)
    return SkinRoom(one_image, most, one_image if one_image >= LEAST_ROOM * reach else most)


def with_skin(bodies: Bodies, cutoff: float, skin: float, cell: Cell, planes: Planes) -> Settings:
    """Return the input of the search: bodies that reach farther by the skin.

    Planes of spheres and boxes move forward by half a skin; together with the half that bodies grow by, that is a whole
    skin. Where the larger of two radii decides, each of them grows by a whole skin.
    """
    if skin == 0:
        return Settings(bodies, cutoff, cell, planes)
    dtype: np.dtype[Any] = bodies.array.dtype
    half: Any = dtype.type(skin / 2)
    if bodies.kind == "points":
        larger = Settings(bodies, _check.check_cutoff(cutoff + skin, bodies, "cutoff + skin"), cell, planes)
        _check.check_images(bodies, larger.cutoff, cell)
        return larger
    with np.errstate(over="ignore"):
        more: Any = dtype.type(skin) if bodies.widest else half
        extra: Any = bodies.extra + more
        array: Any = bodies.array if bodies.kind == "spheres" else bodies.array - half
        largest = [
            float(dtype.type(size) + (more if bodies.kind == "spheres" else 2 * half)) for size in bodies.largest
        ]
        if bodies.kind == "spheres":
            twice = 2 * dtype.type(largest[0])
            finite = np.isfinite(twice * twice)
        else:
            sizes = extra - array
            largest = sizes.max(axis=0).tolist() if len(bodies) else largest
            finite = np.isfinite(sizes).all() and np.isfinite(largest).all()
    if not finite:
        raise InputError(f"skin must not make bodies overflow {dtype}, got {skin:g}; use a smaller skin or float64")
    low, high = bodies.low, bodies.high
    if bodies.kind == "boxes" and len(bodies):
        low, high = ([float(f(array[:, axis])) for axis in range(bodies.dim)] for f in (np.min, np.max))
    moved = Planes(planes.points + planes.normals * half, planes.normals) if len(planes) else planes
    larger = Settings(replace(bodies, array=array, extra=extra, low=low, high=high, largest=largest), 0.0, cell, moved)
    _check.check_images(larger.bodies, 0.0, cell)
    return larger


def adds_up(settings: Settings) -> bool:
    """Return whether spheres form pairs by the sum of two radii, so that each has a margin of its own."""
    return settings.criterion in ("sum", "mean")


def margins_of(built: Settings, radii: Floats) -> tuple[Any, Any]:
    """Return a size of the build and a present one for each sphere; it may move by their difference.

    Where the larger or the smaller of two radii decides, the growth of one sphere can take the margin of any other.
    Growth by g and motion of both by m need g + 2 m within the skin, so all of them have the least margin.
    """
    larger: Any = built.bodies.extra
    if adds_up(built) or not len(radii):
        return larger, radii
    share = 0.5 if built.bodies.widest else 1.0
    largest = share * max(built.bodies.largest)
    with np.errstate(over="ignore", invalid="ignore"):
        left = share * float((larger - radii).min()) if radii.min() >= 0 else -math.inf  # not finite: to be refused
    return np.full_like(larger, largest), np.full_like(larger, largest - left)


def room_of_planes(planes: Planes, built: Settings, skin: float) -> npt.NDArray[np.float64]:
    """Return how far each plane may move forward before a list has to be built again; negative if rounding needs more.

    A pair of a body and a plane in the list has a margin of one skin. The motion of the body takes half of it. The
    other half, less what rounding takes from both tests, is left to the plane: a distance n·(x - p) is a sum of
    products each rounded twice, so it is off by at most 4 epsilon Σ |n| |x - p|, and the plane of the build was rounded
    when it moved forward.
    """
    bodies = built.bodies
    eps = float(np.finfo(bodies.array.dtype).eps)
    points, normals = planes.points.astype(np.float64), np.abs(planes.normals.astype(np.float64))
    sizes = np.array(bodies.largest or [0.0] * bodies.dim)
    away = np.maximum(np.abs(np.array(bodies.low) - points), np.abs(np.array(bodies.high) - points)) + sizes + skin
    slack = 16 * eps * ((normals * (away + np.abs(points) + skin)).sum(axis=1) + skin)
    tiny = 16 * float(np.finfo(bodies.array.dtype).smallest_subnormal)
    return np.asarray(skin / 2 - slack - tiny)


def planes_within(planes: Planes, built: Planes, room: npt.NDArray[np.float64]) -> bool:
    """Return whether planes are those of the build, or have moved forward by no more than their room."""
    if len(planes) != len(built) or not np.array_equal(planes.normals, built.normals):
        return False
    way = ((planes.points.astype(np.float64) - built.points) * built.normals).sum(axis=1)
    return bool((way <= room).all())


def check_conditions(
    cutoff: Any, criterion: object, types: object, *, sized: bool, radii: bool, planes: object
) -> None:
    """Check that a criterion comes with radii, and types with points and a matrix of cutoffs."""
    check_criterion(criterion, radii=radii)
    if types is not None and (sized or planes is not None):
        raise InputError(NEEDS_POINTS)
    if types is None and not sized:
        check_one_cutoff(cutoff)


def largest_of(cutoff: Any) -> Any:
    """Return the largest cutoff of a matrix, which is checked with the points, or the cutoff itself."""
    if isinstance(cutoff, float) or np.ndim(cutoff) == 0:
        return cutoff
    array = _check.as_array(cutoff, "cutoff")
    return float(array.max(initial=0)) if array.dtype.kind in "fiu" else 0.0


def check_width(value: object, layout: str) -> int:
    """Return the width of a table, 0 for layouts without one."""
    if layout not in ("fixed", "hybrid"):
        if value is not None:
            raise InputError(
                f"width must be left out with layout {layout!r}, got {value!r}; use it with fixed or hybrid"
            )
        return 0
    if value is None:
        raise InputError(f"width must be given with layout {layout!r}, got None; pass how many neighbours a row holds")
    return _check.check_integer(value, "width", least=1, most=2**20)


def check_structure(structure: StructureLike, *, points: bool) -> type[Index] | None:
    """Return the class of a structure given as a class or by its name; None if it is to be chosen."""
    if structure is None:
        return None
    kind = find_structure(structure)
    if not points and kind is Delaunay:
        raise InputError("structure must not be Delaunay for bodies with sizes; use another structure")
    return kind


def check_consumer(value: object) -> float | None:
    """Check seconds per entry; None means that they are measured."""
    if value is None:
        return None
    seconds = _check.check_number(value, "consumer")
    if not 0 <= seconds < float("inf"):
        raise InputError(f"consumer must be a time in seconds, got {value}; pass one such as 2e-9, or None to measure")
    return seconds
