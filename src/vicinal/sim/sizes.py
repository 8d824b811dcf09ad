"""Size distributions: their sections in a scene, and the drawing of radii."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from vicinal.sim.arithmetic import Array, exp, log, power
from vicinal.sim.draws import Draws
from vicinal.sim.schema import SchemaError, Section, key
from vicinal.sim.values import NOT_NEGATIVE, POSITIVE, Items, Number, OneOf, Variant

_BY = OneOf(("number", "volume"))


@dataclass(frozen=True, kw_only=True)
class Size(Section, ABC):
    """A distribution of radii."""

    @abstractmethod
    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii; the same state of `draws` gives the same radii on every machine."""

    @abstractmethod
    def smallest(self) -> float:
        """Return the smallest radius that can occur."""

    @abstractmethod
    def largest(self) -> float:
        """Return the largest radius that can occur."""


@dataclass(frozen=True, kw_only=True)
class Fixed(Size):
    """The same radius for all."""

    TAG: ClassVar = ("distribution", "fixed")
    value: float = key(POSITIVE, help="the radius")

    def draw(self, count: int, draws: Draws) -> Array:  # noqa: ARG002 - as in `Size`
        """Draw radii."""
        return np.full(count, self.value)

    def smallest(self) -> float:
        """Return the radius."""
        return self.value

    def largest(self) -> float:
        """Return the radius."""
        return self.value


@dataclass(frozen=True, kw_only=True)
class Uniform(Size):
    """A uniform distribution of radii between two bounds.

    Examples
    --------
    >>> Uniform(low=1.0, high=2.0).draw(3, Draws(7)).round(3)
    array([1.625, 1.897, 1.776])
    """

    TAG: ClassVar = ("distribution", "uniform")
    low: float = key(POSITIVE, help="smallest radius")
    high: float = key(POSITIVE, help="largest radius")

    def check(self) -> None:
        """Check the order of the bounds."""
        if self.high < self.low:
            raise self.wrong("high", f"must be at least low = {self.low:g}")

    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        return draws.between(self.low, self.high, count)

    def smallest(self) -> float:
        """Return the lower bound."""
        return self.low

    def largest(self) -> float:
        """Return the upper bound."""
        return self.high


