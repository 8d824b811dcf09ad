"""The run loop: it advances a solver in time and keeps the folder of results valid at every moment."""

from __future__ import annotations

import json
import math
import shutil
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import vicinal as vc
from vicinal._check import check_path
from vicinal.distributed.agreement import check_same
from vicinal.errors import InputError
from vicinal.io.atomic import remove_leftovers, replace_file
from vicinal.machine import describe, now
from vicinal.sim.clock import Timetable, reached
from vicinal.sim.folder import REPORT, RESTART, SCENE, TABLE
from vicinal.sim.interrupt import Interrupt, terminable
from vicinal.sim.lock import FolderLock
from vicinal.sim.output import PictureWriter
from vicinal.sim.progress import Progress
from vicinal.sim.restart import load_restart, restart_file, save_restart
from vicinal.sim.scene import Scene, read
from vicinal.sim.schema import plain
from vicinal.sim.solver import SimulationWarning, Solver, SolverSection, UnstableError, solver_class
from vicinal.sim.table import Table
from vicinal.sim.team import Team
from vicinal.sim.toml import dump, parse

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

CHUNK_SECONDS = 0.2
"""Target duration of a chunk of steps; between chunks, progress is reported and Ctrl-C is handled."""


@dataclass(frozen=True)
class Result:
    """The result of a run."""

    folder: Path
    status: str
    """``"finished"`` or ``"interrupted"``; a run that fails raises an error instead."""

    solver: Any
    """The solver at the end."""

    progress: Progress
    profile: dict[str, float]
    """Wall-clock seconds per activity."""


