"""One call, best structure chosen: `pairs`, `neighbors`, `count`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import BoxLike
from vicinal.choose import STRUCTURES, choose_checked
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.rows import Neighbors


def _index(points: npt.ArrayLike, cutoff: float, box: BoxLike) -> Index:
    checked = _check.check_points(points)
    radius = _check.check_cutoff(cutoff, checked)
    edges = _check.check_box(box, checked, radius)
    choice = choose_checked(checked, radius, edges)
    return STRUCTURES[choice.structure]._once(checked, cutoff, box, choice.parameters)  # noqa: SLF001


def pairs(
    points: npt.ArrayLike,
    *,
    cutoff: float,
    box: BoxLike = None,
    queries: npt.ArrayLike | None = None,
    want: str = "ij",
    half: bool = True,
    sort: bool = False,
) -> tuple[npt.NDArray[Any], ...]:
    """Find every pair of points that are not farther apart than `cutoff`.

    The set of pairs is exactly that of the NumPy expression ``dx*dx + dy*dy + dz*dz <= cutoff*cutoff`` in the dtype
    of the points, whatever the structure, the number of threads and the processor.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3). float32 and float64 are used as they are, other numbers as float64.
    cutoff
        Largest distance of a pair.
    box
        Period along each axis: one number, or one per axis with None for an open axis. None: open space.
    queries
        A second set: pairs are then (query i, point j).
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
    """
    index = _index(points, cutoff, box)
    if queries is None:
        return index.pairs(want=want, half=half, sort=sort)
    if not _check.check_flag(half, "half"):
        raise InputError("half: False found together with queries; leave it out: such pairs are given once anyway")
    return index.query(queries, want=want, sort=sort)


def neighbors(
    points: npt.ArrayLike,
    *,
    cutoff: float,
    box: BoxLike = None,
    queries: npt.ArrayLike | None = None,
    want: str = "j",
    sort: bool = False,
) -> Neighbors:
    """Find the neighbours of every point (or of every query) as rows.

    Parameters
    ----------
    points, cutoff, box, queries
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
    return _index(points, cutoff, box)._rows(want, queries, sort=sort)  # noqa: SLF001


def count(
    points: npt.ArrayLike, *, cutoff: float, box: BoxLike = None, queries: npt.ArrayLike | None = None
) -> npt.NDArray[np.int32]:
    """Count the neighbours of every point (or of every query); nothing else is stored.

    Examples
    --------
    >>> vicinal.count([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0).tolist()
    [2, 1, 1]
    """
    return _index(points, cutoff, box)._count(queries)  # noqa: SLF001
