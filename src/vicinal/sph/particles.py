"""The particles of a fluid as columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _core
from vicinal._check import locked
from vicinal.sph.checks import check_rows
from vicinal.sph.phases import check_numbers, excess_of
from vicinal.sph.ranks import FluidRanks

Array = npt.NDArray[np.float64]


class Particles:
    """Columns of particles, in the order of their ids. On several ranks, those that this rank owns."""

    _core: _core.Sph
    _ranks: FluidRanks
    _rest: Array  # density at rest of every phase
    _sounds: Array  # its speed of sound
    _spacing: float
    _dim: int
    _gravity: Array
    _state: str  # equation of state
    _scheme: str
    _next_id = 0

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse assignments, which would have no effect: nothing of a fluid can be assigned."""
        if not name.startswith("_"):
            known = hasattr(type(self), name)
            what = f"{name} cannot be assigned" if known else f"a fluid has no attribute {name}"
            raise AttributeError(f"{what}; make a new Simulation with the positions and velocities of this one")
        super().__setattr__(name, value)

    def _column(self, name: str) -> Array:
        """Return a copy of a column, read-only: writing into it would have no effect."""
        return locked(self._core.column(name))

    def __len__(self) -> int:
        """Return the number of fluid particles, on ranks of those that this rank owns."""
        return self._core.size()

    @property
    def total(self) -> int:
        """Number of fluid particles on all ranks."""
        return self._ranks.count(len(self))

    def check_same(self, **given: object) -> None:
        """Check that all ranks have passed the same arguments."""
        self._ranks.check_same(**given)

    @property
    def rank(self) -> int:
        """Number of this rank, 0 in one process."""
        return self._ranks.rank

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Numbers that stay with particles, in rising order."""
        return locked(self._core.column("ids").astype(np.int64))

    @property
    def positions(self) -> Array:
        """Positions, shape (n, dim); a read-only copy, as are all arrays."""
        return self._column("positions")

    @property
    def velocities(self) -> Array:
        """Velocities, shape (n, dim)."""
        return self._column("velocities")

    @property
    def accelerations(self) -> Array:
        """Accelerations in the last step, shape (n, dim)."""
        self._core.prime()
        return self._column("accelerations")

    @property
    def densities(self) -> Array:
        """Densities; with dfsph at least that at rest, because fewer neighbours at a free surface are no expansion."""
        return locked(self._rest[self.phase] + self._core.column("excess"))

    @property
    def pressures(self) -> Array:
        """Pressures."""
        return self._column("pressures")

    @property
    def masses(self) -> Array:
        """Masses."""
        return locked(self._rest[self.phase] * self._spacing**self._dim)

    @property
    def phase(self) -> npt.NDArray[np.int32]:
        """Numbers of the phases of particles."""
        return locked(self._core.column("phases").astype(np.int32))

    @property
    def surface(self) -> npt.NDArray[np.bool_]:
        """Whether a particle was part of a free surface in the last step; with dfsph, had few neighbours."""
        self._core.prime()
        return locked(self._core.column("surface") > 0)

    @property
    def largest_speed(self) -> float:
        """Speed of the fastest particle, of all ranks."""
        return self._ranks.largest(float(np.linalg.norm(self.velocities, axis=1).max(initial=0.0)))

    def anywhere(self, flags: npt.NDArray[np.bool_]) -> bool:
        """Return whether a flag is set for any particle, of all ranks."""
        return self._ranks.count(int(flags.any())) > 0

    def mach(self) -> float:
        """Return the largest speed in speeds of sound, each in its own phase."""
        speeds = np.linalg.norm(self.velocities, axis=1) / self._sounds[self.phase]
        return self._ranks.largest(float(speeds.max(initial=0.0)))

    def whole(self, *names: str) -> dict[str, npt.NDArray[Any]] | None:
        """Return columns of the particles of all ranks, by the names of properties, on rank 0; None on other ranks."""
        own = {name: np.asarray(getattr(self, name)) for name in ("ids", *names)}
        if not self._ranks.used:
            return own
        parts = self._ranks.at_first(own)
        if self._ranks.rank:
            return None
        order = np.argsort(np.concatenate([part["ids"] for part in parts]))
        return {name: np.concatenate([part[name] for part in parts])[order] for name in own}

    def rows(self, which: npt.NDArray[np.bool_], *names: str) -> dict[str, npt.NDArray[Any]]:
        """Return columns of some particles, given by a flag for each own one, on all ranks."""
        own = {name: np.asarray(getattr(self, name))[which] for name in ("ids", *names)}
        parts = self._ranks.gathered(own)
        order = np.argsort(np.concatenate([part["ids"] for part in parts]))
        return {name: np.concatenate([part[name] for part in parts])[order] for name in own}

    def compression(self) -> float:
        """Return the largest deviation of a density from that at rest (with dfsph: above it), as a part of it."""
        return self._ranks.largest(float(np.abs(self._core.column("excess") / self._rest[self.phase]).max(initial=0.0)))

    def energies(self) -> Mapping[str, float]:
        """Return the kinetic, potential and elastic energy; elastic energy is that of compression.

        Examples
        --------
        >>> from vicinal.sph import Simulation
        >>> sim = Simulation([[0.0, 2.0]], spacing=1.0, density=1.0, gravity=(0, -10), velocities=[[1.0, 0.0]])
        >>> {name: round(value, 6) for name, value in sim.energies().items()}
        {'kinetic': 0.5, 'potential': 20.0, 'elastic': 0.0}
        """
        mass, phase = self.masses, self.phase
        # Pressures of dfsph do not come from compression, and do no work on volume.
        wave = self._core.column("excess") / self._rest[phase] * self._sounds[phase] * (self._scheme != "dfsph")
        kinetic = 0.5 * mass * (self.velocities**2).sum(axis=1)
        potential = -mass * (self.positions * self._gravity).sum(axis=1)
        sums = self._ranks.sums(np.stack([kinetic, potential, 0.5 * mass * wave**2], axis=1))
        return {name: float(value) for name, value in zip(("kinetic", "potential", "elastic"), sums, strict=True)}

    def add(self, positions: Array, velocities: Array, pressures: Array) -> None:
        """Add particles behind those that there are."""
        rows = check_rows(positions, "positions")
        speeds = check_rows(velocities, "velocities", rows.shape)
        self._append(rows, speeds, pressures, None)

    def _append(
        self, positions: Array, velocities: Array, pressures: npt.ArrayLike | None, phase: npt.ArrayLike | None
    ) -> None:
        """Add particles; their ids follow those there were, in the order of ranks."""

        def check() -> tuple[npt.NDArray[np.uint32], Array]:
            numbers = check_numbers(phase, len(positions), len(self._rest))
            return numbers, excess_of(pressures, self._rest[numbers], self._sounds[numbers], tait=self._state == "tait")

        numbers, excess = self._ranks.together(check)
        counts = self._ranks.gathered(len(positions))
        first = self._next_id + sum(counts[: self._ranks.rank])
        self._core.add(positions, velocities, excess, numbers, first)
        self._next_id += sum(counts)

    def keep(self, which: npt.NDArray[np.bool_]) -> None:
        """Keep some particles, given by a flag for each, and remove the others."""
        self._core.keep(np.ascontiguousarray(which, bool))