class RunLoop:
    """Runs the simulation of a scene.

    Parameters
    ----------
    scene
        The scene to simulate.
    folder
        The folder for the results; created if it does not exist.
    restart
        A restart file to continue from, or the folder of results that holds it. The scene may then differ only in
        ``run.duration``, ``run.threads``, ``output``, ``picture``, ``title`` and the keys that the solver allows
        (``dem.dt``, ``dem.materials``, ``dem.pairs``).
    overwrite
        Replace the results of another run in this folder.
    comm
        An mpi4py communicator whose ranks share the particles. All ranks make the loop and follow it;
        each writes the frames of its particles, and rank 0 all other results.
    """

    def __init__(
        self,
        scene: Scene,
        folder: Path | str,
        *,
        restart: Path | str | None = None,
        overwrite: bool = False,
        comm: Intracomm | None = None,
    ) -> None:
        if not isinstance(scene, Scene):
            raise InputError(f"scene must be a Scene, got {scene!r}; read a file with sim.load(path)")
        self.scene = scene
        self.team = Team(comm)
        self.folder = check_path(folder, "folder")
        self._check_same(restart)
        self.profile = dict.fromkeys(("setup", "solver", "frames", "table", "restart"), 0.0)
        self.status = "prepared"
        self._interrupt = Interrupt()
        self._chunk = 1
        self._particle_steps = 0.0
        self._start = self._going = perf_counter()
        self._warnings: list[str] = []
        self._machine = describe(("numpy", "h5py")) | {"threads": scene.run.threads or vc.get_threads()}
        restart = None if restart is None else restart_file(Path(restart))
        states = None if restart is None else _states(scene, restart)
        self._last_good: tuple[Path, float] | None = None
        self._failure: str | None = None
        self._lock = self.team.first(self._take_folder)
        try:
            self.team.first(lambda: self._prepare_folder(fresh=restart is None, overwrite=overwrite))
            self._begin_run(states, restart)
        except BaseException:
            self._release()
            raise

    def _check_same(self, restart: Path | str | None) -> None:
        """Check that all ranks have read the same scene."""
        if self.team.comm is not None:
            check_same(self.team.comm, {"folder": self.folder, "restart": restart, **self.scene.table()})

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def _begin_run(self, states: Mapping[str, Any] | None, restart: Path | None) -> None:
        """Make the solver, and write the first results."""
        scene, fresh = self.scene, states is None
        with self._timed("setup"), self._threads(), self._collecting_warnings():
            self.solver = make_solver(scene, states, self.team.comm)
        self._begin, self._begin_step = self.solver.time, self.solver.step_count
        if restart is not None:
            self._last_good = restart, self._begin
            if reached(self._begin, scene.run.duration):
                raise InputError(
                    f"run.duration must be above {self._begin:.6g}, the time of {restart}, got {scene.run.duration:g}; "
                    "a restart continues from that time"
                )
        self._events = _timetable(scene)
        self.frames = PictureWriter(self.folder, keep=None if fresh else self._begin, team=self.team)
        if self.team.writes:
            self.table = Table(self.folder / TABLE, self.solver.columns, keep=None if fresh else self._begin_step)
            replace_file(self.folder / SCENE, dump(scene.table()).encode())
        self._report()
        if fresh:
            self._write("table")
            self._write("frames")

    def go(self) -> Iterator[Progress]:
        """Run to the end, and yield the progress after every chunk of steps.

        Ctrl-C and SIGTERM stop it after the current chunk of steps. Any error ends the run as ``"failed"``; the results
        up to then are complete. If the solver fails (`UnstableError`), its state is not written, and the error names
        the last good state.
        """
        self.status = "running"
        self._going = perf_counter()
        duration = self.scene.run.duration
        try:
            with self._interrupt.listening(), self._threads():
                stop, _ = self.team.agree(stop=bool(self._interrupt), chunk=self._chunk)
                while not reached(self.solver.time, duration) and not stop:
                    self._advance(min(self._events.following(self.solver.time), duration))
                    yield self.progress()
                    stop, self._chunk = self.team.agree(stop=bool(self._interrupt), chunk=self._chunk)
            if stop:
                self.save()
            self._end("interrupted" if stop else "finished")
        except GeneratorExit:  # the caller has stopped iterating
            raise
        except BaseException as error:
            if isinstance(error, UnstableError):
                error.name_last_good(*(self._last_good or (None, 0.0)))
            self._fail(str(error) or type(error).__name__)
            raise
        finally:
            self._release()

    def _end(self, status: str) -> None:
        with self._timed("frames"):
            self.frames.close()
        self.status = status
        self._report()

    def _fail(self, message: str) -> None:
        """End the run after an error. Further errors, such as a full disk, must not hide the first one."""
        self._failure = message
        if not self.team.writes:
            return
        with suppress(Exception), self._timed("frames"):
            self.frames.rescue()
        self.status = "failed"
        with suppress(Exception):
            self._report()

    def _facts(self) -> tuple[Progress, dict[str, Any]]:
        """Return the progress, and the report of the solver.

        After an error on several ranks these are the last ones, since the other ranks may not answer.
        """
        if self._failure is None or self.team.comm is None:
            self._known = self.progress(), dict(self.solver.report())
        return self._known

    def _advance(self, until: float) -> None:
        """Advance by a chunk of steps, and write the results that are due."""
        solver = self.solver
        before, first, begin = solver.time, solver.step_count, perf_counter()
        with self._collecting_warnings():
            solver.advance(until, self._chunk)
        seconds, steps = perf_counter() - begin, solver.step_count - first
        self.profile["solver"] += seconds
        self._particle_steps += steps * len(solver)
        # The chunk grows at most twofold, so that one fast chunk does not make the next one too long.
        self._chunk = max(1, int(min(steps * CHUNK_SECONDS / max(seconds, 1e-9), 2 * self._chunk)))
        due = self._events.due(before, solver.time)
        last = reached(solver.time, self.scene.run.duration)
        # The restart file is written last: its existence implies that all earlier results are written.
        for name in ("table", "frames", "restart"):
            if name in due or last:
                self._write(name)

    def _write(self, name: str) -> None:
        if name == "restart":
            self.save()
            self._report()
            return
        with self._timed(name):
            if name == "table":
                row = self._row()
                if self.team.writes:
                    self.table.append(self.solver.step_count, self.solver.time, row)
            else:
                self.frames.append(self.solver.frames())

    def _row(self) -> Sequence[float]:
        """Return a line of the table; raise `UnstableError` if a value is not finite."""
        row = self.solver.row()
        for name, value in zip(self.solver.columns, row, strict=True):
            if not math.isfinite(value):
                time, step = self.solver.time, self.solver.step_count
                raise UnstableError(f"{name} is no longer finite at t = {time:.6g}, step {step}", time=time, step=step)
        return row

    def save(self) -> None:
        """Write the restart file."""
        with self._timed("restart"):
            states = {self.solver.NAME: self.solver.state()}
            if self.team.writes:
                save_restart(self.folder / RESTART, dump(self.scene.table()), states)
        self._last_good = self.folder / RESTART, self.solver.time

    @property
    def last_good(self) -> Path | None:
        """The restart file to continue from: the last one written, or the one the run began with."""
        return None if self._last_good is None else self._last_good[0]

    def progress(self) -> Progress:
        """Return the progress of the run."""
        return Progress(
            time=self.solver.time,
            duration=self.scene.run.duration,
            step=self.solver.step_count,
            particles=len(self.solver),
            status=self.solver.status(),
            begin=self._begin,
            done=self.solver.step_count - self._begin_step,
            elapsed=perf_counter() - self._going,
            seconds=self.profile["solver"],
            particle_steps=self._particle_steps,
        )

    @property
    def warnings(self) -> list[str]:
        """Warnings of the solver, without repetitions."""
        return list(dict.fromkeys(self._warnings))

    def result(self) -> Result:
        """Return the result of the run."""
        return Result(self.folder, self.status, self.solver, self.progress(), dict(self.profile))

    # --- the folder of results ----------------------------------------------------------------------------------------

    def _take_folder(self) -> FolderLock:
        """Create the folder and lock it."""
        for place in (self.folder, *self.folder.parents):
            if place.exists() and not place.is_dir():
                where = "" if place == self.folder else f" in {self.folder}"
                raise InputError(f"the output must be a folder, got the file {place}{where}; choose another name")
        self.folder.mkdir(parents=True, exist_ok=True)
        return FolderLock(self.folder)

    def _prepare_folder(self, *, fresh: bool, overwrite: bool) -> None:
        report = self.folder / REPORT
        if fresh and report.exists():
            if not overwrite:
                raise FileExistsError(
                    f"{self.folder}: holds the results of another run; choose another folder, or overwrite them"
                )
            # Remove series that this run does not write, since they would look like results of it.
            for name in [TABLE, RESTART, REPORT, *(path.name for path in self.folder.glob("*.vtkhdf"))]:
                (self.folder / name).unlink(missing_ok=True)
                shutil.rmtree(self.folder / f"{name}.parts", ignore_errors=True)
        for folder in (self.folder, *self.folder.glob("*.parts")):
            remove_leftovers(folder)

    def _report(self) -> None:
        """Write versions, status and timings of the run to the folder of results."""
        progress, of_solver = self._facts()
        if not self.team.writes:
            return
        facts: dict[str, Any] = {
            "status": self.status,
            **({} if self._failure is None else {"error": self._failure}),
            "title": self.scene.title,
            "written": now(),
            "machine": self._machine,
            "time": progress.time,
            "step": progress.step,
            "particles": progress.particles,
            self.solver.NAME: of_solver,
            "warnings": self.warnings,
            "profile": {
                "seconds": {name: round(value, 6) for name, value in self.profile.items()},
                "wall_clock_seconds": round(perf_counter() - self._start, 6),
                "particle_steps": progress.particle_steps,
                "particle_steps_per_second": progress.rate,
            },
        }
        replace_file(self.folder / REPORT, json.dumps(_finite(facts), indent=2, allow_nan=False).encode() + b"\n")

    # --- around the solver --------------------------------------------------------------------------------------------

    def _threads(self) -> Any:
        threads = self.scene.run.threads
        return nullcontext() if threads is None else vc.threads(threads)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            self.profile[name] += perf_counter() - begin

    @contextmanager
    def _collecting_warnings(self) -> Iterator[None]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", SimulationWarning)
            yield
        for warning in caught:
            if issubclass(warning.category, SimulationWarning):
                self._warnings.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)


