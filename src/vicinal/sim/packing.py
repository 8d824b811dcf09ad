"""Placement of spheres without overlap in a region, at the start and during a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.errors import InputError
from vicinal.sim.arithmetic import squares
from vicinal.sim.draws import Draws
from vicinal.sim.spaces import Space

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.integer]
Box = tuple[float | None, ...] | None

DROP_ROUNDS = 30
"""Rounds of drawing random positions. Spheres without a position after that are placed by pushing."""

PUSH_ROUNDS = 1000
"""Rounds of pushing spheres apart before a region counts as too full. A filling of 0.55 takes about 150 rounds."""

# Fraction of an overlap that a round removes, and fraction of the last round's motion that is repeated (momentum). With
# both, equal spheres at a filling of 0.6 separate within 200 rounds; without momentum, in 1500.
PUSH, MOMENTUM = 0.3, 0.9

MARGIN = 1e-3
"""Additional distance, relative to the radius, by which spheres push; without it they only converge to contact."""

MOST_FILLING = 0.74, 0.9
"""Largest accepted filling: for spheres of nearly one size (no packing is denser), and for other sizes."""


@dataclass(frozen=True)
class Occupied:
    """Spheres that are already in place."""

    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    radii: Array = field(default_factory=lambda: np.zeros(0))

    def near(self, space: Space, reach: float, box: Box) -> Occupied:
        """Return the spheres without those that cannot overlap a sphere in a region."""
        if box is not None or not len(self.points):
            return self
        far = self.radii[:, None] + reach
        keep = ((self.points >= space.low - far) & (self.points <= space.high + far)).all(axis=1)
        return Occupied(self.points[keep], self.radii[keep])

    def hit_by(self, points: Array, radii: Array, box: Box) -> Rows:
        """Return the rows of the given spheres that overlap these ones."""
        if not len(self.points) or not len(points):
            return np.zeros(0, np.int32)
        return vc.pairs(self.points, radii=self.radii, queries=points, query_radii=radii, box=box)[0]


NOTHING = Occupied()


def redraw(
    points: Array,
    radii: Array,
    sample: Callable[[Rows], Array],
    *,
    occupied: Occupied = NOTHING,
    box: Box = None,
    rounds: int = DROP_ROUNDS,
) -> Rows:
    """Draw new positions, in place, for spheres that overlap others: random sequential addition in rounds.

    Of two spheres that overlap the later one moves, so large spheres should come first.

    Parameters
    ----------
    points, radii
        The spheres; NaN for a sphere without a position.
    sample
        Returns new positions for given rows.
    occupied
        Spheres that stay where they are.
    box
        Lengths of the periodic box.
    rounds
        Number of times that each sphere may be drawn again.

    Returns
    -------
    rows
        Rows of spheres that still overlap an earlier one or have no position.
    """
    for turn in range(rounds + 1):
        moves = np.isnan(points[:, 0])
        placed = np.flatnonzero(~moves)
        i, j = vc.pairs(points[placed], radii=radii[placed], box=box)
        moves[placed[np.maximum(i, j)]] = True
        moves[placed[occupied.hit_by(points[placed], radii[placed], box)]] = True
        again = np.flatnonzero(moves)
        if not len(again) or turn == rounds:
            break
        points[again] = sample(again)
    return again


def drop(
    space: Space,
    radii: Array,
    draws: Draws,
    *,
    occupied: Occupied = NOTHING,
    box: Box = None,
    rounds: int = DROP_ROUNDS,
) -> Array:
    """Place spheres at random in the free space, largest first.

    Parameters
    ----------
    space
        The region that contains each sphere as a whole.
    radii
        Radii of the spheres.
    draws
        Source of random numbers.
    occupied, box, rounds
        As for `redraw`.

    Returns
    -------
    array
        Centres; NaN for spheres that were not placed.
    """
    order = np.argsort(-radii, kind="stable")
    sizes = radii[order]
    points = space.sample(sizes, draws)
    left = redraw(
        points, sizes, lambda rows: space.sample(sizes[rows], draws), occupied=occupied, box=box, rounds=rounds
    )
    points[left] = np.nan
    places = np.empty_like(points)
    places[order] = points
    return places


def push_apart(
    points: Array,
    radii: Array,
    space: Space,
    *,
    apart: Array | None = None,
    wide: Array | None = None,
    occupied: Occupied = NOTHING,
    box: Box = None,
    rounds: int | None = None,
) -> float:
    """Move spheres, in place, until none overlap: overlapping pairs push each other apart, with momentum.

    Contributions of pairs are added in canonical order, so the result does not depend on the machine.

    Parameters
    ----------
    points, radii
        The spheres.
    space
        The region that contains each sphere as a whole.
    apart
        Radii that must not overlap in the end; `radii` by default. Larger ones keep a distance between spheres.
    wide
        Radii up to which spheres push; slightly larger than `apart` by default.
    occupied, box, rounds
        As for `redraw`.

    Returns
    -------
    overlap
        Largest remaining overlap; 0 if there is none.
    """
    worst = 0.0
    apart = radii if apart is None else apart
    wide = apart * (1 + MARGIN) if wide is None else wide
    index = vc.HashGrid(points, radii=wide, box=box)
    motion = np.zeros_like(points)
    for _ in range(PUSH_ROUNDS if rounds is None else rounds):
        index.update(points, radii=wide)
        i, j, d, D = index.pairs(want="ijdD", sort=True)
        reach = apart[i] + apart[j]
        # Evaluated like the exact test, so that no search reports an overlap.
        overlapping = squares(D) <= reach * reach
        worst = float((reach - d)[overlapping].max(initial=0.0)) if overlapping.any() else 0.0
        # The larger sphere moves less.
        step = _pushes(len(points), (i, j), D, wide[i] + wide[j] - d, d, apart[j] / reach)
        if len(occupied.points):
            beside, more = _pushes_of(occupied, points, apart, wide, box)
            step, worst = step + beside, max(worst, more)
        if worst == 0 and not overlapping.any() and space.fits(points, radii).all():
            return 0.0
        motion = MOMENTUM * motion + step
        points[...], motion = space.bounce(points, motion, radii)
    return max(worst, np.finfo(float).tiny)


def _pushes(count: int, rows: tuple[Rows, Rows], D: Array, overlap: Array, d: Array, share: Array) -> Array:
    """Return the displacement of each sphere: the first of a pair moves by `share` of the overlap."""
    i, j = rows
    push = PUSH * 0.5 * overlap
    # The direction between two spheres at the same position is undefined, so an arbitrary one is used.
    together = np.flatnonzero(d == 0)
    D[together, (i + j)[together] % D.shape[1]] = d[together] = 1.0
    push /= d
    step = np.empty((count, D.shape[1]))
    for axis in range(D.shape[1]):
        away = push * D[:, axis] * 2
        step[:, axis] = np.bincount(j, away * (1 - share), count) - np.bincount(i, away * share, count)
    return step


def _pushes_of(occupied: Occupied, points: Array, radii: Array, wide: Array, box: Box) -> tuple[Array, float]:
    """Return the displacement of each sphere by the fixed spheres, and the largest overlap with them."""
    k, j, d, D = vc.pairs(
        points, radii=wide, queries=occupied.points, query_radii=occupied.radii, box=box, want="ijdD", sort=True
    )
    overlap = occupied.radii[k] + wide[j] - d
    worst = float((occupied.radii[k] + radii[j] - d).max(initial=0.0))
    return _pushes(len(points), (np.zeros_like(j), j), D, overlap, d, np.zeros(len(j))), worst


def pack(
    space: Space,
    radii: Array,
    draws: Draws,
    *,
    occupied: Occupied = NOTHING,
    box: Box = None,
    gap: float = 0.0,
) -> Array:
    """Place all spheres in a region: at random as long as there is room, then by pushing them apart.

    Random positions reach about a third of the volume, pushing about 0.6, which is a random close packing.

    Parameters
    ----------
    space, radii, draws, occupied, box
        As for `drop`.
    gap
        Distance to keep between spheres, relative to their mean radius.

    Returns
    -------
    array
        Centres, one row per radius.

    Examples
    --------
    >>> from vicinal.sim.spaces import BoxSpace
    >>> radii = np.full(400, 0.1)
    >>> places = pack(BoxSpace(np.zeros(3), np.full(3, 1.5)), radii, Draws(1))
    >>> len(vc.pairs(places, radii=radii)[0])
    0
    """
    if not len(radii):
        return np.zeros((0, 3))
    part = check_filling(space, radii)
    if np.isnan(space.sample(radii[[radii.argmax()]], draws)).any():
        raise InputError(
            f"a sphere of radius {radii.max():g} does not fit into the region; use smaller bodies or a larger region"
        )
    half_gap = 0.5 * gap * float(radii.mean())
    wide = radii * (1 + _margin(part)) + half_gap
    occupied = occupied.near(space, float(wide.max()), box)
    places = drop(space, wide, draws, occupied=occupied, box=box)
    if not np.isnan(places).any():
        return places
    for sizes in (wide, radii):
        open_ = np.isnan(places[:, 0])
        places[open_] = space.sample(sizes[open_], draws)
    overlap = push_apart(places, radii, space, apart=radii + half_gap, wide=wide, occupied=occupied, box=box)
    if overlap > 0:
        raise InputError(
            f"{len(radii):,} bodies must fit into the region without overlap, but their bounding spheres have "
            f"{part:.2f} of its volume and still overlap by {overlap / radii.mean():.2g} radii after {PUSH_ROUNDS} "
            "rounds of pushing; use fewer bodies or a larger region"
        )
    return places


def check_filling(space: Space, radii: Array) -> float:
    """Return the filling of a region; raise an error if no packing reaches it."""
    volume = float((4 / 3 * math.pi * radii**3).sum())
    part = volume / space.volume
    most = MOST_FILLING[bool(radii.max() > 1.5 * radii.min())]
    if part > most:
        raise overfull(len(radii), volume, space)
    return part


def overfull(count: int, volume: float, space: Space) -> InputError:
    """Return the error for bodies that cannot fit into a region."""
    return InputError(
        f"{count:,} bodies must fit into the region without overlap, but their bounding spheres have at least "
        f"{volume / space.volume:.3g} times its volume ({volume:.3g} against {space.volume:.3g} m³); random packings "
        "reach about 0.6, so use fewer or smaller bodies, or a larger region"
    )


def _margin(part: float) -> float:
    """Return the enlargement of spheres during placement, relative to their radius."""
    # A quarter of the way to a random close packing. Measurements showed that more makes dense packings slower.
    return max(0.002, 0.25 * ((0.64 / part) ** (1 / 3) - 1)) if part > 0.2 else MARGIN
