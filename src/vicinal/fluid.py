"""A fluid of particles by double-density relaxation (Clavet et al. 2005), as Porro 2021 runs it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.choose import choose
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.neighbor_list import NeighborList
from vicinal.structures import STRUCTURES, StructureLike, find_structure

# A structure, its name, or a function of (points, cutoff=...) that returns an index.
Structure = StructureLike | Callable[..., Index]
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class FluidStep:
    """Neighbours and times of one step.

    Parameters
    ----------
    neighbors
        Mean number of neighbours of all particles, walls included.
    query_seconds, update_seconds
        Time to find the neighbours, and to update the structure. A neighbour list searches in its update.
    total_seconds
        Time of the whole step.
    """

    neighbors: float
    query_seconds: float
    update_seconds: float
    total_seconds: float


class Fluid:
    """Particles that repel each other where they are too dense and attract each other elsewhere.

    A step finds the neighbours of every particle within `radius`, computes density and near-density of each, moves
    each by its displacement and by ``velocity * dt``, and sets its velocity from the displacement minus gravity. The
    defaults are those of Porro 2021 (section 5.1.2, listing A.2): a particle does not keep its velocity and gets no
    reaction from its neighbours, so the fluid creeps. `inertia` and `reaction` change that.

    The bits of the trajectory depend neither on the structure nor on the number of threads.

    Parameters
    ----------
    points
        Positions of the particles, shape (n, 2) or (n, 3), float32 or float64; all arithmetic is in that dtype.
    radius
        Interaction radius.
    walls
        Positions of particles that never move but act on the others.
    velocities
        One row per particle; at rest if None.
    gravity
        Subtracted from the displacement along the last axis in every step: a distance, not an acceleration.
    rest_density, stiffness, near_stiffness
        ρ₀, k and k_near: pressure is ``stiffness * (density - rest_density)``, near-pressure ``near_stiffness *
        near_density``.
    dt
        Time step.
    reaction
        Whether each interaction acts on both particles, so that momentum is conserved.
    inertia
        Fraction of its velocity that a particle keeps, 0 to 1.
    structure
        Search structure: a class such as `vicinal.Delaunay`, its name, or a function of (points, cutoff=...) that
        returns an index. None: the one that `vicinal.choose` returns at the start.
    skin
        Keep a `vicinal.NeighborList` with this skin, or "auto", so that most steps need no search. None: search in
        every step.
    clock
        Function that returns seconds for the times of a `FluidStep`, such as `time.process_time` for CPU time.

    Examples
    --------
    Four particles at the corners of a square repel each other:

    >>> from vicinal.fluid import Fluid
    >>> fluid = Fluid([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]], radius=2.0, rest_density=0.0)
    >>> fluid.step().neighbors
    3.0
    >>> bool((abs(fluid.points - 0.5) > 0.5).all())
    True
    """

    def __init__(
        self,
        points: npt.ArrayLike,
        *,
        radius: float,
        walls: npt.ArrayLike | None = None,
        velocities: npt.ArrayLike | None = None,
        gravity: float = 0.0,
        rest_density: float = 6.0,
        stiffness: float = 0.005,
        near_stiffness: float = 0.4,
        dt: float = 1 / 60,
        reaction: bool = False,
        inertia: float = 0.0,
        structure: Structure | None = None,
        skin: float | Literal["auto"] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        moving = _check.check_points(points)
        self._moving = len(moving)
        self._positions = _joined(moving, walls)
        self._velocities = _velocities(velocities, moving)
        self._radius = _check.check_cutoff(radius, moving, "radius")
        if self._radius == 0:
            raise InputError(f"radius must be a positive, finite number, got {self._radius}")
        dtype = moving.array.dtype
        self._gravity = _finite(gravity, "gravity", dtype)
        self._densities = (
            _finite(rest_density, "rest_density", dtype),
            _finite(stiffness, "stiffness", dtype),
            _finite(near_stiffness, "near_stiffness", dtype),
        )
        self._dt = _finite(dt, "dt", dtype)
        if self._dt <= 0:
            raise InputError(f"dt must be a positive number, got {dt}")
        self._reaction = _check.check_flag(reaction, "reaction")
        self._inertia = _finite(inertia, "inertia", dtype)
        if not 0 <= self._inertia <= 1:
            raise InputError(f"inertia must lie from 0 to 1, got {inertia}")
        self._search = (
            _Searched(self._make_index(structure)) if skin is None else _Listed(self._make_list(structure, skin))
        )
        self._density: npt.NDArray[Any] | None = None
        self._near_density: npt.NDArray[Any] | None = None
        self._steps = 0
        self._clock = clock

    def _make_index(self, structure: Structure | None) -> Index:
        if structure is None:
            choice = choose(self._positions, cutoff=self._radius)
            return STRUCTURES[choice.structure](self._positions, cutoff=self._radius, **choice.parameters)
        make: Any = structure if callable(structure) else find_structure(structure)
        index = make(self._positions, cutoff=self._radius)
        if not isinstance(index, Index) or not _is_plain(index, self._radius, len(self._positions)):
            raise InputError(
                "structure must be a structure, its name, or a function of (points, cutoff=...) that returns an index "
                f"of those points in open space with that cutoff, got {structure!r}"
            )
        return index

    def _make_list(self, structure: Structure | None, skin: float | Literal["auto"]) -> NeighborList:
        kind = None if structure is None else find_structure(structure)
        made = NeighborList(self._radius, half=False, skin=skin, structure=kind)
        made.update(self._positions)
        return made

    def __repr__(self) -> str:
        """Return the number of particles and the search structure."""
        walls = len(self._positions) - self._moving
        return f"Fluid({self._moving} particles, {walls} in walls, {self.index!r})"

    def __reduce__(self) -> NoReturn:
        """Refuse copies and pickles: they would share the search structure."""
        raise TypeError("a Fluid can be neither copied nor pickled; make a new one from points, walls and velocities")

    @property
    def points(self) -> npt.NDArray[Any]:
        """Positions of the particles, read-only. Every step makes a new array."""
        return _check.locked(self._positions[: self._moving])

    @property
    def walls(self) -> npt.NDArray[Any]:
        """Positions of the wall particles, read-only."""
        return _check.locked(self._positions[self._moving :])

    @property
    def velocities(self) -> npt.NDArray[Any]:
        """Velocity of each particle, read-only."""
        return _check.locked(self._velocities)

    @property
    def density(self) -> npt.NDArray[Any]:
        """Σ (1 − q)² over the neighbours, q = distance / radius, at the start of the last step, read-only."""
        self._weigh_once()
        return _check.locked(self._density[: self._moving])  # type: ignore[index]

    @property
    def near_density(self) -> npt.NDArray[Any]:
        """Σ (1 − q)³ over the neighbours, at the start of the last step, read-only."""
        self._weigh_once()
        return _check.locked(self._near_density[: self._moving])  # type: ignore[index]

    @property
    def index(self) -> Index | NeighborList:
        """The index or list that finds the neighbours; it holds the particles first, then the walls."""
        return self._search.source

    @property
    def steps(self) -> int:
        """Number of steps made."""
        return self._steps

    def step(self) -> FluidStep:
        """Make one step."""
        clock = self._clock
        begin = clock()
        rows = self._search.find()
        searched = clock()
        felt, density, near, displacement = self._relax(rows)
        moved, velocities = self._move(displacement)
        before = clock()
        self._search.source.update(moved)
        after = clock()
        self._positions, self._velocities = moved, velocities
        self._density, self._near_density = density, near
        self._steps += 1
        mean = float(felt.mean()) if len(felt) else 0.0
        return FluidStep(mean, searched - begin, after - before, clock() - begin)

    def _move(self, displacement: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return positions and velocities after a step, in the arithmetic of the particles' dtype."""
        # Overflow is not ignored: the index refuses positions that are not finite.
        with np.errstate(over="ignore", invalid="ignore"):
            carried = self._velocities * self._dt
            moved = self._positions.copy()
            moved[: self._moving] += displacement + carried
            velocities = displacement + self._inertia * carried if self._inertia else displacement.copy()
            velocities[:, -1] -= self._gravity
            velocities /= self._dt
        return moved, velocities

    def _relax(self, rows: Rows) -> list[npt.NDArray[Any]]:
        """Return numbers of neighbours, densities, near-densities and displacements."""
        ordered = self._search.ordered(rows)
        return _core.fluid_relax(
            self._positions, self._moving, *ordered, self._radius, *self._densities, self._reaction
        )

    def _weigh_once(self) -> None:
        """Compute the densities at the start, before the first step."""
        if self._density is None:
            _, self._density, self._near_density, _ = self._relax(self._search.find())