def run(
    scene: Scene,
    folder: Path | str,
    *,
    restart: Path | str | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
    comm: Intracomm | None = None,
) -> Result:
    """Simulate a scene, and write the results into a folder.

    Parameters
    ----------
    scene, folder, restart, overwrite, comm
        As for `RunLoop`.
    progress
        Called with the progress after every chunk of steps.

    Returns
    -------
    result
        Contains the solver in its final state. After Ctrl-C, ``result.status`` is ``"interrupted"``; results and
        restart file are complete up to that moment.

    Examples
    --------
    >>> import tempfile
    >>> from vicinal import sim
    >>> scene = sim.Scene(
    ...     run={"duration": 0.01},
    ...     walls=[{"shape": "plane", "material": "glass", "point": [0, 0, 0], "normal": [0, 0, 1]}],
    ...     dem={
    ...         "dt": 1e-5,
    ...         "materials": {
    ...             "glass": {"youngs_modulus": 1e7, "poisson_ratio": 0.25, "density": 2500, "friction": 0.4}
    ...         },
    ...         "bodies": {"bead": {"material": "glass", "radius": 0.003}},
    ...         "insert": [{"kind": "place", "bodies": "bead", "positions": [[0, 0, 0.01]]}],
    ...     },
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = sim.run(scene, folder)
    >>> result.status, result.progress.step
    ('finished', 1000)
    """
    with terminable():
        loop = RunLoop(scene, folder, restart=restart, overwrite=overwrite, comm=comm)
        try:
            for state in loop.go():
                if progress is not None:
                    progress(state)
        finally:  # a run that fails was often warned of
            for message in loop.warnings:
                warnings.warn(message, SimulationWarning, stacklevel=2)
    return loop.result()


