"""Shapes of bodies other than spheres: clumps of spheres, bi-convex tablets, convex polyhedra."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.errors import InputError

Array = npt.NDArray[np.float64]
Description = tuple[dict[str, float], dict[str, list[list[float]]]]
"""Numbers and lists of vectors by name, which the struct of the shape in cpp/dem/shapes/ reads."""


@dataclass(frozen=True)
class Properties:
    """Properties of a shape of density 1: volume, centre of mass, principal moments of inertia and axes (columns).

    `radius` is that of the bounding sphere around the centre of mass.
    """

    volume: float
    centre: Array
    moments: Array
    axes: Array
    radius: float = 0.0

    @property
    def frame(self) -> Array:
        """The rotation from the axes of the shape to the principal axes: w, x, y, z."""
        m = self.axes
        # The largest of w², x², y², z² is at least 1/4; the others follow from it.
        squares = 1 + np.array([np.trace(m), *(2 * np.diag(m) - np.trace(m))])
        k = int(np.argmax(squares))
        if k == 0:
            q = np.array([squares[0], m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])
        else:
            a, b, c = k - 1, k % 3, (k + 1) % 3
            q = np.empty(4)
            q[0], q[k] = m[c, b] - m[b, c], squares[k]
            q[1 + b], q[1 + c] = m[b, a] + m[a, b], m[c, a] + m[a, c]
        return np.asarray(q / np.linalg.norm(q))


def principal(volume: float, centre: Array, second: Array) -> Properties:
    """Return the properties from the integrals of 1, x and x xᵀ over the volume, about the origin."""
    about = second - volume * np.outer(centre, centre)
    inertia = np.trace(about) * np.eye(3) - about
    moments, axes = np.linalg.eigh(inertia)
    if moments[2] - moments[0] < 1e-9 * moments[2]:  # isotropic within rounding: keep the axes of the shape
        moments, axes = np.full(3, moments.mean()), np.eye(3)
    if np.linalg.det(axes) < 0:
        axes[:, 0] = -axes[:, 0]
    return Properties(volume, centre, moments, axes)


@dataclass(frozen=True, eq=False)
class Clump:
    """Spheres that form one rigid body; they may overlap.

    Mass, centre and inertia are those of the union: overlapping volume counts once.

    Parameters
    ----------
    offsets
        Centres of the spheres, shape (k, 3), in any frame.
    radii
        Their radii, shape (k,).
    """

    offsets: Array
    radii: Array
    kind: ClassVar[str] = "clump"

    def __post_init__(self) -> None:
        offsets = np.atleast_2d(np.array(self.offsets, dtype=np.float64))
        radii = np.atleast_1d(np.array(self.radii, dtype=np.float64))
        if offsets.ndim != 2 or offsets.shape != (len(radii), 3) or len(radii) == 0:
            raise InputError(
                f"offsets and radii must have the shapes (k, 3) and (k,), got {offsets.shape} and {radii.shape}"
            )
        if not (np.isfinite(offsets).all() and np.isfinite(radii).all() and (radii > 0).all()):
            raise InputError("radii must be positive and finite, and offsets finite")
        offsets.flags.writeable = radii.flags.writeable = False
        object.__setattr__(self, "offsets", offsets)
        object.__setattr__(self, "radii", radii)

    def properties(self) -> Properties:
        """Integrate over the union of the spheres."""
        known: Properties | None = self.__dict__.get("_properties")
        if known is None:
            known = self._integrated()
            object.__setattr__(self, "_properties", known)
        return known

    @property
    def margin(self) -> float:
        """A clump has no rounding."""
        return 0.0

    def _description(self, _: Properties) -> Description:
        return {}, {}  # a clump consists of spheres: `elements_of`

    def _integrated(self) -> Properties:
        if len(self.radii) == 1:
            r = float(self.radii[0])
            volume = 4 / 3 * np.pi * r**3
            return Properties(volume, self.offsets[0].copy(), np.full(3, 0.4 * volume * r * r), np.eye(3), r)
        union = _union(self.offsets, self.radii)
        reach = float((np.linalg.norm(self.offsets - union.centre, axis=1) + self.radii).max())
        return replace(union, radius=reach)


def _union(offsets: Array, radii: Array) -> Properties:
    """Integrate over a union of balls: a slice of it is a union of discs, and a line of that a union of intervals."""
    z, wz = _nodes(np.concatenate([_ends(offsets[:, 2], radii), _circle_ends(offsets, radii)]))
    total = np.zeros(10)  # 1; x, y, z; xx, yy, zz, xy, xz, yz
    for height, weight in zip(z, wz, strict=True):
        square = radii**2 - (offsets[:, 2] - height) ** 2
        cut = square > 0
        if cut.any():
            total += weight * _slice(offsets[cut], np.sqrt(square[cut]), height)
    volume = total[0]
    xx, yy, zz, xy, xz, yz = total[4:]
    return principal(float(volume), total[1:4] / volume, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _ends(centres: Array, radii: Array) -> Array:
    return np.concatenate([centres - radii, centres, centres + radii])


def _nodes(breaks: Array, order: int = 16) -> tuple[Array, Array]:
    """Return Gauss points between breaks, denser near the breaks, where the integrands have square roots."""
    x, w = np.polynomial.legendre.leggauss(order)
    t, dt = np.sin(0.5 * np.pi * x), 0.5 * np.pi * np.cos(0.5 * np.pi * x)
    breaks = np.unique(breaks)
    half, middle = 0.5 * np.diff(breaks), 0.5 * (breaks[1:] + breaks[:-1])
    return (middle[:, None] + half[:, None] * t).ravel(), (half[:, None] * (w * dt)).ravel()


def _crossings(offsets: Array, radii: Array) -> tuple[Array, Array, Array]:
    """Return centres, radii and axes of the circles (or points) in which the surfaces of balls (or discs) intersect."""
    i, j = np.triu_indices(len(radii), 1)
    away = offsets[j] - offsets[i]
    distance = np.linalg.norm(away, axis=1)
    crossing = (distance > np.abs(radii[i] - radii[j])) & (distance < radii[i] + radii[j])
    i, j, away, distance = i[crossing], j[crossing], away[crossing], distance[crossing]
    axis = away / distance[:, None]
    along = (distance**2 + radii[i] ** 2 - radii[j] ** 2) / (2 * distance)
    return offsets[i] + along[:, None] * axis, np.sqrt(np.maximum(radii[i] ** 2 - along**2, 0.0)), axis


def _circle_ends(offsets: Array, radii: Array) -> Array:
    centre, radius, axis = _crossings(offsets, radii)
    reach = radius * np.sqrt(np.maximum(1 - axis[:, 2] ** 2, 0.0))
    return np.concatenate([centre[:, 2] - reach, centre[:, 2] + reach])


def _slice(offsets: Array, discs: Array, z: float) -> Array:
    centre, radius, axis = _crossings(offsets[:, :2], discs)
    aside = radius * axis[:, 0]
    y, wy = _nodes(np.concatenate([_ends(offsets[:, 1], discs), centre[:, 1] - aside, centre[:, 1] + aside]))
    half = np.sqrt(np.maximum(discs**2 - (offsets[:, 1] - y[:, None]) ** 2, 0.0))
    start = np.where(half > 0, offsets[:, 0] - half, np.inf)
    end = np.where(half > 0, offsets[:, 0] + half, -np.inf)
    order = np.argsort(start, axis=1)
    start, end = np.take_along_axis(start, order, 1), np.take_along_axis(end, order, 1)
    # The part of an interval that earlier intervals do not cover.
    before = np.maximum.accumulate(end, axis=1)
    start[:, 1:] = np.maximum(start[:, 1:], before[:, :-1])
    valid = end > start
    a, b = np.where(valid, start, 0.0), np.where(valid, end, 0.0)
    n0, n1, n2 = ((b**k - a**k).sum(axis=1) / k for k in (1, 2, 3))
    rows = np.array([n0, n1, y * n0, z * n0, n2, y * y * n0, z * z * n0, y * n1, z * n1, y * z * n0])
    return np.asarray(rows @ wy)


# The default radius of rounded edges, relative to the smallest extent of a shape.
ROUNDING = 0.1

# The least height of a cap, relative to the radius of its tablet. Contacts are computed from the centre of the ball
# that the cap is part of; for this height the ball is so large that rounding errors are 1e-9 of the radius.
FLATTEST_CAP = 1e-7


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
        Height of each cap, from 1e-7 of the radius to the radius.
    rounding
        Radius of the rounded edge between band and caps; overlaps must stay below it. Mass and inertia are those of
        the tablet with sharp edges.
    """

    radius: float
    band: float
    cap: float
    rounding: float | None = None
    kind: ClassVar[str] = "tablet"

    def __post_init__(self) -> None:
        for name in ("radius", "band", "cap"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0):
                raise InputError(f"{name} must be a positive, finite length, got {value!r}")
        if self.cap > self.radius:
            raise InputError(f"cap must be at most the radius {self.radius} (half a ball), got {self.cap}")
        if self.cap < FLATTEST_CAP * self.radius:
            raise InputError(
                f"cap must be at least {FLATTEST_CAP:g} of the radius {self.radius}, got {self.cap}: the ball that a "
                "flatter cap is part of is too large for the digits of a float; use a Polyhedron for flat faces"
            )
        if not 0 < self.margin < 0.5 * min(self.radius, self.band):
            raise InputError(
                f"rounding must be above 0 and below {0.5 * min(self.radius, self.band)}, got {self.margin}"
            )

    @property
    def margin(self) -> float:
        """The radius of rounding."""
        return ROUNDING * min(self.radius, self.band) if self.rounding is None else float(self.rounding)

    def _description(self, _: Properties) -> Description:
        m, ball = self.margin, self.cap_radius
        centre = 0.5 * self.band + self.cap - ball
        inner, band = ball - m, self.radius - m
        # Where the ball meets the cylinder: centre + sqrt(inner² - band²), without the difference of large numbers.
        rim = 0.5 * self.band + self.cap - m - band**2 / (inner + float(np.sqrt(inner**2 - band**2)))
        beyond = (0.5 * self.band - rim) / m
        return {"band": band, "cap": inner, "cap_centre": centre, "rim": rim, "beyond": beyond}, {}

    @property
    def cap_radius(self) -> float:
        """Radius of the ball that a cap is part of."""
        return (self.radius**2 + self.cap**2) / (2 * self.cap)

    def properties(self) -> Properties:
        """Integrate discs along the axis."""
        x, w = np.polynomial.legendre.leggauss(24)
        top, ball = 0.5 * self.band + self.cap, self.cap_radius
        z = np.concatenate([0.25 * self.band * (1 + x), 0.5 * self.band + 0.5 * self.cap * (1 + x)])
        weight = np.concatenate([0.25 * self.band * w, 0.5 * self.cap * w])
        square = np.minimum(self.radius**2, np.maximum(ball**2 - (z - (top - ball)) ** 2, 0.0))
        volume = 2 * np.pi * float(weight @ square)
        xx, zz = 0.5 * np.pi * float(weight @ square**2), 2 * np.pi * float(weight @ (square * z * z))
        across, axial = xx + zz, 2 * xx
        reach = max(top, float(np.hypot(self.radius, 0.5 * self.band)))
        return Properties(volume, np.zeros(3), np.array([across, across, axial]), np.eye(3), reach)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """The convex hull of some points.

    Parameters
    ----------
    vertices
        Points, shape (k, 3); points inside the hull are dropped. Points closer to a common plane than a thousandth of
        the size (less for thin bodies) form one face.
    rounding
        Radius of the rounded edges and corners; overlaps must stay below it. Mass and inertia are those of the
        polyhedron with sharp edges.
    """

    vertices: Array
    rounding: float | None = None
    kind: ClassVar[str] = "polyhedron"

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=np.float64)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) < 4 or not np.isfinite(vertices).all():
            raise InputError(f"vertices must be at least 4 finite points, shape (k, 3), got {vertices.shape}")
        vertices.flags.writeable = False
        object.__setattr__(self, "vertices", vertices)
        triangles = _hull(vertices)
        object.__setattr__(self, "_properties", _solid(vertices, triangles))
        flat = _tolerance(vertices)
        object.__setattr__(self, "_flat", flat)
        object.__setattr__(self, "_planes", _sides(vertices, triangles, flat))
        if not 0 < self.margin < self._thickness():
            raise InputError(f"rounding must be above 0 and below {self._thickness():.3g}, got {self.margin}")
        self._check_sides()

    def _check_sides(self) -> None:
        normals, heights = self._planes  # type: ignore[attr-defined]
        p = self.properties()
        corners = _corners(normals, heights - normals @ p.centre, 0.5 * self._flat)  # type: ignore[attr-defined]
        volume = _solid(corners, _hull(corners)).volume if len(corners) >= 4 else 0.0
        if not abs(volume - p.volume) < SAME_VOLUME * p.volume:
            raise InputError(
                f"vertices must have faces that enclose the volume of their hull, {p.volume:.3g}, got {volume:.3g}; "
                "leave out vertices that are closer together than a thousandth of the size"
            )

    def _thickness(self) -> float:
        normals, heights = self._planes  # type: ignore[attr-defined]
        return float((heights - normals @ self.properties().centre).min())

    @property
    def margin(self) -> float:
        """The radius of rounding."""
        return ROUNDING * self._thickness() if self.rounding is None else float(self.rounding)

    def _description(self, p: Properties) -> Description:
        normals, _ = self._planes  # type: ignore[attr-defined]
        return (
            {"flat": self._flat},  # type: ignore[attr-defined]
            {"vertices": ((self.core() - p.centre) @ p.axes).tolist(), "normals": (normals @ p.axes).tolist()},
        )

    def core(self) -> Array:
        """Return the corners of the polyhedron whose faces are moved inwards by the rounding."""
        normals, heights = self._planes  # type: ignore[attr-defined]
        centre = self.properties().centre
        heights = heights - normals @ centre - self.margin
        corners = _corners(normals, heights, 0.5 * self._flat)  # type: ignore[attr-defined]
        return np.asarray(centre + corners)

    def properties(self) -> Properties:
        """Integrate over tetrahedra between an inner point and the triangles of the hull."""
        properties: Properties = self._properties  # type: ignore[attr-defined]
        return properties


