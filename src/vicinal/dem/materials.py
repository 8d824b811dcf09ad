"""Materials, and the contact parameters of every pair of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError

# Columns of the table that the compiled core reads (cpp/dem/laws.hpp). Both laws: friction .. cohesion. Linear: kn is
# the stiffness, kt the tangential one. Hertz: kn is the effective modulus E*, kt the effective shear modulus G*.
COLUMNS = ("kn", "kt", "gamma_n", "gamma_t", "damping_n", "damping_t", "friction", "rolling_friction", "cohesion")

LAWS = ("linear", "hertz")


@dataclass(frozen=True, kw_only=True)
class Material:
    """What bodies and walls are made of.

    Parameters
    ----------
    density
        Mass per volume; unused for walls.
    youngs_modulus, poisson_ratio
        Elasticity, for the law ``"hertz"``.
    restitution
        Ratio of the speeds after and before a head-on collision, in (0, 1]; sets the damping.
    friction
        Coulomb's coefficient.
    rolling_friction
        Resisting moment over (normal force × effective radius).
    cohesion
        Attraction per area of the circle in which two spheres overlap (2π R* δ), in Pa.
    kn, kt
        Stiffness, normal and tangential (2/7 of ``kn`` if left out), for the law ``"linear"``.
    gamma_n, gamma_t
        Damping rates in 1/s, in place of what follows from `restitution`: the force is effective mass × gamma ×
        relative velocity. `gamma_n` only for the law ``"linear"``; ``gamma_t=0`` switches the tangential dashpot off.
    """

    density: float = 1000.0
    youngs_modulus: float | None = None
    poisson_ratio: float | None = None
    restitution: float | None = None
    friction: float = 0.0
    rolling_friction: float = 0.0
    cohesion: float = 0.0
    kn: float | None = None
    kt: float | None = None
    gamma_n: float | None = None
    gamma_t: float | None = None

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None:
                _check_value(item.name, value)


# Key: lowest allowed value, whether it is itself allowed, highest allowed value.
RANGES: Mapping[str, tuple[float, bool, float]] = {
    "density": (0.0, False, math.inf),
    "youngs_modulus": (0.0, False, math.inf),
    "poisson_ratio": (-1.0, False, 0.5),
    "restitution": (0.0, False, 1.0),
    "friction": (0.0, True, math.inf),
    "rolling_friction": (0.0, True, math.inf),
    "cohesion": (0.0, True, math.inf),
    "kn": (0.0, False, math.inf),
    "kt": (0.0, True, math.inf),
    "gamma_n": (0.0, True, math.inf),
    "gamma_t": (0.0, True, math.inf),
}


def _check_value(name: str, value: object) -> None:
    low, closed, high = RANGES[name]
    ok = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    if not ok or not ((low <= value if closed else low < value) and value <= high):  # type: ignore[operator]
        span = f"{'[' if closed else '('}{low:g}, {high:g}{')' if high == math.inf else ']'}"
        raise InputError(f"{name}: {value!r} found; pass a finite number in {span}")


def damping_ratio(restitution: float) -> float:
    """Return the damping, as a fraction of the critical one, that gives a restitution coefficient.

    Examples
    --------
    >>> round(damping_ratio(0.5), 4)
    0.2155
    """
    log = math.log(restitution)
    return -log / math.hypot(math.pi, log)


def contact_table(
    materials: Sequence[Material], pairs: Mapping[tuple[int, int], Mapping[str, float]], law: str
) -> npt.NDArray[np.float64]:
    """Return the parameters of every pair of materials, shape (m, m, len(COLUMNS)).

    The mixing rule, for bodies and walls alike: moduli and stiffnesses act in series (Hertz's E* and Mindlin's G*; the
    harmonic mean of kn, kt, so that equal materials keep theirs); everything else is the geometric mean. What `pairs`
    names for two materials replaces the mixture (for Hertz a pair's ``youngs_modulus`` and ``poisson_ratio`` stand for
    both).
    """
    if law not in LAWS:
        raise InputError(f"law: {law!r} found; pass one of {', '.join(LAWS)}")
    m = len(materials)
    table = np.zeros((m, m, len(COLUMNS)))
    for a in range(m):
        for b in range(a, m):
            given = dict(pairs.get((a, b), pairs.get((b, a), {})))
            for key, value in given.items():
                if key not in RANGES or key == "density":
                    raise InputError(f"pairs[{a}, {b}]: key {key!r} found; pass some of {', '.join(RANGES)[9:]}")
                _check_value(key, value)
            two = (replace(materials[a], **given), replace(materials[b], **given))
            table[a, b] = table[b, a] = _hertz(two) if law == "hertz" else _linear(two, given)
    return table


def _geometric(name: str, two: tuple[Material, Material]) -> float:
    one, other = (getattr(material, name) for material in two)
    return math.sqrt((one or 0.0) * (other or 0.0))


def _common(two: tuple[Material, Material]) -> list[float]:
    return [_geometric(name, two) for name in ("friction", "rolling_friction", "cohesion")]


def _restitution(two: tuple[Material, Material]) -> float:
    return math.sqrt(math.prod(1.0 if m.restitution is None else m.restitution for m in two))


def _hertz(two: tuple[Material, Material]) -> list[float]:
    for material in two:
        if material.youngs_modulus is None or material.poisson_ratio is None:
            raise InputError(
                "materials: youngs_modulus or poisson_ratio is missing; the law 'hertz' needs both for every material"
            )
        if material.gamma_n is not None:
            raise InputError("materials: gamma_n found; the law 'hertz' takes restitution instead")
    softness = shear = 0.0
    for material in two:
        modulus, ratio = float(material.youngs_modulus or 1), float(material.poisson_ratio or 0)
        softness += (1 - ratio**2) / modulus
        shear += 2 * (2 - ratio) * (1 + ratio) / modulus
    # Tsuji's damping as Antypov and Elliott write it: 2 sqrt(5/6) ζ sqrt(S m*), S = dF/dδ.
    damping = 2 * math.sqrt(5 / 6) * damping_ratio(_restitution(two))
    rate, tangential = _tangential(two, damping)
    return [1 / softness, 1 / shear, 0.0, rate, damping, tangential, *_common(two)]


def _tangential(two: tuple[Material, Material], damping: float) -> tuple[float, float]:
    """Return the rate of the tangential dashpot and its part of the critical damping: one of them is 0."""
    if all(material.gamma_t is not None for material in two):
        return _geometric("gamma_t", two), 0.0
    return 0.0, damping


def _linear(two: tuple[Material, Material], given: Mapping[str, float]) -> list[float]:
    one, other = two
    if one.kn is None or other.kn is None:
        raise InputError("materials: kn is missing; the law 'linear' needs it for every material")
    kn = 2 * one.kn * other.kn / (one.kn + other.kn)
    own = [2 / 7 * m.kn if m.kt is None else m.kt for m in two]  # type: ignore[operator]
    kt = 2 * own[0] * own[1] / (sum(own) or 1.0)
    # A pair's own gamma_n replaces a restitution the materials bring along. Restitution damps the tangential spring by
    # the same fraction of the critical damping.
    by_rate = "gamma_n" in given or all(m.gamma_n is not None for m in two)
    damping = 0.0 if by_rate else 2 * damping_ratio(_restitution(two))
    rate = _geometric("gamma_n", two) if by_rate else 0.0
    tangential_rate, tangential = _tangential(two, damping)
    return [kn, kt, rate, tangential_rate, damping, tangential, *_common(two)]


def check_names(
    pairs: Mapping[tuple[str, str], Mapping[str, float]], names: Sequence[str]
) -> dict[tuple[int, int], Mapping[str, float]]:
    """Return pairs of materials by number."""
    numbered = {}
    for key, value in pairs.items():
        for name in key:
            if name not in names:
                raise InputError(f"pairs: material {name!r} found; pass names among {', '.join(names)}")
        numbered[names.index(key[0]), names.index(key[1])] = value
    return numbered