def make_solver(scene: Scene, states: Mapping[str, Any] | None = None, comm: Intracomm | None = None) -> Solver:
    """Return the solver of a scene, at time 0 or in the state of a restart file."""
    kind = solver_class(*scene.solvers())
    shared = None if comm is None or comm.size == 1 else comm
    return kind.build(scene, shared) if states is None else kind.restore(scene, states[kind.NAME], shared)


def restart_scene(path: Path | str, settings: list[str] | tuple[str, ...] = ()) -> Scene:
    """Return the scene of a restart file, with some values replaced."""
    text, _ = load_restart(Path(path))
    source = parse(text, str(path))
    for setting in settings:
        source.override(setting)
    return read(source)


def _states(scene: Scene, path: Path) -> dict[str, Any]:
    """Read the states of a restart file, and check that it belongs to the scene."""
    text, states = load_restart(path)
    before = read(parse(text, str(path)))
    for name in type(scene).keys():  # noqa: SIM118 - a method of the schema, not of a dictionary
        mine, other = getattr(scene, name), getattr(before, name)
        if name == "run":
            other = replace(other, duration=mine.duration, threads=mine.threads)
        elif isinstance(mine, SolverSection) and isinstance(other, SolverSection):
            other = replace(other, **{changed: getattr(mine, changed) for changed in mine.RESTARTABLE})
        if name not in {"output", "picture", "title"} and mine != other:
            key = _first_difference(plain(mine), plain(other), name)
            raise InputError(
                f"{key} must be the same as in {path}; a restart can change "
                f"{', '.join(['run.duration', 'run.threads', *_restartable(scene)])}, output, picture and title only"
            )
    return states


def _first_difference(mine: Any, other: Any, name: str) -> str:
    """Return the path of the first value in which two tables differ."""
    if isinstance(mine, dict) and isinstance(other, dict):
        for key in {**mine, **other}:
            if mine.get(key) != other.get(key):
                return _first_difference(mine.get(key), other.get(key), f"{name}.{key}")
    if isinstance(mine, list) and isinstance(other, list) and len(mine) == len(other):
        for place, (one, two) in enumerate(zip(mine, other, strict=True)):
            if one != two:
                return _first_difference(one, two, f"{name}.{place}")
    return name


def _restartable(scene: Scene) -> list[str]:
    return [f"{name}.{key}" for name, section in scene.solvers().items() for key in section.RESTARTABLE]


def _timetable(scene: Scene) -> Timetable:
    """Return the times at which results are written."""
    output, duration = scene.output, scene.run.duration
    every = output.every or duration / 50 or math.inf
    return Timetable(
        every={
            "table": output.table_every or every / 10,
            "frames": every,
            "restart": output.restart_every or every,
        }
    )


def _finite(value: Any) -> Any:
    """Replace infinities and NaN, which JSON cannot represent, by null."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
