"""Regions of space: their sections in a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from vicinal.sim.schema import Section, key
from vicinal.sim.values import POSITIVE, VECTOR, Text, Variant

Vector: TypeAlias = tuple[float, float, float]

ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, kw_only=True)
class BoxKeys(Section):
    """The keys of an axis-aligned box."""

    TAG: ClassVar = ("shape", "box")
    low: Vector = key(VECTOR, help="corner with the smallest coordinates")
    high: Vector = key(VECTOR, help="corner with the largest coordinates")

    def check(self) -> None:
        """Check that the upper corner is above the lower one on every axis."""
        for axis, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if high <= low:
                raise self.wrong("high", f"must be above low on every axis, but entry {axis} is not above {low:g}")


@dataclass(frozen=True, kw_only=True)
class CylinderKeys(Section):
    """The keys of a cylinder around the line between two points."""

    TAG: ClassVar = ("shape", "cylinder")
    start: Vector = key(VECTOR, help="one end of the axis")
    end: Vector = key(VECTOR, help="the other end")
    radius: float = key(POSITIVE)

    def check(self) -> None:
        """Check that the cylinder has a length."""
        if self.start == self.end:
            raise self.wrong("end", "must differ from start")


@dataclass(frozen=True, kw_only=True)
class MeshKeys(Section):
    """The keys of a triangle mesh from a file."""

    TAG: ClassVar = ("shape", "mesh")
    file: str = key(Text("the name of an STL or OBJ file"), help="STL or OBJ file, relative to the scene file")
    scale: float = key(POSITIVE, 1.0, help="factor from the units of the file to metres")
    move: Vector = key(VECTOR, ZERO, help="displacement after scaling")


@dataclass(frozen=True, kw_only=True)
class BoxRegion(BoxKeys):
    """An axis-aligned box."""


@dataclass(frozen=True, kw_only=True)
class CylinderRegion(CylinderKeys):
    """A cylinder around the line between two points."""


@dataclass(frozen=True, kw_only=True)
class SphereRegion(Section):
    """A ball."""

    TAG: ClassVar = ("shape", "sphere")
    centre: Vector = key(VECTOR)
    radius: float = key(POSITIVE)


@dataclass(frozen=True, kw_only=True)
class MeshRegion(MeshKeys):
    """The inside of a closed triangle mesh."""


Region: TypeAlias = BoxRegion | CylinderRegion | SphereRegion | MeshRegion
REGIONS = Variant("shape", {kind.TAG[1]: kind for kind in (BoxRegion, CylinderRegion, SphereRegion, MeshRegion)})
