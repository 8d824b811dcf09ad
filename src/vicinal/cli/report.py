"""Small tables and plain figures, for terminals and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LOG_WIDTH = 4096
"""Wider than any row: rich would fold rows at 80 characters where there is no terminal."""


def show(title: str, rows: Iterable[tuple[str, str]], *, to_stderr: bool = False) -> None:
    """Print a table of two columns; without colours where the output is not a terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=title, title_justify="left", box=box.SIMPLE_HEAD, show_header=False, pad_edge=False)
    table.add_column(style="dim", no_wrap=True)
    # Text, not str: a file name with brackets is not markup.
    table.add_column(overflow="fold")
    for name, value in rows:
        table.add_row(name, Text(value))
    console = Console(stderr=to_stderr, highlight=False)
    if not console.is_terminal:
        # Keep a path in a log on one line.
        console.width = LOG_WIDTH
    console.print(table)


def count(number: float) -> str:
    """Write a count with separators, or with three digits and a unit word when it is large.

    Examples
    --------
    >>> count(12345), count(1.234e9), count(2.5e7)
    ('12,345', '1.23 billion', '25 million')
    """
    for unit, word in ((1e12, "trillion"), (1e9, "billion"), (1e6, "million")):
        if number >= unit:
            return f"{number / unit:.3g} {word}"
    return f"{number:,.0f}"


def seconds(duration: float) -> str:
    """Write a duration in the unit that suits it.

    Examples
    --------
    >>> seconds(0.00123), seconds(12.345), seconds(125)
    ('1.23 ms', '12.3 s', '2 min 5 s')
    """
    if duration < 1.0:
        return f"{duration * 1e3:.3g} ms"
    if duration < 60.0:
        return f"{duration:.3g} s"
    return f"{int(duration // 60)} min {int(duration % 60)} s"
