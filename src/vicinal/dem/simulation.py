"""A simulation of grains: bodies, walls, a contact law, and time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.materials import Material
from vicinal.dem.shapes import Shape
from vicinal.dem.walls import Wall

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class CriticalTimes:
    """How long a contact lasts and a wave needs, for the stiffest and lightest; and the step as a fraction of them."""

    collision: float
    rayleigh: float
    collision_fraction: float
    rayleigh_fraction: float


class Simulation:
    """Bodies that touch, rub and roll. Rows of every array are bodies in the order of `ids`, ascending."""

    def __init__(
        self,
        *,
        materials: Mapping[str, Material],
        pairs: Mapping[tuple[str, str], Mapping[str, float]] | None = None,
        law: str = "hertz",
        history: bool = True,
        walls: Sequence[Wall] = (),
        gravity: Sequence[float] = (0.0, 0.0, -9.81),
        dt: float | None = None,
        box: Sequence[float | None] | None = None,
        skin: float | None = None,
        seed: int = 0,
    ) -> None:
        raise NotImplementedError

    # What there is. `random` is for emitters and the like; it is part of `state()`.
    random: np.random.Generator
    materials: Mapping[str, Material]
    walls: list[Wall]
    time: float
    step_count: int
    dt: float

    def insert(
        self,
        positions: npt.ArrayLike,
        *,
        radii: npt.ArrayLike | None = None,
        shape: Shape | None = None,
        material: str | None = None,
        velocities: npt.ArrayLike | None = None,
        spins: npt.ArrayLike | None = None,
        orientations: npt.ArrayLike | None = None,
    ) -> npt.NDArray[np.int64]:
        """Add spheres (`radii`) or bodies of one `shape`; return their ids."""
        raise NotImplementedError

    def remove(self, ids: npt.ArrayLike) -> None:
        """Take bodies out."""
        raise NotImplementedError

    def run(self, steps: int) -> None:
        """Advance by so many steps. Ctrl-C stops between two steps; the simulation can be continued."""
        raise NotImplementedError

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Numbers of the bodies, ascending; a number is never used again."""
        raise NotImplementedError

    positions: Array  # (n, 3) centres of mass; can be assigned, as velocities and spins can
    velocities: Array  # (n, 3)
    spins: Array  # (n, 3) angular velocities in the frame of the world
    orientations: Array  # (n, 4) w, x, y, z
    radii: Array  # (n,) of spheres; of other bodies the radius of the smallest sphere around their centre
    masses: Array  # (n,)
    inertias: Array  # (n, 3) principal moments
    material_ids: npt.NDArray[np.int32]  # (n,) index into list(materials)
    shape_ids: npt.NDArray[np.int32]  # (n,) index into `shapes`, -1 for spheres
    shapes: list[Shape]

    def contacts(self) -> dict[str, npt.NDArray[Any]]:
        """Return the contacts of this moment.

        Arrays of one length: ``i`` (id of a body), ``j`` (id of the other body, or -1), ``wall`` (index of the wall, or
        -1), ``point`` (c, 3), ``normal`` (c, 3) from i to j or to the wall, ``overlap``, ``force`` (c, 3) on i,
        ``normal_force`` (c,), ``tangential_force`` (c,).
        """
        raise NotImplementedError

    def energies(self) -> dict[str, float]:
        """Return kinetic_translational, kinetic_rotational, potential (gravity), elastic, total."""
        raise NotImplementedError

    def critical_times(self) -> CriticalTimes:
        """Return collision and Rayleigh time and the step as a fraction of them."""
        raise NotImplementedError

    def stats(self) -> dict[str, float]:
        """Return figures: bodies, contacts, listed pairs, list builds, skin, seconds in list and force loop."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Return everything needed to go on bit for bit: arrays, numbers and strings only."""
        raise NotImplementedError

    @classmethod
    def restore(cls, state: Mapping[str, Any]) -> Simulation:
        """Return the simulation whose `state` this was."""
        raise NotImplementedError
