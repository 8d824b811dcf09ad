"""A list of neighbours that lives: made once, updated every step, built again only when it has to be."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, BoxLike, Floats
from vicinal.bodies import check_points, check_skin, check_spheres
from vicinal.choose import choose_checked
from vicinal.errors import InputError
from vicinal.index import Index, Settings
from vicinal.layouts import LAYOUTS, ListPointers, bytes_of, entries_of, lay_out, pointers_of, reduce_values, rows_of
from vicinal.list_setting import (
    as_kept,
    check_consumer,
    check_structure,
    check_width,
    room_for_skin,
    sample_stride,
    with_skin,
)
from vicinal.order import check_order
from vicinal.skin import SkinTuner
from vicinal.structures import STRUCTURES

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
        "rows": `offsets` and `neighbors`, row after row. "pairs": `i` and `j`. "fixed": a `table` of `width` entries
        per body, and `counts`. "hybrid": the same, and what does not fit in `i` and `j`.
    half
        Each pair once, in the row of the body with the smaller number (True), or in the rows of both.
    width
        Entries per body of the layouts "fixed", where a body with more is an error, and "hybrid".
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
        width: int | None = None,
        sort: bool = True,
        box: BoxLike = None,
        index: type[Index] | str | None = None,
        consumer: float | None = None,
    ) -> None:
        if (cutoff is None) == (radii is None):
            found = "neither" if cutoff is None else "both"
            raise InputError(f"cutoff, radii: {found} found; pass exactly one, it says what the bodies are")
        self._cutoff = None if cutoff is None else _check.check_number(cutoff, "cutoff")
        self._radii: npt.ArrayLike | None = None if radii is None else _check.as_array(radii, "radii").copy()
        self._box: BoxLike = box
        self._edges: list[float] = []
        tuned = isinstance(skin, str) and skin == "auto"
        self._skin = 0.0 if tuned else check_skin(skin)
        self._tuner = SkinTuner(check_consumer(consumer)) if tuned else None
        if layout not in LAYOUTS:
            raise InputError(f"layout: {layout!r} found; pass one of {', '.join(LAYOUTS)}")
        self._layout = layout
        self._width = check_width(width, layout)
        self._half = _check.check_flag(half, "half")
        self._sort = _check.check_flag(sort, "sort")
        if not self._sort and layout != "pairs":
            raise InputError(f"sort: False found with layout {layout!r}; leave it out, or use layout 'pairs'")
        self._structure = check_structure(index, spheres=radii is not None)
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
            f"NeighborList({what}, {len(self)} bodies, {entries_of(self._arrays)} entries, {self._layout}, "
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
            if self._tuner is not None and self._kept is not None:
                self._tuner.note_forced()
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
        array = as_kept(points, kept.points, "points")
        sizes = kept.radii if radii is None else as_kept(radii, kept.radii, "radii")
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
                self._keep_radii(radii, kept.radii)
        return bool(within)

    def _follow(self, points: Floats) -> None:
        """Without a skin nobody watches the bodies, so a few are followed to see when one would pay."""
        if self._tuner is None or self._sample is None:
            return
        way = np.abs(points[:: sample_stride(points)] - self._sample)
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
        room = room_for_skin(bodies, reach, edges)
        typical = reach if bodies.extra is None or not len(bodies) else 2 * float(bodies.extra.mean(dtype=np.float64))
        skin = self._skin if self._tuner is None else self._tuner.choose(typical, bodies.dim, room)
        if skin > room:
            raise InputError(
                f"skin: {skin:g} found, but in the box {[edge or None for edge in edges]} pairs of reach {reach:g} "
                f"would be in the list through two images; use at most {room:g}"
            )
        settings = with_skin(bodies, cutoff, skin, edges)
        # From here on the old list is gone, whatever happens.
        self._kept, self._arrays = None, {}
        self._box, self._edges, self._built_skin = space, edges, skin
        if radii is not None:
            self._keep_radii(radii, bodies.extra)
        self._search(settings)
        built: Any = settings.bodies.extra
        radii_now: Any = bodies.extra
        if skin == 0:
            self._sample = np.array(bodies.array[:: sample_stride(bodies.array)]) if self._tuner is not None else None
        elif built is None:
            self._core.remember(bodies.array, edges, settings.cutoff / 2, cutoff / 2)
        else:
            self._core.remember_spheres(bodies.array, edges, built, radii_now)
        radii_now = None if radii_now is None else radii_now.copy()  # yours may change
        self._kept = _Kept(bodies.array, radii_now, built, grown=False)
        self._builds += 1
        self._build_seconds = perf_counter() - started
        if self._tuner is not None:
            share = skin / typical if typical else 0.0
            self._tuner.note_build(self._build_seconds, entries_of(self._arrays), share, bodies.dim)

    def _checked(self, points: npt.ArrayLike, radii: npt.ArrayLike | None) -> Bodies:
        """Check bodies without any skin."""
        if self._cutoff is not None:
            if radii is not None:
                raise InputError("radii: found, but the list was made with a cutoff; leave them out")
            return check_points(points)
        return check_spheres(points, self._radii if radii is None else radii, 0.0)

    def _keep_radii(self, given: npt.ArrayLike, checked: Any) -> None:
        """Keep radii for updates without any. One number stays one, however many bodies there will be."""
        self._radii = given if np.ndim(given) == 0 else checked.copy()

    def _search(self, settings: Settings) -> None:
        """Fill the arrays."""
        index = self._index_for(settings)
        size = len(settings.bodies)
        if not self._sort:
            i, j = index.pairs(half=self._half)
            self._arrays = {"i": i, "j": j}
            return
        if self._half:
            i, j = index.pairs()
            offsets, neighbors = self._core.rows(i, j, size, False)
        else:
            rows = index.neighbors()
            offsets, neighbors = rows.offsets, self._core.order(rows.offsets, rows.indices)
        self._arrays = lay_out(self._layout, offsets, neighbors, self._width)

    def _index_for(self, settings: Settings) -> Index:
        """Return an index of these bodies: the one there is, if it fits, because it keeps its memory."""
        kind, options = self._structure, {}
        if kind is None:
            choice = choose_checked(settings)
            kind, options = STRUCTURES[choice.structure], dict(choice.parameters)
        index = self._index
        if index is not None and type(index) is kind and index._like_settings(settings):  # noqa: SLF001
            index._renew(settings.bodies)  # noqa: SLF001
        else:
            self._index = None
            index = kind._kept(settings, options)  # noqa: SLF001
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
        """int32, the first body of every pair ("pairs"), or of those that did not fit the table ("hybrid")."""
        return self._array("i")

    @property
    def j(self) -> npt.NDArray[np.int32]:
        """int32, the second body of each of these pairs."""
        return self._array("j")

    @property
    def table(self) -> npt.NDArray[np.int32]:
        """int32, shape (n, width): the first neighbours of every body in ascending order, then -1."""
        return self._array("table")

    @property
    def counts(self) -> npt.NDArray[np.int32]:
        """int32, how many entries each row of `table` has."""
        return self._array("counts")

    @property
    def pointers(self) -> ListPointers:
        """The arrays as a struct of pointers, for compiled code; see `ListPointers`.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
        >>> rows.update([[0.0, 0.0], [1.2, 0.0], [9.0, 0.0]])
        True
        >>> rows.pointers.bodies, rows.pointers.entries, rows.pointers.neighbors[0]
        (3, 1, 1)
        """
        self._require("pointers")
        return pointers_of(self._arrays, len(self))

    def _require(self, name: str) -> _Kept:
        if self._kept is None:
            raise InputError(f"{name}: the list is not built, or the last update failed; pass points to `update` first")
        return self._kept

    def _array(self, name: str) -> npt.NDArray[Any]:
        self._require(name)
        if name not in self._arrays:
            raise InputError(f"{name}: not in a list with layout {self._layout!r}; use {', '.join(self._arrays)}")
        return self._arrays[name]

    @property
    def skin(self) -> float:
        """The skin of the last build."""
        return self._built_skin

    @property
    def stats(self) -> ListStats:
        """What the list has done so far, and why it has the skin it has."""
        index_bytes = 0 if self._index is None else self._index.stats.bytes
        if self._tuner is not None:
            reason = self._tuner.reason
        else:
            reason = "as given" if self._skin else "none wanted, so every update builds"
        return ListStats(
            updates=self._updates,
            builds=self._builds,
            entries=0 if self._kept is None else entries_of(self._arrays),
            skin=self._built_skin,
            reason=reason,
            structure="" if self._index is None else type(self._index).__name__,
            build_seconds=self._build_seconds,
            check_seconds=self._check_seconds,
            bytes=bytes_of(self._arrays) + index_bytes + self._core.bytes(),
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

        kept = self._require("exact")
        return pairs(
            kept.points,
            cutoff=self._cutoff,
            radii=kept.radii,
            box=self._box,
            want=want,
            half=self._half,
            sort=sort,
        )

    # ------------------------------------------------------------------------------------------------- sums, order

    def reduce(
        self, values: npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike], *, how: str = "antisymmetric"
    ) -> npt.NDArray[Any]:
        """Sum a value per entry of the list onto the bodies.

        Each body receives in the order of the entries, whatever the number of threads, so the bits are always the same.

        Parameters
        ----------
        values
            One per entry, shape (m,) or (m, k), float32 or float64, in the order of `neighbors` or `j`; for a table
            (n, width) or (n, width, k), of which only the first `counts` of a row matter; for a hybrid list both,
            (table, pairs).
        how
            What the second body of a half list receives: "antisymmetric", the opposite, as with forces, or "symmetric",
            the same, as with energies. In a full list every entry counts for the body of its row only.

        Returns
        -------
        array
            Shape (n,) or (n, k), of the dtype of the values.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.0)
        >>> rows.update([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]])
        True
        >>> rows.reduce([10.0, 1.0]).tolist(), rows.reduce([10.0, 1.0], how="symmetric").tolist()
        ([10.0, -9.0, -1.0], [10.0, 11.0, 1.0])
        """
        self._require("reduce")
        return reduce_values(self._arrays, len(self), values, how, half=self._half)

    def lennard_jones(self, *, epsilon: float = 1.0, sigma: float = 1.0) -> tuple[float, npt.NDArray[Any]]:
        """Compute the Lennard-Jones energy and forces of the points of the last update, cut off but not shifted.

        It is what a compiled loop over half rows looks like (cpp/lists/lennard_jones.hpp): every entry is tested, and
        every pair within the cutoff gives to both of its bodies. The bits do not depend on the number of threads.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=2.5, skin=0.3)
        >>> rows.update([[0.0, 0.0], [1.0, 0.0]])
        True
        >>> energy, forces = rows.lennard_jones()
        >>> energy, forces.tolist()
        (0.0, [[-24.0, 0.0], [24.0, 0.0]])
        """
        kept = self._require("lennard_jones")
        if self._cutoff is None or not self._half or self._layout != "rows":
            raise InputError('lennard_jones: needs a cutoff, half=True and layout "rows"; make such a list')
        numbers = _check.check_number(epsilon, "epsilon"), _check.check_number(sigma, "sigma")
        return _core.lennard_jones(self.offsets, self.neighbors, kept.points, self._edges, *numbers, self._cutoff)

    def reorder(self, order: npt.ArrayLike) -> None:
        """Renumber the bodies: body k is from now on the one that was order[k].

        Sort your own arrays with the same order, such as that of `spatial_order`: ``points = points[order]``.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
        >>> points = np.array([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]])
        >>> rows.update(points), rows.offsets.tolist(), rows.neighbors.tolist()
        (True, [0, 1, 1, 1], [2])
        >>> rows.reorder([1, 2, 0])
        >>> rows.offsets.tolist(), rows.neighbors.tolist(), rows.update(points[[1, 2, 0]])
        ([0, 0, 1, 1], [2], False)
        """
        kept = self._require("reorder")
        new = check_order(order, len(self))
        if self._sort:
            offsets, neighbors = self._core.reorder(*rows_of(self._arrays), new, self._half)
            self._arrays = lay_out(self._layout, offsets, neighbors, self._width)
        else:
            place = np.empty_like(new)
            place[new] = np.arange(len(new), dtype=new.dtype)
            self._arrays = {name: place[self._arrays[name]] for name in ("i", "j")}
        if self._built_skin > 0:
            self._core.reorder_places(new)
        elif self._sample is not None:
            self._sample = None  # somebody else is at their numbers now
        if self._radii is not None and np.ndim(self._radii):
            self._radii = np.asarray(self._radii)[new]
        self._kept = _Kept(kept.points[new], _permuted(kept.radii, new), _permuted(kept.built_radii, new), kept.grown)


def _permuted(values: Any, order: npt.NDArray[np.int32]) -> Any:
    return None if values is None else values[order]
