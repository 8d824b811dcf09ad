"""Walls and their motion: their sections in a scene."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from vicinal.sim.clock import reached
from vicinal.sim.regions import ZERO, BoxKeys, CylinderKeys, MeshKeys, Vector
from vicinal.sim.schema import Section, key
from vicinal.sim.values import NOT_NEGATIVE, POSITIVE, VECTOR, Direction, Flag, Items, Number, OneOf, Text, Variant
from vicinal.sim.walls import SIDES


@dataclass(frozen=True, kw_only=True)
class MotionSection(Section):
    """A wall at rest; base class of all motions."""

    TAG: ClassVar = ("type", "fixed")
    STEADY: ClassVar = True
    """Whether velocities only change at `moments`."""

    def moments(self) -> tuple[float, ...]:
        """Return the times at which the motion starts or stops."""
        return ()

    def velocity_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the velocity from this time on."""
        return ZERO

    def spin_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the angular velocity from this time on."""
        return ZERO

    def displacement_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the displacement since time 0."""
        return ZERO

    def rotation_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the rotation since time 0: a vector along the axis, whose length is the angle."""
        return ZERO

    def acceleration_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the acceleration, without jumps at `moments`."""
        return ZERO

    def spin_up_at(self, time: float) -> Vector:  # noqa: ARG002 - those that move need it
        """Return the angular acceleration, without jumps at `moments`."""
        return ZERO


@dataclass(frozen=True, kw_only=True)
class _Timed(MotionSection):
    start: float = key(NOT_NEGATIVE, 0.0, help="time at which the motion starts")
    stop: float | None = key(POSITIVE, None, help="time at which the motion stops")

    def check(self) -> None:
        """Check the order of start and stop."""
        if self.stop is not None and self.stop <= self.start:
            raise self.wrong("stop", f"must be above start = {self.start:g}")

    def moments(self) -> tuple[float, ...]:
        """Return the times at which the motion starts or stops."""
        return (self.start,) if self.stop is None else (self.start, self.stop)

    def is_on(self, time: float) -> bool:
        """Return whether the wall moves in the step that begins at this time."""
        return reached(time, self.start) and (self.stop is None or not reached(time, self.stop))

    def elapsed(self, time: float) -> float:
        """Return for how long the wall has moved."""
        return max(0.0, (time if self.stop is None else min(time, self.stop)) - self.start)


@dataclass(frozen=True, kw_only=True)
class Translating(_Timed):
    """A wall that moves along a line."""

    TAG: ClassVar = ("type", "translating")
    velocity: Vector = key(VECTOR)

    def velocity_at(self, time: float) -> Vector:
        """Return the velocity from this time on."""
        return self.velocity if self.is_on(time) else ZERO

    def displacement_at(self, time: float) -> Vector:
        """Return the displacement since time 0."""
        return _times(self.elapsed(time), self.velocity)


@dataclass(frozen=True, kw_only=True)
class Rotating(_Timed):
    """A wall that rotates about an axis."""

    TAG: ClassVar = ("type", "rotating")
    axis: Vector = key(Direction(), help="direction of the axis; the rotation is right-handed")
    point: Vector = key(VECTOR, ZERO, help="a point on the axis")
    speed: float = key(Number(), help="angular speed in rad/s")

    def spin_at(self, time: float) -> Vector:
        """Return the angular velocity from this time on."""
        return _times(self.speed * self.is_on(time), self.axis)

    def rotation_at(self, time: float) -> Vector:
        """Return the rotation since time 0."""
        return _times(self.speed * self.elapsed(time), self.axis)


