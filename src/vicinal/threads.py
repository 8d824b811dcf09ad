"""The number of threads of a search. It changes speed only, never the set of pairs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from vicinal import _core
from vicinal._check import check_integer
from vicinal._environment import check_environment, note_fault

MOST_THREADS = 1024


def set_threads(n: int) -> None:
    """Use `n` threads from now on. The default is all cores, or the environment variable VICINAL_NUM_THREADS.

    A forked process always uses one thread, because the threads of OpenMP do not survive a fork.

    Examples
    --------
    >>> before = vicinal.get_threads()
    >>> vicinal.set_threads(1)
    >>> vicinal.get_threads()
    1
    >>> vicinal.set_threads(before)
    """
    _core.set_threads(check_integer(n, "n", least=1, most=MOST_THREADS))


def get_threads() -> int:
    """Return the number of threads a search uses."""
    check_environment()
    return _core.get_threads()


@contextmanager
def threads(n: int) -> Iterator[None]:
    """Use `n` threads inside a ``with`` block.

    Examples
    --------
    >>> with vicinal.threads(1):
    ...     vicinal.get_threads()
    1
    """
    before = get_threads()
    set_threads(n)
    try:
        yield
    finally:
        set_threads(before)


def _from_environment() -> None:
    wanted = os.environ.get("VICINAL_NUM_THREADS", "").strip()
    if wanted:
        try:
            set_threads(int(wanted))
        except ValueError:
            note_fault(f"VICINAL_NUM_THREADS must be a whole number from 1 to {MOST_THREADS}, got {wanted!r}")


os.register_at_fork(after_in_child=_core.work_alone)
_from_environment()
