"""Axis-aligned cuboids at random in a periodic cube: the bodies of Schornbaum 2009."""

from __future__ import annotations

import math

import numpy as np

from vicinal.errors import InputError
from vicinal.scenes.scene import SampleScene, check_positive, check_size
from vicinal.sim.arithmetic import Array, cube_root
from vicinal.sim.draws import Draws


def cuboids(
    n: int,
    *,
    shape: tuple[float, float, float] = (1.0, 1.0, 1.0),
    turned: bool = False,
    spread: float = 1.0,
    pairs: float = 2.0,
    stretch: tuple[float, float, float] = (1.0, 1.0, 1.0),
    periodic: bool = True,
    seed: int = 0,
) -> SampleScene:
    """Spread cuboids evenly over a periodic cube whose size gives a required number of pairs per body.

    Parameters
    ----------
    n
        Number of bodies.
    shape
        Their edges.
    turned
        Whether the edges of each body are permuted at random, so that long bodies lie along all axes.
    spread
        Ratio of the largest to the smallest size; sizes are spread evenly between them.
    pairs
        Overlapping pairs per body, expected in a periodic cube.
    stretch
        Ratios of the edges of the region: (1024, 1, 1) is a long corridor of the same volume.
    periodic
        Whether the region is periodic.
    seed
        The same seed gives the same bodies.

    Examples
    --------
    >>> scene = vicinal.scenes.cuboids(20_000, spread=12, seed=1)
    >>> 1.8 < len(vicinal.pairs(**scene.bodies)[0]) / len(scene) < 2.2
    True
    """
    n = check_size(n)
    edges = np.broadcast_to(np.array(_check_three(shape, "shape")), (n, 3)).copy()
    spread = check_positive(spread, "spread")
    if spread < 1:
        raise InputError(f"spread, the ratio of the largest to the smallest size, must be at least 1, got {spread!r}")
    sizes = Draws(seed, stream=1)
    if turned:
        order = np.array([(0, 1, 2), (1, 2, 0), (2, 0, 1), (0, 2, 1), (2, 1, 0), (1, 0, 2)])
        edges = np.take_along_axis(edges, order[sizes.integers(6, n)], axis=1)
    edges *= sizes.between(1.0, spread, n)[:, None]
    volume = max(n, 1) * _mean_reach(edges) / (2 * check_positive(pairs, "pairs"))
    long = np.array(_check_three(stretch, "stretch"))
    edge = cube_root(volume / float(long[0] * long[1] * long[2])) if volume > 0 else 1.0
    upper = tuple((edge * long).tolist())
    points = Draws(seed).uniform(n, 3) * np.array(upper)
    return SampleScene(points=points, lower=(0.0,) * 3, upper=upper, edges=edges, periodic=periodic)


def _check_three(values: tuple[float, ...], name: str) -> list[float]:
    if len(values) != 3:
        raise InputError(f"{name} must have three numbers, got {values!r}")
    return [check_positive(value, name) for value in values]


def _mean_reach(edges: Array) -> float:
    """Return the mean of (ax + bx)(ay + by)(az + bz) over pairs of bodies: the volume in which they overlap.

    Multiplied out, it is a sum of products of means, so no loop over pairs is needed.
    """
    n = len(edges)
    total = 0.0
    for bits in range(8):
        mine = [axis for axis in range(3) if bits >> axis & 1]
        theirs = [axis for axis in range(3) if axis not in mine]
        total += _mean_product(edges, mine, n) * _mean_product(edges, theirs, n)
    return total


def _mean_product(edges: Array, axes: list[int], n: int) -> float:
    product = np.ones(n)
    for axis in axes:
        product = product * edges[:, axis]
    return math.fsum(product.tolist()) / n if n else 0.0