@dataclass(frozen=True, kw_only=True)
class Oscillating(_Timed):
    """A wall that moves to and fro along a line, about an axis, or both: sin(2 π frequency t + phase)."""

    TAG: ClassVar = ("type", "oscillating")
    STEADY: ClassVar = False
    frequency: float = key(POSITIVE, help="cycles per second")
    stroke: Vector = key(VECTOR, ZERO, help="displacement from the middle to the end of the way")
    angle: float = key(Number(), 0.0, help="angle from the middle to the end of the rotation")
    axis: Vector = key(Direction(), (0.0, 0.0, 1.0), help="direction of the axis; the rotation is right-handed")
    point: Vector = key(VECTOR, ZERO, help="a point on the axis")
    phase: float = key(Number(), 0.0, help="phase at the start; the wall begins where it is")
    ramp: float = key(NOT_NEGATIVE, 0.0, help="time in which the motion grows to its full size")

    def _swing(self, time: float) -> tuple[float, float, float]:
        """Return the part of the full displacement, its rate, and the rate of that."""
        t, rate = self.elapsed(time), 2 * math.pi * self.frequency
        wave = math.sin(rate * t + self.phase) - math.sin(self.phase)
        speed, change = rate * math.cos(rate * t + self.phase), -rate * rate * math.sin(rate * t + self.phase)
        if t < self.ramp:
            share = t / self.ramp
            grown = share * share * (3 - 2 * share)
            growth, bend = 6 * share * (1 - share) / self.ramp, (6 - 12 * share) / self.ramp**2
            wave, speed, change = (
                grown * wave,
                grown * speed + growth * wave,
                grown * change + 2 * growth * speed + bend * wave,
            )
        return (wave, speed, change) if self.is_on(time) else (wave, 0.0, 0.0)

    def velocity_at(self, time: float) -> Vector:
        """Return the velocity at this time."""
        return _times(self._swing(time)[1], self.stroke)

    def spin_at(self, time: float) -> Vector:
        """Return the angular velocity at this time."""
        return _times(self._swing(time)[1] * self.angle, self.axis)

    def displacement_at(self, time: float) -> Vector:
        """Return the displacement since time 0."""
        return _times(self._swing(time)[0], self.stroke)

    def rotation_at(self, time: float) -> Vector:
        """Return the rotation since time 0."""
        return _times(self._swing(time)[0] * self.angle, self.axis)

    def acceleration_at(self, time: float) -> Vector:
        """Return the acceleration."""
        return _times(self._swing(time)[2], self.stroke)

    def spin_up_at(self, time: float) -> Vector:
        """Return the angular acceleration."""
        return _times(self._swing(time)[2] * self.angle, self.axis)


def _times(factor: float, vector: Vector) -> Vector:
    return (factor * vector[0], factor * vector[1], factor * vector[2])


MOTIONS = Variant("type", {kind.TAG[1]: kind for kind in (MotionSection, Translating, Rotating, Oscillating)})


@dataclass(frozen=True, kw_only=True)
class WallSection(Section):
    """The keys that all walls share."""

    material: str | None = key(Text(), None, help="name of a material; grains need it")
    name: str | None = key(Text(), None, help="name in the table of forces; by default made from the shape")
    motion: MotionSection = key(MOTIONS, MotionSection())


@dataclass(frozen=True, kw_only=True)
class PlaneWallSection(WallSection):
    """A plane; bodies are on the side to which the normal points."""

    TAG: ClassVar = ("shape", "plane")
    point: Vector = key(VECTOR)
    normal: Vector = key(Direction())
    size: float | None = key(POSITIVE, None, help="edge of the square that is drawn")


@dataclass(frozen=True, kw_only=True)
class BoxWallSection(BoxKeys, WallSection):
    """The sides of a box, each a plane; bodies are inside."""

    sides: tuple[str, ...] = key(Items(OneOf(SIDES), least=1), SIDES, help="sides that are walls")


@dataclass(frozen=True, kw_only=True)
class CylinderWallSection(CylinderKeys, WallSection):
    """The lateral surface of a cylinder, infinitely long."""

    inside: bool = key(Flag(), default=True, help="whether bodies are inside")
    ends: bool = key(Flag(), default=False, help="whether planes close both ends; they move with the cylinder")


@dataclass(frozen=True, kw_only=True)
class MeshWallSection(MeshKeys, WallSection):
    """Triangles from a file; bodies may be on both sides."""


AnyWall: TypeAlias = PlaneWallSection | BoxWallSection | CylinderWallSection | MeshWallSection
WALLS = Variant(
    "shape", {kind.TAG[1]: kind for kind in (PlaneWallSection, BoxWallSection, CylinderWallSection, MeshWallSection)}
)
