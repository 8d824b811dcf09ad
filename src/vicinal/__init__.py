"""vicinal: every close pair among moving bodies, exactly, and as fast as the processor allows.

The same set of pairs, bit for bit, as the plain NumPy expression, for every structure, thread count and processor.
"""

from importlib import import_module

from vicinal.choose import Choice, choose
from vicinal.contacts import Contacts, Ended
from vicinal.errors import InputError
from vicinal.index import Index, Stats
from vicinal.layouts import ListPointers
from vicinal.list_state import ListStats
from vicinal.machine import info
from vicinal.mesh import Mesh, MeshContacts
from vicinal.neighbor_list import NeighborList
from vicinal.order import spatial_order
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.structures import (
    BVH,
    CellSorting,
    Delaunay,
    Exhaustive,
    HashGrid,
    LinkedCells,
    Octree,
    SpatialHash,
    SweepAndPrune,
)
from vicinal.threads import get_threads, set_threads, threads

__all__ = [
    "BVH",
    "CellSorting",
    "Choice",
    "Contacts",
    "Delaunay",
    "Ended",
    "Exhaustive",
    "HashGrid",
    "Index",
    "InputError",
    "LinkedCells",
    "ListPointers",
    "ListStats",
    "Mesh",
    "MeshContacts",
    "NeighborList",
    "Neighbors",
    "Octree",
    "SpatialHash",
    "Stats",
    "SweepAndPrune",
    "choose",
    "count",
    "get_threads",
    "info",
    "neighbors",
    "pairs",
    "set_threads",
    "spatial_order",
    "threads",
]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return info()["version"]
    if name in {"lab", "scenes", "sim"}:  # late: a search needs none of them
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
