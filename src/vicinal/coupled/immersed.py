"""The wall particles of bodies in a fluid: layers inside their surfaces, which move with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal.coupled.solids import BallsSolid, BodySolid, ball_particles, body_solid, section_area
from vicinal.dem import Simulation as Grains
from vicinal.dem.rotations import BACK
from vicinal.errors import InputError
from vicinal.sim.walls import rotated
from vicinal.sph.boundary import solid_particles
from vicinal.sph.solids import in_space

Array = npt.NDArray[np.float64]
Ids = npt.NDArray[np.int64]

UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])
LEAST_RADIUS = 1.0
"""Radius of the smallest body that a fluid can resolve, in spacings."""


class ImmersedBodies:
    """Wall particles of all bodies of a simulation of grains, in the axes of the bodies.

    Particles are made once for a body and kept, so that a restored run has the same.

    Parameters
    ----------
    spacing
        Distance of neighbours, that of the fluid.
    layers
        Number of layers: the support of the kernel in spacings, rounded up.
    dim
        2 or 3. In two dimensions a body is its section with the plane z = 0, as deep as its volume divided by the area
        of the section.
    """

    def __init__(self, spacing: float, layers: int, dim: int) -> None:
        self.spacing, self.layers, self.dim = spacing, layers, dim
        self.ids: Ids = np.zeros(0, np.int64)
        """Ids of the bodies, in the order of the simulation of grains."""
        self.depths = np.zeros(0)
        """Extent of each body across a fluid in two dimensions; 1 in three."""
        self.arms: Array = np.zeros((0, 3))
        self.normals: Array = np.zeros((0, 3))
        self.owners: Ids = np.zeros(0, np.int64)
        """Id of the body of each particle; ascending."""
        self._known: dict[tuple[int, float], tuple[Array, Array]] = {}

    def follow(self, grains: Grains) -> bool:
        """Make the particles of bodies that are new, drop those of bodies that are gone; return whether there were any.

        Raises
        ------
        InputError
            A body is too small for the spacing, or outside of the plane of a fluid in two dimensions.
        """
        ids = grains.ids
        if np.array_equal(ids, self.ids):
            return False
        kept = np.isin(self.owners, ids)
        arms, normals, owners = [self.arms[kept]], [self.normals[kept]], [self.owners[kept]]
        depths = dict(zip(self.ids.tolist(), self.depths.tolist(), strict=True))
        for row in np.flatnonzero(~np.isin(ids, self.ids)):
            arm, normal, depths[int(ids[row])] = self._made(grains, int(row))
            arms.append(arm)
            normals.append(normal)
            owners.append(np.full(len(arm), ids[row]))
        self.arms, self.normals = np.concatenate(arms), np.concatenate(normals)
        self.owners = np.concatenate(owners)
        self.ids, self.depths = ids, np.array([depths[body] for body in ids.tolist()])
        return True

    def _made(self, grains: Grains, row: int) -> tuple[Array, Array, float]:
        """Return arms and normals of the particles of a body, and its extent across the plane."""
        kind, radius = int(grains.shape_ids[row]), float(grains.radii[row])
        if radius < LEAST_RADIUS * self.spacing:
            raise InputError(
                f"bodies in a fluid must have a radius of at least one spacing ({self.spacing:g}), got {radius:g} for "
                f"body {grains.ids[row]}; use a smaller spacing"
            )
        shape = None if kind < 0 else grains.shapes[kind]
        if self.dim == 3:
            if (kind, radius) not in self._known:
                solid = body_solid(shape, radius, 3, np.zeros(3), UPRIGHT)
                self._known[kind, radius] = self._layers(solid)
            return *self._known[kind, radius], 1.0
        centre, orientation = grains.positions[row], grains.orientations[row]
        if abs(centre[2]) > 1e-9 * radius:
            raise InputError(
                f"bodies in a fluid of two dimensions must have their centres in the plane z = 0, "
                f"got z = {centre[2]:g} for body {grains.ids[row]}; move it, or simulate in three dimensions"
            )
        solid = body_solid(shape, radius, 2, centre, orientation)
        points, normals = self._layers(solid)
        volume = 4 / 3 * np.pi * radius**3 if shape is None else shape.properties().volume
        back = orientation * BACK
        arms = rotated(back, in_space(points) - centre)
        return arms, rotated(back, in_space(normals)), float(volume / section_area(solid))

    def _layers(self, solid: BodySolid) -> tuple[Array, Array]:
        if isinstance(solid, BallsSolid) and len(solid.radii) == 1:
            arms, normals = ball_particles(float(solid.radii[0]), self.spacing, self.layers, self.dim)
            return arms + solid.centres[0, : self.dim], normals
        return solid_particles(solid, self.spacing, self.layers)

    def rows(self) -> npt.NDArray[np.uint32]:
        """Return the row of the body of each particle."""
        return np.searchsorted(self.ids, self.owners).astype(np.uint32)

    def state(self) -> dict[str, Any]:
        """Return everything `restore` needs."""
        return {
            "ids": self.ids,
            "depths": self.depths,
            "arms": self.arms,
            "normals": self.normals,
            "owners": self.owners,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Take over a state."""
        self.ids, self.owners = (np.asarray(state[name], np.int64) for name in ("ids", "owners"))
        self.depths, self.arms, self.normals = (
            np.ascontiguousarray(state[name], np.float64) for name in ("depths", "arms", "normals")
        )


def solids_of_bodies(grains: Grains, dim: int) -> list[BodySolid]:
    """Return all bodies in their present pose, for fluid that must not begin inside them."""
    shapes = [None if kind < 0 else grains.shapes[kind] for kind in grains.shape_ids.tolist()]
    rows = zip(shapes, grains.radii.tolist(), grains.positions, grains.orientations, strict=True)
    return [body_solid(shape, radius, dim, centre, turn) for shape, radius, centre, turn in rows]
