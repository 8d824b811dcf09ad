"""Walls and how they move."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from vicinal.sim.regions import ZERO, Vector, check_corners
from vicinal.sim.schema import (
    NOT_NEGATIVE,
    POSITIVE,
    VECTOR,
    Choice,
    Direction,
    Flag,
    Items,
    Number,
    OneOf,
    Section,
    Text,
    key,
)

SIDES = ("-x", "+x", "-y", "+y", "-z", "+z")


@dataclass(frozen=True, kw_only=True)
class Motion(Section):
    """A wall that stands still, and what the moving ones have in common."""

    TAG: ClassVar = ("type", "fixed")


@dataclass(frozen=True, kw_only=True)
class _Timed(Motion):
    start: float = key(NOT_NEGATIVE, 0.0, help="time at which it begins")
    stop: float | None = key(POSITIVE, None, help="time at which it ends")

    def check(self) -> None:
        """Check that there is time."""
        if self.stop is not None and self.stop <= self.start:
            raise self.wrong("stop", f"give a number above start = {self.start:g}")


@dataclass(frozen=True, kw_only=True)
class Translating(_Timed):
    """A wall that slides."""

    TAG: ClassVar = ("type", "translating")
    velocity: Vector = key(VECTOR)


@dataclass(frozen=True, kw_only=True)
class Rotating(_Timed):
    """A wall that turns about an axis."""

    TAG: ClassVar = ("type", "rotating")
    axis: Vector = key(Direction(), help="direction of the axis; the right hand's fingers show the sense")
    point: Vector = key(VECTOR, ZERO, help="a point on the axis")
    speed: float = key(Number(), help="angular speed in rad/s")


MOTIONS = OneOf("type", {kind.TAG[1]: kind for kind in (Motion, Translating, Rotating)})


@dataclass(frozen=True, kw_only=True)
class WallSection(Section):
    """What all walls have in common."""

    material: str = key(Text())
    name: str | None = key(Text(), None, help="for the table of forces; made from the shape if left out")
    motion: Motion | Translating | Rotating = key(MOTIONS, Motion())


@dataclass(frozen=True, kw_only=True)
class PlaneWall(WallSection):
    """A half-space; bodies are on the side to which the normal points."""

    TAG: ClassVar = ("shape", "plane")
    point: Vector = key(VECTOR)
    normal: Vector = key(Direction())
    size: float | None = key(POSITIVE, None, help="edge of the square that stands for it in pictures")


@dataclass(frozen=True, kw_only=True)
class BoxWall(WallSection):
    """The sides of a box, each a plane; bodies are inside."""

    TAG: ClassVar = ("shape", "box")
    low: Vector = key(VECTOR)
    high: Vector = key(VECTOR)
    sides: tuple[str, ...] = key(Items(Choice(SIDES), least=1), SIDES, help="the sides that exist")

    def check(self) -> None:
        """Check that there is something inside."""
        check_corners(self)


@dataclass(frozen=True, kw_only=True)
class CylinderWall(WallSection):
    """The mantle of a cylinder, endless along its axis."""

    TAG: ClassVar = ("shape", "cylinder")
    start: Vector = key(VECTOR, help="one end of the axis")
    end: Vector = key(VECTOR, help="the other end")
    radius: float = key(POSITIVE)
    inside: bool = key(Flag(), default=True, help="whether bodies are inside")
    ends: bool = key(Flag(), default=False, help="whether planes close both ends; they turn along")

    def check(self) -> None:
        """Check that it has a length."""
        if self.start == self.end:
            raise self.wrong("end", "give another point than start")


@dataclass(frozen=True, kw_only=True)
class MeshWallSection(WallSection):
    """Triangles from a file; bodies may be on both sides."""

    TAG: ClassVar = ("shape", "mesh")
    file: str = key(Text("the name of an STL or OBJ file"), help="STL or OBJ file, relative to the configuration")
    scale: float = key(POSITIVE, 1.0, help="factor from the units of the file to metres")
    move: Vector = key(VECTOR, ZERO, help="displacement after scaling")


AnyWall: TypeAlias = PlaneWall | BoxWall | CylinderWall | MeshWallSection
WALLS = OneOf("shape", {kind.TAG[1]: kind for kind in (PlaneWall, BoxWall, CylinderWall, MeshWallSection)})
