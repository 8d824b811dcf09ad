"""The bodies of an index: made, moved, inserted, removed, copied."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal._environment import check_environment
from vicinal.alike import check_alike, check_place
from vicinal.bodies import BoxesLike, PlanesLike, check_points
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.errors import InputError
from vicinal.planes import check_planes
from vicinal.settings import Settings, check_settings
from vicinal.single_search import SingleSearch


class KeptBodies:
    """Bodies in a structure of the core, and what changes them. The base of `Index`, which searches them."""

    _structure: ClassVar[str] = ""
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
        if not self._structure:
            name = type(self).__name__
            raise InputError(f"{name} is the base of the structures, got no structure; use one, such as HashGrid")
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
    def _once(cls, settings: Settings, options: Mapping[str, Any]) -> Self:
        """Make an index for a single search: arrays are used in place, results are not kept for reuse."""
        index = cls.__new__(cls)
        index._set_options(**options)  # noqa: SLF001
        index._make(settings, lasting=False)
        return index

    @classmethod
    def _chosen(cls, settings: Settings, chooser: _core.Chooser, limit: int | None) -> Self:
        """Make an index for a single search whose structure the core chooses."""
        index = cls.__new__(cls)
        index._take(settings)  # noqa: SLF001
        index._core = cast("_core.Search", SingleSearch((chooser, limit), settings))  # noqa: SLF001
        return index

    @classmethod
    def _default_options(cls) -> Mapping[str, float]:
        """Return the options of a single search with default parameters, which are the same for all bodies."""
        none = check_settings(np.zeros((0, 3)), 1.0)
        index = cls._once(none, {})
        return cast("SingleSearch", index._core).origin[1]  # type: ignore[return-value]  # noqa: SLF001

    @property
    def _lasting(self) -> bool:
        """Whether the user keeps the index."""
        return isinstance(self._core, _core.Search)

    @classmethod
    def _kept(cls, settings: Settings, options: Mapping[str, Any]) -> Self:
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

    def _check_number(self, size: int) -> None:
        """Check that the number of bodies stays if something speaks of them by number."""
        name = "" if self._filter is None else self._filter.numbered
        if name and size != len(self):
            raise InputError(
                f"points must keep their number in an index with {name}=, got {size} instead of {len(self)}; "
                "make a new index"
            )

    def _alike(self, points: object, radii: object, boxes: object) -> Bodies:
        """Check bodies that join those of the index or replace them: of the same kind, with the same skin."""
        bodies, name = check_alike(
            self._like, points, radii, boxes, half_skin=self._half_skin, criterion=self._criterion
        )
        return self._same(bodies, name)

    def _same(self, bodies: Bodies, name: str) -> Bodies:
        return check_place(self._like, bodies, name, self._box)
