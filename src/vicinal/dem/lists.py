"""Who may touch whom until the next build: rows of pairs, rows of walls, and how thick the skin should be."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal.dem.walls import Cylinder, MeshWall, Plane, Wall, rotated
from vicinal.mesh import Mesh
from vicinal.search import pairs
from vicinal.structures.bvh import boxes_around

Array = npt.NDArray[np.float64]
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]

# A build costs about as much as testing this many entries per body, and a skin of one diameter adds about 16 entries
# per body (benchmarks/dem.py); so lists that live for this many steps × diameters / skin cost least.
LIFE_TIMES_SKIN = 16.0
FIRST_SKIN, LEAST_SKIN, MOST_SKIN = 0.1, 0.02, 0.6  # in diameters
# The part of all bodies that are slower than the speed half a skin is meant for.
USUAL_SPEED = 0.9
# A list serves for this many steps at least.
LEAST_STEPS = 3.0


def next_skin(skin: float, life: int, diameter: float) -> float:
    """Return the skin that would have cost least at the speed at which the last one was used up.

    Steps are counted, not seconds: the same run makes the same lists.

    Examples
    --------
    >>> next_skin(0.1, 160, 1.0)
    0.1
    >>> next_skin(0.1, 10, 1.0)
    0.2
    """
    best = math.sqrt(LIFE_TIMES_SKIN * skin * diameter / max(life, 1))
    best = min(max(best, 0.5 * skin), 2 * skin)
    return min(max(best, LEAST_SKIN * diameter), MOST_SKIN * diameter)


def margins_of(skin: float, speeds: Array, dt: float, most: Array) -> tuple[Array, float]:
    """Return how far each body may come before lists must be made again, and the speed that half a skin is meant for.

    Half a skin for most bodies. Those few that are faster than nearly all others get more, at most `most`: they would
    use up the lists of everybody. All get some steps.

    Examples
    --------
    >>> import numpy as np
    >>> margins, usual = margins_of(0.2, np.array([0.0, *[1.0] * 18, 5.0]), 1e-3, np.full(20, 0.4))
    >>> margins[[0, 1, 19]], usual
    (array([0.1, 0.1, 0.4]), 1.0)
    """
    if not len(speeds):
        return np.empty(0), 0.0
    usual = float(np.partition(speeds, place := int(USUAL_SPEED * (len(speeds) - 1)))[place])
    faster = np.ones(len(speeds)) if usual == 0 else np.maximum(speeds / usual, 1.0)
    if usual == 0:
        faster[speeds > 0] = np.inf
    margins = np.minimum(0.5 * skin * faster, np.maximum(most, 0.5 * skin))
    return np.maximum(margins, LEAST_STEPS * speeds * dt), usual


def offsets_of(first: npt.NDArray[np.int32], rows: int) -> npt.NDArray[np.int64]:
    """Return where each row begins in sorted numbers of rows, and the end."""
    offsets = np.zeros(rows + 1, dtype=np.int64)
    np.cumsum(np.bincount(first, minlength=rows), out=offsets[1:])
    return offsets


def pair_rows(centres: Array, reaches: Array, box: Sequence[float], owners: npt.NDArray[np.int32] | None) -> Rows:
    """Return rows of elements whose distance is less than the sum of their reaches, those of one body left out."""
    period = [edge or None for edge in box] if any(box) else None
    i, j = pairs(centres, radii=reaches, box=period, sort=True)
    if owners is not None and len(owners):
        apart = owners[i] != owners[j]
        i, j = i[apart], j[apart]
    return offsets_of(i, len(centres)), np.ascontiguousarray(j)


def _distance(wall: Wall, centres: Array) -> Array:
    """Return how far points are in front of a plane or cylinder."""
    middle = np.asarray(wall.centre) + wall.position
    if isinstance(wall, Plane):
        normal = rotated(wall.orientation, np.asarray(wall.normal))
        point = middle + rotated(wall.orientation, np.asarray(wall.point) - np.asarray(wall.centre))
        return np.asarray((centres - point) @ normal)
    assert isinstance(wall, Cylinder)  # noqa: S101
    axis = rotated(wall.orientation, wall.axis)
    start = middle + rotated(wall.orientation, np.asarray(wall.start) - np.asarray(wall.centre))
    away = centres - start
    radial = np.linalg.norm(away - np.outer(away @ axis, axis), axis=1)
    return np.asarray(wall.radius - radial if wall.inside else radial - wall.radius)


def _near_faces(mesh: Mesh, points: Array, reach: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return (point, face) for faces that meet the box around a point; none that is within reach is missed."""
    around = boxes_around(points, reach * (1 + 1e-9))
    rows = mesh._tree._rows("j", mesh._tree._queries(None, None, around), sort=False)  # noqa: SLF001
    counts = np.diff(rows.offsets) if len(points) else np.zeros(0, dtype=np.int64)
    return np.repeat(np.arange(len(points), dtype=np.int32), counts), rows.indices


def _described(wall: Wall, points: Array) -> Array:
    """Return where points are for a wall that has not moved."""
    centre = np.asarray(wall.centre)
    back = wall.orientation * np.array([1.0, -1.0, -1.0, -1.0])
    return np.asarray(centre + rotated(back, points - centre - wall.position))


def wall_rows(centres: Array, reaches: Array, walls: Sequence[Wall]) -> Rows:
    """Return rows of primitives (walls, or triangles of meshes, numbered through) within reach of elements."""
    found: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    number = 0
    for wall in walls:
        if isinstance(wall, MeshWall):
            i, j = _near_faces(wall.mesh, _described(wall, centres), reaches)
            found.append((i.astype(np.int64), j.astype(np.int64) + number))
            number += len(wall.mesh)
        else:
            near = np.flatnonzero(_distance(wall, centres) < reaches)
            found.append((near, np.full(len(near), number)))
            number += 1
    if not found:
        return np.zeros(len(centres) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    first, second = (np.concatenate(column) for column in zip(*found, strict=True))
    order = np.lexsort((second, first))
    return offsets_of(first, len(centres)), second[order].astype(np.int32)