FLAT = 1e-3
"""Vertices closer to a plane than this, relative to the size, belong to one face."""

FLAT_OF_THIN = 0.02
"""The same limit relative to the smallest extent, for thin bodies."""

SAME_VOLUME = 0.1
"""The largest relative change of the volume by merging nearly coplanar triangles into faces."""


def _tolerance(vertices: Array) -> float:
    away = vertices - vertices.mean(axis=0)
    _, _, axes = np.linalg.svd(away, full_matrices=False)
    return min(FLAT * float(np.ptp(vertices, axis=0).max()), FLAT_OF_THIN * float(np.ptp(away @ axes[2])))


def _first_four(vertices: Array, scale: float) -> list[int]:
    """Return the corners of a large tetrahedron."""
    a = int(np.argmin(vertices[:, 0]))
    away = vertices - vertices[a]
    b = int(np.argmax((away**2).sum(axis=1)))
    areas = np.cross(away[b], away)
    c = int(np.argmax((areas**2).sum(axis=1)))
    heights = away @ areas[c]
    d = int(np.argmax(np.abs(heights)))
    if not abs(heights[d]) > 1e-9 * scale**3:
        raise InputError("vertices must enclose a volume, got points in one plane")
    return [a, c, b, d] if heights[d] > 0 else [a, b, c, d]


