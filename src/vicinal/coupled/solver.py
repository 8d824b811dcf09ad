"""Grains in a fluid as a solver of `vicinal.sim`: the tables ``dem`` and ``sph`` of one scene."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from vicinal.coupled.coupling import Coupling
from vicinal.coupled.immersed import solids_of_bodies
from vicinal.dem.solver import GrainSolver
from vicinal.sim.clock import ROUNDING
from vicinal.sim.folder import BODIES, PARTICLES
from vicinal.sim.scene import Scene
from vicinal.sim.solver import SceneSolver, SolverSection
from vicinal.sim.vtkhdf import Frame
from vicinal.sph.config import Sph
from vicinal.sph.solver import FluidSolver

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm


class CoupledSolver(SceneSolver):
    """A fluid and the bodies in it.

    Parameters
    ----------
    scene
        The scene, with the tables ``dem`` and ``sph``.
    state
        The state to continue from; time 0 if left out.
    comm
        An mpi4py communicator whose ranks share the fluid; each has all of the bodies.
    """

    NAME: ClassVar[str] = "coupled"
    SECTION: ClassVar[type[SolverSection]] = Sph

    def __init__(self, scene: Scene, state: Mapping[str, Any] | None = None, *, comm: Intracomm | None = None) -> None:
        self.scene = scene
        self.grains = GrainSolver(scene, None if state is None else state["dem"])
        solids = solids_of_bodies(self.grains.simulation, scene.sph.dim) if state is None else []
        self.fluid = FluidSolver(scene, None if state is None else state["sph"], solids=solids, comm=comm)
        self.coupling = Coupling(
            self.grains.simulation,
            self.fluid.simulation,
            advance_grains=self._advance_grains,
            state=None if state is None else state["coupling"],
        )
        if scene.dem.dt is not None:  # a restart may change it
            self.coupling.longest_step = scene.dem.dt

    def _advance_grains(self, steps: int) -> None:
        sim = self.grains.simulation
        self.grains.advance(sim.time + 2 * steps * sim.dt, steps)

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs."""
        return {"dem": self.grains.state(), "sph": self.fluid.state(), "coupling": self.coupling.state()}

    @property
    def time(self) -> float:
        """Simulated time."""
        return self.coupling.time

    @property
    def step_count(self) -> int:
        """Steps of the fluid since time 0."""
        return self.fluid.step_count

    def __len__(self) -> int:
        """Return the number of fluid particles and bodies."""
        return len(self.fluid) + len(self.grains)

    def advance(self, until: float, steps: int) -> None:
        """Take steps until `until` is reached, but at most `steps` of them; none passes the end of the run."""
        with self.fluid.simulation.ending_at(self.scene.run.duration):
            self.coupling.advance(until * (1 - ROUNDING), steps)

    @property
    def columns(self) -> Sequence[str]:
        """Names of the columns in the table: those of the fluid, then those of the bodies."""
        return [f"{part.NAME}.{name}" for part in (self.fluid, self.grains) for name in part.columns]

    def row(self) -> Sequence[float]:
        """Return the values of these columns."""
        return [*self.fluid.row(), *self.grains.row()]

    def frames(self) -> Mapping[str, Frame]:
        """Return the particles of this rank, and on rank 0 bodies, their contacts and surfaces, and walls."""
        if self.fluid.simulation.rank:
            return self.fluid.frames()
        frames = dict(self.grains.frames())
        frames[BODIES] = frames.pop(PARTICLES)
        return dict(self.fluid.frames()) | frames

    def status(self) -> str:
        """Return what limits the step, and the number of contacts."""
        return f"{self.fluid.status()}, {self.grains.status()}"

    def summary(self) -> Sequence[str]:
        """Return the lines of both parts."""
        return [*self.fluid.summary(), *self.grains.summary()]

    def report(self) -> Mapping[str, Any]:
        """Return the facts of both parts."""
        return {part.NAME: dict(part.report()) for part in (self.fluid, self.grains)}


SOLVER = CoupledSolver
