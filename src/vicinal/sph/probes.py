"""Probes in a fluid: pressure at a place, height of the surface, flux through a plane; written as a table."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

import vicinal as vc
from vicinal.errors import InputError
from vicinal.sim.schema import SchemaError, Section, key
from vicinal.sim.table import Table
from vicinal.sim.values import NOT_NEGATIVE, POSITIVE, Items, Number, Text, Variant

if TYPE_CHECKING:
    from vicinal.sph.simulation import Simulation

Array = npt.NDArray[np.float64]

LEAST_COVER = 0.1
"""Part of the support of a kernel that must be filled with fluid for a pressure; below, a probe is dry and reads 0."""

SURFACE = 0.5
"""Part of the support of a kernel that is filled at a free surface."""


@dataclass(frozen=True, eq=False, kw_only=True)
class FluidSample:
    """The fluid at one moment, as probes see it.

    Parameters
    ----------
    positions, velocities
        Shape (n, dim).
    densities, pressures, masses
        Shape (n,).
    kernel
        Weight of a particle as a function of its distance; its integral over space is 1.
    support
        Distance from which on the kernel is 0.
    spacing
        Distance of neighbouring particles.
    box
        Lengths of a periodic box, None for an open axis.
    """

    positions: Array
    velocities: Array
    densities: Array
    pressures: Array
    masses: Array
    kernel: Callable[[Array], Array]
    support: float
    spacing: float
    box: Sequence[float | None] | None = None

    @classmethod
    def of(cls, sim: Simulation) -> FluidSample:
        """Return the present fluid of a simulation; on ranks, an empty one on all but rank 0."""
        names = ("positions", "velocities", "densities", "pressures", "masses")
        columns = sim.whole(*names) or {name: getattr(sim, name)[:0] for name in names}
        return cls(
            **{name: columns[name] for name in names},
            kernel=sim.kernel,
            support=sim.kernel.support,
            spacing=sim.spacing,
            box=sim.box,
        )

    @property
    def dim(self) -> int:
        """2 or 3."""
        return int(self.positions.shape[1])

    def weights(self, places: Array) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Array]:
        """Return (place, particle, weight): how much of the fluid at a place is that of a particle."""
        if not len(self.positions):
            return np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
        which, particle, distance = vc.pairs(
            self.positions, queries=places, cutoff=self.support, box=self.box, want="ijd"
        )
        return which, particle, self.kernel(distance) * (self.masses / self.densities)[particle]

    def cover(self, places: Array) -> Array:
        """Return which part of the space around places is fluid: 1 inside, about 0.5 at a surface or a wall."""
        which, _, weight = self.weights(places)
        return np.asarray(np.bincount(which, weight, len(places)), np.float64)


@dataclass(frozen=True)
class _Point:
    """Two or three numbers; a probe in two dimensions ignores the third."""

    allowed: str = "a list of 2 or 3 numbers"
    zero: bool = True

    def __call__(self, value: object) -> tuple[float, ...]:
        numbers: tuple[float, ...] = Items(Number())(value)
        if len(numbers) not in {2, 3} or not (self.zero or any(numbers)):
            raise SchemaError((), value, f"must be {self.allowed}")
        return numbers


_POINT, _DIRECTION = _Point(), _Point("a list of 2 or 3 numbers that are not all 0", zero=False)


@dataclass(frozen=True, kw_only=True)
class Probe(Section):
    """What is measured under a name: a table below ``sph.probes`` of a scene."""

    name: str = key(Text(), help="name of the column")

    @abstractmethod
    def measure(self, fluid: FluidSample) -> float:
        """Return the value at this moment."""


@dataclass(frozen=True, kw_only=True)
class PressureProbe(Probe):
    """The pressure at a place, as the mean of the particles around it; 0 where there is no fluid.

    Parameters
    ----------
    name
        Name of the column.
    point
        The place. On a wall, only the fluid in front of it counts.
    width
        Diameter of a sensor: the mean of several places across it, in the plane at right angles to `normal`.
    normal
        Direction of the sensor; needed with a width.

    Examples
    --------
    >>> from vicinal.sph.fill import fill
    >>> water = fill(((0, 0), (1, 1)), 0.02)
    >>> sample = FluidSample(
    ...     positions=water,
    ...     velocities=0 * water,
    ...     densities=np.full(len(water), 1000.0),
    ...     pressures=9810 * (1 - water[:, 1]),
    ...     masses=np.full(len(water), 0.4),
    ...     kernel=lambda r: 7 / np.pi / 0.06**2 * (1 - r / 0.06) ** 4 * (1 + 4 * r / 0.06),
    ...     support=0.06,
    ...     spacing=0.02,
    ... )
    >>> round(PressureProbe(name="p", point=(0.5, 0.5)).measure(sample))
    4905
    """

    TAG: ClassVar = ("kind", "pressure")
    point: Sequence[float] = key(_POINT, help="the place")
    width: float = key(NOT_NEGATIVE, 0.0, help="diameter of a sensor")
    normal: Sequence[float] | None = key(_DIRECTION, None, help="direction of the sensor; needed with a width")

    def check(self) -> None:
        """Check that a sensor with a width has a direction."""
        if self.width and self.normal is None:
            raise self.wrong("normal", "must be given with a width", "pass the direction of the sensor")

    def _places(self, dim: int) -> Array:
        middle = np.asarray(self.point, float)[:dim]
        if not self.width or self.normal is None:
            return middle[None]
        out = np.asarray(self.normal, float)[:dim]
        across = np.linalg.svd(out[None])[2][1:]
        parts = np.linspace(-1, 1, 5)
        grid = np.stack(np.meshgrid(*[parts] * (dim - 1)), axis=-1).reshape(-1, dim - 1)
        grid = grid[np.linalg.norm(grid, axis=1) <= 1]
        return np.asarray(middle + 0.5 * self.width * grid @ across)

    def measure(self, fluid: FluidSample) -> float:
        """Return the pressure."""
        places = self._places(fluid.dim)
        which, particle, weight = fluid.weights(places)
        cover = np.bincount(which, weight, len(places))
        sums = np.bincount(which, weight * fluid.pressures[particle], len(places))
        wet = cover > LEAST_COVER
        return float((np.divide(sums, cover, out=np.zeros(len(places)), where=wet)).mean())


@dataclass(frozen=True, kw_only=True)
class HeightGauge(Probe):
    """How far fluid reaches along a line: the distance of the farthest place that is at least half fluid.

    Parameters
    ----------
    name
        Name of the column.
    point
        Where the line begins, such as on the bottom of a tank; the value where there is no fluid is 0.
    direction
        Direction of the line.
    length
        Its length.
    """

    TAG: ClassVar = ("kind", "height")
    point: Sequence[float] = key(_POINT, help="where the line begins")
    direction: Sequence[float] = key(_DIRECTION, help="direction of the line")
    length: float = key(POSITIVE, help="length of the line")

    def measure(self, fluid: FluidSample) -> float:
        """Return the height."""
        along = np.asarray(self.direction, float)[: fluid.dim]
        along = along / np.linalg.norm(along)
        start = np.asarray(self.point, float)[: fluid.dim]
        steps = np.arange(0.0, self.length, 0.5 * fluid.spacing)
        cover = fluid.cover(start + steps[:, None] * along)
        full = np.flatnonzero(cover >= SURFACE)
        if not len(full):
            # A thin layer covers no place by half; the farthest fluid near the line is its surface.
            some = np.flatnonzero(cover > LEAST_COVER)
            return float(steps[some[-1]]) if len(some) else 0.0
        last = int(full[-1])
        if last + 1 == len(steps):
            return float(self.length)
        drop = cover[last] - cover[last + 1]
        share = (cover[last] - SURFACE) / drop if drop > 0 else 0.0
        return float(steps[last] + share * 0.5 * fluid.spacing)


@dataclass(frozen=True, kw_only=True)
class FluxPlane(Probe):
    """Mass per time through a plane, or through a disc of it; positive along the normal. In 2D per metre of depth.

    Parameters
    ----------
    name
        Name of the column.
    point, normal
        A point of the plane, the middle of the disc, and the direction that counts as positive.
    radius
        Of the disc; the whole plane by default.
    """

    TAG: ClassVar = ("kind", "flux")
    point: Sequence[float] = key(_POINT, help="a point of the plane, the middle of the disc")
    normal: Sequence[float] = key(_DIRECTION, help="direction that counts as positive")
    radius: float | None = key(POSITIVE, None, help="radius of the disc; the whole plane by default")

    def measure(self, fluid: FluidSample) -> float:
        """Return the flux: particles near the plane count the more the closer they are to it."""
        out = np.asarray(self.normal, float)[: fluid.dim]
        out = out / np.linalg.norm(out)
        away = fluid.positions - np.asarray(self.point, float)[: fluid.dim]
        height = away @ out
        reach = 2 * fluid.spacing
        near = np.abs(height) < reach
        near &= np.linalg.norm(away - height[:, None] * out, axis=1) <= (self.radius or math.inf)
        # A hat of unit area: on a lattice its sum does not depend on where the plane lies.
        share = (1 - np.abs(height[near]) / reach) / reach
        return float((fluid.masses[near] * (fluid.velocities[near] @ out) * share).sum())


AnyProbe: TypeAlias = PressureProbe | HeightGauge | FluxPlane
PROBES = Variant("kind", {kind.TAG[1]: kind for kind in (PressureProbe, HeightGauge, FluxPlane)})


@dataclass(eq=False)
class Probes:
    """Several probes, and the table in which they are written.

    Parameters
    ----------
    probes
        The probes; their names are the columns of the table.
    """

    probes: Sequence[Probe]
    _table: Table | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        names = [probe.name for probe in self.probes]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"probes must have different names, got {name!r} more than once; rename one")

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [probe.name for probe in self.probes]

    def measure(self, fluid: FluidSample) -> dict[str, float]:
        """Return the values at this moment, by name."""
        return {probe.name: probe.measure(fluid) for probe in self.probes}

    def open(self, path: Path | str, *, keep: int | None = None) -> None:
        """Write to a CSV file from now on; `keep` continues an existing one after a step."""
        self._table = Table(Path(path), self.columns, keep=keep)

    def append(self, step: int, time: float, fluid: FluidSample) -> Mapping[str, float]:
        """Measure, and write a line to the table if there is one; return the values."""
        values = self.measure(fluid)
        if self._table is not None:
            self._table.append(step, time, list(values.values()))
        return values
