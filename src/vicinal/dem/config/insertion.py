"""Where and when bodies are inserted and removed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from vicinal.sim.regions import ZERO, Vector
from vicinal.sim.schema import Section, key
from vicinal.sim.values import (
    NOT_NEGATIVE,
    POSITIVE,
    VECTOR,
    Either,
    Flag,
    Items,
    Named,
    Number,
    OneOf,
    Text,
    Variant,
    Whole,
)

_MIXTURE = Either(Text("the name of a body"), Named(NOT_NEGATIVE), (Mapping,))


@dataclass(frozen=True, kw_only=True)
class Insertion(Section):
    """The keys that all kinds of insertion share."""

    bodies: str | dict[str, float] = key(
        _MIXTURE, help="name of a body, or a table of names and their shares by number"
    )
    velocity: Vector = key(VECTOR, ZERO)
    spin: Vector = key(VECTOR, ZERO, help="angular velocity")
    orientation: str | tuple[float, ...] = key(
        Either(OneOf(("random", "upright")), Items(Number(), 4), (list, tuple, np.ndarray)),
        "random",
        help='"random", "upright" (as described), or a quaternion w, x, y, z; spheres look the same in all',
    )

    def check(self) -> None:
        """Check that shares and quaternions are not zero."""
        if isinstance(self.bodies, dict) and sum(self.bodies.values()) <= 0:
            raise self.wrong("bodies", "must have at least one share above 0")
        if isinstance(self.orientation, tuple) and not any(self.orientation):
            raise self.wrong("orientation", "must have four numbers that are not all 0")

    def shares(self) -> dict[str, float]:
        """Return the names of the bodies with their shares by number, which add up to 1."""
        shares = {self.bodies: 1.0} if isinstance(self.bodies, str) else self.bodies
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}


@dataclass(frozen=True, kw_only=True)
class Fill(Insertion):
    """Fill a region at the start."""

    TAG: ClassVar = ("kind", "fill")
    region: str = key(Text("the name of a region"))
    count: int | None = key(Whole(1, 1e9), None, help="number of bodies")
    fraction: float | None = key(
        Number(0, 0.74, above=True), None, help="ratio of the volume of the bodies to that of the region"
    )
    mass: float | None = key(POSITIVE, None, help="mass of all bodies")
    method: str = key(OneOf(("random", "lattice")), "random", help="random positions, or a lattice")
    gap: float = key(Number(0, 1), 0.0, help="least distance between bodies, relative to their mean radius")
    jitter: float = key(
        Number(0, 1), 0.5, help="for a lattice: random displacement of each site, relative to the free space around it"
    )

    def check(self) -> None:
        """Check that the amount is given once."""
        super().check()
        given = [name for name in ("count", "fraction", "mass") if getattr(self, name) is not None]
        if not given:
            raise self.wrong("count", "is missing", "give one of count, fraction and mass")
        if len(given) > 1:
            raise self.wrong(
                given[1], f"must not be given together with {given[0]}", "give one of count, fraction and mass"
            )


@dataclass(frozen=True, kw_only=True)
class Emitter(Insertion):
    """Insert bodies into the free space of a region during the run."""

    TAG: ClassVar = ("kind", "emitter")
    region: str = key(Text("the name of a region"))
    rate: float | None = key(POSITIVE, None, help="bodies per second")
    mass_rate: float | None = key(POSITIVE, None, help="mass per second")
    start: float = key(NOT_NEGATIVE, 0.0, help="time of the first insertion")
    stop: float | None = key(POSITIVE, None, help="time of the last insertion")
    limit: int | None = key(Whole(1, 1e9), None, help="largest number of bodies to insert")
    every: float | None = key(POSITIVE, None, help="time between attempts; chosen from the rate if left out")

    def check(self) -> None:
        """Check that the rate is given once, and the order of start and stop."""
        super().check()
        if self.rate is None and self.mass_rate is None:
            raise self.wrong("rate", "is missing", "give one of rate and mass_rate")
        if self.rate is not None and self.mass_rate is not None:
            raise self.wrong("mass_rate", "must not be given together with rate")
        if self.stop is not None and self.stop <= self.start:
            raise self.wrong("stop", f"must be above start = {self.start:g}")


@dataclass(frozen=True, kw_only=True)
class Placement(Insertion):
    """Insert bodies at given positions."""

    TAG: ClassVar = ("kind", "place")
    positions: tuple[Vector, ...] = key(Items(VECTOR, least=1), help="centres")
    orientation: str | tuple[float, ...] = key(
        Either(OneOf(("random", "upright")), Items(Number(), 4), (list, tuple, np.ndarray)), "upright"
    )


@dataclass(frozen=True, kw_only=True)
class FromFile(Insertion):
    """Insert spheres from a text file; each line has x, y, z and the radius."""

    TAG: ClassVar = ("kind", "file")
    file: str = key(Text("the name of a text file"), help="x y z r on every line, relative to the scene file")


Insert: TypeAlias = Fill | Emitter | Placement | FromFile
INSERTS = Variant("kind", {kind.TAG[1]: kind for kind in (Fill, Emitter, Placement, FromFile)}, default="fill")


@dataclass(frozen=True, kw_only=True)
class GrainOutlet(Section):
    """Remove bodies whose centres are in a region, or outside of it."""

    region: str = key(Text("the name of a region"))
    outside: bool = key(Flag(), default=False, help="remove bodies that are not in the region")
    every: float = key(POSITIVE, 0.001, help="time between two checks")
