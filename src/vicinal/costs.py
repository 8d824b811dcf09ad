"""The cost of a search with each structure: counts of its operations, times the seconds per operation.

The core surveys the bodies, and each structure estimates named counts from the survey (cpp/index/estimates/): bodies
sorted, blocks started, candidates copied and tested. The seconds per operation are in costs.json, written by
benchmarks/calibrate.py, by instruction set and maker of the processor ("avx512 AMD"): processors with the same
instructions take different times for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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
    """Return the tables of costs.json by instruction set and maker of the processor."""
    import json

    tables: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return tables


def nearest(isa: str, maker: str, measured: Iterable[str]) -> str:
    """Return the name of the table of an instruction set, or of the one nearest to it, the lower of two.

    Of several tables of one instruction set it is that of the maker of the processor, otherwise the first.
    """

    def distance(name: str) -> tuple[int, int, bool]:
        rank = ISAS[isa_of(name)]
        return abs(rank - ISAS[isa]), rank, name != table_name(isa_of(name), maker)

    return min(measured, key=distance)


def table_name(isa: str, maker: str) -> str:
    """Return the name of the table of an instruction set and a maker of processors."""
    return f"{isa} {maker}".strip()


def isa_of(name: str) -> str:
    """Return the instruction set of a table of costs.json."""
    return name.partition(" ")[0]


@cache
def costs_with(isa: str) -> Costs:
    """Return the seconds for an instruction set on this processor."""
    return costs_named(nearest(isa, _core.processor_maker(), read_tables()))


@cache
def costs_named(name: str) -> Costs:
    """Return the seconds of a table."""
    table = read_tables()[name]
    return Costs(
        isa_of(name),
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
    costs_named.cache_clear()
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
