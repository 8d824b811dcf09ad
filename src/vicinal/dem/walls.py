"""Walls: planes, cylinders and triangle meshes that stand still, slide or turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Vector = Sequence[float] | Array


def _zero() -> Array:
    return np.zeros(3)


@dataclass(kw_only=True, eq=False)
class Wall:
    """What every wall has. It moves with `velocity` and turns with `spin` about `centre`, which moves along.

    `velocity` and `spin` may be changed between runs. `position` (how far it has moved) and `orientation` (how it has
    turned: w, x, y, z) are its pose; `force` and `torque` (about `centre`) are those the bodies exerted in the last
    step.
    """

    name: str
    material: str
    velocity: Vector = (0.0, 0.0, 0.0)
    spin: Vector = (0.0, 0.0, 0.0)
    centre: Vector = (0.0, 0.0, 0.0)
    position: Array = field(default_factory=_zero)
    orientation: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    force: Array = field(default_factory=_zero)
    torque: Array = field(default_factory=_zero)

    kind = "wall"

    def triangles(self) -> Array:
        """Return the surface in its present pose, shape (m, 3, 3), for pictures."""
        raise NotImplementedError


@dataclass(kw_only=True, eq=False)
class Plane(Wall):
    """A half-space: bodies are on the side to which `normal` points."""

    point: Vector
    normal: Vector
    kind = "plane"


@dataclass(kw_only=True, eq=False)
class Cylinder(Wall):
    """An endless cylinder around the line from `start` to `end`; bodies are inside (or outside, `inside=False`).

    `start` and `end` bound its picture only.
    """

    start: Vector
    end: Vector
    radius: float
    inside: bool = True
    kind = "cylinder"


@dataclass(kw_only=True, eq=False)
class MeshWall(Wall):
    """A triangle mesh; bodies may be on both sides."""

    vertices: Array
    faces: npt.NDArray[np.int32]
    kind = "mesh"


def box_walls(
    name: str, lower: Vector, upper: Vector, material: str, *, sides: Sequence[str] = ("-x", "+x", "-y", "+y", "-z", "+z")
) -> list[Plane]:
    """Return the sides of a box as planes named ``f"{name}{side}"``; bodies are inside."""
    walls = []
    for side in sides:
        axis = "xyz".index(side[1])
        sign = 1.0 if side[0] == "-" else -1.0
        normal = np.zeros(3)
        normal[axis] = sign
        walls.append(Plane(name=name + side, material=material, point=lower if sign > 0 else upper, normal=normal))
    return walls
