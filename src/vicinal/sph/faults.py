"""Faults of a simulation of a fluid: states that are useless, and flows too fast for the speed of sound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from vicinal.sim.solver import SimulationWarning, UnstableError

if TYPE_CHECKING:
    from vicinal.sph.simulation import Simulation

FASTEST = 0.25
"""A flow faster than this part of the speed of sound is no longer nearly incompressible: densities vary by 3 %."""


class SoundSpeedWarning(SimulationWarning):
    """The fluid flows so fast that its density varies visibly."""


def unstable(sim: Simulation, particle: int) -> UnstableError:
    """Return the error for a particle whose state is useless: where, when, and the likely cause."""
    row = sim.rows(sim.ids == particle, "positions", "velocities", "densities", "masses")
    position, density = row["positions"][0], float(row["densities"][0])
    speed, rest = float(np.linalg.norm(row["velocities"][0])), float(row["masses"][0]) / sim.spacing**sim.dim
    if not np.isfinite(position).all() or not np.isfinite(speed) or not np.isfinite(density):
        what = "has a position, velocity or density that is not finite"
    elif speed >= sim.sound_speed:
        what = f"moves with {speed:.4g}, faster than sound ({sim.sound_speed:.4g})"
    else:
        what = f"has the density {density:.4g} instead of {rest:.4g}"
    where = ", ".join(f"{x:.4g}" for x in position)
    return UnstableError(
        f"particle {particle} at ({where}) {what} at t = {sim.time:.6g}, step {sim.step_count}; particles that lie "
        "too close together or inside walls at the start do this, as do walls that are thinner than the support of "
        "the kernel, a sound_speed below ten times the largest speed of the flow, and a courant that is too large",
        time=sim.time,
        step=sim.step_count,
    )


def sound_speed_text(sim: Simulation, speed: float) -> str:
    """Return the text of a warning about the speed of sound."""
    return (
        f"the fluid moves with {speed:.4g} at t = {sim.time:.6g}, more than {FASTEST:g} of sound_speed "
        f"({sim.sound_speed:.4g}): its density varies by several percent; use a sound_speed of {10 * speed:.3g}"
    )
