"""The definition of a pair, written in the obvious way.

All results of vicinal are compared with this file, so it is meant to be checked by reading: all pairs, all
shifts within reach, every operation in the dtype of the input.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Box = Any


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs in any order: body (or query) i, body j, shift S, distance d, vector D.

    Boxes have neither d nor D: theirs are zeros in float64.
    """

    i: Array
    j: Array
    S: Array
    d: Array
    D: Array

    def __len__(self) -> int:
        return len(self.i)

    def __getitem__(self, which: Array) -> Pairs:
        return Pairs(*(getattr(self, field.name)[which] for field in fields(self)))

    def half(self) -> Pairs:
        """Of every pair and its reverse (j, i, -S) the one with i < j; of a self-image the one with the upper S."""
        return self[(self.i < self.j) | ((self.i == self.j) & points_up(self.S))]

    def oriented(self) -> Pairs:
        """The same pairs, each reversed if necessary so that i < j (self-images: the upper S)."""
        turn = (self.i > self.j) | ((self.i == self.j) & ~points_up(self.S))
        i, j = np.where(turn, self.j, self.i), np.where(turn, self.i, self.j)
        turned = turn[:, None]
        return Pairs(i, j, np.where(turned, -self.S, self.S), self.d, np.where(turned, -self.D, self.D))

    def sorted(self) -> Pairs:
        """By i, then j, then S."""
        return self[np.lexsort((*self.S.T[::-1], self.j, self.i))]


def points_up(shifts: Array) -> npt.NDArray[np.bool_]:
    """Whether the first entry of each shift that is not zero is positive."""
    up = np.zeros(len(shifts), bool)
    for column in shifts.T[::-1]:
        up = np.where(column == 0, up, column > 0)
    return up


# -------------------------------------------------------------------------------- space


@dataclass(frozen=True, eq=False)
class Space:
    """One length per axis, None where the axis is open; or the vectors of a tilted cell, reduced."""

    lengths: list[Any]
    vectors: Array | None = None  # rows, in the dtype of the points; 0 along open axes
    inverse: Array | None = None  # rows, float64: x . inverse[k] is the position along vector k, in lengths of it
    basis: Array | None = None  # shift @ basis is the shift in units of the vectors as they were given

    def image(self, s: Array) -> Array:
        """How far images s are moved, one row each."""
        if self.vectors is None:
            columns = [
                np.zeros(len(s)) if length is None else s[:, axis].astype(type(length)) * length
                for axis, length in enumerate(self.lengths)
            ]
            return np.stack(columns, axis=1)
        moved = s[:, :1].astype(self.vectors.dtype) * self.vectors[0]
        for k in range(1, len(self.vectors)):
            moved = moved + s[:, k : k + 1].astype(self.vectors.dtype) * self.vectors[k]
        return moved

    def given(self, s: Array) -> Array:
        """Shifts in units of the vectors as they were given."""
        return s if self.basis is None else s @ self.basis


def space_of(box: Box, periodic: Any, dim: int, dtype: np.dtype[Any]) -> Space:
    """The space that `box=` and `periodic=` describe."""
    along = [True] * dim if periodic is None else [bool(p) for p in np.broadcast_to(periodic, dim)]
    if box is None:
        return Space([None] * dim)
    if np.ndim(box) == 2:
        rows = np.asarray(box, np.float64).astype(dtype).astype(np.float64)
        if all((rows[k] == np.diag(np.abs(np.diag(rows)))[k]).all() for k in range(dim) if along[k]):
            box = [float(rows[k, k]) for k in range(dim)]
        else:
            return tilted_space(rows, along, dtype)
    entries = [box] * dim if isinstance(box, int | float) else list(box)
    return Space([None if x is None or not p else dtype.type(x) for x, p in zip(entries, along, strict=True)])


