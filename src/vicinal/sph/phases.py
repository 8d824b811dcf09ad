"""Fluids of several phases: what each one is like."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sph.checks import check_not_negative, check_positive

Array = npt.NDArray[np.float64]

MOST_PHASES = 8


@dataclass(frozen=True, kw_only=True)
class Phase:
    """One of several fluids that do not mix.

    Parameters
    ----------
    density
        Density at rest.
    nu
        Kinematic viscosity.

    Examples
    --------
    >>> Phase(density=1000.0, nu=1e-6)
    Phase(density=1000.0, nu=1e-06)
    """

    density: float
    nu: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "density", check_positive(self.density, "density"))
        object.__setattr__(self, "nu", check_not_negative(self.nu, "nu"))


def check_phases(phases: object, scheme: str, viscosity: object) -> tuple[Phase, ...]:
    """Return phases that a simulation can have."""
    found = tuple(phases) if isinstance(phases, Sequence) else ()
    if not 1 <= len(found) <= MOST_PHASES or not all(isinstance(phase, Phase) for phase in found):
        raise InputError(f"phases must be 1 to {MOST_PHASES} objects of the class Phase, got {phases!r}")
    if scheme != "edac":
        raise InputError(f'phases must be used with scheme="edac", got {scheme!r}')
    if viscosity is not None:
        raise InputError(f"viscosity must be None if phases are passed, got {viscosity!r}; give each phase its nu")
    return found


def check_tension(value: object, phases: Sequence[Phase] | None) -> float:
    """Return the surface tension, which only interfaces between phases have."""
    tension = check_not_negative(value, "surface_tension")
    if tension > 0 and phases is None:
        raise InputError(
            f"surface_tension must be 0 without phases, got {value!r}: it acts between phases; "
            'pass phases= and scheme="edac", with a gas around the liquid'
        )
    return tension


def check_numbers(phase: npt.ArrayLike | None, count: int, phases: int) -> npt.NDArray[np.uint32]:
    """Return the number of the phase of each particle."""
    if phase is None:
        return np.zeros(count, np.uint32)
    numbers = np.asarray(phase)
    if numbers.shape != (count,) or numbers.dtype.kind not in "iu":
        raise InputError(
            f"phase must be {count} integers, one per particle, got an array of shape {numbers.shape} and type "
            f"{numbers.dtype}"
        )
    if count and not 0 <= numbers.min() <= numbers.max() < phases:
        wrong = numbers[(numbers < 0) | (numbers >= phases)][0]
        raise InputError(f"phase must be numbers from 0 to {phases - 1}, one of the phases, got {wrong}")
    return np.ascontiguousarray(numbers, np.uint32)


def matched_sounds(densities: Sequence[float], sound: float) -> list[float]:
    """Return speeds of sound for which all phases are equally stiff; `sound` is that of the densest one.

    Examples
    --------
    >>> matched_sounds([1000.0, 10.0], 20.0)
    [20.0, 200.0]
    """
    densest = max(densities)
    return [sound * (densest / density) ** 0.5 for density in densities]


def excess_of(pressures: npt.ArrayLike | None, rest: Array, sounds: Array, *, tait: bool) -> Array:
    """Return the densities above rest that have these pressures."""
    count = len(rest)
    if pressures is None:
        return np.zeros(count)
    values = np.ascontiguousarray(pressures, dtype=np.float64)
    if values.shape != (count,) or not np.isfinite(values).all():
        raise InputError(
            f"pressures must be {count} finite numbers, one per particle, got an array of shape {values.shape}"
        )
    if not tait:
        return np.asarray(values / sounds**2)
    ratio = np.maximum(7 * values / (sounds**2 * rest), -0.999)
    return np.asarray(rest * np.expm1(np.log1p(ratio) / 7))
