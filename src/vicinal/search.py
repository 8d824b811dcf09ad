"""Single searches with a structure chosen for them: `pairs`, `neighbors`, `count`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Unpack, cast, overload

import numpy as np
import numpy.typing as npt

from vicinal._check import check_flag, check_want
from vicinal.bodies import BodyArguments, BoxesLike, PairArguments, PlanesLike, QueryArguments
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.choose import chosen_index, plain_pairs
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.mixed import as_boxes
from vicinal.rows import Neighbors, check_most, pick_columns
from vicinal.settings import Settings, check_settings
from vicinal.structures import StructureLike, find_structure
from vicinal.systems import Columns, RowOptions, check_systems, find_rows

# The types of points, cutoff, want, half, sort, skin and r_min in a search that needs few checks.
_PLAIN = (np.ndarray, float, str, bool, bool, float, float)


def _index(
    points: npt.ArrayLike | None,
    cutoff: npt.ArrayLike | None,
    structure: StructureLike,
    query_boxes: BoxesLike | None,
    bodies: BodyArguments,
) -> Index:
    """Make an index for a single search."""
    settings = check_settings(points, cutoff, **bodies)
    if query_boxes is not None and settings.bodies.kind != "boxes":
        settings = as_boxes(settings, query_boxes)
    return index_of(settings, structure)


def index_of(settings: Settings, structure: StructureLike) -> Index:
    """Return an index for a single search of checked bodies."""
    if structure is not None:
        return find_structure(structure)._once(settings, {})  # noqa: SLF001
    return chosen_index(settings)


def _bodies(query_radii: object, cutoff: object, **given: Any) -> BodyArguments:
    """Return the keywords of the bodies: points without size if queries alone have radii."""
    bodies = cast("BodyArguments", given)
    if query_radii is not None and cutoff is None and bodies["radii"] is None and bodies["boxes"] is None:
        bodies["radii"] = 0.0
    return bodies


def _find_rows(
    points: npt.ArrayLike | None,
    cutoff: npt.ArrayLike | None,
    batch: npt.ArrayLike,
    structure: StructureLike,
    bodies: BodyArguments,
    of_queries: QueryArguments,
    letters: str,
    *,
    half: bool = False,
    sort: bool = False,
    self_pairs: bool = False,
    max_neighbors: int | None = None,
) -> tuple[npt.NDArray[np.int64], Columns]:
    """Find rows of several systems: their offsets and columns."""
    conditions = bodies.copy()
    box, periodic = conditions.pop("box"), conditions.pop("periodic")
    given: dict[str, object] = {
        "boxes": bodies["boxes"],
        "planes": bodies["planes"],
        **of_queries,
        "structure": structure,
    }
    extra = [name for name, value in given.items() if value is not None]
    if extra:
        raise InputError(f"batch= must not be combined with {', '.join(extra)}; leave out one or the other")
    once, ordered, own = check_flag(half, "half"), check_flag(sort, "sort"), check_flag(self_pairs, "self_pairs")
    options = RowOptions(once, ordered, own, check_most(max_neighbors, half=once, boxes=False))
    systems = check_systems(points, cutoff, batch, box, periodic, conditions)
    return find_rows(systems, letters, options)


# Not at run time: `typing` would keep the functions, and with them the core, until after the end of the interpreter.
if TYPE_CHECKING:

    @overload
    def pairs(
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        self_pairs: bool = False,
        batch: npt.ArrayLike | None = None,
        max_neighbors: int | None = None,
        structure: StructureLike = None,
        chunks: None = None,
        **bodies: Unpack[PairArguments],
    ) -> tuple[npt.NDArray[Any], ...]: ...
    @overload
    def pairs(
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        self_pairs: bool = False,
        batch: npt.ArrayLike | None = None,
        max_neighbors: int | None = None,
        structure: StructureLike = None,
        chunks: int,
        **bodies: Unpack[PairArguments],
    ) -> Iterator[tuple[npt.NDArray[Any], ...]]: ...


def pairs(
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
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    want: str = "ij",
    half: bool = True,
    sort: bool = False,
    self_pairs: bool = False,
    batch: npt.ArrayLike | None = None,
    max_neighbors: int | None = None,
    structure: StructureLike = None,
    chunks: int | None = None,
) -> tuple[npt.NDArray[Any], ...] | Iterator[tuple[npt.NDArray[Any], ...]]:
    """Find every pair of bodies: points within a cutoff, spheres that touch, or boxes that overlap.

    The set of pairs is exactly that of the NumPy expression ``dx*dx + dy*dy + dz*dz <= cutoff*cutoff`` in the dtype
    of the points (with ``radii[i] + radii[j]`` in place of the cutoff for spheres). It depends neither on the structure
    nor on the number of threads nor on the processor.

    Parameters
    ----------
    points
        Coordinates, shape (n, 2) or (n, 3). float32 and float64 are used as they are, other numbers as float64.
        All other arguments are converted to the dtype of the points.
    cutoff
        Largest distance of a pair of points. With `types`, a symmetric matrix: one row and one column per type.
    radii
        The bodies are spheres: one radius each, or one for all.
    boxes
        The bodies are axis-aligned boxes (lower, upper), in place of points. They have no ``d`` and ``D``.
    skin
        Pairs reach this much farther: it is added to the cutoff, and half of it to radii and to every face of a box.
    planes
        Infinite bodies (points, normals), numbered after the other bodies; see `vicinal.Index`.
    box
        Periodic cell: one length; one per axis, with None for an open axis; edge vectors as the rows of a matrix, with
        any orientation and tilt; or ``(a, b, c, alpha, beta, gamma)``, three lengths (0: open) and the angles between
        them in degrees. None: open space.
    periodic
        Whether space is periodic along each edge of the box, one for all or one per edge. None: wherever it has one.
    criterion
        Distance within which two bodies with `radii` form a pair: their "sum", the "max" or "min" of both, or their
        "mean". The last three are for radii that are supports, as of the kernels of smoothed particle hydrodynamics.
    types
        Type of every body, from 0 on; the `cutoff` of types a and b is ``cutoff[a, b]``. Types with a negative cutoff
        form no pairs.
    groups
        Group of every body, such as its molecule: bodies of one group form no pairs. Negative: no group.
    exclude
        Numbers of bodies that form no pairs, such as bonded ones, shape (m, 2), in any order.
    r_min
        Smallest distance of a pair.
    queries, query_radii, query_boxes, query_types, query_groups
        A second set: pairs are then (query i, body j). Spheres without `query_radii` are points. Bodies with neither
        `cutoff` nor `radii` are points, too: `query_radii` is then the cutoff of each query. `queries` of `boxes`, and
        `query_boxes` of `points`, are spheres against boxes: a pair if the centre is within the radius of the box.
    want
        Columns of the result, in this order: ``i``, ``j`` (int32), ``d`` distance, ``D`` vector from i to j,
        ``S`` periodic shift, such that ``D = points[j] - points[i] + S * box`` (``S @ box`` for edge vectors); ``E`` is
        i and j as one int64 array of shape (2, m), the ``edge_index`` of graph libraries.
    half
        Each pair once (True), or as (i, j) and (j, i).
    sort
        Order by i, then j (then S), with i < j in a half list. Otherwise the order is arbitrary.
    self_pairs
        Add the pair (i, i) of every body with itself, once.
    batch
        The points are those of several systems, which form pairs only among themselves: the number of the system of
        each point, ascending from 0, or the offsets of the systems. `box` is then one for all systems, or one for each:
        an array with a row of lengths, NaN for an open axis, with a row of lengths and angles, or with a matrix of edge
        vectors per system. Not with `boxes`, `planes`, `queries`, `structure` and `chunks`.
    max_neighbors
        Only this many neighbours of each body: the nearest ones, ties by number. Needs ``half=False``.
    structure
        Search structure to use, a class such as `vicinal.HashGrid` or its name. None: the one that `vicinal.choose`
        returns. It changes speed only, never the result.
    chunks
        Largest number of pairs at a time: the result is an iterator over tuples of arrays, which together hold every
        pair once, in any order. Memory does not grow with the number of pairs.

    Returns
    -------
    tuple of arrays
        One per letter of `want`; with `chunks` an iterator over such tuples.

    Examples
    --------
    >>> i, j, d = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0, want="ijd", sort=True)
    >>> i.tolist(), j.tolist(), d.tolist()
    ([0, 0], [1, 2], [3.0, 4.0])
    >>> vicinal.pairs([[0.5, 0.0], [9.5, 0.0]], 2.0, box=(10.0, None), want="D", sort=True)[0].tolist()
    [[-1.0, 0.0]]
    >>> i, j = vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], radii=[1.0, 2.0, 2.5], sort=True)
    >>> i.tolist(), j.tolist()
    ([0], [1])
    >>> i, j = vicinal.pairs(boxes=([[0.0, 0.0], [1.0, 1.0], [3.0, 0.0]], [[1.0, 1.0], [2.0, 2.0], [4.0, 1.0]]))
    >>> i.tolist(), j.tolist()
    ([0], [1])
    >>> line = [[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]
    >>> i, j = vicinal.pairs(line, cutoff=[[1.5, 2.5], [2.5, -1.0]], types=[0, 1, 0], exclude=[[0, 1]], sort=True)
    >>> i.tolist(), j.tolist()
    ([1], [2])
    >>> edges, d = vicinal.pairs(line * 2, 1.0, batch=[0, 0, 0, 1, 1, 1], half=False, want="Ed", sort=True)
    >>> edges.tolist()
    [[0, 1, 1, 2, 3, 4, 4, 5], [1, 0, 2, 1, 4, 3, 5, 4]]
    >>> sum(len(i) for i, j in vicinal.pairs([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 5.0, chunks=2))
    3
    """
    # Points without further wishes: the core checks them. Checks in Python take longer than a search of a few hundred
    # points.
    kinds: tuple[type, ...] = (type(points), type(cutoff), type(want), type(half), type(sort), type(skin), type(r_min))
    if (
        kinds == _PLAIN
        and radii is None
        and boxes is None
        and planes is None
        and types is None
        and groups is None
        and exclude is None
        and queries is None
        and query_radii is None
        and query_boxes is None
        and query_types is None
        and query_groups is None
        and batch is None
        and max_neighbors is None
        and structure is None
        and chunks is None
        and self_pairs is False
        and criterion == "sum"
        and skin == r_min == 0
    ):
        plain = cast("npt.NDArray[Any]", points)
        found = plain_pairs(plain, cast("float", cutoff), box, periodic, want, half=half, sort=sort)
        if found is not None:
            return found
    bodies = _bodies(
        query_radii,
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
    of_queries: QueryArguments = {
        "queries": queries,
        "query_radii": query_radii,
        "query_boxes": query_boxes,
        "query_types": query_types,
        "query_groups": query_groups,
    }
    options: Any = {"half": half, "sort": sort, "self_pairs": self_pairs, "max_neighbors": max_neighbors}
    if batch is None:
        index = _index(points, cutoff, structure, query_boxes, bodies)
        return index.pairs(want=want, chunks=chunks, **options, **of_queries)
    if chunks is not None:
        raise InputError("chunks= must not be combined with batch=; leave out one or the other")
    letters = "".join(dict.fromkeys(check_want(want, "ijdDSE")))
    _, columns = _find_rows(points, cutoff, batch, structure, bodies, of_queries, letters, **options)
    return pick_columns(columns, want)


def neighbors(
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
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    want: str = "j",
    sort: bool = False,
    self_pairs: bool = False,
    batch: npt.ArrayLike | None = None,
    max_neighbors: int | None = None,
    structure: StructureLike = None,
) -> Neighbors:
    """Find the neighbours of every body, or of every query, as rows.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box, periodic, structure
        As for `pairs`.
    criterion, types, groups, exclude, r_min, self_pairs, batch, max_neighbors
        As for `pairs`.
    queries, query_radii, query_boxes, query_types, query_groups
        As for `pairs`.
    want
        ``j`` and any of ``d``, ``D``, ``S``; see `pairs`.
    sort
        Put each row into ascending order.

    Examples
    --------
    >>> rows = vicinal.neighbors([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0, sort=True)
    >>> rows[0].tolist()
    [1, 2]
    """
    bodies = _bodies(
        query_radii,
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
    of_queries: QueryArguments = {
        "queries": queries,
        "query_radii": query_radii,
        "query_boxes": query_boxes,
        "query_types": query_types,
        "query_groups": query_groups,
    }
    options: Any = {"sort": sort, "self_pairs": self_pairs, "max_neighbors": max_neighbors}
    if batch is None:
        return _index(points, cutoff, structure, query_boxes, bodies).neighbors(want=want, **options, **of_queries)
    letters = "j" + "".join(letter for letter in "dDS" if letter in check_want(want, "jdDS"))
    offsets, columns = _find_rows(points, cutoff, batch, structure, bodies, of_queries, letters, **options)
    return Neighbors(
        offsets,
        columns["j"],
        len(offsets) - 1,
        distances=columns.get("d"),
        vectors=columns.get("D"),
        shifts=columns.get("S"),
    )


def count(
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
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_boxes: BoxesLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    self_pairs: bool = False,
    batch: npt.ArrayLike | None = None,
    structure: StructureLike = None,
) -> npt.NDArray[np.int32]:
    """Count the neighbours of every body, or of every query, without storing them; arguments as for `pairs`.

    Examples
    --------
    >>> vicinal.count([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], 4.0).tolist()
    [2, 1, 1]
    """
    bodies = _bodies(
        query_radii,
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
    of_queries: QueryArguments = {
        "queries": queries,
        "query_radii": query_radii,
        "query_boxes": query_boxes,
        "query_types": query_types,
        "query_groups": query_groups,
    }
    if batch is None:
        index = _index(points, cutoff, structure, query_boxes, bodies)
        return index.count(self_pairs=self_pairs, **of_queries)
    offsets, _ = _find_rows(points, cutoff, batch, structure, bodies, of_queries, "", self_pairs=self_pairs)
    return np.diff(offsets).astype(np.int32)
