"""The arrays of a neighbour list, for the bodies of the last update."""

from __future__ import annotations

from threading import RLock
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.errors import InputError
from vicinal.layouts import ListPointers, pointers_of
from vicinal.list_state import ListState


class ListArrays:
    """The arrays of `vicinal.NeighborList`, which keeps the state they come from."""

    _lock: RLock
    _core: _core.ListCore
    _state: ListState | None
    _layout: str

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """int64, one more than the number of rows: row k is `indices[offsets[k]:offsets[k + 1]]`."""
        return self._array("offsets")

    @property
    def indices(self) -> npt.NDArray[np.int32]:
        """int32, the neighbours of all rows, each row in ascending order; those of half rows are not below the row."""
        return self._array("indices")

    @property
    def i(self) -> npt.NDArray[np.int32]:
        """int32, the first body of every pair ("pairs"), or of the pairs that did not fit the table ("hybrid")."""
        return self._array("i")

    @property
    def j(self) -> npt.NDArray[np.int32]:
        """int32, the second body of each of these pairs."""
        return self._array("j")

    @property
    def table(self) -> npt.NDArray[np.int32]:
        """int32, shape (rows, width): the first neighbours of every row in ascending order, then -1."""
        return self._array("table")

    @property
    def counts(self) -> npt.NDArray[np.int32]:
        """int32, the number of entries in each row of `table`."""
        return self._array("counts")

    @property
    def shifts(self) -> npt.NDArray[np.int32]:
        """int32, shape (entries, dim): how many periods the second body of every entry is moved by.

        ``points[j] - points[i] + shifts * box`` is the vector of an entry for the points of the last update. Where a
        pair has one image only, this is the nearest one.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.0, box=(1.0, None))
        >>> rows.update([[0.9, 0.0], [0.1, 0.0]])
        True
        >>> rows.indices.tolist(), rows.shifts.tolist()
        ([0, 1, 1, 1], [[1, 0], [0, 0], [1, 0], [1, 0]])
        """
        with self._lock:
            return self._require("shifts").present_shifts(self._core)

    @property
    def vectors(self) -> npt.NDArray[Any]:
        """Shape (entries, dim): the vector from the first to the second body of every entry, of the last update.

        Those of pairs within the cutoff have the bits of ``vicinal.pairs(..., want="D")``.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5, box=(10.0, None))
        >>> rows.update([[9.5, 0.0], [0.25, 0.0]])
        True
        >>> rows.vectors.tolist(), rows.distances.tolist()
        ([[0.75, 0.0]], [0.75])
        """
        with self._lock:
            return self._require("vectors").present_vectors(self._core)[0]

    @property
    def distances(self) -> npt.NDArray[Any]:
        """Shape (entries,): the distance of the bodies of every entry, of the last update; see `vectors`."""
        with self._lock:
            return self._require("distances").present_vectors(self._core)[1]

    @property
    def pointers(self) -> ListPointers:
        """The arrays as a struct of pointers, for compiled code; see `ListPointers`.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
        >>> rows.update([[0.0, 0.0], [1.2, 0.0], [9.0, 0.0]])
        True
        >>> rows.pointers.bodies, rows.pointers.entries, rows.pointers.indices[0]
        (3, 1, 1)
        """
        with self._lock:
            state = self._require("pointers")
            arrays = (
                state.arrays if state.shifts is None else state.arrays | {"shifts": state.present_shifts(self._core)}
            )
            return pointers_of(arrays, state.rows)

    def _require(self, name: str) -> ListState:
        state = self._state
        if state is None:
            raise InputError(f"{name} needs a list that is built, got one not built yet; pass points to `update` first")
        return state

    def _array(self, name: str) -> npt.NDArray[Any]:
        arrays = self._require(name).arrays
        if name not in arrays:
            raise InputError(f"{name} is not part of layout {self._layout!r}; use {', '.join(arrays)}")
        return arrays[name]
