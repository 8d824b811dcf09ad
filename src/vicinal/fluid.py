"""A fluid of particles by double-density relaxation (Clavet et al. 2005), as Porro 2021 runs it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.choose import choose
from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.neighbor_list import NeighborList
from vicinal.structures import STRUCTURES

# Anything that makes an index: a class of vicinal, or a function of (points, cutoff=...) that returns one.
Structure = Callable[..., Index]
Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]


@dataclass(frozen=True)
class Step:
    """What one step found and took.

    Parameters
    ----------
    neighbors
        Mean number of neighbours of all particles, walls included.
    query_seconds, update_seconds
        Finding the neighbours, and telling the structure where the particles are now. A neighbour list does all it does
        in its update.
    total_seconds
        The whole step.
    """

    neighbors: float
    query_seconds: float
    update_seconds: float
    total_seconds: float


class Fluid:
    """Particles that push each other apart where they are too dense and draw together where they are not.

    A step finds the neighbours of every particle within `radius`, computes density and near-density of each, moves
    each by its displacement and by ``velocity * dt``, and makes the displacement, less gravity, its new velocity. The
    defaults are those of Porro 2021 (section 5.1.2, listing A.2); in such a step velocities are forgotten and a
    particle does not push back, so that fluid creeps. `inertia` and `reaction` change that.

    The trajectory does not depend on the structure or on the number of threads, to the last bit.

    Parameters
    ----------
    points
        Where the particles are, shape (n, 2) or (n, 3), float32 or float64; all arithmetic is in that type.
    radius
        How far a particle feels others.
    walls
        Particles that never move, but are felt as all others are.
    velocities
        One row per particle; at rest if None.
    gravity
        What every step takes from the displacement along the last axis: a distance, not an acceleration.
    rest_density, stiffness, near_stiffness
        ρ₀, k and k_near: pressure is ``stiffness * (density - rest_density)``, near-pressure ``near_stiffness *
        near_density``.
    dt
        Length of a step.
    reaction
        What a particle does to its neighbour, the neighbour does to it: momentum is conserved.
    inertia
        The part of its velocity a particle keeps: 0, none; 1, all of it.
    structure
        What finds the neighbours: a class such as `vicinal.Delaunay`, or a function of (points, cutoff=...) that
        returns an index. None: what `vicinal.choose` says at the start.
    skin
        Keep a `vicinal.NeighborList` with this skin, or "auto", so that most steps need no search. None: search in
        every step.
    clock
        What tells the time for the seconds of a `Step`; `time.process_time` counts those of the processor.

    Examples
    --------
    Four particles at the corners of a square push each other apart:

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
        dtype = moving.array.dtype
        self._gravity = _finite(gravity, "gravity", dtype)
        self._densities = (
            _finite(rest_density, "rest_density", dtype),
            _finite(stiffness, "stiffness", dtype),
            _finite(near_stiffness, "near_stiffness", dtype),
        )
        self._dt = _finite(dt, "dt", dtype)
        if self._dt <= 0:
            raise InputError(f"dt: {dt} found; pass a positive length of a step")
        self._reaction = _check.check_flag(reaction, "reaction")
        self._inertia = _finite(inertia, "inertia", dtype)
        if not 0 <= self._inertia <= 1:
            raise InputError(f"inertia: {inertia} found; pass the part of its velocity a particle keeps, 0 to 1")
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
        given: Any = structure  # users without a type checker pass other things
        index = given(self._positions, cutoff=self._radius) if callable(given) else None
        if not isinstance(index, Index) or not _is_plain(index, self._radius, len(self._positions)):
            raise InputError(
                f"structure: {structure!r} found; pass a class such as vicinal.LinkedCells, or a function of "
                "(points, cutoff=...) that returns an index of those points in open space, with that cutoff"
            )
        return index

    def _make_list(self, structure: Structure | None, skin: float | Literal["auto"]) -> NeighborList:
        if structure is not None and not isinstance(structure, type):
            raise InputError(f"structure: {structure!r} found with a skin; pass a class such as vicinal.LinkedCells")
        made = NeighborList(cutoff=self._radius, half=False, skin=skin, index=structure)
        made.update(self._positions)
        return made

    def __repr__(self) -> str:
        """Return how many particles there are, and what finds their neighbours."""
        walls = len(self._positions) - self._moving
        return f"Fluid({self._moving} particles, {walls} in walls, {self.index!r})"

    @property
    def points(self) -> npt.NDArray[Any]:
        """Where the particles are; read only. Every step makes a new array."""
        return _locked(self._positions[: self._moving])

    @property
    def walls(self) -> npt.NDArray[Any]:
        """Particles that do not move; read only."""
        return _locked(self._positions[self._moving :])

    @property
    def velocities(self) -> npt.NDArray[Any]:
        """Velocity of each particle; read only."""
        return _locked(self._velocities)

    @property
    def density(self) -> npt.NDArray[Any]:
        """Σ (1 − q)² over the neighbours, q = distance / radius, as the last step found it at its start."""
        self._weigh_once()
        return _locked(self._density[: self._moving])  # type: ignore[index]

    @property
    def near_density(self) -> npt.NDArray[Any]:
        """Σ (1 − q)³ over the neighbours, as the last step found it at its start."""
        self._weigh_once()
        return _locked(self._near_density[: self._moving])  # type: ignore[index]

    @property
    def index(self) -> Index | NeighborList:
        """What finds the neighbours: particles first, then those of the walls."""
        return self._search.source

    @property
    def steps(self) -> int:
        """How many steps were made."""
        return self._steps

    def step(self) -> Step:
        """Make one step."""
        clock = self._clock
        begin = clock()
        rows = self._search.find()
        found = clock()
        felt, density, near, displacement = self._relax(rows)
        moved, velocities = self._move(displacement)
        before = clock()
        self._search.source.update(moved)
        after = clock()
        self._positions, self._velocities = moved, velocities
        self._density, self._near_density = density, near
        self._steps += 1
        mean = float(felt.mean()) if len(felt) else 0.0
        return Step(mean, found - begin, after - before, clock() - begin)

    def _move(self, displacement: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return positions and velocities after a step, in the arithmetic of the particles' dtype."""
        # What is too large for it is not hidden: the index refuses positions that are not finite.
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
        """Before the first step: the densities at the start."""
        if self._density is None:
            _, self._density, self._near_density, _ = self._relax(self._search.find())


class _Searched:
    """Neighbours by a search in every step."""

    def __init__(self, source: Index) -> None:
        self.source = source
        self._ordered = np.empty(0, np.int32)

    def find(self) -> Rows:
        rows = self.source.neighbors()
        return rows.offsets, rows.indices

    def ordered(self, rows: Rows) -> Rows:
        """Return rows in canonical order."""
        offsets, found = rows
        if len(self._ordered) < len(found):  # with room to grow: new memory costs more than what is done in it
            self._ordered = np.empty(len(found) + len(found) // 4, np.int32)
        _core.fluid_order(offsets, found, self._ordered)
        return offsets, self._ordered


class _Listed:
    """Neighbours of a list, which has them in canonical order, and some that are farther away."""

    def __init__(self, source: NeighborList) -> None:
        self.source = source

    def find(self) -> Rows:
        return self.source.offsets, self.source.indices

    def ordered(self, rows: Rows) -> Rows:
        return rows


def _is_plain(index: Index, cutoff: float, size: int) -> bool:
    """Whether the rows of an index are those of a fluid: points in open space, no planes."""
    open_space = not any(index._box) and not len(index._planes)  # noqa: SLF001
    return open_space and index._cutoff == cutoff and len(index) == size  # noqa: SLF001


def _finite(value: object, name: str, dtype: np.dtype[Any]) -> float:
    number = _check.check_number(value, name)
    with np.errstate(over="ignore"):
        rounded = float(dtype.type(number))
    if not math.isfinite(rounded):
        raise InputError(f"{name}: {number} found; pass a number that is finite in {dtype}")
    return rounded


def _joined(moving: _check.Bodies, walls: object) -> npt.NDArray[Any]:
    """Particles and walls in one array of their own."""
    if walls is None:
        return moving.array.copy()
    fixed = _check.check_points(walls, "walls").array
    if len(fixed) == 0:
        return moving.array.copy()
    if fixed.shape[1] != moving.dim:
        raise InputError(f"walls: {fixed.shape[1]} columns found for points with {moving.dim}; pass as many")
    return np.concatenate([moving.array, _converted(fixed, moving, "walls")])


def _velocities(value: object, moving: _check.Bodies) -> npt.NDArray[Any]:
    if value is None:
        return np.zeros_like(moving.array)
    checked = _check.check_points(value, "velocities").array
    if checked.shape != moving.array.shape:
        raise InputError(f"velocities: shape {checked.shape} found; pass one row per particle, {moving.array.shape}")
    return _converted(checked, moving, "velocities")


def _converted(array: npt.NDArray[Any], moving: _check.Bodies, name: str) -> npt.NDArray[Any]:
    """Return a copy in the dtype of the particles."""
    with np.errstate(over="ignore"):
        converted = array.astype(moving.array.dtype)
    if not np.isfinite(converted).all():
        raise InputError(f"{name}: numbers too large for {converted.dtype} found; pass float64 points")
    return converted


def _locked(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    view = array.view()
    view.flags.writeable = False
    return view
