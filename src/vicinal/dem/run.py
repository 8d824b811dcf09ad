"""A run: a scene, time, and a folder of results that is valid whenever it ends."""

from __future__ import annotations

import json
import math
import platform
import shutil
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import vicinal as vc
from vicinal.dem.build import build, choose_step, make_kinds, make_walls, set_motions
from vicinal.dem.config.insertion import Emitter
from vicinal.dem.config.scene import Scene, read
from vicinal.dem.feed import Feeder
from vicinal.dem.output import PictureWriter, Table, WallSurfaces
from vicinal.dem.simulation import Simulation
from vicinal.dem.times import CriticalTimes, TimeStepWarning
from vicinal.errors import InputError
from vicinal.io.atomic import replace_file
from vicinal.sim.folder import CONTACTS, PARTICLES, REPORT, RESTART, SCENE, SURFACES, TABLE, WALLS
from vicinal.sim.restart import load_restart, save_restart
from vicinal.sim.toml import dump, parse
from vicinal.sim.walls import Rotating, Translating

CHUNK_SECONDS = 0.2
"""The engine is asked for steps worth this much time, so that progress is shown and Ctrl-C is heard."""


@dataclass(frozen=True)
class Progress:
    """How far a run is."""

    time: float
    duration: float
    step: int
    steps: int
    bodies: int
    contacts: int
    seconds: float
    """Spent by this run in the engine, restarts not counted."""

    elapsed: float
    """Seconds that this run has been under way, writing included."""

    particle_steps: float
    """Done by this run, restarts not counted."""

    done: int
    """Steps done by this run."""

    @property
    def rate(self) -> float:
        """Particle-steps per second."""
        return self.particle_steps / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float:
        """Seconds left, if the rest goes as fast as what was done."""
        return self.elapsed / self.done * (self.steps - self.step) if self.done else math.inf


@dataclass(frozen=True)
class Result:
    """What a run has made."""

    folder: Path
    status: str
    """``"finished"``, ``"interrupted"`` or ``"failed"``."""

    simulation: Simulation
    times: CriticalTimes
    progress: Progress
    profile: dict[str, float]


