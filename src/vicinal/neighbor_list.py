"""A list of neighbours that lives: made once, updated every step, built again only when it has to be."""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import BoxLike, Floats, Points
from vicinal.bodies import check_points, check_skin, check_spheres
from vicinal.choose import choose_checked
from vicinal.errors import InputError
from vicinal.index import Index, Setting
from vicinal.planes import check_planes
from vicinal.skin import SkinTuner
from vicinal.structures import (
    BVH,
    CellSorting,
    Delaunay,
    Exhaustive,
    HashGrid,
    LinkedCells,
    Octree,
    SpatialHash,
    SweepAndPrune,
)

STRUCTURES: dict[str, type[Index]] = {
    kind.__name__: kind
    for kind in (
        BVH,
        CellSorting,
        Delaunay,
        Exhaustive,
        HashGrid,
        LinkedCells,
        Octree,
        SpatialHash,
        SweepAndPrune,
    )
}
LAYOUTS = ("rows", "pairs", "fixed", "hybrid")
# Two images of a pair must never be within reach at the same time; this much of an edge is left to rounding.
IMAGE_MARGIN = 16
# Bodies that are followed to see how fast all move while there is no skin to watch them in.
SAMPLE = 1024

Layout = Literal["rows", "pairs", "fixed", "hybrid"]


@dataclass(frozen=True)
class ListStats:
    """What a list has done so far.

    Parameters
    ----------
    updates, builds
        Calls of `update`, and how many of them searched anew.
    entries
        Entries of the list: the neighbours of all rows.
    skin
        The skin of the last build.
    reason
        Why this skin.
    structure
        The search structure of the last build.
    build_seconds, check_seconds
        Time of the last build, and of the last check that found no need for one.
    bytes
        Memory of the list and of what it is built with.
    """

    updates: int
    builds: int
    entries: int
    skin: float
    reason: str
    structure: str
    build_seconds: float
    check_seconds: float
    bytes: int


@dataclass
class _Kept:
    """The bodies a list was built for, and where they are now."""

    points: Floats
    radii: Any  # of now; None for points with a cutoff
    built_radii: Any  # with the skin
    grown: bool  # radii changed since the build


