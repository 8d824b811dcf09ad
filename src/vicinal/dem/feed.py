"""Bodies that come and go: fills at the start, emitters and outlets as time goes on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.build import Kind
from vicinal.dem.config.bodies import Sphere
from vicinal.dem.config.insertion import Emitter, Fill, FromFile, Insertion, Place
from vicinal.dem.config.scene import Scene
from vicinal.dem.simulation import Simulation
from vicinal.dem.sizes import draw
from vicinal.errors import InputError
from vicinal.sim.packing import Occupied, drop, lattice, pack
from vicinal.sim.spaces import Space, space

Array = npt.NDArray[np.float64]

BATCH = 4096
"""Bodies drawn at a time when a volume or a mass is to be reached."""

EMITTER_ROUNDS = 20
"""How often a body tries to find room at an emitter before it waits for the next attempt."""


class Feeder:
    """Puts bodies into a simulation and takes them out, as the scene says."""

    def __init__(self, scene: Scene, sim: Simulation, kinds: Mapping[str, Kind]) -> None:
        self.scene, self.sim, self.kinds = scene, sim, kinds
        self.box = scene.periodic.lengths()
        self._spaces: dict[str, Space] = {}
        # Part of the restart file: what each emitter has inserted so far, in bodies and in mass, and what it drew last.
        self.emitted = np.zeros((len(scene.insert), 2))
        self.removed = 0

    def space(self, name: str) -> Space:
        """Return the geometry of a region by its name."""
        if name not in self._spaces:
            self._spaces[name] = space(self.scene.regions[name], self.box)
        return self._spaces[name]

    def state(self) -> dict[str, Any]:
        """Return what a restart needs."""
        return {"emitted": self.emitted.copy(), "removed": self.removed}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a restart."""
        self.emitted[...] = state["emitted"]
        self.removed = int(state["removed"])

    def start(self) -> None:
        """Insert what is there from the start."""
        for insert in self.scene.insert:
            match insert:
                case Fill():
                    self._fill(insert)
                case Place():
                    names = self._names(insert, len(insert.positions))
                    self._insert(insert, names, self._radii(names), np.array(insert.positions))
                case FromFile():
                    self._from_file(insert)

    def _fill(self, insert: Fill) -> None:
        region = self.space(insert.region)
        names, radii = self._amount(insert, region)
        if insert.method == "lattice":
            places = lattice(
                region, radii, self.sim.random, there=self._there(), box=self.box, gap=insert.gap, jitter=insert.jitter
            )
        else:
            places = pack(region, radii, self.sim.random, there=self._there(), box=self.box, gap=insert.gap)
        self._insert(insert, names, radii, places)

    def _amount(self, insert: Fill, region: Space) -> tuple[npt.NDArray[np.str_], Array]:
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
        # The number of bodies that comes closest.
        count = max(1, int(np.abs(np.cumsum(amounts) - goal).argmin()) + 1)
        return names[:count], radii[:count]

    def _from_file(self, insert: FromFile) -> None:
        try:
            rows = np.loadtxt(insert.file, ndmin=2)
        except FileNotFoundError:
            raise FileNotFoundError(f"{insert.file}: no such file") from None
        except ValueError as error:
            raise InputError(f"{insert.file}: {error}; give a line of x y z r for every sphere") from None
        if rows.shape[1] != 4 or not np.isfinite(rows).all() or (rows[:, 3] <= 0).any():
            raise InputError(f"{insert.file}: shape {rows.shape} found; give x y z and a radius above 0 on every line")
        self._insert(insert, self._names(insert, len(rows)), rows[:, 3], rows[:, :3])

    def emit(self) -> None:
        """Let emitters insert what is due."""
        for place, insert in enumerate(self.scene.insert):
            if isinstance(insert, Emitter):
                self._emit(place, insert)

    def _emit(self, place: int, insert: Emitter) -> None:
        time = self.sim.time
        if time < insert.start:
            return
        passed = min(time, math.inf if insert.stop is None else insert.stop) - insert.start
        count, mass = self.emitted[place]
        if insert.rate is not None:
            # One at once, then one after every 1/rate; a hair more, so that rounding does not delay one by an attempt.
            due = int(passed * insert.rate * (1 + 1e-9)) + 1 - int(count)
        else:
            assert insert.mass_rate is not None  # noqa: S101 - the schema wants one of both
            mean = self._mean_mass(insert)
            due = max(0, math.ceil((passed * insert.mass_rate - mass) / mean))
        if insert.limit is not None:
            due = min(due, insert.limit - int(count))
        if due <= 0:
            return
        names = self._names(insert, due)
        radii = self._radii(names)
        region = self.space(insert.region)
        there = self._there().near(region, float(radii.max()), self.box)
        places = drop(region, radii, self.sim.random, there=there, box=self.box, rounds=EMITTER_ROUNDS)
        found = ~np.isnan(places[:, 0])
        self._insert(insert, names[found], radii[found], places[found])
        masses = self._masses(names[found], radii[found], by_volume=False)
        self.emitted[place] += (found.sum(), masses.sum())

    def drain(self, due: list[int]) -> None:
        """Let outlets take bodies out."""
        for place in due:
            outlet = self.scene.outlets[place]
            if not len(self.sim):
                return
            positions = self.sim.positions
            inside = self.space(outlet.region).fits(positions, np.zeros(len(positions)))
            gone = self.sim.ids[inside != outlet.outside]
            if len(gone):
                self.sim.remove(gone)
                self.removed += len(gone)

    def _there(self) -> Occupied:
        return Occupied(self.sim.positions, self.sim.radii) if len(self.sim) else Occupied()

    def _names(self, insert: Insertion, count: int) -> npt.NDArray[np.str_]:
        shares = insert.shares()
        names = np.array(list(shares), np.str_)
        if len(names) == 1:
            return np.repeat(names, count)
        return np.asarray(self.sim.random.choice(names, count, p=list(shares.values())))

    def _radii(self, names: npt.NDArray[np.str_]) -> Array:
        radii = np.zeros(len(names))
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            if isinstance(kind.body, Sphere):
                radii[of] = draw(kind.body.radius, int(of.sum()), self.sim.random)
            else:
                radii[of] = kind.radius
        return radii

    def _masses(self, names: npt.NDArray[np.str_], radii: Array, *, by_volume: bool) -> Array:
        amounts = np.zeros(len(names))
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            density = 1.0 if by_volume else self.scene.materials[kind.body.material].density
            amounts[of] = density * kind.volumes(radii[of])
        return amounts

    def _mean_mass(self, insert: Insertion) -> float:
        """Return the mean mass of bodies to come; from draws of its own, so that chance goes on as if nothing was."""
        random = np.random.default_rng(0)
        mean = 0.0
        for name, share in insert.shares().items():
            kind = self.kinds[name]
            radii = draw(kind.body.radius, 1000, random) if isinstance(kind.body, Sphere) else np.array([kind.radius])
            mean += share * self.scene.materials[kind.body.material].density * float(kind.volumes(radii).mean())
        return mean

    def _insert(self, insert: Insertion, names: npt.NDArray[np.str_], radii: Array, places: Array) -> None:
        for name in dict.fromkeys(names.tolist()):
            kind, of = self.kinds[name], names == name
            count = int(of.sum())
            self.sim.insert(
                places[of],
                radii=radii[of] if kind.shape is None else None,
                shape=kind.shape,
                material=kind.body.material,
                velocities=np.tile(insert.velocity, (count, 1)),
                spins=np.tile(insert.spin, (count, 1)),
                orientations=None if kind.shape is None else self._orientations(insert, count),
            )

    def _orientations(self, insert: Insertion, count: int) -> Array:
        if isinstance(insert.orientation, tuple):
            return np.tile(insert.orientation, (count, 1))
        if insert.orientation == "upright":
            return np.tile((1.0, 0.0, 0.0, 0.0), (count, 1))
        # Four normal numbers have no preferred direction, so as a quaternion no preferred turn.
        turns = self.sim.random.normal(size=(count, 4))
        return np.asarray(turns / np.linalg.norm(turns, axis=1, keepdims=True))