class _Searched:
    """Neighbours from a search in every step."""

    def __init__(self, source: Index) -> None:
        self.source = source
        self._ordered = np.empty(0, np.int32)

    def find(self) -> Rows:
        rows = self.source.neighbors()
        return rows.offsets, rows.indices

    def ordered(self, rows: Rows) -> Rows:
        """Return rows in canonical order."""
        offsets, indices = rows
        if len(self._ordered) < len(indices):  # with room to grow: new memory costs more than sorting
            self._ordered = np.empty(len(indices) + len(indices) // 4, np.int32)
        _core.fluid_order(offsets, indices, self._ordered)
        return offsets, self._ordered


class _Listed:
    """Neighbours from a list, in canonical order; some of them are beyond the radius."""

    def __init__(self, source: NeighborList) -> None:
        self.source = source

    def find(self) -> Rows:
        return self.source.offsets, self.source.indices

    def ordered(self, rows: Rows) -> Rows:
        return rows


def _is_plain(index: Index, cutoff: float, size: int) -> bool:
    """Return whether an index holds points in open space, with this cutoff and no planes."""
    open_space = not index._box.periodic and not len(index._planes)  # noqa: SLF001
    return open_space and index._cutoff == cutoff and len(index) == size  # noqa: SLF001


def _finite(value: object, name: str, dtype: np.dtype[Any]) -> float:
    number = _check.check_number(value, name)
    with np.errstate(over="ignore"):
        rounded = float(dtype.type(number))
    if not math.isfinite(rounded):
        raise InputError(f"{name} must be finite in {dtype}, got {number}")
    return rounded


def _joined(moving: _check.Bodies, walls: object) -> npt.NDArray[Any]:
    """Return particles and walls in one new array."""
    if walls is None:
        return moving.array.copy()
    fixed = _check.check_points(walls, "walls").array
    if len(fixed) == 0:
        return moving.array.copy()
    if fixed.shape[1] != moving.dim:
        raise InputError(f"walls must have {moving.dim} columns, as the points have, got {fixed.shape[1]}")
    return np.concatenate([moving.array, _converted(fixed, moving, "walls")])


def _velocities(value: object, moving: _check.Bodies) -> npt.NDArray[Any]:
    if value is None:
        return np.zeros_like(moving.array)
    checked = _check.check_points(value, "velocities").array
    if checked.shape != moving.array.shape:
        raise InputError(f"velocities must have shape {moving.array.shape}, got {checked.shape}")
    return _converted(checked, moving, "velocities")


def _converted(array: npt.NDArray[Any], moving: _check.Bodies, name: str) -> npt.NDArray[Any]:
    """Return a copy in the dtype of the particles."""
    with np.errstate(over="ignore"):
        converted = array.astype(moving.array.dtype)
    if not np.isfinite(converted).all():
        raise InputError(f"{name} must be finite in {converted.dtype}, got larger numbers; pass float64 points")
    return converted
