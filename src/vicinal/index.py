"""The methods that every search structure has: keep bodies while they move, and find their pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Unpack, cast

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal import self_pairs as own
from vicinal._check import Bodies
from vicinal._environment import check_environment
from vicinal.alike import check_alike, check_place
from vicinal.bodies import BoxesLike, PlanesLike, QueryArguments, check_boxes, check_points, check_spheres
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.errors import InputError
from vicinal.filters import core_filter
from vicinal.mixed import boxes_around
from vicinal.nearest import check_nearest
from vicinal.planes import Touching, check_planes, join_pairs, join_rows
from vicinal.rows import Neighbors, columns_of, pick_columns
from vicinal.settings import Settings, check_settings
from vicinal.single_search import SingleSearch, plain_pairs
from vicinal.stats import Stats


class Index:
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

    _structure: ClassVar[str]
    # Why the structure is the fastest, for the reason that `vicinal.choose` gives: {bodies} is the number of bodies,
    # {cells} a clause on the cells of a grid, {sizes} one on the sizes of the bodies if they differ, otherwise {cells}.
    _why: ClassVar[str] = ""

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
        periodic: PeriodicLike = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
    ) -> None:
        self._make(
            check_settings(
                points,
                cutoff,
                radii=radii,
                boxes=boxes,
                skin=skin,
                planes=planes,
                box=box,
                periodic=periodic,
                criterion=criterion,
                types=types,
                groups=groups,
                exclude=exclude,
                r_min=r_min,
            )
        )

    @classmethod
    def _once(cls, settings: Settings, options: Mapping[str, Any]) -> Index:
        """Make an index for a single search: arrays are used in place, results are not kept for reuse."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(settings, lasting=False)
        return index

    @staticmethod
    def _chosen(settings: Settings, chooser: _core.Chooser, limit: int | None) -> Index:
        """Make an index for a single search whose structure the core chooses."""
        index = Index.__new__(Index)
        index._take(settings)  # noqa: SLF001
        index._core = cast("_core.Search", SingleSearch((chooser, limit), settings))  # noqa: SLF001
        return index

    @classmethod
    def _default_options(cls) -> Mapping[str, float]:
        """Return the options of a single search with default parameters, which are the same for all bodies."""
        none = check_settings(np.zeros((0, 3)), 1.0)
        index = cls._once(none, {})
        return index._single.origin[1]  # type: ignore[return-value]  # noqa: SLF001

    @property
    def _lasting(self) -> bool:
        """Whether the user keeps the index."""
        return isinstance(self._core, _core.Search)

    @property
    def _single(self) -> SingleSearch:
        """The core of an index for a single search, for results that an index that is kept does not have."""
        return cast("SingleSearch", self._core)

    @classmethod
    def _kept(cls, settings: Settings, options: Mapping[str, Any]) -> Index:
        """Make an index to keep from checked arguments."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(settings)
        return index

    def _set_options(self) -> None:
        """Keep the structure's own parameters; a structure that has any overrides this."""

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        """Check the structure's own parameters against the bodies and return them for the core."""
        return {}

    def _take(self, settings: Settings) -> None:
        check_environment()
        self._cutoff, self._box, self._half_skin = settings.cutoff, settings.box, settings.half_skin
        self._planes, self._criterion, self._filter = settings.planes, settings.criterion, settings.filter
        self._touching: tuple[int, int] | None = None
        self._plain, self._size = settings.plain, len(settings.bodies)
        self._like = settings.bodies.none()
        self._outline = settings.bodies  # an index that is kept must not keep the caller's array

    def _make(self, settings: Settings, *, lasting: bool = True) -> None:
        self._take(settings)
        options = self._options(settings.bodies, self._cutoff, self._box)
        if lasting:
            self._outline = settings.bodies.outline()
            self._core = _core.Search(
                self._structure, settings.bodies.for_core, self._cutoff, self._box.for_core, options, lasting
            )
        else:
            self._core = cast("_core.Search", SingleSearch((self._structure, options), settings))

    def _like_settings(self, settings: Settings) -> bool:
        """Return whether `_renew` can take these bodies."""
        mine, given = self._like, settings.bodies
        same = mine.kind == given.kind and mine.dim == given.dim and mine.array.dtype == given.array.dtype
        return same and self._cutoff == settings.cutoff and self._box == settings.box and mine.widest == given.widest

    def _renew(self, settings: Settings) -> None:
        """Replace the bodies and planes by checked ones of the same kind, dtype and dimension."""
        bodies = settings.bodies
        self._options(bodies, self._cutoff, self._box)
        self._core.update(bodies.for_core)
        self._size, self._outline = len(bodies), bodies.outline()
        self._planes, self._filter, self._plain = settings.planes, settings.filter, settings.plain
        self._touching = None

    def __len__(self) -> int:
        """Return the number of bodies, planes not counted."""
        return self._size

    def __repr__(self) -> str:
        """Return name, number and kind of bodies."""
        kind = f"cutoff={self._cutoff:g}" if self._like.kind == "points" else self._like.kind
        return f"{self._structure}({len(self)} bodies, {kind})"

    def __getstate__(self) -> dict[str, Any]:
        """Return parameters and bodies, for `copy` and `pickle`: the structure is rebuilt from them."""
        return {**self.__dict__, "_core": self._core.bodies()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Rebuild the structure."""
        array, extra = state.pop("_core")
        self.__dict__.update(state)
        bodies = replace(self._outline, array=array, extra=extra)
        self._make(
            Settings(bodies, self._cutoff, self._box, self._planes, self._half_skin, self._criterion, self._filter)
        )

    def update(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        planes: PlanesLike | None = None,
    ) -> None:
        """Move the bodies, or replace them by more or fewer of the same kind and dimension.

        Spheres keep their radii if none are given, and planes stay where they are.

        Examples
        --------
        >>> index = vicinal.CellSorting([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> index.update([[0.0, 0.0], [0.5, 0.0]])
        >>> [column.tolist() for column in index.pairs(sort=True)]
        [[0], [1]]
        """
        placed = check_planes(planes, self._like, self._box) if planes is not None else self._planes
        if points is not None or boxes is not None:
            if self._like.kind == "spheres" and radii is None and boxes is None:
                bodies = self._same(check_points(points, dtype=self._like.array.dtype), "points")
                if len(bodies) != len(self):
                    raise InputError(
                        f"radii must be given where the number of spheres changes, got {len(bodies)} points for "
                        f"{len(self)} bodies; pass the new radii"
                    )
            else:
                bodies = self._alike(points, radii, boxes)
            self._check_number(len(bodies))
            outline = bodies.outline()
            if bodies.kind != self._like.kind:  # spheres that keep their radii
                like = self._like
                outline = replace(outline, extra=like.extra, largest=self._outline.largest, widest=like.widest)
            _check.check_images(outline, self._cutoff, self._box)
            self._options(outline, self._cutoff, self._box)
            self._core.update(bodies.for_core)
            self._size, self._outline = len(bodies), outline
        elif radii is not None or planes is None:
            raise InputError("points must be an array of shape (n, 2) or (n, 3), got None")
        self._planes = placed
        self._plain = self._plain and not len(placed)
        self._touching = None

    def insert(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
    ) -> npt.NDArray[np.int32]:
        """Add bodies and return their numbers, which follow those of the bodies already there.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], radii=[1.0, 1.0])
        >>> index.insert([[0.0, 4.0]], radii=[3.0]).tolist()
        [2]
        >>> index.count().tolist()
        [1, 0, 1]
        """
        bodies = self._alike(points, radii, boxes)
        self._check_number(len(self) + len(bodies))
        most = _check.MOST_BODIES
        if len(self) + len(bodies) > most:
            raise InputError(
                f"points must bring the number of bodies to at most {most}, got {len(bodies)} more than {len(self)}"
            )
        outline = self._outline.joined(bodies)
        _check.check_images(outline, self._cutoff, self._box)
        self._options(outline, self._cutoff, self._box)
        self._core.insert(bodies.for_core)
        first, self._size, self._outline = self._size, len(outline), outline
        self._touching = None
        return np.arange(first, self._size, dtype=np.int32)

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove bodies; the others are renumbered, as with `numpy.delete`.

        Examples
        --------
        >>> index = vicinal.CellSorting([[0.0, 0.0], [9.0, 9.0], [0.0, 4.0]], cutoff=4.0)
        >>> index.remove([1])
        >>> [column.tolist() for column in index.pairs(sort=True)]
        [[0], [1]]
        """
        gone = _check.check_ids(ids, len(self))
        self._check_number(len(self) - len(gone))
        self._core.remove(gone)
        self._size -= len(gone)
        self._outline = self._outline.outline(self._size) if self._size else self._like
        self._touching = None

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
    ) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs of bodies, or of a query (i) and a body (j); see `vicinal.pairs`.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> [column.tolist() for column in index.pairs(queries=[[2.5, 0.0], [0.0, 9.0], [0.0, 1.0]], sort=True)]
        [[0, 2], [1, 0]]
        """
        alone = queries is not None and query_radii is None and query_boxes is None
        plain = self._plain and alone and query_types is None and query_groups is None and half is True
        plain = plain and self_pairs is False
        if plain and (found := plain_pairs(self._core, queries, want, sort)) is not None:
            return found
        others = self._queries(queries, query_radii, query_boxes)
        once = self._check_pairs(want, others, half=half)
        kept = self._core_filter(others, query_types, query_groups)
        ordered = _check.check_flag(sort, "sort")
        with_self = self._with_self(self_pairs, others)
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
        if not self._with_self(self_pairs, others):
            return self._rows(want, others, kept, sort=ordered)
        rows = own.join_rows(self._rows(want + "S", others, kept, sort=ordered), len(self))
        return rows if "S" in want else replace(rows, shifts=None)

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
        *,
        want: str,
        half: bool,
        sort: bool,
        self_pairs: bool,
        **others: Unpack[QueryArguments],
    ) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Check the arguments and return an iterator over the pairs of a single search, at most `chunks` at a time."""
        most = _check.check_integer(chunks, "chunks", least=1, most=2**62)
        queries = self._queries(others["queries"], others["query_radii"], others["query_boxes"])
        once = self._check_pairs(want, queries, half=half)
        kept = self._core_filter(queries, others["query_types"], others["query_groups"])
        if _check.check_flag(sort, "sort"):
            raise InputError("sort must be False with chunks, got True; sort each chunk, or leave out chunks")
        if self._with_self(self_pairs, queries):
            raise InputError("self_pairs must not be combined with chunks; add the pairs (i, i) yourself")
        if "E" in want:
            raise InputError(f"want must consist of the letters i, j, d, D, S with chunks, got {want!r}")
        if len(self._planes):
            raise InputError(f"planes must be None with chunks, got {len(self._planes)}; search planes without chunks")
        return self._single.chunks(most, want, once, None if queries is None else queries.for_core, kept)

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

    def _check_number(self, size: int) -> None:
        """Check that the number of bodies stays if something speaks of them by number."""
        name = "" if self._filter is None else self._filter.numbered
        if name and size != len(self):
            raise InputError(
                f"points must keep their number in an index with {name}=, got {size} instead of {len(self)}; "
                "make a new index"
            )

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
        kind, dtype = self._like.kind, self._like.array.dtype
        if kind == "boxes":
            checked = (
                self._spheres(queries, radii)
                if boxes is None
                else check_boxes(queries, boxes, 0.0, dtype, "query_boxes")
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

    def _alike(self, points: object, radii: object, boxes: object) -> Bodies:
        """Check bodies that join those of the index or replace them: of the same kind, with the same skin."""
        bodies, name = check_alike(
            self._like, points, radii, boxes, half_skin=self._half_skin, criterion=self._criterion
        )
        return self._same(bodies, name)

    def _same(self, bodies: Bodies, name: str) -> Bodies:
        return check_place(self._like, bodies, name, self._box)

    @property
    def stats(self) -> Stats:
        """Figures of the last build and search."""
        figures = self._core.stats()
        if self._touching is not None:
            figures["candidates"] += self._touching[0]
            figures["pairs"] += self._touching[1]
        return Stats(structure=self._structure, **figures)
