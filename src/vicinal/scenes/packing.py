"""Spheres that fill much of the space and do not overlap."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.scenes.arithmetic import Array, root_of, squares, volume
from vicinal.scenes.draws import Draws
from vicinal.scenes.scene import Scene, check_dim, check_positive, cube
from vicinal.scenes.sizes import check_radii
from vicinal.structures import HashGrid

MOST_ROUNDS = 3000
# Spheres are pushed apart a little farther than they must be: exact contact would be reached only in the limit.
MARGIN = 1e-3
# Share of an overlap that is undone in a round, and of the last round's motion that goes on. With these, equal spheres
# at a filling of 0.6 come apart within 200 rounds; without the second, in 1500.
PUSH, MOMENTUM = 0.3, 0.9


def packed(radii: npt.ArrayLike, *, filling: float, dim: int = 3, periodic: bool = False, seed: int = 0) -> Scene:
    """Pack spheres into a cube that they fill to this share, so that none overlap and none sticks out.

    They start at random, and pairs that overlap, which a search finds, push each other apart until there are none. That
    takes time in proportion to their number, the longer the fuller. Equal spheres reach 0.6 in a periodic cube, and
    0.55 between walls, which leave gaps, if there are a thousand (random packings end at 0.64). Discs reach 0.8.

    Parameters
    ----------
    radii
        One per sphere; see `lognormal`, `bimodal`, `power_law`.
    filling
        Volume of the spheres beside that of the cube.
    dim
        3, or 2 for discs in a square.
    periodic
        Whether the cube is periodic; else spheres are within it as a whole.
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
        raise InputError(f"filling: {filling!r} found; spheres that do not overlap fill less than all: pass up to 0.6")
    edge = root_of(volume(sizes, dim) / share, dim) if len(sizes) else 1.0
    lower, upper = cube(edge, dim)
    if len(sizes) and 2 * float(sizes.max()) * (1 + MARGIN) > edge:
        raise InputError(
            f"radii: the largest, {float(sizes.max()):g}, does not fit into a cube of edge {edge:g}; "
            "pass more spheres or a lower filling"
        )
    points = Draws(seed).between(sizes[:, None], edge - sizes[:, None], len(sizes), dim)
    if not _push_apart(points, sizes, edge, periodic=periodic):
        raise InputError(
            f"filling: {filling!r} was not reached in {MOST_ROUNDS} rounds; pass less, such as {share * 0.95:.2f}"
        )
    return Scene(points=points, lower=lower, upper=upper, radii=sizes, periodic=periodic)


def _push_apart(points: Array, radii: Array, edge: float, *, periodic: bool) -> bool:
    """Move spheres in place until none overlap; return whether that was reached.

    Pairs come in canonical order and are added up in that order, so that the result does not depend on the machine.
    """
    if len(points) < 2:
        return True
    wide = radii * (1 + MARGIN)
    box = edge if periodic else None
    index = HashGrid(points, radii=wide, box=box)
    motion = np.zeros_like(points)
    for _ in range(MOST_ROUNDS):
        index.update(points, radii=wide)
        i, j, d, D = index.pairs(want="ijdD", sort=True)
        reach = radii[i] + radii[j]
        # As the exact test does it, so that the promise holds for every search.
        if not (squares(D) <= reach * reach).any():
            return True
        push = PUSH * 0.5 * (wide[i] + wide[j] - d)
        # Two in the same place, as in a corner, have no direction away from each other: they take any.
        together = np.flatnonzero(d == 0)
        D[together, (i + j)[together] % points.shape[1]] = d[together] = 1.0
        push /= d
        # Large spheres give way less.
        yielding = radii[j] / reach
        for axis in range(points.shape[1]):
            away = push * D[:, axis] * 2
            step = np.bincount(j, away * (1 - yielding), len(points)) - np.bincount(i, away * yielding, len(points))
            motion[:, axis] = MOMENTUM * motion[:, axis] + step
        if periodic:
            points += motion
            points -= np.floor(points / edge) * edge
        else:
            # Walls throw back what would leave: where they stopped it, a crowd at a wall would stay in one plane for
            # ever, for nothing in a plane pushes out of it.
            low, high = radii[:, None], edge - radii[:, None]
            there = points + motion
            back = np.where(there < low, 2 * low - there, np.where(there > high, 2 * high - there, there))
            motion = np.where(back == there, motion, -motion)
            points[:] = np.clip(back, low, high)
    return False
