"""Patterns of motion: positions step by step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.scenes.scene import check_dim, check_size
from vicinal.sim.arithmetic import Array
from vicinal.sim.draws import Draws

Corner = Sequence[float]


def headings(n: int, speed: npt.ArrayLike, *, dim: int = 3, seed: int = 0) -> Array:
    """Return velocities with random directions and speeds spread evenly from 0 to `speed`.

    Examples
    --------
    >>> bool(np.linalg.norm(vicinal.scenes.headings(100, 0.5, seed=1), axis=1).max() < 0.5)
    True
    """
    n, dim = check_size(n), check_dim(dim)
    draws = Draws(seed, stream=2)
    return draws.directions(n, dim) * (draws.uniform(n) * np.asarray(speed, dtype=np.float64))[:, None]


def shaking(n: int, speed: float, *, dim: int = 3, seed: int = 0) -> Array:
    """Return velocities whose components are evenly spread from −speed to speed.

    Examples
    --------
    >>> bool(abs(vicinal.scenes.shaking(100, 0.5, dim=2, seed=1)).max() <= 0.5)
    True
    """
    speed = _check.check_number(speed, "speed")
    return Draws(seed, stream=2).between(-speed, speed, check_size(n), check_dim(dim))


def drift(
    points: Array,
    velocities: Array,
    *,
    lower: Corner | None = None,
    upper: Corner | None = None,
    periodic: bool = False,
) -> Iterator[Array]:
    """Yield positions of bodies that move along straight lines; each step is a new array, and the first is `points`.

    Parameters
    ----------
    points, velocities
        Positions, and displacements per step.
    lower, upper
        Corners of a region. In a periodic one, bodies that leave enter on the other side; otherwise they are
        reflected. Without corners they are free.
    periodic
        Whether the region is periodic.

    Examples
    --------
    >>> path = vicinal.scenes.drift(np.array([[0.5, 0.5]]), np.array([[0.75, 0.0]]), lower=(0, 0), upper=(1, 1))
    >>> [next(path).tolist() for _ in range(3)]
    [[[0.5, 0.5]], [[0.75, 0.5]], [[0.0, 0.5]]]
    """
    at, velocity = np.array(points, dtype=np.float64), np.array(velocities, dtype=np.float64)
    if at.shape != velocity.shape:
        raise InputError(f"velocities must have the shape of points, {at.shape}, got {velocity.shape}")
    if (lower is None) != (upper is None):
        raise InputError("lower and upper must be given together, got one of them")
    if periodic and lower is None:
        raise InputError("periodic must be given with corners, got none; pass lower and upper")
    while True:
        yield at
        at = at + velocity
        if lower is None or upper is None:
            continue
        low, high = np.asarray(lower, dtype=np.float64), np.asarray(upper, dtype=np.float64)
        if periodic:
            at = at - np.floor((at - low) / (high - low)) * (high - low)
        else:
            out = (at < low) | (at > high)
            velocity = np.where(out, -velocity, velocity)
            at = np.clip(np.where(at < low, 2 * low - at, np.where(at > high, 2 * high - at, at)), low, high)


def jitter(points: Array, amount: npt.ArrayLike, *, seed: int = 0) -> Iterator[Array]:
    """Yield positions of bodies displaced at random about `points`, by up to ±amount along every axis.

    Examples
    --------
    >>> path = vicinal.scenes.jitter(np.zeros((4, 3)), 0.1, seed=1)
    >>> all(abs(next(path)).max() <= 0.1 for _ in range(5))
    True
    """
    home, far = np.array(points, dtype=np.float64), np.asarray(amount, dtype=np.float64)
    draws = Draws(seed, stream=3)
    while True:
        yield home + draws.between(-1.0, 1.0, *home.shape) * (far[:, None] if far.ndim == 1 else far)


def shear(points: Array, rate: float, *, lower: Corner, upper: Corner) -> Iterator[Array]:
    """Yield positions of layers that slide over each other: along x by `rate` × height in y, wrapped along x.

    Examples
    --------
    >>> path = vicinal.scenes.shear(np.array([[0.0, 1.0]]), 0.25, lower=(0, 0), upper=(1, 1))
    >>> [next(path)[0, 0].item() for _ in range(3)]
    [0.0, 0.25, 0.5]
    """
    at = np.array(points, dtype=np.float64)
    speed = _check.check_number(rate, "rate") * (at[:, 1] - float(lower[1]))
    edge = float(upper[0]) - float(lower[0])
    while True:
        yield at
        x = at[:, 0] + speed - float(lower[0])
        at = at.copy()
        at[:, 0] = float(lower[0]) + (x - np.floor(x / edge) * edge)
