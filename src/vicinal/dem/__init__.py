"""Grains: spheres, clumps, tablets and polyhedra that collide, rub and roll."""

from vicinal.dem.materials import Material
from vicinal.dem.shapes import Clump, Polyhedron, Tablet
from vicinal.dem.simulation import Simulation, SimulationStats
from vicinal.dem.times import CriticalTimes, TimeStepWarning
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, box_walls

__all__ = [
    "Clump",
    "CriticalTimes",
    "Cylinder",
    "Material",
    "MeshWall",
    "Plane",
    "Polyhedron",
    "Simulation",
    "SimulationStats",
    "Tablet",
    "TimeStepWarning",
    "Wall",
    "box_walls",
]
