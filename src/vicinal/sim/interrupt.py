"""Ctrl-C and SIGTERM as a request to stop at the next safe moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)
"""SIGINT (Ctrl-C), and SIGTERM, which batch schedulers send before they kill a job."""


# Set by SIGTERM inside `terminable`.
_ended = threading.Event()


@contextmanager
def terminable() -> Iterator[None]:
    """Let SIGTERM raise KeyboardInterrupt as Ctrl-C does, so that what a block has begun is cleaned up.

    Code that catches every exception can lose it: `Interrupt.listening` raises it again.

    Examples
    --------
    >>> import os
    >>> try:
    ...     with terminable():
    ...         os.kill(os.getpid(), signal.SIGTERM)
    ... except KeyboardInterrupt:
    ...     "stopped"
    'stopped'
    """
    # Only the main thread can handle signals. A handler of the caller stays, and an ignored signal stays ignored.
    if (
        threading.current_thread() is not threading.main_thread()
        or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL
    ):
        yield
        return
    _ended.clear()

    def end(*_: object) -> None:
        _ended.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        _ended.clear()


class Interrupt:
    """Whether the process was asked to stop.

    Examples
    --------
    >>> interrupt = Interrupt()
    >>> with interrupt.listening():
    ...     bool(interrupt)
    False
    """

    def __init__(self) -> None:
        self._requested = False

    def __bool__(self) -> bool:
        return self._requested

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Treat the first signal inside the block as a request to stop; a second one has its usual effect."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        if _ended.is_set():
            raise KeyboardInterrupt
        # A signal that is ignored, for example by nohup, stays ignored.
        before = {number: handler for number in SIGNALS if (handler := signal.getsignal(number)) is not signal.SIG_IGN}

        def restore() -> None:
            for number, handler in before.items():
                # None means that the handler was not installed from Python.
                signal.signal(number, signal.SIG_DFL if handler is None else handler)

        def request(*_: object) -> None:
            self._requested = True
            restore()

        for number in before:
            signal.signal(number, request)
        try:
            yield
        finally:
            restore()