class NeighborList:
    """Neighbours of moving bodies, kept over many steps.

    The list holds all pairs within the cutoff plus a skin. So it contains every pair within the cutoff until some body
    has moved by half the skin; `update` watches that and builds it again in time. Your own loop tests the distance.

    Parameters
    ----------
    cutoff
        Bodies are points; every pair not farther apart than this is in the list.
    radii
        Bodies are spheres; every pair that touches or overlaps is in the list. One number may stand for all.
    skin
        How much farther apart pairs may be when the list is built. "auto" chooses before every build what costs least,
        given the times and the motion measured so far; `stats.reason` tells why. 0: none, so every update builds.
    layout
        "rows": `offsets` and `neighbors`, row after row. "pairs": `i` and `j`.
    half
        Each pair once, in the row of the body with the smaller number (True), or in the rows of both.
    sort
        False, for pairs only: in the order they were found, which saves sorting them.
    box
        Period along each axis: one number, or one per axis with None for an open axis. None: open space. An edge must
        be more than twice the cutoff and the skin, so that of two bodies one image at most is in the list.
    index
        The structure to search with, as a class or its name. The default is what `vicinal.choose` says.
    consumer
        For skin="auto": seconds your loop takes per entry of the list. The default measures the time between updates.

    Examples
    --------
    >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
    >>> rows.update([[0.0, 0.0], [1.2, 0.0], [9.0, 0.0]])
    True
    >>> rows.offsets.tolist(), rows.neighbors.tolist()
    ([0, 1, 1, 1], [1])
    >>> rows.update([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    False
    >>> [column.tolist() for column in rows.exact()]
    [[0], [1]]
    """

    def __init__(
        self,
        *,
        cutoff: float | None = None,
        radii: npt.ArrayLike | None = None,
        skin: float | Literal["auto"] = "auto",
        layout: Layout = "rows",
        half: bool = True,
        sort: bool = True,
        box: BoxLike = None,
        index: type[Index] | str | None = None,
        consumer: float | None = None,
    ) -> None:
        if (cutoff is None) == (radii is None):
            found = "neither" if cutoff is None else "both"
            raise InputError(f"cutoff, radii: {found} found; pass exactly one, it says what the bodies are")
        self._cutoff = None if cutoff is None else _check.check_number(cutoff, "cutoff")
        self._radii = radii
        self._box: BoxLike = box
        tuned = isinstance(skin, str) and skin == "auto"
        self._skin = 0.0 if tuned else check_skin(skin)
        self._tuner = SkinTuner(_check_consumer(consumer)) if tuned else None
        if layout not in LAYOUTS:
            raise InputError(f"layout: {layout!r} found; pass one of {', '.join(LAYOUTS)}")
        self._layout = layout
        self._half = _check.check_flag(half, "half")
        self._sort = _check.check_flag(sort, "sort")
        if not self._sort and layout != "pairs":
            raise InputError(f"sort: False found with layout {layout!r}; only pairs can do without an order")
        self._structure = _check_structure(index, spheres=radii is not None)
        self._core = _core.ListCore()
        self._index: Index | None = None
        self._kept: _Kept | None = None
        self._arrays: dict[str, npt.NDArray[Any]] = {}
        self._updates = self._builds = 0
        self._built_skin = 0.0
        self._build_seconds = self._check_seconds = 0.0
        self._left = 0.0  # when the last update returned
        self._sample: npt.NDArray[Any] | None = None

    def __len__(self) -> int:
        """Return the number of bodies."""
        return 0 if self._kept is None else len(self._kept.points)

    def __repr__(self) -> str:
        """Bodies, entries and skin, for people."""
        what = "spheres" if self._cutoff is None else f"cutoff={self._cutoff:g}"
        if self._kept is None:
            return f"NeighborList({what}, not built)"
        chosen = "" if self._tuner is None else f", chosen: {self._tuner.reason}"
        return (
            f"NeighborList({what}, {len(self)} bodies, {self._entries()} entries, {self._layout}, "
            f"skin={self._built_skin:.3g}{chosen})"
        )

    # ---------------------------------------------------------------------------------------------------- update

    def update(self, points: npt.ArrayLike, *, radii: npt.ArrayLike | None = None, box: BoxLike = None) -> bool:
        """Tell where the bodies are now. Return True if the list had to be built again.

        There may be more or fewer bodies than before. The points are not copied: `exact` looks at your array.

        Parameters
        ----------
        points
            Coordinates, shape (n, 2) or (n, 3), float32 or float64.
        radii
            New radii of spheres; without, they stay as they are. Growing uses up the skin as moving does.
        box
            A new box; without, it stays as it is. A change builds the list again.

        Examples
        --------
        >>> rows = vicinal.NeighborList(radii=[1.0, 1.0], skin=0.5)
        >>> rows.update([[0.0, 0.0], [2.2, 0.0]]), rows.update([[0.0, 0.0], [2.2, 0.0]], radii=[1.1, 1.1])
        (True, False)
        >>> rows.update([[0.0, 0.0], [2.2, 0.0]], radii=[1.0, 1.4])
        True
        """
        started = perf_counter()
        if self._tuner is not None and self._updates:
            self._tuner.note_gap(started - self._left)
        fresh = not self._still_holds(points, radii, box)
        if fresh:
            self._rebuild(points, radii, box)
        else:
            self._check_seconds = perf_counter() - started
            if self._tuner is not None:
                self._tuner.note_check(self._check_seconds)
        self._updates += 1
        self._left = perf_counter()
        return fresh

    def _still_holds(self, points: npt.ArrayLike, radii: npt.ArrayLike | None, box: BoxLike) -> bool:
        """Tell whether the list has every pair of these bodies. In doubt it does not: building checks the arguments."""
        kept = self._kept
        if kept is None or box is not None or (radii is not None and kept.radii is None):
            return False
        array = _as_kept(points, kept.points)
        sizes = kept.radii if radii is None else _as_kept(radii, kept.radii)
        if array is None or (kept.radii is not None and sizes is None):
            return False
        if self._built_skin == 0:
            self._follow(array)
            return False
        if radii is not None or kept.grown:
            within, share = self._core.drift_spheres(array, kept.built_radii, sizes)
        else:
            within, share = self._core.drift(array)
        if self._tuner is not None:
            self._tuner.note_way(float(np.sqrt(share)) * self._built_skin / 2)
        if within:
            kept.points = array
            if radii is not None:
                kept.radii, kept.grown = np.array(sizes), True
        return bool(within)

    def _follow(self, points: Floats) -> None:
        """Without a skin nobody watches the bodies, so a few are followed to see when one would pay."""
        if self._tuner is None or self._sample is None:
            return
        way = np.abs(points[:: _stride(points)] - self._sample)
        for axis, edge in enumerate(self._edges):
            if edge > 0:
                way[:, axis] = np.abs(way[:, axis] - np.round(way[:, axis] / edge) * edge)
        with np.errstate(over="ignore", invalid="ignore"):
            longest = float(np.sqrt((way * way).sum(axis=1)).max(initial=0.0))
        self._tuner.note_way(longest if np.isfinite(longest) else 0.0)

    def _rebuild(self, points: npt.ArrayLike, radii: npt.ArrayLike | None, box: BoxLike) -> None:
        started = perf_counter()
        space = self._box if box is None else box
        bodies = self._checked(points, radii)
        cutoff = 0.0 if self._cutoff is None else _check.check_cutoff(self._cutoff, bodies)
        edges = _check.check_box(space, bodies, cutoff)
        reach = cutoff if self._cutoff is not None else 2 * max(bodies.largest)
        room = _room(bodies, reach, edges)
        typical = reach if bodies.extra is None or not len(bodies) else 2 * float(bodies.extra.mean(dtype=np.float64))
        skin = self._skin if self._tuner is None else self._tuner.choose(typical, bodies.dim, room)
        if skin > room:
            raise InputError(
                f"skin: {skin:g} found, but in the box {[edge or None for edge in edges]} pairs of reach {reach:g} "
                f"leave room for {room:g}; beyond that two images of a pair would be in the list"
            )
        setting = _with_skin(bodies, cutoff, skin, edges)
        # From here on the old list is gone, whatever happens.
        self._kept, self._arrays = None, {}
        self._search(setting)
        self._box, self._edges, self._built_skin = space, edges, skin
        built: Any = setting.bodies.extra
        radii_now: Any = bodies.extra
        if skin == 0:
            self._sample = np.array(bodies.array[:: _stride(bodies.array)]) if self._tuner is not None else None
        elif built is None:
            self._core.remember(bodies.array, edges, setting.cutoff / 2, cutoff / 2)
        else:
            self._core.remember_spheres(bodies.array, edges, built, radii_now)
        # Yours may change: who does not pass radii again means those of now.
        radii_now = None if radii_now is None else radii_now.copy()
        self._kept = _Kept(bodies.array, radii_now, built, grown=False)
        self._builds += 1
        self._build_seconds = perf_counter() - started
        if self._tuner is not None:
            share = skin / typical if typical else 0.0
            self._tuner.note_build(self._build_seconds, self._entries(), share, bodies.dim)

    def _checked(self, points: npt.ArrayLike, radii: npt.ArrayLike | None) -> Points:
        """Check bodies without any skin."""
        if self._cutoff is not None:
            if radii is not None:
                raise InputError("radii: found, but the list was made with a cutoff; leave them out")
            return check_points(points)
        given = radii
        if given is None:
            given = self._radii if self._kept is None else self._kept.radii
        return check_spheres(points, given, 0.0)

    def _search(self, setting: Setting) -> None:
        """Fill the arrays."""
        index = self._index_for(setting)
        size = len(setting.bodies)
        if not self._sort:
            i, j = index.pairs(half=self._half)
            self._arrays = {"i": i, "j": j}
            return
        if self._half:
            i, j = index.pairs()
            offsets, neighbors = self._core.rows(i, j, size, False)
        else:
            rows = index.neighbors()
            offsets, neighbors = rows.offsets, rows.indices
            _core.sort_rows(offsets, neighbors)
        self._arrays = {"offsets": offsets, "neighbors": neighbors}
        if self._layout == "pairs":
            i = np.repeat(np.arange(size, dtype=np.int32), np.diff(offsets))
            self._arrays |= {"i": i, "j": neighbors}

    def _index_for(self, setting: Setting) -> Index:
        """Return an index of these bodies: the one there is, if it fits, because it keeps its memory."""
        kind, options = self._structure, {}
        if kind is None:
            choice = choose_checked(setting)
            kind, options = STRUCTURES[choice.structure], dict(choice.parameters)
        index = self._index
        if index is not None and type(index) is kind and index._like_setting(setting):  # noqa: SLF001
            index._renew(setting.bodies)  # noqa: SLF001
        else:
            self._index = None
            index = kind._kept(setting, options)  # noqa: SLF001
        self._index = index
        return index

    # ---------------------------------------------------------------------------------------------------- arrays

    @property
    def offsets(self) -> npt.NDArray[np.int64]:
        """int64, one more than there are bodies: row k is `neighbors[offsets[k]:offsets[k + 1]]`."""
        return self._array("offsets")

    @property
    def neighbors(self) -> npt.NDArray[np.int32]:
        """int32, the neighbours of all rows, each row in ascending order; in half rows all are larger than the row."""
        return self._array("neighbors")

    @property
    def i(self) -> npt.NDArray[np.int32]:
        """int32, the first body of every pair (layout "pairs")."""
        return self._array("i")

    @property
    def j(self) -> npt.NDArray[np.int32]:
        """int32, the second body of every pair (layout "pairs")."""
        return self._array("j")

    def _array(self, name: str) -> npt.NDArray[Any]:
        if self._kept is None:
            raise InputError(f"{name}: the list is not built, or the last update failed; call update(points) first")
        if name not in self._arrays:
            raise InputError(f"{name}: not in a list with layout {self._layout!r}; it has {', '.join(self._arrays)}")
        return self._arrays[name]

    def _entries(self) -> int:
        return len(self._arrays["neighbors" if self._sort else "j"])

    @property
    def skin(self) -> float:
        """The skin of the last build."""
        return self._built_skin

    @property
    def stats(self) -> ListStats:
        """What the list has done so far, and why it has the skin it has."""
        held = sum(array.nbytes for name, array in self._arrays.items() if name != "j" or not self._sort)
        index_bytes = 0 if self._index is None else self._index.stats.bytes
        if self._tuner is not None:
            reason = self._tuner.reason
        else:
            reason = "as given" if self._skin else "none wanted, so every update builds"
        return ListStats(
            updates=self._updates,
            builds=self._builds,
            entries=0 if self._kept is None else self._entries(),
            skin=self._built_skin,
            reason=reason,
            structure="" if self._index is None else type(self._index).__name__,
            build_seconds=self._build_seconds,
            check_seconds=self._check_seconds,
            bytes=held + index_bytes + self._core.bytes(),
        )

    # ------------------------------------------------------------------------------------------------------ exact

    def exact(self, *, want: str = "ij", sort: bool = True) -> tuple[npt.NDArray[Any], ...]:
        """Find the pairs within the cutoff, without any skin, of the points of the last update.

        It searches afresh, which is faster than to test all entries of the list. Options as in `vicinal.pairs`.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=9.0, half=False)
        >>> rows.update([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        True
        >>> [column.tolist() for column in rows.exact(want="ijd")]
        [[0, 1], [1, 0], [1.0, 1.0]]
        """
        from vicinal.search import pairs

        kept = self._kept
        if kept is None:
            raise InputError("exact: the list is not built, or the last update failed; call update(points) first")
        return pairs(
            kept.points,
            cutoff=self._cutoff,
            radii=kept.radii,
            box=self._box,
            want=want,
            half=self._half,
            sort=sort,
        )


