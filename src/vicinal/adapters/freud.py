"""Neighbours for freud: its ``NeighborList`` from a search of vicinal, and the other way round.

>>> from vicinal.adapters.freud import from_neighbor_list, neighbor_list
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.rows import Neighbors
from vicinal.search import neighbors

if TYPE_CHECKING:
    from freud.box import Box
    from freud.locality import NeighborList

Array = npt.NDArray[Any]


def box_of(box: Box) -> dict[str, Any]:
    """Return a box of freud as the keywords of `vicinal.pairs`."""
    dim = 2 if box.is2D else 3
    matrix = np.asarray(box.to_matrix(), np.float64)[:dim, :dim].T  # freud has edge vectors as columns
    periodic = tuple(bool(used) for used in box.periodic[:dim])
    if not any(periodic):
        return {"box": None}
    if not np.any(matrix - np.diag(np.diag(matrix))):
        return {
            "box": tuple(float(edge) if used else None for edge, used in zip(np.diag(matrix), periodic, strict=True))
        }
    return {"box": matrix, "periodic": periodic}


def neighbor_list(
    system: tuple[Any, npt.ArrayLike],
    r_max: float,
    query_points: npt.ArrayLike | None = None,
    *,
    r_min: float = 0.0,
    exclude_ii: bool = True,
) -> NeighborList:
    """Return the neighbours within a distance as a ``freud.locality.NeighborList``.

    Parameters
    ----------
    system
        Box and points, as freud takes them.
    r_max, r_min
        Largest and smallest distance.
    query_points
        A second set; by default the points themselves.
    exclude_ii
        Without query points: leave out each point as its own neighbour.
    """
    from freud.box import Box

    box = Box.from_box(system[0])
    dim = 2 if box.is2D else 3
    points = np.asarray(system[1], np.float32)[:, :dim]
    options: Any = {"want": "jdD", "sort": True, "r_min": r_min, **box_of(box)}
    if query_points is None:
        rows = neighbors(points, r_max, self_pairs=not exclude_ii, **options)
    else:
        rows = neighbors(points, r_max, queries=np.asarray(query_points, np.float32)[:, :dim], **options)
    return to_neighbor_list(rows)


def to_neighbor_list(rows: Neighbors) -> NeighborList:
    """Return rows with vectors as a ``freud.locality.NeighborList``."""
    from freud.locality import NeighborList

    vectors: Any = np.zeros((len(rows.indices), 3), np.float32)
    if rows.vectors is not None:
        vectors[:, : rows.vectors.shape[1]] = rows.vectors
    owners = np.repeat(np.arange(len(rows), dtype=np.uint32), np.diff(rows.offsets))
    return NeighborList.from_arrays(len(rows), rows.columns, owners, rows.indices.astype(np.uint32), vectors)


def from_neighbor_list(neighbor_list: NeighborList) -> Neighbors:
    """Return a ``freud.locality.NeighborList`` as rows."""
    offsets = np.concatenate([[0], np.cumsum(np.asarray(neighbor_list.neighbor_counts, np.int64))])
    return Neighbors(
        offsets,
        np.asarray(neighbor_list.point_indices, np.int32),
        int(neighbor_list.num_points),
        distances=np.asarray(neighbor_list.distances),
        vectors=np.asarray(neighbor_list.vectors),
    )
