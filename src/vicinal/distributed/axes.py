"""Bodies along the axes of a tilted cell, where the cell is a box: ranks divide space and find ghosts there.

The coordinate along axis k is the distance from a face of the cell, so it has the period ``cell.edges[k]``. Bodies at a
distance r differ by at most r along every axis: what can form a pair in space can do so along the axes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies
from vicinal.cell import Cell

Floats = npt.NDArray[np.float64]

# Roundings of the exact test, as multiples of the last place of the largest number in it. The test wraps a position by
# whole edge vectors and takes differences of wrapped positions: about ten roundings of each of three coordinates.
ROUNDINGS = 64


def along_axes(points: npt.NDArray[Any], cell: Cell) -> Floats:
    """Return positions along the axes of a cell; those of an orthogonal cell are the axes of space."""
    places = points.astype(np.float64)
    return places @ _normals(cell).T if cell.tilted else places


def farthest(values: npt.NDArray[Any]) -> float:
    """Return a bound of the distance of positions from the origin, or of radii."""
    return math.sqrt(3) * float(np.abs(values).max(initial=0.0))


def bodies_along_axes(bodies: Bodies, reach: float, cell: Cell, far: float) -> tuple[Bodies, float]:
    """Return bodies of a tilted cell along its axes, in double, enlarged by the roundings of the exact test.

    Parameters
    ----------
    bodies, reach
        The bodies, and the cutoff of points.
    cell
        The cell; an orthogonal one leaves the bodies as they are.
    far
        At least the distance of any body of any rank from the origin.
    """
    if not cell.tilted:
        return bodies, reach
    limits = np.finfo(bodies.array.dtype)
    # Squares of tiny distances underflow, so that pairs reach farther.
    margin = ROUNDINGS * float(limits.eps) * (far + cell.size) + 8 * math.sqrt(float(limits.tiny))
    longer = 1 + ROUNDINGS * float(limits.eps)
    if bodies.extra is None:
        return _check.check_points(along_axes(bodies.array, cell)), reach * longer + 2 * margin
    if bodies.kind == "spheres":
        radii = bodies.extra.astype(np.float64) * longer + margin
        return Bodies(along_axes(bodies.array, cell), bodies.low, bodies.high, radii), 0.0
    low, high = bodies.array.astype(np.float64), bodies.extra.astype(np.float64)
    middle = along_axes(0.5 * low + 0.5 * high, cell)
    half = (0.5 * high - 0.5 * low) @ np.abs(_normals(cell)).T * longer + margin
    return Bodies(middle - half, bodies.low, bodies.high, middle + half), 0.0


def _normals(cell: Cell) -> Floats:
    """Return the unit vectors perpendicular to the faces of a tilted cell, as rows."""
    inverse = np.array(cell.inverse)
    return np.asarray(inverse / np.linalg.norm(inverse, axis=1)[:, None])
