"""A folder of results belongs to one run at a time."""

from __future__ import annotations

import json
import os
import socket
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Self

from vicinal.io.atomic import process_lives
from vicinal.machine import now
from vicinal.sim.folder import LOCK

fcntl: Any
try:
    fcntl = import_module("fcntl")
except ModuleNotFoundError:  # Windows
    fcntl = None


class FolderInUseError(OSError):
    """Another run writes into the folder."""


class FolderLock:
    """Holds a folder until `release`, or until the process ends, however it ends.

    The system drops the lock of a process that has died, so a lock file that is left behind does not count. Where
    there are no such locks (Windows), the process that the file names must be alive.

    Parameters
    ----------
    folder
        An existing folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FolderLock(Path(folder)):
    ...     sorted(entry.name for entry in Path(folder).iterdir())
    ['run.lock']
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / LOCK
        self._descriptor: int | None = None
        while self._descriptor is None:
            self._descriptor = self._locked()
        facts = {"process": os.getpid(), "host": socket.gethostname(), "since": now()}
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, json.dumps(facts).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Let go of the folder."""
        descriptor, self._descriptor = getattr(self, "_descriptor", None), None
        if descriptor is not None:
            # Removed while it is held, so that no other run can have locked it.
            with suppress(OSError):
                self.path.unlink()
            os.close(descriptor)

    def _locked(self) -> int | None:
        """Return the locked file; None if it was removed in the meantime, and another attempt is needed."""
        if fcntl is None:
            self._check_process()
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            if fcntl is not None:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # A file that its owner has removed is no longer the one that others open.
            if self._is_own(descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise self._in_use() from None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _is_own(self, descriptor: int) -> bool:
        try:
            return os.path.samestat(os.fstat(descriptor), self.path.stat())
        except FileNotFoundError:
            return False

    def _facts(self) -> dict[str, object]:
        try:
            facts = json.loads(self.path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return facts if isinstance(facts, dict) else {}

    def _check_process(self) -> None:
        facts = self._facts()
        process = facts.get("process")
        if facts.get("host") == socket.gethostname() and isinstance(process, int) and process_lives(process):
            raise self._in_use()

    def _in_use(self) -> FolderInUseError:
        facts = self._facts()
        owner = "" if len(facts) != 3 else " (process {process} on {host}, since {since})".format(**facts)
        return FolderInUseError(
            f"{self.path.parent}: another run writes into this folder{owner}; "
            "wait until it has ended, or choose another folder"
        )
