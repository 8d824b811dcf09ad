"""``vicinal run``: from a TOML file, or a scene of the package, to a folder of results."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from vicinal.cli.exits import FAILURE, INTERRUPTED, exit_codes, stop
from vicinal.cli.report import count, seconds, show

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from vicinal.dem.run import Progress, Run

LINES = 20
"""Progress lines in a log."""


def run(
    scene: Annotated[
        str | None, typer.Argument(help="TOML file, or the name of a scene of the package (see --list).")
    ] = None,
    *,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Replace a value, as in --set solver.dt=1e-5. Repeatable."),
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the results; SCENE-results if left out.")
    ] = None,
    restart: Annotated[
        Path | None, typer.Option(help="Go on from a restart file; into its folder, unless --output says another.")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use, instead of all cores.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace the results of an earlier run.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Read the scene, report errors, and stop.")] = False,
    list_scenes: Annotated[bool, typer.Option("--list", help="List the scenes of the package, and stop.")] = False,
) -> None:
    """Simulate grains: what moves, touches and flows, as a TOML file describes it."""
    with exit_codes():
        from vicinal import InputError
        from vicinal.dem.config import load
        from vicinal.dem.run import Run, restart_scene
        from vicinal.sim import scenes

        if list_scenes:
            for name in scenes.names():
                typer.echo(f"{name:<16} {load(scenes.find(name)).title}")
            return
        changes = [*(settings or []), *([] if threads is None else [f"solver.threads={threads}"])]
        if scene is not None:
            file = scenes.find(scene)
            found = load(file, settings=changes)
            folder = Path(f"{file.stem}-results")
        elif restart is not None:
            found = restart_scene(restart, changes)
            folder = restart.resolve().parent
        else:
            raise InputError("SCENE: is missing; give a TOML file, the name of a scene (see --list), or --restart")
        if check:
            typer.echo(f"{scene or restart}: {found.title}: no errors")
            return
        if output is not None:
            folder = output
        elif restart is not None:
            folder = restart.resolve().parent
        try:
            course = Run(found, folder, restart=restart, overwrite=overwrite)
        except FileExistsError:
            message = f"{folder}: holds the results of an earlier run; add --overwrite, or choose another with -o"
            raise FileExistsError(message) from None
        _announce(course)
        _follow(course)


def _announce(course: "Run") -> None:
    """Say what is about to happen, and how the time step compares with what it has to resolve."""
    sim, times = course.sim, course.times
    typer.echo(
        f"{course.scene.title}: {many(len(sim), 'body', 'bodies')}, {many(len(sim.walls), 'wall', 'walls')}, "
        f"{many(course.steps, 'step', 'steps')} "
        f"of {sim.dt:.4g} s to {course.scene.solver.duration:g} s",
        err=True,
    )
    parts = [f"{times.collision_fraction:.3g} of the collision time ({times.collision:.3g} s)"]
    if times.rayleigh_fraction > 0:
        parts.append(f"{times.rayleigh_fraction:.3g} of the Rayleigh time ({times.rayleigh:.3g} s)")
    typer.echo(f"time step {sim.dt:.4g} s = {' = '.join(parts)}", err=True)


def many(number: int, one: str, several: str) -> str:
    """Write a number of things."""
    return f"{number:,} {one if number == 1 else several}"


def _follow(course: "Run") -> None:
    """Let the run go on to its end, and say what it has left."""
    warned: set[str] = set()
    try:
        for _ in with_progress(course.go(), course):
            for message in course.warnings:
                if message not in warned:
                    warned.add(message)
                    typer.echo(f"warning: {message}", err=True)
    except (OSError, FloatingPointError) as error:
        kept = f"steps finished before are in {course.folder}"
        if (course.folder / "restart.npz").exists():
            kept += ", and restart.npz there goes on from the last restart file"
        raise stop(f"{error}; {kept}", code=FAILURE) from error
    _show(course)
    if course.status == "interrupted":
        typer.echo(f"interrupted; go on with: vicinal run --restart {course.folder / 'restart.npz'}", err=True)
        raise typer.Exit(INTERRUPTED)


def with_progress(states: "Iterable[Progress]", course: "Run") -> "Iterator[Progress]":
    """Pass states on, and show on the error stream how far the run is."""
    yield from _bar(states, course) if sys.stderr.isatty() else _lines(states, course)


def _bar(states: "Iterable[Progress]", course: "Run") -> "Iterator[Progress]":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (
        TextColumn("{task.fields[time]}"),
        BarColumn(bar_width=None),
        TaskProgressColumn(),
        TextColumn("{task.fields[left]} left"),
        TextColumn("{task.fields[contacts]} contacts"),
        TextColumn("{task.fields[rate]} particle-steps/s"),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task("", total=course.steps, **_fields(course.progress()))
        for state in states:
            yield state
            bar.update(task, completed=state.step, **_fields(state))


def _lines(states: "Iterable[Progress]", course: "Run") -> "Iterator[Progress]":
    """Plain lines, for logs; flushed, so that nothing is lost on the way to a file."""
    begin = course.progress().step
    following = begin + 1
    for state in states:
        yield state
        if state.step >= following or state.step == course.steps:
            share = max(1, (course.steps - begin) // LINES)
            following = begin + ((state.step - begin) // share + 1) * share
            fields = _fields(state)
            bodies = many(state.bodies, "body", "bodies")
            typer.echo(
                f"step {state.step:,} of {course.steps:,}: {fields['time']}, {fields['left']} left, "
                f"{bodies}, {fields['contacts']} contacts, {fields['rate']} particle-steps/s",
                err=True,
            )
            sys.stderr.flush()


def _fields(state: "Progress") -> dict[str, Any]:
    left = seconds(state.remaining) if state.done else "?"
    return {
        "time": f"t = {state.time:.4g} of {state.duration:g} s",
        "left": left,
        "contacts": count(state.contacts),
        "rate": count(state.rate),
    }


def _show(course: "Run") -> None:
    state = course.progress()
    profile = course.profile
    total = sum(profile.values())
    show(
        course.scene.title,
        [
            ("simulated", f"{state.time:.6g} s of {state.duration:g} s, {state.step:,} steps of {course.sim.dt:.4g} s"),
            ("bodies", f"{state.bodies:,}" + (f" ({course.feeder.removed:,} left)" if course.feeder.removed else "")),
            ("contacts", f"{state.contacts:,}"),
            ("speed", f"{count(state.rate)} particle-steps per second"),
            ("time", ", ".join(f"{name} {seconds(value)}" for name, value in profile.items() if value > 0.01 * total)),
            ("results", str(course.folder.resolve())),
        ],
    )
