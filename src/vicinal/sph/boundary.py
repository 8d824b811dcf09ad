"""Walls as a fluid feels them: layers of dummy particles behind the surface (Adami, Hu & Adams 2012).

Fluid particles near a wall miss neighbours beyond it. Dummy particles, half a spacing behind the surface and then one
spacing apart, take their place; a scheme gives them pressure and velocity extrapolated from the fluid. They belong to
a wall and move with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal._check import check_integer, check_number
from vicinal.errors import InputError
from vicinal.sim.walls import Wall
from vicinal.sph.solids import MeshSolid, PlaneSolid, Solid, depths_in, solids_of

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int32]
Flags = npt.NDArray[np.bool_]
Bounds = tuple[Sequence[float] | Array, Sequence[float] | Array]

ROUNDS = 30
"""Rounds in which particles in layers along a curved surface move apart."""

CLOSEST = 0.4
"""Particles of one body of walls closer than this many spacings are the same particle, found from two sides."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WallParticles:
    """Dummy particles of walls.

    Parameters
    ----------
    positions
        Positions when they were made, shape (m, dim).
    normals
        Unit vectors from the wall into the fluid, shape (m, dim).
    wall
        Number of the wall of each particle.
    slip
        Whether fluid slips along a wall freely, one per wall.
    """

    positions: Array
    normals: Array
    wall: Ids
    slip: Flags

    def __len__(self) -> int:
        """Return the number of particles."""
        return len(self.positions)


def wall_particles(
    walls: Sequence[Wall],
    spacing: float,
    layers: int,
    *,
    dim: int = 3,
    bounds: Bounds | None = None,
    fluid: Array | None = None,
    bodies: Sequence[int] | None = None,
    slip: Collection[str] = (),
    periodic: Sequence[float | None] | None = None,
) -> WallParticles:
    """Make the dummy particles of walls.

    Particles of walls that move together never coincide, and corners between these walls are filled. Walls that move
    against fixed ones have no particles inside these when they are made.

    Parameters
    ----------
    walls
        Planes, cylinders, and closed meshes; see `vicinal.sim.walls`.
    spacing
        Distance of neighbours, that of the fluid.
    layers
        Number of layers: the support of the kernel in spacings, rounded up.
    dim
        2 or 3. A 2D simulation lies in the plane z = 0.
    bounds
        Lower and upper corner of the space that fluid may reach: infinite walls end there. By default, the bounding box
        of what pictures show of the walls.
    fluid
        Positions of the fluid, which decide on which side of a mesh it is; outside, if there are none.
    bodies
        A number per wall; walls of the same number move together. By default those with equal motion do.
    slip
        Names of walls along which fluid slips freely.
    periodic
        Lengths of a periodic box that begins at 0, None for an open axis.

    Examples
    --------
    >>> from vicinal.sim.walls import Plane
    >>> floor = Plane(name="floor", material="", point=(0, 0, 0), normal=(0, 1, 0))
    >>> dummies = wall_particles([floor], 0.5, 2, dim=2, bounds=((0, 0), (1, 1)))
    >>> dummies.positions.tolist()
    [[0.25, -0.75], [0.25, -0.25], [0.75, -0.75], [0.75, -0.25]]
    """
    size = check_number(spacing, "spacing")
    if not size > 0:
        raise InputError(f"spacing must be a positive number, got {size}")
    count = check_integer(layers, "layers", least=1, most=100)
    dim = check_integer(dim, "dim", least=2, most=3)
    solids = solids_of(walls, dim, fluid)
    low, high = _bounds(walls, bounds, periodic, dim)
    numbers = {id(wall): k for k, wall in enumerate(walls)}
    if isinstance(slip, str) or not isinstance(slip, Collection):
        raise InputError(f"slip must be a list of names of walls, got {slip!r}; for all: [wall.name for wall in walls]")
    unknown = set(slip) - {wall.name for wall in walls}
    if unknown:
        raise InputError(
            f"slip must hold names of walls, got {sorted(unknown)[0]!r}; known: {', '.join(w.name for w in walls)}"
        )
    positions, normals, owners = [np.zeros((0, dim))], [np.zeros((0, dim))], [np.zeros(0, np.int32)]
    groups = _together(walls, solids, bodies)
    still = [solid for group in groups if _rests(group[0].wall) for solid in group]
    for group in groups:
        points, out, which = _layers(group, low, high, size, count, periodic)
        if still and not _rests(group[0].wall):
            free = depths_in(still, points, size)[0] < 0
            points, out, which = points[free], out[free], which[free]
        positions.append(points)
        normals.append(out)
        owners.append(np.array([numbers[id(solid.wall)] for solid in group], np.int32)[which])
    return WallParticles(
        positions=np.concatenate(positions),
        normals=np.concatenate(normals),
        wall=np.concatenate(owners),
        slip=np.array([wall.name in slip for wall in walls], bool),
    )


