"""Checks of the arguments of fluids."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal._check import as_array, check_number
from vicinal.errors import InputError

Array = npt.NDArray[np.float64]


def check_rows(value: npt.ArrayLike, name: str, shape: tuple[int, ...] | None = None) -> Array:
    """Return finite float64 rows of two or three numbers, or of a shape."""
    given = as_array(value, name)
    if given.dtype.kind not in "fiu":
        raise InputError(f"{name} must hold real numbers, got dtype {given.dtype}; pass float64")
    array = np.array(given, dtype=np.float64, order="C")
    if shape is not None and array.shape != shape:
        raise InputError(f"{name} must have the shape {shape}, got {array.shape}")
    if array.ndim != 2 or array.shape[1] not in {2, 3}:
        raise InputError(f"{name} must have the shape (n, 2) or (n, 3), got {array.shape}")
    if not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array).all(axis=1))[0])
        raise InputError(f"{name} must be finite, got {array[row].tolist()} in row {row}")
    return array


def check_vector(value: Sequence[float] | None, name: str, dim: int) -> Array:
    """Return `dim` finite numbers; zeros for None."""
    if value is None:
        return np.zeros(dim)
    try:
        array = np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.shape != (dim,) or not np.isfinite(array).all():
        raise InputError(f"{name} must be {dim} finite numbers, as many as positions have, got {value!r}")
    return array


def check_positive(value: object, name: str) -> float:
    """Return a positive, finite number."""
    number = check_number(value, name)
    if not 0 < number < math.inf:
        raise InputError(f"{name} must be a positive, finite number, got {value!r}")
    return number


def check_time(value: object) -> float:
    """Return a finite time."""
    number = check_number(value, "time")
    if not math.isfinite(number):
        raise InputError(f"time must be a finite number, got {value!r}")
    return number


def check_not_negative(value: object, name: str) -> float:
    """Return a finite number of at least 0."""
    number = check_number(value, name)
    if not 0 <= number < math.inf:
        raise InputError(f"{name} must be a finite number of at least 0, got {value!r}")
    return number


def check_box(box: Any, dim: int, support: float) -> list[float]:
    """Return one period per axis, 0 for an open axis."""
    edges = tuple(box) if isinstance(box, Iterable) and not isinstance(box, str) else (box,) * dim
    if len(edges) != dim or any(np.ndim(edge) > 0 for edge in edges):
        raise InputError(
            f"box must have {dim} lengths, None for an open axis, got {box!r}; fluids need an orthogonal box"
        )
    periods = [0.0 if edge is None else check_positive(edge, "box") for edge in edges]
    for period in periods:
        if 0 < period < 2 * support:
            raise InputError(
                f"box must be at least twice the support of the kernel ({support:.4g}) long, got {period:g}; "
                "use a smaller spacing or a longer box"
            )
    return periods


def check_motion(positions: npt.ArrayLike, velocities: npt.ArrayLike | None) -> tuple[Array, Array]:
    """Return positions and velocities, which are 0 by default."""
    places = check_rows(positions, "positions")
    speeds = np.zeros(places.shape) if velocities is None else check_rows(velocities, "velocities", places.shape)
    return places, speeds
