"""The table of results: a CSV file with one line per moment."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from vicinal.io.atomic import replace_file


class Table:
    """A CSV file that grows line by line; a line is either complete or absent.

    Parameters
    ----------
    path
        The file. An existing one is replaced.
    columns
        Names of the columns after ``step`` and ``time``.
    keep
        Continue the existing table after this step instead.
    """

    def __init__(self, path: Path, columns: Sequence[str], *, keep: int | None = None) -> None:
        self.path = path
        head = _line(["step", "time", *columns])
        lines = [] if keep is None or not path.exists() else _kept(path, head, keep)
        replace_file(path, "".join([head, *lines]).encode())

    def append(self, step: int, time: float, values: Sequence[float]) -> None:
        """Write a line; reading returns exactly the same floats."""
        line = _line([step, repr(float(time)), *(repr(x.item() if hasattr(x, "item") else x) for x in values)]).encode()
        # One system call per line, so that a line is written completely or not at all.
        descriptor = os.open(self.path, os.O_WRONLY | os.O_APPEND)
        try:
            written = os.write(descriptor, line)
            if written < len(line):
                os.ftruncate(descriptor, os.fstat(descriptor).st_size - written)
                raise OSError(f"{self.path}: no space left on the device")
        finally:
            os.close(descriptor)


def _line(values: Sequence[object]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()


def _kept(path: Path, head: str, until: int) -> list[str]:
    """Return the lines of a table up to a step; its columns must be the same."""
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if not lines or lines[0] != head:
        return []
    return [line for line in lines[1:] if line.endswith("\n") and int(line.partition(",")[0]) <= until]
