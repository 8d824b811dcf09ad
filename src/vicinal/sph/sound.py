"""The speed of sound of a fluid: its default, and whether one that was passed is large enough."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sph.checks import check_positive
from vicinal.sph.faults import SoundSpeedWarning
from vicinal.sph.ranks import FluidRanks

Array = npt.NDArray[np.float64]

LEAST_SOUND = 10.0
"""The speed of sound chosen by default, in largest speeds of the flow: densities vary by 1 %."""


MOST_COMPRESSION = 0.05
"""Compression of a fluid by its own weight from which on the speed of sound is called too low."""


def _height(positions: Array, gravity: Array, spacing: float, ranks: FluidRanks) -> tuple[float, float]:
    """Return the strength of gravity, and the height of the fluid along it; on all ranks the same."""
    g = float(np.linalg.norm(gravity))
    depths = (positions * (gravity / g)).sum(axis=1) if g > 0 else np.zeros(len(positions))
    ends = np.array([depths.max(initial=-math.inf), -depths.min(initial=math.inf)])
    ranks.agree(ends)
    return g, float(ends.sum()) + spacing if ends[0] > -math.inf else 0.0


def find_sound(
    value: object,
    positions: Array,
    velocities: Sequence[Array],
    gravity: Array,
    spacing: float,
    ranks: FluidRanks,
    *,
    compresses: bool,
) -> float:
    """Return the speed of sound that was passed, or the default: ten times the larger of present speeds and √(2 g H).

    H is the height of the fluid along gravity. Positions and velocities are those of this rank; all ranks get the same
    speed. If sound compresses the fluid and its weight would do so by much, there is a warning.
    """
    g, height = _height(positions, gravity, spacing, ranks)
    falling = math.sqrt(2 * g * height)
    if value is not None:
        sound = check_positive(value, "sound_speed")
        compression = g * height / sound**2
        if compresses and height > 2 * spacing and compression > MOST_COMPRESSION:
            warnings.warn(
                f"sound_speed is {sound:.4g}, at which the weight of {height:.4g} of fluid compresses it by "
                f"{100 * compression:.3g} %; use {LEAST_SOUND * falling:.3g}",
                SoundSpeedWarning,
                stacklevel=3,
            )
        return sound
    fastest = np.array([max(float(np.linalg.norm(part, axis=1).max(initial=0.0)) for part in velocities)])
    ranks.agree(fastest)
    speed = max(float(fastest[0]), falling)
    if speed == 0:
        raise InputError(
            "sound_speed must be passed for a fluid at rest without gravity: ten times its largest speed, got None"
        )
    return LEAST_SOUND * speed
