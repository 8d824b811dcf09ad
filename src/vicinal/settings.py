"""The checked arguments of a search: bodies, their space, and which of them form pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy.typing as npt

from vicinal import _check
from vicinal._check import Bodies
from vicinal.bodies import BoxesLike, PlanesLike, check_bodies, check_points, check_skin
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.errors import InputError
from vicinal.filters import NEEDS_POINTS, Filter, check_criterion, check_cutoffs, check_filter
from vicinal.planes import Planes, check_planes


@dataclass(frozen=True)
class Settings:
    """The checked arguments of an index: bodies, cutoff (0 for spheres and boxes), periodic box, and planes."""

    bodies: Bodies
    cutoff: float
    box: Cell
    planes: Planes
    half_skin: float = 0.0
    criterion: str = "sum"
    filter: Filter | None = None

    @property
    def plain(self) -> bool:
        """Whether these are points in open space without any condition on pairs."""
        return self.bodies.kind == "points" and not (self.box.periodic or len(self.planes) or self.filter is not None)


def check_settings(
    points: npt.ArrayLike | None,
    cutoff: npt.ArrayLike | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    criterion: str = "sum",
    types: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    exclude: npt.ArrayLike | None = None,
    r_min: float = 0.0,
) -> Settings:
    """Check the arguments of an index."""
    check_criterion(criterion, radii=radii is not None)
    cutoffs = None
    if types is None:
        bodies, checked_cutoff = check_bodies(points, cutoff, radii, boxes, skin, criterion)
    else:
        if cutoff is None or radii is not None or boxes is not None or planes is not None:
            raise InputError(NEEDS_POINTS)
        bodies = check_points(points)
        cutoffs, checked_cutoff = check_cutoffs(cutoff, bodies, check_skin(skin))
    cell = _check.check_box(box, bodies, checked_cutoff, periodic)
    checked = check_filter(
        bodies, cutoffs, types=types, groups=groups, exclude=exclude, r_min=r_min, criterion=criterion
    )
    placed = check_planes(planes, bodies, cell)
    return Settings(bodies, checked_cutoff, cell, placed, check_skin(skin) / 2, criterion, checked)
