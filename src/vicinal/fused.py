"""Searches of an index whose pairs are used at once and never stored: counts by distance, components, sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.pair_function import check_data, check_function

if TYPE_CHECKING:
    from vicinal._check import Bodies
    from vicinal.index import Index
    from vicinal.pair_function import PairFunction

# Types are numbers below this: a histogram has a row for every pair of types.
MOST_TYPES = 1000

Marks = tuple[npt.NDArray[np.float64] | None, npt.NDArray[np.int32] | None, int]


def count_distances(
    index: Index,
    edges: npt.ArrayLike,
    *,
    weights: npt.ArrayLike | None = None,
    types: npt.ArrayLike | None = None,
    queries: npt.ArrayLike | None = None,
    query_weights: npt.ArrayLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
) -> npt.NDArray[Any]:
    """Count the pairs of an index of points by distance; see `vicinal.histogram`."""
    like = index._like  # noqa: SLF001
    if like.kind != "points":
        raise InputError(f"histogram needs an index of points, got {like.kind}; make one of their centres with cutoff=")
    check_no_planes(index, "histogram")
    squares, longest = check_edges(edges, like)
    cutoff, conditions = index._cutoff, index._filter  # noqa: SLF001
    if longest > cutoff:
        raise InputError(
            f"edges must end at the cutoff of the index, {cutoff}, or before, got {longest}; make an index with a "
            "larger cutoff"
        )
    typed = conditions is not None and conditions.types is not None
    marks = check_marks(weights, types, len(index), ("weights", "types"))
    others = index._queries(queries)  # noqa: SLF001
    other_marks: Marks = (None, None, 1)
    if others is not None:
        # An index with types needs those of queries, even where pairs are not counted by type.
        counted = None if types is None and typed else query_types
        other_marks = check_marks(query_weights, counted, len(others), ("query_weights", "query_types"))
        if (marks[0] is None) != (other_marks[0] is None):
            raise InputError("query_weights must be given with weights and queries, got one of them; pass both")
        if (marks[1] is None) != (other_marks[1] is None):
            raise InputError("query_types must be given with types and queries, got one of them; pass both")
    elif query_weights is not None or query_types is not None:
        name = "query_weights" if query_weights is not None else "query_types"
        raise InputError(f"{name} needs queries, got None; pass queries=, or leave it out")
    kept = index._core_filter(others, query_types if typed else None, query_groups)  # noqa: SLF001
    given = None if others is None else others.for_core
    counts: npt.NDArray[Any] = index._core.histogram(squares, marks, given, other_marks, kept)  # noqa: SLF001
    if marks[1] is None:
        row: npt.NDArray[Any] = counts[0, 0]
        return row
    if others is None:  # the core counts pairs of two types at the smaller one first
        upper = np.triu(np.ones(counts.shape[:2], bool), 1)
        counts.swapaxes(0, 1)[upper] = counts[upper]
    return counts


def label_components(index: Index) -> npt.NDArray[np.int32]:
    """Label the connected components of the bodies of an index; see `vicinal.components`."""
    check_no_planes(index, "components")
    labels, _ = index._core.components(index._core_filter(None, None, None))  # noqa: SLF001
    return labels


def sum_function(
    index: Index,
    function: PairFunction,
    *,
    each: bool = False,
    data: tuple[Any, ...] = (),
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    exact: bool = False,
) -> tuple[npt.NDArray[Any], bool]:
    """Sum a function over the pairs of an index; see `vicinal.reduce`.

    Returns one row of sums for each body or query, or one for all pairs, or its digits if `exact`; and whether the
    function returns one number.
    """
    like = index._like  # noqa: SLF001
    if like.kind == "boxes":
        raise InputError("reduce needs an index of points or spheres, got boxes, which have no distance")
    check_no_planes(index, "reduce")
    by_body = _check.check_flag(each, "each")
    others = index._queries(queries, query_radii)  # noqa: SLF001
    kept = index._core_filter(others, query_types, query_groups)  # noqa: SLF001
    arrays = check_data(data)
    compiled = check_function(function, like.array.dtype, like.dim, arrays)
    given = None if others is None else others.for_core
    sums = index._core.reduce(compiled.for_core(arrays), by_body, given, kept, exact)  # noqa: SLF001
    if sums is None:
        raise InputError("function must not raise an exception, got one, which Numba has printed to stderr")
    return sums, compiled.single


def check_no_planes(index: Index, name: str) -> None:
    """Refuse an index with planes, whose pairs are not among those that the core visits."""
    planes = len(index._planes)  # noqa: SLF001
    if planes:
        raise InputError(f"{name} needs an index without planes, got {planes}; make one without planes=")


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
