"""``vicinal run``: from a scene to a folder of results."""

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli.exits import BAD_INPUT, FAILURE, INTERRUPTED, exit_codes, stop
from vicinal.cli.report import count, seconds, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from mpi4py.MPI import Intracomm

    from vicinal.sim import Progress, RunLoop

LINES = 20
"""Progress lines in a log."""

SILENCE = 2.0
"""Seconds that other ranks leave to rank 0 to report an error."""
FORWARDING = 0.5
"""Seconds that the launcher has to read a message: once a rank has aborted, it drops what it has not read."""


def run(
    scene: Annotated[
        str | None, typer.Argument(help="TOML file, or the name of a scene of the package (see --list).")
    ] = None,
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Replace a value, as in --set run.duration=2. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the results; the default is SCENE-results.")
    ] = None,
    restart: Annotated[
        Path | None,
        typer.Option(help="Continue from a restart file or a folder of results; in that folder, unless -o is given."),
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use, instead of all cores.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the results of an earlier run.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Read scene and meshes, report errors, and stop.")] = False,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes of the package, and stop.")] = False,
) -> None:
    """Simulate a scene that a TOML file describes; with mpiexec, on several ranks."""
    with exit_codes():
        comm = _world()
    with exit_codes(), _terminable(), _ending_all(comm):
        from vicinal import InputError
        from vicinal.sim import RunLoop, load, restart_scene, scenes
        from vicinal.sim.restart import restart_file
        from vicinal.sim.scene_walls import check_surfaces

        if list_scenes:
            width = max(map(len, scenes.names()))
            for name in scenes.names():
                typer.echo(f"{name:<{width}}  {load(scenes.find(name)).title}")
            return
        changes = [*(settings or []), *([] if threads is None else [f"run.threads={threads}"])]
        if scene is not None:
            file = scenes.find(scene)
            described = load(file, settings=changes)
            folder = Path(f"{file.stem}-results")
        elif restart is not None:
            described = restart_scene(restart, changes)
        else:
            raise InputError("SCENE is missing; give a TOML file, the name of a scene (see --list), or --restart")
        if check:
            check_surfaces(described)
            typer.echo(f"{scene or restart}: {described.title}: no errors")
            return
        if output is not None:
            folder = output
        elif restart is not None:
            folder = restart_file(restart.resolve()).parent
        try:
            loop = RunLoop(described, folder, restart=restart, overwrite=overwrite, comm=comm)
        except FileExistsError:
            message = f"{folder}: holds the results of an earlier run; add --overwrite, or choose another with -o"
            raise FileExistsError(message) from None
        _announce(loop)
        _follow(loop)


def _world() -> "Intracomm | None":
    """Return the communicator of all ranks, or None if there is one process."""
    from vicinal.distributed.launcher import started_ranks

    if started_ranks() == 1:
        return None
    from vicinal.distributed.launcher import check_launcher, load_mpi

    world: Intracomm = load_mpi("a run with mpiexec").COMM_WORLD
    check_launcher()
    return world


@contextmanager
def _terminable() -> "Iterator[None]":
    """Let SIGTERM end the set-up of a run as Ctrl-C does; later on the run loop listens to both."""
    from vicinal.sim.interrupt import terminable

    with terminable():
        yield


