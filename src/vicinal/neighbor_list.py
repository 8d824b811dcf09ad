"""Neighbours of moving bodies: a list that is updated every step and built again only when necessary."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace
from threading import RLock
from time import perf_counter
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, Floats
from vicinal.bodies import BoxesLike, PlanesLike, check_boxes, check_points, check_skin, check_spheres
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.choose import chosen_index
from vicinal.errors import InputError
from vicinal.filters import Filter, check_cutoffs, check_filter, check_r_min
from vicinal.index import Index
from vicinal.layouts import (
    LAYOUTS,
    Arrays,
    bytes_of,
    entries_of,
    lay_out,
    reduce_values,
    renumbered,
    rows_of,
)
from vicinal.list_arrays import ListArrays
from vicinal.list_builder import ListBuilder
from vicinal.list_settings import (
    adds_up,
    check_conditions,
    check_consumer,
    check_structure,
    check_width,
    copy_of_planes,
    largest_of,
    margins_of,
    planes_within,
    reach_of,
    room_for_skin,
    room_of_planes,
    sample_stride,
    with_skin,
)
from vicinal.list_state import Given, ListState, ListStats
from vicinal.order import check_order
from vicinal.planes import check_planes
from vicinal.settings import Settings
from vicinal.skin import TUNERS
from vicinal.structures import StructureLike

Layout = Literal["rows", "pairs", "fixed", "hybrid"]
# Attributes that a copy of a list creates itself.
NOT_COPIED = ("_builder", "_lock", "_core", "_state", "_spare", "_sample", "_left")


class NeighborList(ListArrays):
    """Neighbours of moving bodies, kept over many steps.

    The list holds all pairs within the cutoff plus a skin. It contains every pair within the cutoff until a body has
    moved by half the skin; `update` builds it again in time. Your own loop tests the distance. Exactly one of `cutoff`,
    `radii` and `boxes` describes the bodies.

    The methods can be called from several threads at the same time; calls wait for each other. Arrays are never
    written again once they were returned. A copy or pickle of a list is built from the bodies of the last update.

    Parameters
    ----------
    cutoff
        Bodies are points; every pair not farther apart than this is in the list. With `types`, a matrix of cutoffs.
    radii
        Bodies are spheres; every pair that touches or overlaps is in the list. One number may stand for all.
    boxes
        True: bodies are axis-aligned boxes, which `update` receives; every pair that overlaps is in the list.
    skin
        How much farther pairs reach when the list is built. "auto" chooses the skin with the least cost before every
        build, from the times and the motion measured so far; `stats.reason` explains the choice. "steps" follows from
        the number of updates that lists lasted, not from times, so that the same run builds the same lists. 0: none, so
        every update builds.
    layout
        "rows": `offsets` and `indices` (CSR). "pairs": `i` and `j`. "fixed": a `table` of `width` entries per row, and
        `counts`. "hybrid": the same, and `i` and `j` with the entries that do not fit.
    half
        Each pair once, in the row of the body with the smaller number (True), or in the rows of both.
    width
        Entries per row of the layouts "fixed", where a row with more is an error, and "hybrid".
    sort
        False, for layout "pairs" only: pairs in any order, which saves the time to sort them.
    planes
        Infinite bodies (points, normals), numbered after the bodies; see `vicinal.Index`.
    box
        Periodic cell, as for `pairs`. In a cell thinner than twice the reach a pair can be in the list several times,
        once per image, and a body can be a neighbour of itself: `shifts` tells the images apart.
    periodic
        Whether space is periodic along each edge of the box, as for `pairs`.
    criterion, types, groups, exclude
        Which bodies form pairs; see `vicinal.pairs`. The skin is added to what `criterion` or `types` gives for a pair.
    r_min
        Smallest distance of the pairs that `exact` returns. The list itself holds nearer pairs, too, because they may
        move apart before the next build.
    structure
        The structure to search with, as a class or its name. None: the one that `vicinal.choose` returns.
    consumer
        For skin="auto": seconds that your loop takes per entry of the list. The default is measured: the time between
        updates.

    Examples
    --------
    >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
    >>> rows.update([[0.0, 0.0], [1.2, 0.0], [9.0, 0.0]])
    True
    >>> rows.offsets.tolist(), rows.indices.tolist()
    ([0, 1, 1, 1], [1])
    >>> rows.update([[0.0, 0.0], [1.0, 0.0], [9.0, 0.0]])
    False
    >>> [column.tolist() for column in rows.exact()]
    [[0], [1]]
    """

    def __init__(
        self,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: bool = False,
        skin: float | Literal["auto", "steps"] = "auto",
        layout: Layout = "rows",
        half: bool = True,
        width: int | None = None,
        sort: bool = True,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
        periodic: PeriodicLike = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        structure: StructureLike = None,
        consumer: float | None = None,
    ) -> None:
        if not isinstance(boxes, int | np.bool_):
            raise InputError(f"boxes must be True or False, got {type(boxes).__name__}; pass the boxes to `update`")
        self._boxes = _check.check_flag(boxes, "boxes")
        given = [("cutoff=", cutoff is not None), ("radii=", radii is not None), ("boxes=", self._boxes)]
        if sum(there for _, there in given) != 1:
            got = " and ".join(name for name, there in given if there) or "none"
            raise InputError(f"pass exactly one of cutoff=, radii= or boxes= ({got} given)")
        check_conditions(cutoff, criterion, types, sized=cutoff is None, radii=radii is not None, planes=planes)
        self._cutoffs = None if types is None else _check.as_array(cutoff, "cutoff").copy()
        self._cutoff = None if cutoff is None else _check.check_number(largest_of(cutoff), "cutoff")
        self._criterion, self._r_min = criterion, _check.check_number(r_min, "r_min")
        self._types = None if types is None else _check.as_array(types, "types").copy()
        self._radii: npt.ArrayLike | None = None if radii is None else _check.as_array(radii, "radii").copy()
        self._planes = copy_of_planes(planes)
        self._box: BoxLike = deepcopy(box)
        self._periodic: PeriodicLike = deepcopy(periodic)
        self._groups = None if groups is None else _check.as_array(groups, "groups").copy()
        self._exclude = None if exclude is None else _check.as_array(exclude, "exclude").copy()
        seconds = check_consumer(consumer)
        self._tuner = TUNERS[skin](seconds) if isinstance(skin, str) and skin in TUNERS else None
        if isinstance(skin, str) and self._tuner is None:
            raise InputError(f"skin must be a length, or one of {', '.join(map(repr, TUNERS))}, got {skin!r}")
        self._skin = 0.0 if self._tuner is not None else check_skin(skin)
        if layout not in LAYOUTS:
            raise InputError(f"layout must be one of {', '.join(LAYOUTS)}, got {layout!r}")
        self._layout = layout
        self._width = check_width(width, layout)
        self._half = _check.check_flag(half, "half")
        self._sort = _check.check_flag(sort, "sort")
        if not self._sort and layout != "pairs":
            raise InputError(f"sort must be True with layout {layout!r}, got False; use layout 'pairs' for any order")
        self._make(check_structure(structure, points=cutoff is not None))
        self._updates = self._builds = 0
        self._build_seconds = self._check_seconds = 0.0

    def _make(self, structure: type[Index] | None) -> None:
        """Set what is not copied with a list."""
        self._builder = ListBuilder(structure)
        self._lock = RLock()
        self._core = _core.ListCore()
        self._state: ListState | None = None
        self._spare: Floats | None = None  # memory for the next copy of the positions
        self._sample: npt.NDArray[Any] | None = None
        self._left: float | None = None  # when the last update returned, by a clock that other processes do not share

    def __len__(self) -> int:
        """Return the number of bodies, planes not counted."""
        state = self._state
        return 0 if state is None else len(state.positions)

    def __repr__(self) -> str:
        """Return the kind and number of bodies, entries and skin."""
        state = self._state
        what = "boxes" if self._boxes else "spheres" if self._cutoff is None else f"cutoff={self._cutoff:g}"
        if state is None:
            return f"NeighborList({what}, not built)"
        chosen = "" if self._tuner is None else f", chosen: {self._tuner.reason}"
        return (
            f"NeighborList({what}, {len(state.positions)} bodies, {entries_of(state.arrays)} entries, {self._layout}, "
            f"skin={state.skin:.3g}{chosen})"
        )

    def __getstate__(self) -> dict[str, Any]:
        """Return parameters and bodies, for `copy` and `pickle`: the list is rebuilt from them."""
        with self._lock:
            given = None if self._state is None else self._state.given()
            kept = {name: value for name, value in self.__dict__.items() if name not in NOT_COPIED}
            return {**deepcopy(kept), "given": given, "structure": self._builder.structure}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Rebuild the list."""
        given, structure = state.pop("given"), state.pop("structure")
        self.__dict__.update(state)
        self._make(structure)
        if given is not None:
            built = self._rebuilt(given)
            self._note_build(built)
            self._state = built

    # ---------------------------------------------------------------------------------------------------- update

    def update(
        self,
        points: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        planes: PlanesLike | None = None,
        box: BoxLike = None,
    ) -> bool:
        """Move the bodies. Return True if the list was built again.

        There may be more or fewer bodies than before. The arrays are copied: change yours as you like. An update that
        raises an error leaves the list as it was.

        Parameters
        ----------
        points
            Coordinates, shape (n, 2) or (n, 3), float32 or float64.
        radii
            New radii of spheres; by default they stay as they are. Growing uses up the skin as moving does.
        boxes
            Axis-aligned boxes (lower, upper) in place of points, for a list of boxes.
        planes
            New planes; by default they stay as they are. A plane that only moves uses up the skin as a body does; a
            plane that turns builds the list again.
        box
            A new box; by default it stays as it is. A change builds the list again.

        Examples
        --------
        >>> rows = vicinal.NeighborList(radii=[1.0, 1.0], skin=0.5)
        >>> rows.update([[0.0, 0.0], [2.2, 0.0]]), rows.update([[0.0, 0.0], [2.2, 0.0]], radii=[1.1, 1.1])
        (True, False)
        >>> rows.update([[0.0, 0.0], [2.2, 0.0]], radii=[1.0, 1.4])
        True
        """
        started = perf_counter()
        given = Given(points, radii, boxes, planes, box)
        with self._lock:
            if self._tuner is not None and self._left is not None:
                self._tuner.note_gap(started - self._left)
            state = self._state
            fresh = state is None or not self._holds(state, given)
            if state is None or fresh:
                if self._tuner is not None and state is not None:
                    self._tuner.note_forced()
                built = self._rebuilt(given)
                self._build_seconds = perf_counter() - started
                self._note_build(built)
                self._spare = None if state is None else state.positions
                self._state = state = built
            else:
                self._check_seconds = perf_counter() - started
                if self._tuner is not None:
                    self._tuner.note_check(self._check_seconds)
            self._keep(given, state)
            self._updates += 1
            self._left = perf_counter()
            return fresh

    def _keep(self, given: Given, state: ListState) -> None:
        """Keep the arguments that later updates may omit. A single radius is kept as one, for any number of bodies."""
        if given.radii is not None:
            self._radii = given.radii if np.ndim(given.radii) == 0 else np.array(given.radii, state.positions.dtype)
        if given.planes is not None:
            self._planes = copy_of_planes(given.planes)
        if given.box is not None:
            self._box = deepcopy(given.box)

    def _holds(self, state: ListState, given: Given) -> bool:
        """Move the bodies if the list still holds all their pairs. If not, or if that is uncertain, return False."""
        if given.box is not None or (given.radii is not None and self._radii is None):
            return False
        alike = state.alike(given)
        if alike is None:
            return False
        array, extra = alike
        if state.skin == 0:
            self._sample_motion(array, state.cell)
            return False
        now = state.planes if given.planes is None else check_planes(given.planes, state.built.bodies, state.cell)
        if (len(now) or len(state.built_planes)) and not planes_within(now, state.built_planes, state.plane_room):
            return False
        grown = state.grown or given.radii is not None
        copy = self._room_like(array)
        if self._boxes:
            within, share = self._core.drift_boxes(array, extra)
            np.copyto(copy, array)
        elif grown:
            within, share = self._core.drift_spheres(array, *margins_of(state.built, extra), copy)
        else:
            within, share = self._core.drift(array, copy)
        if self._tuner is not None:
            self._tuner.note_way(float(np.sqrt(share)) * state.skin / 2)
        if not within:
            self._spare = copy
            return False
        if self._boxes or given.radii is not None:
            extra = np.array(extra)
        self._spare = state.positions
        state.move(copy, extra, now, grown=grown)
        return True

    def _room_like(self, array: Floats) -> Floats:
        """Return memory for a copy: that of the copy before the last, if it fits."""
        spare, self._spare = self._spare, None
        if spare is None or spare.shape != array.shape or spare.dtype != array.dtype:
            return np.empty_like(array)
        return spare

    def _sample_motion(self, points: Floats, cell: Cell) -> None:
        """Measure the motion of some bodies while there is no skin, to find out when one would pay off."""
        if self._tuner is None or self._sample is None:
            return
        way = cell.shortest(points[:: sample_stride(points)] - self._sample)
        with np.errstate(over="ignore", invalid="ignore"):
            longest = float(np.sqrt((way * way).sum(axis=1)).max(initial=0.0))
        self._tuner.note_way(longest if np.isfinite(longest) else 0.0)

    def _rebuilt(self, given: Given) -> ListState:
        """Return the state after a build."""
        bodies = self._checked(given)
        check_r_min(self._r_min, bodies)
        cutoff = self._checked_cutoff(bodies)
        cell = _check.check_box(self._box if given.box is None else given.box, bodies, cutoff, self._periodic)
        planes = check_planes(self._planes if given.planes is None else given.planes, bodies, cell)
        reach, typical = reach_of(bodies, cutoff)
        room = room_for_skin(bodies, reach, cell)
        skin = self._skin if self._tuner is None else self._tuner.choose(typical, bodies.dim, room.automatic)
        several = room.check(skin, reach, cell, self._layout, boxes=self._boxes)
        kept = self._filter(bodies, skin=skin)
        settings = replace(with_skin(bodies, cutoff, skin, cell, planes), criterion=self._criterion, filter=kept)
        arrays, shifts = self._search(settings, several=several)
        self._watch(bodies, settings, cutoff, skin, several=several)
        copy = self._room_like(bodies.array)
        np.copyto(copy, bodies.array)
        extra: Any = None if bodies.extra is None else np.array(bodies.extra)
        built = settings.bodies
        larger: Any = extra if built.extra is bodies.extra else built.extra
        return ListState(
            kind=bodies.kind,
            positions=copy,
            sizes=extra,
            planes=planes,
            built=replace(settings, bodies=replace(built, array=built.array[:0], extra=larger)),
            built_planes=planes,
            plane_room=room_of_planes(planes, settings, skin),
            skin=skin,
            share=skin / typical if typical else 0.0,
            arrays=arrays,
            shifts=shifts,
        )

    def _checked_cutoff(self, bodies: Bodies) -> float:
        """Return the largest cutoff, without any skin; 0 for bodies with sizes."""
        if self._cutoffs is not None:
            return check_cutoffs(self._cutoffs, bodies, 0.0)[1]
        return 0.0 if self._cutoff is None else _check.check_cutoff(self._cutoff, bodies)

    def _filter(self, bodies: Bodies, *, skin: float = 0.0, r_min: float = 0.0) -> Filter | None:
        """Return which bodies form pairs."""
        cutoffs = None if self._cutoffs is None else check_cutoffs(self._cutoffs, bodies, skin)[0]
        conditions: Any = {"types": self._types, "groups": self._groups, "exclude": self._exclude}
        return check_filter(bodies, cutoffs, **conditions, r_min=r_min, criterion=self._criterion)

    def _note_build(self, state: ListState) -> None:
        self._builds += 1
        if self._tuner is not None:
            dim = state.positions.shape[1]
            self._tuner.note_build(self._build_seconds, entries_of(state.arrays), state.share, dim)

    def _watch(self, bodies: Bodies, built: Settings, cutoff: float, skin: float, *, several: bool) -> None:
        """Remember the positions of a build."""
        larger, sizes = cast("Any", built.bodies.extra), cast("Any", bodies.extra)
        if skin == 0:
            self._sample = np.array(bodies.array[:: sample_stride(bodies.array)]) if self._tuner is not None else None
        elif self._boxes:
            self._core.remember_boxes(built.bodies.array, larger, built.box.for_core, skin / 2, built.bodies.largest)
        elif larger is None:
            self._core.remember(bodies.array, built.box.for_core, built.cutoff / 2, cutoff / 2, several)
        elif not adds_up(built):
            then, now = (reach_of(some, 0.0)[0] / 2 for some in (built.bodies, bodies))
            self._core.remember(bodies.array, built.box.for_core, then, now, several)
        else:
            self._core.remember_spheres(bodies.array, built.box.for_core, larger, sizes, several)

    def _checked(self, given: Given) -> Bodies:
        """Check bodies without any skin."""
        if given.radii is not None and self._radii is None:
            made = "boxes" if self._boxes else "a cutoff"
            raise InputError(f"radii must be left out of a list of {made}, got some; make a new list with radii=")
        if self._boxes:
            return check_boxes(given.points, given.boxes, 0.0)
        if given.boxes is not None:
            raise InputError("boxes must be left out of a list of points, got some; make a new list with boxes=True")
        if self._cutoff is not None:
            return check_points(given.points)
        radii = self._radii if given.radii is None else given.radii
        return check_spheres(given.points, radii, 0.0, criterion=self._criterion)

    def _search(self, settings: Settings, *, several: bool) -> tuple[Arrays, npt.NDArray[np.int32] | None]:
        """Return the arrays of the layout, and shifts if a pair can have several images."""
        if not self._sort:
            i, j, *more = self._builder.pairs(settings, half=self._half, shifts=several)
            return {"i": i, "j": j}, more[0] if more else None
        offsets, indices, shifts = self._builder.rows(settings, half=self._half, shifts=several)
        return lay_out(self._layout, offsets, indices, self._width), shifts

    # ---------------------------------------------------------------------------------------------------- figures

    @property
    def skin(self) -> float:
        """The skin of the last build."""
        state = self._state
        return 0.0 if state is None else state.skin

    @property
    def stats(self) -> ListStats:
        """Figures of the list so far."""
        with self._lock:
            state = self._state
            if self._tuner is not None:
                reason = self._tuner.reason
            else:
                reason = "as given" if self._skin else "none wanted, so every update builds"
            arrays: Arrays = {} if state is None else state.arrays
            copies = 0 if state is None else state.positions.nbytes
            kept = 0 if state is None or state.shifts is None else state.shifts.nbytes
            return ListStats(
                updates=self._updates,
                builds=self._builds,
                entries=0 if state is None else entries_of(arrays),
                skin=self.skin,
                reason=reason,
                structure="" if self._builder.index is None else type(self._builder.index).__name__,
                build_seconds=self._build_seconds,
                check_seconds=self._check_seconds,
                bytes=bytes_of(arrays) + kept + copies + self._builder.bytes + self._core.bytes(),
            )

    # ------------------------------------------------------------------------------------------------------ exact

    def exact(self, *, want: str = "ij", sort: bool = True) -> tuple[npt.NDArray[Any], ...]:
        """Find the pairs within the cutoff, without any skin, and not nearer than `r_min`, of the last update.

        This is a new search, which is faster than a test of all entries of the list. Options as in `vicinal.pairs`.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=9.0, half=False)
        >>> rows.update([[0.0, 0.0], [1.0, 0.0], [0.0, 3.0]])
        True
        >>> [column.tolist() for column in rows.exact(want="ijd")]
        [[0, 1], [1, 0], [1.0, 1.0]]
        """
        with self._lock:
            state = self._require("exact")
            bodies = state.present_bodies()
            cutoff, kept = self._checked_cutoff(bodies), self._filter(bodies, r_min=self._r_min)
            settings = Settings(bodies, cutoff, state.cell, state.planes, criterion=self._criterion, filter=kept)
            return chosen_index(settings).pairs(want=want, half=self._half, sort=sort)

    # ------------------------------------------------------------------------------------------------- sums, order

    def reduce(
        self, values: npt.ArrayLike | tuple[npt.ArrayLike, npt.ArrayLike], *, how: str = "antisymmetric"
    ) -> npt.NDArray[Any]:
        """Sum a value per entry of the list onto the bodies, and onto the planes.

        Each sum is formed in the order of the entries for any number of threads, so its bits are always the same.

        Parameters
        ----------
        values
            One per entry, shape (m,) or (m, k), float32 or float64, in the order of `indices` or `j`; for a table
            (n, width) or (n, width, k), of which the first `counts` of a row are used; for a hybrid list both,
            (table, pairs).
        how
            What the second body of a half list receives: "antisymmetric", the opposite, as with forces, or "symmetric",
            the same, as with energies. In a full list every entry counts for its row only.

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
        state = self._require("reduce")
        return reduce_values(state.arrays, state.rows, values, how, half=self._half)

    def lennard_jones(self, *, epsilon: float = 1.0, sigma: float = 1.0) -> tuple[float, npt.NDArray[Any]]:
        """Compute the Lennard-Jones energy and forces of the points of the last update, cut off but not shifted.

        This is a model of a compiled loop over half rows (cpp/lists/lennard_jones.hpp): it tests every entry, and every
        pair within the cutoff acts on both of its bodies. The bits do not depend on the number of threads.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=2.5, skin=0.3)
        >>> rows.update([[0.0, 0.0], [1.0, 0.0]])
        True
        >>> energy, forces = rows.lennard_jones()
        >>> energy, forces.tolist()
        (0.0, [[-24.0, 0.0], [24.0, 0.0]])
        """
        with self._lock:
            state = self._require("lennard_jones")
            plain = self._types is None and self._r_min == 0 and not len(state.planes)
            if self._cutoff is None or not self._half or self._layout != "rows" or not plain:
                raise InputError(
                    'lennard_jones needs a list with a cutoff, half=True, layout "rows" and no planes, types or r_min; '
                    "make such a list"
                )
            numbers = _check.check_number(epsilon, "epsilon"), _check.check_number(sigma, "sigma")
            shifts = None if state.shifts is None else state.present_shifts(self._core)
            cutoff = float(state.positions.dtype.type(self._cutoff))
            points = state.positions
            return _core.lennard_jones(
                state.arrays["offsets"], state.arrays["indices"], points, state.cell.for_core, shifts, *numbers, cutoff
            )

    def reorder(self, order: npt.ArrayLike) -> None:
        """Renumber the bodies: body k becomes the one that was order[k]. Planes keep their numbers.

        Sort your own arrays with the same order, such as that of `spatial_order`: ``points = points[order]``.

        Examples
        --------
        >>> rows = vicinal.NeighborList(cutoff=1.0, skin=0.5)
        >>> points = np.array([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0]])
        >>> rows.update(points), rows.offsets.tolist(), rows.indices.tolist()
        (True, [0, 1, 1, 1], [2])
        >>> rows.reorder([1, 2, 0])
        >>> rows.offsets.tolist(), rows.indices.tolist(), rows.update(points[[1, 2, 0]])
        ([0, 0, 1, 1], [2], False)
        """
        with self._lock:
            state = self._require("reorder")
            new = check_order(order, len(state.positions))
            arrays, shifts = state.arrays, state.shifts
            if not self._sort or shifts is not None or len(state.planes):
                place = np.arange(state.rows, dtype=np.int32)
                place[new] = np.arange(len(new), dtype=np.int32)
                if self._sort:
                    offsets, indices, shifts = renumbered(*rows_of(arrays), shifts, place, half=self._half)
                    arrays = lay_out(self._layout, offsets, indices, self._width)
                else:
                    arrays = {name: place[arrays[name]] for name in ("i", "j")}
            else:
                offsets, indices = self._core.reorder(*rows_of(arrays), new, self._half)
                arrays = lay_out(self._layout, offsets, indices, self._width)
            if state.skin > 0:
                self._core.reorder_positions(new)
            self._sample = None  # its numbers now belong to other bodies
            if self._radii is not None and np.ndim(self._radii):
                self._radii = np.asarray(self._radii)[new]
            if self._types is not None:
                self._types = self._types[new]
            if self._groups is not None:
                self._groups = self._groups[new]
            if self._exclude is not None:
                self._exclude = np.argsort(new)[self._exclude]
            self._state = state.reordered(new, arrays, shifts)
