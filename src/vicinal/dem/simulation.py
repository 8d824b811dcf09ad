"""A simulation of grains: bodies, walls, a contact law and a clock."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from time import perf_counter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.dem import checkpoint
from vicinal.dem.bodies import Array, positive, read_only
from vicinal.dem.faults import MOTION, CrossingWarning, check_speeds, crossing_text, not_finite
from vicinal.dem.materials import Material, PairValues
from vicinal.dem.near import pair_rows, wall_rows
from vicinal.dem.overlaps import MAX_OVERLAP, Overlaps, find_overlaps
from vicinal.dem.ranks import GrainRanks
from vicinal.dem.relist import balance
from vicinal.dem.rotations import rotated_back
from vicinal.dem.settings import GrainSettings, check_periods, check_walls, finite
from vicinal.dem.snapshot import COLUMNS, Snapshot
from vicinal.dem.stats import SimulationStats
from vicinal.dem.times import CriticalTimes, TimeStepWarning, critical_times
from vicinal.dem.wall_records import take_states, wall_record
from vicinal.distributed.agreement import agree_on, check_same
from vicinal.errors import InputError
from vicinal.list_builder import ListBuilder
from vicinal.sim.clock import check_end, steps_until
from vicinal.sim.walls import MOVING, MeshWall, Wall, check_vector
from vicinal.skin import FIRST_SKIN, LEAST_STEPS, margins_of, next_skin, usual_place

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

# Number of builds of the lists after which bodies are sorted along a space-filling curve again.
BUILDS_PER_SORT = 20
# The default time step is the smaller of these fractions of the collision time and of the Rayleigh time. For the choice
# of the former see docs/grains.md and benchmarks/step.py.
COLLISION_FRACTION, RAYLEIGH_FRACTION = 0.035, 0.2

# Bodies are put back into the box only when lists are built. The core finds the nearest image of bodies that are less
# than one and a half periods apart. Radii are at most a quarter of a period (`check_sizes`), so all that touch are, as
# long as no body has moved by a quarter of a period.
MOST_OF_PERIOD = 0.2


class Simulation(GrainSettings):
    """A simulation of grains. Row k of every array belongs to the body ``ids[k]``; ids are ascending.

    Parameters
    ----------
    materials
        By name.
    pairs
        Parameters for pairs of materials, by the names of the two; they replace those of both materials before mixing.
    law
        Contact law, one of `vicinal.dem.materials.LAWS`: ``"hertz"`` (Hertz and Mindlin) or ``"linear"`` (springs and
        dashpots).
    history
        Whether contacts have tangential springs. If False, they have only dashpots, up to Coulomb's limit.
    walls
        Planes, cylinders, meshes.
    gravity
        Acceleration of all bodies.
    dt
        Time step; by default a fraction of the collision time and of the Rayleigh time.
    box
        Period along each axis, None for an open axis; or one length for all. Periods must be at least twice as long as
        the largest diameter of bodies.
    skin
        Gap up to which the lists hold pairs. By default it is chosen from the number of steps for which lists last.
        Changes speed only.
    seed
        Seed of the generator `random`, which is part of the state; emitters use it.
    max_overlap
        The largest overlap of bodies that were just inserted or whose positions were assigned, relative to the smaller
        radius. Checked in the next `run`.
    comm
        An mpi4py communicator whose ranks share the bodies (docs/distributed.md). Every rank then has the bodies in its
        part of space, and all ranks call the methods of the simulation together. Changes no bit of the results.

    Examples
    --------
    >>> from vicinal.dem import Material, Plane, Simulation
    >>> glass = Material(density=2500, youngs_modulus=1e7, poisson_ratio=0.2, restitution=0.8, friction=0.3)
    >>> floor = Plane(name="floor", material="glass", point=(0, 0, 0), normal=(0, 0, 1))
    >>> sim = Simulation(materials={"glass": glass}, walls=[floor], dt=1e-5)
    >>> sim.insert([[0, 0, 0.02]], radii=0.01)
    array([0])
    >>> sim.run(1000)
    >>> bool(sim.positions[0, 2] < 0.02)
    True
    """

    def __init__(
        self,
        *,
        materials: Mapping[str, Material],
        pairs: PairValues | None = None,
        law: str = "hertz",
        history: bool = True,
        walls: Sequence[Wall] = (),
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        dt: float | None = None,
        box: float | Sequence[float | None] | None = None,
        skin: float | None = None,
        seed: int | None = 0,
        max_overlap: float = MAX_OVERLAP,
        comm: Intracomm | None = None,
    ) -> None:
        agree_on(comm, locals(), per_rank=("self", "comm", "__class__"))
        if comm is not None and seed is None:
            raise InputError("seed must be a number on ranks, got None; with it every rank would draw other bodies")
        self._box = check_periods(box)
        super().__init__(materials, GrainRanks(comm, self._box))
        self._set_law(law, history, pairs)
        self._walls = check_walls(walls)
        for wall in self.walls:
            self._material(wall.material, f"{wall.name}.material")
            wall.fix_surface()
        self._wall_poses: list[Array] = []
        self._gravity = read_only(check_vector(gravity, "gravity"))
        self._dt = None if dt is None else positive(dt, "dt")
        self._fixed_skin = None if skin is None else positive(skin, "skin")
        self._random = np.random.default_rng(
            None if seed is None else _check.check_integer(seed, "seed", least=0, most=2**128 - 1)
        )
        self._max_overlap = positive(max_overlap, "max_overlap")
        self._crossings: dict[str, int] = {}
        self._start = (0.0, 0)  # time and step count when the step was last changed
        self._builder = ListBuilder(lasting=False)
        self._skin = 0.0
        self._life_from = 0
        self._builds = 0
        self._sorted_at = -1
        self._blocks = (np.empty(0, np.uint64), 0, 1)  # where blocks of forces begin; see `_sort`
        self._meshes_set = False
        self._seconds = {"lists": 0.0, "steps": 0.0}

    # --- ranks --------------------------------------------------------------------------------------------------------

    @property
    def ranks(self) -> int:
        """Number of ranks that share the bodies; fixed."""
        return self._ranks.size

    @property
    def rank(self) -> int:
        """Number of this rank; fixed."""
        return self._ranks.rank

    @property
    def total(self) -> int:
        """Number of bodies on all ranks."""
        return self._ranks.count(len(self))

    def summed(self, numbers: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return whole numbers, summed over all ranks."""
        return self._ranks.total(numbers)

    def everywhere(self, name: str) -> npt.NDArray[Any]:
        """Return an array of bodies, such as "positions", of all ranks in the order of ids, on every rank."""
        parts = self._ranks.gathered((self.ids, getattr(self, name)))
        order = np.argsort(np.concatenate([ids for ids, _ in parts]))
        return np.asarray(np.concatenate([column for _, column in parts])[order])

    def snapshot(self, contacts: Mapping[str, npt.NDArray[Any]] | None = None) -> Snapshot:
        """Return the bodies of this rank, with their contacts if these are passed."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        return Snapshot(self.time, self.shapes, self.walls, **columns, touching=contacts or {})

    # --- time ---------------------------------------------------------------------------------------------------------

    @property
    def step_count(self) -> int:
        """Steps done so far."""
        return int(self._core.steps)

    @property
    def time(self) -> float:
        """Simulated time."""
        time, count = self._start
        return time + (self.step_count - count) * self._dt if self._dt is not None else time

    @property
    def dt(self) -> float:
        """The time step. It can be changed between runs."""
        if self._dt is None:
            times = self.critical_times()
            rayleigh = times.rayleigh if math.isfinite(times.rayleigh) else math.inf
            chosen = min(COLLISION_FRACTION * times.collision, RAYLEIGH_FRACTION * rayleigh)
            if not math.isfinite(chosen):
                raise InputError("dt must be given if there are no bodies to derive it from; insert bodies or pass dt")
            self._dt = chosen
        return self._dt

    @dt.setter
    def dt(self, value: float) -> None:
        new = positive(value, "dt")
        if self._core.primed and self._dt is not None:  # dv and dw are acceleration × dt / 2
            for name in ("half_kicks", "half_spin_kicks", "half_impulses"):
                self._core.set(name, self._core.get(name) * (new / self._dt))
        self._start = (self.time, self.step_count)
        self._warned = self._warned and self._dt is not None and new <= self._dt
        self._dt = new

    def critical_times(self) -> CriticalTimes:
        """Return the collision time and the Rayleigh time, and the time step as a fraction of each."""
        return critical_times(self, self._core, self._dt)

    def run(self, steps: int) -> None:
        """Advance by a number of steps. Ctrl-C stops between two steps; the simulation can be continued.

        Raises `InputError` if bodies that were just placed overlap by more than `max_overlap`, and `UnstableError` in
        the step in which a velocity or spin is no longer finite.
        """
        self._check_same(steps=steps)
        self._advance(_check.check_integer(steps, "steps", least=0, most=2**62))

    def run_until(self, time: float) -> None:
        """Advance until a time is reached: the last step ends at this time or later, by less than a step.

        All steps have the same length, so a run in several parts has the bits of one run.
        """
        self._check_same(time=time)
        end = finite(time, "time")
        check_end(end, self.time - self.dt)  # a step ago: the last step may have ended after the time of a former run
        self._advance(steps_until(self.time, end, self.dt))

    def _check_same(self, **given: object) -> None:
        """Check that all ranks have passed the same arguments and assigned the same settings."""
        if self._ranks.size == 1:
            return
        motions = [getattr(wall, name) for wall in self.walls for name in MOVING]
        numbers = np.concatenate([self._gravity, (self._dt or 0.0, self._max_overlap), *motions])

        def named() -> dict[str, object]:
            walls = {wall.name: {name: getattr(wall, name) for name in MOVING} for wall in self.walls}
            settings = {"dt": self._dt, "gravity": self._gravity, "max_overlap": self._max_overlap}
            return {**given, **settings, "walls": walls}

        check_same(self._ranks.comm, {**given, "settings": numbers}, named)

    def _advance(self, steps: int) -> None:
        if self.total == 0:  # walls move without bodies too
            self._sync_walls()
        self._core.set_space(self.gravity.tolist(), self._box, self.dt)
        if not self._warned:
            self._warn()
        self._sync_walls()
        end = self.step_count + steps
        try:
            with self._ranks.listening():
                self._steps(end)
        finally:
            self._read_walls()

    def _steps(self, end: int) -> None:
        """Advance to a step."""
        ranks = self._ranks
        while self.step_count < end:
            if not self._core.has_lists:
                self._build()
            elif not self._core.primed:  # speeds may have been assigned; builds check them, too
                check_speeds(self, self._diameter())
            if self._placed_from is not None:
                self.check_overlaps()
            start = perf_counter()
            ranks.advance(self._core, end - self.step_count)
            self._seconds["steps"] += perf_counter() - start
            self._note_crossings()
            if not self._core.finite:
                ranks.raise_together(not_finite(self) if not self._is_finite() else None)
            if ranks.stopping and not self._core.drifted:
                ranks.stopping = False
                raise KeyboardInterrupt
            if self.step_count < end and self._core.drifted:
                self._build()
            elif ranks.due(self._core):
                start = perf_counter()
                balance(self)
                self._seconds["lists"] += perf_counter() - start

    def _is_finite(self) -> bool:
        """Return whether the motion of all own bodies is finite."""
        return all(np.isfinite(self._get(name)).all() for name in MOTION)

    def _note_crossings(self) -> None:
        """Count the bodies that passed through walls, and warn about the first one of each wall."""
        own = [column.tolist() for column in self._core.take_crossings()]
        if not self._ranks.count(len(own[0])):
            return
        for step, body, wall in sorted(one for some in self._ranks.gathered(own) for one in zip(*some, strict=True)):
            name = self.walls[wall].name
            if name not in self._crossings:
                time = self.time - (self.step_count - step) * self.dt
                warnings.warn(crossing_text(name, body, time), CrossingWarning, stacklevel=5)
            self._crossings[name] = self._crossings.get(name, 0) + 1

    def _warn(self) -> None:
        self._warned = True
        times = self.critical_times()
        for name, limit in (("collision", 0.05), ("rayleigh", 0.4)):
            fraction = getattr(times, f"{name}_fraction")
            if fraction > limit:
                warnings.warn(
                    f"dt={self.dt:.3g} is {fraction:.2f} of the {name} time {getattr(times, name):.3g}; "
                    f"a fraction below {limit} resolves contacts: use a smaller dt or softer materials",
                    TimeStepWarning,
                    stacklevel=4,
                )

    # --- lists --------------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        """Build the lists. All ranks build together, after the same step."""
        start = perf_counter()
        core, ranks = self._core, self._ranks
        total = self.total
        diameter = self._diameter()
        life = self.step_count - self._life_from
        if self._fixed_skin is not None:
            self._skin = self._fixed_skin
        elif self._skin == 0:
            self._skin = FIRST_SKIN * diameter
        elif core.has_lists:  # the lists expired; they were not just dropped
            self._skin = next_skin(self._skin, life, diameter)
        self._read_walls()
        core.wrap()
        sort = self._builds - self._sorted_at >= BUILDS_PER_SORT or self._sorted_at < 0
        if ranks.used:
            ranks.migrate(core, divide=ranks.due(core))
            self._set_elements()
        if sort:
            self._sort(diameter, total)
        self._set_wall_speed(core.get("positions"))
        check_speeds(self, diameter)
        speeds = core.speeds()
        usual = float(ranks.kth(speeds, [usual_place(total)])[0]) if total else 0.0
        radii = core.get("radii")
        if ranks.used:
            settle = ranks.fetch_ghosts(core, radii + self._margins(radii, speeds, usual, diameter))
            self._set_elements()
            settle()
            radii, speeds = core.get("radii"), core.speeds()
        margins = self._margins(radii, speeds, usual, diameter)
        wall_margin = 0.0
        if core.wall_speed > 0:
            faster = min(max(core.wall_speed / usual, 1.0), 2.0) if usual else 2.0
            wall_margin = max(0.5 * self._skin * faster, LEAST_STEPS * core.wall_speed * self.dt)
        owners = core.owners()
        centres, _ = core.element_places()
        self._set_lists(centres, margins[owners] if len(owners) else margins, wall_margin, 0.0)
        self._life_from = self.step_count
        self._builds += 1
        self._seconds["lists"] += perf_counter() - start

    def _diameter(self) -> float:
        """Return the median diameter of all bodies."""
        core = self._core
        return 2 * self._ranks.median(core.get("radii")[core.ghosts() == 0]) if self.total else 1.0

    def _margins(self, radii: Array, speeds: Array, usual: float, diameter: float) -> Array:
        """Return how far each body may move before the lists are built again."""
        margins = margins_of(self._skin, speeds, usual, self.dt, np.maximum(radii, diameter))
        periods = [edge for edge in self.box if edge]
        return np.minimum(margins, MOST_OF_PERIOD * min(periods)) if periods else margins

    def _sort(self, cell: float, total: int) -> None:
        """Sort bodies along a space-filling curve through cells of a given size, and cut the blocks of forces."""
        core, ranks = self._core, self._ranks
        core.set_keys(ranks.low(core.get("positions")).tolist(), cell)
        if not ranks.used:  # ranks sort when they have their ghosts
            core.take(core.key_order())
        elements = ranks.count(len(core.owners()) or len(self))
        size = max(1, _core.force_block_rows(elements) * total // max(1, elements))
        bounds = np.unique(ranks.kth(core.keys(), np.arange(size, total, size)))
        self._blocks = (bounds, self._next_id, size)
        core.set_blocks(*self._blocks)
        self._order = None
        self._sorted_at = self._builds

    def _set_wall_speed(self, positions: Array) -> None:
        speed = 0.0
        for wall in self.walls:
            if not (np.any(wall.velocity) or np.any(wall.spin)):
                continue
            reach = 0.0
            if np.any(wall.spin):
                middle = np.asarray(wall.centre) + wall.position
                reach = 1.1 * self._ranks.largest(np.linalg.norm(positions - middle, axis=1).max(initial=0.0))
            speed = max(speed, wall.drift_speed(reach))
        self._core.wall_speed = speed

    def _set_lists(self, centres: Array, margins: Array, wall_margin: float, wall_drift: float) -> None:
        """Build the lists for elements at these centres."""
        core = self._core
        owners = core.owners()
        _, radii = core.element_places()
        ghosts = core.ghosts() != 0
        if len(owners):
            ghosts = ghosts[owners]
        rows = pair_rows(self._builder, centres, radii + margins, self.box, owners, ghosts)
        walls = wall_rows(centres, radii + margins + wall_margin, self.walls, ghosts)
        core.set_lists(*rows, *walls, centres, margins, wall_margin, wall_drift)

    def _sync_walls(self) -> None:
        self._drop_lists_of_moved_walls()
        self._core.set_walls([wall_record(wall, self._names[wall.material]) for wall in self.walls])
        if not self._meshes_set:
            for k, wall in enumerate(self.walls):
                if isinstance(wall, MeshWall):
                    self._core.set_mesh(k, *wall.mesh._surface, wall.mesh._feature_keys)  # noqa: SLF001
            self._core.number_primitives()
            self._meshes_set = True
        self._set_wall_speed(self._core.get("positions"))

    def _read_walls(self) -> None:
        records = self._core.walls()
        if records:
            take_states(self.walls, records, self._ranks.total(self._core.wall_loads()))
        self._wall_poses = [wall.pose() for wall in self.walls]

    def _drop_lists_of_moved_walls(self) -> None:
        """Drop the lists if the pose of a wall was assigned since the last run."""
        poses = [wall.pose() for wall in self.walls]
        if self._wall_poses and any(not np.array_equal(*pair) for pair in zip(poses, self._wall_poses, strict=True)):
            self._core.drop_lists()
        self._wall_poses = poses

    # --- results ------------------------------------------------------------------------------------------------------

    def _current(self) -> None:
        if not self._core.has_lists and self.total:
            self._core.set_space(self.gravity.tolist(), self._box, self.dt)
            self._sync_walls()
            self._build()

    def contacts(self) -> dict[str, npt.NDArray[Any]]:
        """Return the present contacts; on several ranks those whose first body this rank owns.

        Arrays of one length: ``i`` (id of a body), ``j`` (id of the other body, or -1), ``wall`` (index of the wall, or
        -1), ``point`` (c, 3), ``normal`` (c, 3) from i to j or to the wall, ``force`` (c, 3) on i, ``overlap``,
        ``normal_force``, ``tangential_force``, ``energy`` (elastic).
        """
        self._current()
        names = ("i", "j", "wall", "point", "normal", "force", "overlap", "normal_force", "tangential_force", "energy")
        return dict(zip(names, self._core.details(), strict=True))

    def overlaps(self) -> Overlaps:
        """Return the number of overlaps between bodies and with walls, and the largest.

        Examples
        --------
        >>> from vicinal.dem import Material, Simulation
        >>> sim = Simulation(materials={"m": Material(kn=1e4)}, law="linear", dt=1e-5)
        >>> sim.insert([[0, 0, 0], [0.06, 0, 0]], radii=0.5)
        array([0, 1])
        >>> overlaps = sim.overlaps()
        >>> overlaps.bodies, overlaps.where, round(overlaps.worst, 2)
        (2, 'body 0 and body 1', 1.88)
        """
        return find_overlaps(self)

    def check_overlaps(self) -> Overlaps:
        """Return the overlaps of bodies placed since the last run; raise `InputError` if they exceed `max_overlap`."""
        if self._placed_from is None:
            return Overlaps()
        overlaps = find_overlaps(self, self._placed_from)
        overlaps.check(self._max_overlap, self.time)  # the same on all ranks
        self._placed_from = None
        return overlaps

    @property
    def crossings(self) -> Mapping[str, int]:
        """Per wall, the number of times that the centre of a body passed through it in one step, which was too long."""
        return MappingProxyType(self._crossings)

    def contact_count(self) -> int:
        """Return the number of contacts, with bodies and walls, in the last step, on all ranks."""
        return self._ranks.count(self._core.contacts())

    def energies(self, contacts: Mapping[str, npt.NDArray[Any]] | None = None) -> dict[str, float]:
        """Return kinetic_translational, kinetic_rotational, potential (gravity), elastic, total.

        `contacts` may be passed if the present contacts are already known.
        """
        present = self.contacts() if contacts is None else contacts
        m, v, x = (self._get(name) for name in ("masses", "velocities", "positions"))
        own = rotated_back(self._get("orientations"), self._get("spins"))
        # Products are written out: a matrix product may round differently for other numbers of rows.
        heights = (x[:, 0] * self.gravity[0] + x[:, 1] * self.gravity[1]) + x[:, 2] * self.gravity[2]
        squares, spinning = v * v, self._get("inertias") * own * own
        of_bodies = [
            0.5 * m * ((squares[:, 0] + squares[:, 1]) + squares[:, 2]),
            0.5 * ((spinning[:, 0] + spinning[:, 1]) + spinning[:, 2]),
            -m * heights,
        ]
        sums = [*self._ranks.sums(np.stack(of_bodies, axis=1)), *self._ranks.sums(present["energy"])]
        names = ("kinetic_translational", "kinetic_rotational", "potential", "elastic")
        energies = {name: float(value) for name, value in zip(names, sums, strict=True)}
        return energies | {"total": sum(energies.values())}

    @property
    def stats(self) -> SimulationStats:
        """Statistics of the bodies, the lists and the time spent."""
        return SimulationStats(
            bodies=self.total,
            contacts=self.contact_count(),
            listed=self._ranks.count(self._core.listed()),
            builds=self._builds,
            skin=self._skin,
            list_seconds=self._seconds["lists"],
            step_seconds=self._seconds["steps"],
            crossings=sum(self._crossings.values()),
        )

    # --- state --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return the data needed to continue bit for bit: arrays, numbers and strings only.

        On several ranks, rank 0 gets the bodies of all; it is the state that one process would have.
        """
        return checkpoint.state(self)

    @classmethod
    def restore(cls, state: Mapping[str, Any], comm: Intracomm | None = None) -> Simulation:
        """Return the simulation that has the given `state`, shared by the ranks of `comm`, which all pass it."""
        return checkpoint.restore(cls, state, comm)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the state; the copy has its own bodies and walls and continues bit for bit."""
        return type(self).restore, (self.state(),)
