"""Times: interleaved repeats in one process, CPU beside wall clock."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from contestants import Call, Contestant

# Idle workers of OpenMP and TBB spin for a while after a call; their CPU time is not the next contestant's.
SETTLE_SECONDS = 0.005
LEAST_ROUNDS = 2


@dataclass
class Times:
    """Seconds of every repeat; the best of them is what the code can do, the rest is the machine's noise."""

    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)

    @property
    def best_cpu(self) -> float:
        """Least CPU seconds, all threads added up."""
        return min(self.cpu)

    @property
    def best_wall(self) -> float:
        """Least wall seconds."""
        return min(self.wall)


def once(contestant: Contestant, call: Call, times: Times | None = None) -> object:
    """Run a call with the collector off (as ``timeit`` does), note its times and return its result."""
    contestant.before()
    collecting = gc.isenabled()
    gc.disable()
    time.sleep(SETTLE_SECONDS)
    try:
        wall, cpu = time.perf_counter(), time.process_time()
        result = call()
        cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    finally:
        if collecting:
            gc.enable()
        contestant.after()
    if times is not None:
        times.cpu.append(cpu)
        times.wall.append(wall)
    return result


def interleave(
    field_: Iterable[tuple[Contestant, Call]],
    *,
    repeats: int,
    budget: float,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, Times]:
    """
    Time all contestants in turn, again and again.

    Neighbouring load and clock changes then affect all contestants alike. Each repeat starts one contestant later,
    so that no contestant always follows the one that trashes the caches most.

    Parameters
    ----------
    field_
        Contestants with their prepared calls, already run once.
    repeats
        Rounds.
    budget
        A contestant that has used this many seconds, in at least two rounds, sits the others out.
    progress
        Called with the contestant that runs.
    """
    entries = list(field_)
    times = {contestant.name: Times() for contestant, _ in entries}
    for round_ in range(repeats):
        shift = round_ % max(len(entries), 1)
        for contestant, call in entries[shift:] + entries[:shift]:
            own = times[contestant.name]
            if len(own.wall) >= LEAST_ROUNDS and sum(own.wall) > budget:
                continue
            progress(f"repeat {round_ + 1}/{repeats} {contestant.name}")
            once(contestant, call, own)  # the result dies here, outside the clock
    return times
