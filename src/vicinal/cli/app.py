"""The commands: ``vicinal pairs``, ``info``, ``demo``, ``lab``, ``run``, ``render``."""

from __future__ import annotations

from importlib.metadata import version as installed_version
from typing import Annotated

import typer

from vicinal.cli.demo import demo
from vicinal.cli.exits import refuse_ranks
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
    rich_markup_mode="markdown",  # paragraphs are wrapped to the width of the terminal
    # An ordinary traceback is easier to report than a decorated one.
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
        typer.echo(f"vicinal {installed_version('vicinal')}")
        raise typer.Exit


ON_RANKS = ("run", "pairs", "info")
"""Commands that may have several ranks; `pairs` decides by its options."""


@app.callback()
def options(
    context: typer.Context,
    *,
    version: Annotated[  # noqa: ARG001 - its callback has used it
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Find all pairs of close bodies: exact, and fast."""
    if context.invoked_subcommand is not None and context.invoked_subcommand not in ON_RANKS:
        refuse_ranks(context.invoked_subcommand)
