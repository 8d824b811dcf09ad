"""Builds the rows of lists, one search after another."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.choose import choose_checked
from vicinal.index import Index
from vicinal.layouts import offsets_of
from vicinal.settings import Settings
from vicinal.structures import STRUCTURES

Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32] | None]


class ListBuilder:
    """Searches for sorted rows, or for pairs in any order.

    Parameters
    ----------
    structure
        The structure to search with; None lets `vicinal.choose` decide before every build.
    lasting
        Keep the index between two builds: builds are faster, but its memory is not freed in between.
    """

    def __init__(self, structure: type[Index] | None = None, *, lasting: bool = True) -> None:
        self.structure, self._lasting = structure, lasting
        self.index: Index | None = None

    def pairs(self, settings: Settings, *, half: bool, shifts: bool) -> tuple[npt.NDArray[Any], ...]:
        """Return i, j and, if requested, shifts, in any order."""
        return self._index_for(settings).pairs(want="ijS" if shifts else "ij", half=half)

    def rows(self, settings: Settings, *, half: bool, shifts: bool = False) -> Rows:
        """Return offsets, indices and, if requested, shifts, each row in ascending order. Planes follow the bodies."""
        index = self._index_for(settings)
        size = len(settings.bodies) + len(settings.planes)
        if not shifts and not len(settings.planes):
            offsets, indices = index._sorted_rows(half=half)  # noqa: SLF001
            return offsets, indices, None
        if half:
            i, indices, *more = index.pairs(want="ijS" if shifts else "ij", sort=True)
            return offsets_of(i, size), indices, more[0] if more else None
        rows = index.neighbors(want="jS" if shifts else "j", sort=True)
        return rows.offsets, rows.indices, rows.shifts

    @property
    def bytes(self) -> int:
        """Memory of the index."""
        return 0 if self.index is None else self.index.stats.bytes

    def _index_for(self, settings: Settings) -> Index:
        """Return an index of these bodies: the one there is, if it fits, because it keeps its memory."""
        kind: type[Index] | None = self.structure
        options: Mapping[str, Any] = {}
        if kind is None:
            choice = choose_checked(settings)
            kind, options = STRUCTURES[choice.structure], choice.parameters
        if not self._lasting:
            return kind._once(settings, options)  # noqa: SLF001
        index = self.index
        if index is not None and type(index) is kind and index._like_settings(settings):  # noqa: SLF001
            index._renew(settings)  # noqa: SLF001
        else:
            self.index = None
            index = kind._kept(settings, options)  # noqa: SLF001
        self.index = index
        return index
