"""How bodies come in and go out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np

from vicinal.sim.regions import ZERO, Vector
from vicinal.sim.schema import (
    NOT_NEGATIVE,
    POSITIVE,
    VECTOR,
    Choice,
    Either,
    Flag,
    Items,
    Named,
    Number,
    OneOf,
    Section,
    Text,
    Whole,
    key,
)

_MIXTURE = Either(Text("the name of a body"), Named(NOT_NEGATIVE), (Mapping,))


@dataclass(frozen=True, kw_only=True)
class Insertion(Section):
    """What all ways of insertion have in common."""

    bodies: str | dict[str, float] = key(
        _MIXTURE, help="name of a body, or a table of names and their shares by number"
    )
    velocity: Vector = key(VECTOR, ZERO)
    spin: Vector = key(VECTOR, ZERO, help="angular velocity")
    orientation: str | tuple[float, ...] = key(
        Either(Choice(("random", "upright")), Items(Number(), 4), (list, tuple, np.ndarray)),
        "random",
        help='"random", "upright" (as described), or a quaternion w, x, y, z; spheres look the same in all',
    )

    def check(self) -> None:
        """Check that shares and quaternions are not zero."""
        if isinstance(self.bodies, dict) and sum(self.bodies.values()) <= 0:
            raise self.wrong("bodies", "give at least one share above 0")
        if isinstance(self.orientation, tuple) and not any(self.orientation):
            raise self.wrong("orientation", "give four numbers that are not all 0")

    def shares(self) -> dict[str, float]:
        """Names of the bodies with their shares by number, which add up to 1."""
        shares = {self.bodies: 1.0} if isinstance(self.bodies, str) else self.bodies
        total = sum(shares.values())
        return {name: share / total for name, share in shares.items()}


@dataclass(frozen=True, kw_only=True)
class Fill(Insertion):
    """Fill a region at the start."""

    TAG: ClassVar = ("kind", "fill")
    region: str = key(Text("the name of a region"))
    count: int | None = key(Whole(1, 1e9), None, help="number of bodies")
    fraction: float | None = key(Number(0, 0.74, above=True), None, help="volume of the bodies over that of the region")
    mass: float | None = key(POSITIVE, None, help="mass of all bodies")
    method: str = key(Choice(("random", "lattice")), "random", help="at random places, or on a grid")
    gap: float = key(Number(0, 1), 0.0, help="distance kept free between bodies, over their mean radius")
    jitter: float = key(
        Number(0, 1), 0.5, help="for a lattice: how much of the room around a body is used for disorder"
    )

    def check(self) -> None:
        """Check that the amount is given once."""
        super().check()
        given = [name for name in ("count", "fraction", "mass") if getattr(self, name) is not None]
        if not given:
            raise self.wrong("count", "is missing; give one of count, fraction and mass")
        if len(given) > 1:
            raise self.wrong(given[1], f"{given[0]} says the amount already; give only one of count, fraction and mass")


@dataclass(frozen=True, kw_only=True)
class Emitter(Insertion):
    """Insert bodies in a region as time goes on, wherever there is room in it."""

    TAG: ClassVar = ("kind", "emitter")
    region: str = key(Text("the name of a region"))
    rate: float | None = key(POSITIVE, None, help="bodies per second")
    mass_rate: float | None = key(POSITIVE, None, help="mass per second")
    start: float = key(NOT_NEGATIVE, 0.0, help="time of the first insertion")
    stop: float | None = key(POSITIVE, None, help="time of the last insertion")
    limit: int | None = key(Whole(1, 1e9), None, help="most bodies to insert")
    every: float | None = key(POSITIVE, None, help="time between attempts; chosen from the rate if left out")

    def check(self) -> None:
        """Check that the rate is given once, and that there is time."""
        super().check()
        if self.rate is None and self.mass_rate is None:
            raise self.wrong("rate", "is missing; give one of rate and mass_rate")
        if self.rate is not None and self.mass_rate is not None:
            raise self.wrong("mass_rate", "rate says it already; give only one of rate and mass_rate")
        if self.stop is not None and self.stop <= self.start:
            raise self.wrong("stop", f"give a number above start = {self.start:g}")


@dataclass(frozen=True, kw_only=True)
class Place(Insertion):
    """Put bodies where the list says."""

    TAG: ClassVar = ("kind", "place")
    positions: tuple[Vector, ...] = key(Items(VECTOR, least=1), help="centres")
    orientation: str | tuple[float, ...] = key(
        Either(Choice(("random", "upright")), Items(Number(), 4), (list, tuple, np.ndarray)), "upright"
    )


@dataclass(frozen=True, kw_only=True)
class FromFile(Insertion):
    """Put spheres where a text file says: a line of x y z and r for each."""

    TAG: ClassVar = ("kind", "file")
    file: str = key(Text("the name of a text file"), help="x y z r on every line, relative to the configuration")


Insert: TypeAlias = Fill | Emitter | Place | FromFile
INSERTS = OneOf("kind", {kind.TAG[1]: kind for kind in (Fill, Emitter, Place, FromFile)}, default="fill")


@dataclass(frozen=True, kw_only=True)
class Outlet(Section):
    """Take bodies out whose centres are in a region, or outside of it."""

    region: str = key(Text("the name of a region"))
    outside: bool = key(Flag(), default=False, help="take out what is not in the region")
    every: float = key(POSITIVE, 0.001, help="time between two looks")
