"""The Delaunay triangulation of moving points in the plane: a search structure that also knows who is next to whom."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, BoxLike
from vicinal.bodies import PlanesLike
from vicinal.errors import InputError
from vicinal.index import Index, Settings

# Edges are numbered with 32 bits, eight for every point.
MOST_POINTS = 2**29 - 1


class Delaunay(Index):
    """A Delaunay triangulation of the plane that follows its points as they move.

    Neighbours are found by walking its edges, so the triangulation itself does not depend on the cutoff. It is exact:
    all decisions are made as in exact arithmetic. Of four or more points on an empty circle the lexicographically
    greatest (by x, then y) is cut off by a diagonal, then the greatest of the rest, and so on; so the triangulation
    depends only on where the points are, not on how they got there. Of points at the same place, the one with the
    smallest number stands for all.

    Parameters
    ----------
    points, cutoff
        As for every index; two dimensions only.
    box
        Must be None: open space only.
    skin
        While no point is farther than half of this from where it was last triangulated, `update` does not touch the
        triangulation, and searches walk a little farther instead. The pairs are the same. 0: always repair.

    Examples
    --------
    >>> index = vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [5.0, 5.0]], cutoff=4.0)
    >>> [column.tolist() for column in index.pairs(want="ijd", sort=True)]
    [[0, 0], [1, 2], [3.0, 4.0]]
    >>> sorted(index.edges.tolist())
    [[0, 1], [0, 2], [1, 2], [1, 3], [2, 3]]
    """

    _structure = "Delaunay"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        cutoff: float,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
    ) -> None:
        self._set_options(skin=skin)
        if points is not None and np.size(points) == 0:  # an empty list does not say how many dimensions it has
            points = np.reshape(points, (0, 2))
        super().__init__(points, cutoff=cutoff, planes=planes, box=box)

    def _set_options(self, *, skin: float = 0.0) -> None:
        self._skin = _check.check_number(skin, "skin")
        if not (math.isfinite(self._skin) and self._skin >= 0):
            raise InputError(f"skin: {skin} found; pass a finite distance, or 0 to repair at every update")

    def _make(self, settings: Settings, *, lasting: bool) -> None:
        _check_plane(settings.bodies, "points")
        super()._make(settings, lasting=lasting)

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        if any(edge > 0 for edge in box):
            raise InputError(
                f"box: {box} found, but Delaunay knows open space only; use LinkedCells or CellSorting for periodic"
            )
        _check_number_of_points(len(bodies))
        return {"skin": self._skin}

    @property
    def triangles(self) -> npt.NDArray[np.int32]:
        """Corners of every triangle, counter-clockwise, shape (m, 3); none if all points are on a line.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0).triangles.shape
        (1, 3)
        """
        return _core.delaunay_triangles(self._core)

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Every edge once, smaller number first, shape (k, 2).

        Points at the same place are joined to the one with the smallest number among them.
        """
        return _core.delaunay_edges(self._core)

    def locate(self, points: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return for each place the row of `triangles` it is in, edges included, or -1 outside the hull.

        Examples
        --------
        >>> index = vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0)
        >>> index.locate([[1.0, 1.0], [3.0, 4.0]]).tolist()
        [0, -1]
        """
        return _core.delaunay_locate(self._core, self._alike(points, None, None).array)

    def nearest(self) -> npt.NDArray[np.int32]:
        """Return the nearest other point of each point (-1 if there is none); of several, the smallest number.

        Distances are compared exactly, not as rounded numbers. A nearest point is always joined by an edge.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=1.0).nearest().tolist()
        [1, 0, 0]
        """
        return _core.delaunay_nearest(self._core)

    def is_delaunay(self) -> bool:
        """Check every invariant from scratch, by exact arithmetic: it must be true, always.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=1.0).is_delaunay()
        True
        """
        return _core.delaunay_is_delaunay(self._core)


def _check_plane(points: Bodies, name: str) -> None:
    if points.dim != 2:
        raise InputError(f"{name}: {points.dim} columns found; Delaunay works in the plane, so pass shape (n, 2)")


def _check_number_of_points(n: int) -> None:
    if n > MOST_POINTS:
        raise InputError(f"points: {n} rows found; at most {MOST_POINTS} (2**29 - 1) fit into a triangulation")
