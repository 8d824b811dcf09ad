"""The search structures, kept while things move."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import BoxLike, Floats, Points
from vicinal.errors import InputError
from vicinal.rows import Neighbors

# A dense grid may take this share of memory.
GRID_SHARE = 0.25
BYTES_PER_CELL = 4


@dataclass(frozen=True)
class Stats:
    """What an index has done and what it takes.

    Parameters
    ----------
    structure
        Name of the structure.
    bodies
        Bodies in it.
    candidates, pairs
        Pairs the structure proposed in the last search, and how many of them passed the exact test.
    bytes
        Memory of the structure with its copy of the points, without results.
    build_seconds, query_seconds
        Time of the last build and of the last search.
    details
        Figures of the structure itself, such as the number of cells.
    """

    structure: str
    bodies: int
    candidates: int
    pairs: int
    bytes: int
    build_seconds: float
    query_seconds: float
    details: Mapping[str, float] = field(default_factory=dict)


class Index:
    """What every structure can do. Use one of the subclasses.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3), float32 or float64. They are copied: change yours as you like.
    cutoff
        Two bodies are a pair when they are not farther apart than this.
    box
        Period along each axis: one number, or one per axis with None for an open axis. None: open space.
    """

    _structure: ClassVar[str]

    def __init__(self, points: npt.ArrayLike, *, cutoff: float, box: BoxLike = None) -> None:
        self._make(_check.check_points(points), cutoff, box, lasting=True)

    @classmethod
    def _once(cls, points: Points, cutoff: float, box: BoxLike, options: Mapping[str, Any]) -> Index:
        """Make an index for a single search: points are used in place, results are not kept for reuse."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(points, cutoff, box, lasting=False)
        return index

    def _set_options(self) -> None:
        """Keep the structure's own parameters; those with parameters override it."""

    def _options(self, points: Points, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        """Check the structure's own parameters against the points and return them for the core."""
        return {}

    def _make(self, points: Points, cutoff: float, box: BoxLike, *, lasting: bool) -> None:
        self._cutoff = _check.check_cutoff(cutoff, points)
        self._box = _check.check_box(box, points, self._cutoff)
        options = self._options(points, self._cutoff, self._box)
        self._remember(points)
        self._core = _core.Core(
            self._structure, points.array, points.low, points.high, self._cutoff, self._box, options, lasting
        )

    def _remember(self, points: Points) -> None:
        """Keep what later arguments are checked against: dtype, dimension and number, not the points themselves."""
        self._size = len(points)
        self._like = Points(points.array[:0].copy(), [0.0] * points.dim, [0.0] * points.dim)

    def __len__(self) -> int:
        """Return the number of bodies."""
        return self._size

    def __repr__(self) -> str:
        """Name, number of bodies and cutoff."""
        return f"{self._structure}({len(self)} bodies, cutoff={self._cutoff:g})"

    def update(self, points: npt.ArrayLike) -> None:
        """Move the bodies, or replace them: `points` may have another length, not another dtype or dimension.

        Examples
        --------
        >>> index = vicinal.CellSorting([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> index.update([[0.0, 0.0], [0.5, 0.0]])
        >>> [column.tolist() for column in index.pairs(sort=True)]
        [[0], [1]]
        """
        checked = _check.check_points(points)
        if len(checked) == 0:
            checked = self._like
        if checked.array.dtype != self._like.array.dtype or checked.dim != self._like.dim:
            found = f"{checked.array.dtype} in {checked.dim} dimensions"
            made = f"{self._like.array.dtype} in {self._like.dim}"
            raise InputError(f"points: {found} found, but the index was made for {made}; make a new index")
        _check.check_box([edge or None for edge in self._box], checked, self._cutoff)
        self._options(checked, self._cutoff, self._box)
        self._core.build(checked.array, checked.low, checked.high)
        self._remember(checked)

    def pairs(self, *, want: str = "ij", half: bool = True, sort: bool = False) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs; see `vicinal.pairs`."""
        _check.check_want(want, "ijdDS")
        return tuple(self._core.pairs(want, _check.check_flag(half, "half"), _check.check_flag(sort, "sort"), None))

    def neighbors(self, *, want: str = "j", sort: bool = False) -> Neighbors:
        """Find the neighbours of every body as rows; see `vicinal.neighbors`."""
        return self._rows(want, None, sort=sort)

    def count(self) -> npt.NDArray[np.int32]:
        """Count the neighbours of every body; see `vicinal.count`."""
        return self._count(None)

    def query(self, queries: npt.ArrayLike, *, want: str = "ij", sort: bool = False) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs of a query (i) and a body of this index (j).

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> [column.tolist() for column in index.query([[2.5, 0.0], [0.0, 9.0], [0.0, 1.0]], sort=True)]
        [[0, 2], [1, 0]]
        """
        _check.check_want(want, "ijdDS")
        return tuple(self._core.pairs(want, False, _check.check_flag(sort, "sort"), self._queries(queries)))

    def _count(self, queries: npt.ArrayLike | None) -> npt.NDArray[np.int32]:
        return self._core.count(None if queries is None else self._queries(queries))

    def _rows(self, want: str, queries: npt.ArrayLike | None, *, sort: bool) -> Neighbors:
        _check.check_want(want, "jdDS")
        letters = "j" + "".join(letter for letter in "dDS" if letter in want)
        given = None if queries is None else self._queries(queries)
        offsets, *columns = self._core.rows(letters, _check.check_flag(sort, "sort"), given)
        found = dict(zip(letters, columns, strict=True))
        return Neighbors(
            offsets, found["j"], len(self), distances=found.get("d"), vectors=found.get("D"), shifts=found.get("S")
        )

    def _queries(self, queries: npt.ArrayLike) -> tuple[Floats, list[float], list[float]]:
        checked = _check.check_queries(queries, self._like, self._box)
        return checked.array, checked.low, checked.high

    @property
    def stats(self) -> Stats:
        """Figures of the last build and search."""
        return Stats(structure=self._structure, **self._core.stats())


class Exhaustive(Index):
    """Tests all pairs: the reference, and the best choice for a few hundred bodies.

    Examples
    --------
    >>> index = vicinal.Exhaustive([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0)
    >>> [column.tolist() for column in index.pairs(want="ijd", sort=True)]
    [[0, 0], [1, 2], [3.0, 4.0]]
    """

    _structure = "Exhaustive"


class LinkedCells(Index):
    """A dense grid of cells: the fastest where bodies fill the space.

    Parameters
    ----------
    points, cutoff, box
        As for every index.
    cell
        Edge of a cell, at least the cutoff. The default is the cutoff.

    Examples
    --------
    >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, cell=5.0)
    >>> index.count().tolist()
    [2, 1, 1]
    """

    _structure = "LinkedCells"

    def __init__(self, points: npt.ArrayLike, *, cutoff: float, box: BoxLike = None, cell: float | None = None) -> None:
        self._set_options(cell=cell)
        super().__init__(points, cutoff=cutoff, box=box)

    def _set_options(self, *, cell: float | None = None) -> None:
        self._cell = cell

    def _options(self, points: Points, cutoff: float, box: list[float]) -> dict[str, float]:
        cell = cutoff if self._cell is None else _check.check_number(self._cell, "cell")
        if not math.isfinite(cell) or cell < cutoff:
            raise InputError(f"cell: {self._cell} found; pass a finite length of at least the cutoff, {cutoff:g}")
        cells = grid_cells(points, cell, box)
        room = GRID_SHARE * _core.physical_memory()
        if cells * BYTES_PER_CELL > room:
            raise InputError(
                f"cell: a dense grid of {cells:.3g} cells of {cell:g} needs {cells * BYTES_PER_CELL / 2**30:.3g} GiB, "
                f"more than {room / 2**30:.3g} GiB; use CellSorting, which needs no grid in memory, or a larger cell"
            )
        return {"cell": cell}


def grid_cells(points: Points, cell: float, box: list[float]) -> float:
    """Return how many cells a dense grid needs, with its padding of three on each side."""
    if len(points) == 0:
        return 0.0
    cells = 3.0 if points.dim == 2 else 1.0  # in the plane the third axis is one cell and its padding
    for low, high, edge in zip(points.low, points.high, box, strict=True):
        cells *= (edge or (high - low)) / cell + 7
    return cells


class CellSorting(Index):
    """Bodies sorted by cell, without a grid in memory: fast whatever the extent.

    Parameters
    ----------
    points, cutoff, box
        As for every index.
    h_mask
        Cells per cutoff, 1, 2 or 3: finer cells propose fewer candidates and cost more look-ups. The default is 1.

    Examples
    --------
    >>> far = [[0.0, 0.0], [3.0, 0.0], [1e15, 4.0], [1e15, 5.0]]
    >>> index = vicinal.CellSorting(far, cutoff=4.0)
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0, 2], [1, 3]]
    """

    _structure = "CellSorting"

    def __init__(self, points: npt.ArrayLike, *, cutoff: float, box: BoxLike = None, h_mask: int | None = None) -> None:
        self._set_options(h_mask=h_mask)
        super().__init__(points, cutoff=cutoff, box=box)

    def _set_options(self, *, h_mask: int | None = None) -> None:
        self._h_mask = 1 if h_mask is None else _check.check_integer(h_mask, "h_mask", least=1, most=3)

    def _options(self, points: Points, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        return {"h_mask": float(self._h_mask)}
