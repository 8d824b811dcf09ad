"""vicinal: all pairs of close bodies, exactly, and as fast as the processor allows.

The set of pairs is that of a plain NumPy expression, bit for bit, with every structure, thread count and processor.

`vicinal.adapters`, `coupled`, `dem`, `distributed`, `fluid`, `lab`, `scenes`, `sim`, `sky`, `sph` and `tiles` are
loaded when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from vicinal.choose import Choice, choose
from vicinal.components import components
from vicinal.contacts import Contacts, Ended
from vicinal.errors import InputError, MissingExtraError
from vicinal.histogram import histogram
from vicinal.index import Index
from vicinal.layouts import ListPointers
from vicinal.list_state import ListStats
from vicinal.machine import info
from vicinal.mesh import Mesh, MeshContacts
from vicinal.nearest import nearest
from vicinal.neighbor_list import NeighborList
from vicinal.order import spatial_order
from vicinal.reduce import reduce
from vicinal.rows import Neighbors
from vicinal.search import count, neighbors, pairs
from vicinal.stats import Stats
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

if TYPE_CHECKING:
    from vicinal import adapters, coupled, dem, distributed, fluid, lab, scenes, sim, sky, sph, tiles  # noqa: F401

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
    "MissingExtraError",
    "NeighborList",
    "Neighbors",
    "Octree",
    "SpatialHash",
    "Stats",
    "SweepAndPrune",
    "choose",
    "components",
    "count",
    "get_threads",
    "histogram",
    "info",
    "nearest",
    "neighbors",
    "pairs",
    "reduce",
    "set_threads",
    "spatial_order",
    "threads",
]

# Packages that a search does not need.
_LATE = ("adapters", "coupled", "dem", "distributed", "fluid", "lab", "scenes", "sim", "sky", "sph", "tiles")


def __dir__() -> list[str]:
    return [*__all__, *_LATE, "__version__"]


def __getattr__(name: str) -> object:
    if name == "__version__":
        return info()["version"]
    if name in _LATE:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