def _as_kept(value: npt.ArrayLike, like: Any) -> Any:
    """Return an array of the dtype and shape of another, or None if it has another dtype or shape."""
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if array.dtype.kind not in "fiu":
        return None
    if array.ndim == 0 and like.ndim == 1:
        return np.full(like.shape, array, like.dtype)
    if array.shape != like.shape:
        return None
    if like.ndim == 2 and (array.dtype == np.float32) != (like.dtype == np.float32):
        return None
    return np.ascontiguousarray(array, dtype=like.dtype)


def _stride(points: Floats) -> int:
    return max(1, len(points) // SAMPLE)


def _room(bodies: Points, reach: float, edges: list[float]) -> float:
    """Return how thick a skin may be so that one image at most of a pair is within reach."""
    eps = float(np.finfo(bodies.array.dtype).eps)
    periods = [edge for edge in edges if edge > 0]
    if not periods:
        return float("inf")
    room = min(periods) / 2 * (1 - IMAGE_MARGIN * eps * len(edges)) / (1 + IMAGE_MARGIN * eps) - reach
    if room < 0:
        raise InputError(
            f"box: {[edge or None for edge in edges]} found; pairs of reach {reach:g} meet through several images, "
            f"which a list cannot tell apart, so use edges above {2 * reach:g}, or vicinal.pairs with its shifts"
        )
    return room


def _with_skin(bodies: Points, cutoff: float, skin: float, edges: list[float]) -> Setting:
    """Return what to search for: bodies that reach as far as the skin says."""
    dtype = bodies.array.dtype
    planes = check_planes(None, bodies, edges)
    if skin == 0:
        return Setting(bodies, cutoff, edges, planes)
    if bodies.extra is None:
        return Setting(bodies, _check.check_cutoff(cutoff + skin, bodies, "cutoff + skin"), edges, planes)
    with np.errstate(over="ignore"):
        extra: Any = bodies.extra + dtype.type(skin / 2)
        largest = extra.max() if len(extra) else dtype.type(0)
        twice = largest + largest
        if not np.isfinite(twice * twice):
            raise InputError(f"skin: {skin:g} found; the square of twice {largest} overflows {dtype}; use less")
    return Setting(replace(bodies, extra=extra, largest=[float(largest)] * bodies.dim), 0.0, edges, planes)


def _check_structure(index: object, *, spheres: bool) -> type[Index] | None:
    if index is None:
        return None
    kind = STRUCTURES.get(index) if isinstance(index, str) else index
    if not (isinstance(kind, type) and issubclass(kind, Index) and kind is not Index):
        raise InputError(f"index: {index!r} found; pass a structure or its name, one of {', '.join(STRUCTURES)}")
    if spheres and kind is Delaunay:
        raise InputError("index: Delaunay found together with radii; it knows points only, so use another structure")
    return kind


def _check_consumer(value: object) -> float | None:
    if value is None:
        return None
    seconds = _check.check_number(value, "consumer")
    if not 0 <= seconds < float("inf"):
        raise InputError(f"consumer: {value} found; pass seconds per entry, such as 2e-9, or None to measure")
    return seconds