def _hull(vertices: Array) -> npt.NDArray[np.intp]:
    """Return the triangles of the convex hull, counter-clockwise from outside; they form a closed surface."""
    scale = float(np.ptp(vertices, axis=0).max())
    a, b, c, d = _first_four(vertices, scale)
    triangles = np.array([[a, b, c], [a, d, b], [b, d, c], [c, d, a]])
    for k in range(len(vertices)):
        if k in (a, b, c, d):
            continue
        p, q, r = vertices[triangles.T]
        normals = np.cross(q - p, r - p)
        seen = ((vertices[k] - p) * normals).sum(axis=1) > 1e-13 * scale * np.linalg.norm(normals, axis=1)
        if not seen.any():
            continue
        # The boundary of the faces that are visible from the point: edges that occur in one direction only.
        edges = {(int(t[m]), int(t[m - 2])) for t in triangles[seen] for m in range(3)}
        rim = [(i, j, k) for i, j in sorted(edges) if (j, i) not in edges]
        triangles = np.concatenate([triangles[~seen], np.array(rim, dtype=np.intp).reshape(-1, 3)])
    return triangles


def _solid(vertices: Array, triangles: npt.NDArray[np.intp]) -> Properties:
    """Integrate over the tetrahedra between an inner point and triangles."""
    inner = vertices.mean(axis=0)
    corners = vertices[triangles] - inner  # the fourth corner is the origin
    volumes = np.linalg.det(corners) / 6
    totals = corners.sum(axis=1)
    volume = float(volumes.sum())
    second = np.einsum("t,tci,tcj->ij", volumes, corners, corners) + np.einsum("t,ti,tj->ij", volumes, totals, totals)
    properties = principal(volume, volumes @ totals / (4 * volume), second / 20)
    reach = float(np.linalg.norm(vertices - inner - properties.centre, axis=1).max())
    return replace(properties, centre=inner + properties.centre, radius=reach)