def tilted_space(rows: Array, along: list[bool], dtype: np.dtype[Any]) -> Space:
    """The space of a tilted cell: its vectors are reduced before anything else."""
    dim, periodic = len(rows), [k for k in range(len(rows)) if along[k]]
    basis = reduced(rows, periodic)
    vectors = np.zeros((dim, dim))
    for k in periodic:
        for a in range(dim):
            vectors[k, a] = float(sum(Fraction(int(basis[k, n])) * Fraction(float(rows[n, a])) for n in periodic))
    vectors = vectors.astype(dtype)
    inverse = inverse_of(vectors.astype(np.float64), periodic)
    lengths = [1 / math.sqrt(dot(inverse[k], inverse[k])) if along[k] else None for k in range(dim)]
    return Space(lengths, vectors, inverse, basis)


def reduced(rows: Array, periodic: list[int]) -> Array:
    """The integers that combine the vectors to shorter ones, until no square becomes smaller by a part in 1e9."""
    dim = len(rows)
    basis, rows = np.eye(dim, dtype=np.int64), rows.copy()
    again = True
    while again:
        again = False
        for k in periodic:
            others = [n for n in periodic if n != k]
            steps = [{n: -int(np.rint(dot(rows[k], rows[n]) / dot(rows[n], rows[n])))} for n in others]
            if len(others) == 2:
                steps += [{others[0]: p, others[1]: q} for p in (1, -1) for q in (1, -1)]
            for step in steps:
                moved, turned = rows[k].copy(), basis[k].copy()
                for n, times in step.items():
                    moved, turned = moved + times * rows[n], turned + times * basis[n]
                if 0 < dot(moved, moved) < (1 - 1e-9) * dot(rows[k], rows[k]):
                    rows[k], basis[k], again = moved, turned, True
    return basis


def inverse_of(vectors: Array, periodic: list[int]) -> Array:
    """The inverse matrix, transposed. Open axes are given vectors of length 1 that are perpendicular to all others."""
    dim, rows = len(vectors), [list(map(float, row)) for row in vectors]
    free = [k for k in range(dim) if k not in periodic]
    if dim == 2:
        if free:
            x, y = rows[periodic[0]]
            rows[free[0]] = unit([-y, x])
        (a, b), (c, d) = rows
        return np.array([[d, -c], [-b, a]]) / (a * d - b * c)
    if len(free) == 2:
        only = rows[periodic[0]]
        rows[free[0]] = unit(cross(only, [float(a == np.argmin(np.abs(only))) for a in range(3)]))
    if free:
        rows[free[-1]] = unit(cross(rows[(free[-1] + 1) % 3], rows[(free[-1] + 2) % 3]))
    normals = [cross(rows[(k + 1) % 3], rows[(k + 2) % 3]) for k in range(3)]
    return np.array(normals) / dot(rows[0], normals[0])


def dot(a: Any, b: Any) -> float:
    """Sum of products, added from the left."""
    total = float(a[0]) * float(b[0])
    for x, y in zip(a[1:], b[1:], strict=True):
        total = total + float(x) * float(y)
    return total


def cross(a: list[float], b: list[float]) -> list[float]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def unit(a: list[float]) -> list[float]:
    return [x / math.sqrt(dot(a, a)) for x in a]


def wrap(points: Array, space: Space) -> tuple[Array, Array]:
    """Points moved into the cell, and the number of edges, or vectors, that were subtracted from each."""
    wrapped, wraps = points.copy(), np.zeros(points.shape, np.int64)
    if space.vectors is not None:
        return wrap_tilted(points, space)
    for axis, length in enumerate(space.lengths):
        if length is None:
            continue
        whole = np.floor(points[:, axis] / length)
        w = points[:, axis] - whole * length
        count = whole.astype(np.int64)
        below = w < 0
        w = np.where(below, w + length, w)
        count = np.where(below, count - 1, count)
        above = w >= length
        w = np.where(above, w.dtype.type(0), w)
        count = np.where(above, count + 1, count)
        wrapped[:, axis], wraps[:, axis] = w, count
    return wrapped, wraps


def wrap_tilted(points: Array, space: Space) -> tuple[Array, Array]:
    """The same in a tilted cell, twice: far outside, the first result is rounded as coarsely as the point was."""
    assert space.inverse is not None
    wraps = np.zeros(points.shape, np.int64)
    for _ in range(2):
        x = points.astype(np.float64)
        whole = np.zeros_like(wraps)
        for k, length in enumerate(space.lengths):
            if length is not None:
                f = x[:, 0] * space.inverse[k, 0] + x[:, 1] * space.inverse[k, 1]
                if points.shape[1] == 3:
                    f = f + x[:, 2] * space.inverse[k, 2]
                whole[:, k] = np.floor(f)
        points = np.where(whole.any(axis=1, keepdims=True), points - space.image(whole), points)
        wraps = wraps + whole
    return points, wraps


def shifts_within(reach: list[float], space: Space, bodies: Array) -> Array:
    """Every integer shift that can bring two bodies within reach, in lexicographic order."""
    ranges = []
    for axis, length in enumerate(space.lengths):
        if length is None:
            ranges.append(range(1))
            continue
        if space.vectors is not None:
            most = math.ceil(math.sqrt(sum(r * r for r in reach)) / length * (1 + 1e-4)) + 1
        else:
            apart = float(bodies[:, axis].max() - bodies[:, axis].min()) if len(bodies) else 0.0
            most = math.ceil(reach[axis] / float(length)) + max(1, math.ceil(apart / float(length)))
        ranges.append(range(-most, most + 1))
    return np.array(list(product(*ranges)), np.int64)


# -------------------------------------------------------------------------------- bodies


@dataclass(frozen=True, eq=False)
class Bodies:
    """Positions x (of boxes the lower corners), and the radii of spheres or the upper corners of boxes."""

    x: Array
    radii: Array | None = None
    upper: Array | None = None
    wraps: Array | None = None  # the number of edges `wrapped` moved them down

    def inflated(self, skin: float, criterion: str) -> Bodies:
        """Bodies enlarged by half a skin on every side; by a whole one if the larger of two radii decides."""
        if skin == 0:
            return self
        half = self.x.dtype.type(skin / 2)
        if self.radii is not None:
            return Bodies(self.x, self.radii + (self.x.dtype.type(skin) if criterion == "max" else half))
        assert self.upper is not None, "points have no skin"
        return Bodies(self.x - half, None, self.upper + half)

    def wrapped(self, space: Space) -> Bodies:
        """Moved into the box; the upper corner moves with the lower one and never falls below it."""
        x, wraps = wrap(self.x, space)
        if self.upper is None:
            return Bodies(x, self.radii, None, wraps)
        upper = self.upper.copy()
        moved = self.upper - space.image(wraps).astype(x.dtype)
        for axis, length in enumerate(space.lengths):
            if space.vectors is not None or length is not None:
                upper[:, axis] = np.maximum(moved[:, axis], x[:, axis])
        return Bodies(x, None, upper, wraps)

    def sizes(self) -> list[float]:
        """The largest radius, or the longest edge along each axis."""
        if len(self.x) == 0 or (self.radii is None and self.upper is None):
            return [0.0] * self.x.shape[1]
        if self.radii is not None:
            return [float(self.radii.max())] * self.x.shape[1]
        return [float(longest) for longest in (self.upper - self.x).max(axis=0)]


def make_bodies(points: Any, radii: Any, boxes: Any, like: Bodies | None = None, criterion: str = "sum") -> Bodies:
    """Bodies as they were given; radii take the dtype of the points. Queries of spheres without radii are points."""
    if boxes is not None:
        return Bodies(np.asarray(boxes[0]), None, np.asarray(boxes[1]))
    points = np.asarray(points)
    if radii is None and like is not None and like.radii is not None:
        radii = 0
    if radii is None:
        return Bodies(points)
    radii = np.broadcast_to(np.asarray(radii).astype(points.dtype), len(points))
    return Bodies(points, radii / points.dtype.type(2) if criterion in ("mean", "min") else radii)


# -------------------------------------------------------------------------------- pairs


