"""Pairs of a body with itself, joined to the pairs of different bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.rows import Neighbors

Columns = dict[str, npt.NDArray[Any]]


def own_columns(letters: str, size: int, like: Columns) -> Columns:
    """Return the columns of the pairs (k, k) of bodies 0 to `size` - 1: distance, vector and shift are zero."""
    own = np.arange(size, dtype=np.int32)
    made: Columns = {}
    for letter in letters:
        column = like[letter]
        made[letter] = own if letter in "ij" else np.zeros((size, *column.shape[1:]), column.dtype)
    return made


def before_own(i: npt.NDArray[Any], j: npt.NDArray[Any], shifts: npt.NDArray[Any] | None) -> npt.NDArray[np.bool_]:
    """Return which entries of sorted rows come before the pair of the row's body with itself."""
    before: npt.NDArray[np.bool_] = j < i
    images = np.flatnonzero(i == j)
    if len(images) and shifts is not None:
        signs = np.sign(shifts[images])
        first = (signs != 0).argmax(axis=1)
        before[images] = signs[np.arange(len(images)), first] < 0
    return before


def join_pairs(pairs: Columns, size: int, *, sort: bool) -> Columns:
    """Add the pairs of bodies with themselves. Sorted pairs need the columns i, j and, in a periodic box, S."""
    letters = "".join(pairs)
    own = own_columns(letters, size, pairs)
    if not sort:
        return {letter: np.concatenate([pairs[letter], own[letter]]) for letter in letters}
    i = pairs["i"]
    before = before_own(i, pairs["j"], pairs.get("S"))
    places = np.searchsorted(i, own["i"]) + np.bincount(i[before], minlength=size)
    return {letter: np.insert(pairs[letter], places, own[letter], axis=0) for letter in letters}


def join_rows(rows: Neighbors, size: int) -> Neighbors:
    """Add each body to its own row, in its place if the row is in ascending order."""
    columns: Columns = {
        letter: column
        for letter, column in zip("jdDS", (rows.indices, rows.distances, rows.vectors, rows.shifts), strict=True)
        if column is not None
    }
    own = own_columns("".join(columns), size, columns)
    i = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.offsets))
    before = before_own(i, rows.indices, rows.shifts)
    places = rows.offsets[:size] + np.bincount(i[before], minlength=len(rows))[:size]
    joined = {letter: np.insert(column, places, own[letter], axis=0) for letter, column in columns.items()}
    more = np.minimum(np.arange(len(rows) + 1), size)
    return Neighbors(
        rows.offsets + more,
        joined["j"],
        rows.columns,
        distances=joined.get("d"),
        vectors=joined.get("D"),
        shifts=joined.get("S"),
    )