def _sides(vertices: Array, triangles: npt.NDArray[np.intp], flat: float) -> tuple[Array, Array]:
    """Return outward normals and heights of the faces; nearly coplanar triangles are merged into one face."""
    p, q, r = vertices[triangles.T]
    normals = np.cross(q - p, r - p)
    areas = np.linalg.norm(normals, axis=1)
    corners = np.unique(triangles)
    faces: list[Array] = []
    known: list[set[int]] = []
    for t in np.argsort(-areas, kind="stable"):
        if any(side.issuperset(triangles[t].tolist()) for side in known):
            continue
        if areas[t] < 1e-12 * areas.max():
            break
        normal = normals[t] / areas[t]
        distances = (vertices[corners] - p[t]) @ normal
        side = corners[np.abs(distances) <= flat]
        known.append(set(side.tolist()))
        middle = vertices[side].mean(axis=0)
        if np.abs((vertices[side] - p[t]) @ normal).max() > 1e-12 * float(np.ptp(vertices, axis=0).max()):
            fitted = np.linalg.svd(vertices[side] - middle, full_matrices=False)[2][2]
            normal = fitted if fitted @ normal > 0 else -fitted
        faces.append(np.array([*normal, middle @ normal]))
    planes = np.array(faces)
    return planes[:, :3], planes[:, 3]


