"""One call, best structure chosen: `pairs`, `neighbors`, `count`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies, BoxLike
from vicinal.bodies import BodyArguments, BoxesLike, PlanesLike
from vicinal.choose import choose_checked
from vicinal.errors import InputError
from vicinal.index import Index, check_settings
from vicinal.rows import Neighbors
from vicinal.structures import STRUCTURES


def _index(points: npt.ArrayLike | None, bodies: BodyArguments) -> Index:
    settings = check_settings(points, **bodies)
    choice = choose_checked(settings)
    return STRUCTURES[choice.structure]._once(settings, choice.parameters)  # noqa: SLF001


def _queries(
    index: Index, queries: npt.ArrayLike | None, radii: npt.ArrayLike | None, boxes: BoxesLike | None
) -> Bodies | None:
    if queries is None and radii is None and boxes is None:
        return None
    return index._queries(queries, radii, boxes)  # noqa: SLF001


def pairs(
    points: npt.ArrayLike | None = None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    want: str = "ij",
    half: bool = True,
    sort: bool = False,
) -> tuple[npt.NDArray[Any], ...]:
    """Find every pair of bodies: points within a cutoff, spheres that touch, or boxes that overlap.

    The set of pairs is exactly that of the NumPy expression ``dx*dx + dy*dy + dz*dz <= cutoff*cutoff`` in the dtype
    of the points (with ``radii[i] + radii[j]`` in place of the cutoff for spheres), whatever the structure, the number
    of threads and the processor.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3). float32 and float64 are used as they are, other numbers as float64.
    cutoff
        Largest distance of a pair of points.
    radii
        The bodies are spheres: one radius each, or one for all.
    boxes
        The bodies are axis-aligned boxes (lower, upper), in place of points. They have no ``d`` and ``D``.
    skin
        Spheres and boxes are made larger by half of this on every side.
    planes
        Infinite bodies (points, normals) with numbers after those of the bodies; see `vicinal.Index`.
    box
        Period along each axis: one number, or one per axis with None for an open axis. None: open space.
    queries, query_radii, query_boxes
        A second set of the same kind: pairs are then (query i, body j). Without radii, queries of spheres are points.
    want
        Columns of the result, in this order: ``i``, ``j`` (int32), ``d`` distance, ``D`` vector from i to j,
        ``S`` periodic shift, such that ``D = points[j] - points[i] + S * box``.
    half
        Each pair once (True), or as (i, j) and (j, i).
    sort
        Order by i, then j (then S), with i < j in a half list. Otherwise the order is arbitrary.

    Returns
    -------
    tuple of arrays
        One per letter of `want`.

    Examples
    --------
    >>> i, j, d = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, want="ijd", sort=True)
    >>> i.tolist(), j.tolist(), d.tolist()
    ([0, 0], [1, 2], [3.0, 4.0])
    >>> vicinal.pairs([[0.5, 0.0], [9.5, 0.0]], cutoff=2.0, box=(10.0, None), want="D", sort=True)[0].tolist()
    [[-1.0, 0.0]]
    >>> i, j = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], radii=[1.0, 2.0, 2.5], sort=True)
    >>> i.tolist(), j.tolist()
    ([0], [1])
    >>> i, j = vicinal.pairs(boxes=([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], [[1.0, 1.0], [2.0, 2.0], [4.0, 1.0]]))
    >>> i.tolist(), j.tolist()
    ([0], [1])
    """
    index = _index(
        points,
        {"cutoff": cutoff, "radii": radii, "boxes": boxes, "skin": skin, "planes": planes, "box": box},
    )
    if queries is None and query_radii is None and query_boxes is None:
        return index.pairs(want=want, half=half, sort=sort)
    if not _check.check_flag(half, "half"):
        raise InputError("half: False found together with queries; leave it out: such pairs are given once anyway")
    return index.query(queries, radii=query_radii, boxes=query_boxes, want=want, sort=sort)


def neighbors(
    points: npt.ArrayLike | None = None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    want: str = "j",
    sort: bool = False,
) -> Neighbors:
    """Find the neighbours of every point (or of every query) as rows.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box, queries, query_radii, query_boxes
        As for `pairs`.
    want
        ``j`` and any of ``d``, ``D``, ``S``; see `pairs`.
    sort
        Put each row into ascending order.

    Examples
    --------
    >>> rows = vicinal.neighbors([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, sort=True)
    >>> rows[0].tolist()
    [1, 2]
    """
    index = _index(
        points,
        {"cutoff": cutoff, "radii": radii, "boxes": boxes, "skin": skin, "planes": planes, "box": box},
    )
    return index._rows(want, _queries(index, queries, query_radii, query_boxes), sort=sort)  # noqa: SLF001


def count(
    points: npt.ArrayLike | None = None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
) -> npt.NDArray[np.int32]:
    """Count the neighbours of every point (or of every query); nothing else is stored.

    Examples
    --------
    >>> vicinal.count([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0).tolist()
    [2, 1, 1]
    """
    index = _index(
        points,
        {"cutoff": cutoff, "radii": radii, "boxes": boxes, "skin": skin, "planes": planes, "box": box},
    )
    return index._count(_queries(index, queries, query_radii, query_boxes))  # noqa: SLF001