class Run:
    """A scene on its way through time.

    Parameters
    ----------
    scene
        What to simulate.
    folder
        Where results go; made if it is not there.
    restart
        A restart file to go on from. The scene may then differ only in ``solver.duration``, ``solver.threads`` and
        ``output``.
    overwrite
        Replace the results of another run in this folder.
    """

    def __init__(
        self, scene: Scene, folder: Path | str, *, restart: Path | str | None = None, overwrite: bool = False
    ) -> None:
        self.folder = Path(folder)
        self.scene = scene
        self.profile = dict.fromkeys(("insertion", "engine", "pictures", "table", "restart"), 0.0)
        self.status = "prepared"
        self._interrupted = False
        self._chunk = 1
        self._particle_steps = 0.0
        self._begin = self._going = perf_counter()
        self._warnings: list[str] = []
        state = None if restart is None else _state(scene, Path(restart))
        self._prepare_folder(fresh=restart is None, overwrite=overwrite)
        with self._timed("insertion"), self._threads():
            self.kinds = make_kinds(scene)
            self.sim = build(scene) if state is None else Simulation.restore(state[0])
            self.feeder = Feeder(scene, self.sim, self.kinds)
            self._group_walls()
            if state is None:
                self.feeder.start()
                self.feeder.emit()
                self.times = choose_step(scene, self.sim, self.kinds)
                set_motions(scene, self.walls, 0.0)
            else:
                self.feeder.restore(state[1])
                self.times = CriticalTimes(*(float(x) for x in state[1]["times"]))
        self._begin_step = self.sim.step_count
        self.steps = max(1, math.ceil(scene.solver.duration / self.sim.dt * (1 - 1e-12)))
        self._intervals()
        keep = None if state is None else (self.sim.time + 0.5 * self.sim.dt, self.sim.step_count)
        self.pictures = PictureWriter(
            self.folder, scene.output, WallSurfaces(scene, self.walls), keep=None if keep is None else keep[0]
        )
        self.table = Table(self.folder / TABLE, self.sim.walls, keep=None if keep is None else keep[1])
        replace_file(self.folder / SCENE, dump(scene.table()).encode())
        self._report()
        if state is None:
            self._events(first=True)

    # --- the course of time -------------------------------------------------------------------------------------------

    def go(self) -> Iterator[Progress]:
        """Go on to the end, and tell now and then how far. Ctrl-C ends it after the running chunk; see `status`."""
        self.status = "running"
        self._going = perf_counter()
        with self._listening(), self._threads():
            while self.sim.step_count < self.steps and not self._interrupted:
                self._advance(min(self._next_event(), self.sim.step_count + self._chunk))
                yield self.progress()
        self._finish("interrupted" if self._interrupted else "finished")

    def progress(self) -> Progress:
        """Tell how far the run is."""
        return Progress(
            time=self.sim.time,
            duration=self.scene.solver.duration,
            step=self.sim.step_count,
            steps=self.steps,
            bodies=len(self.sim),
            contacts=self.sim.contact_count(),
            seconds=self.profile["engine"],
            elapsed=perf_counter() - self._going,
            particle_steps=self._particle_steps,
            done=self.sim.step_count - self._begin_step,
        )

    @property
    def warnings(self) -> list[str]:
        """What the engine warned of, each once."""
        return list(dict.fromkeys(self._warnings))

    def _advance(self, until: int) -> None:
        steps = until - self.sim.step_count
        begin = perf_counter()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", TimeStepWarning)
            self.sim.run(steps)
        for warning in caught:
            if issubclass(warning.category, TimeStepWarning):
                self._warnings.append(str(warning.message))
            else:
                warnings.warn_explicit(warning.message, warning.category, warning.filename, warning.lineno)
        seconds = perf_counter() - begin
        self.profile["engine"] += seconds
        self._particle_steps += steps * len(self.sim)
        # Grows at most twofold, so that one quick chunk does not make the next one endless.
        wanted = steps * CHUNK_SECONDS / max(seconds, 1e-9)
        self._chunk = max(1, int(min(wanted, 2 * self._chunk)))
        self._events()

    def _intervals(self) -> None:
        """Turn times between events into steps, so that events do not depend on where a run was interrupted."""
        output, dt = self.scene.output, self.sim.dt
        every = output.every if output.every is not None else self.scene.solver.duration / 50
        self.every = {
            "pictures": _steps(every, dt),
            "table": _steps(every / 10 if output.table_every is None else output.table_every, dt),
            "restart": _steps(every if output.restart_every is None else output.restart_every, dt),
        }
        self.outlet_steps = [_steps(outlet.every, dt) for outlet in self.scene.outlets]
        waits = [_pause(insert, dt) for insert in self.scene.insert if isinstance(insert, Emitter)]
        self.emit_steps = min(waits, default=0)
        moments: set[float] = set()
        for wall in self.scene.walls:
            if isinstance(wall.motion, Translating | Rotating):
                moments |= {wall.motion.start} | ({wall.motion.stop} if wall.motion.stop is not None else set())
        self.switches = sorted({_steps(moment, dt) if moment > 0 else 0 for moment in moments})

    def _next_event(self) -> int:
        now = self.sim.step_count
        steps = [*self.every.values(), *self.outlet_steps, *([self.emit_steps] if self.emit_steps else [])]
        following = [(now // step + 1) * step for step in steps]
        following += [switch for switch in self.switches if switch > now]
        return min([*following, self.steps])

    def _events(self, *, first: bool = False) -> None:
        """Do what is due at this step, in a fixed order; the restart file comes last and knows all of it."""
        now = self.sim.step_count
        last = now >= self.steps
        if now in self.switches:
            # Half a step late, so that rounding does not matter.
            set_motions(self.scene, self.walls, (now + 0.5) * self.sim.dt)
        if not first:
            with self._timed("insertion"):
                self.feeder.drain([k for k, step in enumerate(self.outlet_steps) if now % step == 0])
                if self.emit_steps and now % self.emit_steps == 0:
                    self.feeder.emit()
        if now % self.every["table"] == 0 or last:
            with self._timed("table"):
                self.table.append(self.sim)
        if now % self.every["pictures"] == 0 or last:
            with self._timed("pictures"):
                self.pictures.append(self.sim)
        if not first and (now % self.every["restart"] == 0 or last):
            self.save()
            self._report()

    # --- what is left behind ------------------------------------------------------------------------------------------

    def save(self) -> None:
        """Write the restart file."""
        with self._timed("restart"):
            times = [
                self.times.collision,
                self.times.rayleigh,
                self.times.collision_fraction,
                self.times.rayleigh_fraction,
            ]
            save_restart(
                self.folder / RESTART,
                scene=dump(self.scene.table()),
                simulation=self.sim.state(),
                run={**self.feeder.state(), "times": np.array(times)},
            )

    def _finish(self, status: str) -> None:
        if self._interrupted:
            self.save()
        with self._timed("pictures"):
            self.pictures.close()
        self.status = status
        self._report()

    def result(self) -> Result:
        """Return what was made."""
        return Result(self.folder, self.status, self.sim, self.times, self.progress(), dict(self.profile))

    def _report(self) -> None:
        """Write versions, course and profile of the run beside the results."""
        import sys

        progress = self.progress()
        stats = {name: float(value) for name, value in self.sim.stats().items()}
        facts: dict[str, Any] = {
            "status": self.status,
            "title": self.scene.title,
            "written": datetime.now(UTC).isoformat(timespec="seconds"),
            "versions": {
                "vicinal": vc.info()["version"],
                "python": platform.python_version(),
                "numpy": np.__version__,
                "h5py": getattr(sys.modules.get("h5py"), "__version__", None),
                "platform": platform.platform(),
            },
            "machine": dict(vc.info()) | {"threads": self.scene.solver.threads or vc.get_threads()},
            "time": progress.time,
            "step": progress.step,
            "bodies": progress.bodies,
            "removed": self.feeder.removed,
            "contacts": progress.contacts,
            "time_step": {
                "dt": self.sim.dt,
                "collision_time": self.times.collision,
                "fraction_of_collision_time": self.times.collision_fraction,
                "rayleigh_time": self.times.rayleigh,
                "fraction_of_rayleigh_time": self.times.rayleigh_fraction,
            },
            "warnings": self.warnings,
            "profile": {
                "seconds": {name: round(value, 6) for name, value in self.profile.items()},
                "wall_clock_seconds": round(perf_counter() - self._begin, 6),
                "particle_steps": progress.particle_steps,
                "particle_steps_per_second": progress.rate,
                "engine": stats,
            },
        }
        replace_file(self.folder / REPORT, json.dumps(_finite(facts), indent=2, allow_nan=False).encode() + b"\n")

    # --- small things -------------------------------------------------------------------------------------------------

    def _prepare_folder(self, *, fresh: bool, overwrite: bool) -> None:
        if fresh and (self.folder / REPORT).exists():
            if not overwrite:
                raise FileExistsError(
                    f"{self.folder}: holds the results of another run; choose another folder, or overwrite"
                )
            # Series that this run does not write would look like its own.
            for name in (PARTICLES, CONTACTS, WALLS, SURFACES, TABLE, RESTART, REPORT):
                (self.folder / name).unlink(missing_ok=True)
                shutil.rmtree(self.folder / f"{name}.parts", ignore_errors=True)
        self.folder.mkdir(parents=True, exist_ok=True)

    def _group_walls(self) -> None:
        """Find the walls of the simulation that belong to each wall table."""
        have = {wall.name: wall for wall in self.sim.walls}
        self.walls = [[have[wall.name] for wall in walls] for walls in make_walls(self.scene)]

    def _threads(self) -> Any:
        threads = self.scene.solver.threads
        return nullcontext() if threads is None else vc.threads(threads)

    @contextmanager
    def _timed(self, what: str) -> Iterator[None]:
        begin = perf_counter()
        try:
            yield
        finally:
            self.profile[what] += perf_counter() - begin

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Take the first Ctrl-C as a wish to end well; the second ends at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.getsignal(signal.SIGINT)
        if before is signal.SIG_IGN:
            yield
            return

        def heard(*_: object) -> None:
            self._interrupted = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, heard)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)


