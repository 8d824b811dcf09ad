"""The times of events: at regular intervals and at given moments of simulated time.

The first step that ends at a moment or later reaches it. This depends on simulated time only, never on where a run was
interrupted or on the number of steps per call, so a restarted run has the same events at the same steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from vicinal.errors import InputError

ROUNDING = 1e-9
"""Relative tolerance: a step that ends this little before a moment reaches it, since times are rounded sums."""


def reached(time: float, moment: float) -> bool:
    """Return whether a step that ends at `time` has reached a moment.

    Examples
    --------
    >>> reached(0.1 + 0.1 + 0.1, 0.3), reached(0.2999, 0.3)
    (True, False)
    """
    return time >= moment * (1 - ROUNDING)


def check_end(end: float, time: float) -> float:
    """Return the end of a run; raise `InputError` if it is before the present time."""
    if not reached(end, time):
        raise InputError(f"time must be at least {time:.6g}, the present time, got {end:g}; runs cannot go back")
    return end


def steps_until(time: float, moment: float, dt: float) -> int:
    """Return the number of steps of equal length after which a moment is reached.

    Examples
    --------
    >>> steps_until(0.0, 1.0, 0.1), steps_until(0.0, 1.0, 0.3), steps_until(1.0, 1.0, 0.1)
    (10, 4, 0)
    """
    return max(0, math.ceil((moment * (1 - ROUNDING) - time) / dt))


@dataclass(frozen=True)
class Timetable:
    """Events by name.

    Parameters
    ----------
    every
        Intervals of events that repeat, counted from time 0.
    at
        Moments of events that do not repeat.

    Examples
    --------
    >>> events = Timetable(every={"table": 0.5, "frames": 2.0}, at={"switch": [1.2]})
    >>> events.following(1.0), events.due(1.0, 2.0)
    (1.2, ['table', 'frames', 'switch'])
    """

    every: Mapping[str, float] = field(default_factory=dict)
    at: Mapping[str, Iterable[float]] = field(default_factory=dict)

    def following(self, time: float) -> float:
        """Return the first moment after `time`; infinity if there is none."""
        moments = [_next_multiple(interval, time) for interval in self.every.values()]
        moments += [moment for some in self.at.values() for moment in some if not reached(time, moment)]
        return min(moments, default=math.inf)

    def due(self, before: float, now: float) -> list[str]:
        """Return the names of the events that have a moment after `before` and not after `now`."""
        names = [name for name, interval in self.every.items() if reached(now, _next_multiple(interval, before))]
        for name, some in self.at.items():
            if any(reached(now, moment) and not reached(before, moment) for moment in some):
                names.append(name)
        return names


def _next_multiple(interval: float, time: float) -> float:
    count = max(0, math.floor(time / interval)) + 1
    # Correct the quotient if rounding has moved it across a whole number.
    while count > 1 and not reached(time, (count - 1) * interval):
        count -= 1
    while reached(time, count * interval):
        count += 1
    return count * interval
