"""Output files that are either complete or absent, never partly written."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


def check_place(path: Path) -> None:
    """Refuse a file that could not be written, before the work that produces it.

    Examples
    --------
    >>> check_place(Path("no such folder", "pairs.csv"))
    Traceback (most recent call last):
    FileNotFoundError: no such folder/pairs.csv: folder no such folder does not exist; create it first
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path}: folder {path.parent} does not exist; create it first")
    if path.exists() and not path.is_file():
        raise FileExistsError(f"{path}: exists and is not a regular file; choose another name")


@contextmanager
def atomic_path(path: Path, *, sync: bool = True) -> Iterator[Path]:
    """Give the name of a temporary file that takes the name `path` at the end of the block.

    Any exception inside the block, Ctrl-C included, removes the temporary file and leaves the target as it was. If the
    process is killed, the target is either the old file or the new one.

    Parameters
    ----------
    path
        Name of the finished file. An existing file is replaced; a symbolic link keeps pointing to it.
    sync
        Wait until the data is on disk, so that the guarantee also holds if the power fails. This can take a good part
        of a second on a busy disk.

    Yields
    ------
    path
        Name of the temporary file, in the folder of the target.
    """
    target = path.resolve()
    if target.exists() and not target.is_file():
        # Renaming onto a device such as /dev/null would replace the device itself.
        raise OSError(f"{path}: exists and is not a regular file")
    # The process id keeps two runs apart; not tempfile, whose files ignore the umask (mode 600).
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        yield temporary
        if sync:
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for binary writing that appears under its name only once it is complete.

    Parameters
    ----------
    path
        Name of the finished file, as for `atomic_path`.

    Yields
    ------
    file
        Open binary file.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = pathlib.Path(folder, "answer.txt")
    ...     with atomic_file(target) as file:
    ...         _ = file.write(b"42")
    ...     target.read_text()
    '42'
    """
    with atomic_path(path) as temporary, temporary.open("xb") as file:
        yield file


def replace_file(path: Path, content: bytes) -> None:
    """Write a small file that is replaced often: safe if the process is killed, without waiting for the disk."""
    with atomic_path(path, sync=False) as temporary:
        temporary.write_bytes(content)


_LEFTOVER = re.compile(r"\..+\.(\d+)\.part")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes that were killed before they could do so themselves.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as name:
    ...     folder = pathlib.Path(name)
    ...     _ = (folder / ".answer.txt.999999999.part").write_text("4")
    ...     remove_leftovers(folder)
    ...     list(folder.iterdir())
    []
    """
    for file in folder.glob(".*.part"):
        match = _LEFTOVER.fullmatch(file.name)
        if match and not process_lives(int(match[1])):
            with suppress(OSError):
                file.unlink()


def process_lives(process: int) -> bool:
    """Return whether a process of this machine exists.

    Examples
    --------
    >>> process_lives(os.getpid()), process_lives(999_999_999)
    (True, False)
    """
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # it belongs to another user
        return True
    return True
