"""Dam breaks of one to three phases: the fluids on which searches are compared.

A column of water of 1 × 2 stands in a closed tank of 4 × 2.5, in three dimensions on 1 of a channel without side walls.
The second phase fills the rest of the tank, the third is a layer on its bottom.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.lab.flows import GRAVITY, LAYERS
from vicinal.sim.walls import box_walls
from vicinal.sph import Phase, Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard

Array = npt.NDArray[np.float64]

PHASES = (1, 2, 3)
PHASE_KINDS = (Phase(density=1000.0, nu=2e-3), Phase(density=100.0, nu=1e-2), Phase(density=800.0, nu=1e-2))
"""Water, a light fluid and oil. With air in place of the light fluid, steps would be ten times shorter."""

SOUND = 60.0
"""Speed of sound in water: ten times that of a fall from the surface of the column."""

UNTIL = 0.8
"""Time in seconds at which a run ends. A column of one phase has then just reached the far wall."""

SETUP = (
    "A column of water of 1 × 2 alone, in a tank of 4 × 2.5 filled with a second phase, and with a third phase as a "
    "layer of 0.4 on the bottom; densities 1000, 100 and 800. "
)


def size_of(dim: int) -> list[float]:
    """Return the edges of the tank; the last one points up."""
    return [4.0, *[1.0] * (dim - 2), 2.5]


def places(dim: int, phases: int, cells: int) -> tuple[Array, npt.NDArray[np.int32]]:
    """Return positions and phases of particles at the start, `cells` of them along a unit of length.

    Examples
    --------
    >>> points, phase = places(2, 3, 10)
    >>> len(points), np.bincount(phase).tolist()
    (1000, [200, 680, 120])
    """
    high = np.array(size_of(dim))
    if phases == 1:
        high[0], high[-1] = 1.0, 2.0
    points = fill((np.zeros(dim), high), 1 / cells)
    phase = np.where((points[:, 0] < 1) & (points[:, -1] < 2), 0, 1).astype(np.int32)
    if phases == 3:
        phase[(phase == 1) & (points[:, -1] < 0.4)] = 2
    return points, phase


def dam_break(dim: int, phases: int, cells: int) -> Simulation:
    """Return a dam break at its start: one phase with a free surface by the scheme delta, several by edac."""
    spacing, size = 1 / cells, size_of(dim)
    points, phase = places(dim, phases, cells)
    sides, box = (["-x", "+x", "-y", "+y"], None) if dim == 2 else (["-x", "+x", "-z", "+z"], (None, 1.0, None))
    walls = box_walls("tank", (0.0, 0.0, 0.0), (*size, 1.0)[:3], "", sides=sides)
    layers = wall_particles(
        walls,
        spacing,
        LAYERS,
        dim=dim,
        bounds=(np.zeros(dim), np.array(size)),
        slip=[wall.name for wall in walls],
        periodic=box,
    )
    several: dict[str, Any] = {"phases": PHASE_KINDS[:phases], "phase": phase, "scheme": "edac"} if phases > 1 else {}
    return Simulation(
        points,
        spacing=spacing,
        gravity=[0.0] * (dim - 1) + [-GRAVITY],
        sound_speed=SOUND,
        walls=layers,
        guard=Guard(walls, spacing, dim),
        box=box,
        **several,
    )
