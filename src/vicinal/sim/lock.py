"""A lock on a folder of results, which only one run at a time may use."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import socket
from contextlib import suppress
from pathlib import Path
from typing import Self

from vicinal.io.atomic import process_lives
from vicinal.machine import now
from vicinal.sim.folder import LOCK

NO_LOCKS = {errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOLCK}
"""Errors of file systems without locks, such as some network file systems."""


class FolderInUseError(OSError):
    """Another run uses the folder."""


class FolderLock:
    """Locks a folder until `release` or the end of the process.

    The operating system releases the lock of a process that has died, so a stale lock file has no effect. On file
    systems without locks the folder counts as in use if the process named in the lock file is alive.

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
        self._owner = os.getpid()
        self._descriptor: int | None = None
        while self._descriptor is None:
            self._descriptor = self._locked()
        facts = {"process": self._owner, "host": socket.gethostname(), "since": now()}
        os.ftruncate(self._descriptor, 0)
        os.write(self._descriptor, json.dumps(facts).encode() + b"\n")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def __del__(self) -> None:
        self.release()

    def release(self) -> None:
        """Unlock the folder."""
        descriptor, self._descriptor = getattr(self, "_descriptor", None), None
        if descriptor is not None:
            # A forked process has a copy of this object, but not the lock.
            if os.getpid() == self._owner:
                # The file is removed while the lock is held, so no other run can hold a lock on it.
                with suppress(OSError):
                    self.path.unlink()
            os.close(descriptor)

    def _locked(self) -> int | None:
        """Return the locked file; None if it was removed in the meantime and the caller must try again."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            self._flock(descriptor)
            # The former owner has removed this file; other processes open a new one.
            if self._is_own(descriptor):
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        return None

    def _flock(self, descriptor: int) -> None:
        """Lock a file, or raise `FolderInUseError`."""
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise self._in_use() from None
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
            self._check_process()

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
            f"the output must be a folder that no other run writes into, got {self.path.parent}, in use{owner}; "
            "wait until that run has ended, or choose another folder"
        )
