"""Bodies: their shapes, sizes and materials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from vicinal.dem import shapes
from vicinal.sim.regions import Vector
from vicinal.sim.schema import Section, key
from vicinal.sim.sizes import RADIUS, Size
from vicinal.sim.values import POSITIVE, VECTOR, Items, Text, Variant


@dataclass(frozen=True, kw_only=True)
class Sphere(Section):
    """Spheres."""

    TAG: ClassVar = ("shape", "sphere")
    material: str = key(Text())
    radius: Size = key(RADIUS, help="a number, or a distribution")

    def make(self) -> shapes.Shape | None:
        """Return the shape; spheres have none."""
        return None


@dataclass(frozen=True, kw_only=True)
class ClumpBody(Section):
    """Rigid clumps of spheres, which may overlap."""

    TAG: ClassVar = ("shape", "clump")
    material: str = key(Text())
    offsets: tuple[Vector, ...] = key(Items(VECTOR, least=1), help="centres of the spheres, in any frame")
    radii: tuple[float, ...] = key(Items(POSITIVE, least=1), help="their radii")

    def check(self) -> None:
        """Check that every sphere has a radius."""
        if len(self.radii) != len(self.offsets):
            raise self.wrong("radii", f"must have {len(self.offsets)} numbers, one per entry of offsets")

    def make(self) -> shapes.Shape | None:
        """Return the shape."""
        return shapes.Clump(np.array(self.offsets), np.array(self.radii))


@dataclass(frozen=True, kw_only=True)
class TabletBody(Section):
    """Bi-convex tablets: a cylindrical band between two caps; the axis is z."""

    TAG: ClassVar = ("shape", "tablet")
    material: str = key(Text())
    radius: float = key(POSITIVE, help="radius of the band")
    band: float = key(POSITIVE, help="height of the band")
    cap: float = key(POSITIVE, help="height of each cap")
    rounding: float | None = key(POSITIVE, None, help="radius of the rounded edge")

    def check(self) -> None:
        """Check that the caps are at most half spheres."""
        if self.cap > self.radius:
            raise self.wrong("cap", f"must be at most radius = {self.radius:g}, which makes a cap half a sphere")

    def make(self) -> shapes.Shape | None:
        """Return the shape."""
        return shapes.Tablet(self.radius, self.band, self.cap, self.rounding)


@dataclass(frozen=True, kw_only=True)
class PolyhedronBody(Section):
    """Convex polyhedra: the hull of some points."""

    TAG: ClassVar = ("shape", "polyhedron")
    material: str = key(Text())
    vertices: tuple[Vector, ...] = key(Items(VECTOR, least=4), help="corners")
    rounding: float | None = key(POSITIVE, None, help="radius of the rounded edges and corners")

    def make(self) -> shapes.Shape | None:
        """Return the shape."""
        return shapes.Polyhedron(np.array(self.vertices), self.rounding)


Body: TypeAlias = Sphere | ClumpBody | TabletBody | PolyhedronBody
BODIES = Variant(
    "shape", {kind.TAG[1]: kind for kind in (Sphere, ClumpBody, TabletBody, PolyhedronBody)}, default="sphere"
)
