"""Counts of pairs by distance, without storing the pairs: `histogram`."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from vicinal import _check
from vicinal.bodies import check_points
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.filters import check_filter
from vicinal.fused import check_edges
from vicinal.planes import check_planes
from vicinal.search import index_of
from vicinal.settings import Settings
from vicinal.structures import StructureLike


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
    _, cutoff = check_edges(edges, bodies)
    cell = _check.check_box(box, bodies, cutoff, periodic)
    kept = check_filter(bodies, None, groups=groups, exclude=exclude)
    settings = Settings(bodies, cutoff, cell, check_planes(None, bodies, cell), filter=kept)
    return index_of(settings, structure).histogram(
        edges,
        weights=weights,
        types=types,
        queries=queries,
        query_weights=query_weights,
        query_types=query_types,
        query_groups=query_groups,
    )
