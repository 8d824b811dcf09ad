"""Distributions of sizes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

from vicinal.sim.schema import (
    NOT_NEGATIVE,
    POSITIVE,
    Choice,
    Items,
    Number,
    OneOf,
    SchemaError,
    Section,
    key,
)


@dataclass(frozen=True, kw_only=True)
class Fixed(Section):
    """One radius for all."""

    TAG: ClassVar = ("distribution", "fixed")
    value: float = key(POSITIVE, help="the radius")


@dataclass(frozen=True, kw_only=True)
class Uniform(Section):
    """Every radius between two bounds is as likely as any other."""

    TAG: ClassVar = ("distribution", "uniform")
    low: float = key(POSITIVE, help="smallest radius")
    high: float = key(POSITIVE, help="largest radius")

    def check(self) -> None:
        """Check the order of the bounds."""
        if self.high < self.low:
            raise self.wrong("high", f"give a number of at least low = {self.low:g}")


@dataclass(frozen=True, kw_only=True)
class _Bounded(Section, ABC):
    low: float | None = key(POSITIVE, None, help="smallest radius; smaller ones are drawn again")
    high: float | None = key(POSITIVE, None, help="largest radius; larger ones are drawn again")

    @abstractmethod
    def centre(self) -> float:
        """Return a radius that is common."""

    def check(self) -> None:
        """Check that the bounds leave room for what is common."""
        if self.low is not None and self.low > self.centre():
            raise self.wrong("low", f"give a number of at most {self.centre():g}, the middle of the distribution")
        if self.high is not None and self.high < self.centre():
            raise self.wrong("high", f"give a number of at least {self.centre():g}, the middle of the distribution")


@dataclass(frozen=True, kw_only=True)
class Normal(_Bounded):
    """Gauss's distribution of radii; without bounds of your own it ends three deviations from the mean."""

    TAG: ClassVar = ("distribution", "normal")
    mean: float = key(POSITIVE, help="mean radius")
    deviation: float = key(NOT_NEGATIVE, help="standard deviation")

    def centre(self) -> float:
        """Return the mean."""
        return self.mean

    def check(self) -> None:
        """Check that radii stay positive."""
        super().check()
        if self.low is None and 3 * self.deviation >= self.mean:
            raise self.wrong(
                "deviation", f"give a number below mean / 3 = {self.mean / 3:g}, or the smallest radius low"
            )


@dataclass(frozen=True, kw_only=True)
class LogNormal(_Bounded):
    """The logarithm of the radius has Gauss's distribution; without bounds it ends three deviations from the median."""

    TAG: ClassVar = ("distribution", "lognormal")
    median: float = key(POSITIVE, help="median radius")
    deviation: float = key(Number(0, 2), help="standard deviation of the logarithm")

    def centre(self) -> float:
        """Return the median."""
        return self.median


@dataclass(frozen=True, kw_only=True)
class Bimodal(Section):
    """Small and large ones."""

    TAG: ClassVar = ("distribution", "bimodal")
    small: float = key(POSITIVE, help="radius of the small ones")
    large: float = key(POSITIVE, help="radius of the large ones")
    large_share: float = key(Number(0, 1), 0.5, help="share of the large ones, by number or by volume")
    by: str = key(Choice(("number", "volume")), "number", help="what the share counts")

    def check(self) -> None:
        """Check that large ones are not small."""
        if self.large < self.small:
            raise self.wrong("large", f"give a number of at least small = {self.small:g}")


@dataclass(frozen=True, kw_only=True)
class Table(Section):
    """A sieve curve: radii and the share of each class."""

    TAG: ClassVar = ("distribution", "table")
    radii: tuple[float, ...] = key(Items(POSITIVE, least=1), help="radius of each class")
    shares: tuple[float, ...] = key(Items(NOT_NEGATIVE, least=1), help="share of each class; any sum will do")
    by: str = key(Choice(("number", "volume")), "number", help="what the shares count")

    def check(self) -> None:
        """Check that there is one share per class."""
        if len(self.shares) != len(self.radii):
            raise self.wrong("shares", f"give {len(self.radii)} numbers, one per entry of radii")
        if sum(self.shares) <= 0:
            raise self.wrong("shares", "give at least one number above 0")


Size: TypeAlias = Fixed | Uniform | Normal | LogNormal | Bimodal | Table
SIZES = OneOf("distribution", {kind.TAG[1]: kind for kind in (Fixed, Uniform, Normal, LogNormal, Bimodal, Table)})


@dataclass(frozen=True)
class _Radius:
    """A number, or a distribution; a number is a distribution too."""

    allowed: str = f"{POSITIVE.allowed}, or {SIZES.allowed}"

    def __call__(self, value: object) -> Size:
        if isinstance(value, Mapping | Section):
            return SIZES(value)  # type: ignore[return-value]
        try:
            return Fixed(value=POSITIVE(value))
        except SchemaError:
            raise SchemaError((), value, f"give {self.allowed}") from None


RADIUS = _Radius()


def smallest_radius(size: Size) -> float:
    """Return the smallest radius that a distribution gives."""
    match size:
        case Fixed():
            return size.value
        case Uniform():
            return size.low
        case Normal():
            return size.mean - 3 * size.deviation if size.low is None else size.low
        case LogNormal():
            return size.median * math.exp(-3 * size.deviation) if size.low is None else size.low
        case Bimodal():
            return size.small
        case Table():
            return min(radius for radius, share in zip(size.radii, size.shares, strict=True) if share > 0)