@contextmanager
def _ending_all(comm: "Intracomm | None") -> "Iterator[None]":
    """End all ranks if one fails, since the others may wait for it."""
    if comm is None:
        yield
        return
    try:
        yield
    except typer.Exit as ended:
        if ended.exit_code in {0, INTERRUPTED}:
            raise
        _abort(comm, None, ended.exit_code)
    except KeyboardInterrupt:
        _abort(comm, "interrupted", INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - reported by _abort
        _abort(comm, str(error), BAD_INPUT if isinstance(error, ValueError) else FAILURE)


def _let_first_speak(comm: "Intracomm | None") -> None:
    """Wait on other ranks than the first: most errors are on all ranks, and rank 0 ends them."""
    if comm is not None and comm.rank > 0:
        time.sleep(SILENCE)


def _abort(comm: "Intracomm", error: str | None, code: int) -> None:
    _let_first_speak(comm)
    if error is not None:
        typer.echo(f"error: {error}" + (f" (rank {comm.rank} of {comm.size})" if comm.rank else ""), err=True)
    sys.stderr.flush()
    time.sleep(FORWARDING)
    comm.Abort(code)


def _announce(loop: "RunLoop") -> None:
    """Print the size of the simulation and its time step."""
    first, *others = loop.solver.summary()
    if not loop.team.writes:
        return
    typer.echo(f"{loop.scene.title}: {first}, {loop.scene.run.duration:g} s", err=True)
    for line in others:
        typer.echo(line, err=True)


def _follow(loop: "RunLoop") -> None:
    """Run to the end, and print a summary."""
    from vicinal import InputError
    from vicinal.sim.folder import RESTART

    warned: set[str] = set()
    try:
        for _ in with_progress(loop.go(), loop):
            for message in loop.warnings:
                if message not in warned and loop.team.writes:
                    warned.add(message)
                    typer.echo(f"warning: {message}", err=True)
    except (InputError, OSError, FloatingPointError) as error:
        _let_first_speak(loop.team.comm)
        kept = f"the results so far are in {loop.folder}"
        if loop.last_good is not None:
            kept += f"; continue with: vicinal run --restart {loop.last_good}"
        raise stop(f"{error}; {kept}", code=BAD_INPUT if isinstance(error, InputError) else FAILURE) from error
    _show(loop)
    if loop.status == "interrupted":
        if loop.team.writes:
            typer.echo(f"interrupted; continue with: vicinal run --restart {loop.folder / RESTART}", err=True)
        raise typer.Exit(INTERRUPTED)


def with_progress(states: "Iterable[Progress]", loop: "RunLoop") -> "Iterator[Progress]":
    """Pass states on, and show the progress on the error stream."""
    first = loop.progress()
    if not loop.team.writes:
        yield from states
    else:
        yield from _bar(states, first) if sys.stderr.isatty() else _lines(states)


def _bar(states: "Iterable[Progress]", first: "Progress") -> "Iterator[Progress]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.fields[time]}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.fields[status]}"),
        TextColumn("{task.fields[rate]} particle-steps/s"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=1.0, **_fields(first))
        for state in states:
            yield state
            bar.update(task, completed=state.share, **_fields(state))


def _lines(states: "Iterable[Progress]") -> "Iterator[Progress]":
    """Plain lines for logs; flushed, so that nothing is lost if the output is a file."""
    printed: int | None = None
    for state in states:
        yield state
        span = state.duration - state.begin
        part = int(LINES * (state.time - state.begin) / span) if span > 0 else LINES
        if part != printed:
            printed = part
            fields = _fields(state)
            typer.echo(
                f"step {state.step:,}: {fields['time']}, {fields['left']} left, {state.particles:,} particles, "
                f"{state.status}, {fields['rate']} particle-steps/s",
                err=True,
            )
            sys.stderr.flush()


def _fields(state: "Progress") -> dict[str, Any]:
    return {
        "time": f"t = {state.time:.4g} of {state.duration:g} s",
        "left": seconds(state.remaining) if state.done else "?",
        "status": state.status,
        "rate": count(state.rate),
    }


def _show(loop: "RunLoop") -> None:
    state = loop.progress()
    if not loop.team.writes:
        return
    steps = "step" if state.step == 1 else "steps"
    total = sum(loop.profile.values())
    spent = [f"{name} {seconds(value)}" for name, value in loop.profile.items() if value > 0.01 * total]
    show(
        loop.scene.title,
        [
            ("simulated", f"{state.time:.6g} s of {state.duration:g} s, {state.step:,} {steps}"),
            ("particles", f"{state.particles:,}, {state.status}"),
            ("speed", f"{count(state.rate)} particle-steps per second"),
            ("time", ", ".join(spent)),
            ("results", str(loop.folder.resolve())),
        ],
    )
