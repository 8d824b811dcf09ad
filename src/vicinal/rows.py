"""Neighbours as rows: the result of `vicinal.neighbors`."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal._check import MOST_BODIES, check_integer, locked
from vicinal.errors import InputError
from vicinal.extras import need

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Neighbors:
    """The neighbours of every body, row by row (CSR).

    Parameters
    ----------
    offsets
        int64, one more than the number of rows: row k is `indices[offsets[k]:offsets[k + 1]]`.
    indices
        int32, the neighbours of all rows.
    columns
        Number of bodies that can be neighbours.
    distances, vectors, shifts
        One entry per neighbour if requested, otherwise None.

    Examples
    --------
    >>> rows = vicinal.neighbors([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, sort=True)
    >>> len(rows), rows[0].tolist(), rows.counts.tolist()
    (3, [1, 2], [2, 1, 1])
    """

    offsets: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    columns: int
    distances: npt.NDArray[Any] | None = None
    vectors: npt.NDArray[Any] | None = None
    shifts: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.offsets) - 1

    def __getitem__(self, row: int) -> npt.NDArray[np.int32]:
        """Return the neighbours of one body, without a copy."""
        count = len(self)
        try:
            number = operator.index(row)
        except TypeError:
            raise InputError(
                f"a row must be a whole number, got {row!r}; pass one, or use offsets and indices"
            ) from None
        if not -count <= number < count:
            raise IndexError(f"row {row} is out of range: there are {count} rows")
        at = number % count
        return self.indices[self.offsets[at] : self.offsets[at + 1]]

    def __repr__(self) -> str:
        """Return a description with the number of rows and entries."""
        return f"Neighbors({len(self)} rows, {len(self.indices)} entries)"

    @property
    def counts(self) -> npt.NDArray[np.int64]:
        """Number of neighbours per row, read-only."""
        return locked(np.diff(self.offsets))

    def to_scipy(self) -> csr_array:
        """Return a sparse matrix of ones, or of the distances if `want` contained them.

        The ones are float64, as in scikit-learn: the matrix can be multiplied and passed to any solver, and sums are
        exact up to 2**53, whereas a small integer would overflow in ``A @ A``.

        Examples
        --------
        >>> rows = vicinal.neighbors([[0.0, 0.0], [3.0, 0.0]], cutoff=4.0, want="jd")
        >>> rows.to_scipy().toarray().tolist()
        [[0.0, 3.0], [3.0, 0.0]]
        """
        need("to_scipy", "scipy")
        from scipy.sparse import csr_array

        data = np.ones(len(self.indices)) if self.distances is None else self.distances
        return csr_array((data, self.indices, self.offsets), shape=(len(self), self.columns))


def columns_of(want: str) -> str:
    """Return the columns that a search has to find for the letters of a result; ``E`` is made of i and j."""
    return "".join(dict.fromkeys(want.replace("E", "ij")))


def pick_columns(columns: Mapping[str, npt.NDArray[Any]], want: str) -> tuple[npt.NDArray[Any], ...]:
    """Return the columns of a result in the order of its letters."""
    if "E" not in want or "E" in columns:
        return tuple(columns[letter] for letter in want)
    edges = _core.edges(columns["i"], columns["j"])
    return tuple(edges if letter == "E" else columns[letter] for letter in want)


def columns_in(rows: Neighbors) -> dict[str, npt.NDArray[Any]]:
    """Return the columns of rows, i among them, by letter."""
    owners = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.offsets))
    arrays = (owners, rows.indices, rows.distances, rows.vectors, rows.shifts)
    return {letter: column for letter, column in zip("ijdDS", arrays, strict=True) if column is not None}


def only(rows: Neighbors, want: str) -> Neighbors:
    """Return rows without the columns that are not wanted."""
    return replace(
        rows,
        distances=rows.distances if "d" in want else None,
        vectors=rows.vectors if "D" in want else None,
        shifts=rows.shifts if "S" in want else None,
    )


def check_most(max_neighbors: object, *, half: bool, boxes: bool) -> int:
    """Check the largest number of neighbours of each body; 0 stands for all."""
    if max_neighbors is None:
        return 0
    most = check_integer(max_neighbors, "max_neighbors", least=1, most=MOST_BODIES)
    if boxes:
        raise InputError("max_neighbors= needs distances, which boxes do not have; leave it out")
    if half:
        raise InputError("half must be False with max_neighbors, got True: nearest neighbours are not mutual")
    return most


def nearest_of(rows: Neighbors, most: int) -> Neighbors:
    """Leave the nearest entries of each row that has more; ties are decided by number, then by shift.

    Rows need vectors and shifts. The order of entries does not change.
    """
    counts = np.diff(rows.offsets)
    full = np.repeat(counts > most, counts)
    places = np.flatnonzero(full)
    vectors: Any
    shifts: Any
    vectors, shifts = (column[places] for column in (rows.vectors, rows.shifts) if column is not None)
    owners = np.repeat(np.arange(len(rows)), np.where(counts > most, counts, 0))
    order = np.lexsort((*shifts.T[::-1], rows.indices[places], squared(vectors), owners))
    begins = np.repeat(np.flatnonzero(np.diff(owners, prepend=-1)), counts[counts > most])
    gone = places[order[np.arange(len(order)) - begins >= most]]
    kept = np.ones(len(rows.indices), bool)
    kept[gone] = False

    def pick(column: npt.NDArray[Any] | None) -> Any:
        return None if column is None else column[kept]

    offsets = np.concatenate([[0], np.cumsum(np.minimum(counts, most))]).astype(np.int64)
    columns = rows.indices, rows.distances, rows.vectors, rows.shifts
    indices, distances, vectors, shifts = (pick(column) for column in columns)
    return Neighbors(offsets, indices, rows.columns, distances=distances, vectors=vectors, shifts=shifts)


def squared(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return squared lengths of vectors, rounded as in the definition of a pair."""
    total: npt.NDArray[Any] = vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1]
    return total + vectors[:, 2] * vectors[:, 2] if vectors.shape[1] == 3 else total
