"""An order of bodies in which bodies close in space are close in memory."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.bodies import check_points
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.errors import InputError


def spatial_order(
    points: npt.ArrayLike, *, box: BoxLike = None, periodic: PeriodicLike = None
) -> npt.NDArray[np.int32]:
    """Return the numbers of the bodies along a Morton curve.

    ``points[order]`` is sorted. Sort all other arrays of the bodies the same way, and lists with
    `NeighborList.reorder`. Loops over neighbours then find them in the cache.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3).
    box, periodic
        Periodic cell, as for `pairs`. Points outside are wrapped first.

    Returns
    -------
    array of int32
        A permutation of 0 … n - 1. It does not depend on the number of threads.

    Examples
    --------
    >>> vicinal.spatial_order([[0.1, 0.1], [9.0, 9.0], [0.2, 0.1], [9.1, 9.0]]).tolist()
    [0, 2, 1, 3]
    """
    checked = check_points(points)
    cell = _check.check_box(box, checked, 0.0, periodic)
    return _core.spatial_order(checked.array, checked.low, checked.high, cell.for_core)


def check_order(value: object, size: int) -> npt.NDArray[np.int32]:
    """Check a permutation."""
    array = _check.as_array(value, "order")
    if array.size == 0:
        array = array.reshape(-1).astype(np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"order must be a list of whole numbers, got shape {array.shape} and dtype {array.dtype}")
    if len(array) != size:
        raise InputError(
            f"order must have one number per body, got {len(array)} for {size} bodies; pass each number from 0 once"
        )
    wrong = array[(array < 0) | (array >= size)]
    if len(wrong):
        raise InputError(f"order must be numbers from 0 to {size - 1}, got {wrong[0]}")
    times = np.bincount(array, minlength=size)
    if len(times) and times.max() > 1:
        raise InputError(f"order must have each number once, got {int(times.argmax())} more than once")
    return np.ascontiguousarray(array, dtype=np.int32)
