"""Spheres that fill much of the space and do not overlap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.scenes.scene import SampleScene, check_dim, check_positive, cube
from vicinal.scenes.sizes import check_radii
from vicinal.sim import packing
from vicinal.sim.arithmetic import root_of, volume
from vicinal.sim.draws import Draws
from vicinal.sim.spaces import BoxSpace

MOST_ROUNDS = 3000
"""Rounds of pushing spheres apart before the filling counts as unreachable."""


def packed(radii: npt.ArrayLike, *, filling: float, dim: int = 3, periodic: bool = False, seed: int = 0) -> SampleScene:
    """Pack spheres into a cube such that they fill a given part of it, none overlap, and all are inside.

    They start at random positions, and pairs that overlap push each other apart until none overlaps. The time is
    proportional to their number and grows with the filling. A thousand equal spheres reach 0.6 in a periodic cube and
    0.55 between walls, which leave gaps (random packings end at 0.64). Discs reach 0.8.

    Parameters
    ----------
    radii
        One per sphere; see `lognormal`, `bimodal`, `power_law`.
    filling
        Volume of the spheres divided by that of the cube.
    dim
        3, or 2 for discs in a square.
    periodic
        Whether the cube is periodic; if not, spheres lie entirely inside.
    seed
        The same seed gives the same spheres.

    Examples
    --------
    >>> scene = vicinal.scenes.packed(np.full(500, 0.5), filling=0.5, seed=1)
    >>> round(scene.filling, 9), len(vicinal.pairs(**scene.bodies)[0])
    (0.5, 0)
    """
    sizes, dim = check_radii(radii), check_dim(dim)
    share = check_positive(filling, "filling")
    if share >= 1:
        raise InputError(f"filling must be below 1, got {filling!r}; random packings of spheres reach about 0.6")
    edge = root_of(volume(sizes, dim) / share, dim) if len(sizes) else 1.0
    lower, upper = cube(edge, dim)
    if len(sizes) and 2 * float(sizes.max()) * (1 + packing.MARGIN) > edge:
        raise InputError(
            f"radii must be at most half the edge of the cube, {edge / 2:g}, got {float(sizes.max()):g}; "
            "pass more spheres or a lower filling"
        )
    points = Draws(seed).between(sizes[:, None], edge - sizes[:, None], len(sizes), dim)
    box = (edge,) * dim if periodic else None
    space = BoxSpace(np.array(lower), np.array(upper), box)
    if len(points) > 1 and packing.push_apart(points, sizes, space, box=box, rounds=MOST_ROUNDS) > 0:
        raise InputError(
            f"filling = {filling!r} was not reached in {MOST_ROUNDS} rounds; pass less, such as {share * 0.95:.2f}"
        )
    return SampleScene(points=points, lower=lower, upper=upper, radii=sizes, periodic=periodic)
