"""The speed of sound of a fluid that is given none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sph.ranks import FluidRanks

Array = npt.NDArray[np.float64]

LEAST_SOUND = 10.0
"""The speed of sound chosen by default, in largest speeds of the flow: densities vary by 1 %."""


def choose_sound(
    positions: Array, velocities: Sequence[Array], gravity: Array, spacing: float, ranks: FluidRanks
) -> float:
    """Return ten times the larger of present speeds and of √(2 g H), H being the height of the fluid along gravity.

    Positions and velocities are those of this rank; all ranks get the same speed.
    """
    g = float(np.linalg.norm(gravity))
    depths = (positions * (gravity / g)).sum(axis=1) if g > 0 else np.zeros(len(positions))
    fastest = max(float(np.linalg.norm(part, axis=1).max(initial=0.0)) for part in velocities)
    ends = np.array([depths.max(initial=-math.inf), -depths.min(initial=math.inf), fastest])
    ranks.agree(ends)
    height = float(ends[0] + ends[1]) + spacing if ends[0] > -math.inf else 0.0
    speed = max(float(ends[2]), math.sqrt(2 * g * height))
    if speed == 0:
        raise InputError(
            "sound_speed must be passed for a fluid at rest without gravity: ten times its largest speed, got None"
        )
    return LEAST_SOUND * speed
