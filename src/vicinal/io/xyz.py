"""Points from the first frame of an xyz or extended xyz file.

A frame is a line with the number of atoms, a comment, and a line ``element x y z`` for each atom. The comment
of an extended file holds ``key=value`` entries: ``Properties`` (which columns are which), ``Lattice`` (nine
numbers, the three edge vectors of the box) and ``pbc`` (which of them are periodic).
"""

from __future__ import annotations

import re
from itertools import islice
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

Box = tuple[float | None, ...]


def read_xyz(path: Path) -> tuple[NDArray[np.float64], Box | None, str]:
    """Read the first frame; see `vicinal.io.read_points`.

    Returns
    -------
    points, box, no_box
        Array of shape (n, 3); the box, None if there is none to be had; and the reason in that case.
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
    """Take the ``key=value`` entries out of the comment of an extended xyz file, keys in lower case.

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
        message = f"{path}, line 1: found {text!r}, needs the number of atoms; is this an xyz file?"
        raise InputError(message)
    return int(text)


def _columns(path: Path, entries: dict[str, str]) -> tuple[int, int, int]:
    """Tell where x, y and z stand: after the element, or as ``Properties=species:S:1:pos:R:3`` says."""
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
    message = f"{path}, line 2: Properties={described} describes no positions; needs an entry pos:R:3"
    raise InputError(message)


def box_of(entries: dict[str, str]) -> tuple[Box | None, str]:
    """Take the box out of the entries of a comment, or say why there is none.

    A box that cannot be used is no error by itself: the points are good, and the box may not be wanted.

    Examples
    --------
    >>> box_of({"lattice": "5 0 0 0 5 0 0 0 9", "pbc": "T T F"})
    ((5.0, 5.0, None), '')
    >>> box_of({})
    (None, 'its comment line has no Lattice entry')
    """
    lattice = entries.get("lattice")
    if lattice is None:
        return None, "its comment line has no Lattice entry"
    numbers = lattice.split()
    if len(numbers) != 9 or not all(is_number(number) for number in numbers):
        return None, f'line 2: Lattice="{lattice}" is not nine numbers'
    edges = np.array(numbers, dtype=float).reshape(3, 3)
    lengths = np.diagonal(edges)
    # Written so that NaN counts as tilted.
    if not np.abs(edges - np.diag(lengths)).max() <= TILT * np.abs(edges).max():
        return None, f'line 2: Lattice="{lattice}" is tilted; edges must lie along x, y and z'
    flags = entries.get("pbc", "T T T").upper().split()
    if len(flags) != 3 or not set(flags) <= PERIODIC | OPEN:
        return None, f'line 2: pbc="{entries["pbc"]}" is not three of T and F'
    edge_of = zip(lengths.tolist(), flags, strict=True)
    return tuple(edge if flag in PERIODIC else None for edge, flag in edge_of), ""


def _missing(path: Path, atoms: int) -> str:
    """Say which line of the frame holds no atom."""
    with path.open(encoding="utf-8-sig") as file:
        lines = list(islice(file, 2 + atoms))
    for number, line in enumerate(lines[2:], start=FIRST_ATOM):
        if not line.strip():
            return f"{path}, line {number}: empty line among the {atoms} atoms of line 1; remove it"
    found = max(0, len(lines) - 2)
    return f"{path}, line 1: promises {atoms} atoms, but {found} follow; correct the number"
