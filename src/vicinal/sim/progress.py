"""Progress of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """The state of a run for progress bars and logs.

    Examples
    --------
    >>> half = Progress(
    ...     time=1.0, duration=2.0, step=500, particles=10, status="3 contacts", begin=0.0, done=500, elapsed=4.0,
    ...     seconds=2.0, particle_steps=5000,
    ... )
    >>> half.share, half.remaining, half.rate
    (0.5, 4.0, 2500.0)
    """

    time: float
    """Simulated time."""

    duration: float
    """Simulated time at the end of the run."""

    step: int
    particles: int
    status: str
    """A short text from the solver, such as the number of contacts."""

    begin: float
    """Simulated time at which this run began; above 0 after a restart."""

    done: int
    """Steps of this run, without those before a restart."""

    elapsed: float
    """Wall-clock seconds of this run, including output."""

    seconds: float
    """Wall-clock seconds that this run spent in the solver."""

    particle_steps: float
    """Sum of the number of particles over the steps of this run."""

    @property
    def share(self) -> float:
        """Fraction of the duration that has been simulated."""
        return min(1.0, self.time / self.duration) if self.duration > 0 else 1.0

    @property
    def rate(self) -> float:
        """Particle-steps per second."""
        return self.particle_steps / self.seconds if self.seconds > 0 else 0.0

    @property
    def remaining(self) -> float:
        """Estimated seconds left, from the mean speed so far."""
        done = self.time - self.begin
        return self.elapsed * max(0.0, self.duration - self.time) / done if done > 0 else math.inf
