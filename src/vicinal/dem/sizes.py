"""Radii drawn from a distribution."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from vicinal.sim.sizes import Bimodal, Fixed, LogNormal, Normal, Size, Table, Uniform

Array = npt.NDArray[np.float64]


def draw(size: Size, count: int, random: np.random.Generator) -> Array:
    """Draw radii.

    Parameters
    ----------
    size
        The distribution.
    count
        How many.
    random
        Source of chance; the same state gives the same radii.

    Examples
    --------
    >>> draw(Uniform(low=1.0, high=2.0), 3, np.random.default_rng(0)).round(3)
    array([1.637, 1.27 , 1.041])
    """
    match size:
        case Fixed():
            return np.full(count, size.value)
        case Uniform():
            return random.uniform(size.low, size.high, count)
        case Normal():
            reach = 3 * size.deviation
            low = size.mean - reach if size.low is None else size.low
            high = size.mean + reach if size.high is None else size.high
            return _between(lambda number: random.normal(size.mean, size.deviation, number), low, high, count)
        case LogNormal():
            reach = math.exp(3 * size.deviation)
            low = size.median / reach if size.low is None else size.low
            high = size.median * reach if size.high is None else size.high
            middle = math.log(size.median)
            return _between(lambda number: random.lognormal(middle, size.deviation, number), low, high, count)
        case Bimodal():
            return _classes(
                np.array([size.small, size.large]),
                np.array([1 - size.large_share, size.large_share]),
                size.by,
                count,
                random,
            )
        case Table():
            return _classes(np.array(size.radii), np.array(size.shares), size.by, count, random)


def _between(more: Callable[[int], Array], low: float, high: float, count: int) -> Array:
    """Draw again what is out of bounds. The bounds leave the middle in, so that half of the draws count at least."""
    found = more(count)
    while True:
        # Rounding may put a distribution without width beside its own bounds.
        wrong = (found < low * (1 - 1e-12)) | (found > high * (1 + 1e-12))
        if not wrong.any():
            return found
        found[wrong] = more(int(wrong.sum()))


def _classes(radii: Array, shares: Array, by: str, count: int, random: np.random.Generator) -> Array:
    weights = shares / radii**3 if by == "volume" else shares
    return np.asarray(random.choice(radii, count, p=weights / weights.sum()))
