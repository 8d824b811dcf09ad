"""The exhaustive search: every pair is tested."""

from __future__ import annotations

from vicinal.index import Index


class Exhaustive(Index):
    """No structure: every pair is tested. It is the reference, and the best choice for a few hundred bodies.

    Examples
    --------
    >>> index = vicinal.Exhaustive([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0)
    >>> [column.tolist() for column in index.pairs(want="ijd", sort=True)]
    [[0, 0], [1, 2], [3.0, 4.0]]
    """

    _structure = "Exhaustive"
    _why = "most of the {bodies} bodies are near each other, so testing all pairs wastes little"
