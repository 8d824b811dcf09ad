"""``vicinal lab``: the experiments of the papers, listed, run again and gathered on one page."""

import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from vicinal.cli.exits import INTERRUPTED, exit_codes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vicinal.lab import Experiment, LabProgress, Plan, Scale, StoredRun

app = typer.Typer(
    name="lab",
    help="Repeat the experiments of the papers and compare results.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="markdown",
)

Folder = Annotated[Path, typer.Option("--out", help="Folder for the results; every run has a subfolder.")]
DEFAULT = Path("lab-results")
ALL = "all"


@app.command("list")
def show_list() -> None:
    """List the experiments."""
    with exit_codes():
        from rich import box
        from rich.console import Console
        from rich.table import Table

        from vicinal.cli.report import LOG_WIDTH
        from vicinal.lab import experiments

        table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for column in ("name", "paper", "where", "what"):
            table.add_column(column, no_wrap=column != "what")
        for one in experiments().values():
            table.add_row(one.name, str(one.paper), one.section, one.title)
        console = Console(highlight=False)
        if not console.is_terminal:
            console.width = LOG_WIDTH
        console.print(table)


@app.command("run")
def run_one(
    name: Annotated[str, typer.Argument(metavar="NAME", help=f"An experiment (see vicinal lab list), or {ALL}.")],
    *,
    scale: Annotated[
        str, typer.Option(help="small: about a minute; paper: the published sizes; large: larger sizes.")
    ] = "small",
    structures: Annotated[str | None, typer.Option(help="Run only these structures, separated by commas.")] = None,
    steps: Annotated[int | None, typer.Option(min=1, help="Steps per case; the default depends on the scale.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of every random choice.")] = 1,
    out: Folder = DEFAULT,
    fresh: Annotated[bool, typer.Option("--fresh", help="Repeat finished cases, too.")] = False,
) -> None:
    """Run an experiment or resume it; finished cases are kept."""
    with exit_codes():
        from vicinal.extras import need
        from vicinal.lab import Plan, experiments, find

        need("vicinal lab run", "lab")

        plan = Plan(scale=_scale(scale), seed=seed, steps=steps, structures=_names(structures))
        chosen = list(experiments().values()) if name == ALL else [find(name)]
        for experiment in chosen:
            if name != ALL:
                experiment.check(plan)
            _run(experiment, plan, out, fresh=fresh)


@app.command("report")
def report(
    *,
    out: Folder = DEFAULT,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Page to write; the default is report.html in --out.")
    ] = None,
) -> None:
    """Collect all runs in one page that works offline."""
    with exit_codes():
        from vicinal.extras import need
        from vicinal.io.atomic import check_place
        from vicinal.lab import experiments, write_report

        need("vicinal lab report", "lab")

        if output is not None:
            check_place(output)
        typer.echo(f"report: {write_report(out, experiments(), output).resolve()}")


def _scale(text: str) -> "Scale":
    from vicinal import InputError
    from vicinal.lab import Scale

    if text not in list(Scale):
        raise InputError(f"--scale must be one of {', '.join(Scale)}, got {text!r}")
    return Scale(text)


def _names(text: str | None) -> tuple[str, ...] | None:
    from vicinal import InputError

    if text is None:
        return None
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise InputError(f"--structures must be names separated by commas, such as HashGrid,Octree, got {text!r}")
    return names


def _run(experiment: "Experiment", plan: "Plan", out: Path, *, fresh: bool) -> None:
    from vicinal.lab import run

    try:
        with _progress(experiment.name) as tell:
            kept = run(experiment, plan, out, fresh=fresh, tell=tell)
    except KeyboardInterrupt:
        typer.echo("interrupted; finished cases are kept, and the same command resumes the run", err=True)
        raise typer.Exit(INTERRUPTED) from None
    _show(experiment, kept)


def _show(experiment: "Experiment", kept: "StoredRun") -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from vicinal.cli.report import LOG_WIDTH
    from vicinal.lab import judge
    from vicinal.lab.page import PAGE

    colours = {"good": "green", "bad": "red", "calm": "dim"}
    table = Table(title=experiment.title, title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("", "published", "measured here", "verdict", "why"):
        table.add_column(column)
    for one in judge(experiment, kept.rows):
        verdict = Text(str(one.verdict), style=colours[one.verdict.kind])
        table.add_row(Text(one.label), Text(one.published), Text(one.measured), verdict, Text(one.why))
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = LOG_WIDTH
    if experiment.claims:
        console.print(table)
    typer.echo(f"page: {(kept.folder / PAGE).resolve()}")


@contextmanager
def _progress(name: str) -> "Iterator[Callable[[LabProgress], None]]":
    """Show how far a run is on the error stream: a bar on a terminal, lines in a log."""
    if not sys.stderr.isatty():
        yield lambda now: _line(name, now)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("[bold]{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}"),
        TextColumn("[dim]{task.fields[case]}"),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None, left="", case="")

        def tell(now: "LabProgress") -> None:
            case = now.case.key if now.case else ""
            bar.update(task, completed=now.done, total=now.total, left=_left(now), case=case)

        yield tell


def _line(name: str, now: "LabProgress") -> None:
    if now.case is not None:
        left = _left(now)
        typer.echo(f"{name}: {now.done + 1} of {now.total}, {now.case.key}{left and ', ' + left}", err=True)


def _left(now: "LabProgress") -> str:
    from vicinal.lab.figures import duration

    return "" if now.seconds_left is None or now.case is None else f"about {duration(now.seconds_left)} left"
