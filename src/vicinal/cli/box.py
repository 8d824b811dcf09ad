"""The box as the command line gives it: ``10``, ``10,10,-`` or ``file``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vicinal import InputError

if TYPE_CHECKING:
    from vicinal.io import PointSet

Box = tuple[float | None, ...] | float

FROM_FILE = "file"


def parse_box(text: str) -> Box:
    """Read a box: one length for a cube, or one per axis with ``-`` for an open one.

    Examples
    --------
    >>> parse_box("10"), parse_box("10,20.5,-")
    (10.0, (10.0, 20.5, None))
    """
    edges: list[float | None] = []
    for entry in text.split(","):
        try:
            edges.append(None if entry.strip() == "-" else float(entry))
        except ValueError:
            message = (
                f"--box: found {entry.strip()!r} in {text!r} where a length should be;"
                f" give one length, one per axis as in 10,10,- or the word {FROM_FILE}"
            )
            raise InputError(message) from None
    if len(edges) == 1 and edges[0] is not None:
        return edges[0]
    return tuple(edges)


def box_of_file(name: str, found: PointSet) -> Box:
    """Give the box that a file describes, or say why it cannot be used."""
    if found.box is None:
        message = f"--box {FROM_FILE}: no box in {name}: {found.no_box}; give lengths as in --box 10,10,10"
        raise InputError(message)
    return found.box


def describe(box: Box | None) -> str:
    """Write a box for people.

    Examples
    --------
    >>> describe(None), describe(10.0), describe((10.0, None, 2.5))
    ('open', '10 (cube)', '10 x open x 2.5')
    """
    if box is None:
        return "open"
    if not isinstance(box, tuple):
        return f"{box:g} (cube)"
    return " x ".join("open" if edge is None else f"{edge:g}" for edge in box)
