"""Spheres that do not overlap, in a region: how bodies come into a simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.errors import InputError
from vicinal.sim.spaces import Space

Array = npt.NDArray[np.float64]
Box = tuple[float | None, ...] | None

TINY = np.finfo(float).tiny

ROUNDS = 30
"""Rounds of dropping spheres at random. What has found no place by then is pushed in."""

PUSHES = 800
"""Rounds of pushing spheres apart before a region counts as too full; 0.55 of its volume takes about 130."""

MEMORY = 0.9
"""Share of the last move that is made again: momentum saves five of six rounds."""


@dataclass(frozen=True)
class Occupied:
    """What is there already."""

    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    radii: Array = field(default_factory=lambda: np.zeros(0))

    def near(self, space: Space, reach: float, box: Box) -> Occupied:
        """Leave out what cannot meet a sphere in a region."""
        if box is not None or not len(self.points):
            return self
        far = self.radii[:, None] + reach
        keep = ((self.points >= space.low - far) & (self.points <= space.high + far)).all(axis=1)
        return Occupied(self.points[keep], self.radii[keep])


def drop(
    space: Space,
    radii: Array,
    random: np.random.Generator,
    *,
    there: Occupied | None = None,
    box: Box = None,
    rounds: int = ROUNDS,
) -> Array:
    """Place spheres at random where nothing is: random sequential addition, largest first.

    Parameters
    ----------
    space
        Where they shall be, as a whole.
    radii
        Their radii.
    random
        Source of chance.
    there
        What is there already.
    box
        Lengths of the periodic box.
    rounds
        How often each may try.

    Returns
    -------
    array
        Centres; NaN for spheres that found no place.
    """
    places = np.full((len(radii), 3), np.nan)
    there = Occupied() if there is None else there
    open_ = np.argsort(-radii, kind="stable")
    for _ in range(rounds):
        if not len(open_):
            break
        tried = space.sample(radii[open_], random)
        known = ~np.isnan(tried[:, 0])
        if not known.any():
            break
        free = known.copy()
        # Those that cannot be anywhere stand aside, where they disturb nobody.
        who = np.flatnonzero(known)
        fixed = [there.points, places[~np.isnan(places[:, 0])]]
        sizes = [there.radii, radii[~np.isnan(places[:, 0])]]
        old, old_radii = np.concatenate(fixed), np.concatenate(sizes)
        if len(old):
            hit, _ = vc.pairs(old, radii=old_radii, queries=tried[who], query_radii=radii[open_[who]], box=box)
            free[who[hit]] = False
        who = np.flatnonzero(free)
        i, j = vc.pairs(tried[who], radii=radii[open_[who]], box=box)
        free[who[np.maximum(i, j)]] = False
        places[open_[free]] = tried[free]
        open_ = open_[~free]
    return places


def pack(
    space: Space,
    radii: Array,
    random: np.random.Generator,
    *,
    there: Occupied | None = None,
    box: Box = None,
    gap: float = 0.0,
) -> Array:
    """Place all spheres in a region: at random while there is room, then by pushing each other aside.

    Dropping alone ends near a third of the volume; pushing goes on to about 0.6, a random close packing. If even that
    is not enough, an error says how far it came.

    Parameters
    ----------
    space, radii, random, there, box
        As for `drop`.
    gap
        Distance to keep between spheres, over their mean radius.

    Returns
    -------
    array
        Centres, one row per radius.

    Examples
    --------
    >>> from vicinal.sim.spaces import BoxSpace
    >>> radii = np.full(400, 0.1)
    >>> places = pack(BoxSpace(np.zeros(3), np.full(3, 1.5)), radii, np.random.default_rng(0))
    >>> len(vc.pairs(places, radii=radii)[0])
    0
    """
    if not len(radii):
        return np.zeros((0, 3))
    there = Occupied() if there is None else there
    large = radii * (1 + _margin(radii, space)) + 0.5 * gap * radii.mean()
    there = there.near(space, float(large.max()), box)
    if np.isnan(space.sample(radii[[radii.argmax()]], random)).any():
        raise InputError(
            f"region: no place for a sphere of radius {radii.max():g} found in it; "
            "use smaller bodies or a larger region"
        )
    places = drop(space, large, random, there=there, box=box)
    homeless = np.isnan(places[:, 0])
    if not homeless.any():
        return places
    places[homeless] = space.sample(large[homeless], random)
    still = np.isnan(places[:, 0])
    places[still] = space.sample(radii[still], random)
    return _push_apart(space, places, radii, large, there, box)


def _margin(radii: Array, space: Space) -> float:
    """Return by which share spheres are made larger while they push, so that the last bit of overlap need not go."""
    filled = float((4 / 3 * math.pi * radii**3).sum() / space.volume)
    # A quarter of the way to a random close packing; measured, more makes dense packings slower again.
    return max(0.002, 0.25 * ((0.64 / filled) ** (1 / 3) - 1)) if filled > 0.2 else 0.0


def _push_apart(space: Space, places: Array, radii: Array, large: Array, there: Occupied, box: Box) -> Array:
    """Move spheres away from those they overlap until none does."""
    last = np.zeros_like(places)
    worst = math.inf
    for _ in range(PUSHES):
        move, worst = _pushes(places, radii, large, there, box)
        if worst <= 0 and space.fits(places, radii).all():
            return places
        # Momentum that works against the pushes has gone too far.
        last = 0.5 * move + (MEMORY * last if (last * move).sum() > 0 else 0.0)
        length = np.linalg.norm(last, axis=1)
        # A step larger than the sphere would let it pass through others.
        step = np.minimum(1.0, 0.5 * large / np.maximum(length, TINY))
        moved = space.settle(places + last * step[:, None], radii, places)
        last, places = moved - places, moved
    filled = float((4 / 3 * math.pi * radii**3).sum() / space.volume)
    raise InputError(
        f"region: {len(radii)} bodies (with their bounding spheres {filled:.2f} of its volume) still overlap by "
        f"{worst / radii.mean():.2g} radii after {PUSHES} rounds; use fewer or a larger region"
    )


def _pushes(places: Array, radii: Array, large: Array, there: Occupied, box: Box) -> tuple[Array, float]:
    """Return how the others push each sphere, and by how much two spheres really overlap at most."""
    i, j, D = vc.pairs(places, radii=large, box=box, want="ijD")
    distance = np.linalg.norm(D, axis=1)
    push = D * ((large[i] + large[j]) / np.maximum(distance, TINY) - 1)[:, None]
    worst = float((radii[i] + radii[j] - distance).max(initial=0.0))
    # The smaller gives way.
    share = (large[j] / (large[i] + large[j]))[:, None]
    move = _sums(j, push * (1 - share), len(places)) - _sums(i, push * share, len(places))
    if len(there.points):
        k, j, D = vc.pairs(places, radii=large, queries=there.points, query_radii=there.radii, box=box, want="ijD")
        distance = np.linalg.norm(D, axis=1)
        push = D * ((there.radii[k] + large[j]) / np.maximum(distance, TINY) - 1)[:, None]
        move += _sums(j, push, len(places))
        worst = max(worst, float((there.radii[k] + radii[j] - distance).max(initial=0.0)))
    return move, worst


def _sums(rows: npt.NDArray[np.integer[Any]], values: Array, count: int) -> Array:
    """Add up the values of each row."""
    return np.stack([np.bincount(rows, values[:, axis], count) for axis in range(3)], axis=1)


def lattice(
    space: Space,
    radii: Array,
    random: np.random.Generator,
    *,
    there: Occupied | None = None,
    box: Box = None,
    gap: float = 0.0,
    jitter: float = 0.5,
) -> Array:
    """Place spheres on a hexagonal close-packed grid, as wide as their number allows, lowest first.

    Parameters
    ----------
    space, radii, random, there, box, gap
        As for `pack`.
    jitter
        How much of the room between neighbours is used for disorder.
    """
    if not len(radii):
        return np.zeros((0, 3))
    there = Occupied() if there is None else there
    largest = float(radii.max()) + 0.5 * gap * float(radii.mean())
    there = there.near(space, largest, box)
    most = (math.sqrt(2) * space.volume / len(radii)) ** (1 / 3) * 1.5
    low, high = 2 * largest * (1 + 1e-9), max(most, 2 * largest * (1 + 1e-9))
    sites = _sites(space, low, largest, there, box)
    if len(sites) < len(radii):
        raise InputError(
            f"region: a lattice has {len(sites)} places in it, but {len(radii)} bodies shall come; "
            "use fewer, a larger region, or the method random"
        )
    spacing = low
    for _ in range(20):
        middle = 0.5 * (low + high)
        found = _sites(space, middle, largest, there, box)
        if len(found) >= len(radii):
            low, sites, spacing = middle, found, middle
        else:
            high = middle
    places = sites[: len(radii)]
    room = jitter * 0.5 * max(0.0, spacing - 2 * largest)
    # Moved within a ball around the site, so that no two can meet.
    direction = random.normal(size=places.shape)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    moved = places + direction * (room * np.cbrt(random.random(len(places))))[:, None]
    good = space.fits(moved, radii) & ~_blocked(moved, radii, there, box)
    return np.where(good[:, None], moved, places)


def _sites(space: Space, spacing: float, radius: float, there: Occupied, box: Box) -> Array:
    """Return the points of a grid where a sphere of this radius has room, lowest first."""
    step = spacing * np.array([1.0, math.sqrt(3) / 2, math.sqrt(2 / 3)])
    counts = [int((high - low) / s) + 2 for low, high, s in zip(space.low, space.high, step, strict=True)]
    if math.prod(counts) > 50_000_000:
        return np.zeros((0, 3))
    k, j, i = np.meshgrid(*(np.arange(count) for count in reversed(counts)), indexing="ij")
    x = i + 0.5 * ((j + k) % 2)
    y = (j + k % 2 / 3) * math.sqrt(3) / 2
    z = k * math.sqrt(2 / 3)
    points = space.low + radius + spacing * np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    # Half a distance from the ends of periodic axes, or neighbours across them would overlap.
    points = points[space.fits(points, np.full(len(points), radius))]
    for axis, length in enumerate(box or (None, None, None)):
        if length is not None:
            points = points[points[:, axis] <= points[:, axis].min(initial=math.inf) + length - spacing]
    return points[~_blocked(points, np.full(len(points), radius), there, box)]


def _blocked(points: Array, radii: Array, there: Occupied, box: Box) -> npt.NDArray[np.bool_]:
    blocked = np.zeros(len(points), bool)
    if len(points) and len(there.points):
        hit, _ = vc.pairs(there.points, radii=there.radii, queries=points, query_radii=radii, box=box)
        blocked[hit] = True
    return blocked
