"""Ctrl-C as a request to stop at the next good moment."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Interrupt:
    """Whether Ctrl-C was pressed.

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
        """Take the first Ctrl-C inside the block as a request to stop; a second one has its usual effect."""
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
            yield
            return

        def request(*_: object) -> None:
            self._requested = True
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, request)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)
