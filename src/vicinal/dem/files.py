"""Files that are replaced as a whole, many times in a run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


@contextmanager
def renamed(path: Path, *, sync: bool) -> Iterator[Path]:
    """Give a name to write to; what is there takes the real name at the end, or goes if something fails.

    A kill at any moment leaves the old file or the new one. `sync` waits for the disk, so that this holds for a loss
    of power too; that can take a good part of a second on a busy disk.
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        if sync:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def replace_file(path: Path, content: bytes) -> None:
    """Write a file that is replaced again soon: safe against a kill and a full disk, without waiting for the disk."""
    with renamed(path, sync=False) as temporary:
        temporary.write_bytes(content)