@dataclass(frozen=True, eq=False)
class Rules:
    """Which bodies within reach form pairs. Types, groups and excluded pairs are those of `vicinal.pairs`.

    The types and groups of queries are those of the bodies if there are no queries.
    """

    criterion: str = "sum"
    types: Any = None
    groups: Any = None
    exclude: Any = None
    r_min: float = 0.0
    query_types: Any = None
    query_groups: Any = None

    def limits(self, i: Array, a: Bodies, b: Bodies, cutoff: Any) -> Array:
        """The largest distances of bodies i of a (rows) from the bodies of b; negative: they form no pairs."""
        dtype = b.x.dtype
        if b.radii is not None:
            ri, rj = a.radii[i][:, None], b.radii
            smaller = np.minimum(ri, rj)
            return {"max": np.maximum(ri, rj), "min": smaller + smaller}.get(self.criterion, ri + rj)
        if self.types is None:
            return np.full((1, 1), dtype.type(cutoff))
        mine = np.asarray(self.types if self.query_types is None else self.query_types)[i][:, None]
        return np.asarray(cutoff).astype(dtype)[mine, np.asarray(self.types)]

    def allowed(self, i: Array, n: int) -> Array:
        """Whether bodies i, or queries i (rows), and each of n bodies form pairs at all."""
        good = np.ones((len(i), n), bool)
        if self.groups is not None:
            mine = np.asarray(self.groups if self.query_groups is None else self.query_groups)[i][:, None]
            good &= (np.asarray(self.groups) != mine) | (mine < 0)
        for pair in () if self.exclude is None else self.exclude:
            for one, other in (pair, pair[::-1]):
                good[i == one, other] = False
        return good


