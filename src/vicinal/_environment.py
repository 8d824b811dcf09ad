"""Faults of environment variables, which are read at import and reported at the first use.

Importing never fails because of them, so that the command line can report them as it reports any other wrong input.
"""

from vicinal.errors import InputError

_faults: list[str] = []


def note_fault(message: str) -> None:
    """Keep a message for `check_environment`."""
    _faults.append(message)


def check_environment() -> None:
    """Raise an error if a variable has a value that cannot be used."""
    if _faults:
        raise InputError(_faults[0])
