"""Statistics of a simulation of grains."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class SimulationStats:
    """Statistics of a simulation.

    Parameters
    ----------
    bodies, contacts
        Number of bodies, and of contacts that exert a force.
    listed
        Entries of the lists of near bodies.
    builds, skin
        Builds of the lists so far, and the skin of the last one.
    list_seconds, step_seconds
        Time spent on lists and on steps so far.
    crossings
        Number of times that the centre of a body passed through a wall in one step.
    """

    bodies: int
    contacts: int
    listed: int
    builds: int
    skin: float
    list_seconds: float
    step_seconds: float
    crossings: int
