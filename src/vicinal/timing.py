"""Timing on a machine that is never quite idle: interleaved rounds, CPU and wall time, the best round counts."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, TypeVar

Call: TypeAlias = Callable[[], Any]
T = TypeVar("T")

LEAST_ROUNDS = 2
"""Least number of rounds in which a call is timed, however slow it is."""


@dataclass
class RoundTimer:
    """Seconds of one contestant per round: CPU time of all threads, which other load disturbs least, and wall time.

    Examples
    --------
    >>> clock = RoundTimer()
    >>> clock.run(lambda: 6 * 7)
    42
    >>> len(clock.cpu), clock.best <= clock.total
    (1, True)
    """

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    def run(self, call: Call) -> Any:
        """Time a call, with the garbage collector off as in `timeit`, and return its result."""
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

    def spent(self, budget: float, least: int = LEAST_ROUNDS) -> bool:
        """Return whether the rounds so far exceed a budget of wall seconds; the first `least` rounds never do."""
        return len(self.wall) >= least and sum(self.wall) > budget

    @property
    def best(self) -> float:
        """Least CPU seconds of a round."""
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        """Least wall seconds of a round."""
        return min(self.wall)

    @property
    def total(self) -> float:
        """CPU seconds of all rounds, for a simulation whose steps differ."""
        return sum(self.cpu)


def race(calls: Mapping[str, Call], *, rounds: int, budget: float = float("inf")) -> dict[str, RoundTimer]:
    """Time calls in turn, round after round, so that other load affects all of them alike.

    Parameters
    ----------
    calls
        The calls. Each is run once before, to warm up.
    rounds
        Number of rounds.
    budget
        A call that has used this many seconds, in at least two rounds, is left out of the following ones. A call that
        needs more than that to warm up is timed once.

    Examples
    --------
    >>> clocks = race({"sum": lambda: sum(range(1000)), "none": lambda: None}, rounds=3)
    >>> len(clocks["sum"].cpu), clocks["none"].best <= clocks["sum"].best
    (3, True)
    """
    warm = {name: RoundTimer() for name in calls}
    for name, call in calls.items():
        warm[name].run(call)
    clocks = {name: RoundTimer() for name in calls}
    for _, name in turns(list(calls), rounds):
        least = 1 if warm[name].wall[0] > budget else LEAST_ROUNDS
        if not clocks[name].spent(budget, least):
            clocks[name].run(calls[name])
    return clocks


def turns(entries: Sequence[T], rounds: int) -> Iterator[tuple[int, T]]:
    """Yield the number of the round and every entry, round after round; each round starts one entry later.

    So no entry always follows the one that empties the caches.

    Examples
    --------
    >>> list(turns("ab", 2))
    [(0, 'a'), (0, 'b'), (1, 'b'), (1, 'a')]
    """
    for number in range(rounds):
        shift = number % max(len(entries), 1)
        for entry in (*entries[shift:], *entries[:shift]):
            yield number, entry
