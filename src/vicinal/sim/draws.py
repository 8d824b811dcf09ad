"""Random numbers that do not depend on the machine or the version of NumPy.

NumPy guarantees the raw bits of PCG64, but not the numbers that its generators derive from them. Only the raw bits are
used here.
"""

from __future__ import annotations

import math
from typing import Self

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.sim.arithmetic import lengths, log

Array = npt.NDArray[np.float64]
MOST_SEED = 2**63 - 1


class Draws:
    """A seeded stream of numbers.

    Parameters
    ----------
    seed
        Integer; the same seed gives the same numbers on every machine.
    stream
        Number of the stream; streams are independent of each other.

    Examples
    --------
    >>> Draws(7).uniform(3).tolist()
    [0.6250954..., 0.8972138..., 0.7756856...]
    """

    def __init__(self, seed: int, stream: int = 0) -> None:
        seed = _check.check_integer(seed, "seed", least=0, most=MOST_SEED)
        self._bits: np.random.BitGenerator = np.random.PCG64([seed, stream] if stream else seed)

    @classmethod
    def of(cls, bits: np.random.BitGenerator) -> Self:
        """Draw from an existing bit generator, such as that of a simulation."""
        draws = cls.__new__(cls)
        draws._bits = bits  # noqa: SLF001 - of its own class
        return draws

    def uniform(self, *shape: int) -> Array:
        """Return uniform numbers in [0, 1), multiples of 2⁻⁵³."""
        raw = self._bits.random_raw(math.prod(shape))
        return ((raw >> np.uint64(11)).astype(np.float64) * 2.0**-53).reshape(shape)

    def between(self, lower: npt.ArrayLike, upper: npt.ArrayLike, *shape: int) -> Array:
        """Return uniform numbers between bounds, which may be arrays that broadcast to the shape."""
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        return low + self.uniform(*shape) * (high - low)

    def integers(self, below: int, size: int) -> npt.NDArray[np.int64]:
        """Return uniform integers from 0 up to but not including a bound."""
        return (self.uniform(size) * below).astype(np.int64)

    def choice(self, weights: npt.ArrayLike, size: int) -> npt.NDArray[np.int64]:
        """Return indices into a list of weights, drawn in proportion to the weights.

        Examples
        --------
        >>> Draws(1).choice([3, 0, 1], 1000).tolist().count(1)
        0
        """
        total = np.cumsum(np.asarray(weights, dtype=np.float64))
        return np.asarray(np.searchsorted(total, self.uniform(size) * total[-1], side="right"), dtype=np.int64)

    def order(self, size: int) -> npt.NDArray[np.int64]:
        """Return the numbers below a bound in random order."""
        return np.argsort(self._bits.random_raw(size), kind="stable")

    def normal(self, size: int) -> Array:
        """Return numbers of the normal distribution, by Marsaglia's polar method."""
        parts: list[Array] = []
        missing = size
        while missing > 0:
            pair = self.between(-1.0, 1.0, missing + 16, 2)
            square = pair[:, 0] * pair[:, 0] + pair[:, 1] * pair[:, 1]
            inside = (square > 0) & (square < 1)
            pair, square = pair[inside], square[inside]
            values = pair * np.sqrt(-2 * log(square) / square)[:, None]
            parts.append(values.reshape(-1))
            missing -= values.size
        return np.concatenate([np.empty(0), *parts])[:size]

    def directions(self, size: int, dim: int) -> Array:
        """Return unit vectors, uniformly distributed over all directions."""
        parts: list[Array] = []
        missing = size
        while missing > 0:
            vectors = self.between(-1.0, 1.0, 2 * missing + 16, dim)
            length = lengths(vectors)
            inside = (length > 1e-3) & (length <= 1)
            parts.append(vectors[inside] / length[inside][:, None])
            missing -= len(parts[-1])
        return np.concatenate([np.empty((0, dim)), *parts])[:size]
