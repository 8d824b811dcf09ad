"""Points in text columns, separated by commas, semicolons or white space, with or without a header."""

from __future__ import annotations

import csv
import warnings
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from vicinal import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

DIMENSIONS = (2, 3)


@dataclass(frozen=True)
class Layout:
    """Layout of the columns of a file.

    Attributes
    ----------
    first
        Number of the first line with numbers, counted from 1.
    delimiter
        Character between the columns, None for white space.
    columns
        Positions of x, y and z among the columns, counted from 0.
    exact
        Number of columns every line must have; None if only `columns` matter.
    last
        Number of the last line to read, None for the end of the file.
    """

    first: int
    delimiter: str | None
    columns: tuple[int, ...]
    exact: int | None = None
    last: int | None = None


def read_text(path: Path) -> NDArray[np.float64]:
    """Read points from text columns; see `vicinal.io.read_points`."""
    try:
        with path.open(encoding="utf-8-sig", newline=None) as file:
            layout = find_layout(path, file)
        with path.open(encoding="utf-8-sig", newline=None) as file:
            for _ in range(layout.first - 1):
                next(file)
            return read_columns(path, file, layout)
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not text; save the file as UTF-8, or as .npy"
        raise InputError(message) from error


def find_layout(path: Path, lines: Iterable[str]) -> Layout:
    """Return the layout that the lines up to the first one with numbers imply."""
    comment: tuple[int, str] | None = None
    for number, raw in enumerate(lines, start=1):
        line = raw.strip()
        if line.startswith("#"):
            comment = (number, line.lstrip("#").strip())
        elif line:
            fields = split(line, delimiter_of(line))
            if not any(is_number(field) for field in fields):
                return _named(path, number, line, first=number + 1)
            # numpy.savetxt writes the header as a comment.
            if comment is not None and {"x", "y"} <= set(_names(comment[1])):
                named = _named(path, *comment, first=number)
                return Layout(number, delimiter_of(line), named.columns)
            if len(fields) not in DIMENSIONS:
                message = (
                    f"{path}, line {number}: points must have 2 or 3 columns, got {_columns(len(fields))} without a"
                    " header; add a first line that names the columns, with x, y and z among them"
                )
                raise InputError(message)
            return Layout(number, delimiter_of(line), tuple(range(len(fields))), exact=len(fields))
    message = f"{path}: has no lines with numbers; a file without points needs a header line such as x,y,z"
    raise InputError(message)


def read_columns(path: Path, lines: Iterable[str], layout: Layout) -> NDArray[np.float64]:
    """Read the columns of a layout from lines that begin with its first one."""
    try:
        with warnings.catch_warnings():
            # A header without lines below it means no points, which is not worth a warning.
            warnings.filterwarnings("ignore", message=".*input contained no data", category=UserWarning)
            return np.loadtxt(
                lines,
                delimiter=layout.delimiter,
                usecols=layout.columns if layout.exact is None else None,
                quotechar='"',
                ndmin=2,
            ).reshape(-1, len(layout.columns))
    except UnicodeDecodeError:
        raise
    except ValueError as error:
        # NumPy reports rows, not lines: read again, slowly, up to the line at fault.
        with path.open(encoding="utf-8-sig", newline=None) as file:
            complaint = find_fault(file, layout) or f": {error}"
        message = f"{path}{complaint}"
        raise InputError(message) from error


def find_fault(lines: Iterable[str], layout: Layout) -> str | None:
    """Describe the first line that does not fit the layout, None if all do."""
    for number, raw in enumerate(islice(lines, layout.last), start=1):
        line = raw.partition("#")[0].strip()
        if number < layout.first or not line:
            continue
        fields = split(line, layout.delimiter)
        if layout.exact is not None and len(fields) != layout.exact:
            return (
                f", line {number}: must have as many columns as line {layout.first} has, {layout.exact},"
                f" got {_columns(len(fields))}; complete or remove the line"
            )
        for column in layout.columns:
            if column >= len(fields):
                count = _columns(len(fields))
                return f", line {number}: needs {column + 1} columns, got {count}; complete or remove the line"
            if not is_number(fields[column]):
                return (
                    f", line {number}: column {column + 1} must be a number, got {fields[column]!r}; correct or remove"
                    " the line (the decimal sign is a point)"
                )
    return None


def delimiter_of(line: str) -> str | None:
    """Return the character between the columns of a line, None for white space.

    Examples
    --------
    >>> delimiter_of("1;2"), delimiter_of("1, 2"), delimiter_of("1 2")
    (';', ',', None)
    """
    return next((mark for mark in ";," if mark in line), None)


def split(line: str, delimiter: str | None) -> list[str]:
    """Split a line into its columns, respecting double quotes.

    Examples
    --------
    >>> split('"a, b", 1.5', ",")
    ['a, b', '1.5']
    """
    if delimiter is None:
        return line.split()
    row = next(csv.reader([line], delimiter=delimiter, skipinitialspace=True))
    return [field.strip() for field in row]


def is_number(text: str) -> bool:
    """Return whether a text is a number that NumPy reads.

    Examples
    --------
    >>> is_number("1e-3"), is_number("nan"), is_number("1_000"), is_number("x")
    (True, True, False, False)
    """
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _names(header: str) -> list[str]:
    return [name.lower() for name in split(header, delimiter_of(header))]


def _named(path: Path, number: int, header: str, *, first: int) -> Layout:
    names = _names(header)
    axes = [axis for axis in ("x", "y", "z") if axis in names]
    if axes[:2] != ["x", "y"]:
        message = f"{path}, line {number}: header names {', '.join(names)}; needs x, y and, in 3D, z"
        raise InputError(message)
    if any(names.count(axis) > 1 for axis in axes):
        message = f"{path}, line {number}: header names a coordinate twice ({', '.join(names)}); rename one"
        raise InputError(message)
    return Layout(first, delimiter_of(header), tuple(names.index(axis) for axis in axes))


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"
