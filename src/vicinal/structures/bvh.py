"""A bounding volume hierarchy along a Morton curve."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from vicinal import _check
from vicinal.bodies import check_spheres
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments, BoxesLike, PlanesLike

# Measured by benchmarks/bvh.py: from 32 to 64 the time hardly changes, candidates grow with the leaf.
LEAF = 40
GROWTH = 1.5


class BVH(Index):
    """A tree of boxes: for bodies of very different sizes, and for space that is mostly empty.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for every index.
    triangles
        In place of all those that say what the bodies are: corners of triangles in space, shape (m, 3, 3). The bodies
        are the boxes around the triangles, so a pair is a proposal: the boxes overlap, and whether the triangle itself
        is met has to be found out. `query` then takes points, or spheres with their radii.
    leaf
        The most bodies that are searched for together; the default is 40. Smaller leaves propose fewer candidates and
        cost more steps through the tree.
    growth
        `update` keeps the order of the bodies and only moves the boxes, until the tree has become worse by this factor;
        then it is built anew. The default is 1.5. It changes speed only, never results.

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
    >>> [column.tolist() for column in mesh.query([[1.0, 1.0, 0.5], [1.0, 1.0, 3.0]], radii=1.0)]
    [[0], [0]]
    """

    _structure = "BVH"
    _why = "{sizes}, and a tree of boxes adapts to that"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        triangles: npt.ArrayLike | None = None,
        leaf: int | None = None,
        growth: float | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(leaf=leaf, growth=growth)
        self._triangles = triangles is not None
        if triangles is not None:
            given = [name for name in ("cutoff", "radii", "boxes") if bodies.get(name) is not None]
            given += ["points"] if points is not None else []
            if given:
                raise InputError(f"triangles: an array found together with {given[0]}; pass one of them")
            bodies["boxes"] = check_triangles(triangles)
        super().__init__(points, **bodies)

    def _set_options(self, *, leaf: int | None = None, growth: float | None = None) -> None:
        self._triangles = False
        self._leaf = LEAF if leaf is None else _check.check_integer(leaf, "leaf", least=1, most=256)
        self._growth = GROWTH if growth is None else _check.check_number(growth, "growth")
        if not (math.isfinite(self._growth) and self._growth >= 1):
            raise InputError(f"growth: {growth} found; pass a finite factor of at least 1")

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
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

        As many bodies as before keep their order in the tree while they have not moved much; `stats.details` counts
        such refits and the rebuilds.

        Examples
        --------
        >>> mesh = vicinal.BVH(triangles=[[[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 4.0, 0.0]]])
        >>> mesh.update(triangles=[[[0.0, 0.0, 9.0], [4.0, 0.0, 9.0], [0.0, 4.0, 9.0]]])
        >>> [column.tolist() for column in mesh.query([[1.0, 1.0, 8.5]], radii=1.0)]
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

    def query(
        self,
        queries: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        want: str = "ij",
        sort: bool = False,
    ) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs of a query (i) and a body of this index (j); see `vicinal.Index.query`.

        In an index of triangles points, or spheres with radii, are asked for by the boxes around them, rounded outward:
        every triangle that a sphere touches is among the answers.
        """
        if self._triangles and queries is not None and boxes is None:
            boxes, queries, radii = boxes_around(queries, 0.0 if radii is None else radii), None, None
        return super().query(queries, radii=radii, boxes=boxes, want=want, sort=sort)

    def _corners(self, boxes: BoxesLike | None, triangles: npt.ArrayLike | None) -> BoxesLike | None:
        if triangles is None:
            return boxes
        if boxes is not None:
            raise InputError("triangles: an array found together with boxes; pass one of them")
        if not self._triangles:
            raise InputError("triangles: an array found, but the index was not made of triangles; make a new index")
        return check_triangles(triangles)


def check_triangles(value: object) -> BoxesLike:
    """Check corners of triangles in space and return the boxes around them."""
    array = _check.as_array(value, "triangles")
    if array.size == 0 and array.ndim < 3:
        array = np.zeros((0, 3, 3))
    if array.ndim != 3 or array.shape[1:] != (3, 3):
        raise InputError(
            f"triangles: shape {array.shape} found; pass (m, 3, 3): three corners of each triangle in space"
        )
    if array.dtype.kind not in "fiu":
        raise InputError(f"triangles: dtype {array.dtype} is not supported; pass float32 or float64")
    wrong = np.flatnonzero(~np.isfinite(array).all(axis=(1, 2)))
    if len(wrong):
        raise InputError(
            f"triangles: row {wrong[0]} is {array[wrong[0]].tolist()}; coordinates must be finite, so remove such rows"
        )
    return array.min(axis=1), array.max(axis=1)


def boxes_around(points: object, radii: object) -> BoxesLike:
    """Return the boxes around spheres, rounded outward: nothing inside a sphere is outside its box."""
    spheres = check_spheres(_check.check_points(points, "queries").array, radii, 0.0)
    r: Any = spheres.extra
    down, up = spheres.array.dtype.type(-np.inf), spheres.array.dtype.type(np.inf)
    return np.nextafter(spheres.array - r[:, None], down), np.nextafter(spheres.array + r[:, None], up)
