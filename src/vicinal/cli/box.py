"""The periodic box on the command line: ``10``, ``10,10,-``, lengths and angles, edge vectors, or ``open``."""

from __future__ import annotations

from vicinal import InputError

Box = tuple[float | None, ...] | tuple[tuple[float, ...], ...] | float

OPEN = "open"
MATRICES = {4: 2, 9: 3}
"""Numbers of a matrix of edge vectors, and its dimension."""
ANGLES = 6
"""Numbers of three lengths and three angles."""


def parse_box(text: str) -> Box | None:
    """Read a box: one length for a cube, one per axis with ``-`` for an open axis, or ``open`` for open space.

    Six numbers are lengths and angles, nine (in the plane four) are the edge vectors one after another.

    Examples
    --------
    >>> parse_box("10"), parse_box("10,20.5,-"), parse_box("open")
    (10.0, (10.0, 20.5, None), None)
    >>> parse_box("5,0,1,5")
    ((5.0, 0.0), (1.0, 5.0))
    """
    if text.strip() == OPEN:
        return None
    edges: list[float | None] = []
    for entry in text.split(","):
        try:
            edges.append(None if entry.strip() == "-" else float(entry))
        except ValueError:
            message = (
                f"--box must be one length, one per axis as in 10,10,-, lengths and angles, edge vectors, or {OPEN!r},"
                f" got {entry.strip()!r} in {text!r}"
            )
            raise InputError(message) from None
    if len(edges) == 1 and edges[0] is not None:
        return edges[0]
    numbers = [edge for edge in edges if edge is not None]
    if len(numbers) == len(edges) and len(numbers) in MATRICES:
        dim = MATRICES[len(numbers)]
        return tuple(tuple(numbers[k : k + dim]) for k in range(0, len(numbers), dim))
    return tuple(edges)


def describe(box: Box | None) -> str:
    """Return the text that reports a box.

    Examples
    --------
    >>> describe(None), describe(10.0), describe((10.0, None, 2.5))
    ('open', '10 (cube)', '10 x open x 2.5')
    >>> describe(((5.0, 0.0), (1.0, 5.0))), describe((5.0, 5.0, 9.0, 90.0, 90.0, 120.0))
    ('(5, 0) x (1, 5)', '5 x 5 x 9, angles 90, 90, 120')
    """
    if box is None:
        return "open"
    if not isinstance(box, tuple):
        return f"{box:g} (cube)"
    edges = [_edge(edge) for edge in box]
    if len(edges) == ANGLES:
        return f"{' x '.join(edges[:3])}, angles {', '.join(edges[3:])}"
    return " x ".join(edges)


def _edge(edge: float | tuple[float, ...] | None) -> str:
    if edge is None:
        return "open"
    return f"({', '.join(f'{x:g}' for x in edge)})" if isinstance(edge, tuple) else f"{edge:g}"
