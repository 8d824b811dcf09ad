"""Single searches with a structure chosen for them: `pairs`, `neighbors`, `count`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from vicinal.bodies import BodyArguments, BoxesLike, PlanesLike
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.choose import chosen_index
from vicinal.index import Index, Settings, check_settings
from vicinal.rows import Neighbors
from vicinal.structures import StructureLike, find_structure


def _index(
    points: npt.ArrayLike | None, cutoff: float | None, structure: StructureLike, bodies: BodyArguments
) -> Index:
    """Make an index for a single search."""
    return index_of(check_settings(points, cutoff, **bodies), structure)


def index_of(settings: Settings, structure: StructureLike) -> Index:
    """Return an index for a single search of checked bodies."""
    if structure is not None:
        return find_structure(structure)._once(settings, {})  # noqa: SLF001
    return chosen_index(settings)


# Not at run time: `typing` would keep the functions, and with them the core, until after the end of the interpreter.
if TYPE_CHECKING:

    @overload
    def pairs(
        points: npt.ArrayLike | None = None,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
        periodic: PeriodicLike = None,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        structure: StructureLike = None,
        chunks: None = None,
    ) -> tuple[npt.NDArray[Any], ...]: ...
    @overload
    def pairs(
        points: npt.ArrayLike | None = None,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
        periodic: PeriodicLike = None,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        structure: StructureLike = None,
        chunks: int,
    ) -> Iterator[tuple[npt.NDArray[Any], ...]]: ...


def pairs(
    points: npt.ArrayLike | None = None,
    cutoff: float | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    want: str = "ij",
    half: bool = True,
    sort: bool = False,
    structure: StructureLike = None,
    chunks: int | None = None,
) -> tuple[npt.NDArray[Any], ...] | Iterator[tuple[npt.NDArray[Any], ...]]:
    """Find every pair of bodies: points within a cutoff, spheres that touch, or boxes that overlap.

    The set of pairs is exactly that of the NumPy expression ``dx*dx + dy*dy + dz*dz <= cutoff*cutoff`` in the dtype
    of the points (with ``radii[i] + radii[j]`` in place of the cutoff for spheres). It depends neither on the structure
    nor on the number of threads nor on the processor.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3). float32 and float64 are used as they are, other numbers as float64.
        All other arguments are converted to the dtype of the points.
    cutoff
        Largest distance of a pair of points.
    radii
        The bodies are spheres: one radius each, or one for all.
    boxes
        The bodies are axis-aligned boxes (lower, upper), in place of points. They have no ``d`` and ``D``.
    skin
        Pairs reach this much farther: it is added to the cutoff, and half of it to radii and to every face of a box.
    planes
        Infinite bodies (points, normals), numbered after the other bodies; see `vicinal.Index`.
    box
        Periodic cell: one length; one per axis, with None for an open axis; edge vectors as the rows of a matrix, with
        any orientation and tilt; or ``(a, b, c, alpha, beta, gamma)``, three lengths and the angles between them in
        degrees. None: open space.
    periodic
        Whether space is periodic along each edge of the box, one for all or one per edge. None: wherever it has one.
    queries, query_radii, query_boxes
        A second set of the same kind: pairs are then (query i, body j). Spheres without `query_radii` are points.
    want
        Columns of the result, in this order: ``i``, ``j`` (int32), ``d`` distance, ``D`` vector from i to j,
        ``S`` periodic shift, such that ``D = points[j] - points[i] + S * box`` (``S @ box`` for edge vectors).
    half
        Each pair once (True), or as (i, j) and (j, i).
    sort
        Order by i, then j (then S), with i < j in a half list. Otherwise the order is arbitrary.
    structure
        Search structure to use, a class such as `vicinal.HashGrid` or its name. None: the one that `vicinal.choose`
        returns. It changes speed only, never the result.
    chunks
        Largest number of pairs at a time: the result is an iterator over tuples of arrays, which together hold every
        pair once, in any order. Memory does not grow with the number of pairs.

    Returns
    -------
    tuple of arrays
        One per letter of `want`; with `chunks` an iterator over such tuples.

    Examples
    --------
    >>> i, j, d = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0, want="ijd", sort=True)
    >>> i.tolist(), j.tolist(), d.tolist()
    ([0, 0], [1, 2], [3.0, 4.0])
    >>> vicinal.pairs([[0.5, 0.0], [9.5, 0.0]], 2.0, box=(10.0, None), want="D", sort=True)[0].tolist()
    [[-1.0, 0.0]]
    >>> i, j = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], radii=[1.0, 2.0, 2.5], sort=True)
    >>> i.tolist(), j.tolist()
    ([0], [1])
    >>> i, j = vicinal.pairs(boxes=([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], [[1.0, 1.0], [2.0, 2.0], [4.0, 1.0]]))
    >>> i.tolist(), j.tolist()
    ([0], [1])
    >>> sum(len(i) for i, j in vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 5.0, chunks=2))
    3
    """
    bodies = BodyArguments(radii=radii, boxes=boxes, skin=skin, planes=planes, box=box, periodic=periodic)
    index = _index(points, cutoff, structure, bodies)
    if chunks is not None:
        others = index._queries(queries, query_radii, query_boxes)  # noqa: SLF001
        return index._chunks(chunks, want, others, half=half, sort=sort)  # noqa: SLF001
    return index.pairs(
        queries=queries, query_radii=query_radii, query_boxes=query_boxes, want=want, half=half, sort=sort
    )


def neighbors(
    points: npt.ArrayLike | None = None,
    cutoff: float | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    want: str = "j",
    sort: bool = False,
    structure: StructureLike = None,
) -> Neighbors:
    """Find the neighbours of every body, or of every query, as rows.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box, periodic, queries, query_radii, query_boxes, structure
        As for `pairs`.
    want
        ``j`` and any of ``d``, ``D``, ``S``; see `pairs`.
    sort
        Put each row into ascending order.

    Examples
    --------
    >>> rows = vicinal.neighbors([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0, sort=True)
    >>> rows[0].tolist()
    [1, 2]
    """
    bodies = BodyArguments(radii=radii, boxes=boxes, skin=skin, planes=planes, box=box, periodic=periodic)
    return _index(points, cutoff, structure, bodies).neighbors(
        queries=queries, query_radii=query_radii, query_boxes=query_boxes, want=want, sort=sort
    )


def count(
    points: npt.ArrayLike | None = None,
    cutoff: float | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    structure: StructureLike = None,
) -> npt.NDArray[np.int32]:
    """Count the neighbours of every body, or of every query, without storing them; arguments as for `pairs`.

    Examples
    --------
    >>> vicinal.count([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0).tolist()
    [2, 1, 1]
    """
    bodies = BodyArguments(radii=radii, boxes=boxes, skin=skin, planes=planes, box=box, periodic=periodic)
    return _index(points, cutoff, structure, bodies).count(
        queries=queries, query_radii=query_radii, query_boxes=query_boxes
    )
