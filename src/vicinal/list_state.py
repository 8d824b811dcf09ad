"""The state of a neighbour list between two updates, and derived arrays: shifts, vectors, distances."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies, Floats
from vicinal.bodies import BoxesLike, PlanesLike, check_boxes, check_points, check_spheres
from vicinal.cell import BoxLike, Cell
from vicinal.errors import InputError
from vicinal.layouts import Arrays, owners_of
from vicinal.list_settings import as_kept
from vicinal.planes import Planes
from vicinal.settings import Settings


@dataclass(frozen=True)
class ListStats:
    """Figures of a list.

    Parameters
    ----------
    updates, builds
        Calls of `update`, and how many of them built the list.
    entries
        Entries of the list: the neighbours of all rows.
    skin
        The skin of the last build.
    reason
        Why the list has this skin.
    structure
        The search structure of the last build.
    build_seconds, check_seconds
        Time of the last build, and of the last update without one.
    bytes
        Memory of the list and of its builder.
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


class Given(NamedTuple):
    """The arguments of an update, not checked yet."""

    points: npt.ArrayLike | None
    radii: npt.ArrayLike | None
    boxes: BoxesLike | None
    planes: PlanesLike | None
    box: BoxLike


@dataclass
class ListState:
    """A list and the bodies it describes. A build replaces it as a whole, so that readers see one list or the other."""

    kind: str  # of the bodies
    positions: Floats  # of the last update, a copy; of boxes the lower corners
    sizes: Floats | None  # of the last update: radii, upper corners of boxes
    planes: Planes  # of the last update
    built: Settings  # with the skin; no positions
    built_planes: Planes  # without the skin
    plane_room: npt.NDArray[np.float64]
    skin: float
    share: float  # of the skin in the reach of a typical pair
    arrays: Arrays
    shifts: npt.NDArray[np.int32] | None  # of the build; None where entries mean the nearest image
    grown: bool = False  # radii changed since the build
    derived: dict[str, Any] = field(default_factory=dict)  # arrays computed for the last update

    @property
    def cell(self) -> Cell:
        """The periodic cell."""
        return self.built.box

    @property
    def rows(self) -> int:
        """Bodies and planes."""
        return len(self.positions) + len(self.planes)

    def alike(self, given: Given) -> tuple[Any, Any] | None:
        """Return positions and sizes as the core takes them; None if they do not fit the bodies of the list."""
        if self.kind == "boxes":
            if given.points is not None or not isinstance(given.boxes, (tuple, list)) or len(given.boxes) != 2:
                return None
            array, extra = (as_kept(value, self.positions, "boxes") for value in given.boxes)
        elif given.points is None or given.boxes is not None:
            return None
        else:
            array = as_kept(given.points, self.positions, "points")
            extra = self.sizes if given.radii is None else as_kept(given.radii, self.sizes, "radii")
            if given.radii is not None and extra is not None and self.built.criterion in ("mean", "min"):
                extra = extra / extra.dtype.type(2)
        return None if array is None or (extra is None and self.sizes is not None) else (array, extra)

    def move(self, positions: Floats, sizes: Any, planes: Planes, *, grown: bool) -> None:
        """Store new positions, sizes and planes, for which the list is still valid."""
        self.positions, self.sizes, self.planes, self.grown = positions, sizes, planes, grown
        self.derived = {}

    def given(self) -> Given:
        """Return the positions, or the boxes, of the last update as its arguments; the list keeps the rest."""
        positions: Any = np.array(self.positions)
        if self.kind == "boxes":
            return Given(None, None, (positions, np.array(self.sizes)), None, None)
        return Given(positions, None, None, None, None)

    def present_bodies(self) -> Bodies:
        """Return the bodies of the last update, checked."""
        if self.kind == "boxes":
            return check_boxes(None, (self.positions, self.sizes), 0.0)
        if self.sizes is None:
            return check_points(self.positions)
        # The sizes are halved already where the criterion is "mean" or "min".
        return check_spheres(
            self.positions, self.sizes, 0.0, criterion="max" if self.built.criterion == "max" else "sum"
        )

    def entries(self) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
        """Return both bodies of every entry."""
        if "table" in self.arrays:
            raise InputError("shifts, vectors and distances need layout 'rows' or 'pairs'; make such a list")
        if "owners" not in self.derived:
            self.derived["owners"] = owners_of(self.arrays)
        return self.derived["owners"], self.arrays["indices" if "indices" in self.arrays else "j"]

    def present_shifts(self, core: _core.ListCore) -> npt.NDArray[np.int32]:
        """Return the shift of every entry between the positions of the last update."""
        if "shifts" in self.derived:
            known: npt.NDArray[np.int32] = self.derived["shifts"]
            return known
        i, j = self.entries()
        if self.shifts is None:
            shifts = _core.nearest_shifts(i, j, self.positions, self.cell.for_core)
        else:
            shifts = self.shifts
            crossed = core.crossings(self.positions) if self.skin > 0 else None
            if crossed is not None:
                bodies = np.flatnonzero((i < len(self.positions)) & (j < len(self.positions)))  # planes have no images
                shifts = shifts.copy()
                shifts[bodies] += crossed[i[bodies]] - crossed[j[bodies]]
        self.derived["shifts"] = shifts = _check.locked(shifts)
        return shifts

    def present_vectors(self, core: _core.ListCore) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return vector and distance of every entry between the positions of the last update."""
        if "vectors" not in self.derived:
            if self.kind == "boxes":
                raise InputError("vectors and distances must be those of points or spheres, got boxes; use shifts")
            i, j = self.entries()
            shifts = None if self.shifts is None else self.present_shifts(core)
            vectors = _core.entry_vectors(i, j, self.positions, self.cell.for_core, shifts)
            with np.errstate(over="ignore", under="ignore"):
                distances = np.sqrt(_sum_of_axes(vectors * vectors))
                if len(self.planes):
                    self._measure_planes(i, j, -1, vectors, distances)
                    self._measure_planes(j, i, 1, vectors, distances)
            self.derived["vectors"] = _check.locked(vectors), _check.locked(distances)
        known: tuple[npt.NDArray[Any], npt.NDArray[Any]] = self.derived["vectors"]
        return known

    def _measure_planes(self, body: Any, plane: Any, sign: int, vectors: Any, distances: Any) -> None:
        """Write vectors and distances of the entries whose second body is a plane."""
        entries = np.flatnonzero(plane >= len(self.positions))
        which = plane[entries] - len(self.positions)
        normals = self.planes.normals[which]
        ahead = _sum_of_axes(normals * (self.positions[body[entries]] - self.planes.points[which]))
        distances[entries] = ahead
        vectors[entries] = sign * ahead[:, None] * normals

    def reordered(self, order: npt.NDArray[np.int32], arrays: Arrays, shifts: Any) -> ListState:
        """Return the state after body k became the one that was order[k], with the arrays of the list."""

        def permuted(values: Any) -> Any:
            return None if values is None else values[order]

        built = replace(self.built, bodies=replace(self.built.bodies, extra=permuted(self.built.bodies.extra)))
        return replace(
            self,
            positions=permuted(self.positions),
            sizes=permuted(self.sizes),
            built=built,
            arrays=arrays,
            shifts=shifts,
            derived={},
        )


def _sum_of_axes(terms: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Add two or three columns in the order of docs/definition.md."""
    total = terms[:, 0] + terms[:, 1]
    return np.asarray(total + terms[:, 2] if terms.shape[1] == 3 else total)
