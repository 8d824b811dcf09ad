"""The parts that all simulations share: scenes, regions, packing, walls, the run loop, output, restarts and pictures.

Solvers such as `vicinal.dem` build on it; see `vicinal.sim.solver` for the interface between them.
"""

from vicinal.sim.lock import FolderInUseError
from vicinal.sim.progress import Progress
from vicinal.sim.run import Result, RunLoop, restart_scene, run
from vicinal.sim.scene import Scene, load
from vicinal.sim.solver import SimulationWarning, Solver, UnstableError

__all__ = [
    "FolderInUseError",
    "Progress",
    "Result",
    "RunLoop",
    "Scene",
    "SimulationWarning",
    "Solver",
    "UnstableError",
    "load",
    "restart_scene",
    "run",
]


def __dir__() -> list[str]:
    return __all__
