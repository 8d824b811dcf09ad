"""Kinds of viscosity."""

from __future__ import annotations

from dataclasses import dataclass

from vicinal.sph.checks import check_not_negative


@dataclass(frozen=True)
class Artificial:
    """Artificial viscosity, for fluids whose own viscosity does not matter: it damps noise and shocks.

    Parameters
    ----------
    alpha
        Strength. The viscosity is ``alpha * smoothing length * sound speed / 8`` in two dimensions, ``/ 10`` in three.

    Examples
    --------
    >>> Artificial(0.05)
    Artificial(alpha=0.05)
    """

    alpha: float = 0.02

    def __post_init__(self) -> None:
        object.__setattr__(self, "alpha", check_not_negative(self.alpha, "alpha"))

    def kinematic(self, length: float, sound: float, dim: int) -> float:
        """Return the kinematic viscosity for a smoothing length and a speed of sound."""
        return self.alpha * length * sound / (8 if dim == 2 else 10)


@dataclass(frozen=True)
class Laminar:
    """The viscosity of a Newtonian fluid, after Morris et al. 1997.

    Parameters
    ----------
    nu
        Kinematic viscosity: 1e-6 m²/s for water.

    Examples
    --------
    >>> Laminar(1e-6)
    Laminar(nu=1e-06)
    """

    nu: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "nu", check_not_negative(self.nu, "nu"))

    def kinematic(self, _length: float, _sound: float, _dim: int) -> float:
        """Return the kinematic viscosity."""
        return self.nu


Viscosity = Artificial | Laminar
