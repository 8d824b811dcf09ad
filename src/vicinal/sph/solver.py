"""A fluid as a solver of `vicinal.sim`: the table ``sph`` of a scene, taken through time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from vicinal.sim.clock import ROUNDING
from vicinal.sim.folder import PARTICLES, WALLS
from vicinal.sim.scene import Scene
from vicinal.sim.solver import MethodSolver, SolverSection
from vicinal.sim.vtkhdf import Frame, vertices
from vicinal.sph.build import build, make_ends, make_guard, make_motion, make_walls
from vicinal.sph.config import COLUMNS, ENERGIES, Sph
from vicinal.sph.probes import FluidSample, Probes
from vicinal.sph.simulation import SOLVED, Simulation
from vicinal.sph.solids import Solid

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

LIMITS = ("sound", "force", "viscosity", "shifting", "tension", "flow", "pressure")
"""What limits a step, in the order of the numbers in the table."""


class FluidSolver(MethodSolver[Simulation]):
    """A fluid with its walls.

    Parameters
    ----------
    scene
        The scene, with a table ``sph``.
    state
        The state to continue from; time 0 if left out.
    solids
        Bodies in the fluid, inside of which there is none at the start.
    comm
        An mpi4py communicator whose ranks share the fluid.
    """

    NAME: ClassVar[str] = "sph"
    SECTION: ClassVar[type[SolverSection]] = Sph

    def __init__(
        self,
        scene: Scene,
        state: Mapping[str, Any] | None = None,
        *,
        solids: Sequence[Solid] = (),
        comm: Intracomm | None = None,
    ) -> None:
        self.scene = scene
        self.walls = make_walls(scene)
        if state is None:
            self.simulation = build(scene, self.walls, solids, comm)
        else:
            guard = make_guard(self.walls, scene.sph)
            ends = make_ends(scene)
            kept = Simulation.restore(state["simulation"], ends=ends, guard=guard, comm=comm)
            motion = make_motion(self.walls, kept.walls)
            self.simulation = (
                kept
                if motion is None
                else Simulation.restore(state["simulation"], wall_motion=motion, ends=ends, guard=guard, comm=comm)
            )
        self.probes = Probes(scene.sph.probes)
        self._kind = np.float32 if scene.output.precision == "single" else np.float64

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs."""
        return {"simulation": self.simulation.state()}

    def advance(self, until: float, steps: int) -> None:
        """Take steps until `until` is reached, but at most `steps` of them; none passes the end of the run."""
        with self.simulation.ending_at(self.scene.run.duration):
            self.simulation.advance(until * (1 - ROUNDING), steps)

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns in the table."""
        return [*COLUMNS, *(SOLVED if self.simulation.scheme == "dfsph" else ()), *self.probes.columns]

    def row(self) -> Sequence[float]:
        """Return step, speed, compression, energies, how many particles walls have put back, and what probes measure.

        What limits the step is given by its number in `LIMITS`. Iterations and errors of the solvers of dfsph follow.
        """
        sim = self.simulation
        energies = sim.energies()
        compression = sim.compression()
        values = [float(energies[name]) for name in ENERGIES]
        held = sum(sim.held.values())
        own = [sim.total, sim.dt, LIMITS.index(sim.limit), sim.largest_speed, compression, *values, sum(values), held]
        if sim.scheme == "dfsph":
            own += sim.solved.values()
        return own + list(self.probes.measure(FluidSample.of(sim)).values() if self.probes.probes else ())

    def frames(self) -> Mapping[str, Frame]:
        """Return the particles of this rank for the time series, and on rank 0 the walls."""
        sim = self.simulation
        count = len(sim)
        data = {
            "radius": self._short(np.full(count, 0.5 * sim.spacing)),
            "velocity": self._short(_space(sim.velocities)),
            "density": self._short(sim.densities),
            "pressure": self._short(sim.pressures),
            "phase": sim.phase,
            "surface": sim.surface.astype(np.int32),
            "id": sim.ids.astype(np.int32),
        }
        frames = {PARTICLES: Frame(sim.time, self._short(_space(sim.positions)), vertices(count), data)}
        if sim.rank == 0 and self.scene.output.walls and self.walls.all():
            if sim.wall_motion is not None:
                sim.wall_motion.place(sim.time)
            frames[WALLS] = self.walls.frame(sim.time, self._kind)
        return frames

    def _short(self, values: npt.NDArray[np.float64]) -> npt.NDArray[np.floating]:
        return np.asarray(values, dtype=self._kind)

    def status(self) -> str:
        """Return what limits the step."""
        return f"dt {self.simulation.dt:.3g} by {self.simulation.limit}"

    def summary(self) -> Sequence[str]:
        """Return lines with the numbers of particles, the speed of sound and the step."""
        sim = self.simulation
        return [
            f"{sim.total:,} particles, {len(sim.wall_positions):,} in walls, spacing {sim.spacing:.4g}",
            ("" if sim.scheme == "dfsph" else f"speed of sound {sim.sound_speed:.4g}, ")
            + f"first step {sim.dt:.4g} limited by {sim.limit}",
        ]

    def report(self) -> Mapping[str, Any]:
        """Return counts, the step and energies."""
        sim = self.simulation
        return {
            "particles": sim.total,
            "wall_particles": len(sim.wall_positions),
            "sound_speed": sim.sound_speed,
            "time_step": {"dt": sim.dt, "limit": sim.limit},
            "energies": dict(sim.energies()),
            "held": dict(sim.held),
        }


def _space(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return vectors in space; those of the plane get a third number 0."""
    return vectors if vectors.shape[1] == 3 else np.column_stack([vectors, np.zeros(len(vectors))])


SOLVER = FluidSolver
