"""The time to build lists of several layouts and to sum a force per entry onto the bodies (Kureck 2016, chapter 4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

import vicinal as vc
from vicinal import _core
from vicinal.lab.experiments._kureck import Array
from vicinal.lab.rows import Row
from vicinal.timing import race

LAYOUTS = ("pairs", "hybrid", "rows")
FORCE = 3
"""Components of the value summed per entry."""


def time_lists(
    points: Array, reach: float, *, places: Iterable[int], layouts: Iterable[str], rounds: int
) -> Iterator[Row]:
    """Build every list from scratch and sum over it, all in turn; return a row for each.

    Parameters
    ----------
    points, reach
        Bodies, and the largest distance of a pair.
    places
        Numbers of fixed places per body. 0: a common list of pairs only.
    layouts
        Elements of `LAYOUTS` to time.
    rounds
        Number of rounds.
    """
    n, chosen = len(points), set(layouts)
    lists = {name: one for name, one in _lists(reach, places).items() if one.layout in chosen}
    values = np.ones(0, np.float32)
    sums = np.zeros((n, FORCE), np.float32)
    calls: dict[str, Callable[[], Any]] = {}
    for one in lists.values():
        one.made.update(points)
        values = values if len(values) >= one.size * FORCE else np.ones(one.size * FORCE, np.float32)
    for name, one in lists.items():
        calls |= {f"{part} {name}": call for part, call in one.loops(values, sums).items()}
        calls[f"search {name}"] = partial(one.made.update, points)
    clocks = race(calls, rounds=rounds)
    for name, one in lists.items():
        times = {
            f"{part}_seconds": clocks[f"{part} {name}"].best if f"{part} {name}" in clocks else 0.0
            for part in ("search", "static", "dynamic")
        }
        row: Row = {"structure": one.layout, **times, "step_seconds": sum(times.values())}
        if one.layout != "rows":
            row |= {"fixed_places": one.places, "dynamic_entries": len(one.made.j)}
        yield row | {"neighbors": 2 * one.made.stats.entries / n, "bytes_per_body": one.bytes / n}


@dataclass(frozen=True)
class List:
    """A list of one layout."""

    layout: Literal["rows", "pairs", "hybrid"]
    made: vc.NeighborList
    places: int = 0

    def loops(self, values: Array, sums: Array) -> dict[str, Callable[[], None]]:
        """Return the loops over its parts: entries at a fixed place of their body, and those in a common list."""
        made, opposite = self.made, -1
        if self.layout == "rows":
            given = values[: len(made.indices) * FORCE].reshape(-1, FORCE)
            return {"static": partial(_core.reduce_rows, made.offsets, made.indices, given, opposite, sums)}
        given = values[: len(made.j) * FORCE].reshape(-1, FORCE)
        loops: dict[str, Callable[[], None]] = {}
        loops["dynamic"] = partial(_core.reduce_pairs, made.i, made.j, given, opposite, sums)
        if self.layout == "hybrid":
            given = values[: made.table.size * FORCE].reshape(*made.table.shape, FORCE)
            loops["static"] = partial(_core.reduce_table, made.counts, made.table, given, opposite, sums)
        return loops

    @property
    def size(self) -> int:
        """Entries for which a loop needs values."""
        if self.layout == "rows":
            return len(self.made.indices)
        return max(len(self.made.j), self.made.table.size if self.layout == "hybrid" else 0)

    @property
    def bytes(self) -> int:
        """Bytes of the arrays that a loop needs."""
        made = self.made
        if self.layout == "rows":
            return made.offsets.nbytes + made.indices.nbytes
        dynamic = made.i.nbytes + made.j.nbytes
        return dynamic if self.layout == "pairs" else dynamic + made.table.nbytes


def _lists(reach: float, places: Iterable[int]) -> dict[str, List]:
    """Return all lists by name. As in the paper, the common list is in the order in which the pairs are found."""
    lists = {
        str(many): List("hybrid", vc.NeighborList(cutoff=reach, skin=0.0, layout="hybrid", width=many), many)
        for many in places
        if many
    }
    pairs = List("pairs", vc.NeighborList(cutoff=reach, skin=0.0, layout="pairs", sort=False))
    return {"0": pairs, **lists, "rows": List("rows", vc.NeighborList(cutoff=reach, skin=0.0))}