def exact_pairs(
    points: Array | None = None,
    cutoff: Any = None,
    box: Box = None,
    queries: Array | None = None,
    *,
    radii: Any = None,
    boxes: tuple[Array, Array] | None = None,
    skin: float = 0.0,
    planes: tuple[Any, Any] | None = None,
    query_radii: Any = None,
    query_boxes: tuple[Array, Array] | None = None,
    periodic: Any = None,
    self_pairs: bool = False,
    **rules: Any,
) -> Pairs:
    """Every pair of the definition, both (i, j, S) and (j, i, -S), in canonical order.

    With queries, pairs are (query i, body j), each once. The skin is that of the bodies; queries have none.
    """
    rule = Rules(**rules)
    given = make_bodies(points, radii, boxes, criterion=rule.criterion)
    if np.ndim(cutoff) == 0:
        given = given.inflated(skin, rule.criterion)
    cross = queries is not None or query_boxes is not None
    others = make_bodies(queries, query_radii, query_boxes, given, rule.criterion) if cross else given
    if (given.upper is None) != (others.upper is None):  # of points and boxes, the points are spheres
        given, others = (
            sphere if sphere.upper is not None else as_spheres(sphere, cutoff) for sphere in (given, others)
        )
    dtype, dim = given.x.dtype, given.x.shape[1]
    space = space_of(box, periodic, dim, dtype)
    if np.ndim(cutoff) == 0:
        r = dtype.type(cutoff or 0)
        limits = r
    else:
        limits = with_skin(np.asarray(cutoff), skin, dtype)
        r = limits.max()
    with np.errstate(all="ignore"):
        b = given.wrapped(space)
        a = others.wrapped(space) if cross else b
        s = shifts_within(_reach(a, b, max(float(r), 0.0)), space, np.concatenate([a.x, b.x]))
        unmoved = None if cross else int(np.flatnonzero((s == 0).all(axis=1))[0])
        mixed = (a.upper is None) != (b.upper is None)
        meet = _sphere_and_box if mixed else _overlaps if b.upper is not None else _touches
        image = space.image(s).astype(dtype)
        # Some bodies at a time, since a call of NumPy takes longer than a few hundred numbers.
        some = max(1, 30_000 // max(1, len(b.x) * len(s)))
        rows = [np.arange(first, min(first + some, len(a.x))) for first in range(0, len(a.x), some)]
        parts = [meet(i, a, b, s, image, space, limits, unmoved, rule) for i in rows]
        if not parts:
            parts = [_nothing(dtype if b.upper is None else np.dtype(np.float64), dim)]
        i, j, shift, d, D = (np.concatenate(column) for column in zip(*parts, strict=True))
        S = space.given(shift + a.wraps[i] - b.wraps[j] if len(i) else shift)
        pairs = Pairs(i.astype(np.int32), j.astype(np.int32), S.astype(np.int32), d, D).sorted()
        if self_pairs:
            pairs = _with_self(pairs, len(given.x))
        if planes is None:
            return pairs
        return _with_planes(pairs, others, len(given.x), planes, r, both=not cross)


def as_spheres(points: Bodies, cutoff: Any) -> Bodies:
    """Points as spheres whose radius is the cutoff."""
    if points.radii is not None:
        return points
    return Bodies(points.x, np.full(len(points.x), points.x.dtype.type(cutoff or 0)))


def _reach(a: Bodies, b: Bodies, r: float) -> list[float]:
    """How far apart the positions of a pair can be along each axis."""
    sizes = zip(a.sizes(), b.sizes(), strict=True)
    if (a.upper is None) != (b.upper is None):
        return [2 * sum(two) + 1e-6 for two in sizes]
    if b.upper is not None:
        return [max(two) for two in sizes]
    # Squares round to the nearest denormal, so tiny separations reach a little further than the cutoff.
    more = 2 * math.sqrt(float(np.finfo(b.x.dtype).smallest_subnormal))
    return [(r if b.radii is None else sum(two)) + more for two in sizes]


def with_skin(cutoffs: Array, skin: float, dtype: np.dtype[Any]) -> Array:
    """Cutoffs of pairs of types, each with the skin; negative ones are no cutoffs."""
    rounded = cutoffs.astype(dtype)
    return np.where(cutoffs < 0, dtype.type(-1), (rounded.astype(np.float64) + skin).astype(dtype))


def _with_self(pairs: Pairs, n: int) -> Pairs:
    """The pairs, and those of n bodies with themselves."""
    own = np.arange(n, dtype=np.int32)
    zeros = Pairs(own, own, *(np.zeros((n, *x.shape[1:]), x.dtype) for x in (pairs.S, pairs.d, pairs.D)))
    columns = (np.concatenate([getattr(pairs, field.name), getattr(zeros, field.name)]) for field in fields(Pairs))
    return Pairs(*columns).sorted()


def _touches(
    i: Array, a: Bodies, b: Bodies, s: Array, image: Array, space: Space, cutoff: Any, own: int | None, rule: Rules
) -> tuple[Array, ...]:
    """The pairs of points or spheres i: (i, j, s, d, D), by i, j and s, which are the axes of the arrays below."""
    delta = []
    for axis, length in enumerate(space.lengths):
        step = (b.x[:, axis] - a.x[i, axis][:, None])[:, :, None]
        if space.vectors is not None or length is not None:
            step = step + image[:, axis]
        delta.append(step)
    d2 = delta[0] * delta[0] + delta[1] * delta[1]
    if len(delta) == 3:
        d2 = d2 + delta[2] * delta[2]
    limits = rule.limits(i, a, b, cutoff)[:, :, None]
    least = b.x.dtype.type(rule.r_min)
    hit = (d2 <= limits * limits) & (limits >= 0) & (d2 >= least * least)
    hit &= rule.allowed(i, len(b.x))[:, :, None]
    if own is not None:
        hit[np.arange(len(i)), i, own] = False  # a body forms pairs with its images, not with itself
    row, j, k = np.nonzero(hit)
    # Along open axes all images are at one place: their steps are a single number.
    vectors = [step[row, j, k % step.shape[2]] for step in delta]
    return i[row], j, s[k], np.sqrt(d2[hit]), np.stack(vectors, axis=1)


def _overlaps(
    i: Array, a: Bodies, b: Bodies, s: Array, image: Array, _space: Space, _: Any, own: int | None, rule: Rules
) -> tuple[Array, ...]:
    """The pairs of boxes i: (i, j, s, 0, 0), by i, j and s. Boxes overlap along every axis, ends included."""
    hit = np.repeat(rule.allowed(i, len(b.x))[:, :, None], len(s), axis=2)
    for axis in range(b.x.shape[1]):
        step = image[:, axis]
        lower, upper = b.x[:, axis][:, None], b.upper[:, axis][:, None]
        mine, my_upper = a.x[i, axis][:, None, None], a.upper[i, axis][:, None, None]
        hit &= (lower + step <= my_upper) & (mine - step <= upper)
    if own is not None:
        hit[np.arange(len(i)), i, own] = False
    return _without_distances(i, hit, s)


def _sphere_and_box(
    i: Array, a: Bodies, b: Bodies, s: Array, image: Array, _space: Space, _: Any, own: int | None, rule: Rules
) -> tuple[Array, ...]:
    """The pairs of spheres i and boxes, or of boxes i and spheres: the centre is within the radius of the box."""
    assert own is None
    dtype = b.x.dtype
    sphere = a.upper is None
    d2: Any = None
    for axis in range(b.x.shape[1]):
        step = image[:, axis]
        mine, other = a.x[i, axis][:, None, None], b.x[:, axis][:, None]
        centre = mine - step if sphere else other + step
        lower, upper = (other, b.upper[:, axis][:, None]) if sphere else (mine, a.upper[i, axis][:, None, None])
        e = np.maximum(np.maximum(lower - centre, centre - upper), dtype.type(0))
        d2 = e * e if d2 is None else d2 + e * e
    radii = a.radii[i][:, None, None] if sphere else b.radii[:, None]
    return _without_distances(i, (d2 <= radii * radii) & rule.allowed(i, len(b.x))[:, :, None], s)


def _without_distances(i: Array, hit: Array, s: Array) -> tuple[Array, ...]:
    """Pairs of boxes: (i, j, s, 0, 0)."""
    row, j, k = np.nonzero(hit)
    return i[row], j, s[k], np.zeros(len(j)), np.zeros((len(j), s.shape[1]))


def _nothing(dtype: np.dtype[Any], dim: int) -> tuple[Array, ...]:
    none = np.zeros(0, np.int64)
    return none, none, np.zeros((0, dim), np.int64), np.zeros(0, dtype), np.zeros((0, dim), dtype)


# -------------------------------------------------------------------------------- planes


def _with_planes(pairs: Pairs, bodies: Bodies, n: int, planes: tuple[Any, Any], cutoff: Any, *, both: bool) -> Pairs:
    """The pairs, and those of bodies with planes, which are numbered from n on; `both`: in both directions."""
    dtype, dim = bodies.x.dtype, bodies.x.shape[1]
    points, normals = (np.asarray(entry).astype(dtype).reshape(-1, dim) for entry in planes)
    parts = [pairs]
    for k, (p, normal) in enumerate(zip(points, normals, strict=True)):
        square = normal[0] * normal[0] + normal[1] * normal[1]
        if dim == 3:
            square = square + normal[2] * normal[2]
        unit = normal / np.sqrt(square)
        d = in_front(bodies, p, unit)
        reach = cutoff if bodies.radii is None else bodies.radii
        hit = np.flatnonzero(d <= (reach if bodies.upper is None else 0))
        plane, none = np.full(len(hit), n + k), np.zeros((len(hit), dim), np.int32)
        if bodies.upper is None:
            d, there, back = d[hit], -d[hit][:, None] * unit, d[hit][:, None] * unit
        else:
            d, there, back = np.zeros(len(hit)), np.zeros((len(hit), dim)), np.zeros((len(hit), dim))
        parts.append(Pairs(hit, plane, none, d, there))
        if both:
            parts.append(Pairs(plane, hit, none, d, back))
    i, j, S, d, D = (np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Pairs))
    return Pairs(i.astype(np.int32), j.astype(np.int32), S, d, D).sorted()


def in_front(bodies: Bodies, point: Array, normal: Array) -> Array:
    """How far each body is in front of a plane: its centre, or the corner of a box that is farthest behind."""
    terms = []
    for axis in range(len(point)):
        term = normal[axis] * (bodies.x[:, axis] - point[axis])
        if bodies.upper is not None:
            term = np.minimum(term, normal[axis] * (bodies.upper[:, axis] - point[axis]))
        terms.append(term)
    distance = terms[0] + terms[1]
    return distance + terms[2] if len(terms) == 3 else distance