def run(
    scene: Scene,
    folder: Path | str,
    *,
    restart: Path | str | None = None,
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> Result:
    """Simulate a scene, and write results into a folder.

    Parameters
    ----------
    scene, folder, restart, overwrite
        As for `Run`.
    progress
        Called now and then.

    Returns
    -------
    result
        With the simulation as it is at the end. After Ctrl-C, ``result.status`` is ``"interrupted"``; results and
        restart file are complete up to there.

    Examples
    --------
    >>> import tempfile
    >>> from vicinal import dem
    >>> scene = dem.Scene(
    ...     materials={"glass": {"youngs_modulus": 1e7, "poisson_ratio": 0.25, "density": 2500, "friction": 0.4}},
    ...     bodies={"bead": {"material": "glass", "radius": 0.003}},
    ...     insert=[{"kind": "place", "bodies": "bead", "positions": [[0, 0, 0.01]]}],
    ...     walls=[{"shape": "plane", "material": "glass", "point": [0, 0, 0], "normal": [0, 0, 1]}],
    ...     solver={"duration": 0.01, "dt": 1e-5},
    ... )
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     result = dem.run(scene, folder)
    >>> result.status, result.progress.step
    ('finished', 1000)
    """
    course = Run(scene, folder, restart=restart, overwrite=overwrite)
    for state in course.go():
        if progress is not None:
            progress(state)
    for message in course.warnings:
        warnings.warn(message, TimeStepWarning, stacklevel=2)
    return course.result()


def restart_scene(path: Path | str, settings: list[str] | tuple[str, ...] = ()) -> Scene:
    """Return the scene that a restart file belongs to, with some values set anew."""
    text, _, _ = load_restart(Path(path))
    source = parse(text, str(path))
    for setting in settings:
        source.override(setting)
    return read(source)


def _state(scene: Scene, path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the states of a restart file, after a look at whether the scene still fits."""
    text, simulation, around = load_restart(path)
    before = read(parse(text, str(path)))
    for name in type(scene).keys():  # noqa: SIM118 - a method of the schema, not of a dictionary
        mine, other = getattr(scene, name), getattr(before, name)
        if name == "solver":
            other = replace(other, duration=mine.duration, threads=mine.threads)
        if name not in {"output", "picture", "title"} and mine != other:
            raise InputError(
                f"{name}: differs from that in {path}; "
                "a restart can change solver.duration, solver.threads and output only"
            )
    return simulation, around


def _steps(time: float, dt: float) -> int:
    return max(1, round(time / dt))


def _pause(insert: Emitter, dt: float) -> int:
    """Return the steps between two attempts of an emitter."""
    if insert.every is not None:
        return _steps(insert.every, dt)
    # A look at all bodies costs about as much as a step: not more often than every hundredth.
    return max(100, _steps(1 / insert.rate, dt)) if insert.rate is not None else 100


def _finite(value: Any) -> Any:
    """Replace what JSON has no word for."""
    if isinstance(value, dict):
        return {name: _finite(entry) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
