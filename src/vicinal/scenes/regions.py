"""Spheres that do not overlap, in boxes within a box: crowded here, empty there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vicinal.errors import InputError
from vicinal.scenes.scene import Scene, check_positive, check_size, cube
from vicinal.sim.draws import Draws
from vicinal.sim.packing import redraw

MOST_ROUNDS = 500


@dataclass(frozen=True)
class Region:
    """So many spheres of one radius between two corners.

    Examples
    --------
    >>> vicinal.scenes.Region(10, 0.5, (0, 0, 0), (5, 5, 5)).bodies
    10
    """

    bodies: int
    radius: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]


def boxes_in_box(
    regions: Sequence[Region],
    *,
    lower: tuple[float, ...] | None = None,
    upper: tuple[float, ...] | None = None,
    overlap: bool = False,
    seed: int = 0,
) -> Scene:
    """Spread the spheres of each region evenly over it, as a whole within its corners.

    Who overlaps an earlier sphere is drawn again, so regions of large spheres come first. Pairs that overlap are found
    by a search, so this takes time in proportion to the number of spheres. It works up to a filling of about 0.25;
    `packed` fills more.

    Parameters
    ----------
    regions
        Which spheres are where. Regions may overlap.
    lower, upper
        Corners of the whole box; that around all regions if left out.
    overlap
        Whether spheres may overlap; then nobody is drawn again.
    seed
        The same seed gives the same spheres.

    Examples
    --------
    >>> from vicinal.scenes import Region, boxes_in_box
    >>> regions = [Region(1, 4.0, (0, 0, 0), (20, 20, 20)), Region(500, 0.5, (0, 0, 0), (10, 10, 20))]
    >>> scene = boxes_in_box(regions, seed=1)
    >>> len(scene), len(vicinal.pairs(**scene.bodies)[0])
    (501, 0)
    """
    groups = [check_region(region, number) for number, region in enumerate(regions)]
    if not groups:
        raise InputError("regions: none found; pass at least one Region")
    sizes = [region.bodies for region in groups]
    radii = np.repeat([region.radius for region in groups], sizes)
    low = np.repeat(np.array([region.lower for region in groups]), sizes, axis=0) + radii[:, None]
    high = np.repeat(np.array([region.upper for region in groups]), sizes, axis=0) - radii[:, None]
    draws = Draws(seed)
    points = draws.between(low, high, *low.shape)
    if not overlap:
        left = redraw(
            points,
            radii,
            lambda rows: draws.between(low[rows], high[rows], len(rows), low.shape[1]),
            rounds=MOST_ROUNDS,
        )
        if len(left):
            raise InputError(
                f"{len(left)} of {len(points)} spheres found no room in {MOST_ROUNDS} draws; "
                "use fewer or smaller ones, larger regions, or vicinal.scenes.packed"
            )
    corner = tuple(np.min([region.lower for region in groups], axis=0).tolist())
    other = tuple(np.max([region.upper for region in groups], axis=0).tolist())
    return Scene(points=points, lower=lower or corner, upper=upper or other, radii=radii)


def check_region(region: Region, number: int = 0) -> Region:
    """Check a region and return it with floats."""
    name = f"regions[{number}]"
    bodies, radius = check_size(region.bodies, name), check_positive(region.radius, name)
    lower, upper = (tuple(float(x) for x in corner) for corner in (region.lower, region.upper))
    if len(lower) != len(upper) or len(lower) not in (2, 3):
        raise InputError(f"{name}: corners {lower} and {upper} found; pass two or three coordinates each")
    if any(high - low < 2 * radius for low, high in zip(lower, upper, strict=True)):
        raise InputError(f"{name}: a sphere of radius {radius:g} does not fit between {lower} and {upper}")
    return Region(bodies, radius, lower, upper)


def checkerboard(fields: int = 4, *, per_field: int, edge: float = 100.0, radius: float = 0.5, seed: int = 0) -> Scene:
    """Fill every other field of a three-dimensional board with spheres that do not overlap.

    Examples
    --------
    >>> scene = vicinal.scenes.checkerboard(4, per_field=10, edge=10.0, seed=1)
    >>> len(scene), scene.upper
    (320, (40.0, 40.0, 40.0))
    """
    fields, edge = check_size(fields, "fields", least=1), check_positive(edge, "edge")
    filled = [at for at in product(range(fields), repeat=3) if sum(at) % 2 == 0]
    regions = [
        Region(per_field, radius, tuple(edge * k for k in at), tuple(edge * (k + 1) for k in at)) for at in filled
    ]
    lower, upper = cube(edge * fields)
    return boxes_in_box(regions, lower=lower, upper=upper, seed=seed)


def giant(n: int, *, ratio: float = 360.0, edge: float = 400.0, radius: float = 0.5, seed: int = 0) -> Scene:
    """Put one giant among many small spheres; none overlap. The giant is body 0.

    Examples
    --------
    >>> scene = vicinal.scenes.giant(1000, ratio=50, edge=100.0, seed=1)
    >>> len(scene), float(scene.radii[0]), len(vicinal.pairs(**scene.bodies)[0])
    (1000, 25.0, 0)
    """
    n, edge = check_size(n, least=1), check_positive(edge, "edge")
    lower, upper = cube(edge)
    large = check_positive(ratio, "ratio") * check_positive(radius, "radius")
    return boxes_in_box([Region(1, large, lower, upper), Region(n - 1, radius, lower, upper)], seed=seed)
