"""vicinal: every close pair among moving bodies, exactly, and as fast as the processor allows.

The same set of pairs, bit for bit, as the plain NumPy expression, for every structure, thread count and processor.
"""

from importlib.metadata import version as _version

from vicinal.choose import Choice, choose
from vicinal.errors import InputError
from vicinal.index import CellSorting, Exhaustive, Index, LinkedCells, Stats
from vicinal.machine import info
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.threads import get_threads, set_threads, threads

__version__ = _version("vicinal")
__all__ = [
    "CellSorting",
    "Choice",
    "Exhaustive",
    "Index",
    "InputError",
    "LinkedCells",
    "Neighbors",
    "Stats",
    "choose",
    "count",
    "get_threads",
    "info",
    "neighbors",
    "pairs",
    "set_threads",
    "threads",
]
