"""Counts of pairs by distance, without storing the pairs: `histogram`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies
from vicinal.bodies import check_points
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.errors import InputError
from vicinal.filters import check_filter, core_filter
from vicinal.planes import check_planes
from vicinal.search import index_of
from vicinal.settings import Settings
from vicinal.structures import StructureLike

# Types are numbers below this: the result has a row for every pair of types.
MOST_TYPES = 1000

Marks = tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.int32] | None, int]


def histogram(
    points: npt.ArrayLike,
    edges: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    types: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    exclude: npt.ArrayLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    queries: npt.ArrayLike | None = None,
    query_weights: npt.ArrayLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    structure: StructureLike = None,
) -> npt.NDArray[Any]:
    """Count pairs of points by distance, for radial distribution and correlation functions.

    The counts are exactly those of ``numpy.histogram(d2, edges * edges)`` for the squared distances d2 of the
    definition, in the dtype of the points: a bin includes its lower edge, the last one also its upper edge. Pairs are
    counted during the search and never stored, so memory does not grow with their number.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3), as for `pairs`.
    edges
        Edges of the bins, ascending from 0 or more. The last one is the cutoff of the search.
    weights
        One number per point: products of the weights of pairs are summed in place of counting. The sums are the same
        on any number of threads.
    types
        A whole number from 0 per point: pairs are counted for each pair of types.
    groups, exclude
        Pairs that do not count, such as those of bonded points; see `pairs`.
    box, periodic
        The periodic cell, as for `pairs`; every image within reach is a pair of its own.
    queries, query_weights, query_types, query_groups
        A second set: pairs are then (query, point). Otherwise every pair of points counts once.
    structure
        As for `pairs`.

    Returns
    -------
    array
        int64 counts, or float64 sums if there are weights, one per bin. With types its shape is (types, types, bins),
        symmetric: entry [a, b] is the number of pairs of a point of type a and one of type b. With queries the first
        type is that of the query.

    Examples
    --------
    >>> vicinal.histogram([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], [0.0, 3.0, 4.0, 5.0]).tolist()
    [0, 1, 2]
    >>> vicinal.histogram([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], [0.0, 5.0], types=[0, 0, 1]).tolist()
    [[[1], [2]], [[2], [0]]]
    """
    bodies = check_points(points)
    squares, cutoff = check_edges(edges, bodies)
    cell = _check.check_box(box, bodies, cutoff, periodic)
    kept = check_filter(bodies, None, groups=groups, exclude=exclude)
    settings = Settings(bodies, cutoff, cell, check_planes(None, bodies, cell), filter=kept)
    marks = check_marks(weights, types, len(bodies), ("weights", "types"))
    others: Bodies | None = None
    other_marks: Marks = (None, None, 1)
    if queries is not None:
        others = _check.check_like(queries, bodies, cell, "queries")
        other_marks = check_marks(query_weights, query_types, len(others), ("query_weights", "query_types"))
        if (marks[0] is None) != (other_marks[0] is None):
            raise InputError("query_weights must be given with weights and queries, got one of them; pass both")
        if (marks[1] is None) != (other_marks[1] is None):
            raise InputError("query_types must be given with types and queries, got one of them; pass both")
    elif query_weights is not None or query_types is not None:
        name = "query_weights" if query_weights is not None else "query_types"
        raise InputError(f"{name} needs queries, got None; pass queries=, or leave it out")
    counts: npt.NDArray[Any] = index_of(settings, structure)._single.histogram(  # noqa: SLF001
        squares,
        marks,
        None if others is None else others.for_core,
        other_marks,
        core_filter(kept, others, None, query_groups),
    )
    if marks[1] is None:
        row: npt.NDArray[Any] = counts[0, 0]
        return row
    if others is None:  # the core counts pairs of two types at the smaller one first
        upper = np.triu(np.ones(counts.shape[:2], bool), 1)
        counts.swapaxes(0, 1)[upper] = counts[upper]
    return counts


def check_edges(edges: object, bodies: Bodies) -> tuple[list[float], float]:
    """Check edges and return their squares in the dtype of the points, and the last edge."""
    array = _check.as_array(edges, "edges")
    if array.ndim != 1 or len(array) < 2 or array.dtype.kind not in "fiu":
        raise InputError(
            f"edges must be a list of two or more numbers, got shape {array.shape} and dtype {array.dtype}; "
            "pass for example numpy.linspace(0, cutoff, 101)"
        )
    dtype = bodies.array.dtype
    with np.errstate(over="ignore", under="ignore"):
        rounded: Any = array.astype(dtype)
        squares = rounded * rounded
    if not (np.isfinite(rounded).all() and rounded[0] >= 0):
        wrong = rounded[~(np.isfinite(rounded) & (rounded >= 0))]
        raise InputError(f"edges must be finite distances of at least 0, got {wrong[0]}")
    cutoff = _check.check_cutoff(float(rounded[-1]), bodies, "edges[-1]")
    flat = np.flatnonzero(~(np.diff(squares) > 0))
    if len(flat):
        raise InputError(
            f"edges must ascend, and so must their squares in {dtype}, got {array[flat[0]]} and {array[flat[0] + 1]}; "
            f"sort them and leave out equal ones{', or use float64 points' if dtype == np.float32 else ''}"
        )
    return [float(square) for square in squares], cutoff


def check_marks(weights: object, types: object, size: int, names: tuple[str, str]) -> Marks:
    """Check weights and types of a set; returns them with the number of types."""
    w = t = None
    if weights is not None:
        w = _check.as_array(weights, names[0])
        if w.shape != (size,) or w.dtype.kind not in "fiu":
            raise InputError(f"{names[0]} must be numbers of shape ({size},), got shape {w.shape} and dtype {w.dtype}")
        w = np.ascontiguousarray(w, np.float64)
        if not np.isfinite(w).all():
            row = np.flatnonzero(~np.isfinite(w))[0]
            raise InputError(f"{names[0]} must be finite, got {w[row]} in row {row}")
    if types is not None:
        t = _check.as_array(types, names[1])
        if t.shape != (size,) or (size and t.dtype.kind not in "iu"):
            raise InputError(
                f"{names[1]} must be whole numbers of shape ({size},), got shape {t.shape} and dtype {t.dtype}"
            )
        if size and not (t.min() >= 0 and t.max() < MOST_TYPES):
            wrong = t[(t < 0) | (t >= MOST_TYPES)][0]
            raise InputError(f"{names[1]} must lie from 0 to {MOST_TYPES - 1}, got {wrong}; number the types from 0")
        t = np.ascontiguousarray(t, np.int32)
    return w, t, int(t.max(initial=0)) + 1 if t is not None else 1
