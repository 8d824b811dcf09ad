"""Fluid in a region: particles on a lattice half a spacing from its ends, or packed along curved ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal._check import check_integer, check_number
from vicinal.errors import InputError
from vicinal.sim.meshes import SurfaceMesh
from vicinal.sim.regions import BoxRegion, CylinderRegion, MeshRegion, Region, SphereRegion
from vicinal.sim.spaces import BoxSpace, CylinderSpace, MeshSpace, Space, space
from vicinal.sim.walls import Wall
from vicinal.sph.solids import Solid, depths_in, in_space, solids_of

Array = npt.NDArray[np.float64]
Corners: TypeAlias = tuple[Sequence[float] | Array, Sequence[float] | Array]

LARGEST_MISFIT = 0.05
"""Largest part of a spacing that may be left over along an edge of a box; the lattice is stretched by less."""

MOST_PARTICLES = 200_000_000

MOST_LOST = 0.5
"""Largest part of a region that curved and oblique walls may take without a warning."""

DISPLACEMENTS = 8
"""Positions of a lattice in a curved region that are tried."""

GOLDEN = np.array([0.8191725134, 0.6710436067, 0.5497004779])
"""Displacements of a lattice, as parts of its spacing: multiples of these are spread evenly."""

STRIDE = 0.1
"""Largest displacement in a round of packing, in spacings."""


def fill(
    region: Region | Corners | SurfaceMesh | vc.Mesh,
    spacing: float,
    *,
    dim: int = 3,
    walls: Sequence[Wall] = (),
    pack: int | None = None,
) -> Array:
    """Return positions of particles that fill a region, shape (n, dim).

    Parameters
    ----------
    region
        A region of a scene, lower and upper corner of a box, or a closed mesh.
    spacing
        Distance of neighbours. The edges of a box must be whole multiples of it.
    dim
        2 or 3. In 2D the region is cut by the plane z = 0. Corners of two numbers are always 2D.
    walls
        Particles inside these walls, or closer than a quarter of the spacing, are left out.
    pack
        Rounds in which particles move apart, so that they follow curved ends of the region and start at rest;
        50 for a curved region, none for a box.

    Examples
    --------
    >>> fill(((0, 0), (0.2, 0.1)), 0.1).tolist()
    [[0.05, 0.05], [0.15000000000000002, 0.05]]
    >>> len(fill(SphereRegion(centre=(0, 0, 0), radius=1), 0.2))  # 4/3 π / 0.2³ = 523.6
    524
    """
    return fill_outside(region, spacing, dim=dim, walls=walls, pack=pack)[0]


@dataclass(frozen=True)
class LostPlaces:
    """Places of a region that have no particle because they are inside walls.

    Parameters
    ----------
    places, inside
        Places of the region, and how many of them are inside walls or closer than a quarter of the spacing.
    walls
        The walls that take more than expected. A region can end at a plane along the axes, so no place should be a
        spacing or more behind one. A region cannot follow other walls: they may take up to `MOST_LOST` of it.
    """

    places: int
    inside: int
    walls: tuple[str, ...]


def fill_outside(
    region: Region | Corners | SurfaceMesh | vc.Mesh,
    spacing: float,
    *,
    dim: int = 3,
    walls: Sequence[Wall] = (),
    pack: int | None = None,
) -> tuple[Array, LostPlaces]:
    """Return the positions of `fill`, and what walls take from the region."""
    size = check_number(spacing, "spacing")
    if not (math.isfinite(size) and size > 0):
        raise InputError(f"spacing must be a positive, finite number, got {size}")
    within, low, high, dim = _space_of(region, check_integer(dim, "dim", least=2, most=3))
    if isinstance(within, BoxSpace):
        counts = fitting_counts(low, high, size)
        points = _lattice(low, high, counts)
    else:
        points = _inside(within, low, high, size, dim)
    points = np.ascontiguousarray(points)
    solids = solids_of(walls, dim, points)
    lost = LostPlaces(len(points), 0, ())
    if solids:
        depth, _, which = depths_in(solids, points, size)
        lost = _lost(solids, depth, which, size)
        points = points[depth < -0.25 * size]
    rounds = check_integer(
        pack if pack is not None else 50 * (not isinstance(within, BoxSpace)), "pack", least=0, most=10**6
    )
    return (_packed(points, within, solids, size, rounds) if rounds and len(points) else points), lost


def _lost(solids: Sequence[Solid], depth: Array, which: npt.NDArray[np.int32], spacing: float) -> LostPlaces:
    """Return what solids take from places of these depths, of which `depths_in` knows no more than a spacing."""
    inside = depth >= -0.25 * spacing
    most = inside.mean() > MOST_LOST if len(inside) else False
    taken = np.unique(which[inside if most else depth >= spacing])
    names = [solids[place].wall.name for place in taken if most or not solids[place].curved]
    return LostPlaces(len(depth), int(inside.sum()), tuple(names))


def contains(region: Region, points: Array) -> npt.NDArray[np.bool_]:
    """Return which points are inside a region; in 2D it is cut by the plane z = 0.

    Examples
    --------
    >>> contains(SphereRegion(centre=(0, 0, 0), radius=1), np.array([[0.5, 0.5], [1.0, 1.0]])).tolist()
    [True, False]
    """
    within, _, _, dim = _space_of(region, points.shape[1])
    rows = points if len(within.low) == dim else in_space(points)
    return np.asarray(within.fits(rows, np.zeros(len(points))))


def _space_of(region: Region | Corners | SurfaceMesh | vc.Mesh, dim: int) -> tuple[Space, Array, Array, int]:
    """Return the geometry of a region, its corners, and the dimension."""
    made: Space
    if isinstance(region, (BoxRegion, CylinderRegion, SphereRegion, MeshRegion)):
        made = space(region)
        if dim == 2 and isinstance(made, BoxSpace):
            made = BoxSpace(made.low[:2], made.high[:2])
    elif isinstance(region, (SurfaceMesh, vc.Mesh)):
        mesh = (
            region
            if isinstance(region, SurfaceMesh)
            else SurfaceMesh(np.array(region.vertices), np.array(region.faces))
        )
        if mesh.open_edges:
            raise InputError(f"region must be a closed mesh, got one with {mesh.open_edges} open edges; fill the holes")
        made = MeshSpace(mesh)
    else:
        made = _box_of(region, dim)
        dim = len(made.low)
    return made, made.low[:dim], made.high[:dim], dim


def _box_of(corners: Corners, dim: int) -> BoxSpace:
    try:
        low, high = (np.asarray(corner, float) for corner in corners)
    except (TypeError, ValueError):
        raise InputError(
            f"region must be a region, a closed mesh, or two corners of a box, got {corners!r}; pass one of these"
        ) from None
    if low.shape != high.shape or low.shape not in {(2,), (3,)} or not np.isfinite([low, high]).all():
        raise InputError(f"region must have two corners of 2 or 3 finite numbers each, got {corners!r}")
    if not (high > low).all():
        raise InputError(f"region must have its upper corner above the lower one, got {corners!r}; exchange them")
    size = min(len(low), dim)
    return BoxSpace(low[:size], high[:size])


def fitting_counts(low: Array, high: Array, spacing: float) -> list[int]:
    """Return how many particles fit along each edge of a box.

    Raises
    ------
    InputError
        More than `LARGEST_MISFIT` of a spacing would be left over; names the nearest spacing that fits.

    Examples
    --------
    >>> fitting_counts(np.zeros(2), np.array([1.0, 0.5]), 0.1)
    [10, 5]
    """
    edges = high - low
    counts = np.maximum(1, np.round(edges / spacing))
    if counts.prod() > MOST_PARTICLES:
        raise InputError(
            f"spacing must give at most {MOST_PARTICLES:,} particles, got {spacing:g} with {counts.prod():.3g}; "
            "use a larger one"
        )
    left = np.abs(edges / spacing - counts)
    if (left > LARGEST_MISFIT).any():
        axis = int(left.argmax())
        nearest = nearest_fit(edges, spacing)
        remedy = (
            f"the nearest one that fits is {nearest:.8g}"
            if nearest
            else f"use edges of {', '.join(f'{count * spacing:g}' for count in counts)}"
        )
        raise InputError(
            f"spacing must divide the edges of the box, got {spacing:g}, which fits {edges[axis] / spacing:.3f} times "
            f"into the edge {'xyz'[axis]} of {edges[axis]:g}; {remedy}"
        )
    return [int(count) for count in counts]


def nearest_fit(edges: Array, spacing: float) -> float | None:
    """Return the spacing nearest to one given, within a factor of 1.5, that divides all edges; None without one.

    Examples
    --------
    >>> nearest_fit(np.array([1.0, 0.5]), 0.11)
    0.1
    """
    first = float(edges.min())
    counts = np.arange(max(1, math.floor(first / (1.5 * spacing))), math.ceil(1.5 * first / spacing) + 1)
    tried = first / counts
    ratios = edges[None] / tried[:, None]
    good = tried[(np.abs(ratios - np.round(ratios)) <= 1e-6 * ratios).all(axis=1)]
    good = good[(good >= spacing / 1.5) & (good <= 1.5 * spacing)]
    return float(good[np.abs(good - spacing).argmin()]) if len(good) else None


def _lattice(low: Array, high: Array, counts: Sequence[int]) -> Array:
    """Return a lattice with half a spacing to all ends of a box; x runs slowest."""
    axes = [a + (np.arange(n) + 0.5) * ((b - a) / n) for a, b, n in zip(low, high, counts, strict=True)]
    return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)


def _inside(within: Space, low: Array, high: Array, spacing: float, dim: int) -> Array:
    """Return the points of a lattice that are inside a region.

    Of several displacements of the lattice, that is taken whose number of points is closest to the mean of all, which
    is the volume of the region in cells of the lattice: the fluid then has the mass that the region asks for.
    """
    counts = [math.ceil((b - a) / spacing) + 1 for a, b in zip(low, high, strict=True)]
    if math.prod(counts) > MOST_PARTICLES:
        raise InputError(
            f"spacing must give at most {MOST_PARTICLES:,} sites of a lattice, got {spacing:g}; use a larger one"
        )
    # Flat ends of a cylinder stay half a spacing from the lattice.
    fixed = np.zeros(dim, bool)
    if isinstance(within, CylinderSpace):
        fixed = np.abs(within.axis[:dim]) > 1 - 1e-12
        counts = [n - 1 if still else n for n, still in zip(counts, fixed, strict=True)]
    middle, half = 0.5 * (low + high), 0.5 * spacing * np.array(counts)
    tried = []
    for k in range(DISPLACEMENTS):
        shift = np.where(fixed, 0.0, spacing * ((k * GOLDEN[:dim] + 0.5) % 1 - 0.5))
        points = _lattice(middle - half + shift, middle + half + shift, counts)
        tried.append(points[within.fits(in_space(points), np.zeros(len(points)))][:, :dim])
    sizes = np.array([len(points) for points in tried])
    return tried[int(np.abs(sizes - sizes.mean()).argmin())]


def _packed(points: Array, within: Space, solids: Sequence[Solid], spacing: float, rounds: int) -> Array:
    """Return particles that have moved apart, inside the region and outside of walls."""
    places = points.copy()
    reach = np.full(len(places), 0.5 * spacing)
    for turn in range(rounds):
        i, j, away = vc.pairs(places, cutoff=1.4 * spacing, want="ijD")
        distance = np.maximum(np.linalg.norm(away, axis=1), 1e-9 * spacing)
        push = away * ((1 - distance / (1.4 * spacing)) ** 2 / distance)[:, None]
        move = np.zeros(places.shape)
        for axis in range(places.shape[1]):
            move[:, axis] = np.bincount(j, push[:, axis], len(places)) - np.bincount(i, push[:, axis], len(places))
        # Smaller and smaller, so that the last rounds do not oscillate.
        stride = STRIDE * spacing * (1 - turn / rounds)
        length = np.linalg.norm(move, axis=1, keepdims=True)
        move *= np.minimum(0.5 * spacing, stride / np.maximum(length, 1e-300))
        moved = _settled(within, places + move, reach, places)
        if solids:
            depth, out, _ = depths_in(solids, moved, 2 * spacing)
            moved += np.maximum(0, depth + 0.5 * spacing)[:, None] * out
            moved = _settled(within, moved, np.zeros(len(moved)), places)
        places = moved
    return places


def _settled(within: Space, points: Array, reach: Array, before: Array) -> Array:
    """Return particles moved inside a region, at least `reach` from its ends where there is room."""
    if isinstance(within, BoxSpace):
        return within.settle(points, reach, before)
    places, dim = in_space(points), points.shape[1]
    if not isinstance(within, MeshSpace):
        return within.settle(places, reach, in_space(before))[:, :dim]
    # Particles are pushed along the shortest way. In narrow corners they stay closer to the surface.
    distance, way = within.mesh.nearest(places, 2 * max(float(reach.max()), 1e-9 * float(np.ptp(within.mesh.vertices))))
    inside = within.mesh.contains(places)
    near = np.flatnonzero(np.isfinite(distance) & (~inside | (distance < reach)) & (distance > 0))
    lift = np.where(inside[near], distance[near] - reach[near], distance[near] + reach[near])
    places = places + 0.0
    places[near] += (lift / distance[near])[:, None] * way[near]
    good = within.fits(places, np.zeros(len(places)))
    return np.where(good[:, None], places, in_space(before))[:, :dim]
