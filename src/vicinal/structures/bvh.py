"""A bounding volume hierarchy (BVH) along a Morton curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from vicinal import _check
from vicinal.bodies import check_spheres
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments, BoxesLike, PlanesLike

# Measured by benchmarks/bvh.py: from 32 to 64 the time hardly changes; candidates grow with the size of a leaf.
LEAF = 40
GROWTH = 1.5


class BVH(Index):
    """A tree of bounding boxes, for bodies of very different sizes and for space that is mostly empty.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    triangles
        In place of points, radii and boxes: the corners of triangles in space, shape (m, 3, 3). The bodies are the
        bounding boxes of the triangles, so a pair means that boxes overlap; the triangles themselves are not tested.
        Queries are then points, or spheres with `query_radii`.
    leaf
        Most bodies in a leaf; the default is 40. Smaller leaves propose fewer candidates and need more steps through
        the tree.
    growth
        `update` keeps the order of the bodies and refits the boxes until the tree is worse by this factor; then it is
        built again. The default is 1.5.

    Examples
    --------
    >>> index = vicinal.BVH([[0.0, 0.0], [3.0, 0.0], [0.0, 40.0]], radii=[1.0, 1.0, 38.5])
    >>> index.count().tolist()
    [0, 0, 0]
    >>> index.update([[0.0, 0.0], [2.0, 0.0], [0.0, 39.0]])
    >>> index.count().tolist()
    [2, 2, 2]
    >>> floor = [[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]]
    >>> mesh = vicinal.BVH(triangles=floor)
    >>> [column.tolist() for column in mesh.pairs(queries=[[1.0, 1.0, 0.5], [1.0, 1.0, 3.0]], query_radii=1.0)]
    [[0], [0]]
    """

    _structure = "BVH"
    _why = "{sizes}, and a tree of boxes adapts to that"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        triangles: npt.ArrayLike | None = None,
        leaf: int | None = None,
        growth: float | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(leaf=leaf, growth=growth)
        self._triangles = triangles is not None
        if triangles is not None:
            others = {"points": points, "cutoff": cutoff, "radii": bodies.get("radii"), "boxes": bodies.get("boxes")}
            given = [name for name, value in others.items() if value is not None]
            if given:
                raise InputError(f"triangles= must not be combined with {given[0]}; pass one of them")
            bodies["boxes"] = check_triangles(triangles)
        super().__init__(points, cutoff, **bodies)

    def _set_options(self, *, leaf: int | None = None, growth: float | None = None) -> None:
        self._triangles = False
        self._leaf = LEAF if leaf is None else _check.check_integer(leaf, "leaf", least=1, most=256)
        self._growth = GROWTH if growth is None else _check.check_number(growth, "growth")
        if not (math.isfinite(self._growth) and self._growth >= 1):
            raise InputError(f"growth must be a finite factor of at least 1, got {growth}")

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        return {"leaf": float(self._leaf), "growth": self._growth}

    def update(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        planes: PlanesLike | None = None,
        triangles: npt.ArrayLike | None = None,
    ) -> None:
        """Move the bodies, or replace them; see `vicinal.Index.update`.

        If their number stays the same and they moved little, the tree is refitted; `stats.details` counts refits and
        rebuilds.

        Examples
        --------
        >>> mesh = vicinal.BVH(triangles=[[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]])
        >>> mesh.update(triangles=[[[0.0, 0.0, 9.0], [4.0, 0.0, 9.0], [0.0, 4.0, 9.0]]])
        >>> [column.tolist() for column in mesh.pairs(queries=[[1.0, 1.0, 8.5]], query_radii=1.0)]
        [[0], [0]]
        """
        super().update(points, radii=radii, boxes=self._corners(boxes, triangles), planes=planes)

    def insert(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        triangles: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.int32]:
        """Add bodies and return their numbers; see `vicinal.Index.insert`."""
        return super().insert(points, radii=radii, boxes=self._corners(boxes, triangles))

    def _queries(self, queries: object, radii: object = None, boxes: object = None) -> Bodies | None:
        """Check queries; with triangles, points and spheres stand for their bounding boxes, rounded outward."""
        if self._triangles and queries is not None and boxes is None:
            dtype = self._like.array.dtype
            spheres = check_spheres(queries, 0.0 if radii is None else radii, 0.0, None, ("queries", "query_radii"))
            queries, radii, boxes = None, None, boxes_around(spheres.array, spheres.extra, dtype)
        return super()._queries(queries, radii, boxes)

    def _corners(self, boxes: BoxesLike | None, triangles: npt.ArrayLike | None) -> BoxesLike | None:
        if triangles is None:
            return boxes
        if boxes is not None:
            raise InputError("triangles= must not be combined with boxes; pass one of them")
        if not self._triangles:
            raise InputError("triangles= needs an index that was made of triangles; make a new index")
        return check_triangles(triangles)


def check_triangles(value: object) -> BoxesLike:
    """Check the corners of triangles in space and return their bounding boxes."""
    array = _check.as_array(value, "triangles")
    if array.size == 0 and array.ndim < 3:
        array = np.zeros((0, 3, 3))
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(f"triangles must have shape (m, 3, 3), three corners of each triangle, got {array.shape}")
    if array.dtype.kind not in "fiu":
        raise InputError(f"triangles must hold real numbers, got dtype {array.dtype}; pass float32 or float64")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(wrong):
        raise InputError(f"triangles must be finite, got {array[wrong[0]].tolist()} in row {wrong[0]}")
    return array.min(axis=1), array.max(axis=1)


def boxes_around(points: npt.NDArray[Any], radii: Any, dtype: np.dtype[Any] | None = None) -> BoxesLike:
    """Return the bounding boxes of spheres, in a dtype, rounded outward: no part of a sphere lies outside its box."""
    # The difference is rounded once in the dtype of the points and once more in that of the boxes.
    r = radii[:, None]
    lower, upper = np.nextafter(points - r, -np.inf), np.nextafter(points + r, np.inf)
    if dtype is None or dtype == points.dtype:
        return lower, upper
    low, high = dtype.type(-np.inf), dtype.type(np.inf)
    return np.nextafter(lower.astype(dtype), low), np.nextafter(upper.astype(dtype), high)
