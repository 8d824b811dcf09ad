"""Open ends of a flow: zones in which fluid enters and leaves.

Particles in these zones are no fluid: as those of walls, they have a given velocity and take the pressure over from the
fluid. Those of an inlet are a lattice that moves with its velocity; the layer that has passed the end of the zone
becomes fluid. Fluid that enters the zone of an outlet keeps its velocity, or has that of the outlet, until it has
crossed the zone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sph.fill import fitting_counts

if TYPE_CHECKING:
    from vicinal.sph.simulation import Simulation

Array = npt.NDArray[np.float64]

EVERY = 8
"""Steps between two looks at outlets. At a tenth of the speed of sound, fluid moves half a spacing in this time."""


@dataclass(frozen=True, kw_only=True)
class Inlet:
    """A box in which fluid enters.

    Parameters
    ----------
    low, high
        Corners. Along the velocity, the box must be as long as the support of the kernel.
    velocity
        Along one axis.
    """

    low: Sequence[float]
    high: Sequence[float]
    velocity: Sequence[float]


@dataclass(frozen=True, kw_only=True)
class Outlet:
    """A box in which fluid leaves.

    Parameters
    ----------
    low, high
        Corners. Along the flow, the box must be as long as the support of the kernel.
    velocity
        Velocity with which fluid crosses the box; by default that with which it enters. A flow slower than its waves
        needs one: it decides how deep the flow becomes.
    """

    low: Sequence[float]
    high: Sequence[float]
    velocity: Sequence[float] | None = None


class OpenEnds:
    """Inlets and outlets of a fluid.

    Parameters
    ----------
    inlets, outlets
        Where fluid enters and leaves.
    spacing
        Distance of neighbouring particles.
    support
        That of the kernel.

    Examples
    --------
    >>> inlet = Inlet(low=(0, 0), high=(0.4, 0.2), velocity=(1, 0))
    >>> ends = OpenEnds([inlet], [], spacing=0.1, support=0.4)
    >>> positions, velocities = ends.at(0.05)
    >>> positions[:2].round(6).tolist(), velocities[0].tolist()
    ([[0.4, 0.05], [0.4, 0.15]], [1.0, 0.0])
    """

    def __init__(self, inlets: Sequence[Inlet], outlets: Sequence[Outlet], *, spacing: float, support: float) -> None:
        self.spacing, self.support = spacing, support
        self._inlets = [_Lattice(inlet, place, spacing, support) for place, inlet in enumerate(inlets)]
        self._outlets = [_Zone(outlet, place, support) for place, outlet in enumerate(outlets)]
        ends: list[Inlet | Outlet] = [*inlets, *outlets]
        self.dim = len(ends[0].low) if ends else 3
        self._emitted = [0] * len(inlets)  # layers
        # Of particles that are leaving: where and when they entered the zone, their velocity, and the outlet.
        self._from, self._velocity = np.zeros((2, 0, self.dim))
        self._since, self._outlet = np.zeros(0), np.zeros(0, np.int64)

    def __len__(self) -> int:
        """Return the number of particles in the zones."""
        return sum(len(inlet.places) for inlet in self._inlets) + len(self._from)

    def at(self, time: float) -> tuple[Array, Array]:
        """Return positions and velocities of the particles in the zones at a time."""
        places = [inlet.at(time, emitted) for inlet, emitted in zip(self._inlets, self._emitted, strict=True)]
        velocities = [np.tile(inlet.velocity, (len(inlet.places), 1)) for inlet in self._inlets]
        places.append(self._from + (time - self._since)[:, None] * self._velocity)
        velocities.append(self._velocity)
        return np.concatenate(places), np.concatenate(velocities)

    def outside_inlets(self, points: Array) -> npt.NDArray[np.bool_]:
        """Return which points are in no inlet; fluid starts there only."""
        inside = [_inside(points, inlet.low, inlet.high) for inlet in self._inlets]
        return np.asarray(~np.any([*inside, np.zeros(len(points), bool)], axis=0))

    def exchange(self, sim: Simulation, walls: int) -> bool:
        """Turn particles into fluid and back after a step; return whether there were any.

        `walls` is the number of wall particles before those of the zones.
        """
        changed = self._emit(sim, walls)
        return (sim.step_count % EVERY == 0 and self._take(sim)) or changed

    def _emit(self, sim: Simulation, first: int) -> bool:
        changed, pressures = False, None
        for place, inlet in enumerate(self._inlets):
            while inlet.speed * sim.time >= (self._emitted[place] + 1) * self.spacing:
                if pressures is None:
                    pressures = sim.wall_pressures
                # All ranks know the layer; one of them adds it.
                width = inlet.width if sim.rank == 0 else 0
                layer = inlet.at(sim.time, self._emitted[place])[:width]
                sim.add(layer, np.tile(inlet.velocity, (width, 1)), pressures[first : first + width])
                self._emitted[place] += 1
                changed = True
            first += len(inlet.places)
        return changed

    def _take(self, sim: Simulation) -> bool:
        """Take fluid that has entered an outlet, and drop particles that have crossed it."""
        if not self._outlets:
            return False
        now = self.at(sim.time)[0][len(self) - len(self._from) :]
        stay = np.zeros(len(now), bool)
        positions = sim.positions
        leaving = np.zeros(len(positions), bool)
        for place, zone in enumerate(self._outlets):
            stay |= (self._outlet == place) & _inside(now, zone.low, zone.high)
            leaving |= _inside(positions, zone.low, zone.high)
        new = sim.rows(leaving, "positions", "velocities")
        count = len(new["ids"])
        if stay.all() and not count:
            return False
        taken = np.zeros(count, np.int64)
        velocities = new["velocities"]
        for place, zone in enumerate(self._outlets):
            inside = _inside(new["positions"], zone.low, zone.high)
            taken[inside] = place
            if zone.velocity is not None:
                velocities[inside] = zone.velocity
        self._from = np.concatenate([self._from[stay], new["positions"]])
        self._velocity = np.concatenate([self._velocity[stay], velocities])
        self._since = np.concatenate([self._since[stay], np.full(count, sim.time)])
        self._outlet = np.concatenate([self._outlet[stay], taken])
        if count:
            sim.keep(~leaving)
        return True

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs."""
        return {
            "emitted": np.array(self._emitted, np.int64),
            "from": self._from,
            "velocity": self._velocity,
            "since": self._since,
            "outlet": self._outlet,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state."""
        self._emitted = [int(count) for count in state["emitted"]]
        self._from, self._velocity = (np.array(state[name], np.float64) for name in ("from", "velocity"))
        self._since, self._outlet = np.array(state["since"], np.float64), np.array(state["outlet"], np.int64)


class _Lattice:
    """The particles of an inlet before it starts to move, layer by layer, that at the end of the zone first."""

    def __init__(self, inlet: Inlet, number: int, spacing: float, support: float) -> None:
        name = f"inlets.{number}"
        self.low, self.high = _corners(inlet, name)
        self.velocity = np.asarray(inlet.velocity, float)[: len(self.low)]
        axes = np.flatnonzero(self.velocity)
        if len(axes) != 1 or len(self.velocity) != len(self.low) or not np.isfinite(self.velocity).all():
            raise InputError(f"{name}.velocity must be along one axis, got {list(inlet.velocity)}")
        axis = int(axes[0])
        self.speed = float(np.abs(self.velocity[axis]))
        _check_length(float(self.high[axis] - self.low[axis]), support, name, "velocity")
        across = [k for k in range(len(self.low)) if k != axis]
        counts = fitting_counts(self.low[across], self.high[across], spacing)
        self.width = math.prod(counts)
        # One layer more than the kernel reaches, since the first one moves out of the zone.
        layers = math.ceil(support / spacing - 1e-9) + 1
        forward = np.sign(self.velocity[axis])
        end = self.high[axis] if forward > 0 else self.low[axis]
        lines: list[Array] = []
        for k, count in zip(across, counts, strict=True):
            lines.append(self.low[k] + (np.arange(count) + 0.5) * ((self.high[k] - self.low[k]) / count))
        rows = np.stack([part.ravel() for part in np.meshgrid(*lines, indexing="ij")], axis=1)
        self.places = np.empty((layers * self.width, len(self.low)))
        self.places[:, across] = np.tile(rows, (layers, 1))
        self.places[:, axis] = np.repeat(end - forward * (np.arange(layers) + 0.5) * spacing, self.width)
        self.spacing = spacing

    def at(self, time: float, emitted: int) -> Array:
        """Return the particles at a time, after a number of layers has become fluid."""
        return np.asarray(self.places + (time - emitted * self.spacing / self.speed) * self.velocity)


class _Zone:
    """The box of an outlet."""

    def __init__(self, outlet: Outlet, number: int, support: float) -> None:
        name = f"outlets.{number}"
        self.low, self.high = _corners(outlet, name)
        self.velocity = None
        if outlet.velocity is not None:
            self.velocity = np.asarray(outlet.velocity, float)[: len(self.low)]
            if len(self.velocity) != len(self.low) or not np.isfinite(self.velocity).all() or not self.velocity.any():
                raise InputError(f"{name}.velocity must be finite and not zero, got {list(outlet.velocity)}")
        _check_length(float((self.high - self.low).min()), support, name, "the flow")


def _corners(end: Inlet | Outlet, name: str) -> tuple[Array, Array]:
    low, high = np.asarray(end.low, float), np.asarray(end.high, float)
    if low.shape not in {(2,), (3,)} or low.shape != high.shape or not (high > low).all():
        raise InputError(f"{name} must have high above low, 2 or 3 numbers each, got {end.low!r} and {end.high!r}")
    return low, high


def _check_length(length: float, support: float, name: str, along: str) -> None:
    if length < support * (1 - 1e-9):
        raise InputError(
            f"{name} must be at least as long along {along} as the support of the kernel ({support:g}), "
            f"got {length:g}; make the box longer, or use a smaller spacing"
        )


def _inside(points: Array, low: Array, high: Array) -> npt.NDArray[np.bool_]:
    return np.asarray(((points >= low) & (points <= high)).all(axis=1))
