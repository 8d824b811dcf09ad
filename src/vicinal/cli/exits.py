"""From exceptions to exit codes: one clear line on the error stream instead of a traceback."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from vicinal import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILURE = 1
BAD_INPUT = 2
INTERRUPTED = 130
"""What a shell reports for a program ended by Ctrl-C: 128 + SIGINT."""


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn exceptions a user can cause into a message and an exit code; faults of the program pass through.

    Examples
    --------
    >>> try:
    ...     with exit_codes():
    ...         raise InputError("cutoff: must be positive")
    ... except typer.Exit as end:
    ...     end.exit_code
    2
    """
    try:
        yield
    except InputError as error:
        raise stop(str(error), code=BAD_INPUT) from error
    except BrokenPipeError:
        # Whoever read our output has seen enough; typer ends quietly.
        raise
    except OSError as error:
        raise stop(_describe(error), code=FAILURE) from error
    except MemoryError as error:
        message = f"not enough memory: {error}" if str(error) else "not enough memory for this result"
        raise stop(message, code=FAILURE) from error
    except KeyboardInterrupt as error:
        message = "interrupted"
        raise stop(message, code=INTERRUPTED) from error


def stop(message: str, *, code: int) -> typer.Exit:
    """Print an error on one line and give the exception that ends the program with a code."""
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return typer.Exit(code)


def _describe(error: OSError) -> str:
    """Say what happened to which file, without the error number that Python puts in front."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"
