"""Groups of spheres that do not overlap, each within a box."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from vicinal.errors import InputError
from vicinal.scenes.scene import SampleScene, check_positive, check_size, cube
from vicinal.sim.draws import Draws
from vicinal.sim.packing import redraw

MOST_ROUNDS = 500


@dataclass(frozen=True)
class SphereGroup:
    """A number of spheres of one radius between two corners.

    Examples
    --------
    >>> vicinal.scenes.SphereGroup(10, 0.5, (0, 0, 0), (5, 5, 5)).bodies
    10
    """

    bodies: int
    radius: float
    lower: tuple[float, ...]
    upper: tuple[float, ...]


def boxes_in_box(
    groups: Sequence[SphereGroup],
    *,
    lower: tuple[float, ...] | None = None,
    upper: tuple[float, ...] | None = None,
    overlap: bool = False,
    seed: int = 0,
) -> SampleScene:
    """Spread the spheres of each group evenly over its box; every sphere lies entirely inside.

    A sphere that overlaps an earlier one is drawn again, so groups of large spheres should come first. The time is
    proportional to the number of spheres. Fillings up to about 0.25 are reached; `packed` reaches more.

    Parameters
    ----------
    groups
        The groups. Their boxes may overlap.
    lower, upper
        Corners of the whole box; the bounding box of all groups if left out.
    overlap
        Whether spheres may overlap; then none is drawn again.
    seed
        The same seed gives the same spheres.

    Examples
    --------
    >>> from vicinal.scenes import SphereGroup, boxes_in_box
    >>> groups = [SphereGroup(1, 4.0, (0, 0, 0), (20, 20, 20)), SphereGroup(500, 0.5, (0, 0, 0), (10, 10, 20))]
    >>> scene = boxes_in_box(groups, seed=1)
    >>> len(scene), len(vicinal.pairs(**scene.bodies)[0])
    (501, 0)
    """
    checked = [check_group(group, number) for number, group in enumerate(groups)]
    if not checked:
        raise InputError("groups must have at least one SphereGroup, got none")
    sizes = [group.bodies for group in checked]
    radii = np.repeat([group.radius for group in checked], sizes)
    low = np.repeat(np.array([group.lower for group in checked]), sizes, axis=0) + radii[:, None]
    high = np.repeat(np.array([group.upper for group in checked]), sizes, axis=0) - radii[:, None]
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
                f"{len(left)} of {len(points)} spheres had no room in {MOST_ROUNDS} draws; "
                "use fewer or smaller ones, larger boxes, or vicinal.scenes.packed"
            )
    corner = tuple(np.min([group.lower for group in checked], axis=0).tolist())
    other = tuple(np.max([group.upper for group in checked], axis=0).tolist())
    return SampleScene(points=points, lower=lower or corner, upper=upper or other, radii=radii)


def check_group(group: SphereGroup, number: int = 0) -> SphereGroup:
    """Check a group and return it with floats."""
    name = f"groups[{number}]"
    bodies, radius = check_size(group.bodies, name), check_positive(group.radius, name)
    lower, upper = (tuple(float(x) for x in corner) for corner in (group.lower, group.upper))
    if len(lower) != len(upper) or len(lower) not in (2, 3):
        raise InputError(f"{name} must have corners with two or three coordinates each, got {lower} and {upper}")
    if any(high - low < 2 * radius for low, high in zip(lower, upper, strict=True)):
        raise InputError(f"{name} must have room for its spheres, got radius {radius:g} between {lower} and {upper}")
    return SphereGroup(bodies, radius, lower, upper)


def checkerboard(
    fields: int = 4, *, per_field: int, edge: float = 100.0, radius: float = 0.5, seed: int = 0
) -> SampleScene:
    """Fill every other field of a three-dimensional checkerboard with spheres that do not overlap.

    Examples
    --------
    >>> scene = vicinal.scenes.checkerboard(4, per_field=10, edge=10.0, seed=1)
    >>> len(scene), scene.upper
    (320, (40.0, 40.0, 40.0))
    """
    fields, edge = check_size(fields, "fields", least=1), check_positive(edge, "edge")
    filled = [at for at in product(range(fields), repeat=3) if sum(at) % 2 == 0]
    groups = [
        SphereGroup(per_field, radius, tuple(edge * k for k in at), tuple(edge * (k + 1) for k in at)) for at in filled
    ]
    lower, upper = cube(edge * fields)
    return boxes_in_box(groups, lower=lower, upper=upper, seed=seed)


def giant(n: int, *, ratio: float = 360.0, edge: float = 400.0, radius: float = 0.5, seed: int = 0) -> SampleScene:
    """Put one large sphere among many small ones; none overlap. The large one is body 0.

    Examples
    --------
    >>> scene = vicinal.scenes.giant(1000, ratio=50, edge=100.0, seed=1)
    >>> len(scene), float(scene.radii[0]), len(vicinal.pairs(**scene.bodies)[0])
    (1000, 25.0, 0)
    """
    n, edge = check_size(n, least=1), check_positive(edge, "edge")
    lower, upper = cube(edge)
    large = check_positive(ratio, "ratio") * check_positive(radius, "radius")
    return boxes_in_box([SphereGroup(1, large, lower, upper), SphereGroup(n - 1, radius, lower, upper)], seed=seed)
