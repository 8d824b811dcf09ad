"""The definition of a pair, written in the obvious way.

All results of vicinal are compared with this file, so it is meant to be checked by reading: all pairs, all
shifts within reach, every operation in the dtype of the input, no optimisation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Box = float | Sequence[float | None] | None


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


def edges(box: Box, dim: int, dtype: np.dtype[Any]) -> list[Any]:
    """One length per axis, None where the axis is open."""
    if box is None:
        return [None] * dim
    if isinstance(box, int | float):
        return [dtype.type(box)] * dim
    return [None if length is None else dtype.type(length) for length in box]


def wrap(points: Array, lengths: list[Any]) -> tuple[Array, Array]:
    """Points moved into [0, L) along the periodic axes, and the number of edges each was moved down."""
    wrapped, turns = points.copy(), np.zeros(points.shape, np.int64)
    for axis, length in enumerate(lengths):
        if length is None:
            continue
        whole = np.floor(points[:, axis] / length)
        w = points[:, axis] - whole * length
        turn = whole.astype(np.int64)
        below = w < 0
        w = np.where(below, w + length, w)
        turn = np.where(below, turn - 1, turn)
        above = w >= length
        w = np.where(above, w.dtype.type(0), w)
        turn = np.where(above, turn + 1, turn)
        wrapped[:, axis], turns[:, axis] = w, turn
    return wrapped, turns


def shifts_within(reach: list[float], lengths: list[Any], bodies: Array) -> Array:
    """Every integer shift that can bring two bodies within reach, in lexicographic order."""
    ranges = []
    for axis, length in enumerate(lengths):
        if length is None:
            ranges.append(range(1))
            continue
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
    turns: Array | None = None  # the number of edges `wrapped` moved them down

    def inflated(self, skin: float) -> Bodies:
        """Bodies enlarged by half a skin on every side."""
        if skin == 0:
            return self
        half = self.x.dtype.type(skin / 2)
        if self.radii is not None:
            return Bodies(self.x, self.radii + half)
        assert self.upper is not None, "points have no skin"
        return Bodies(self.x - half, None, self.upper + half)

    def wrapped(self, lengths: list[Any]) -> Bodies:
        """Moved into the box; the upper corner moves with the lower one and never falls below it."""
        x, turns = wrap(self.x, lengths)
        if self.upper is None:
            return Bodies(x, self.radii, None, turns)
        upper = self.upper.copy()
        for axis, length in enumerate(lengths):
            if length is not None:
                moved = self.upper[:, axis] - turns[:, axis].astype(x.dtype) * length
                upper[:, axis] = np.maximum(moved, x[:, axis])
        return Bodies(x, None, upper, turns)

    def sizes(self) -> list[float]:
        """The largest radius, or the longest edge along each axis."""
        if len(self.x) == 0 or (self.radii is None and self.upper is None):
            return [0.0] * self.x.shape[1]
        if self.radii is not None:
            return [float(self.radii.max())] * self.x.shape[1]
        return [float(longest) for longest in (self.upper - self.x).max(axis=0)]


def make_bodies(points: Any, radii: Any, boxes: Any, like: Bodies | None = None) -> Bodies:
    """Bodies as they were given; radii take the dtype of the points. Queries of spheres without radii are points."""
    if boxes is not None:
        return Bodies(np.asarray(boxes[0]), None, np.asarray(boxes[1]))
    points = np.asarray(points)
    if radii is None and like is not None and like.radii is not None:
        radii = 0
    if radii is None:
        return Bodies(points)
    return Bodies(points, np.broadcast_to(np.asarray(radii).astype(points.dtype), len(points)))


# -------------------------------------------------------------------------------- pairs


def exact_pairs(
    points: Array | None = None,
    cutoff: float | None = None,
    box: Box = None,
    queries: Array | None = None,
    *,
    radii: Any = None,
    boxes: tuple[Array, Array] | None = None,
    skin: float = 0.0,
    planes: tuple[Any, Any] | None = None,
    query_radii: Any = None,
    query_boxes: tuple[Array, Array] | None = None,
) -> Pairs:
    """Every pair of the definition, both (i, j, S) and (j, i, -S), in canonical order.

    With queries, pairs are (query i, body j), each once. The skin is that of the bodies; queries have none.
    """
    given = make_bodies(points, radii, boxes).inflated(skin)
    cross = queries is not None or query_boxes is not None
    others = make_bodies(queries, query_radii, query_boxes, like=given) if cross else given
    dtype, dim = given.x.dtype, given.x.shape[1]
    lengths = edges(box, dim, dtype)
    r = dtype.type(cutoff or 0)
    with np.errstate(all="ignore"):
        b = given.wrapped(lengths)
        a = others.wrapped(lengths) if cross else b
        s = shifts_within(_reach(a, b, float(r)), lengths, np.concatenate([a.x, b.x]))
        unmoved = None if cross else int(np.flatnonzero((s == 0).all(axis=1))[0])
        meet = _overlaps if b.upper is not None else _touches
        parts = [meet(i, a, b, s, lengths, r, unmoved) for i in range(len(a.x))]
        if not parts:
            parts = [_nothing(dtype if b.upper is None else np.dtype(np.float64), dim)]
        i, j, shift, d, D = (np.concatenate(column) for column in zip(*parts, strict=True))
        S = shift + a.turns[i] - b.turns[j] if len(i) else shift
        pairs = Pairs(i.astype(np.int32), j.astype(np.int32), S.astype(np.int32), d, D)
        if planes is None:
            return pairs
        return _with_planes(pairs, others, len(given.x), planes, r, both=not cross)


def _reach(a: Bodies, b: Bodies, r: float) -> list[float]:
    """How far apart the positions of a pair can be along each axis."""
    sizes = zip(a.sizes(), b.sizes(), strict=True)
    if b.upper is not None:
        return [max(two) for two in sizes]
    # Squares round to the nearest denormal, so tiny separations reach a little further than the cutoff.
    more = 2 * math.sqrt(float(np.finfo(b.x.dtype).smallest_subnormal))
    return [(r if b.radii is None else sum(two)) + more for two in sizes]


def _touches(i: int, a: Bodies, b: Bodies, s: Array, lengths: list[Any], r: Any, own: int | None) -> tuple[Array, ...]:
    """The pairs of point or sphere i: (i, j, s, d, D), by j and then s."""
    dtype = b.x.dtype
    delta = []
    for axis, length in enumerate(lengths):
        step = (b.x[:, axis] - a.x[i, axis])[:, None]
        if length is not None:
            step = step + s[:, axis].astype(dtype) * length
        delta.append(np.broadcast_to(step, (len(b.x), len(s))))
    d2 = delta[0] * delta[0] + delta[1] * delta[1]
    if len(delta) == 3:
        d2 = d2 + delta[2] * delta[2]
    if b.radii is None:
        hit = d2 <= r * r
    else:
        sums = (a.radii[i] + b.radii)[:, None]
        hit = d2 <= sums * sums
    if own is not None:
        hit[i, own] = False  # a body forms pairs with its images, not with itself
    j, k = np.nonzero(hit)
    return np.full(len(j), i), j, s[k], np.sqrt(d2[hit]), np.stack([x[hit] for x in delta], axis=1)


def _overlaps(i: int, a: Bodies, b: Bodies, s: Array, lengths: list[Any], _: Any, own: int | None) -> tuple[Array, ...]:
    """The pairs of box i: (i, j, s, 0, 0), by j and then s. Boxes overlap along every axis, ends included."""
    hit = np.ones((len(b.x), len(s)), bool)
    for axis, length in enumerate(lengths):
        step = np.zeros(len(s), b.x.dtype) if length is None else s[:, axis].astype(b.x.dtype) * length
        lower, upper = b.x[:, axis][:, None], b.upper[:, axis][:, None]
        hit &= (lower + step <= a.upper[i, axis]) & (a.x[i, axis] - step <= upper)
    if own is not None:
        hit[i, own] = False
    j, k = np.nonzero(hit)
    return np.full(len(j), i), j, s[k], np.zeros(len(j)), np.zeros((len(j), len(lengths)))


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
