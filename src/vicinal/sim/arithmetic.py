"""Functions with bit-identical results on every machine: built from + − × ÷ (IEEE 754) instead of a library's `exp`.

They are accurate to a few units in the last place. Results do not depend on processor, compiler or version of NumPy.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]

_LN2 = 0.6931471805599453
# The logarithm of 2 in two parts: products of the first part with whole numbers are exact.
_LN2_HIGH, _LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_EXP_TERMS = 14
_LOG_TERMS = 12


def exp(x: npt.ArrayLike) -> Array:
    """Return e to the power of x.

    Examples
    --------
    >>> bool(np.allclose(exp([-3.0, 0.0, 1.0, 20.0]), np.exp([-3.0, 0.0, 1.0, 20.0]), rtol=1e-15))
    True
    """
    value = np.asarray(x, dtype=np.float64)
    power = np.rint(value / _LN2)
    rest = (value - power * _LN2_HIGH) - power * _LN2_LOW
    total = np.ones_like(rest)
    for k in range(_EXP_TERMS, 0, -1):
        total = 1.0 + rest / k * total
    return np.ldexp(total, power.astype(np.int64))


def log(x: npt.ArrayLike) -> Array:
    """Return the natural logarithm of positive x.

    Examples
    --------
    >>> bool(np.allclose(log([1e-300, 0.7, 1.0, 5e7]), np.log([1e-300, 0.7, 1.0, 5e7]), rtol=1e-15))
    True
    """
    part, power = np.frexp(np.asarray(x, dtype=np.float64))
    small = part < math.sqrt(0.5)
    part, power = np.where(small, 2 * part, part), power - small
    s = (part - 1) / (part + 1)
    square = s * s
    total = np.zeros_like(s)
    for k in range(_LOG_TERMS, -1, -1):
        total = total * square + 1.0 / (2 * k + 1)
    result: Array = power * _LN2_HIGH + (power * _LN2_LOW + 2 * s * total)
    return result


def power(x: npt.ArrayLike, exponent: float) -> Array:
    """Return positive x to any power.

    Examples
    --------
    >>> bool(np.allclose(power([2.0, 10.0], 1 / 3), np.cbrt([2.0, 10.0]), rtol=1e-14))
    True
    """
    return exp(exponent * log(x))


def cube_root(x: float) -> float:
    """Return the cube root of a positive number.

    Examples
    --------
    >>> cube_root(27.0)
    3.0
    """
    root = float(power([x], 1 / 3)[0])
    # A Newton step makes roots of cubes of whole numbers exact.
    return root - (root * root * root - x) / (3 * root * root)


def root_of(volume: float, dim: int) -> float:
    """Return the edge of a square or cube of this area or volume."""
    return math.sqrt(volume) if dim == 2 else cube_root(volume)


def squares(vectors: Array) -> Array:
    """Return the squared lengths of rows, added up from the first axis to the last."""
    total: Array = vectors[:, 0] * vectors[:, 0]
    for axis in range(1, vectors.shape[1]):
        total = total + vectors[:, axis] * vectors[:, axis]
    return total


def lengths(vectors: Array) -> Array:
    """Return the lengths of rows."""
    return np.sqrt(squares(vectors))


def volume(radii: Array, dim: int = 3) -> float:
    """Return the total volume of spheres (in 2D the area of discs); the sum is rounded once."""
    each = math.pi * radii * radii if dim == 2 else 4 / 3 * math.pi * radii * radii * radii
    return math.fsum(each.tolist())
