"""Faults of a simulation of a fluid: states that are useless, and flows too fast for the speed of sound."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal.nearest import nearest
from vicinal.search import count, pairs
from vicinal.sim.solver import SimulationWarning, UnstableError

if TYPE_CHECKING:
    from vicinal.sph.fill import LostPlaces
    from vicinal.sph.interfaces import WallParticlesLike
    from vicinal.sph.simulation import Simulation

Array = npt.NDArray[np.float64]

FASTEST = 0.25
"""A flow faster than this part of the speed of sound is no longer nearly incompressible: densities vary by 3 %."""


class SoundSpeedWarning(SimulationWarning):
    """The fluid flows so fast that its density varies visibly."""


NEAR = 0.55
"""Particles closer than this part of the spacing are a mistake: they would fly apart."""

NEAR_WALL = 0.6
"""The same for a particle of the fluid and one of a wall, which lies half a spacing behind the surface or deeper."""


FAR = 1.5
"""A particle of a fluid whose nearest neighbour is farther away than so many spacings is alone."""

FEWEST, SAMPLE = 10, 1000
"""Fewer particles may be drops; of more than a thousand, about so many are looked up."""


class OverlapWarning(SimulationWarning):
    """Particles lie so close together at the start that they will fly apart."""


class FillWarning(SimulationWarning):
    """A region to be filled lies partly inside walls, where there are no particles."""


class SpacingWarning(SimulationWarning):
    """Particles lie so far apart at the start that they are no fluid."""


class SolverWarning(SimulationWarning):
    """The solvers of dfsph have not found the pressures they look for, or cannot."""


def unstable(sim: Simulation, particle: int) -> UnstableError:
    """Return the error for a particle whose state is useless: where, when, and the likely cause."""
    row = sim.rows(sim.ids == particle, "positions", "velocities", "densities", "masses")
    position, density = row["positions"][0], float(row["densities"][0])
    speed, rest = float(np.linalg.norm(row["velocities"][0])), float(row["masses"][0]) / sim.spacing**sim.dim
    # Of the phase of the particle: all phases are equally stiff.
    sound = sim.sound_speed * (sim.density / rest) ** 0.5
    if not np.isfinite(position).all() or not np.isfinite(speed) or not np.isfinite(density):
        what = "has a position, velocity or density that is not finite"
    elif speed >= sound:
        what = f"moves with {speed:.4g}, faster than sound ({sound:.4g})"
    else:
        what = f"has the density {density:.4g} instead of {rest:.4g}"
    where = ", ".join(f"{x:.4g}" for x in position)
    causes = "a sound_speed below ten times the largest speed of the flow, and a courant that is too large"
    if sim.scheme == "dfsph":
        causes = "a courant that is too large, and a tolerance that is"
    return UnstableError(
        f"particle {particle} at ({where}) {what} at t = {sim.time:.6g}, step {sim.step_count}; particles that lie "
        "too close together or inside walls at the start do this, as do walls that are thinner than the support of "
        f"the kernel, {causes}",
        time=sim.time,
        step=sim.step_count,
    )


def warn_of_places(
    positions: Array,
    walls: WallParticlesLike | None,
    spacing: float,
    box: Sequence[float | None],
    stacklevel: int,
) -> None:
    """Warn if particles lie on top of each other, inside walls, or too far apart."""
    warn_of_overlaps(positions, None if walls is None else walls.positions, spacing, box, stacklevel + 1)
    warn_of_gaps(positions, spacing, box, stacklevel + 1)


def warn_of_overlaps(
    positions: Array, walls: Array | None, spacing: float, box: Sequence[float | None], stacklevel: int
) -> None:
    """Warn if particles of the fluid lie on top of each other or of particles of walls."""
    periods = None if not any(box) else [edge or None for edge in box]
    # Counted, not stored: if the spacing is far too large, nearly all pairs are close.
    close = count(positions, NEAR * spacing, box=periods)
    if close.any():
        first = int(np.argmax(close > 0))
        near = pairs(positions, NEAR * spacing, queries=positions[first : first + 1], box=periods)[1]
        other = int(near[near != first].min(initial=len(positions) - 1))
        warnings.warn(
            f"{int(close.sum(dtype=np.int64)) // 2} pairs of particles are closer than {NEAR:g} spacings at the start, "
            f"the first {first} and {other} at {positions[first].tolist()}: they will fly apart; pass the spacing of "
            f"the positions ({spacing:g} was passed), and fill no place twice",
            OverlapWarning,
            stacklevel=stacklevel + 1,
        )
    if walls is None or not len(walls) or not len(positions):
        return
    inside = np.flatnonzero(count(walls, NEAR_WALL * spacing, queries=positions, box=periods))
    if len(inside):
        warnings.warn(
            f"{len(inside)} particles are inside walls at the start, the first {inside[0]} at "
            f"{positions[inside[0]].tolist()}: they will be thrown out; leave them out with fill(..., walls=...)",
            OverlapWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_lost_places(region: str, lost: LostPlaces, stacklevel: int) -> None:
    """Warn if walls take more of a region than the resolution of their surfaces explains."""
    if lost.walls:
        warnings.warn(
            f"fill {region!r}: {lost.inside} of {lost.places} places lie inside walls ({', '.join(lost.walls)}), and "
            "have no particles; move the region or the walls",
            FillWarning,
            stacklevel=stacklevel + 1,
        )


def warn_of_gaps(positions: Array, spacing: float, box: Sequence[float | None], stacklevel: int) -> None:
    """Warn if most particles have no neighbour: the spacing is larger than the one that was passed."""
    if len(positions) < FEWEST:
        return
    periods = None if not any(box) else [edge or None for edge in box]
    some = positions[:: -(-len(positions) // SAMPLE)]
    alone = count(positions, FAR * spacing, queries=some, box=periods) <= 1  # it finds itself
    if 2 * np.count_nonzero(alone) > len(some):
        distances = nearest(positions, 2, queries=some, box=periods)[0][:, 1]
        warnings.warn(
            f"most particles have no neighbour within {FAR:g} spacings at the start: they are too far apart to act on "
            f"each other as a fluid; pass the spacing of the positions, which is about {np.median(distances):.4g} "
            f"({spacing:g} was passed)",
            SpacingWarning,
            stacklevel=stacklevel + 1,
        )


def warning_of(sim: Simulation, solves: int, error: float) -> SimulationWarning | None:
    """Return what to warn of after steps; None if all is well.

    `solves` is how often solvers of dfsph gave up, and `error` the largest mean compression that they left.
    """
    if sim.scheme != "dfsph":
        return _too_fast(sim) if sim.mach() > FASTEST else None
    if solves:
        return SolverWarning(
            f"solvers of dfsph gave up {solves} time(s) until t = {sim.time:.6g} and left a mean compression of up to "
            f"{error:.2g} of the density, more than the tolerance; use a smaller courant, or a larger tolerance"
        )
    return None


def first_warning_of(sim: Simulation) -> SimulationWarning | None:
    """Return what to warn of before the first step; None if all is well."""
    if sim.scheme != "dfsph" or sim.step_count or not sim.total or sim.anywhere(sim.surface):
        return None
    return SolverWarning(
        "no particle is at a free surface, which the scheme dfsph needs: its pressures are never negative, so "
        'where fluid fills all of its space, flows decay much too fast; use scheme="edac" there'
    )


def _too_fast(sim: Simulation) -> SoundSpeedWarning:
    speed = sim.largest_speed
    return SoundSpeedWarning(
        f"the fluid moves with {speed:.4g} at t = {sim.time:.6g}, more than {FASTEST:g} of sound_speed "
        f"({sim.sound_speed:.4g}): its density varies by several percent; use a sound_speed of {10 * speed:.3g}"
    )
