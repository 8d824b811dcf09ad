"""Times of contestants: interleaved repeats in one process, CPU and wall time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from contestants import Call, Contestant
from vicinal.timing import RoundTimer, turns

# Idle workers of OpenMP and TBB spin for a while after a call; their CPU time is not the next contestant's.
SETTLE_SECONDS = 0.005


def once(contestant: Contestant, call: Call, clock: RoundTimer | None = None) -> object:
    """Run a call, note its times if there is a clock, and return its result."""
    contestant.before()
    time.sleep(SETTLE_SECONDS)
    try:
        return (clock or RoundTimer()).run(call)
    finally:
        contestant.after()


def interleave(
    field_: Iterable[tuple[Contestant, Call]],
    *,
    repeats: int,
    budget: float,
    progress: Callable[[str], None] = lambda _: None,
) -> dict[str, RoundTimer]:
    """
    Time all contestants in turn, again and again, so that other load and clock changes affect all of them alike.

    Parameters
    ----------
    field_
        Contestants with their prepared calls, already run once.
    repeats
        Rounds.
    budget
        A contestant that has used this many seconds, in at least two rounds, is left out of the following ones.
    progress
        Called with the name of the contestant that runs next.
    """
    entries = list(field_)
    clocks = {contestant.name: RoundTimer() for contestant, _ in entries}
    for round_, (contestant, call) in turns(entries, repeats):
        clock = clocks[contestant.name]
        if clock.spent(budget):
            continue
        progress(f"repeat {round_ + 1}/{repeats} {contestant.name}")
        once(contestant, call, clock)  # the result is freed here, untimed
    return clocks
