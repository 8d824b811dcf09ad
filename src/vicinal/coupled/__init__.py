"""Grains and rigid bodies in a fluid: `vicinal.dem` and `vicinal.sph` in one simulation."""

from vicinal.coupled.coupling import Coupling
from vicinal.coupled.immersed import ImmersedBodies

__all__ = ["Coupling", "ImmersedBodies"]


def __dir__() -> list[str]:
    return __all__
