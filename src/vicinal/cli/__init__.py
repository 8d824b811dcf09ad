"""The command line. `main` is all that can be imported without typer and rich."""

from __future__ import annotations

import sys

from vicinal.errors import MissingExtraError
from vicinal.extras import need

INTERRUPTED = 130
"""Exit code of a program ended by Ctrl-C: 128 + SIGINT."""


def main() -> None:
    """Run the command line and exit.

    The exit code is 0 for success, 1 for a failure at run time (a missing file or extra, for example), 2 for wrong
    usage or wrong input, and 130 after an interrupt.
    """
    try:
        need("this command", "cli")
    except MissingExtraError as error:
        sys.exit(f"vicinal: {error}")
    from vicinal.cli.app import app

    try:
        app(prog_name="vicinal")
    except KeyboardInterrupt:
        # An interrupt outside of the commands, which handle their own.
        sys.exit(INTERRUPTED)