def solid_particles(solid: Solid, spacing: float, layers: int) -> tuple[Array, Array]:
    """Return positions and normals of the dummy particles of one solid of finite size, each of shape (m, dim)."""
    low, high = solid.bounds()
    points, normals, _ = _layers([solid], low, high, spacing, layers, None)
    return points, normals


def _together(walls: Sequence[Wall], solids: Iterable[Solid], bodies: Sequence[int] | None) -> list[list[Solid]]:
    """Return solids in groups that move as one body."""
    if bodies is not None and len(bodies) != len(walls):
        raise InputError(f"bodies must have one number per wall, {len(walls)}, got {len(bodies)}")
    places = {id(wall): k for k, wall in enumerate(walls)}
    groups: dict[object, list[Solid]] = {}
    for solid in solids:
        wall = solid.wall
        key: object = _motion_of(wall) if bodies is None else bodies[places[id(wall)]]
        groups.setdefault(key, []).append(solid)
    return list(groups.values())


def _motion_of(wall: Wall) -> object:
    if _rests(wall):
        return ()
    return tuple(np.concatenate([wall.velocity, wall.spin, wall.centre, wall.position, wall.orientation]).tolist())


def _rests(wall: Wall) -> bool:
    return not (np.asarray(wall.velocity).any() or np.asarray(wall.spin).any())


def _bounds(
    walls: Sequence[Wall], bounds: Bounds | None, periodic: Sequence[float | None] | None, dim: int
) -> tuple[Array, Array]:
    if bounds is None:
        corners = [wall.triangles().reshape(-1, 3)[:, :dim] for wall in walls]
        places = np.concatenate([*corners, np.zeros((0, dim))])
        low, high = (places.min(axis=0), places.max(axis=0)) if len(places) else (np.zeros(dim), np.zeros(dim))
    else:
        low, high = (np.asarray(corner, float)[:dim] for corner in bounds)
        if low.shape != (dim,) or high.shape != (dim,) or not np.isfinite([low, high]).all() or (high < low).any():
            raise InputError(f"bounds must be two corners of {dim} finite numbers, got {bounds!r}")
    for axis, length in enumerate((periodic or ())[:dim]):
        if length is not None:
            low[axis], high[axis] = 0.0, length
    return low, high


def _layers(
    group: Sequence[Solid],
    low: Array,
    high: Array,
    spacing: float,
    layers: int,
    periodic: Sequence[float | None] | None,
) -> tuple[Array, Array, Ids]:
    """Return the particles of walls that move together: positions, normals, and the place of the wall in the group."""
    thick = spacing * layers
    inner, outer = _axes(group, low, high, spacing, layers, periodic)
    if not any(solid.curved for solid in group):
        points = _shell(inner, outer)
    else:
        axes = [np.sort(np.concatenate(parts)) for parts in zip(inner, outer, strict=True)]
        points = _near(group, axes, thick)
    depth, out, which = depths_in(group, points, thick * 1.01 + spacing)
    some = (depth > 0) & (depth <= thick * (1 + 1e-9))
    points, depth, out, which = points[some], depth[some], out[some], which[some]
    bent = np.array([solid.curved for solid in group])[which]
    if bent.any():
        return _follow(group, points, depth, out, bent, spacing, layers)
    return points, out.copy(), which


def _axes(
    group: Sequence[Solid],
    low: Array,
    high: Array,
    spacing: float,
    layers: int,
    periodic: Sequence[float | None] | None,
) -> tuple[list[Array], list[Array]]:
    """Return coordinates of a lattice per axis: between planes along the axes, and behind them.

    All planes lie half way between two coordinates: between two planes the lattice is stretched to fit.
    """
    inner, outer = [], []
    thick = spacing * layers
    for axis in range(len(low)):
        planes = [solid for solid in group if isinstance(solid, PlaneSolid) and not solid.curved and solid.axis == axis]
        floors = [solid.point[axis] for solid in planes if solid.normal[axis] > 0]
        roofs = [solid.point[axis] for solid in planes if solid.normal[axis] < 0]
        begin, end = max(floors, default=low[axis]), min(roofs, default=high[axis])
        ends_at = list(_mesh_ends(group, axis))
        wraps = periodic is not None and periodic[axis] is not None
        behind = (np.arange(layers) + 0.5) * spacing
        if not wraps and not floors and ends_at:
            begin = min(begin, ends_at[0]) if roofs else ends_at[0] - spacing * np.ceil((ends_at[0] - begin) / spacing)
        if not wraps and any(solid.curved for solid in group):
            # What contains the fluid has its particles outside of it.
            begin -= 0.0 if floors else thick
            end += 0.0 if roofs else thick
        if (floors and roofs) or wraps:
            count = max(1, round((end - begin) / spacing))
            middle = begin + (np.arange(count) + 0.5) * ((end - begin) / count)
        elif roofs:
            middle = end - (np.arange(max(1, round((end - begin) / spacing))) + 0.5) * spacing
        else:
            middle = begin + (np.arange(max(1, round((end - begin) / spacing))) + 0.5) * spacing
        inner.append(middle)
        beyond = [begin - behind] if floors else []
        beyond += [end + behind] if roofs else []
        outer.append(np.concatenate([*beyond, np.zeros(0)]))
    return inner, outer


