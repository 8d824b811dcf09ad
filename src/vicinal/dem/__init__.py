"""Grains: spheres, clumps, tablets and polyhedra that touch, rub and roll."""

from vicinal.dem.materials import Material
from vicinal.dem.shapes import Clump, Polyhedron, Tablet
from vicinal.dem.simulation import CriticalTimes, Simulation
from vicinal.dem.walls import Cylinder, MeshWall, Plane, Wall, box_walls

__all__ = [
    "Clump",
    "CriticalTimes",
    "Cylinder",
    "Material",
    "MeshWall",
    "Plane",
    "Polyhedron",
    "Simulation",
    "Tablet",
    "Wall",
    "box_walls",
]
