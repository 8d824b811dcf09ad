"""The bodies of a simulation: arrays that can be read and assigned, insertion and removal."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TypeVar, get_args

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.dem.materials import Material, check_materials
from vicinal.dem.ranks import GrainRanks
from vicinal.dem.rotations import BACK, momenta, product, rotated_back
from vicinal.dem.shapes import Properties, Shape, elements_of, shape_records
from vicinal.distributed.agreement import digest
from vicinal.errors import InputError
from vicinal.sim.walls import LARGEST

Array = npt.NDArray[np.float64]
SHAPE_NAMES = ", ".join(kind.__name__ for kind in get_args(Shape))
_T = TypeVar("_T", bound=np.generic)


def read_only(array: npt.NDArray[_T]) -> npt.NDArray[_T]:
    """Return the array after it has been made read-only."""
    array.flags.writeable = False
    return array


def positive(value: object, name: str) -> float:
    """Return a positive, finite number; raise `InputError` for other values."""
    number = _check.check_number(value, name)
    if not (math.isfinite(number) and number > 0):
        raise InputError(f"{name} must be a positive, finite number, got {number}")
    return number


def check_sizes(box: Sequence[float], radii: Array) -> None:
    """Raise `InputError` for bodies so large that two images of one of them could touch another body at once.

    The core sees one image of a body, the nearest. No other one touches if periods are at least four radii long.
    """
    largest = 2 * float(radii.max(initial=0.0))
    for name, period in zip("xyz", box, strict=True):
        if 0 < period < 2 * largest:
            raise InputError(
                f"box must be at least twice as long as the largest diameter of bodies, {largest:.6g}, got a period of "
                f"{period:.6g} along {name}, where two images of a body could touch another body at once; use a "
                f"period of {2 * largest:.6g} or more, None for an open axis, or smaller bodies"
            )


def _rotations(quaternions: Array) -> Array:
    """Return quaternions of length 1."""
    lengths = np.linalg.norm(quaternions, axis=1, keepdims=True)
    if np.any(lengths == 0):
        raise InputError("orientations must be quaternions w, x, y, z of length 1, got one of length 0")
    return np.asarray(quaternions / lengths)


def _columns(value: npt.ArrayLike | None, n: int, width: int, name: str, default: Sequence[float] = (0.0,)) -> Array:
    array = _check.as_array(default if value is None else value, name)
    if array.dtype.kind not in "iuf":
        raise InputError(f"{name} must be real numbers, got dtype {array.dtype}")
    if value is not None and array.shape not in {(n, width), (1, width), (width,)}:
        raise InputError(f"{name} must have the shape ({n}, {width}) or ({width},), got {array.shape}")
    array = np.broadcast_to(array, (n, width)).astype(np.float64)
    if not np.isfinite(array).all():
        raise InputError(f"{name} must be finite numbers, got NaN or infinity")
    too_large = np.abs(array).max(axis=1, initial=0.0) > LARGEST
    if too_large.any():
        row = int(np.argmax(too_large))
        raise InputError(f"{name} must be at most {LARGEST:g}, got {array[row].tolist()} for body {row} of {n}")
    return array


class GrainBodies(ABC):
    """Bodies and their materials. The core has them in an order of its own; arrays are in the order of ids."""

    def __init__(self, materials: Mapping[str, Material], ranks: GrainRanks) -> None:
        self._core = _core.Grains()
        self._ranks = ranks
        self._materials = check_materials(materials)
        self._names = {name: k for k, name in enumerate(self._materials)}
        self._shapes: list[Shape] = []
        self._properties: list[Properties] = []
        self._placed_from: int | None = None  # the smallest id of bodies that were placed since the last run
        self._next_id = 0
        self._order: npt.NDArray[np.int64] | None = None
        self._warned = False  # about the time step, for these bodies

    @property
    @abstractmethod
    def dt(self) -> float:
        """The time step."""

    @property
    @abstractmethod
    def gravity(self) -> Array:
        """Acceleration of all bodies."""

    @property
    @abstractmethod
    def box(self) -> tuple[float, ...]:
        """Period along each axis, 0 for an open axis."""

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """Shapes of the bodies that are not spheres, in the order in which they were first inserted."""
        return tuple(self._shapes)

    def __len__(self) -> int:
        """Return the number of bodies; on several ranks, of those that this rank owns."""
        return int(self._core.own)

    def material_index(self, name: str) -> int:
        """Return the index of a material in ``list(materials)``."""
        return self._names[name]

    def _material(self, name: str | None, argument: str = "material") -> int:
        if name is None and len(self._names) == 1:
            return 0
        if name not in self._names:
            raise InputError(f"{argument} must be one of {', '.join(self._names)}, got {name!r}")
        return self._names[name]

    def insert(
        self,
        positions: npt.ArrayLike,
        *,
        radii: npt.ArrayLike | None = None,
        shape: Shape | None = None,
        material: str | None = None,
        velocities: npt.ArrayLike | None = None,
        spins: npt.ArrayLike | None = None,
        orientations: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.int64]:
        """Add spheres (`radii`) or bodies of one `shape`; return their ids.

        `positions` are centres of mass. `orientations` are rotations of the given shape (w, x, y, z). Periods of the
        box must be at least twice as long as the diameter of every body, or of the sphere around its centre of mass.
        Ranks insert together, each its share, which may be empty; ids follow the order of ranks.
        """
        given = (positions, radii, shape, material, velocities, spins, orientations)
        return self._append(*self._ranks.together(lambda: self._check_insert(*given)))

    def _check_insert(
        self,
        positions: npt.ArrayLike,
        radii: npt.ArrayLike | None,
        shape: Shape | None,
        material: str | None,
        velocities: npt.ArrayLike | None,
        spins: npt.ArrayLike | None,
        orientations: npt.ArrayLike | None,
    ) -> tuple[dict[str, Array], int, int]:
        """Return the columns of new bodies, and the numbers of their material and shape."""
        points = _check.check_points(positions, "positions")
        n = len(points)
        if points.dim != 3:
            raise InputError(f"positions must have the shape (n, 3), got {points.array.shape}; grains are in space")
        if (radii is None) == (shape is None):
            given = "none given" if radii is None else "both given"
            raise InputError(f"pass exactly one of radii= (spheres) or shape= ({given})")
        kind = self._material(material)
        density = list(self._materials.values())[kind].density
        turned = _rotations(_columns(orientations, n, 4, "orientations", (1.0, 0.0, 0.0, 0.0)))
        columns = {
            "positions": np.asarray(points.array, dtype=np.float64),
            "velocities": _columns(velocities, n, 3, "velocities"),
            "spins": _columns(spins, n, 3, "spins"),
            "orientations": turned,
        }

        number = -1
        if shape is None:
            r = _check.as_array(radii, "radii")
            if r.dtype.kind not in "iuf":
                raise InputError(f"radii must be numbers, got {radii!r}; pass one radius, or one per position")
            r = r.astype(np.float64)
            if r.shape not in {(), (1,), (n,)}:
                raise InputError(f"radii must be one number, or {n} numbers for {n} positions, got the shape {r.shape}")
            r = np.broadcast_to(r, (n,)).copy()
            if not (np.isfinite(r).all() and (r > 0).all()):
                raise InputError(f"radii must be positive, finite numbers, got {float(np.min(r))}")
            masses = density * 4 / 3 * np.pi * (r * r * r)  # r**3 has other last bits on other processors
            columns |= {"radii": r, "masses": masses, "inertias": np.repeat((0.4 * masses * r**2)[:, None], 3, axis=1)}
        else:
            number = self._shape(shape)
            p = self._properties[number]
            columns["orientations"] = product(columns["orientations"], p.frame)
            columns |= {
                "radii": np.full(n, p.radius),
                "masses": np.full(n, density * p.volume),
                "inertias": np.tile(density * p.moments, (n, 1)),
            }
        check_sizes(self.box, columns["radii"])
        return columns, kind, number

    def _shape(self, shape: Shape) -> int:
        for number, known in enumerate(self._shapes):
            if known is shape:
                return number
        if not isinstance(shape, Shape):
            raise InputError(f"shape must be one of {SHAPE_NAMES}, got {shape!r}; pass radii= for spheres")
        properties = shape.properties()
        self._shapes.append(shape)
        self._properties.append(properties)
        return len(self._shapes) - 1

    def _append(self, columns: dict[str, Array], material: int, shape: int) -> npt.NDArray[np.int64]:
        core = self._core
        n, old = len(columns["positions"]), core.size
        # An insertion adds one shape at the most; those before are known to be the same.
        newest = digest({"shapes": len(self._shapes), "newest": self._shapes[-1:]}) if self._ranks.size > 1 else b""
        known = self._ranks.gathered((n, newest))
        if len({shapes for _, shapes in known}) > 1:
            raise InputError("shape must be the same on all ranks, got shapes that some of them do not know")
        first = self._next_id + sum(count for count, _ in known[: self._ranks.rank])
        ids = np.arange(first, first + n)
        if any(count for count, _ in known):
            self._note_placed(self._next_id)
        self._next_id += sum(count for count, _ in known)
        columns["half_kicks"] = np.zeros((n, 3))
        columns["half_spin_kicks"] = np.zeros((n, 3))
        columns["half_impulses"] = np.zeros((n, 3))
        columns["momenta"] = np.zeros((n, 3))
        if core.primed:
            columns["half_kicks"] += 0.5 * self.dt * self.gravity
            if shape >= 0:
                columns["momenta"] = momenta(columns["orientations"], columns["inertias"], columns["spins"])
        core.append(ids, np.full(n, material, dtype=np.uint8), np.full(n, shape, dtype=np.int32))
        for name, column in columns.items():
            whole = core.get(name)
            whole[old:] = column
            core.set(name, whole)
        self._changed()
        return ids

    def remove(self, ids: npt.ArrayLike) -> None:
        """Remove bodies. Ranks remove together; each may name bodies of any rank."""
        listed = self._ranks.together(
            lambda: _check.check_ids(np.atleast_1d(_check.as_array(ids, "ids")), self._next_id)
        )
        gone = np.unique(np.concatenate(self._ranks.gathered(listed)))
        rows = self._core.ids()
        leaving = np.isin(rows, gone)
        known = np.concatenate(self._ranks.gathered(rows[leaving & (self._core.ghosts() == 0)]))
        unknown = np.setdiff1d(gone, known)
        if len(unknown):
            raise InputError(f"ids must be those of bodies, got {unknown[0]}; there is no such body")
        self._core.take(np.flatnonzero(~leaving).astype(np.uint32))
        self._changed()

    def _changed(self) -> None:
        """Note that there are other bodies."""
        self._warned = False
        self._set_elements()

    def _set_elements(self) -> None:
        """Tell the core what its bodies consist of, after rows have changed."""
        self._order = None
        shapes = self._core.shapes()
        self._core.set_shapes(shape_records(self.shapes, self._properties))
        self._core.set_elements(*elements_of(shapes, self._core.get("radii"), self.shapes, self._properties))

    def _note_placed(self, first: int) -> None:
        self._placed_from = first if self._placed_from is None else min(first, self._placed_from)

    def _rows(self) -> npt.NDArray[np.int64]:
        """Return the rows of the own bodies in the order of their ids."""
        if self._order is None:
            own = np.flatnonzero(self._core.ghosts() == 0)
            self._order = own[np.argsort(self._core.ids()[own])]
        return self._order

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Ids of the bodies, ascending. Ids of removed bodies are not reused."""
        return read_only(self._core.ids()[self._rows()])

    def _get(self, name: str) -> Array:
        return read_only(self._core.get(name)[self._rows()])

    def _set(self, name: str, value: npt.ArrayLike) -> None:
        new = _columns(value, len(self), 4 if name == "orientations" else 3, name)
        whole = self._core.get(name)
        whole[self._rows()] = new
        self._core.set(name, whole)
        # The stored forces belong to the former state; the next step computes new ones.
        self._core.primed = False
        if self._ranks.used and self._core.has_lists and name in ("velocities", "spins"):
            self._ranks.advance(self._core, 0)  # gives ghosts the new values

    @property
    def positions(self) -> Array:
        """Centres of mass, (n, 3).

        Arrays of bodies are copies and read-only. Positions, velocities, spins and orientations can be assigned as a
        whole.

        Examples
        --------
        >>> from vicinal.dem import Material, Simulation
        >>> sim = Simulation(materials={"m": Material(kn=1e4)}, law="linear", dt=1e-5)
        >>> sim.insert([[0, 0, 0], [1, 0, 0]], radii=0.1)
        array([0, 1])
        >>> moved = sim.positions.copy()
        >>> moved[0] = (0, 0, 1)
        >>> sim.positions = moved
        """
        return self._get("positions")

    @positions.setter
    def positions(self, value: npt.ArrayLike) -> None:
        # Bodies may have the same velocity, but not the same place.
        shape = _check.as_array(value, "positions").shape
        if shape != (len(self), 3):
            raise InputError(f"positions must have the shape ({len(self)}, 3), a row per body, got {shape}")
        self._set("positions", value)
        self._core.drop_lists()
        self._note_placed(0)

    @property
    def velocities(self) -> Array:
        """Velocities of the centres of mass, (n, 3)."""
        return self._get("velocities")

    @velocities.setter
    def velocities(self, value: npt.ArrayLike) -> None:
        self._set("velocities", value)

    @property
    def spins(self) -> Array:
        """Angular velocities in the world frame, (n, 3)."""
        return self._get("spins")

    @spins.setter
    def spins(self, value: npt.ArrayLike) -> None:
        self._set("spins", value)

    def push(self, impulses: npt.ArrayLike, angular_impulses: npt.ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """Change velocities by impulses, and spins by angular impulses about the centres of mass, (n, 3) each.

        Examples
        --------
        >>> from vicinal.dem import Material, Simulation
        >>> sim = Simulation(materials={"m": Material(kn=1e4)}, law="linear", dt=1e-5)
        >>> sim.insert([[0, 0, 0]], radii=0.1)
        array([0])
        >>> sim.push(sim.masses[:, None] * [1.0, 0.0, 0.0], sim.inertias * [0.0, 0.0, 2.0])
        >>> sim.velocities.round(12).tolist(), sim.spins.round(12).tolist()
        ([[1.0, 0.0, 0.0]], [[0.0, 0.0, 2.0]])
        """
        linear = _columns(impulses, len(self), 3, "impulses")
        angular = _columns(angular_impulses, len(self), 3, "angular_impulses")
        axes = self._get("orientations")
        turning = rotated_back(axes * BACK, rotated_back(axes, angular) / self.inertias)
        self._set("velocities", self.velocities + linear / self.masses[:, None])
        self._set("spins", self.spins + turning)  # dampers feel the new velocities

    @property
    def orientations(self) -> Array:
        """Rotations from the shapes as given to the present bodies: quaternions w, x, y, z, (n, 4)."""
        return read_only(product(self._get("orientations"), self._frames() * BACK))

    @orientations.setter
    def orientations(self, value: npt.ArrayLike) -> None:
        turned = _rotations(_columns(value, len(self), 4, "orientations"))
        self._set("orientations", product(turned, self._frames()))
        self._core.drop_lists()

    def _frames(self) -> Array:
        """Return the rotation from the axes of the shape to the principal axes for each body."""
        known = np.array([[1.0, 0.0, 0.0, 0.0], *(p.frame for p in self._properties)])
        return np.asarray(known[self.shape_ids + 1])

    @property
    def radii(self) -> Array:
        """Radii of spheres; for other bodies, radii of the bounding sphere around the centre of mass."""
        return self._get("radii")

    @property
    def masses(self) -> Array:
        """Masses, (n,)."""
        return self._get("masses")

    @property
    def inertias(self) -> Array:
        """Principal moments of inertia, (n, 3)."""
        return self._get("inertias")

    @property
    def material_ids(self) -> npt.NDArray[np.int32]:
        """Indices into ``list(materials)``, (n,)."""
        return read_only(self._core.materials()[self._rows()].astype(np.int32))

    @property
    def shape_ids(self) -> npt.NDArray[np.int32]:
        """Indices into `shapes`, -1 for spheres, (n,)."""
        return read_only(self._core.shapes()[self._rows()])
