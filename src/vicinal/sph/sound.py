"""The speed of sound of a fluid that is given none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError

Array = npt.NDArray[np.float64]

LEAST_SOUND = 10.0
"""The speed of sound chosen by default, in largest speeds of the flow: densities vary by 1 %."""


def choose_sound(positions: Array, velocities: Sequence[Array], gravity: Array, spacing: float) -> float:
    """Return ten times the larger of present speeds and of √(2 g H), H being the height of the fluid along gravity."""
    g = float(np.linalg.norm(gravity))
    heights = positions @ (gravity / g) if g > 0 else np.zeros(1)
    height = float(np.ptp(heights)) + spacing if len(positions) else 0.0
    fastest = max((float(np.linalg.norm(part, axis=1).max()) for part in velocities if len(part)), default=0.0)
    speed = max(fastest, math.sqrt(2 * g * height))
    if speed == 0:
        raise InputError(
            "sound_speed must be passed for a fluid at rest without gravity: ten times its largest speed, got None"
        )
    return LEAST_SOUND * speed