def _mesh_ends(group: Sequence[Solid], axis: int) -> Iterable[float]:
    """Return where meshes begin along an axis: flat ends of the first lie half way between points of the lattice."""
    return (float(solid.bounds()[0][axis]) for solid in group if isinstance(solid, MeshSolid))


def _shell(inner: Sequence[Array], outer: Sequence[Array]) -> Array:
    """Return the points of a lattice of which at least one coordinate is an outer one, in the order of x, y, z."""
    dim = len(inner)
    blocks = []
    for axis in range(dim):
        axes = [
            inner[k] if k < axis else outer[k] if k == axis else np.concatenate([inner[k], outer[k]])
            for k in range(dim)
        ]
        if all(len(part) for part in axes):
            blocks.append(_product(axes))
    points = np.concatenate([*blocks, np.zeros((0, dim))])
    return np.ascontiguousarray(points[np.lexsort(points.T[::-1])])


def _product(axes: Sequence[Array]) -> Array:
    return np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")], axis=1)


def _near(group: Sequence[Solid], axes: Sequence[Array], thick: float) -> Array:
    """Return the points of a lattice that may lie in the layers, slice by slice, so that few are held at a time."""
    kept = [np.zeros((0, len(axes)))]
    for x in axes[0]:
        points = _product([np.array([x]), *axes[1:]])
        depth = depths_in(group, points, 1.01 * thick)[0]
        kept.append(points[(depth > 0) & (depth <= thick * (1 + 1e-9))])
    return np.concatenate(kept)


def _follow(
    group: Sequence[Solid], points: Array, depth: Array, out: Array, bent: Flags, spacing: float, layers: int
) -> tuple[Array, Array, Ids]:
    """Move particles of a lattice into layers that follow curved surfaces, evenly spread along them."""
    layer = np.clip(np.floor(depth / spacing), 0, layers - 1)
    target = (layer + 0.5) * spacing
    off = np.abs(depth - target)
    # Flat parts that the lattice meets as it should stay as they are.
    free = bent & (off > 1e-6 * spacing)
    if free.any():
        points = points.copy()
        points[free] += ((depth - target)[:, None] * out)[free]
        points, target, free = _single(points, target, free, spacing)
        reach = 1.01 * spacing * (layers + 2)
        for turn in range(ROUNDS):
            move = _apart(points, spacing, 0.2 * (1 - turn / ROUNDS))
            points[free] += move[free]
            here, away, _ = depths_in(group, points[free], reach)
            points[free] += (here - target[free])[:, None] * away
    final, normals, which = depths_in(group, points, 1.01 * spacing * (layers + 2))
    good = (final > 1e-3 * spacing) & (final < spacing * (layers + 0.5))
    return points[good], normals[good], which[good]


def _single(points: Array, target: Array, free: Flags, spacing: float) -> tuple[Array, Array, Flags]:
    """Leave out particles that are too close to one with a smaller number, or to one that stays as it is."""
    i, j = vc.pairs(points, cutoff=CLOSEST * spacing, sort=True)
    gone = np.zeros(len(points), bool)
    for one, other in zip(i.tolist(), j.tolist(), strict=True):
        if not (gone[one] or gone[other]):
            gone[other if free[other] else one] = True
    return np.ascontiguousarray(points[~gone]), target[~gone], free[~gone]


def _apart(points: Array, spacing: float, stride: float) -> Array:
    """Return displacements that move particles away from close neighbours, at most `stride` spacings."""
    reach = 1.3 * spacing
    i, j, away = vc.pairs(points, cutoff=reach, want="ijD")
    distance = np.maximum(np.linalg.norm(away, axis=1), 1e-9 * spacing)
    push = away * ((1 - distance / reach) / distance)[:, None]
    move = np.stack([np.bincount(j, part, len(points)) - np.bincount(i, part, len(points)) for part in push.T], axis=1)
    length = np.linalg.norm(move, axis=1, keepdims=True)
    return np.asarray(move * np.minimum(0.5 * spacing, stride * spacing / np.maximum(length, 1e-300)))
