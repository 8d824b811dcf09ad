"""The schemes: what each one does by default, and what it lacks."""

from __future__ import annotations

from vicinal.errors import InputError
from vicinal.sph.checks import check_not_negative, check_positive
from vicinal.sph.open_ends import OpenEnds

DIFFUSION = {"delta": 0.1, "edac": 0.1, "dfsph": 0.0}
"""Strength of diffusion by scheme."""

SMOOTHING = {"delta": {2: 2.0, 3: 1.6}, "edac": {2: 1.5, 3: 1.6}, "dfsph": {2: 2.0, 3: 1.6}}
"""Smoothing length in spacings by scheme and dimension: about 50 neighbours in two dimensions, 28 with edac, and 137 in
three."""

SHIFTING = {"delta": 1.0, "edac": 1.0, "dfsph": 0.0}
"""Strength of shifting by scheme."""

COURANT = {"delta": 0.25, "edac": 0.25, "dfsph": 0.4}
"""Length of a step as a part of its limits, by scheme."""

TOLERANCE = 1e-3
"""Mean compression that the solvers of dfsph leave."""

SCHEMES = tuple(DIFFUSION)


def check_strength(value: object, name: str, scheme: str) -> float:
    """Return the strength of "diffusion" or "shifting", by default that of the scheme.

    Examples
    --------
    >>> check_strength(None, "diffusion", "edac")
    0.1
    """
    default = (DIFFUSION if name == "diffusion" else SHIFTING)[scheme]
    strength = default if value is None else check_not_negative(value, name)
    if scheme == "dfsph" and strength > 0:
        raise InputError(f"{name} must be 0 with the scheme dfsph, which has none, got {strength:g}")
    return strength


def check_background(value: object, scheme: str) -> float:
    """Return the background pressure as a part of the stiffness.

    Examples
    --------
    >>> check_background(0.004, "edac")
    0.004
    """
    background = check_not_negative(value, "background")
    if background > 0 and scheme != "edac":
        raise InputError(f'background must be 0 with the scheme {scheme}, got {value!r}; it is used with scheme="edac"')
    if background > 0.1:
        raise InputError(f"background must be at most 0.1 of the stiffness, got {background:g}; 0.004 is enough")
    return background


def check_smoothing(value: object, scheme: str, dim: int) -> float:
    """Return the smoothing length in spacings, by default that of the scheme."""
    smoothing = SMOOTHING[scheme][dim] if value is None else check_positive(value, "smoothing")
    if not 1 <= smoothing <= 5:
        raise InputError(f"smoothing must be from 1 to 5 spacings, got {smoothing:g}")
    return smoothing


def check_courant(value: object, scheme: str) -> float:
    """Return the length of steps as a part of their limits."""
    courant = COURANT[scheme] if value is None else check_positive(value, "courant")
    if courant > 1:
        raise InputError(f"courant must be at most 1, got {courant:g}; steps beyond that are unstable")
    return courant


def check_tolerance(value: object, scheme: str) -> float:
    """Return the tolerance of the solvers of dfsph."""
    if value is None:
        return TOLERANCE
    if scheme != "dfsph":
        raise InputError(f'tolerance must be used with scheme="dfsph", got {scheme!r}')
    tolerance = check_positive(value, "tolerance")
    if tolerance > 0.1:
        raise InputError(f"tolerance must be at most 0.1, a compression by 10 %, got {tolerance:g}")
    return tolerance


def check_scheme(scheme: str, state: str, ends: object) -> None:
    """Raise if a scheme lacks what is asked of it."""
    if ends is not None and not isinstance(ends, OpenEnds):
        raise InputError(f"ends must be OpenEnds, got {ends!r}; pass OpenEnds(...) of vicinal.sph.open_ends")
    if scheme == "delta":
        return
    if state != "linear":
        raise InputError(f'state must be "linear" with the scheme {scheme}, got {state!r}')
    if ends is not None:
        raise InputError(f'ends must be used with scheme="delta", got {scheme!r}')
