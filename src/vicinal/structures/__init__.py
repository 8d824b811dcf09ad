"""The search structures, one file each. A new structure is one line here."""

from vicinal.errors import InputError
from vicinal.index import Index
from vicinal.structures.bvh import BVH
from vicinal.structures.cell_sorting import CellSorting
from vicinal.structures.delaunay import Delaunay
from vicinal.structures.exhaustive import Exhaustive
from vicinal.structures.hash_grid import HashGrid
from vicinal.structures.linked_cells import LinkedCells
from vicinal.structures.octree import Octree
from vicinal.structures.spatial_hash import SpatialHash
from vicinal.structures.sweep_and_prune import SweepAndPrune

__all__ = [
    "BVH",
    "STRUCTURES",
    "CellSorting",
    "Delaunay",
    "Exhaustive",
    "HashGrid",
    "LinkedCells",
    "Octree",
    "SpatialHash",
    "StructureLike",
    "SweepAndPrune",
    "find_structure",
]

STRUCTURES: dict[str, type[Index]] = {
    kind.__name__: kind
    for kind in (BVH, CellSorting, Delaunay, Exhaustive, HashGrid, LinkedCells, Octree, SpatialHash, SweepAndPrune)
}

# A structure is named by its class or by the name of its class; None stands for the one that `choose` returns.
StructureLike = type[Index] | str | None


def find_structure(value: object, name: str = "structure") -> type[Index]:
    """Return the class of a structure given as a class or by its name."""
    kind = STRUCTURES.get(value) if isinstance(value, str) else value
    if not (isinstance(kind, type) and issubclass(kind, Index) and kind is not Index):
        raise InputError(f"{name} must be a structure or its name, one of {', '.join(STRUCTURES)}, got {value!r}")
    return kind
