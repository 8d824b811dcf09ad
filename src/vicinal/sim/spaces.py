"""Geometry of regions: volume, spheres inside, and random positions."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.draws import Draws
from vicinal.sim.meshes import SurfaceMesh, load_mesh
from vicinal.sim.regions import BoxRegion, CylinderRegion, MeshRegion, Region, SphereRegion

Array = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

MOST_TRIES = 200
"""Rounds of random points before a region counts as too small for a sphere."""


class Space(ABC):
    """The geometry of a region. A sphere is inside if all of its volume is; a point is a sphere of radius 0."""

    volume: float
    low: Array
    high: Array

    @abstractmethod
    def fits(self, points: Array, radii: Array) -> Flags:
        """Return which spheres are inside."""

    @abstractmethod
    def settle(self, points: Array, radii: Array, before: Array) -> Array:
        """Move spheres that are not inside to the nearest position inside, or back to their former position."""

    def bounce(self, points: Array, motion: Array, radii: Array) -> tuple[Array, Array]:
        """Move spheres and keep them inside; return the new positions and the motion after reflection."""
        moved = self.settle(points + motion, radii, points)
        return moved, moved - points

    def sample(self, radii: Array, draws: Draws) -> Array:
        """Draw random positions at which spheres are inside; NaN for spheres that do not fit."""
        places = np.full((len(radii), 3), np.nan)
        open_ = np.arange(len(radii))
        for _ in range(MOST_TRIES):
            if not len(open_):
                break
            reach = radii[open_, None]
            room = self.high - self.low - 2 * reach
            tried = self.low + reach + draws.uniform(len(open_), 3) * np.maximum(room, 0)
            good = self.fits(tried, radii[open_])
            places[open_[good]] = tried[good]
            open_ = open_[~good]
        return places


class BoxSpace(Space):
    """An axis-aligned box in 2D or 3D. A periodic axis has no ends if the region spans all of its length."""

    def __init__(self, low: Array, high: Array, box: tuple[float | None, ...] | None = None) -> None:
        self.low, self.high = np.asarray(low, float), np.asarray(high, float)
        self.volume = float(np.prod(self.high - self.low))
        lengths = box or (None,) * len(self.low)
        self.period = np.array([length or 1.0 for length in lengths])
        self.endless = np.array(
            [
                length is not None and high_ - low_ >= length * (1 - 1e-12)
                for length, low_, high_ in zip(lengths, self.low, self.high, strict=True)
            ]
        )

    def _ends(self, radii: Array) -> tuple[Array, Array]:
        reach = radii[:, None] * ~self.endless
        # Allow for rounding of the sums.
        slack = 1e-12 * (self.high - self.low)
        return self.low + reach - slack, self.high - reach + slack

    def fits(self, points: Array, radii: Array) -> Flags:
        """Return which spheres are inside."""
        low, high = self._ends(radii)
        return np.asarray(((points >= low) & (points <= high) | self.endless).all(axis=1))

    def settle(self, points: Array, radii: Array, before: Array) -> Array:  # noqa: ARG002 - as in `Space`
        """Move spheres inside."""
        low, high = self._ends(radii)
        return np.where(self.endless, points, np.clip(points, low, np.maximum(low, high)))

    def bounce(self, points: Array, motion: Array, radii: Array) -> tuple[Array, Array]:
        """Move spheres; sides reflect them, and periodic axes wrap."""
        # If sides only stopped spheres, crowded spheres could stay in the plane of a side: they push only along it.
        low, high = self.low + radii[:, None], self.high - radii[:, None]
        moved = points + motion
        outside = ((moved < low) | (moved > high)) & ~self.endless
        if outside.any():  # usually few are
            least, most, there = low[outside], high[outside], moved[outside]
            back = np.where(there < least, 2 * least - there, 2 * most - there)
            moved[outside] = np.clip(back, least, np.maximum(least, most))
            motion = np.where(outside, -motion, motion)
        for axis in np.flatnonzero(self.endless):
            moved[:, axis] -= np.floor(moved[:, axis] / self.period[axis]) * self.period[axis]
        return moved, motion

    def sample(self, radii: Array, draws: Draws) -> Array:
        """Draw places."""
        low, high = self._ends(radii)
        places = low + draws.uniform(len(radii), len(self.low)) * np.maximum(high - low, 0)
        places[(high < low).any(axis=1)] = np.nan
        return places


class SphereSpace(Space):
    """A ball."""

    def __init__(self, centre: Array, radius: float) -> None:
        self.centre, self.radius = np.asarray(centre, float), radius
        self.low, self.high = self.centre - radius, self.centre + radius
        self.volume = 4 / 3 * np.pi * radius**3

    def fits(self, points: Array, radii: Array) -> Flags:
        """Return which spheres are inside."""
        return np.asarray(np.linalg.norm(points - self.centre, axis=1) + radii <= self.radius * (1 + 1e-12))

    def settle(self, points: Array, radii: Array, before: Array) -> Array:  # noqa: ARG002 - as in `Space`
        """Move spheres inside."""
        arm = points - self.centre
        return np.asarray(self.centre + arm * _shrink(np.linalg.norm(arm, axis=1), self.radius - radii))


class CylinderSpace(Space):
    """A cylinder around any line."""

    def __init__(self, start: Array, end: Array, radius: float) -> None:
        self.start, self.radius = np.asarray(start, float), radius
        along = np.asarray(end, float) - self.start
        self.length = float(np.linalg.norm(along))
        self.axis = along / self.length
        self.volume = float(np.pi * radius**2 * self.length)
        # Extent of a disc of this orientation along each axis.
        reach = radius * np.sqrt(np.maximum(0, 1 - self.axis**2))
        self.low = np.minimum(self.start, self.start + along) - reach
        self.high = np.maximum(self.start, self.start + along) + reach

    def _parts(self, points: Array) -> tuple[Array, Array]:
        height = (points - self.start) @ self.axis
        return height, points - self.start - height[:, None] * self.axis

    def fits(self, points: Array, radii: Array) -> Flags:
        """Return which spheres are inside."""
        height, arm = self._parts(points)
        slack = 1e-12 * (self.length + self.radius)
        return np.asarray(
            (height >= radii - slack)
            & (height <= self.length - radii + slack)
            & (np.linalg.norm(arm, axis=1) + radii <= self.radius + slack)
        )

    def settle(self, points: Array, radii: Array, before: Array) -> Array:  # noqa: ARG002 - as in `Space`
        """Move spheres inside."""
        height, arm = self._parts(points)
        height = np.clip(height, radii, np.maximum(radii, self.length - radii))
        arm *= _shrink(np.linalg.norm(arm, axis=1), self.radius - radii)
        return np.asarray(self.start + height[:, None] * self.axis + arm)

    def sample(self, radii: Array, draws: Draws) -> Array:
        """Draw places."""
        # Drawing in the frame of the cylinder rejects nothing, even if it is thin and oblique.
        axes = np.linalg.svd(self.axis[None])[2][1:]
        angle, share, height = draws.uniform(3, len(radii))
        angle *= 2 * np.pi
        out = np.sqrt(share) * np.maximum(self.radius - radii, 0)
        height = radii + height * np.maximum(self.length - 2 * radii, 0)
        places = self.start + height[:, None] * self.axis
        places += (out * np.cos(angle))[:, None] * axes[0] + (out * np.sin(angle))[:, None] * axes[1]
        places[(radii > self.radius) | (2 * radii > self.length)] = np.nan
        return np.asarray(places)


class MeshSpace(Space):
    """The inside of a closed mesh."""

    def __init__(self, mesh: SurfaceMesh) -> None:
        self.mesh = mesh
        self.low, self.high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
        self.volume = mesh.volume

    def fits(self, points: Array, radii: Array) -> Flags:
        """Return which spheres are inside."""
        good: Flags = np.asarray(((points > self.low) & (points < self.high)).all(axis=1))
        good[good] = self.mesh.contains(points[good])
        good[good] = ~self.mesh.touches(points[good], radii[good])
        return good

    def settle(self, points: Array, radii: Array, before: Array) -> Array:
        """Move spheres inside."""
        good = self.fits(points, radii)
        moved = points.copy()
        # In a corner one part of the surface pushes a sphere into another; a few rounds resolve this.
        for _ in range(3):
            moved[~good] = self.mesh.pushed_off(moved[~good], radii[~good])
            good[~good] = self.fits(moved[~good], radii[~good])
        return np.where(good[:, None], moved, before)


def _shrink(length: Array, most: Array) -> Array:
    return np.asarray(np.minimum(1, np.maximum(most, 0) / np.maximum(length, np.finfo(float).tiny)))[:, None]


def space(region: Region, box: tuple[float | None, ...] | None = None) -> Space:
    """Return the geometry of a region.

    Parameters
    ----------
    region
        The region as the scene describes it.
    box
        Lengths of the periodic box.

    Examples
    --------
    >>> round(space(SphereRegion(centre=(0, 0, 0), radius=1)).volume, 3)
    4.189
    """
    match region:
        case BoxRegion():
            return BoxSpace(np.array(region.low), np.array(region.high), box)
        case CylinderRegion():
            return CylinderSpace(np.array(region.start), np.array(region.end), region.radius)
        case SphereRegion():
            return SphereSpace(np.array(region.centre), region.radius)
        case MeshRegion():
            mesh = load_mesh(region.file, scale=region.scale, move=region.move)
            if mesh.open_edges:
                raise InputError(
                    f"{region.file}: the mesh of a region must be closed, got {mesh.open_edges} open edges; "
                    "fill the holes"
                )
            return MeshSpace(mesh)
