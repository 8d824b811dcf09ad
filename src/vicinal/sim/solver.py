"""The interface between the run loop and a numerical method.

A solver owns the particles of one method (grains, a fluid) and advances them in time. The run loop (`vicinal.sim.run`)
owns the rest: the clock, progress, tables, time series, restart files and the folder of results. Coupled methods
(grains in a fluid) are one solver that consists of two: it has the same interface, and its `advance` exchanges forces
between them.

To add a method, write a package `vicinal.<name>` with a module `solver` that defines ``SOLVER``, a class with this
interface; add one line to `SOLVERS`; and add one key of that name to `vicinal.sim.scene.Scene`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Protocol, Self, TypeVar

from vicinal.errors import InputError
from vicinal.sim.schema import Section
from vicinal.sim.vtkhdf import Frame

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

    from vicinal.sim.scene import Scene

SOLVERS: Mapping[str, str] = {"dem": "vicinal.dem.solver", "sph": "vicinal.sph.solver"}
"""Modules that define ``SOLVER``, by the name of the table that describes the solver in a scene."""

COUPLED: Mapping[tuple[str, ...], str] = {("dem", "sph"): "vicinal.coupled.solver"}
"""Modules that define ``SOLVER`` for scenes with several of these tables."""


class SimulationWarning(UserWarning):
    """A warning of a solver during a run; the run loop reports each one once."""


class UnstableError(FloatingPointError):
    """The state of a solver is invalid: numbers are not finite, or particles are too fast.

    Parameters
    ----------
    message
        What happened, to which particle, and the remedy.
    time, step
        Time and step at which the fault was detected.
    """

    def __init__(self, message: str, *, time: float, step: int) -> None:
        super().__init__(message)
        self.time, self.step = time, step
        self.last_good: Path | None = None
        """The last restart file that the run loop wrote before the fault, or None."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle with all attributes, which is how errors return from other processes."""
        return partial(type(self), time=self.time, step=self.step), self.args, self.__dict__

    def name_last_good(self, file: Path | None, time: float) -> None:
        """Add the place of the last good state to the message."""
        self.last_good = file
        known = f"the last good state is {file} (t = {time:.6g})" if file else "no restart file was written before"
        self.args = (f"{self}; {known}",)


@dataclass(frozen=True, kw_only=True)
class SolverSection(Section):
    """The table of a solver in a scene."""

    RESTARTABLE: ClassVar[tuple[str, ...]] = ()
    """Keys that a restart may change."""

    def check_scene(self, scene: Scene) -> None:
        """Check conditions on the common tables, such as names of regions and materials of walls."""

    def flat(self) -> bool:
        """Return whether the particles lie in a plane."""
        return False


class Solver(Protocol):
    """The interface of a numerical method to the run loop.

    Several MPI ranks may share the particles. All of them then call every method together. Tables and states are
    complete on rank 0. Frames are pieces: each rank returns those of its own particles, and rank 0 also what all ranks
    have, such as walls; a rank without particles of a series may leave it out.
    """

    NAME: ClassVar[str]
    """Name of its table in a scene."""

    SECTION: ClassVar[type[SolverSection]]
    """Schema of that table."""

    @classmethod
    def build(cls, scene: Scene, comm: Intracomm | None = None) -> Self:
        """Return the solver at time 0, with its particles in place and its time step set."""

    @classmethod
    def restore(cls, scene: Scene, state: Mapping[str, Any], comm: Intracomm | None = None) -> Self:
        """Return the solver that has the given `state`; it continues bit for bit, on any number of ranks."""

    def state(self) -> dict[str, Any]:
        """Return all data that `restore` needs: arrays, numbers and strings, possibly in nested dictionaries."""

    @property
    def time(self) -> float:
        """Simulated time."""

    @property
    def step_count(self) -> int:
        """Steps since time 0."""

    def __len__(self) -> int:
        """Return the number of particles."""

    def advance(self, until: float, steps: int) -> None:
        """Advance until `until` is reached (see `vicinal.sim.clock.reached`), but by at most `steps` steps.

        Results must not depend on how an interval of time is divided into calls. The solver handles its own events,
        such as inflow or a change of the motion of a wall, during the call.
        """

    @property
    def columns(self) -> Sequence[str]:
        """Names of its columns in the table of results; they stay the same during a run."""

    def row(self) -> Sequence[float]:
        """Return the present values of these columns."""

    def frames(self) -> Mapping[str, Frame]:
        """Return the present frames of the time series, by the names of their files."""

    def status(self) -> str:
        """Return a short text for the progress bar."""

    def summary(self) -> Sequence[str]:
        """Return lines that describe the run before it starts: number of particles, time step."""

    def report(self) -> Mapping[str, Any]:
        """Return facts and statistics for the report of the run."""


class SceneSolver(ABC):
    """What solvers that are made from a scene and a state have in common."""

    scene: Scene

    @abstractmethod
    def __init__(self, scene: Scene, state: Mapping[str, Any] | None = None, *, comm: Intracomm | None = None) -> None:
        """Continue from a state, or begin at time 0; `comm` has the ranks that share the particles."""

    @classmethod
    def build(cls, scene: Scene, comm: Intracomm | None = None) -> Self:
        """Return the solver at time 0."""
        return cls(scene, comm=comm)

    @classmethod
    def restore(cls, scene: Scene, state: Mapping[str, Any], comm: Intracomm | None = None) -> Self:
        """Return the solver that has the given `state`."""
        return cls(scene, state, comm=comm)

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return all data that `restore` needs."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the state, so that all parts of the copy refer to one simulation."""
        return type(self).restore, (self.scene, self.state())


class Simulated(Protocol):
    """What solvers ask of the simulation of one method."""

    @property
    def time(self) -> float:
        """Simulated time."""

    @property
    def step_count(self) -> int:
        """Steps since time 0."""

    @property
    def total(self) -> int:
        """Number of particles, on all ranks."""


AnySimulation = TypeVar("AnySimulation", bound=Simulated)


class MethodSolver(SceneSolver, Generic[AnySimulation]):
    """A solver of one method, whose simulation has the particles and the time."""

    simulation: AnySimulation

    @property
    def time(self) -> float:
        """Simulated time."""
        return self.simulation.time

    @property
    def step_count(self) -> int:
        """Steps since time 0."""
        return self.simulation.step_count

    def __len__(self) -> int:
        """Return the number of particles, on all ranks."""
        return self.simulation.total


def solver_class(*names: str) -> type[Solver]:
    """Return the solver class for a table of a scene, or for several together; imports its package.

    Examples
    --------
    >>> solver_class("dem").NAME, solver_class("dem", "sph").NAME
    ('dem', 'coupled')
    """
    if len(names) > 1 and names not in COUPLED:
        raise InputError(f"a scene must have one solver, got {' and '.join(names)}; there is no coupling between them")
    solver: type[Solver] = import_module(SOLVERS[names[0]] if len(names) == 1 else COUPLED[names]).SOLVER
    return solver
