"""``vicinal demo``: two galaxies meet, with a search for all pairs of close stars at every step."""

import sys
from contextlib import closing, nullcontext
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal.cli.exits import INTERRUPTED, exit_codes
from vicinal.cli.report import count, seconds, show
from vicinal.demo import DemoSettings, simulate, summarise

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

    from vicinal.demo import DemoFrame, Summary

PICTURES = (".png", ".jpg", ".webp", ".pdf", ".svg")


def demo(
    *,
    bodies: Annotated[int, typer.Option(min=1, help="Number of stars.")] = DemoSettings.bodies,
    steps: Annotated[int, typer.Option(min=1, help="Searches during the encounter.")] = DemoSettings.steps,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the random start.")] = DemoSettings.seed,
    output: Annotated[
        Path, typer.Option("-o", "--output", help=f"Picture to write, or to replace: {' '.join(PICTURES)}.")
    ] = Path("vicinal-demo.png"),
    threads: Annotated[int | None, typer.Option(min=1, help="Threads to use, instead of all cores.")] = None,
) -> None:
    """Let two galaxies meet, find all close pairs of stars at every step, and draw a picture."""
    with exit_codes():
        import vicinal as vc
        from vicinal.extras import need

        need("vicinal demo", "lab")

        _check_picture(output)
        settings = DemoSettings(bodies=bodies, steps=steps, seed=seed)
        done: list[DemoFrame] = []
        begin = perf_counter()
        with nullcontext() if threads is None else vc.threads(threads):
            try:
                # Closing takes the progress bar off the terminal before anything else is printed.
                with closing(with_progress(simulate(settings), settings)) as stream:
                    for step in stream:
                        done.append(step)  # noqa: PERF402 - one by one, so that an interrupt loses none
                summary = summarise(done)
                _draw(done, summary, settings, output)
            except KeyboardInterrupt:
                typer.echo(f"interrupted after {len(done)} of {steps} steps; no picture was written", err=True)
                if done:
                    _show(summarise(done), settings, total=perf_counter() - begin)
                raise typer.Exit(INTERRUPTED) from None
            _show(summary, settings, total=perf_counter() - begin)
        typer.echo(f"picture: {output.resolve()}")


def with_progress(steps: "Iterable[DemoFrame]", settings: DemoSettings) -> "Generator[DemoFrame, None, None]":
    """Pass steps on, and show the progress on the error stream."""
    if sys.stderr.isatty():
        yield from _progress_bar(steps, settings)
    else:
        yield from _progress_lines(steps, settings)


def _progress_bar(steps: "Iterable[DemoFrame]", settings: DemoSettings) -> "Generator[DemoFrame, None, None]":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("[bold]two galaxies meet"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[speed]}"),
    )
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=settings.steps, speed="")
        pairs, elapsed = 0, 0.0
        for step in steps:
            pairs += step.pairs
            elapsed += step.search_seconds
            yield step
            progress.update(task, advance=1, speed=f"{count(pairs / max(elapsed, 1e-9))} pairs/s")


def _progress_lines(steps: "Iterable[DemoFrame]", settings: DemoSettings) -> "Generator[DemoFrame, None, None]":
    """Ten plain lines, for logs."""
    every = max(1, settings.steps // 10)
    pairs = 0
    for step in steps:
        pairs += step.pairs
        yield step
        if step.number % every == 0 or step.number + 1 == settings.steps:
            typer.echo(f"step {step.number + 1} of {settings.steps}: {count(pairs)} pairs so far", err=True)


def _check_picture(path: Path) -> None:
    """Refuse, before the work starts, an output file that could not be written."""
    from vicinal import InputError
    from vicinal.io.atomic import check_place

    if path.suffix.lower() not in PICTURES:
        message = f"--output must end in one of {' '.join(PICTURES)}, got {path.suffix!r}"
        raise InputError(message)
    check_place(path)


def _draw(done: "list[DemoFrame]", summary: "Summary", settings: DemoSettings, output: Path) -> None:
    import vicinal as vc
    from vicinal.demo import draw
    from vicinal.io import atomic_file

    title = f"Two galaxies meet: {settings.bodies:,} stars, {count(summary.pairs)} pairs found"
    subtitle = (
        f"{summary.steps} steps, {seconds(summary.search_seconds)} of search, "
        f"{summary.nanoseconds_per_pair:.2f} ns per pair  |  {summary.structure}, "
        f"threads: {vc.get_threads()}, {vc.info()['isa']}, float32, cutoff {settings.cutoff:.4f}"
    )
    frames = [step.frame for step in done if step.frame is not None]
    with atomic_file(output) as file:
        draw(frames, title=title, subtitle=subtitle, target=file, kind=output.suffix[1:].lower())


def _show(summary: "Summary", settings: DemoSettings, *, total: float) -> None:
    import vicinal as vc

    show(
        "two galaxies meet",
        [
            ("bodies", f"{settings.bodies:,} (3D, float32)"),
            ("steps", f"{summary.steps:,} of {settings.steps:,}"),
            ("pairs", f"{count(summary.pairs)} ({count(summary.pairs / summary.steps)} per step)"),
            ("mean neighbours", f"{2 * summary.pairs / summary.steps / settings.bodies:.1f}"),
            ("structure", summary.structure),
            ("candidates per pair", f"{summary.candidates / max(1, summary.pairs):.2f}"),
            ("pairs per second", count(summary.pairs_per_second)),
            ("time per pair", f"{summary.nanoseconds_per_pair:.2f} ns"),
            ("search time", seconds(summary.search_seconds)),
            ("total time", f"{seconds(total)} (with motion and picture)"),
            ("threads", str(vc.get_threads())),
            ("instruction set", str(vc.info()["isa"])),
        ],
    )
