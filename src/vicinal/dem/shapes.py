"""Shapes of bodies other than spheres: clumps of spheres, bi-convex tablets, convex polyhedra."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Clump:
    """Spheres glued together; they may overlap.

    Parameters
    ----------
    offsets
        Centres of the spheres, shape (k, 3), in any frame.
    radii
        Their radii, shape (k,).
    """

    offsets: Array
    radii: Array


@dataclass(frozen=True)
class Tablet:
    """A bi-convex tablet: a cylindrical band between two spherical caps; its axis is z.

    Parameters
    ----------
    radius
        Radius of the band.
    band
        Height of the band.
    cap
        Height of each cap.
    rounding
        Radius of the rounded edge between band and caps.
    """

    radius: float
    band: float
    cap: float
    rounding: float | None = None


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """The convex hull of some points.

    Parameters
    ----------
    vertices
        Points, shape (k, 3); those inside the hull are dropped.
    rounding
        Radius of the rounded edges and corners.
    """

    vertices: Array
    rounding: float | None = None


Shape = Clump | Tablet | Polyhedron
