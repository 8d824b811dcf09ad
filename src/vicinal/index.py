"""What every search structure can do: keep bodies while they move, and find their pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, BoxLike
from vicinal.bodies import BoxesLike, PlanesLike, check_bodies, check_boxes, check_points, check_skin, check_spheres
from vicinal.errors import InputError
from vicinal.planes import Planes, Touching, check_planes, join_pairs, join_rows
from vicinal.rows import Neighbors


@dataclass(frozen=True)
class Stats:
    """What an index has done and what it takes.

    Parameters
    ----------
    structure
        Name of the structure.
    bodies
        Bodies in it.
    candidates, pairs
        Pairs the structure proposed in the last search, and how many of them passed the exact test.
    bytes
        Memory of the structure with its copy of the points, without results.
    build_seconds, query_seconds
        Time of the last build and of the last search.
    details
        Figures of the structure itself, such as the number of cells.
    """

    structure: str
    bodies: int
    candidates: int
    pairs: int
    bytes: int
    build_seconds: float
    query_seconds: float
    details: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Settings:
    """What an index is made from, checked: bodies, cutoff (0 if they have sizes), box, and planes."""

    bodies: Bodies
    cutoff: float
    box: list[float]
    planes: Planes
    half_skin: float = 0.0


def check_settings(
    points: npt.ArrayLike | None,
    *,
    cutoff: float | None = None,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    planes: PlanesLike | None = None,
    box: BoxLike = None,
) -> Settings:
    """Check everything an index is made from."""
    bodies, checked_cutoff = check_bodies(points, cutoff, radii, boxes, skin)
    edges = _check.check_box(box, bodies, checked_cutoff)
    return Settings(bodies, checked_cutoff, edges, check_planes(planes, bodies, edges), check_skin(skin) / 2)


class Index:
    """What every structure can do. Use one of the subclasses.

    Exactly one of `cutoff`, `radii` and `boxes` says what the bodies are.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3), float32 or float64. They are copied: change yours as you like.
    cutoff
        Bodies are points; two are a pair when they are not farther apart than this.
    radii
        Bodies are spheres; two are a pair when they touch or overlap. One number may stand for all.
    boxes
        Bodies are axis-aligned boxes (lower, upper), two arrays of shape (n, 2) or (n, 3), in place of points; two are
        a pair when they overlap along every axis, faces included.
    skin
        Spheres and boxes are made larger by half of this on every side, so that pairs reach `skin` farther.
    planes
        Infinite bodies (points, normals): a point on each plane and a normal out of the solid half-space behind it. A
        body is a pair with a plane when some of it is on or behind the plane. Planes are numbered after the bodies.
    box
        Period along each axis: one number, or one per axis with None for an open axis. None: open space.
    """

    _structure: ClassVar[str]
    # What makes the structure the fastest, for the reason that `vicinal.choose` gives: {bodies} is how many there are,
    # {cells} a clause on the cells of a grid, {sizes} one on the sizes of the bodies if they differ, otherwise {cells}.
    _why: ClassVar[str] = ""

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        cutoff: float | None = None,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        skin: float = 0.0,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
    ) -> None:
        settings = check_settings(points, cutoff=cutoff, radii=radii, boxes=boxes, skin=skin, planes=planes, box=box)
        self._make(settings, lasting=True)

    @classmethod
    def _once(cls, settings: Settings, options: Mapping[str, Any]) -> Index:
        """Make an index for a single search: arrays are used in place, results are not kept for reuse."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(settings, lasting=False)
        return index

    @classmethod
    def _kept(cls, settings: Settings, options: Mapping[str, Any]) -> Index:
        """Make an index that lasts from what was checked already."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(settings, lasting=True)
        return index

    def _set_options(self) -> None:
        """Keep the structure's own parameters; those with parameters override it."""

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        """Check the structure's own parameters against the bodies and return them for the core."""
        return {}

    def _make(self, settings: Settings, *, lasting: bool) -> None:
        self._cutoff, self._box, self._half_skin = settings.cutoff, settings.box, settings.half_skin
        self._planes = settings.planes
        self._touching: tuple[int, int] | None = None
        options = self._options(settings.bodies, self._cutoff, self._box)
        self._size = len(settings.bodies)
        self._like = settings.bodies.none()
        self._outline = settings.bodies.outline()
        self._core = _core.Core(self._structure, settings.bodies.for_core, self._cutoff, self._box, options, lasting)

    def _like_settings(self, settings: Settings) -> bool:
        """Tell whether `_renew` can take these bodies."""
        mine, given = self._like, settings.bodies
        same = mine.kind == given.kind and mine.dim == given.dim and mine.array.dtype == given.array.dtype
        return same and self._cutoff == settings.cutoff and self._box == settings.box

    def _renew(self, settings: Settings) -> None:
        """Take bodies and planes that were checked already in place of those of the same kind, dtype and dimension."""
        bodies = settings.bodies
        self._options(bodies, self._cutoff, self._box)
        self._core.update(bodies.for_core)
        self._size, self._outline = len(bodies), bodies.outline()
        self._planes, self._touching = settings.planes, None

    def __len__(self) -> int:
        """Return the number of bodies, planes not counted."""
        return self._size

    def __repr__(self) -> str:
        """Name, number and kind of bodies."""
        kind = f"cutoff={self._cutoff:g}" if self._like.kind == "points" else self._like.kind
        return f"{self._structure}({len(self)} bodies, {kind})"

    def update(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        planes: PlanesLike | None = None,
    ) -> None:
        """Move the bodies, or replace them: there may be more or fewer, of the same dtype, dimension and kind.

        Spheres keep their radii where none are given, and planes stay where they are.

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
                bodies = self._same(check_points(points), "points")
                if len(bodies) != len(self):
                    raise InputError(
                        f"radii: None found with {len(bodies)} points for {len(self)} bodies; pass the new radii"
                    )
            else:
                bodies = self._alike(points, radii, boxes)
            outline = bodies.outline()
            if bodies.kind != self._like.kind:  # spheres that keep their radii
                outline = replace(outline, extra=self._like.extra, largest=self._outline.largest)
            _check.check_images(outline, self._cutoff, self._box)
            self._options(outline, self._cutoff, self._box)
            self._core.update(bodies.for_core)
            self._size, self._outline = len(bodies), outline
        elif radii is not None or planes is None:
            raise InputError("points: None found; pass where the bodies are now")
        self._planes = placed
        self._touching = None

    def insert(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
    ) -> npt.NDArray[np.int32]:
        """Add bodies and return their numbers, which follow those already there.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], radii=[1.0, 1.0])
        >>> index.insert([[0.0, 4.0]], radii=[3.0]).tolist()
        [2]
        >>> index.count().tolist()
        [1, 0, 1]
        """
        bodies = self._alike(points, radii, boxes)
        most = _check.MOST_BODIES
        if len(self) + len(bodies) > most:
            raise InputError(f"points: {len(bodies)} more than {len(self)} found; at most {most} fit")
        outline = self._outline.joined(bodies)
        _check.check_images(outline, self._cutoff, self._box)
        self._options(outline, self._cutoff, self._box)
        self._core.insert(bodies.for_core)
        first, self._size, self._outline = self._size, len(outline), outline
        self._touching = None
        return np.arange(first, self._size, dtype=np.int32)

    def remove(self, ids: npt.ArrayLike) -> None:
        """Take bodies out; the others move up, as with `numpy.delete`.

        Examples
        --------
        >>> index = vicinal.CellSorting([[0.0, 0.0], [9.0, 9.0], [0.0, 4.0]], cutoff=4.0)
        >>> index.remove([1])
        >>> [column.tolist() for column in index.pairs(sort=True)]
        [[0], [1]]
        """
        gone = _check.check_ids(ids, len(self))
        self._core.remove(gone)
        self._size -= len(gone)
        self._outline = self._outline.outline(self._size) if self._size else self._like
        self._touching = None

    def pairs(self, *, want: str = "ij", half: bool = True, sort: bool = False) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs; see `vicinal.pairs`."""
        self._check_want(want, "ijdDS")
        return self._pairs(want, None, half=_check.check_flag(half, "half"), sort=_check.check_flag(sort, "sort"))

    def neighbors(self, *, want: str = "j", sort: bool = False) -> Neighbors:
        """Find the neighbours of every body as rows; see `vicinal.neighbors`."""
        return self._rows(want, None, sort=sort)

    def count(self) -> npt.NDArray[np.int32]:
        """Count the neighbours of every body; see `vicinal.count`."""
        return self._count(None)

    def query(
        self,
        queries: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        want: str = "ij",
        sort: bool = False,
    ) -> tuple[npt.NDArray[Any], ...]:
        """Find all pairs of a query (i) and a body of this index (j). Without radii, queries of spheres are points.

        Examples
        --------
        >>> index = vicinal.LinkedCells([[0.0, 0.0], [3.0, 0.0]], cutoff=1.0)
        >>> [column.tolist() for column in index.query([[2.5, 0.0], [0.0, 9.0], [0.0, 1.0]], sort=True)]
        [[0, 2], [1, 0]]
        """
        self._check_want(want, "ijdDS")
        given = self._queries(queries, radii, boxes)
        return self._pairs(want, given, half=True, sort=_check.check_flag(sort, "sort"))

    def _check_want(self, want: str, letters: str) -> None:
        _check.check_want(want, letters)
        if self._like.kind == "boxes" and ("d" in want or "D" in want):
            raise InputError(f"want: {want!r} found; boxes have no distance, so leave out d and D")

    def _pairs(self, want: str, queries: Bodies | None, *, half: bool, sort: bool) -> tuple[npt.NDArray[Any], ...]:
        given = None if queries is None else queries.for_core
        if not len(self._planes):
            return tuple(self._core.pairs(want, half, sort, given))
        letters = "".join(dict.fromkeys("i" + want))
        found = dict(zip(letters, self._core.pairs(letters, half, sort, given), strict=True))
        touching = self._touch(queries)
        joined = join_pairs(found, touching, len(self), half=half or queries is not None, sort=sort)
        return tuple(joined[letter] for letter in want)

    def _count(self, queries: Bodies | None) -> npt.NDArray[np.int32]:
        found = self._core.count(None if queries is None else queries.for_core)
        if not len(self._planes):
            return found
        touching = self._touch(queries)
        found += np.bincount(touching.bodies, minlength=len(found)).astype(np.int32)
        if queries is not None:
            return found
        own = np.bincount(touching.planes, minlength=len(self._planes)).astype(np.int32)
        return np.concatenate([found, own])

    def _rows(self, want: str, queries: Bodies | None, *, sort: bool) -> Neighbors:
        self._check_want(want, "jdDS")
        letters = "j" + "".join(letter for letter in "dDS" if letter in want)
        given = None if queries is None else queries.for_core
        offsets, *columns = self._core.rows(letters, _check.check_flag(sort, "sort"), given)
        found = dict(zip(letters, columns, strict=True))
        rows = Neighbors(
            offsets, found["j"], len(self), distances=found.get("d"), vectors=found.get("D"), shifts=found.get("S")
        )
        if not len(self._planes):
            return rows
        return join_rows(rows, self._touch(queries), len(self), 0 if queries is not None else len(self._planes))

    def _touch(self, queries: Bodies | None) -> Touching:
        """Find who touches the planes. Every finite body is one candidate for each plane."""
        given = None if queries is None else queries.for_core
        bodies, planes, distances = self._core.touch(self._planes.points, self._planes.normals, given)
        size = len(self) if queries is None else len(queries)
        self._touching = size * len(self._planes), len(bodies)
        return Touching(bodies, planes, distances, self._planes.normals)

    def _queries(self, queries: object, radii: object = None, boxes: object = None) -> Bodies:
        """Check a second set of bodies, which must be of the same kind."""
        checked: Bodies
        if self._like.kind == "boxes":
            checked = check_boxes(queries, boxes, 0.0)
        elif boxes is not None:
            raise InputError(f"boxes: found, but the bodies of the index are {self._like.kind}; pass queries alike")
        elif queries is None:
            raise InputError("queries: None found; pass positions of shape (n, 2) or (n, 3)")
        elif self._like.kind == "spheres":
            positions = _check.check_points(queries, "queries")
            checked = check_spheres(positions.array, 0.0 if radii is None else radii, 0.0)
        elif radii is not None:
            raise InputError("radii: found, but the bodies of the index are points with a cutoff; leave them out")
        else:
            checked = _check.check_points(queries, "queries")
        checked = self._same(checked, "queries")
        if checked.largest:
            _check.check_images(self._outline, self._cutoff, self._box, partner=checked)
        return checked

    def _alike(self, points: object, radii: object, boxes: object) -> Bodies:
        """Check bodies that join those of the index or take their place: of the same kind, with the same skin."""
        kind = self._like.kind
        given = "boxes" if boxes is not None else "spheres" if radii is not None else "points"
        if given != kind:
            raise InputError(f"{_ARGUMENT[given]}: {given} found, but the index was made for {kind}; make a new index")
        if kind == "boxes":
            return self._same(check_boxes(points, boxes, self._half_skin), "boxes")
        if kind == "spheres":
            return self._same(check_spheres(points, radii, self._half_skin), "points")
        return self._same(check_points(points), "points")

    def _same(self, bodies: Bodies, name: str) -> Bodies:
        """Check that bodies have the dtype and dimension of the index and are not too far outside its box."""
        if len(bodies) == 0:
            return self._like
        if bodies.array.dtype != self._like.array.dtype or bodies.dim != self._like.dim:
            found = f"{bodies.array.dtype} in {bodies.dim} dimensions"
            made = f"{self._like.array.dtype} in {self._like.dim}"
            raise InputError(f"{name}: {found} found, but the index was made for {made}; convert them")
        _check.check_wraps(bodies, self._box, name)
        return bodies

    @property
    def stats(self) -> Stats:
        """Figures of the last build and search."""
        figures = self._core.stats()
        if self._touching is not None:
            figures["candidates"] += self._touching[0]
            figures["pairs"] += self._touching[1]
        return Stats(structure=self._structure, **figures)


_ARGUMENT = {"points": "points", "spheres": "radii", "boxes": "boxes"}
