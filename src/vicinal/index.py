"""The searches that every structure answers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal import self_pairs as own
from vicinal._check import Bodies
from vicinal.bodies import BoxesLike, QueryArguments, check_boxes, check_points, check_spheres
from vicinal.errors import InputError
from vicinal.filters import core_filter
from vicinal.fused import count_distances, label_components, sum_function
from vicinal.kept_bodies import KeptBodies
from vicinal.mixed import boxes_around
from vicinal.nearest import check_nearest
from vicinal.pair_function import PairFunction
from vicinal.planes import Touching, join_pairs, join_rows
from vicinal.rows import Neighbors, check_most, columns_in, columns_of, nearest_of, only, pick_columns
from vicinal.single_search import SingleSearch, pieces, plain_pairs
from vicinal.stats import Stats


class Index(KeptBodies):
    """The methods that every structure has. Use one of the subclasses.

    Exactly one of `cutoff`, `radii` and `boxes` describes the bodies.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3). float32 and float64 are kept, other numbers become float64. Arrays are
        copied: changing yours changes nothing until the next `update`.
    cutoff
        The bodies are points; two form a pair if their distance is at most this.
    radii
        The bodies are spheres; two form a pair if they touch or overlap. One number may stand for all.
    boxes
        The bodies are axis-aligned boxes (lower, upper), two arrays of shape (n, 2) or (n, 3), in place of points; two
        form a pair if they overlap along every axis, faces included.
    skin
        Pairs reach this much farther: it is added to the cutoff, and half of it to radii and to every face of a box.
    planes
        Infinite bodies (points, normals): a point on each plane and a normal out of the solid half-space behind it. A
        body and a plane form a pair if some of the body is on or behind the plane. Planes are numbered after the
        bodies.
    box
        Periodic cell: one length; one per axis, with None for an open axis; edge vectors as the rows of a matrix; or
        ``(a, b, c, alpha, beta, gamma)``, three lengths (0: open) and the angles between them in degrees. None: open
        space.
    periodic
        Whether space is periodic along each edge of the box, one for all or one per edge. None: wherever it has one.
    criterion, types, groups, exclude, r_min
        Which bodies form pairs; see `vicinal.pairs`. An index with types, groups or excluded pairs keeps its number of
        bodies.

    Notes
    -----
    The dtype of the points is that of the index. Everything passed later (`update`, `insert`, queries) is converted to
    it, as in a NumPy assignment; the pairs are exactly those of the converted numbers.

    A copy or pickle of an index holds the same bodies and is rebuilt.
    """

    # Not at run time: `typing` would keep the functions, and with them the core, until the interpreter has ended.
    if TYPE_CHECKING:

        @overload
        def pairs(
            self,
            *,
            want: str = "ij",
            half: bool = True,
            sort: bool = False,
            self_pairs: bool = False,
            max_neighbors: int | None = None,
            chunks: None = None,
            **others: Unpack[QueryArguments],
        ) -> tuple[npt.NDArray[Any], ...]: ...
        @overload
        def pairs(
            self,
            *,
            want: str = "ij",
            half: bool = True,
            sort: bool = False,
            self_pairs: bool = False,
            max_neighbors: int | None = None,
            chunks: int,
            **others: Unpack[QueryArguments],
        ) -> Iterator[tuple[npt.NDArray[Any], ...]]: ...

    def pairs(
        self,
        *,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        self_pairs: bool = False,
        max_neighbors: int | None = None,
        chunks: int | None = None,
    ) -> tuple[npt.NDArray[Any], ...] | Iterator[tuple[npt.NDArray[Any], ...]]:
        """Find all pairs of bodies, or of a query (i) and a body (j); see `vicinal.pairs`.

        The index must not change while its pairs are found in chunks.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> [column.tolist() for column in index.pairs(queries=[[2.5, 0.0], [0.0, 9.0], [0.0, 1.0]], sort=True)]
        [[0, 2], [1, 0]]
        """
        alone = queries is not None and query_radii is None and query_boxes is None
        plain = self._plain and alone and query_types is None and query_groups is None and half is True
        plain = plain and self_pairs is False and max_neighbors is None and chunks is None
        if plain and (found := plain_pairs(self._core, queries, want, sort)) is not None:
            return found
        others = self._queries(queries, query_radii, query_boxes)
        once = self._check_pairs(want, others, half=half)
        kept = self._core_filter(others, query_types, query_groups)
        ordered = _check.check_flag(sort, "sort")
        with_self = self._with_self(self_pairs, others)
        most = check_most(max_neighbors, half=once and others is None, boxes=self._like.kind == "boxes")
        if chunks is not None:
            return self._chunks(chunks, want, others, kept, half=once, sort=ordered, with_self=with_self, most=most)
        if most:
            letters = want.replace("i", "").replace("E", "")
            rows = self._near_rows(letters, others, kept, most, sort=ordered, with_self=with_self)
            return pick_columns(columns_in(rows), want)
        if not with_self and "E" not in want:
            return self._pairs(want, others, kept, half=once, sort=ordered)
        letters = columns_of("ijS" + want if with_self else want)
        columns = dict(zip(letters, self._pairs(letters, others, kept, half=once, sort=ordered), strict=True))
        return pick_columns(own.join_pairs(columns, len(self), sort=ordered) if with_self else columns, want)

    def neighbors(
        self,
        *,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        want: str = "j",
        sort: bool = False,
        self_pairs: bool = False,
        max_neighbors: int | None = None,
    ) -> Neighbors:
        """Find the neighbours of every body, or of every query, as rows; see `vicinal.neighbors`.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=3.0)
        >>> index.neighbors(queries=[[2.5, 0.0]], sort=True)[0].tolist()
        [0, 1]
        """
        self._check_want(want, "jdDS")
        others = self._queries(queries, query_radii, query_boxes)
        kept = self._core_filter(others, query_types, query_groups)
        ordered = _check.check_flag(sort, "sort")
        with_self = self._with_self(self_pairs, others)
        most = check_most(max_neighbors, half=False, boxes=self._like.kind == "boxes")
        if most:
            return self._near_rows(want, others, kept, most, sort=ordered, with_self=with_self)
        return self._rows_with_self(want, others, kept, sort=ordered, with_self=with_self)

    def count(
        self,
        *,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        self_pairs: bool = False,
    ) -> npt.NDArray[np.int32]:
        """Count the neighbours of every body, or of every query; see `vicinal.count`.

        Examples
        --------
        >>> vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=3.0).count(queries=[[2.5, 0.0], [9.0, 0.0]]).tolist()
        [2, 0]
        """
        others = self._queries(queries, query_radii, query_boxes)
        counts = self._count(others, self._core_filter(others, query_types, query_groups))
        if self._with_self(self_pairs, others):
            counts[: len(self)] += 1
        return counts

    def nearest(
        self, k: int, cutoff: float = math.inf, *, queries: npt.ArrayLike | None = None
    ) -> tuple[npt.NDArray[Any], npt.NDArray[np.int32]]:
        """Find the k nearest points of every body, or of every query; see `vicinal.nearest`.

        The cutoff is independent of that of the index. Spheres are points at their centres; planes are left out. The
        first call after a change of the bodies builds a tree, which is kept for the next.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0], [9.0, 0.0]], cutoff=1.0)
        >>> d, j = index.nearest(1, queries=[[5.0, 0.0]])
        >>> d.tolist(), j.tolist()
        ([[2.0]], [[1]])
        """
        if self._like.kind == "boxes":
            raise InputError(
                "nearest needs an index of points or spheres, got boxes, which have no distance; pass the centres of "
                "the boxes to vicinal.nearest"
            )
        if self._filter is not None:
            raise InputError("nearest needs an index without types, groups, exclude and r_min; make one for it")
        number, reach = check_nearest(k, cutoff, self._centres(self._outline), self._box)
        others = None
        if queries is not None:
            others = self._same(check_points(queries, "queries", self._like.array.dtype), "queries")
            others = self._centres(others)
        return self._core.nearest(number, reach, None if others is None else others.for_core)

    def histogram(
        self,
        edges: npt.ArrayLike,
        *,
        weights: npt.ArrayLike | None = None,
        types: npt.ArrayLike | None = None,
        queries: npt.ArrayLike | None = None,
        query_weights: npt.ArrayLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
    ) -> npt.NDArray[Any]:
        """Count the pairs of points by distance; see `vicinal.histogram`. The last edge is at most the cutoff.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=5.0)
        >>> index.histogram([0.0, 3.5, 5.0]).tolist()
        [1, 2]
        """
        return count_distances(
            self,
            edges,
            weights=weights,
            types=types,
            queries=queries,
            query_weights=query_weights,
            query_types=query_types,
            query_groups=query_groups,
        )

    def components(self) -> npt.NDArray[np.int32]:
        """Label the connected components of the bodies; see `vicinal.components`.

        Examples
        --------
        >>> vicinal.LinkedCells([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]], cutoff=1.0).components().tolist()
        [0, 1, 0]
        """
        return label_components(self)

    def reduce(
        self,
        function: PairFunction,
        *,
        each: bool = False,
        data: tuple[Any, ...] = (),
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
    ) -> Any:
        """Sum a function over the pairs of points or spheres; see `vicinal.reduce`.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0)
        >>> index.reduce(lambda i, j, d2, v: d2)
        25.0
        """
        sums, single = sum_function(
            self,
            function,
            each=each,
            data=data,
            queries=queries,
            query_radii=query_radii,
            query_types=query_types,
            query_groups=query_groups,
        )
        if single:
            sums = sums[:, 0]
        if each:
            return sums
        return float(sums[0]) if single else sums[0]

    def _centres(self, bodies: Bodies) -> Bodies:
        """Return spheres as points; copying bodies that are points would take as long as answering a query."""
        return bodies if self._like.kind == "points" else replace(bodies, extra=None, largest=[])

    def _check_pairs(self, want: str, queries: Bodies | None, *, half: bool) -> bool:
        self._check_want(want, "ijdDSE")
        once = _check.check_flag(half, "half")
        if queries is not None and not once:
            raise InputError(
                "half must be True with queries, got False; pairs of a query and a body have one direction"
            )
        return once

    def _chunks(
        self,
        chunks: object,
        want: str,
        queries: Bodies | None,
        kept: _core.Filter | None,
        *,
        half: bool,
        sort: bool,
        with_self: bool,
        most: int,
    ) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Return an iterator over the pairs, at most `chunks` at a time."""
        size = _check.check_integer(chunks, "chunks", least=1, most=2**62)
        if most:
            raise InputError("chunks= must not be combined with max_neighbors=; leave out one or the other")
        if sort:
            raise InputError("sort must be False with chunks, got True; sort each chunk, or leave out chunks")
        if with_self:
            raise InputError("self_pairs must not be combined with chunks; add the pairs (i, i) yourself")
        if "E" in want:
            raise InputError(f"want must consist of the letters i, j, d, D, S with chunks, got {want!r}")
        if len(self._planes):
            raise InputError(f"planes must be None with chunks, got {len(self._planes)}; search planes without chunks")
        given = None if queries is None else queries.for_core
        if isinstance(self._core, SingleSearch):
            return self._core.chunks(size, want, half, given, kept)
        return pieces(_core.Chunks(self._core, want, half, given, kept), size)

    def _check_want(self, want: str, letters: str) -> None:
        _check.check_want(want, letters)
        if self._like.kind == "boxes" and ("d" in want or "D" in want):
            raise InputError(f"want must not contain d or D for boxes, which have no distance, got {want!r}")

    def _with_self(self, value: object, queries: Bodies | None) -> bool:
        """Check whether the pairs of bodies with themselves are wanted, which queries do not have."""
        wanted = _check.check_flag(value, "self_pairs")
        if wanted and queries is not None:
            raise InputError("self_pairs must be False with queries, got True; queries are not among the bodies")
        return wanted

    def _core_filter(self, queries: Bodies | None, types: object, groups: object) -> _core.Filter | None:
        return core_filter(self._filter, queries, types, groups)

    def _pairs(
        self, want: str, queries: Bodies | None, kept: _core.Filter | None, *, half: bool, sort: bool
    ) -> tuple[npt.NDArray[Any], ...]:
        given = None if queries is None else queries.for_core
        if not len(self._planes):
            return tuple(self._core.pairs(want, half, sort, given, kept))
        letters = "".join(dict.fromkeys("i" + want))
        columns = dict(zip(letters, self._core.pairs(letters, half, sort, given, kept), strict=True))
        touching = self._touch(queries)
        joined = join_pairs(columns, touching, len(self), half=half or queries is not None, sort=sort)
        return tuple(joined[letter] for letter in want)

    def _count(self, queries: Bodies | None, kept: _core.Filter | None) -> npt.NDArray[np.int32]:
        counts = self._core.count(None if queries is None else queries.for_core, kept)
        if not len(self._planes):
            return counts
        touching = self._touch(queries)
        counts += np.bincount(touching.bodies, minlength=len(counts)).astype(np.int32)
        if queries is not None:
            return counts
        own = np.bincount(touching.planes, minlength=len(self._planes)).astype(np.int32)
        return np.concatenate([counts, own])

    def _sorted_rows(self, *, half: bool) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
        """Return offsets and indices, each row in ascending order; `half`: each pair in the row of its smaller id."""
        offsets, indices = self._core.rows("j", half, True, None, self._core_filter(None, None, None))
        return offsets, indices

    def _rows_with_self(
        self, want: str, queries: Bodies | None, kept: _core.Filter | None, *, sort: bool, with_self: bool
    ) -> Neighbors:
        if not with_self:
            return self._rows(want, queries, kept, sort=sort)
        return only(own.join_rows(self._rows(want + "S", queries, kept, sort=sort), len(self)), want)

    def _near_rows(
        self, want: str, queries: Bodies | None, kept: _core.Filter | None, most: int, *, sort: bool, with_self: bool
    ) -> Neighbors:
        """Return the nearest neighbours of each row, at most `most`."""
        rows = self._rows_with_self(want + "DS", queries, kept, sort=sort, with_self=with_self)
        return only(nearest_of(rows, most), want)

    def _rows(self, want: str, queries: Bodies | None, kept: _core.Filter | None, *, sort: bool) -> Neighbors:
        letters = "j" + "".join(letter for letter in "dDS" if letter in want)
        given = None if queries is None else queries.for_core
        offsets, *arrays = self._core.rows(letters, False, sort, given, kept)
        columns = dict(zip(letters, arrays, strict=True))
        rows = Neighbors(
            offsets,
            columns["j"],
            len(self),
            distances=columns.get("d"),
            vectors=columns.get("D"),
            shifts=columns.get("S"),
        )
        if not len(self._planes):
            return rows
        return join_rows(rows, self._touch(queries), len(self), 0 if queries is not None else len(self._planes))

    def _touch(self, queries: Bodies | None) -> Touching:
        """Find the bodies that touch planes. Every finite body is one candidate for each plane."""
        given = None if queries is None else queries.for_core
        bodies, planes, distances = self._core.touch(self._planes.points, self._planes.normals, given)
        size = len(self) if queries is None else len(queries)
        self._touching = size * len(self._planes), len(bodies)
        return Touching(bodies, planes, distances, self._planes.normals)

    def _queries(self, queries: object, radii: object = None, boxes: object = None) -> Bodies | None:
        """Check a second set of bodies, of the kind of the first; None if none is given."""
        if queries is None and radii is None and boxes is None:
            return None
        if radii is not None and boxes is not None:
            raise InputError(
                "query_radii= must not be combined with query_boxes=, which have corners; pass one of them"
            )
        if queries is None and radii is not None:
            raise InputError(
                "query_radii= needs queries=, the centres of the spheres, got None; pass both or leave out query_radii="
            )
        kind, dtype = self._like.kind, self._like.array.dtype
        if kind == "boxes":
            checked = (
                self._spheres(queries, radii)
                if boxes is None
                else check_boxes(queries, boxes, 0.0, dtype, ("queries", "query_boxes"))
            )
        elif boxes is not None:
            raise InputError(
                f"query_boxes= needs an index of boxes; pass queries= to an index of {kind}, or use vicinal.pairs"
            )
        elif kind == "spheres":
            sizes = 0.0 if radii is None else radii
            checked = check_spheres(queries, sizes, 0.0, dtype, ("queries", "query_radii"), self._criterion)
        elif radii is not None:
            made = "make the index with radii=0" if self._lasting else "leave out cutoff="
            raise InputError(
                f"query_radii= must not be combined with cutoff=; {made}, the query radii are the distances"
            )
        else:
            checked = check_points(queries, "queries", dtype)
        checked = self._same(checked, "query_boxes" if kind == "boxes" else "queries")
        if checked.largest:
            _check.check_images(self._outline, self._cutoff, self._box, queries=checked)
        return checked

    def _spheres(self, queries: object, radii: object) -> Bodies:
        """Check spheres that are compared with the boxes of the index; return the boxes around them."""
        if (self._filter is not None and self._filter.spheres is not None) or len(self._planes):
            raise InputError("query_boxes= must be given for spheres near boxes and for boxes with planes, got None")
        names = ("queries", "query_radii")
        spheres = check_spheres(queries, 0.0 if radii is None else radii, 0.0, self._like.array.dtype, names)
        if len(spheres) == 0:
            return self._like
        return boxes_around(self._same(spheres, "queries"), self._outline, self._box)

    @property
    def stats(self) -> Stats:
        """Figures of the last build and search."""
        figures = self._core.stats()
        if self._touching is not None:
            figures["candidates"] += self._touching[0]
            figures["pairs"] += self._touching[1]
        return Stats(structure=self._structure, **figures)
