"""Grains: spheres, clumps, tablets and polyhedra that touch, rub and roll."""

from vicinal.dem.config import Scene, load
from vicinal.dem.materials import Material
from vicinal.dem.run import Progress, Result, Run, run
from vicinal.dem.shapes import Clump, Polyhedron, Tablet
from vicinal.dem.simulation import Simulation
from vicinal.dem.times import CriticalTimes, TimeStepWarning
from vicinal.dem.walls import Cylinder, MeshWall, Plane, Wall, box_walls

__all__ = [
    "Clump",
    "CriticalTimes",
    "Cylinder",
    "Material",
    "MeshWall",
    "Plane",
    "Polyhedron",
    "Progress",
    "Result",
    "Run",
    "Scene",
    "Simulation",
    "Tablet",
    "TimeStepWarning",
    "Wall",
    "box_walls",
    "load",
    "run",
]
