"""Walls for tests of fluids."""

from __future__ import annotations

import numpy as np

import meshes
from vicinal.sim.walls import MeshWall


def box_mesh(low: tuple[float, ...], high: tuple[float, ...], name: str = "block") -> MeshWall:
    """A box of twelve triangles."""
    corners = np.asarray(low) + meshes.cube() * np.subtract(high, low)
    return MeshWall(name=name, material="", vertices=corners.reshape(-1, 3), faces=np.arange(36).reshape(-1, 3))
