"""Grains: spheres, clumps, tablets and polyhedra with contact forces, friction and rolling resistance."""

from vicinal.dem.faults import CrossingWarning
from vicinal.dem.materials import Material
from vicinal.dem.overlaps import Overlaps
from vicinal.dem.shapes import Clump, Polyhedron, Tablet
from vicinal.dem.simulation import Simulation
from vicinal.dem.stats import SimulationStats
from vicinal.dem.times import CriticalTimes, TimeStepWarning
from vicinal.sim.solver import UnstableError
from vicinal.sim.walls import Cylinder, MeshWall, Plane, Wall, box_walls

__all__ = [
    "Clump",
    "CriticalTimes",
    "CrossingWarning",
    "Cylinder",
    "Material",
    "MeshWall",
    "Overlaps",
    "Plane",
    "Polyhedron",
    "Simulation",
    "SimulationStats",
    "Tablet",
    "TimeStepWarning",
    "UnstableError",
    "Wall",
    "box_walls",
]


def __dir__() -> list[str]:
    return __all__
