"""The periodic box on the command line: ``10``, ``10,10,-`` or ``open``."""

from __future__ import annotations

from vicinal import InputError

Box = tuple[float | None, ...] | float

OPEN = "open"


def parse_box(text: str) -> Box | None:
    """Read a box: one length for a cube, one per axis with ``-`` for an open axis, or ``open`` for open space.

    Examples
    --------
    >>> parse_box("10"), parse_box("10,20.5,-"), parse_box("open")
    (10.0, (10.0, 20.5, None), None)
    """
    if text.strip() == OPEN:
        return None
    edges: list[float | None] = []
    for entry in text.split(","):
        try:
            edges.append(None if entry.strip() == "-" else float(entry))
        except ValueError:
            message = (
                f"--box must be one length, one per axis as in 10,10,- or the word {OPEN},"
                f" got {entry.strip()!r} in {text!r}"
            )
            raise InputError(message) from None
    if len(edges) == 1 and edges[0] is not None:
        return edges[0]
    return tuple(edges)


def describe(box: Box | None) -> str:
    """Return the text that reports a box.

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
