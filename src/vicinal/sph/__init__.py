"""Fluids: smoothed particle hydrodynamics (SPH) with walls, free surfaces and periodic boxes."""

from vicinal.sim.solver import UnstableError
from vicinal.sph.faults import FillWarning, OverlapWarning, SolverWarning, SoundSpeedWarning, SpacingWarning
from vicinal.sph.kernels import SmoothingKernel
from vicinal.sph.phases import Phase
from vicinal.sph.simulation import Simulation
from vicinal.sph.viscosity import Artificial, Laminar

__all__ = [
    "Artificial",
    "FillWarning",
    "Laminar",
    "OverlapWarning",
    "Phase",
    "Simulation",
    "SmoothingKernel",
    "SolverWarning",
    "SoundSpeedWarning",
    "SpacingWarning",
    "UnstableError",
]


def __dir__() -> list[str]:
    return __all__
