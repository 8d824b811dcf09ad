"""The Delaunay triangulation of moving points in the plane: a search structure that also stores adjacency."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal.bodies import BodyArguments, PlanesLike
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.settings import Settings

# Edges are numbered with 32 bits, eight numbers for every point.
MOST_POINTS = 2**29 - 1


class Delaunay(Index):
    """A Delaunay triangulation of the plane that follows its points as they move.

    A search walks along its edges, so the triangulation itself does not depend on the cutoff. It is exact: all
    predicates are evaluated as in exact arithmetic. Of four or more points on an empty circle, the lexicographically
    greatest (by x, then y) is cut off by a diagonal, then the greatest of the rest, and so on; so the triangulation
    depends only on the positions of the points, not on their history. Of points at the same position, the one with the
    smallest number represents all.

    Parameters
    ----------
    points, cutoff, skin, planes
        As for `vicinal.Index`; two dimensions only.
    box
        Must be None: open space only.
    slack
        While every point is within half of this from its position in the triangulation, `update` leaves the
        triangulation as it is, and searches walk farther instead. The pairs are the same. 0: every update repairs it.

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
        cutoff: npt.ArrayLike | None = None,
        *,
        slack: float = 0.0,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
        periodic: PeriodicLike = None,
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
    ) -> None:
        self._set_options(slack=slack)
        if points is not None and np.size(points) == 0:  # an empty list has no number of dimensions
            points = np.reshape(points, (0, 2))
        space: BodyArguments = {"skin": skin, "planes": planes, "box": box, "periodic": periodic}
        space |= {"types": types, "groups": groups, "exclude": exclude, "r_min": r_min}
        super().__init__(points, cutoff, **space)

    def _set_options(self, *, slack: float = 0.0) -> None:
        self._slack = _check.check_number(slack, "slack")
        if not (math.isfinite(self._slack) and self._slack >= 0):
            raise InputError(f"slack must be a finite distance of at least 0, got {slack}")

    def _make(self, settings: Settings, *, lasting: bool = True) -> None:
        bodies = settings.bodies
        if bodies.kind != "points":
            raise InputError(f"Delaunay searches points with a cutoff only, got {bodies.kind}; use another structure")
        if bodies.dim != 2:
            raise InputError(f"points must have 2 columns for Delaunay, got {bodies.dim}; use another structure")
        super()._make(settings, lasting=lasting)

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        if box.periodic:
            raise InputError(
                f"box must be None for Delaunay, which searches open space only, got {box}; "
                "use LinkedCells or CellSorting"
            )
        if len(bodies) > MOST_POINTS:
            raise InputError(f"points must have at most {MOST_POINTS} (2**29 - 1) rows for Delaunay, got {len(bodies)}")
        return {"skin": self._slack}

    @property
    def triangles(self) -> npt.NDArray[np.int32]:
        """Corners of every triangle, counter-clockwise, shape (m, 3), read-only; empty if all points lie on a line.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0).triangles.shape
        (1, 3)
        """
        return _check.locked(_core.delaunay_triangles(self._core))

    @property
    def edges(self) -> npt.NDArray[np.int32]:
        """Every edge once, smaller number first, shape (k, 2), read-only.

        Points at the same position are joined to the one with the smallest number among them.
        """
        return _check.locked(_core.delaunay_edges(self._core))

    def locate(self, points: npt.ArrayLike) -> npt.NDArray[np.int32]:
        """Return for each point the row of the triangle that contains it, edges included, or -1 outside the hull.

        Examples
        --------
        >>> index = vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0)
        >>> index.locate([[1.0, 1.0], [3.0, 4.0]]).tolist()
        [0, -1]
        """
        return _core.delaunay_locate(self._core, self._alike(points, None, None).array)

    def nearest_exactly(self) -> npt.NDArray[np.int32]:
        """Return the nearest other point of each point (-1 if there is none); of several, the smallest number.

        Distances are compared exactly, not as rounded numbers. The nearest point is always joined by an edge.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=1.0).nearest_exactly().tolist()
        [1, 0, 0]
        """
        return _core.delaunay_nearest(self._core)

    def is_delaunay(self) -> bool:
        """Check every invariant by exact arithmetic; the result is True unless there is a fault in the program.

        Examples
        --------
        >>> vicinal.Delaunay([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=1.0).is_delaunay()
        True
        """
        return _core.delaunay_is_delaunay(self._core)
