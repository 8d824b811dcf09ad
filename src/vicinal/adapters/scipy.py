"""A tree with the methods of ``scipy.spatial.cKDTree``, answered by vicinal.

>>> from vicinal.adapters.scipy import KDTree  # instead of: from scipy.spatial import cKDTree
>>> tree = KDTree([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
>>> sorted(tree.query_pairs(4.0))
[(0, 1), (0, 2)]

Points in other than two or three dimensions, and norms other than the Euclidean one, are passed on to SciPy. The
approximate searches of SciPy (`eps`) are exact here, which its definition allows.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.adapters.nearest_images import nearest_images
from vicinal.errors import InputError
from vicinal.extras import need
from vicinal.rows import squared
from vicinal.search import count, neighbors, pairs
from vicinal.structures import BVH

if TYPE_CHECKING:
    from scipy.spatial import cKDTree as SciPyTree

Array = npt.NDArray[Any]
# Up to this share of the points as queries, an index that is kept answers; more are searched with a structure
# that suits their radius.
FEW_QUERIES = 0.02
# Pairs that are counted by distance together.
PAIRS_AT_A_TIME = 1_000_000


class KDTree:
    """Points to search, as in ``scipy.spatial.cKDTree``.

    Parameters
    ----------
    data
        Points, shape (n, m).
    leafsize, compact_nodes, copy_data, balanced_tree
        Accepted for compatibility; they have no effect.
    boxsize
        Period of the axes: one number, or one per axis, 0 for an open axis. As in SciPy, a pair has one image, the
        nearest, however large the radius.

    Examples
    --------
    >>> tree = KDTree([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]])
    >>> tree.query_ball_point([0.0, 0.5], 3.5)
    [0, 1, 2]
    """

    def __init__(
        self,
        data: npt.ArrayLike,
        leafsize: int = 16,
        compact_nodes: bool = True,  # noqa: FBT001, FBT002
        copy_data: bool = False,  # noqa: FBT001, FBT002
        balanced_tree: bool = True,  # noqa: FBT001, FBT002
        boxsize: npt.ArrayLike | None = None,
    ) -> None:
        del compact_nodes, balanced_tree
        self.data: Array = np.array(data, np.float64, copy=copy_data or None, order="C", ndmin=2)
        self.leafsize = leafsize
        self.n, self.m = self.data.shape
        self.boxsize: Array | None = None
        self._box: tuple[float | None, ...] | None = None
        if boxsize is not None:
            self.boxsize = np.broadcast_to(np.asarray(boxsize, np.float64), self.m).copy()
            self._box = tuple(float(edge) if edge > 0 else None for edge in self.boxsize)
        if not np.isfinite(self.data).all():
            raise InputError("data must be finite, got a number that is not; remove such rows")

    @property
    def mins(self) -> Array:
        """Smallest coordinate along each axis."""
        return np.asarray(self.data.min(axis=0)) if self.n else np.zeros(self.m)

    @property
    def maxes(self) -> Array:
        """Largest coordinate along each axis."""
        return np.asarray(self.data.max(axis=0)) if self.n else np.zeros(self.m)

    def query(
        self,
        x: npt.ArrayLike,
        k: Any = 1,
        eps: float = 0.0,
        p: float = 2.0,
        distance_upper_bound: float = np.inf,
        workers: int = 1,
    ) -> tuple[Any, Any]:
        """Find the k nearest points of the points x; see ``scipy.spatial.cKDTree.query``.

        Of points equally far away, those with smaller numbers come first.
        """
        queries = np.asarray(x, np.float64)
        ranks = np.arange(1, k + 1) if np.ndim(k) == 0 else np.asarray(k, np.intp)
        odd = queries.shape[-1:] != (self.m,) or not queries.size or not self.n or not np.isfinite(queries).all()
        if self._unknown(p) or odd or not len(ranks) or ranks.min() < 1 or not distance_upper_bound > 0:
            return self._scipy.query(x, k, eps, p, distance_upper_bound, workers)  # type: ignore[no-any-return]
        reach = float(distance_upper_bound)
        near, numbers = self._index.nearest(int(ranks.max()), reach, queries=queries.reshape(-1, self.m))
        if self._repeats(float(near[np.isfinite(near)].max(initial=0.0))):
            return self._scipy.query(x, k, eps, p, distance_upper_bound, workers)  # type: ignore[no-any-return]
        near, places = near[:, ranks - 1], numbers[:, ranks - 1].astype(np.intp)
        beyond = (places < 0) | (near >= reach)  # as in SciPy, the bound itself is not included
        near[beyond], places[beyond] = np.inf, self.n
        shape = queries.shape[:-1] if np.ndim(k) == 0 and k == 1 else (*queries.shape[:-1], len(ranks))
        near, places = near.reshape(shape), places.reshape(shape)
        return (near, places) if near.ndim else (float(near), int(places))

    def query_ball_point(
        self,
        x: npt.ArrayLike,
        r: npt.ArrayLike,
        p: float = 2.0,
        eps: float = 0.0,
        workers: int = 1,
        return_sorted: bool | None = None,  # noqa: FBT001
        return_length: bool = False,  # noqa: FBT001, FBT002
    ) -> Any:
        """Find all points within distance r of the points x; see ``scipy.spatial.cKDTree.query_ball_point``."""
        queries = np.asarray(x, np.float64)
        if self._unknown(p) or queries.shape[-1:] != (self.m,):
            return self._scipy.query_ball_point(queries, r, p, eps, workers, return_sorted, return_length)
        radii = np.broadcast_to(np.asarray(r, np.float64), queries.shape[:-1]).ravel()
        rows = queries.reshape(-1, self.m)
        sort = return_sorted or (return_sorted is None and queries.ndim > 1)
        if not len(rows) or not self.n or not np.isfinite(radii).all() or (radii < 0).any():
            return self._scipy.query_ball_point(queries, r, p, eps, workers, return_sorted, return_length)
        offsets, indices = self._ball(rows, radii, sort=bool(sort))
        if return_length:
            lengths = np.diff(offsets).reshape(queries.shape[:-1])
            return int(lengths) if lengths.ndim == 0 else lengths
        if queries.ndim == 1:
            return indices.tolist()
        result = np.empty(len(rows), object)
        listed = indices.tolist()
        bounds = offsets.tolist()
        for k in range(len(rows)):
            result[k] = listed[bounds[k] : bounds[k + 1]]
        return result.reshape(queries.shape[:-1])

    def query_ball_tree(self, other: KDTree, r: float, p: float = 2.0, eps: float = 0.0) -> list[list[int]]:
        """Find all points of another tree within distance r of each point of this one."""
        return list(other.query_ball_point(self.data, r, p, eps)) if self.n else []

    def query_pairs(
        self, r: float, p: float = 2.0, eps: float = 0.0, output_type: Literal["set", "ndarray"] = "set"
    ) -> Any:
        """Find all pairs of points within distance r, as a set of tuples or as an array of shape (m, 2)."""
        _check.check_choice(output_type, "output_type", ("set", "ndarray"))
        if self._unknown(p) or not 0 <= r < np.inf:
            return self._scipy.query_pairs(r, p, eps, output_type)
        i, j = pairs(self.data, r, box=self._box, sort=True)
        both = np.stack([i, j], axis=1).astype(np.intp)
        if self._repeats(r):
            both = np.unique(both[i != j], axis=0)
        return both if output_type == "ndarray" else set(map(tuple, both.tolist()))

    def sparse_distance_matrix(
        self,
        other: KDTree,
        max_distance: float,
        p: float = 2.0,
        output_type: Literal["dok_matrix", "coo_matrix", "dict", "ndarray"] = "dok_matrix",
    ) -> Any:
        """Return the distances up to `max_distance` between the points of this tree and another one."""
        _check.check_choice(output_type, "output_type", ("dok_matrix", "coo_matrix", "dict", "ndarray"))
        if self._unknown(p) or not 0 <= max_distance < np.inf:
            return self._scipy.sparse_distance_matrix(_scipy_of(other), max_distance, p, output_type)
        options: Any = {"queries": self.data, "box": self._box, "want": "ijd", "sort": True}
        i, j, d = pairs(other.data, max_distance, **options) if self.n and other.n else (np.zeros(0, np.intp),) * 3
        if self._repeats(max_distance):
            i, j, d = nearest_images(i, j, d)
        if output_type == "ndarray":
            made = np.zeros(len(i), dtype=[("i", np.intp), ("j", np.intp), ("v", np.float64)])
            made["i"], made["j"], made["v"] = i, j, d
            return made
        if output_type == "dict":
            return dict(zip(zip(i.tolist(), j.tolist(), strict=True), d.tolist(), strict=True))
        need("sparse_distance_matrix", "scipy")
        from scipy.sparse import coo_matrix

        matrix = coo_matrix((d, (i, j)), shape=(self.n, other.n))
        return matrix if output_type == "coo_matrix" else matrix.todok()

    def count_neighbors(
        self,
        other: KDTree,
        r: npt.ArrayLike,
        p: float = 2.0,
        weights: Any = None,
        cumulative: bool = True,  # noqa: FBT001, FBT002
    ) -> Any:
        """Count the pairs of a point of this tree and one of another within each of the distances r."""
        radii = np.asarray(r, np.float64)
        largest = float(radii.max(initial=0.0))
        odd = radii.ndim > 1 or radii.min(initial=0.0) < 0 or not largest < np.inf or not (self.n and other.n)
        # SciPy refuses these.
        odd = odd or not (weights is None or isinstance(weights, tuple) or self is other)
        odd = odd or not (cumulative or (np.diff(radii.ravel()) >= 0).all())
        if self._unknown(p) or odd or self._repeats(largest):
            return self._scipy.count_neighbors(_scipy_of(other), r, p, weights, cumulative)
        if weights is None and radii.ndim == 0:
            return int(count(other.data, largest, queries=self.data, box=self._box).sum(dtype=np.int64))
        mine, theirs = weights if isinstance(weights, tuple) else (weights, weights)
        edges = np.sort(radii.ravel())
        sums = np.zeros(len(edges) + 1)
        for i, j, vectors in pairs(
            other.data, largest, queries=self.data, box=self._box, want="ijD", chunks=PAIRS_AT_A_TIME
        ):
            values = None if weights is None else _picked(mine, i) * _picked(theirs, j)
            # Squares are compared, as in `pairs`: a root, once rounded, can be equal to a radius that is too small.
            bins = np.searchsorted(edges * edges, squared(vectors))
            sums += np.bincount(bins, values, minlength=len(sums))
        # Of equal radii the first has all their pairs; only cumulative counts may be in any order.
        totals = np.cumsum(sums)[np.searchsorted(edges, radii.ravel(), side="right") - 1] if cumulative else sums[:-1]
        result = totals.reshape(radii.shape)
        if weights is None:
            result = result.astype(np.intp)
        return result if result.ndim else result[()]

    def _ball(self, rows: Array, radii: Array, *, sort: bool) -> tuple[Array, Array]:
        """Return the points around queries as rows."""
        options: Any = {"queries": rows, "query_radii": radii, "sort": sort}
        if len(rows) <= max(16, FEW_QUERIES * self.n):
            found = self._index.neighbors(**options)
        elif (radii == radii[0]).all():
            found = neighbors(self.data, float(radii[0]), box=self._box, queries=rows, sort=sort)
        else:
            found = neighbors(self.data, box=self._box, **options)
        if not self._repeats(float(radii.max())):
            return found.offsets, found.indices
        owners = np.repeat(np.arange(len(rows)), np.diff(found.offsets))
        both = np.unique(np.stack([owners, found.indices], axis=1), axis=0)
        counts = np.bincount(both[:, 0], minlength=len(rows))
        return np.concatenate([[0], np.cumsum(counts)]), both[:, 1]

    @cached_property
    def _index(self) -> BVH:
        return BVH(self.data, radii=0.0, box=self._box)

    def _unknown(self, p: float) -> bool:
        """Return whether SciPy has to answer."""
        return p != 2.0 or self.m not in (2, 3)

    def _repeats(self, r: float) -> bool:
        """Return whether a point can reach two images of another within a distance."""
        return self._box is not None and any(edge is not None and 2 * r >= edge for edge in self._box)

    @cached_property
    def _scipy(self) -> SciPyTree:
        need("a search that vicinal does not answer", "scipy")
        from scipy.spatial import cKDTree as Tree

        return Tree(self.data, self.leafsize, boxsize=self.boxsize)


cKDTree = KDTree  # noqa: N816 - the name in SciPy


def _scipy_of(tree: Any) -> Any:
    return tree._scipy if isinstance(tree, KDTree) else tree  # noqa: SLF001


def _picked(weights: Any, numbers: Array) -> Any:
    return np.ones(len(numbers)) if weights is None else np.asarray(weights, np.float64)[numbers]
