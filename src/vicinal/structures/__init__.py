"""The search structures, one file each. A new one is one line here."""

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
    "SweepAndPrune",
]

STRUCTURES: dict[str, type[Index]] = {
    kind.__name__: kind
    for kind in (BVH, CellSorting, Delaunay, Exhaustive, HashGrid, LinkedCells, Octree, SpatialHash, SweepAndPrune)
}
