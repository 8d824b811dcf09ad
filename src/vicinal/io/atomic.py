"""Output files that are complete or absent, never half-written."""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def atomic_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file for binary writing that appears under its name only once it is complete.

    The bytes go to a hidden temporary file beside the target, which takes the target's name at the end. Any
    exception inside the block, Ctrl-C included, removes the temporary file and leaves the target as it was.

    Parameters
    ----------
    path
        Where the file shall appear. An existing file is replaced; a symbolic link keeps pointing to it.

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
    target = path.resolve()
    if target.exists() and not target.is_file():
        # Renaming onto a device such as /dev/null would replace the device itself.
        message = f"{path}: exists and is not a regular file"
        raise OSError(message)
    # The process id keeps two runs apart; not tempfile, whose files ignore the umask (mode 600).
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            # On disk before it takes the name: otherwise a crash could leave an empty file under it.
            os.fsync(file.fileno())
        temporary.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise
