"""The solver for grains of `vicinal.sim`, described by the table ``dem`` of a scene."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from vicinal.dem.build import build, change_materials, choose_step, extent, make_kinds
from vicinal.dem.config.insertion import Emitter
from vicinal.dem.config.section import Dem
from vicinal.dem.feed import Feeder
from vicinal.dem.frames import GrainFrames
from vicinal.dem.materials import LAWS
from vicinal.dem.overlaps import Overlaps
from vicinal.dem.simulation import Simulation
from vicinal.dem.times import CriticalTimes
from vicinal.sim.clock import Timetable, reached, steps_until
from vicinal.sim.scene import Scene
from vicinal.sim.scene_walls import SceneWalls
from vicinal.sim.solver import MethodSolver, SolverSection
from vicinal.sim.vtkhdf import Frame
from vicinal.sim.walls import MeshWall

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

ENERGIES = ("kinetic_translational", "kinetic_rotational", "potential", "elastic", "total")


class GrainSolver(MethodSolver[Simulation]):
    """A simulation of grains with its emitters, outlets and moving walls.

    Parameters
    ----------
    scene
        The scene, with a table ``dem``.
    state
        The state to continue from; by default the solver starts at time 0.
    comm
        An mpi4py communicator whose ranks share the bodies.
    """

    NAME: ClassVar[str] = "dem"
    SECTION: ClassVar[type[SolverSection]] = Dem

    def __init__(self, scene: Scene, state: Mapping[str, Any] | None = None, *, comm: Intracomm | None = None) -> None:
        self.scene = scene
        kinds = make_kinds(scene)
        self.simulation = build(scene, comm) if state is None else Simulation.restore(state["simulation"], comm)
        self.feeder = Feeder(scene, self.simulation, kinds)
        self.walls = SceneWalls(scene, extent(scene), self.simulation.walls)
        self.overlaps = Overlaps()
        if state is None:
            self.feeder.start()
            self.feeder.emit()
            self.times = choose_step(scene, self.simulation, kinds)
            self.walls.set_motions(0.0, self.simulation.dt)
            self.overlaps = self.simulation.check_overlaps()
        else:
            self.feeder.restore(state["feeder"])
            self.times = CriticalTimes(*(float(x) for x in state["times"]))
            if change_materials(scene, self.simulation):
                self.times = self.simulation.critical_times()
            self._change_step(scene.dem.dt)
        self._frames = GrainFrames(scene.output, self.walls)
        # The contacts of the last line of the table, and their step: a frame of the same moment shows them, too.
        self._listed: tuple[int, Mapping[str, Any]] = -1, {}
        self._events = _timetable(scene, self.simulation.dt, self.walls.moments())

    def _change_step(self, dt: float | None) -> None:
        """Continue with the time step of the scene, if it has another one."""
        sim, times = self.simulation, self.times
        if dt is not None and dt != sim.dt:
            sim.dt = dt
            self.times = CriticalTimes(times.collision, times.rayleigh, dt / times.collision, dt / times.rayleigh)

    def state(self) -> dict[str, Any]:
        """Return all data that `restore` needs."""
        return {
            "simulation": self.simulation.state(),
            "feeder": self.feeder.state(),
            "times": np.array(astuple(self.times)),
        }

    def advance(self, until: float, steps: int) -> None:
        """Advance until the time `until` is reached, but by at most `steps` steps."""
        sim = self.simulation
        self._listed = -1, {}
        end = sim.step_count + steps
        while sim.step_count < end and not reached(sim.time, until):
            before = sim.time
            moment = min(until, self._events.following(before)) if self.walls.steady else before
            sim.run(min(max(1, steps_until(before, moment, sim.dt)), end - sim.step_count))
            due = self._events.due(before, sim.time)
            if "motion" in due or not self.walls.steady:
                self.walls.set_motions(sim.time, sim.dt)
            self.feeder.drain(k for k in range(len(self.scene.dem.outlets)) if f"outlet {k}" in due)
            if "emitters" in due:
                self.feeder.emit()

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns in the table."""
        loads = [
            f"{wall.name}.{what}" for wall in self.simulation.walls for what in ("fx", "fy", "fz", "tx", "ty", "tz")
        ]
        return ["bodies", "contacts", "contacts_per_body", *ENERGIES, *loads]

    def row(self) -> Sequence[float]:
        """Return the number of bodies and contacts, energies, and forces on walls."""
        sim = self.simulation
        contacts = sim.contacts()
        if self.scene.output.contacts:
            self._listed = sim.step_count, contacts
        energies = sim.energies(contacts)
        loads = [float(x) for wall in sim.walls for x in (*wall.force, *wall.torque)]
        return [
            sim.total,
            sim.contact_count(),
            float(f"{self._coordination(contacts):.6g}"),
            *(float(energies[name]) for name in ENERGIES),
            *loads,
        ]

    def _coordination(self, contacts: Mapping[str, Any]) -> float:
        """Return the mean number of contacts of a body; a contact between two bodies counts for both."""
        bodies = len(self)
        if not bodies:
            return 0.0
        own = np.array([len(contacts["i"]), (contacts["wall"] >= 0).sum()], np.int64)
        touching, with_walls = self.simulation.summed(own).tolist()
        return float((2 * (touching - with_walls) + with_walls) / bodies)

    def frames(self) -> Mapping[str, Frame]:
        """Return the present frames of the time series: those of the bodies of this rank, and on rank 0 the walls."""
        sim = self.simulation
        touching: Mapping[str, Any] = {}
        if self.scene.output.contacts:
            step, listed = self._listed
            touching = listed if step == sim.step_count else sim.contacts()
            self._listed = -1, {}
        return self._frames.of(sim.snapshot(touching), walls=sim.rank == 0)

    def status(self) -> str:
        """Return the number of contacts."""
        return f"{self.simulation.contact_count():,} contacts"

    def summary(self) -> Sequence[str]:
        """Return lines with the numbers of bodies and walls, and the time step."""
        sim, times = self.simulation, self.times
        bodies, walls = sim.total, len(sim.walls)
        parts = [f"{times.collision_fraction:.3g} of the collision time ({times.collision:.3g} s)"]
        if times.rayleigh_fraction > 0:
            parts.append(f"{times.rayleigh_fraction:.3g} of the Rayleigh time ({times.rayleigh:.3g} s)")
        lines = [
            f"{bodies:,} {'body' if bodies == 1 else 'bodies'}, {walls:,} {'wall' if walls == 1 else 'walls'}",
            f"time step {sim.dt:.4g} s = {' = '.join(parts)}",
        ]
        if self.overlaps.bodies:
            lines.append(f"overlaps at the start: {self.overlaps}")
        elastic = [name for name, m in sim.materials.items() if m.restitution in {None, 1} and m.gamma_n is None]
        if elastic:
            lines.append(f"restitution 1: collisions of {', '.join(elastic)} lose no energy")
        for name, material in sim.materials.items():
            unused = LAWS[sim.law].unused(material)
            if unused:
                lines.append(f'{", ".join(unused)} of {name}: no effect with the law "{sim.law}"')
        # Files have no units: a drawing in millimetres is a thousand times too large without scale = 0.001.
        for wall in sim.walls:
            if isinstance(wall, MeshWall):
                size = " × ".join(f"{edge:.3g}" for edge in np.ptp(wall.vertices, axis=0))
                lines.append(f"{wall.name}: mesh of {len(wall.faces):,} triangles, {size} m")
        return lines

    def report(self) -> Mapping[str, Any]:
        """Return counts, time step and statistics."""
        sim, times = self.simulation, self.times
        return {
            "bodies": sim.total,
            "removed": self.feeder.removed,
            "contacts": sim.contact_count(),
            "overlaps_at_start": asdict(self.overlaps),
            "crossings": dict(sim.crossings),
            "time_step": {
                "dt": sim.dt,
                "collision_time": times.collision,
                "fraction_of_collision_time": times.collision_fraction,
                "rayleigh_time": times.rayleigh,
                "fraction_of_rayleigh_time": times.rayleigh_fraction,
            },
            "engine": {name: float(value) for name, value in asdict(sim.stats).items()},
        }


def _timetable(scene: Scene, dt: float, motions: Sequence[float]) -> Timetable:
    """Return when outlets, emitters and motions of walls are due."""
    every = {f"outlet {place}": outlet.every for place, outlet in enumerate(scene.dem.outlets)}
    pauses = [_pause(insert, dt) for insert in scene.dem.insert if isinstance(insert, Emitter)]
    if pauses:
        every["emitters"] = min(pauses)
    return Timetable(every=every, at={"motion": motions})


def _pause(insert: Emitter, dt: float) -> float:
    """Return the time between two attempts of an emitter."""
    if insert.every is not None:
        return insert.every
    # A search among all bodies takes about as long as a step, so at most one in a hundred steps has one.
    return max(100 * dt, 1 / insert.rate if insert.rate is not None else -math.inf)


SOLVER = GrainSolver
