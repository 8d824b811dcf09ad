"""Faults of a simulation of grains: states that are not finite, bodies that are too fast or cross walls."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from vicinal.sim.solver import SimulationWarning, UnstableError

if TYPE_CHECKING:
    from vicinal.dem.simulation import Simulation

MOST_NAMED = 3
"""The largest number of touched bodies and walls that a message names."""


MOTION = ("positions", "velocities", "spins", "half_kicks", "half_spin_kicks")
"""Columns that must be finite."""


MOST_DIAMETERS = 10
"""A simulation stops if a body or its surface moves farther in a step than this many diameters of the median body."""


class CrossingWarning(SimulationWarning):
    """The centre of a body passed through a wall in a single step."""


def not_finite(sim: Simulation) -> UnstableError:
    """Return the error for a body whose motion is no longer finite: which one, where, when, and what it touches."""
    motion = np.concatenate([sim._get(name) for name in MOTION], axis=1)  # noqa: SLF001
    with np.errstate(over="ignore"):  # the core sums squares, which overflow before the numbers themselves do
        bad = ~np.isfinite(motion * motion).all(axis=1)
    ids = sim.ids[bad]
    where = _place(sim, int(ids[0])) if len(ids) else "a body"
    others = f" and {len(ids) - 1} more" if len(ids) > 1 else ""
    touched = _touched(sim, int(ids[0])) if len(ids) and np.isfinite(sim.positions).all() else ""
    return UnstableError(
        f"the motion of {where}{others} is no longer finite at t = {sim.time:.6g}, step {sim.step_count}{touched}; "
        "bodies must not lie at the same place, and dt must resolve contacts: move them apart, or use a smaller dt",
        time=sim.time,
        step=sim.step_count,
    )


def check_speeds(sim: Simulation, diameter: float) -> None:
    """Raise `UnstableError` if a body, or its surface, moves many diameters in a step, on any rank."""
    core, ranks = sim._core, sim._ranks  # noqa: SLF001
    own = core.ghosts() == 0
    speeds = core.speeds()[own]
    with np.errstate(over="ignore"):
        surfaces = np.linalg.norm(core.get("spins")[own], axis=1) * core.get("radii")[own]
    for what, some in (("moves", speeds), ("turns: its surface moves", surfaces)):
        mine = float(some.max(initial=0.0))
        fastest = ranks.largest(mine) * sim.dt
        if not math.isfinite(fastest):
            ranks.raise_together(None if np.isfinite(some).all() else not_finite(sim))
        if fastest > MOST_DIAMETERS * diameter:
            body = int(core.ids()[own][np.argmax(some)]) if len(some) else -1
            ranks.raise_together(_too_fast(sim, body, what, fastest, diameter) if mine * sim.dt == fastest else None)


def _too_fast(sim: Simulation, body: int, what: str, way: float, diameter: float) -> UnstableError:
    return UnstableError(
        f"{_place(sim, body)} {what} {way:.3g} in one step, {way / diameter:.2g} diameters, at t = {sim.time:.6g}, "
        f"step {sim.step_count}{_touched(sim, body)}; use a smaller dt",
        time=sim.time,
        step=sim.step_count,
    )


def crossing_text(wall: str, body: int, time: float) -> str:
    """Return the warning about the first body that crossed a wall."""
    return f"body {body} crossed the wall {wall!r} in one step at t = {time:.6g}; use a smaller dt or stiffer materials"


def _place(sim: Simulation, body: int) -> str:
    row = int(np.searchsorted(sim.ids, body))
    return f"body {body} at ({', '.join(f'{x:.6g}' for x in sim.positions[row])})"


def _touched(sim: Simulation, body: int) -> str:
    """Return the names of the bodies and walls that a body touches, the deepest overlap first."""
    if not sim._core.has_lists:  # noqa: SLF001
        return ""
    contacts = sim.contacts()
    of = np.flatnonzero((contacts["i"] == body) | (contacts["j"] == body))
    deepest: dict[str, float] = {}
    for k in of[np.argsort(-contacts["overlap"][of], kind="stable")].tolist():
        other = other_in_contact(contacts["i"][k], contacts["j"][k], contacts["wall"][k], body, sim)
        deepest.setdefault(other, float(contacts["overlap"][k]))
    named = [f"{other} (overlap {overlap:.3g})" for other, overlap in deepest.items()][:MOST_NAMED]
    more = f" and {len(deepest) - MOST_NAMED} more" if len(deepest) > MOST_NAMED else ""
    return f"; it touches {', '.join(named)}{more}" if named else "; it touches nothing"


def other_in_contact(i: int, j: int, wall: int, body: int, sim: Simulation) -> str:
    """Return the name of the other side of a contact of a body."""
    return f"the wall {sim.walls[wall].name!r}" if wall >= 0 else f"body {j if i == body else i}"
