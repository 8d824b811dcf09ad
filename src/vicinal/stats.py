"""Figures of an index."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Stats:
    """Figures of an index: its size, and its last build and search.

    Parameters
    ----------
    structure
        Name of the structure.
    bodies
        Number of bodies.
    candidates, pairs
        Pairs that the structure proposed in the last search, and how many of them passed the exact test.
    bytes
        Memory of the structure and its copy of the points, without results.
    build_seconds, query_seconds
        Time of the last build and of the last search.
    details
        Figures of the structure itself, such as the number of cells.
    """

    structure: str
    bodies: int
    candidates: int
    pairs: int
    bytes: int
    build_seconds: float
    query_seconds: float
    details: Mapping[str, float] = field(default_factory=dict)
