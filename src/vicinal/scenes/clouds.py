"""Points: evenly spread, in clusters, along a filament, in a sheet."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from vicinal.errors import InputError
from vicinal.scenes.scene import SampleScene, check_dim, check_positive, check_size, cube
from vicinal.sim.arithmetic import cube_root, lengths
from vicinal.sim.draws import Draws

CLUSTERS = 8  # one per octant
CLUSTERED_SHARE = 0.9
CLUSTERED_VOLUME = 0.01
TURN = 64
"""Bodies over which a filament keeps its direction."""


def uniform(
    n: int,
    *,
    edge: float = 1.0,
    dim: int = 3,
    neighbours: float | None = None,
    cutoff: float | None = None,
    radius: float | None = None,
    periodic: bool = False,
    seed: int = 0,
) -> SampleScene:
    """Spread points evenly at random over a cube, or over a square.

    Parameters
    ----------
    n
        Number of bodies.
    edge
        Edge of the cube.
    dim
        3, or 2 for a square.
    neighbours
        Mean number of neighbours, from which the cutoff follows; points near a face are taken into account.
    cutoff, radius
        Instead of `neighbours`: a cutoff, or one radius for all, which makes the bodies spheres that may overlap.
    periodic
        Whether the cube is periodic.
    seed
        The same seed gives the same points.

    Examples
    --------
    >>> scene = vicinal.scenes.uniform(5, edge=10.0, cutoff=1.0, seed=3)
    >>> scene.points.shape, scene.cutoff
    ((5, 3), 1.0)
    """
    n, dim, edge = check_size(n), check_dim(dim), check_positive(edge, "edge")
    if sum(given is not None for given in (neighbours, cutoff, radius)) > 1:
        raise InputError("neighbours must not be given together with cutoff or radius; pass one of the three")
    lower, upper = cube(edge, dim)
    points = Draws(seed).uniform(n, dim) * edge
    if neighbours is not None:
        share = _share_in_period if periodic else pairs_share
        cutoff = edge * solve(lambda r: (n - 1) * share(r, dim), check_positive(neighbours, "neighbours"), n)
    radii = None if radius is None else np.full(n, check_positive(radius, "radius"))
    return SampleScene(points=points, lower=lower, upper=upper, cutoff=cutoff, radii=radii, periodic=periodic)


def clustered(n: int, *, edge: float = 1.0, neighbours: float = 30.0, seed: int = 0) -> SampleScene:
    """Put 90 % of the points into eight small cubes that fill 1 % of the space, and the rest anywhere.

    Examples
    --------
    >>> scene = vicinal.scenes.clustered(10_000, neighbours=20, seed=1)
    >>> bool(18 < vicinal.count(**scene.bodies).mean() < 22)
    True
    """
    n, edge = check_size(n), check_positive(edge, "edge")
    draws = Draws(seed)
    inside = round(CLUSTERED_SHARE * n)
    side = cube_root(CLUSTERED_VOLUME / CLUSTERS)
    octants = np.stack(np.meshgrid(*[(0.0, 0.5)] * 3, indexing="ij"), axis=-1).reshape(CLUSTERS, 3)
    corners = octants + draws.uniform(CLUSTERS, 3) * (0.5 - side)
    points = draws.uniform(n, 3)
    points[:inside] = points[:inside] * side + corners[draws.integers(CLUSTERS, inside)]
    points = points[draws.order(n)] * edge

    def expected(r: float) -> float:
        ball = 4 / 3 * math.pi * r * r * r
        own = CLUSTERED_SHARE * n / CLUSTERS * pairs_share(min(r / side, 1.0), 3)
        sparse = (1 - CLUSTERED_SHARE) * n
        return (
            CLUSTERED_SHARE * own
            + 2 * CLUSTERED_SHARE * sparse * ball
            + (1 - CLUSTERED_SHARE) * sparse * pairs_share(r, 3)
        )

    lower, upper = cube(edge)
    cutoff = edge * solve(expected, check_positive(neighbours, "neighbours"), n)
    return SampleScene(points=points, lower=lower, upper=upper, cutoff=cutoff)


def filament(n: int, *, spacing: float = 1.0, turn: int = TURN, dim: int = 3, seed: int = 0) -> SampleScene:
    """Place spheres along a curve that turns at random, each touching the next; almost all of the space is empty.

    Parameters
    ----------
    n
        Number of bodies.
    spacing
        Distance from one sphere to the next along the curve. Radii are 0.6 of it.
    turn
        Approximate number of spheres over which the curve keeps its direction.
    dim, seed
        As for `uniform`.

    Examples
    --------
    >>> scene = vicinal.scenes.filament(100, seed=1)
    >>> i, j = vicinal.pairs(**scene.bodies)
    >>> int((abs(i - j) == 1).sum())
    99
    """
    n, dim, spacing = check_size(n), check_dim(dim), check_positive(spacing, "spacing")
    turn = check_size(turn, "turn", least=1)
    kicks = np.cumsum(Draws(seed).directions(n + turn, dim), axis=0)
    heading = kicks[turn:] - kicks[:n]
    heading /= np.maximum(lengths(heading), 1e-9)[:, None]
    points = np.cumsum(heading * spacing, axis=0)
    lower, upper = (tuple(face(points, axis=0).tolist()) if n else (0.0,) * dim for face in (np.min, np.max))
    return SampleScene(points=points, lower=lower, upper=upper, radii=np.full(n, 0.6 * spacing))


def sheet(n: int, *, neighbours: float = 10.0, flatness: float = 0.01, seed: int = 0) -> SampleScene:
    """Spread points over a thin layer in space.

    Parameters
    ----------
    n
        Number of bodies.
    neighbours
        Approximate number of neighbours per point; it holds for a flat layer without rim.
    flatness
        Thickness in cutoffs.
    seed
        The same seed gives the same points.

    Examples
    --------
    >>> scene = vicinal.scenes.sheet(10_000, seed=1)
    >>> bool(9 < vicinal.count(**scene.bodies).mean() < 11)
    True
    """
    n = check_size(n)
    cutoff = math.sqrt(check_positive(neighbours, "neighbours") / math.pi / max(n, 1))
    upper = (1.0, 1.0, cutoff * check_positive(flatness, "flatness"))
    points = Draws(seed).uniform(n, 3) * np.array(upper)
    return SampleScene(points=points, lower=(0.0,) * 3, upper=upper, cutoff=cutoff)


def pairs_share(t: float, dim: int) -> float:
    """Return the probability that two random points of the unit square or cube are within a distance `t` ≤ 1."""
    t = min(t, 1.0)
    if dim == 2:
        return t * t * (math.pi - t * (8 / 3 - t / 2))
    return t * t * t * (4 / 3 * math.pi - t * (1.5 * math.pi - t * (1.6 - t / 6)))


def _share_in_period(t: float, dim: int) -> float:
    return math.pi * t * t if dim == 2 else 4 / 3 * math.pi * t * t * t


def solve(function: Callable[[float], float], target: float, n: int) -> float:
    """Invert an increasing function on (0, 1] by bisection."""
    low, high = 0.0, 1.0
    if function(high) < target:
        raise InputError(
            f"neighbours must be fewer than {n} points can have, got {target:g}; pass fewer, or more points"
        )
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if function(middle) < target else (low, middle)
    return high
