"""Infinite bodies: planes, and how their pairs join those of the finite bodies.

A plane is the face of a solid half-space; its normal points out of it. A body and a plane form a pair if some part
of the body is on or behind the plane. Planes are numbered after the bodies.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies, Floats
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.rows import Neighbors

Columns = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class Planes:
    """Checked planes: a point on each, and its normal of length 1."""

    points: Floats
    normals: Floats

    def __len__(self) -> int:
        """Return the number of planes."""
        return len(self.points)


def check_planes(value: object, like: Bodies, box: Cell) -> Planes:
    """Check planes given as (points, normals)."""
    dtype, dim = like.array.dtype, like.dim
    if value is None:
        none: Any = np.zeros((0, dim), dtype)
        return Planes(none, none)
    if not isinstance(value, (tuple, list)) or len(value) != 2:
        raise InputError(f"planes must be a pair of arrays, (points, normals), got {type(value).__name__}")
    arrays = []
    for entry, name in zip(value, ("planes[0]", "planes[1]"), strict=True):
        given = _check.as_array(entry, name)
        checked = _check.check_points(given.reshape(1, -1) if given.ndim == 1 and given.size else given, name)
        if checked.dim != dim and len(checked):
            raise InputError(f"{name} must have {dim} columns, as the bodies have, got {checked.dim}")
        with np.errstate(over="ignore"):
            rounded = checked.array.astype(dtype).reshape(-1, dim)
        wrong = np.flatnonzero(~np.isfinite(rounded).all(axis=1))
        if len(wrong):
            raise InputError(
                f"{name} must be finite in {dtype}, got {checked.array[wrong[0]].tolist()} in row {wrong[0]}"
            )
        arrays.append(rounded)
    points: Any
    normals: Any
    points, normals = arrays
    if len(points) != len(normals):
        raise InputError(f"planes must have one normal per point, got {len(points)} points and {len(normals)} normals")
    with np.errstate(over="ignore", under="ignore"):
        lengths = np.sqrt((normals * normals).sum(axis=1))
    wrong = np.flatnonzero(~((lengths > 0) & np.isfinite(lengths)))
    if len(wrong):
        raise InputError(
            f"planes[1] must have normals of finite length above 0, got {normals[wrong[0]].tolist()} in row {wrong[0]}"
        )
    for axis, edge in enumerate(box.edges):
        across = np.flatnonzero(_crosses(normals, lengths, box, axis) if edge > 0 else ())
        if len(across):
            raise InputError(
                f"planes must run along every periodic axis, got the normal {normals[across[0]].tolist()} in row "
                f"{across[0]} with periodic axis {axis}"
            )
    return Planes(np.ascontiguousarray(points), np.ascontiguousarray(normals / lengths[:, None]))


def _crosses(normals: Any, lengths: Any, box: Cell, axis: int) -> Any:
    """Return whether planes are not parallel to an edge of the box; in a tilted one, up to rounding."""
    if not box.tilted:
        return normals[:, axis] != 0
    vector = np.array(box.vectors[axis])
    tolerance = 64 * np.finfo(normals.dtype).eps * np.linalg.norm(vector)
    return np.abs(normals.astype(np.float64) @ vector) > tolerance * lengths


@dataclass(frozen=True)
class Touching:
    """Pairs of a finite body and a plane, ordered by body, then by plane, with the distance of the body's position."""

    bodies: npt.NDArray[np.int32]
    planes: npt.NDArray[np.int32]
    distances: Floats
    normals: Floats

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.bodies)

    def columns(self, letters: str, size: int) -> Columns:
        """Return the columns of pairs (body, plane); planes are numbered from `size` on."""
        made: Columns = {}
        for letter in letters:
            if letter == "i":
                made[letter] = self.bodies
            elif letter == "j":
                made[letter] = (self.planes + np.int32(size)).astype(np.int32)
            elif letter == "d":
                made[letter] = self.distances
            elif letter == "D":
                made[letter] = -self.distances[:, None] * self.normals[self.planes]
            else:
                made[letter] = np.zeros((len(self), self.normals.shape[1]), np.int32)
        return made


def turned(columns: Columns) -> Columns:
    """Return the same pairs as (plane, body), ordered by plane, then by body."""
    made = dict(columns)
    made["i"], made["j"] = columns["j"], columns["i"]
    if "D" in made:
        made["D"] = -made["D"]
    order = np.argsort(made["i"], kind="stable")
    return {letter: column[order] for letter, column in made.items()}


def join_pairs(pairs: Columns, touching: Touching, size: int, *, half: bool, sort: bool) -> Columns:
    """Add pairs with planes to pairs of bodies."""
    letters = "".join(pairs)
    more = touching.columns("ij" + letters, size)
    parts = [pairs, more] if half else [pairs, more, turned(more)]
    if sort:
        # Planes have larger numbers than bodies, so they come last among the neighbours of a body.
        ends = np.searchsorted(pairs["i"], more["i"], side="right")
        parts[:2] = [{letter: np.insert(pairs[letter], ends, more[letter], axis=0) for letter in letters}]
    return {letter: np.concatenate([part[letter] for part in parts]) for letter in letters}


def join_rows(rows: Neighbors, touching: Touching, size: int, planes: int) -> Neighbors:
    """Add planes to the rows of the bodies, and a row for each plane (queries: `planes` is 0, no such rows)."""
    columns: Columns = {
        letter: column
        for letter, column in zip("jdDS", (rows.indices, rows.distances, rows.vectors, rows.shifts), strict=True)
        if column is not None
    }
    more = touching.columns("ij" + "".join(columns), size)
    ends = rows.offsets[1:][more["i"]]
    offsets = rows.offsets + np.concatenate([[0], np.cumsum(np.bincount(more["i"], minlength=len(rows)))])
    joined = {letter: np.insert(column, ends, more[letter], axis=0) for letter, column in columns.items()}
    if planes:
        back = turned(more)
        own = np.bincount(back["i"] - size, minlength=planes)
        offsets = np.concatenate([offsets, offsets[-1] + np.cumsum(own)])
        joined = {letter: np.concatenate([column, back[letter]]) for letter, column in joined.items()}
    return Neighbors(
        offsets.astype(np.int64),
        joined["j"],
        rows.columns + len(touching.normals),
        distances=joined.get("d"),
        vectors=joined.get("D"),
        shifts=joined.get("S"),
    )
