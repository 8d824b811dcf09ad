"""The cost of a search with each structure: counts of its operations, times the seconds per operation.

The core surveys the bodies, and each structure estimates named counts from the survey (cpp/index/estimates/): bodies
sorted, blocks started, candidates copied and tested. The seconds per operation are in costs.json, one table for each
instruction set, written by benchmarks/calibrate.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from vicinal import _core
from vicinal.settings import Settings
from vicinal.structures import STRUCTURES
from vicinal.structures.linked_cells import BYTES_PER_CELL, GRID_SHARE

# Up to this many bodies, all pairs are tested and nothing is surveyed. None: the limit measured in costs.json. With a
# negative limit `Exhaustive` is never chosen for two bodies or more: tests reach the other structures that way.
ALL_PAIRS_LIMIT: int | None = None

FILE = Path(__file__).with_name("costs.json")
# Instruction sets, and ranks by which one stands in for another.
ISAS = {"baseline": 0, "neon": 1, "avx2": 1, "avx512": 2}


@dataclass(frozen=True)
class Costs:
    """The seconds measured with one instruction set.

    Parameters
    ----------
    isa
        The instruction set they were measured with.
    all_pairs_limit
        Up to this many bodies, testing all pairs takes less time than choosing a structure and searching with it.
    choosing
        Seconds to choose a structure for that many bodies.
    seconds
        By structure, kind of bodies, "few" or "many", and count.
    updates
        By structure: seconds for a body that stays in its cell and, in addition, for one that leaves it.
    table
        The same seconds, as the core reads them.
    """

    isa: str
    all_pairs_limit: int
    choosing: float
    seconds: Mapping[str, Any]
    updates: Mapping[str, Any]
    table: _core.CostTable


def read_tables(file: Path = FILE) -> dict[str, Any]:
    """Return the tables of costs.json, one for each instruction set that was measured."""
    import json

    tables: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tables


def nearest(isa: str, measured: Mapping[str, Any]) -> str:
    """Return the instruction set itself if it was measured, otherwise the one nearest to it, the lower of two."""
    return min(measured, key=lambda name: (abs(ISAS[name] - ISAS[isa]), ISAS[name]))


@cache
def costs_with(isa: str) -> Costs:
    """Return the seconds for an instruction set."""
    tables = read_tables()
    isa = nearest(isa, tables)
    table = tables[isa]
    return Costs(
        isa,
        table["all_pairs_limit"],
        table["choosing"],
        table["structures"],
        table["updates"],
        _core.CostTable(table["structures"], table["updates"]),
    )


def all_pairs_limit(costs: Costs, limit: int | None = None) -> int:
    """Return up to how many bodies all pairs are tested: `limit`, or that of this module, or the measured one."""
    limit = ALL_PAIRS_LIMIT if limit is None else limit
    return costs.all_pairs_limit if limit is None else limit


def current_costs() -> Costs:
    """Return the seconds for the instruction set in use."""
    return costs_with(_core.get_isa())


def forget() -> None:
    """Read the file again when it is needed."""
    costs_with.cache_clear()
    chooser.cache_clear()


@cache
def chooser() -> _core.Chooser:
    """Return what chooses the structures of single searches. It knows the costs of all instruction sets."""
    costs = {isa: costs_with(isa) for isa in _core.available_isas()}
    options = {name: STRUCTURES[name]._default_options() for one in costs.values() for name in one.seconds}  # noqa: SLF001
    limits = {isa: (one.table, one.all_pairs_limit) for isa, one in costs.items()}
    return _core.Chooser(limits, options, most_cells())


def most_cells() -> float:
    """Return the largest number of cells of a dense grid."""
    return GRID_SHARE * _core.physical_memory() / BYTES_PER_CELL


def survey(settings: Settings) -> _core.Survey:
    """Return the core's survey of bodies, made before a structure is built."""
    return _core.Survey(settings.bodies.for_core, settings.cutoff, settings.box.for_core, most_cells())