@dataclass(frozen=True, kw_only=True)
class _Bounded(Size):
    low: float | None = key(POSITIVE, None, help="smallest radius; smaller ones are drawn again")
    high: float | None = key(POSITIVE, None, help="largest radius; larger ones are drawn again")

    @abstractmethod
    def centre(self) -> float:
        """Return the centre of the distribution."""

    @abstractmethod
    def bounds(self) -> tuple[float, float]:
        """Return the smallest and the largest radius."""

    @abstractmethod
    def unbounded(self, count: int, draws: Draws) -> Array:
        """Draw radii without regard to the bounds."""

    def check(self) -> None:
        """Check that the bounds include the centre."""
        if self.low is not None and self.low > self.centre():
            raise self.wrong("low", f"must be at most {self.centre():g}, the centre of the distribution")
        if self.high is not None and self.high < self.centre():
            raise self.wrong("high", f"must be at least {self.centre():g}, the centre of the distribution")

    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii; draw those out of bounds again. The bounds include the centre, so few rounds are needed."""
        low, high = self.bounds()
        radii = self.unbounded(count, draws)
        while True:
            # Rounding may move the values of a distribution of zero width out of its bounds.
            wrong = (radii < low * (1 - 1e-12)) | (radii > high * (1 + 1e-12))
            if not wrong.any():
                return radii
            radii[wrong] = self.unbounded(int(wrong.sum()), draws)

    def smallest(self) -> float:
        """Return the lower bound."""
        return self.bounds()[0]

    def largest(self) -> float:
        """Return the upper bound."""
        return self.bounds()[1]


@dataclass(frozen=True, kw_only=True)
class Normal(_Bounded):
    """A normal distribution of radii; the default bounds are three standard deviations from the mean."""

    TAG: ClassVar = ("distribution", "normal")
    mean: float = key(POSITIVE, help="mean radius")
    deviation: float = key(NOT_NEGATIVE, help="standard deviation")

    def centre(self) -> float:
        """Return the mean."""
        return self.mean

    def bounds(self) -> tuple[float, float]:
        """Return the bounds."""
        reach = 3 * self.deviation
        low = self.mean - reach if self.low is None else self.low
        return low, self.mean + reach if self.high is None else self.high

    def check(self) -> None:
        """Check that radii stay positive."""
        super().check()
        if self.low is None and 3 * self.deviation >= self.mean:
            raise self.wrong(
                "deviation", f"must be below mean / 3 = {self.mean / 3:g}", "or give a smallest radius, low"
            )

    def unbounded(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        return self.mean + self.deviation * draws.normal(count)


@dataclass(frozen=True, kw_only=True)
class LogNormal(_Bounded):
    """A log-normal distribution of radii; the default bounds are three standard deviations from the median."""

    TAG: ClassVar = ("distribution", "lognormal")
    median: float = key(POSITIVE, help="median radius")
    deviation: float = key(Number(0, 5), help="standard deviation of the logarithm")

    def centre(self) -> float:
        """Return the median."""
        return self.median

    def bounds(self) -> tuple[float, float]:
        """Return the bounds."""
        ratio = math.exp(3 * self.deviation)
        low = self.median / ratio if self.low is None else self.low
        return low, self.median * ratio if self.high is None else self.high

    def unbounded(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        return self.median * exp(self.deviation * draws.normal(count))


@dataclass(frozen=True, kw_only=True)
class PowerLaw(Size):
    """Every octave of radii has the same number, or the same volume, of spheres."""

    TAG: ClassVar = ("distribution", "power_law")
    low: float = key(POSITIVE, help="smallest radius")
    high: float = key(POSITIVE, help="largest radius")
    by: str = key(_BY, "number", help="quantity that is the same in every octave")

    def check(self) -> None:
        """Check the order of the bounds."""
        if self.high < self.low:
            raise self.wrong("high", f"must be at least low = {self.low:g}")

    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        even, ratio = draws.uniform(count), self.high / self.low
        if self.by == "number":
            return self.low * exp(even * log([ratio]))
        # The density of radii is proportional to r⁻⁴; this is the inverse of its integral.
        return self.low * power(1 - even * (1 - 1 / (ratio * ratio * ratio)), -1 / 3)

    def smallest(self) -> float:
        """Return the lower bound."""
        return self.low

    def largest(self) -> float:
        """Return the upper bound."""
        return self.high


@dataclass(frozen=True, kw_only=True)
class Bimodal(Size):
    """Spheres of two sizes."""

    TAG: ClassVar = ("distribution", "bimodal")
    small: float = key(POSITIVE, help="radius of the small spheres")
    large: float = key(POSITIVE, help="radius of the large spheres")
    large_share: float = key(Number(0, 1), 0.5, help="share of the large spheres")
    by: str = key(_BY, "number", help="quantity of which the share is a fraction")

    def check(self) -> None:
        """Check the order of the sizes."""
        if self.large < self.small:
            raise self.wrong("large", f"must be at least small = {self.small:g}")

    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        return _classes((self.small, self.large), (1 - self.large_share, self.large_share), self.by, count, draws)

    def smallest(self) -> float:
        """Return the small radius."""
        return self.small

    def largest(self) -> float:
        """Return the large radius."""
        return self.large


@dataclass(frozen=True, kw_only=True)
class SieveCurve(Size):
    """A sieve curve: radii and the share of each class."""

    TAG: ClassVar = ("distribution", "table")
    radii: tuple[float, ...] = key(Items(POSITIVE, least=1), help="radius of each class")
    shares: tuple[float, ...] = key(Items(NOT_NEGATIVE, least=1), help="share of each class; only ratios matter")
    by: str = key(_BY, "number", help="quantity of which the shares are fractions")

    def check(self) -> None:
        """Check that there is one share per class."""
        if len(self.shares) != len(self.radii):
            raise self.wrong("shares", f"must have {len(self.radii)} numbers, one per entry of radii")
        if sum(self.shares) <= 0:
            raise self.wrong("shares", "must have at least one number above 0")

    def draw(self, count: int, draws: Draws) -> Array:
        """Draw radii."""
        return _classes(self.radii, self.shares, self.by, count, draws)

    def smallest(self) -> float:
        """Return the smallest radius with a share."""
        return min(radius for radius, share in zip(self.radii, self.shares, strict=True) if share > 0)

    def largest(self) -> float:
        """Return the largest radius with a share."""
        return max(radius for radius, share in zip(self.radii, self.shares, strict=True) if share > 0)


def _classes(sizes: tuple[float, ...], shares: tuple[float, ...], by: str, count: int, draws: Draws) -> Array:
    radii, weights = np.array(sizes), np.array(shares)
    if by == "volume":
        weights = weights / (radii * radii * radii)
    return np.asarray(radii[draws.choice(weights, count)])


SIZES = Variant(
    "distribution", {kind.TAG[1]: kind for kind in (Fixed, Uniform, Normal, LogNormal, PowerLaw, Bimodal, SieveCurve)}
)


@dataclass(frozen=True)
class _Radius:
    """A number or a distribution; a number is converted to a distribution."""

    allowed: str = f"{POSITIVE.allowed}, or {SIZES.allowed}"

    def __call__(self, value: object) -> Size:
        if isinstance(value, Mapping | Section):
            return SIZES(value)  # type: ignore[return-value]
        try:
            return Fixed(value=POSITIVE(value))
        except SchemaError:
            raise SchemaError((), value, f"must be {self.allowed}") from None


RADIUS = _Radius()
