"""Radii: lognormal, two sizes, a power law; and spheres of given radii at random."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.scenes.scene import SampleScene, check_dim, check_positive, check_size, cube
from vicinal.sim.arithmetic import Array, root_of, volume
from vicinal.sim.draws import Draws
from vicinal.sim.sizes import LogNormal, PowerLaw


def lognormal(n: int, *, median: float = 1.0, sigma: float = 0.5, seed: int = 0) -> Array:
    """Draw radii whose logarithms have a normal distribution: most are alike, a few are much larger.

    Examples
    --------
    >>> radii = vicinal.scenes.lognormal(10_001, median=2.0, sigma=0.3, seed=1)
    >>> bool(1.9 < np.median(radii) < 2.1 and 0.28 < np.log(radii).std() < 0.32)
    True
    """
    n, median = check_size(n), check_positive(median, "median")
    spread = _check.check_number(sigma, "sigma")
    if not 0 <= spread <= 5:
        raise InputError(f"sigma must be a number from 0 (all alike) to 5, got {sigma!r}")
    return LogNormal(median=median, deviation=spread).unbounded(n, Draws(seed, stream=1))


def bimodal(n: int, *, large: int, small_radius: float = 1.0, large_radius: float = 10.0, seed: int = 0) -> Array:
    """Return radii of two sizes: `large` of them, at random positions in the array, are the large one.

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
    """Draw radii from 1 to `spread` such that all octaves of radii have the same number or the same volume of spheres.

    Examples
    --------
    >>> radii = vicinal.scenes.power_law(1000, spread=40, evenly="volume", seed=1)
    >>> bool((radii >= 1).all() and (radii <= 40).all() and np.median(radii) < 2)
    True
    """
    n, spread = check_size(n), check_positive(spread, "spread")
    if spread < 1:
        raise InputError(
            f"spread must be at least 1, got {spread!r}; it is the ratio of the largest to the smallest radius"
        )
    if evenly not in ("number", "volume"):
        raise InputError(f'evenly must be "number" or "volume", got {evenly!r}')
    return PowerLaw(low=1.0, high=spread, by=evenly).draw(n, Draws(seed, stream=1))


def spheres(
    radii: npt.ArrayLike, *, filling: float, dim: int = 3, periodic: bool = False, seed: int = 0
) -> SampleScene:
    """Put spheres at random positions in a cube of which they fill a given part; they may overlap (see `packed`).

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
    return SampleScene(points=points, lower=lower, upper=upper, radii=sizes, periodic=periodic)


def check_radii(radii: npt.ArrayLike) -> Array:
    """Check radii: one row of positive numbers."""
    sizes = np.array(_check.as_array(radii, "radii"), dtype=np.float64)
    if sizes.ndim != 1:
        raise InputError(f"radii must have shape (n,), one per body, got shape {sizes.shape}")
    if not (np.isfinite(sizes).all() and (sizes > 0).all()):
        raise InputError(f"radii must be positive and finite, got {sizes[~(np.isfinite(sizes) & (sizes > 0))][0]:g}")
    return sizes
