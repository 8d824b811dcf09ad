"""Rows of elements and walls that may touch before the lists are built again."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal.dem.wall_records import wall_record
from vicinal.layouts import offsets_of
from vicinal.list_builder import ListBuilder
from vicinal.mesh import Mesh
from vicinal.settings import check_settings
from vicinal.sim.walls import MeshWall, Wall, rotated
from vicinal.structures.bvh import boxes_around

Array = npt.NDArray[np.float64]
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


def pair_rows(
    builder: ListBuilder,
    centres: Array,
    reaches: Array,
    box: Sequence[float],
    owners: npt.NDArray[np.int32],
    ghosts: npt.NDArray[np.bool_],
) -> Rows:
    """Return rows of elements that are closer than the sum of their reaches; a pair has one entry.

    Two elements of the same body (`owners`, empty if every body is one element) and two ghosts are left out.
    """
    period = [edge or None for edge in box] if any(box) else None
    offsets, indices, _ = builder.rows(check_settings(centres, radii=reaches, box=period), half=True)
    # Two images are within reach only if twice the reach of a pair is longer than the period.
    several = 4 * float(reaches.max(initial=0.0)) >= min((edge for edge in box if edge), default=math.inf)
    if not len(owners) and not ghosts.any() and not several:
        return offsets, indices
    rows = _core.row_names(offsets)
    kept = ~(ghosts[rows] & ghosts[indices])
    if several:  # forces are those of the nearest image
        kept &= rows != indices
        kept[1:] &= (rows[1:] != rows[:-1]) | (indices[1:] != indices[:-1])
    if len(owners):
        kept &= owners[rows] != owners[indices]
    return offsets_of(rows[kept], len(centres)), np.ascontiguousarray(indices[kept])


def _near_faces(mesh: Mesh, points: Array, reach: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return (point, face) for all faces that intersect the box around a point; these include all within its reach."""
    around = boxes_around(points, reach * (1 + 1e-9))
    rows = mesh._tree.neighbors(query_boxes=around)  # noqa: SLF001
    counts = np.diff(rows.offsets) if len(points) else np.zeros(0, dtype=np.int64)
    return np.repeat(np.arange(len(points), dtype=np.int32), counts), rows.indices


def _described(wall: Wall, points: Array) -> Array:
    """Return points in the coordinates in which a wall was described."""
    centre = np.asarray(wall.centre)
    back = wall.orientation * np.array([1.0, -1.0, -1.0, -1.0])
    return np.asarray(centre + rotated(back, points - centre - wall.position))


def wall_rows(centres: Array, reaches: Array, walls: Sequence[Wall], ghosts: npt.NDArray[np.bool_]) -> Rows:
    """Return rows of the primitives (possible wall contacts, triangles of meshes) within reach of each element.

    The rows of ghosts are empty.
    """
    pieces: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]] = []
    number = 0
    for wall in walls:
        if isinstance(wall, MeshWall):
            i, j = _near_faces(wall.mesh, _described(wall, centres), reaches)
            pieces.append((i.astype(np.int64), j.astype(np.int64) + number))
            number += len(wall.mesh)
        else:
            record = wall_record(wall, 0)
            near = np.flatnonzero(record.distances(centres) < reaches)
            for _ in range(record.contacts):
                pieces.append((near, np.full(len(near), number)))
                number += 1
    if not pieces:
        return np.zeros(len(centres) + 1, dtype=np.int64), np.empty(0, dtype=np.int32)
    first, second = (np.concatenate(column) for column in zip(*pieces, strict=True))
    if ghosts.any():
        own = ~ghosts[first]
        first, second = first[own], second[own]
    order = np.lexsort((second, first))
    return offsets_of(first, len(centres)), second[order].astype(np.int32)
