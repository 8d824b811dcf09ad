"""Wall particles and options in the state of a fluid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.distributed.agreement import agree_on
from vicinal.errors import InputError
from vicinal.sph.boundary import WallParticles
from vicinal.sph.interfaces import WallParticlesLike
from vicinal.sph.phases import Phase
from vicinal.sph.viscosity import Artificial, Laminar

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

NUMBERS = ("spacing", "density", "sound_speed", "smoothing", "diffusion", "shifting", "background", "courant")
NAMES = ("scheme", "kernel", "state", "precision")


def kept_walls(walls: WallParticlesLike, velocities: npt.NDArray[np.float64]) -> dict[str, Any]:
    """Return wall particles and the velocities of walls as a part of a state."""
    return {
        "positions": np.asarray(walls.positions),
        "normals": np.asarray(walls.normals),
        "wall": np.asarray(walls.wall),
        "slip": np.asarray(walls.slip),
        "velocities": velocities,
    }


def options_of(state: Any, comm: Intracomm | None) -> dict[str, Any]:
    """Return the options of the simulation whose state this is; all ranks must have the same one."""
    if not isinstance(state, Mapping) or "viscosity_kind" not in state:
        raise InputError(f"state must be the result of state() of a fluid, got {type(state).__name__}")
    told = {"steps": int(state["steps"]), "particles": len(state["particles"])}
    agree_on(comm, {"state": told}, per_rank=())
    kind = Laminar if str(state["viscosity_kind"]) == "laminar" else Artificial
    phases = [Phase(density=float(rho), nu=float(nu)) for rho, nu in state.get("phases", ())] or None
    options: dict[str, Any] = {name: float(state[name]) for name in NUMBERS}
    options |= {name: str(state[name]) for name in NAMES}
    options |= {
        "gravity": [float(x) for x in state["gravity"]],
        "box": [float(edge) or None for edge in state["box"]],
        "tensile_control": bool(state["tensile_control"]),
        "viscosity": None if phases else kind(float(state["viscosity"])),
        "phases": phases,
        "surface_tension": float(state.get("surface_tension", 0.0)),
        "tolerance": float(state["tolerance"]) if "tolerance" in state else None,
    }
    if "walls" in state:
        kinds = {"positions": np.float64, "normals": np.float64, "wall": np.int32, "slip": bool}
        kept = {name: np.ascontiguousarray(state["walls"][name], kind) for name, kind in kinds.items()}
        options |= {"walls": WallParticles(**kept), "wall_velocities": state["walls"]["velocities"]}
    return options
