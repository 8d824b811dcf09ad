"""Timing on a machine that is never idle: calls in turn, several rounds, the best round counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

Call: TypeAlias = Callable[[], Any]

LEAST_ROUNDS = 2


@dataclass
class Clock:
    """Seconds of one contestant, round by round: CPU time, which a busy neighbour disturbs least, and wall time."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def run(self, call: Call) -> Any:
        """Time a call, with the collector off as `timeit` does, and return its result."""
        collecting = gc.isenabled()
        gc.disable()
        try:
            wall, cpu = time.perf_counter(), time.process_time()
            result = call()
            cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
        finally:
            if collecting:
                gc.enable()
        self.cpu.append(cpu)
        self.wall.append(wall)
        return result

    @property
    def best(self) -> float:
        """Least CPU seconds of a round."""
        return min(self.cpu)

    @property
    def total(self) -> float:
        """CPU seconds of all rounds, for a simulation whose steps differ."""
        return sum(self.cpu)


def race(calls: Mapping[str, Call], *, rounds: int, budget: float = float("inf")) -> dict[str, Clock]:
    """Time calls in turn, again and again, so that other load affects all of them alike.

    Parameters
    ----------
    calls
        What to time. Each is run once before, to warm up.
    rounds
        How often.
    budget
        A call that has used this many seconds in at least two rounds skips the remaining ones; a call that uses them
        to warm up is timed once.

    Examples
    --------
    >>> clocks = race({"sum": lambda: sum(range(1000)), "none": lambda: None}, rounds=3)
    >>> len(clocks["sum"].cpu), clocks["none"].best <= clocks["sum"].best
    (3, True)
    """
    warm = {name: Clock() for name in calls}
    for name, call in calls.items():
        warm[name].run(call)
    clocks = {name: Clock() for name in calls}
    names = list(calls)
    for turn in range(rounds):
        # Each round starts one call later, so that no call always follows the one that empties the caches.
        for name in _rotated(names, turn):
            clock = clocks[name]
            enough = 1 if warm[name].wall[0] > budget else LEAST_ROUNDS
            if len(clock.wall) < enough or sum(clock.wall) <= budget:
                clock.run(calls[name])
    return clocks


def _rotated(names: list[str], turn: int) -> Iterable[str]:
    shift = turn % max(len(names), 1)
    return names[shift:] + names[:shift]
