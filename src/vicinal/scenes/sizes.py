"""Radii: lognormal, two sizes, a power law; and spheres of given radii at random."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.scenes.arithmetic import Array, exp, log, power, root_of, volume
from vicinal.scenes.draws import Draws
from vicinal.scenes.scene import Scene, check_dim, check_positive, check_size, cube


def lognormal(n: int, *, median: float = 1.0, sigma: float = 0.5, seed: int = 0) -> Array:
    """Draw radii whose logarithms are normal: most are alike, few are much larger.

    Examples
    --------
    >>> radii = vicinal.scenes.lognormal(10_001, median=2.0, sigma=0.3, seed=1)
    >>> bool(1.9 < np.median(radii) < 2.1 and 0.28 < np.log(radii).std() < 0.32)
    True
    """
    n, median = check_size(n), check_positive(median, "median")
    spread = _check.check_number(sigma, "sigma")
    if not 0 <= spread <= 5:
        raise InputError(f"sigma: {sigma!r} found; pass a number from 0 (all alike) to 5")
    return median * exp(spread * Draws(seed, stream=1).normal(n))


def bimodal(n: int, *, large: int, small_radius: float = 1.0, large_radius: float = 10.0, seed: int = 0) -> Array:
    """Draw two sizes: `large` of the n radii are the large one, anywhere among the others.

    Examples
    --------
    >>> np.unique(vicinal.scenes.bimodal(1000, large=3, seed=1), return_counts=True)
    (array([ 1., 10.]), array([997,   3]))
    """
    n = check_size(n)
    large = _check.check_integer(large, "large", least=0, most=n)
    radii = np.full(n, check_positive(small_radius, "small_radius"))
    radii[Draws(seed, stream=1).order(n)[:large]] = check_positive(large_radius, "large_radius")
    return radii


def power_law(n: int, *, spread: float, evenly: Literal["number", "volume"] = "number", seed: int = 0) -> Array:
    """Draw radii from 1 to `spread`, spread evenly over their logarithm.

    Evenly by number every octave has as many spheres; by volume it fills as much space, as grains often do.

    Examples
    --------
    >>> radii = vicinal.scenes.power_law(1000, spread=40, evenly="volume", seed=1)
    >>> bool((radii >= 1).all() and (radii <= 40).all() and np.median(radii) < 2)
    True
    """
    n, spread = check_size(n), check_positive(spread, "spread")
    if spread < 1:
        raise InputError(f"spread: {spread!r} found; pass the largest radius beside the smallest, at least 1")
    even = Draws(seed, stream=1).uniform(n)
    if evenly == "number":
        return exp(even * log([spread]))
    if evenly == "volume":
        # The density of radii falls as r⁻⁴; this is the inverse of its integral.
        return power(1 - even * (1 - 1 / (spread * spread * spread)), -1 / 3)
    raise InputError(f'evenly: {evenly!r} found; pass "number" or "volume"')


def spheres(radii: npt.ArrayLike, *, filling: float, dim: int = 3, periodic: bool = False, seed: int = 0) -> Scene:
    """Put spheres anywhere in a cube that they fill to this share; they may overlap. See `packed` for some that do not.

    Examples
    --------
    >>> scene = vicinal.scenes.spheres(vicinal.scenes.lognormal(1000, seed=1), filling=0.3, seed=1)
    >>> round(scene.filling, 9)
    0.3
    """
    sizes, dim = check_radii(radii), check_dim(dim)
    edge = root_of(volume(sizes, dim) / check_positive(filling, "filling"), dim) if len(sizes) else 1.0
    lower, upper = cube(edge, dim)
    points = Draws(seed).uniform(len(sizes), dim) * edge
    return Scene(points=points, lower=lower, upper=upper, radii=sizes, periodic=periodic)


def check_radii(radii: npt.ArrayLike) -> Array:
    """Check radii: one row of positive numbers."""
    sizes = np.array(_check.as_array(radii, "radii"), dtype=np.float64)
    if sizes.ndim != 1:
        raise InputError(f"radii: shape {sizes.shape} found; pass one radius per body, shape (n,)")
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise InputError("radii: some are not positive and finite; pass positive numbers")
    return sizes
