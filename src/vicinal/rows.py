"""Neighbours as rows: the result of `vicinal.neighbors`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal._check import locked
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
        if not -count <= row < count:
            raise IndexError(f"row {row} is out of range: there are {count} rows")
        at = row % count
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


def squared(vectors: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return squared lengths of vectors, rounded as in the definition of a pair."""
    total: npt.NDArray[Any] = vectors[:, 0] * vectors[:, 0] + vectors[:, 1] * vectors[:, 1]
    return total + vectors[:, 2] * vectors[:, 2] if vectors.shape[1] == 3 else total
