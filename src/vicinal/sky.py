"""Positions on the sky: pairs within an angle.

Directions are points on the unit sphere, whose chords are searched. The angle between two directions a and b is
``2 * arctan2(|a - b|, |a + b|)``, which loses no digits for small angles, nor near 180 degrees, as the arc cosine of
``a . b`` does for the one and the arc sine of half the chord for the other.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.search import pairs

Array = npt.NDArray[Any]
Sky = tuple[npt.ArrayLike, npt.ArrayLike]
# Relative error of a chord between unit vectors, and more.
SLACK = 1e-14


def match(
    ra: npt.ArrayLike, dec: npt.ArrayLike, radius: float, *, other: Sky | None = None, sort: bool = False
) -> tuple[Array, Array, Array]:
    """Find all pairs of directions within an angle.

    Parameters
    ----------
    ra, dec
        Right ascension and declination in degrees.
    radius
        Largest angle in degrees, at most 180.
    other
        A second catalogue (ra, dec): pairs are then (i of the first, j of the second). Otherwise each pair of the first
        is returned once.
    sort
        Order by i, then j.

    Returns
    -------
    i, j
        Numbers of the directions, int32.
    angle
        Angles between them in degrees.

    Examples
    --------
    >>> i, j, angle = vicinal.sky.match([359.9, 0.1, 180.0], [0.0, 0.0, 0.0], 0.3)
    >>> i.tolist(), j.tolist(), angle.round(9).tolist()
    ([0], [1], [0.2])
    """
    limit = _check.check_number(radius, "radius")
    if not 0 <= limit <= 180:
        raise InputError(f"radius must be an angle from 0 to 180 degrees, got {radius}")
    first = directions(ra, dec)
    second = first if other is None else _second(other)
    chord = min(2 * math.sin(math.radians(limit) / 2), 2.0) * (1 + SLACK) + SLACK
    if other is None:
        i, j = pairs(first, chord, sort=sort)
    else:
        i, j = pairs(second, chord, queries=first, sort=sort)
    angle = separation(first[i], second[j])
    kept = angle <= limit
    return (i, j, angle) if kept.all() else (i[kept], j[kept], angle[kept])


def _second(other: Any) -> Array:
    """Return the directions of a second catalogue."""
    if not isinstance(other, tuple | list) or len(other) != 2:
        raise InputError(f"other must be a second catalogue (ra, dec), got {type(other).__name__}")
    return _vectors(*other, "other[0]", "other[1]")


def directions(ra: npt.ArrayLike, dec: npt.ArrayLike) -> Array:
    """Return unit vectors, shape (n, 3), of right ascensions and declinations in degrees.

    Examples
    --------
    >>> vicinal.sky.directions([0.0], [90.0]).round(12).tolist()
    [[0.0, 0.0, 1.0]]
    """
    return _vectors(ra, dec, "ra", "dec")


def _vectors(ra: npt.ArrayLike, dec: npt.ArrayLike, *names: str) -> Array:
    given = [_check.as_array(angle, name) for angle, name in zip((ra, dec), names, strict=True)]
    for angle, name in zip(given, names, strict=True):
        if angle.dtype.kind not in "fiu":
            raise InputError(f"{name} must be real numbers, in degrees, got dtype {angle.dtype}")
    alpha, delta = (np.radians(angle.astype(np.float64)) for angle in given)
    first, second = names
    if alpha.ndim != 1 or alpha.shape != delta.shape:
        raise InputError(f"{first} and {second} must be lists of one length, got {alpha.shape} and {delta.shape}")
    wrong = ~(np.isfinite(alpha) & (np.abs(delta) <= np.pi / 2))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InputError(
            f"{first} and {second} must be finite, with dec from -90 to 90 degrees, "
            f"got {given[0][row]} and {given[1][row]} in row {row}"
        )
    across = np.cos(delta)
    return np.stack([across * np.cos(alpha), across * np.sin(alpha), np.sin(delta)], axis=1)


def separation(a: Array, b: Array) -> Array:
    """Return the angles between unit vectors in degrees."""
    apart = np.sqrt(((a - b) ** 2).sum(axis=1))
    together = np.sqrt(((a + b) ** 2).sum(axis=1))
    return np.asarray(np.degrees(2 * np.arctan2(apart, together)))
