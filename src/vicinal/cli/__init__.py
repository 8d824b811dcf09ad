"""The command line: ``vicinal pairs``, ``info``, ``demo``, ``lab``, ``run``, ``render``."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from vicinal.cli.demo import demo
from vicinal.cli.exits import INTERRUPTED
from vicinal.cli.info import info
from vicinal.cli.lab import app as lab
from vicinal.cli.pairs import pairs
from vicinal.cli.render import render
from vicinal.cli.run import run

app = typer.Typer(
    name="vicinal",
    help="Find all pairs of close bodies: exact, and fast.",
    no_args_is_help=True,
    add_completion=False,
    # A fault of the program shall leave an ordinary traceback for the report.
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(pairs)
app.command()(info)
app.command()(demo)
app.add_typer(lab)
app.command()(run)
app.command()(render)


def _version(wanted: bool) -> None:  # noqa: FBT001 - typer calls it with the value of the flag
    if wanted:
        import vicinal

        typer.echo(f"vicinal {vicinal.info()['version']}")
        raise typer.Exit


@app.callback()
def options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find all pairs of close bodies: exact, and fast."""


def main() -> None:
    """Run the command line and exit.

    The exit code is 0 for success, 1 if something failed at run time (a missing file, say), 2 for wrong usage
    or bad input, and 130 when interrupted.
    """
    try:
        app(prog_name="vicinal")
    except KeyboardInterrupt:
        # An interrupt outside of the commands, which handle their own.
        sys.exit(INTERRUPTED)
