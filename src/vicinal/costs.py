"""What a search costs with each structure: counts of what it will do, times seconds from a benchmark.

The core surveys the bodies and counts what each structure would do with them (index/ways.hpp): sort a body, start a
block, copy a candidate, test one. What each of these takes is in costs.json, which benchmarks/calibrate.py writes: once
for few bodies, which stay in the caches, and once for many; between them it changes with the logarithm of their number.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from operator import mul
from pathlib import Path
from typing import Any

from vicinal import _core
from vicinal.index import Settings
from vicinal.structures.linked_cells import BYTES_PER_CELL, GRID_SHARE

# What is counted of each structure, in the order of index/ways.hpp.
COUNTS: dict[str, tuple[str, ...]] = {
    "Exhaustive": ("call", "body", "test", "pair"),
    "LinkedCells": (
        *("call", "body", "sort", "grid", "fresh", "block"),
        *("image", "row", "far", "copy", "test", "pair"),
    ),
    "CellSorting": (
        *("call", "body", "sort", "grid", "compare", "block"),
        *("image", "row", "copy", "test", "pair"),
    ),
    "SpatialHash": ("call", "body", "sort", "block", "image", "look", "copy", "test", "pair"),
    "HashGrid": ("call", "body", "sort", "bin", "block", "image", "row", "copy", "test", "pair"),
    "BVH": ("call", "body", "sort", "leaf", "image", "visit", "copy", "test", "pair"),
    "Octree": ("call", "body", "sort", "block", "image", "copy", "test", "pair"),
    "SweepAndPrune": ("call", "body", "sort", "block", "image", "copy", "test", "pair"),
}
# The parameter that the ways to use a structure differ in.
PARAMETERS = {"LinkedCells": ("cell", float), "CellSorting": ("h_mask", int)}
# Structures that keep something from step to step, and what of the counts of a single search they do not do again.
UPDATES: dict[str, frozenset[str]] = {
    "HashGrid": frozenset({"body", "sort", "bin"}),
    "BVH": frozenset({"body", "sort", "leaf"}),
    "Octree": frozenset({"body", "sort"}),
    "SweepAndPrune": frozenset({"body", "sort", "block", "image", "copy", "test"}),
}

# Up to so many bodies, all pairs are tested and nothing is surveyed. None: the limit measured in costs.json. With a
# negative limit `Exhaustive` is never chosen for two bodies or more: tests reach the other structures that way.
ALL_PAIRS_LIMIT: int | None = None

FEW, MANY = 1e3, 1e5
STEPS = 32  # between few and many

FILE = Path(__file__).with_name("costs.json")
_seconds: dict[str, Any] = {}
_between: dict[tuple[str, float], dict[str, list[float]]] = {}


def seconds() -> Mapping[str, Any]:
    """Return what was measured: the seconds of each count of each structure for each kind of bodies."""
    if not _seconds:
        import json

        _seconds.update(json.loads(FILE.read_text(encoding="utf-8")))
    return _seconds


def forget() -> None:
    """Read the file again when it is needed."""
    _seconds.clear()
    _between.clear()


def share_of_many(bodies: int) -> float:
    """Return 0 for few bodies, 1 for many, and some steps between."""
    share = math.log(max(bodies, 1) / FEW) / math.log(MANY / FEW)
    return round(STEPS * min(max(share, 0.0), 1.0)) / STEPS


def seconds_each(kind: str, bodies: int) -> dict[str, list[float]]:
    """Return the seconds of the counts of each structure, in their order."""
    share = share_of_many(bodies)
    key = kind, share
    if key not in _between:
        _between[key] = {}
        for name, kinds in seconds()["structures"].items():
            few, many = kinds[kind]["few"], kinds[kind]["many"]
            _between[key][name] = [(1 - share) * few[count] + share * many[count] for count in COUNTS[name]]
    return _between[key]


@dataclass(frozen=True)
class Way:
    """A way to search: a structure, its parameters, and what it would do."""

    structure: str
    parameters: dict[str, Any]
    counts: list[float]


class Outlook:
    """The ways to search some bodies, and what can be said of these."""

    def __init__(self, settings: Settings) -> None:
        bodies = settings.bodies
        self.bodies, self.kind, self.periodic = len(bodies), bodies.kind, any(settings.box)
        self.size = settings.cutoff
        most = GRID_SHARE * _core.physical_memory() / BYTES_PER_CELL
        self.found, about = _core.ways(bodies.for_core, settings.cutoff, settings.box, most)
        self.grid_cells, self.pair_size, self.largest, self.levels, self._cell = about
        if self.kind != "points":
            self.size = 2 * self.pair_size

    def ways(self) -> list[Way]:
        """Return every way, with the names of its parameters."""
        return [Way(name, _parameters(name, value), counts) for name, value, counts in self.found]

    def best(self, motion: float | None = None) -> dict[str, tuple[float, dict[str, Any]]]:
        """Return the seconds of the best way to use each structure, and its parameters.

        With `motion`, of a step of an index that lasts: what is kept from step to step is not built anew.
        """
        least: dict[str, tuple[float, float]] = {}
        structures = seconds_each(self.kind, self.bodies)
        for name, value, counts in self.found:
            each = structures[name]
            if motion is not None:
                each = self._recurring(name, each)
            cost = sum(map(mul, each, counts))
            if name not in least or cost < least[name][0]:
                least[name] = cost, value
        if motion is not None:
            for name in UPDATES:
                cost, value = least[name]
                least[name] = cost + self._update(name, motion), value
        return {name: (cost, _parameters(name, value)) for name, (cost, value) in least.items()}

    def moved(self, motion: float) -> float:
        """Share of the bodies that leave a cell when they move by so many of their sizes."""
        return min(1.0, 1.5 * motion * self.size / self._cell)

    def _keeps(self, name: str) -> bool:
        return name in UPDATES and not (name == "SweepAndPrune" and self.periodic)

    def _recurring(self, name: str, each: list[float]) -> list[float]:
        if not self._keeps(name):
            return each
        return [0.0 if count in UPDATES[name] else factor for count, factor in zip(COUNTS[name], each, strict=True)]

    def _update(self, name: str, motion: float) -> float:
        if not self._keeps(name):
            return 0.0
        each = seconds()["updates"][name]
        return float(self.bodies * (each["stay"] + each["move"] * self.moved(motion)))


def _parameters(name: str, value: float) -> dict[str, Any]:
    if not value:
        return {}
    parameter, kind = PARAMETERS[name]
    return {parameter: kind(value)}
