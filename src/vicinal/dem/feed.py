"""Insertion and removal of bodies: fills at the start, emitters and outlets during the run."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.build import BodyKind
from vicinal.dem.config.bodies import Sphere
from vicinal.dem.config.insertion import Emitter, Fill, FromFile, Insertion, Placement
from vicinal.dem.simulation import Simulation
from vicinal.errors import InputError
from vicinal.sim.draws import Draws
from vicinal.sim.lattice import lattice
from vicinal.sim.packing import NOTHING, Occupied, drop, overfull, pack
from vicinal.sim.scene import Scene
from vicinal.sim.spaces import Space, space

Array = npt.NDArray[np.float64]

BATCH = 4096
"""Number of bodies that are drawn at once until a given volume or mass is reached."""

EMITTER_ROUNDS = 20
"""Number of random positions that an emitter tries for a body before the body waits for the next attempt."""


class Feeder:
    """Inserts bodies into a simulation and removes them as the scene describes.

    Every rank draws the same bodies, among those of all ranks, and rank 0 inserts them; so all ranks have the same
    random numbers, and the bodies are those of one process.
    """

    def __init__(self, scene: Scene, sim: Simulation, kinds: Mapping[str, BodyKind]) -> None:
        self.scene, self.sim, self.kinds = scene, sim, kinds
        # Draw from the generator of the simulation, which is part of its state.
        self.draws = Draws.of(sim.random.bit_generator)
        self.box = scene.periodic.lengths()
        self._spaces: dict[str, Space] = {}
        # Part of the state: the number and the mass of the bodies that each emitter has inserted so far.
        self.emitted = np.zeros((len(scene.dem.insert), 2))
        self.removed = 0

    def space(self, name: str) -> Space:
        """Return the geometry of a region by its name."""
        if name not in self._spaces:
            self._spaces[name] = space(self.scene.regions[name], self.box)
        return self._spaces[name]

    def state(self) -> dict[str, Any]:
        """Return the state that a restart needs."""
        return {"emitted": self.emitted.copy(), "removed": self.removed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the state of a restart file."""
        self.emitted[...] = state["emitted"]
        self.removed = int(state["removed"])

    def start(self) -> None:
        """Insert the bodies that are present from the start."""
        for place, insert in enumerate(self.scene.dem.insert):
            match insert:
                case Fill():
                    try:
                        self._fill(insert)
                    except InputError as error:
                        raise InputError(f'dem.insert.{place} (region "{insert.region}"): {error}') from None
                case Placement():
                    names = self._names(insert, len(insert.positions))
                    self._insert(insert, names, self._radii(names), np.array(insert.positions))
                case FromFile():
                    self._from_file(insert)

    def _fill(self, insert: Fill) -> None:
        region = self.space(insert.region)
        names, radii = self._amount(insert, region)
        occupied = self._occupied()
        if insert.method == "lattice":
            places = lattice(
                region, radii, self.draws, occupied=occupied, box=self.box, gap=insert.gap, jitter=insert.jitter
            )
        else:
            places = pack(region, radii, self.draws, occupied=occupied, box=self.box, gap=insert.gap)
        self._insert(insert, names, radii, places)

    def _amount(self, insert: Fill, region: Space) -> tuple[npt.NDArray[np.str_], Array]:
        self._check_amount(insert, region)
        if insert.count is not None:
            names = self._names(insert, insert.count)
            return names, self._radii(names)
        goal = insert.mass if insert.mass is not None else (insert.fraction or 0.0) * region.volume
        names, radii, amounts = np.zeros(0, np.str_), np.zeros(0), np.zeros(0)
        while amounts.sum() < goal:
            more = self._names(insert, BATCH)
            sizes = self._radii(more)
            names, radii = np.concatenate([names, more]), np.concatenate([radii, sizes])
            amounts = np.concatenate([amounts, self._masses(more, sizes, by_volume=insert.mass is None)])
        # The number of bodies whose amount is closest to the requested one.
        count = max(1, int(np.abs(np.cumsum(amounts) - goal).argmin()) + 1)
        return names[:count], radii[:count]

    def _check_amount(self, insert: Fill, region: Space) -> None:
        """Raise an error, before any body is drawn, if the volume of the bodies exceeds that of the region."""
        kinds = [self.kinds[name] for name, share in insert.shares().items() if share > 0]
        least = min(float(kind.volumes(np.array([kind.radius]))[0]) for kind in kinds)
        if insert.count is not None:
            volume, count = insert.count * least, insert.count
        elif insert.mass is not None:
            volume = insert.mass / max(self.scene.dem.materials[kind.body.material].density for kind in kinds)
            count = round(volume / least)
        else:
            return
        if volume > region.volume:
            raise overfull(count, volume, region)

    def _from_file(self, insert: FromFile) -> None:
        try:
            rows = np.loadtxt(insert.file, ndmin=2)
        except FileNotFoundError:
            raise FileNotFoundError(f"{insert.file}: no such file") from None
        except ValueError as error:
            raise InputError(f"{insert.file}: {error}; every line must have x y z and a radius") from None
        if rows.shape[1] != 4 or not np.isfinite(rows).all() or (rows[:, 3] <= 0).any():
            raise InputError(f"{insert.file}: every line must have x y z and a radius above 0, got shape {rows.shape}")
        self._insert(insert, self._names(insert, len(rows)), rows[:, 3], rows[:, :3])

    def emit(self) -> None:
        """Insert the bodies that emitters are due to insert."""
        for place, insert in enumerate(self.scene.dem.insert):
            if isinstance(insert, Emitter):
                self._emit(place, insert)

    def _emit(self, place: int, insert: Emitter) -> None:
        time = self.sim.time
        if time < insert.start:
            return
        passed = min(time, math.inf if insert.stop is None else insert.stop) - insert.start
        count, mass = self.emitted[place]
        if insert.rate is not None:
            # The first body is due at the start, then one after every 1/rate; the small increment compensates for
            # rounding.
            due = int(passed * insert.rate * (1 + 1e-9)) + 1 - int(count)
        else:
            assert insert.mass_rate is not None  # noqa: S101 - the schema requires one of them
            mean = self._mean_mass(insert)
            due = max(0, math.ceil((passed * insert.mass_rate - mass) / mean))
        if insert.limit is not None:
            due = min(due, insert.limit - int(count))
        if due <= 0:
            return
        names = self._names(insert, due)
        radii = self._radii(names)
        region = self.space(insert.region)
        occupied = self._occupied().near(region, float(radii.max()), self.box)
        places = drop(region, radii, self.draws, occupied=occupied, box=self.box, rounds=EMITTER_ROUNDS)
        placed = ~np.isnan(places[:, 0])
        self._insert(insert, names[placed], radii[placed], places[placed])
        masses = self._masses(names[placed], radii[placed], by_volume=False)
        self.emitted[place] += (placed.sum(), masses.sum())

    def drain(self, due: Iterable[int]) -> None:
        """Remove bodies from the outlets with these numbers."""
        for place in due:
            outlet = self.scene.dem.outlets[place]
            if not self.sim.total:
                return
            positions = self.sim.positions
            inside = self.space(outlet.region).fits(positions, np.zeros(len(positions)))
            gone = self.sim.ids[inside != outlet.outside]
            total = int(self.sim.summed(np.array([len(gone)], np.int64))[0])
            if total:
                self.sim.remove(gone)
                self.removed += total

    def _occupied(self) -> Occupied:
        positions, radii = self.sim.everywhere("positions"), self.sim.everywhere("radii")
        return Occupied(positions, radii) if len(positions) else NOTHING

    def _names(self, insert: Insertion, count: int) -> npt.NDArray[np.str_]:
        shares = insert.shares()
        names = np.array(list(shares), np.str_)
        if len(names) == 1:
            return np.repeat(names, count)
        return np.asarray(names[self.draws.choice(list(shares.values()), count)])

    def _radii(self, names: npt.NDArray[np.str_]) -> Array:
        radii = np.zeros(len(names))
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            if isinstance(kind.body, Sphere):
                radii[of] = kind.body.radius.draw(int(of.sum()), self.draws)
            else:
                radii[of] = kind.radius
        return radii

    def _masses(self, names: npt.NDArray[np.str_], radii: Array, *, by_volume: bool) -> Array:
        amounts = np.zeros(len(names))
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            density = 1.0 if by_volume else self.scene.dem.materials[kind.body.material].density
            amounts[of] = density * kind.volumes(radii[of])
        return amounts

    def _mean_mass(self, insert: Insertion) -> float:
        """Return the mean mass of bodies, from a separate stream of random numbers."""
        draws = Draws(0)
        mean = 0.0
        for name, share in insert.shares().items():
            kind = self.kinds[name]
            radii = kind.body.radius.draw(1000, draws) if isinstance(kind.body, Sphere) else np.array([kind.radius])
            mean += share * self.scene.dem.materials[kind.body.material].density * float(kind.volumes(radii).mean())
        return mean

    def _insert(self, insert: Insertion, names: npt.NDArray[np.str_], radii: Array, places: Array) -> None:
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            count = int(of.sum())
            orientations = None if kind.shape is None else self._orientations(insert, count)
            mine = slice(0, count if self.sim.rank == 0 else 0)
            self.sim.insert(
                places[of][mine],
                radii=radii[of][mine] if kind.shape is None else None,
                shape=kind.shape,
                material=kind.body.material,
                velocities=np.tile(insert.velocity, (count, 1))[mine],
                spins=np.tile(insert.spin, (count, 1))[mine],
                orientations=None if orientations is None else orientations[mine],
            )

    def _orientations(self, insert: Insertion, count: int) -> Array:
        if isinstance(insert.orientation, tuple):
            return np.tile(insert.orientation, (count, 1))
        if insert.orientation == "upright":
            return np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
        # Uniformly distributed unit vectors in 4D are uniformly distributed rotations.
        return self.draws.directions(count, 4)
