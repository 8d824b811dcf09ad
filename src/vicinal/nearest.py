"""The nearest points of every point, or of every query: `nearest`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal._environment import check_environment
from vicinal.bodies import check_points
from vicinal.cell import BoxLike, Cell, PeriodicLike

# More neighbours per point than this would need more periodic images than the core can number.
MOST_PER_POINT = 8192


def check_nearest(k: object, cutoff: object, bodies: Bodies, box: Cell) -> tuple[int, float]:
    """Check the number of neighbours and the cutoff, which may be infinite."""
    most = _check.MOST_BODIES if not box.periodic else min(_check.MOST_BODIES, MOST_PER_POINT * max(1, len(bodies)))
    number = _check.check_integer(k, "k", least=1, most=most)
    reach = _check.check_number(cutoff, "cutoff")
    if reach == math.inf:
        return number, reach
    reach = _check.check_cutoff(cutoff, bodies)
    _check.check_images(bodies, reach, box)
    return number, reach


def nearest(
    points: npt.ArrayLike,
    k: int,
    cutoff: float = math.inf,
    *,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    queries: npt.ArrayLike | None = None,
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
    """Find the k nearest points of every point, or of every query.

    The order is that of the squared distances of the definition, in the dtype of the points; of points equally far
    away, those with smaller numbers come first. The result does not depend on the number of threads or the processor.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3), as for `pairs`.
    k
        Number of neighbours.
    cutoff
        Largest distance of a neighbour.
    box, periodic
        The periodic cell, as for `pairs`. Every image of a point is a neighbour of its own, as in `pairs`: where the
        k-th distance is more than half a period, a point can occur more than once, and its own images are among the
        neighbours of a point.
    queries
        Points whose neighbours are searched for. None: those of `points`, none of which is its own neighbour. Passing
        the points as queries includes them, as `scipy.spatial.cKDTree.query` does.

    Returns
    -------
    distances
        Shape (n, k), ascending, in the dtype of the points; infinite where there are fewer than k neighbours.
    indices
        Shape (n, k), int32; -1 where there are fewer than k neighbours. Points whose squared distance overflows are no
        neighbours.

    Examples
    --------
    >>> d, j = vicinal.nearest([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 2)
    >>> d.tolist(), j.tolist()
    ([[3.0, 4.0], [3.0, 5.0], [4.0, 5.0]], [[1, 2], [0, 2], [0, 1]])
    >>> d, j = vicinal.nearest([[0.0, 0.0], [3.0, 0.0]], 2, cutoff=2.0, queries=[[1.0, 0.0]])
    >>> d.tolist(), j.tolist()
    ([[1.0, 2.0]], [[0, 1]])
    """
    check_environment()
    bodies = check_points(points)
    cell = _check.check_box(box, bodies, 0.0, periodic)
    number, reach = check_nearest(k, cutoff, bodies, cell)
    others = None
    if queries is not None:
        others = _check.check_like(queries, bodies, cell, "queries")
    return _core.nearest(bodies.for_core, cell.for_core, number, reach, None if others is None else others.for_core)
