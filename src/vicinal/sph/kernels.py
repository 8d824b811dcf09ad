"""Smoothing kernels as functions of the distance, for probes and pictures. The loops over pairs have their own code."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


def _wendland_c2(q: Array) -> Array:
    return np.asarray((1 - q / 2) ** 4 * (1 + 2 * q))


def _wendland_c4(q: Array) -> Array:
    return np.asarray((1 - q / 2) ** 6 * (1 + 3 * q + 35 / 12 * q**2))


def _cubic(q: Array) -> Array:
    return np.where(q < 1, 1 - 1.5 * q**2 + 0.75 * q**3, 0.25 * (2 - q) ** 3)


def _quintic(q: Array) -> Array:
    def power(end: float) -> Array:
        return np.asarray(np.maximum(end - q, 0.0) ** 5)

    return power(3) - 6 * power(2) + 15 * power(1)


@dataclass(frozen=True)
class _Shape:
    support: float
    scales: tuple[float, float]
    function: Callable[[Array], Array]


_SHAPES: Mapping[str, _Shape] = {
    "wendland_c2": _Shape(2, (7 / (4 * np.pi), 21 / (16 * np.pi)), _wendland_c2),
    "wendland_c4": _Shape(2, (9 / (4 * np.pi), 495 / (256 * np.pi)), _wendland_c4),
    "quintic": _Shape(3, (7 / (478 * np.pi), 1 / (120 * np.pi)), _quintic),
    "cubic": _Shape(2, (10 / (7 * np.pi), 1 / np.pi), _cubic),
}
KERNELS = tuple(_SHAPES)
"""Names of the kernels."""


@dataclass(frozen=True)
class SmoothingKernel:
    """A smoothing kernel.

    Parameters
    ----------
    name
        One of `KERNELS`.
    length
        Smoothing length.
    dim
        2 or 3.

    Examples
    --------
    >>> kernel = SmoothingKernel("wendland_c2", 0.1, 2)
    >>> kernel.support
    0.2
    >>> kernel([0.0, 0.1, 0.2]).round(3).tolist()
    [55.704, 10.445, 0.0]
    """

    name: str
    length: float
    dim: int

    @property
    def support(self) -> float:
        """Distance from which on the kernel is 0."""
        return _SHAPES[self.name].support * self.length

    def __call__(self, distance: npt.ArrayLike) -> Array:
        """Return the kernel at some distances."""
        shape = _SHAPES[self.name]
        q = np.asarray(distance, dtype=np.float64) / self.length
        scale = shape.scales[self.dim - 2] / self.length**self.dim
        return np.where(q < shape.support, scale * shape.function(np.minimum(q, shape.support)), 0.0)
