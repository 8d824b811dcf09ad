"""Problems for Hypothesis: coordinates snapped to fractions of the cutoff, so exact ties are the rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from oracle import space_of
from problem import Problem

if TYPE_CHECKING:
    from oracle import Array

# Powers of ten of the cutoff: mostly near one; at the low end its square is denormal or zero.
SCALES = {
    np.float64: st.one_of(st.just(0), st.integers(-12, 12), st.integers(-172, 153)),
    np.float32: st.one_of(st.just(0), st.integers(-6, 6), st.integers(-26, 18)),
}
MANTISSAS = [1.0, 0.1, 0.3, 0.7, 1 / 3, 2.5, 1.7]
# Box edges in cutoffs: cells that just fit, cells that just do not, and boxes smaller than the cutoff.
EDGES = [0.4, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 7.0, 10.0, 100.0, 1e6]
OPEN = st.none()
# Sizes of bodies in fractions of the unit: equal, few and many, zero, and giants.
SIZES = [[1], [0], [0, 1, 2], [1, 1, 1, 1, 8], [0, 0.001, 1, 2, 3], [0.001, 0.01, 1, 4], [1, 1, 1, 1, 1, 1, 1000]]

Bodies = tuple["Array", "Array"]


@st.composite
def layouts(draw: st.DrawFn, dtype: Any, dim: int, r: Any, most: int) -> Array:
    """A set of points whose coordinates are fractions of the cutoff r, near the origin or far from it."""
    part = draw(st.sampled_from([1, 2, 3, 4, 7]))
    if draw(st.booleans()):
        n = draw(st.integers(0, min(most, 12)))
        ticks = draw(hnp.arrays(np.int64, (n, dim), elements=st.integers(-12, 12))).astype(dtype)
    else:  # many points: Hypothesis chooses the recipe, not each number
        n = draw(st.integers(0, most))
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        span = draw(st.sampled_from([1, 3, 10, 30]))
        smooth = draw(st.booleans())
        ticks = (rng.uniform(-span, span, (n, dim)) if smooth else rng.integers(-span, span + 1, (n, dim))).astype(
            dtype
        )
        flat = draw(st.lists(st.integers(0, dim - 1), max_size=dim - 1))
        ticks[:, flat] = ticks[:1, flat]
    with np.errstate(all="ignore"):
        offset = draw(hnp.arrays(np.int64, dim, elements=st.sampled_from([0, 0, 0, 1, -5, 1000, 10**6, 10**9, 10**12])))
        points = (ticks * r) / dtype(part) + offset.astype(dtype) * r
        for _ in range(draw(st.integers(0, 3)) if n else 0):  # a point beside another, or very far away
            k, axis = draw(st.integers(0, n - 1)), draw(st.integers(0, dim - 1))
            to = draw(st.sampled_from(["next", "previous", "far", "cutoff", "zero"]))
            x = points[k, axis]
            points[k, axis] = {
                "next": np.nextafter(x, dtype(np.inf)),
                "previous": np.nextafter(x, dtype(-np.inf)),
                "far": x + dtype(10.0 ** draw(st.integers(3, 15))) * r,
                "cutoff": x + r,
                "zero": dtype(-0.0),
            }[to]
        limit = np.finfo(dtype).max / 4
        return np.asarray(np.clip(points, -limit, limit))


@st.composite
def boxes(draw: st.DrawFn, dtype: Any, dim: int, r: Any, most_images: float) -> tuple[float | None, ...] | None:
    """Open, or per axis an edge of some cutoffs, give or take the last bit."""
    if draw(st.integers(0, 2)) == 0:
        return None
    edges = [edge for edge in EDGES if 1 / edge <= most_images]

    def edge() -> float | None:
        ratio = draw(st.one_of(OPEN, st.sampled_from(edges), st.sampled_from(edges)))
        if ratio is None:
            return None
        length = dtype(ratio) * r
        toward = draw(st.sampled_from([0, 0, -1, 1]))
        return float(np.nextafter(length, dtype(toward * np.inf)) if toward else length)

    return tuple(edge() for _ in range(dim))


@st.composite
def cells(draw: st.DrawFn, dtype: Any, dim: int, r: Any, most_images: float) -> tuple[Any, Any, float]:
    """Edge vectors of a tilted cell, along which of them space is periodic, and the least distance of its faces.

    A cuboid of some cutoffs, sheared by simple and by odd fractions up to many edges, turned in space, mirrored, its
    vectors in any order.
    """
    lengths = [draw(st.sampled_from([0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0])) for _ in range(dim)]
    rows = np.diag(lengths)
    for _ in range(draw(st.integers(1, 3))):
        k, n = draw(st.permutations(range(dim)))[:2]
        rows[k] += rows[n] * draw(st.sampled_from([0.5, -0.5, 1.0, 1 / 3, 0.2, -1.0, -3.0, 7.25, 1000.5]))
    if draw(st.booleans()):
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        rows = rows @ np.linalg.qr(rng.normal(size=(dim, dim)))[0]
    rows = rows[draw(st.permutations(range(dim)))]
    rows[0] *= draw(st.sampled_from([1, 1, -1]))
    along = tuple(draw(st.lists(st.sampled_from([True, True, True, False]), min_size=dim, max_size=dim)))
    rows = (rows * float(r)).astype(dtype)
    space = space_of(rows, along, dim, np.dtype(dtype))
    assume(all(length is None or float(r) / float(length) <= most_images for length in space.lengths))
    # Steeper cells, with points far outside, are refused: their shifts do not fit 32 bits.
    assume(space.basis is None or np.abs(space.basis).max() <= 2000)
    thin = min((float(length) for length in space.lengths if length is not None), default=float(r))
    return tuple(tuple(float(x) for x in row) for row in rows), None if all(along) else along, thin


def _near_cell(points: Array, thin: float) -> Array:
    """Points brought within a thousand lengths of the cell in every direction."""
    length = points.dtype.type(1000 * thin)
    far = np.abs(points) > length
    points[far] = np.fmod(points[far], length)
    return points


@st.composite
def tilted_problems(draw: st.DrawFn, kind: str, most: int = 40) -> Problem:
    """Points, spheres or boxes and queries of the same kind in a tilted cell."""
    dtype: Any = draw(st.sampled_from([np.float64, np.float32]))
    dim = draw(st.sampled_from([3, 3, 2]))
    r = dtype(draw(st.sampled_from(MANTISSAS)) * 10.0 ** draw(st.sampled_from([0, 0, 0, -6, 6])))
    few = draw(st.booleans())
    rows, along, thin = draw(cells(dtype, dim, r, 1.5 if few else 0.6))
    count = 8 if few else most
    made: dict[str, Any] = {"points": None, "box": rows, "periodic": along}
    for prefix in ("", "query_"):
        x, extra = draw(sized_layouts("boxes" if kind == "boxes" else "spheres", dtype, dim, r, count, 0.5))
        x = _near_cell(x, thin)
        if kind == "boxes":
            made[prefix + "boxes"] = x, x + extra
        else:
            made["queries" if prefix else "points"] = x
            made[prefix + "radii"] = extra if kind == "spheres" else None
    if kind == "points":
        made["cutoff"] = float(r)
    return Problem(**made)


@st.composite
def problems(draw: st.DrawFn, most: int = 60, with_queries: bool = False) -> Problem:
    """Any input that vicinal must accept."""
    dtype: Any = draw(st.sampled_from([np.float64, np.float32]))
    dim = draw(st.sampled_from([3, 2]))
    with np.errstate(all="ignore"):
        r = dtype(draw(st.sampled_from(MANTISSAS)) * 10.0 ** draw(SCALES[dtype]))
        if not 0 < r < np.sqrt(np.finfo(dtype).max):
            r = dtype(1)
        tame = bool(r * r > 100 * np.finfo(dtype).smallest_subnormal)
    few = draw(st.booleans())  # either few points with many images, or many with few
    # Below the tame range squares underflow, and infinitely many images would be within reach.
    box = draw(boxes(dtype, dim, r, 3.0 if few else 1.0)) if tame else None
    count = min(most, 12) if few and box is not None else most
    points = draw(layouts(dtype, dim, r, count))
    queries = draw(layouts(dtype, dim, r, count)) if with_queries else None
    return Problem(
        _within_reach_of(box, points),
        float(r),
        box,
        None if queries is None else _within_reach_of(box, queries),
    )


def _within_reach_of(box: tuple[float | None, ...] | None, points: Array) -> Array:
    """Points on periodic axes brought within a thousand edges of the box."""
    for axis, edge in enumerate(box or ()):
        if edge is not None:
            length = points.dtype.type(edge)
            far = np.abs(points[:, axis]) > 1000 * length
            points[far, axis] = np.fmod(points[far, axis], 1000 * length)
    return points


@st.composite
def sized_layouts(draw: st.DrawFn, kind: str, dtype: Any, dim: int, r: Any, most: int, largest: float) -> Bodies:
    """Positions, and radii or edges that are fractions of the unit r: zero, small, and sometimes giants."""
    points = draw(layouts(dtype, dim, r, most))
    shape = (len(points),) if kind == "spheres" else points.shape
    part = draw(st.sampled_from([2, 4, 6, 14]))
    sizes = [size for size in draw(st.sampled_from(SIZES)) if size <= largest * part]
    if draw(st.booleans()):
        ticks = draw(hnp.arrays(np.float64, shape, elements=st.sampled_from(sizes)))
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32)))
        ticks = rng.choice(sizes, shape)
        if draw(st.booleans()):
            ticks = ticks * rng.random(shape)
    with np.errstate(all="ignore"):
        extra = ticks.astype(dtype) * r / dtype(part)
        return points, extra


@st.composite
def sized_problems(draw: st.DrawFn, kind: str, most: int = 40) -> Problem:
    """Spheres or boxes of any size with queries of any size; the unit is the size of the smaller ones."""
    dtype: Any = draw(st.sampled_from([np.float64, np.float32]))
    dim = draw(st.sampled_from([3, 2]))
    with np.errstate(all="ignore"):
        r = dtype(draw(st.sampled_from(MANTISSAS)) * 10.0 ** draw(SCALES[dtype]))
        if not 0 < r < np.sqrt(np.finfo(dtype).max) / 1e4:
            r = dtype(1)
        tame = bool(r * r > 1e6 * np.finfo(dtype).smallest_subnormal)
    few = draw(st.booleans())
    box = draw(boxes(dtype, dim, r, 2.0 if few else 1.0)) if tame else None
    count = most if box is None else 8 if few else most // 2
    # Giants reach through every image of a small box.
    largest = 1e3 if box is None else (2.0 if few else 0.5)
    made = {}
    for prefix in ("", "query_"):
        x, extra = draw(sized_layouts(kind, dtype, dim, r, count, largest))
        x = _within_reach_of(box, x)
        if kind == "boxes":
            made[prefix + "boxes"] = x, x + extra
        else:
            made["queries" if prefix else "points"], made[prefix + "radii"] = x, extra
    skin = float(r) * draw(st.sampled_from([0, 0, 0, 0.1, 0.5]))
    return Problem(**({"points": None, "box": box, "skin": skin} | made))
