"""The definition of a pair, written down in the obvious way.

Everything vicinal answers is compared with this file, so it is meant to be checked by reading: all pairs, all
shifts within reach, every operation in the dtype of the input, no cleverness.
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
    """Pairs in the order they were found: body (or query) i, body j, shift S, distance d, vector D."""

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
        """Of every pair and its mirror image (j, i, -S) the one with i < j; of a self image the upper S."""
        return self[(self.i < self.j) | ((self.i == self.j) & points_up(self.S))]

    def oriented(self) -> Pairs:
        """The same pairs, each turned round where needed so that i < j (self images: the upper S)."""
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


def edges(box: Box, dim: int, dtype: np.dtype[Any]) -> list[Any]:
    """One length per axis, None where the axis is open."""
    if box is None:
        return [None] * dim
    if isinstance(box, int | float):
        return [dtype.type(box)] * dim
    return [None if length is None else dtype.type(length) for length in box]


def wrap(points: Array, lengths: list[Any]) -> tuple[Array, Array]:
    """Points moved into [0, L) on the periodic axes, and how many edges each was moved down."""
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


def shifts_within(reach: float, lengths: list[Any], bodies: Array) -> Array:
    """Every integer shift that can bring two bodies within reach, in lexicographic order."""
    ranges = []
    for axis, length in enumerate(lengths):
        if length is None:
            ranges.append(range(1))
            continue
        apart = float(bodies[:, axis].max() - bodies[:, axis].min()) if len(bodies) else 0.0
        most = math.ceil(reach / float(length)) + max(1, math.ceil(apart / float(length)))
        ranges.append(range(-most, most + 1))
    return np.array(list(product(*ranges)), np.int64)


def exact_pairs(points: Array, cutoff: float, box: Box = None, queries: Array | None = None) -> Pairs:
    """Every pair as the definition has it, both (i, j, S) and (j, i, -S), in canonical order."""
    dtype, dim = points.dtype, points.shape[1]
    lengths = edges(box, dim, dtype)
    r = dtype.type(cutoff)
    with np.errstate(all="ignore"):
        b, b_turns = wrap(points, lengths)
        a, a_turns = (b, b_turns) if queries is None else wrap(queries, lengths)
        # Squares round to the nearest denormal, so tiny separations reach a little further than the cutoff.
        reach = float(r) + 2 * math.sqrt(float(np.finfo(dtype).smallest_subnormal))
        s = shifts_within(reach, lengths, np.concatenate([a, b]))
        unmoved = int(np.flatnonzero((s == 0).all(axis=1))[0])
        found = [_row(i, a[i], b, s, lengths, r, None if queries is not None else unmoved) for i in range(len(a))]
        if not found:
            found = [_nothing(dtype, dim)]
        i, j, shift, d, D = (np.concatenate(column) for column in zip(*found, strict=True))
        S = shift + a_turns[i] - b_turns[j] if len(i) else shift
    return Pairs(i.astype(np.int32), j.astype(np.int32), S.astype(np.int32), d, D)


def _row(i: int, here: Array, there: Array, s: Array, lengths: list[Any], r: Any, own: int | None) -> tuple[Array, ...]:
    """The pairs of body i: (i, j, s, d, D), by j and then s."""
    dtype = there.dtype
    delta = []
    for axis, length in enumerate(lengths):
        step = (there[:, axis] - here[axis])[:, None]
        if length is not None:
            step = step + s[:, axis].astype(dtype) * length
        delta.append(np.broadcast_to(step, (len(there), len(s))))
    d2 = delta[0] * delta[0] + delta[1] * delta[1]
    if len(delta) == 3:
        d2 = d2 + delta[2] * delta[2]
    hit = d2 <= r * r
    if own is not None:
        hit[i, own] = False  # a body is no pair with itself, only with its images
    j, k = np.nonzero(hit)
    return np.full(len(j), i), j, s[k], np.sqrt(d2[hit]), np.stack([x[hit] for x in delta], axis=1)


def _nothing(dtype: np.dtype[Any], dim: int) -> tuple[Array, ...]:
    none = np.zeros(0, np.int64)
    return none, none, np.zeros((0, dim), np.int64), np.zeros(0, dtype), np.zeros((0, dim), dtype)
