"""The interface between the run loop and a numerical method.

A solver owns the particles of one method (grains, a fluid) and advances them in time. The run loop (`vicinal.sim.run`)
owns everything else: the clock, progress, tables, time series, restart files and the folder of results. Methods that
are coupled (grains in a fluid) are one solver made of two: it has the same interface, and its `advance` exchanges
forces between them.

Adding a method: a package `vicinal.<name>` with a module `solver` that defines ``SOLVER``, a class with this interface;
one line in `SOLVERS`; and one key of its name in `vicinal.sim.scene.Scene`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

from vicinal.sim.schema import Section
from vicinal.sim.vtkhdf import Frame

if TYPE_CHECKING:
    from vicinal.sim.scene import Scene

SOLVERS: Mapping[str, str] = {"dem": "vicinal.dem.solver"}
"""Modules that define ``SOLVER``, by the name of the table that describes the solver in a scene."""


class SimulationWarning(UserWarning):
    """A warning of a solver about the course of a run; the run loop collects and reports each one once."""


class UnstableError(FloatingPointError):
    """The state of a solver has become useless: numbers that are not finite, or particles that fly apart.

    Parameters
    ----------
    message
        What has happened to which particle, and what to do.
    time, step
        When it was noticed.
    """

    def __init__(self, message: str, *, time: float, step: int) -> None:
        super().__init__(message)
        self.time, self.step = time, step
        self.last_good: Path | None = None
        """The restart file written last before, if a run loop wrote one."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle with all attributes: errors come back from other processes in this way."""
        return partial(type(self), time=self.time, step=self.step), self.args, self.__dict__

    def name_last_good(self, file: Path | None, time: float) -> None:
        """Say in the message where the last good state is."""
        self.last_good = file
        known = f"the last good state is {file} (t = {time:.6g})" if file else "no restart file was written before"
        self.args = (f"{self}; {known}",)


@dataclass(frozen=True, kw_only=True)
class SolverSection(Section):
    """The table of a solver in a scene."""

    RESTARTABLE: ClassVar[tuple[str, ...]] = ()
    """Keys that a restart may change."""

    def check_scene(self, scene: Scene) -> None:
        """Check what depends on the common tables: names of regions, materials of walls and the like."""


class Solver(Protocol):
    """A numerical method, as the run loop sees it."""

    NAME: ClassVar[str]
    """Name of its table in a scene."""

    SECTION: ClassVar[type[SolverSection]]
    """Schema of that table."""

    @classmethod
    def build(cls, scene: Scene) -> Self:
        """Make the solver at time 0, with its particles in place and its step chosen."""

    @classmethod
    def restore(cls, scene: Scene, state: Mapping[str, Any]) -> Self:
        """Make the solver whose `state` this was; from there it continues bit for bit."""

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs: arrays, numbers and strings, possibly in nested dictionaries."""

    @property
    def time(self) -> float:
        """Simulated time."""

    @property
    def step_count(self) -> int:
        """Steps since time 0."""

    def __len__(self) -> int:
        """Return the number of particles."""

    def advance(self, until: float, steps: int) -> None:
        """Take steps until `until` is reached (see `vicinal.sim.clock.reached`), but at most `steps` of them.

        How a stretch of time is divided into calls must not change any result. Events of the solver itself, such as
        inflow or a change of the motion of a wall, happen inside.
        """

    @property
    def columns(self) -> Sequence[str]:
        """Names of its columns in the table of results; they stay the same during a run."""

    def row(self) -> Sequence[float]:
        """Return the values of these columns at this moment."""

    def frames(self) -> Mapping[str, Frame]:
        """Return this moment for the time series, by the names of their files."""

    def status(self) -> str:
        """Return a few words for the progress bar."""

    def summary(self) -> Sequence[str]:
        """Return lines that describe the run before it starts: number of particles, time step."""

    def report(self) -> Mapping[str, Any]:
        """Return facts and statistics for the report of the run."""


def solver_class(name: str) -> type[Solver]:
    """Return the solver of a table of a scene; its package is imported only now.

    Examples
    --------
    >>> solver_class("dem").NAME
    'dem'
    """
    solver: type[Solver] = import_module(SOLVERS[name]).SOLVER
    return solver
