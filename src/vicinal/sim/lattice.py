"""Spheres on a lattice in a region."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.draws import Draws
from vicinal.sim.packing import NOTHING, Box, Occupied, check_filling
from vicinal.sim.spaces import Space

Array = npt.NDArray[np.float64]

MOST_SITES = 50_000_000


def lattice(
    space: Space,
    radii: Array,
    draws: Draws,
    *,
    occupied: Occupied = NOTHING,
    box: Box = None,
    gap: float = 0.0,
    jitter: float = 0.5,
) -> Array:
    """Place spheres on the widest hexagonal close-packed lattice that has enough sites, lowest sites first.

    Parameters
    ----------
    space, radii, draws, occupied, box, gap
        As for `vicinal.sim.packing.pack`.
    jitter
        Random displacement of the sites, relative to the gap between neighbours.
    """
    if not len(radii):
        return np.zeros((0, 3))
    check_filling(space, radii)
    largest = float(radii.max()) + 0.5 * gap * float(radii.mean())
    occupied = occupied.near(space, largest, box)
    most = (math.sqrt(2) * space.volume / len(radii)) ** (1 / 3) * 1.5
    low, high = 2 * largest * (1 + 1e-9), max(most, 2 * largest * (1 + 1e-9))
    sites = _sites(space, low, largest, occupied, box)
    if len(sites) < len(radii):
        raise InputError(
            f"{len(radii):,} bodies must fit onto a lattice in the region, but it has {len(sites):,} sites; "
            'use fewer bodies, a larger region, or method = "random"'
        )
    spacing = low
    for _ in range(20):
        middle = 0.5 * (low + high)
        fitting = _sites(space, middle, largest, occupied, box)
        if len(fitting) >= len(radii):
            low, sites, spacing = middle, fitting, middle
        else:
            high = middle
    places = sites[: len(radii)]
    room = jitter * 0.5 * max(0.0, spacing - 2 * largest)
    # Each sphere stays in a ball around its site, so no two can overlap.
    moved = places + draws.directions(len(places), 3) * (room * np.cbrt(draws.uniform(len(places))))[:, None]
    good = space.fits(moved, radii)
    good[occupied.hit_by(moved, radii, box)] = False
    return np.where(good[:, None], moved, places)


def _sites(space: Space, spacing: float, radius: float, occupied: Occupied, box: Box) -> Array:
    """Return the sites at which a sphere of this radius fits, lowest first."""
    step = spacing * np.array([1.0, math.sqrt(3) / 2, math.sqrt(2 / 3)])
    counts = [int((high - low) / s) + 2 for low, high, s in zip(space.low, space.high, step, strict=True)]
    if math.prod(counts) > MOST_SITES:
        return np.zeros((0, 3))
    k, j, i = np.meshgrid(*(np.arange(count) for count in reversed(counts)), indexing="ij")
    x = i + 0.5 * ((j + k) % 2)
    y = (j + k % 2 / 3) * math.sqrt(3) / 2
    z = k * math.sqrt(2 / 3)
    points = space.low + radius + spacing * np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    # Start half a spacing from the ends of periodic axes, so that spheres do not overlap images of others.
    points = points[space.fits(points, np.full(len(points), radius))]
    for axis, length in enumerate(box or (None, None, None)):
        if length is not None:
            points = points[points[:, axis] <= points[:, axis].min(initial=math.inf) + length - spacing]
    return np.delete(points, occupied.hit_by(points, np.full(len(points), radius), box), axis=0)
