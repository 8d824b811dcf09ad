"""From exceptions to exit codes: one clear line on the error stream instead of a traceback."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from vicinal.cli import INTERRUPTED as INTERRUPTED  # noqa: PLC0414 - the commands take all codes from here
from vicinal.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Iterator

FAILURE = 1
BAD_INPUT = 2


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turn exceptions that a user can cause into a message and an exit code; other exceptions pass through.

    Examples
    --------
    >>> try:
    ...     with exit_codes():
    ...         raise InputError("cutoff must be a positive, finite number, got 0.0")
    ... except typer.Exit as end:
    ...     end.exit_code
    2
    """
    try:
        yield
    except InputError as error:
        raise stop(str(error), code=BAD_INPUT) from error
    except BrokenPipeError:
        # The reader of the output has closed it; typer ends quietly.
        raise
    except MissingExtraError as error:
        raise stop(str(error), code=FAILURE) from error
    except OSError as error:
        raise stop(_describe(error), code=FAILURE) from error
    except MemoryError as error:
        message = f"not enough memory: {error}" if str(error) else "not enough memory for this result"
        raise stop(message, code=FAILURE) from error
    except KeyboardInterrupt as error:
        message = "interrupted"
        raise stop(message, code=INTERRUPTED) from error


def refuse_ranks(command: str, advice: str = "leave out mpiexec") -> None:
    """Refuse several ranks for a command that each of them would run alone; only the first one says so."""
    from vicinal.distributed.launcher import own_rank, started_ranks

    ranks = started_ranks()
    if ranks > 1 and own_rank() > 0:
        raise typer.Exit(BAD_INPUT)
    if ranks > 1:
        raise stop(f"vicinal {command} must run in one process, got {ranks} ranks; {advice}", code=BAD_INPUT)


def stop(message: str, *, code: int) -> typer.Exit:
    """Print an error on one line and return the exception that ends the program with a code."""
    typer.echo(f"error: {' '.join(message.split())}", err=True)
    return typer.Exit(code)


def _describe(error: OSError) -> str:
    """Return the file and the error, without the error number that Python puts in front."""
    if error.filename is None or error.strerror is None:
        return str(error)
    return f"{error.filename}: {error.strerror}"
