"""Points from the first frame of an xyz or extended xyz file.

A frame is a line with the number of atoms, a comment, and a line ``element x y z`` for each atom. The comment
of an extended file holds ``key=value`` entries: ``Properties`` (which columns are which), ``Lattice`` (nine
numbers, the three edge vectors of the box) and ``pbc`` (which of them are periodic).
"""

from __future__ import annotations

import re
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from vicinal import InputError
from vicinal.io.text import Layout, is_number, read_columns

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

FIRST_ATOM = 3
"""The line of the first atom, after the number of atoms and the comment."""

TILT = 1e-9
"""Off-diagonal part of a lattice, relative to its longest edge, that still counts as rounding."""

PERIODIC = {"T", "TRUE", "1"}
OPEN = {"F", "FALSE", "0"}

ENTRY = re.compile(r"""(\w+)\s*=\s*(?:"([^"]*)"|'([^']*)'|(\S+))""")

Box = tuple[float | None, ...] | tuple[tuple[float, ...], ...]
Periodic = tuple[bool, ...]


def read_xyz(path: Path) -> tuple[NDArray[np.float64], Box | None, Periodic | None, str]:
    """Read the first frame; see `vicinal.io.read_points`.

    Returns
    -------
    points, box, periodic, fault
        Array of shape (n, 3); the periodic box or None; along which of its vectors space is periodic, None for all; and
        why the box cannot be used, or an empty string.
    """
    try:
        with path.open(encoding="utf-8-sig") as file:
            atoms = _atoms(path, file.readline())
            entries = parse_comment(file.readline())
            layout = Layout(FIRST_ATOM, None, _columns(path, entries), last=FIRST_ATOM + atoms - 1)
            points = read_columns(path, islice(file, atoms), layout)
            if len(points) != atoms:
                raise InputError(_missing(path, atoms))
            return points, *box_of(entries)
    except UnicodeDecodeError as error:
        message = f"{path}: byte {error.start} is not text; xyz files are text files"
        raise InputError(message) from error


def parse_comment(comment: str) -> dict[str, str]:
    """Return the ``key=value`` entries of the comment of an extended xyz file, keys in lower case.

    Examples
    --------
    >>> parse_comment('Lattice="5 0 0 0 5 0 0 0 5" energy=-1.5')
    {'lattice': '5 0 0 0 5 0 0 0 5', 'energy': '-1.5'}
    """
    return {
        match[1].lower(): next(value for value in match.groups()[1:] if value is not None)
        for match in ENTRY.finditer(comment)
    }


def _atoms(path: Path, line: str) -> int:
    text = line.strip()
    if not (text.isascii() and text.isdigit()):
        message = f"{path}, line 1: the first line must be the number of atoms, got {text!r}; is this an xyz file?"
        raise InputError(message)
    return int(text)


def _columns(path: Path, entries: dict[str, str]) -> tuple[int, int, int]:
    """Return the columns of x, y and z: those after the element, or those of ``Properties=species:S:1:pos:R:3``."""
    described = entries.get("properties")
    if described is None:
        return (1, 2, 3)
    parts = described.split(":")
    column = 0
    for name, _kind, width in zip(parts[::3], parts[1::3], parts[2::3], strict=False):
        if not width.isdigit():
            break
        if name == "pos" and int(width) == len("xyz"):
            return (column, column + 1, column + 2)
        column += int(width)
    message = f"{path}, line 2: Properties={described} must contain an entry pos:R:3, the positions"
    raise InputError(message)


def box_of(entries: dict[str, str]) -> tuple[Box | None, Periodic | None, str]:
    """Return the periodic box of a comment line, its periodic vectors, and why it cannot be used.

    A box that cannot be used is no error by itself: the points are valid, and another box may be passed. Without a
    ``Lattice``, or with no axis periodic, space is open. The box is one length per axis if the periodic edges lie along
    the axes, otherwise the edge vectors.

    Examples
    --------
    >>> box_of({"lattice": "5 0 0 0 5 0 0 0 9", "pbc": "T T F"})
    ((5.0, 5.0, None), None, '')
    >>> box_of({})
    (None, None, '')
    >>> box_of({"lattice": "5 0 0 1 5 0 0 0 9", "pbc": "T T F"})
    (((5.0, 0.0, 0.0), (1.0, 5.0, 0.0), (0.0, 0.0, 9.0)), (True, True, False), '')
    """
    lattice = entries.get("lattice")
    flags = entries.get("pbc", "F F F" if lattice is None else "T T T").upper().split()
    if len(flags) != 3 or not set(flags) <= PERIODIC | OPEN:
        return None, None, f'line 2: pbc="{entries["pbc"]}" is not three of T and F'
    periodic = [flag in PERIODIC for flag in flags]
    if not any(periodic):
        return None, None, ""
    if lattice is None:
        return None, None, f'line 2: pbc="{entries["pbc"]}" comes without a Lattice'
    numbers = lattice.split()
    if len(numbers) != 9 or not all(is_number(number) and isfinite(float(number)) for number in numbers):
        return None, None, f'line 2: Lattice="{lattice}" is not nine finite numbers'
    edges = np.array(numbers, dtype=float).reshape(3, 3)
    lengths = np.diagonal(edges)
    if np.abs(edges - np.diag(lengths))[periodic].max() > TILT * np.abs(edges).max() or (lengths[periodic] <= 0).any():
        return tuple(tuple(row) for row in edges.tolist()), None if all(periodic) else tuple(periodic), ""
    return tuple(edge if wraps else None for edge, wraps in zip(lengths.tolist(), periodic, strict=True)), None, ""


def _missing(path: Path, atoms: int) -> str:
    """Return a message that names the line of the frame without an atom."""
    with path.open(encoding="utf-8-sig") as file:
        lines = list(islice(file, 2 + atoms))
    for number, line in enumerate(lines[2:], start=FIRST_ATOM):
        if not line.strip():
            return f"{path}, line {number}: empty line among the {atoms} atoms of line 1; remove it"
    count = max(0, len(lines) - 2)
    return f"{path}, line 1: the number of atoms must be that of the lines below, got {atoms} for {count} lines"