def _corners(normals: Array, heights: Array, same: float) -> Array:
    """Return the distinct corners of the intersection of half-spaces n·x <= h around the origin."""
    trios = np.array(list(combinations(range(len(normals)), 3)))
    matrices = normals[trios]
    good = np.abs(np.linalg.det(matrices)) > 1e-9
    points = np.linalg.solve(matrices[good], heights[trios[good]][..., None])[..., 0]
    scale = float(np.abs(heights).max())
    points = points[(points @ normals.T <= heights + 1e-9 * scale).all(axis=1)]
    kept: list[Array] = []
    for point in points:
        if all(np.linalg.norm(point - other) > same for other in kept):
            kept.append(point)
    return np.array(kept)


Shape = Clump | Tablet | Polyhedron


def elements_of(
    shapes: npt.NDArray[np.int32], radii: Array, known: Sequence[Shape], properties: Sequence[Properties]
) -> tuple[npt.NDArray[np.int64], Array, Array]:
    """Return the spheres of all bodies: offsets per body, arms in the body's frame, radii. Empty without clumps."""
    clumps = [k for k, shape in enumerate(known) if isinstance(shape, Clump)]
    if not clumps:
        return np.empty(0, dtype=np.int64), np.empty((0, 3)), np.empty(0)
    counts = np.ones(len(shapes), dtype=np.int64)
    for k in clumps:
        counts[shapes == k] = len(known[k].radii)  # type: ignore[union-attr]
    offsets = np.concatenate([[0], np.cumsum(counts)])
    arms, sizes = np.zeros((offsets[-1], 3)), np.repeat(radii, counts)
    for k in clumps:
        clump, p = known[k], properties[k]
        rows = offsets[:-1][shapes == k]
        own = (clump.offsets - p.centre) @ p.axes  # type: ignore[union-attr]
        for number, (arm, radius) in enumerate(zip(own, clump.radii, strict=True)):  # type: ignore[union-attr]
            arms[rows + number], sizes[rows + number] = arm, radius
    return offsets, arms, sizes


def shape_records(known: Sequence[Shape], properties: Sequence[Properties]) -> list[_core.GrainShape]:
    """Return the records of shapes for the compiled core, in the frames of their principal axes."""
    records = []
    for shape, p in zip(known, properties, strict=True):
        radius = (3 * p.volume / (4 * np.pi)) ** (1 / 3)  # of the sphere of equal volume
        numbers, vectors = shape._description(p)  # noqa: SLF001
        records.append(
            _core.GrainShape(
                kind=shape.kind, margin=shape.margin, radius=float(radius), numbers=numbers, vectors=vectors
            )
        )
    return records
