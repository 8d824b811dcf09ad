"""Events are due at simulated times, for any number of steps per call."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vicinal.sim.clock import Timetable, reached, steps_until

INTERVALS = st.floats(1e-4, 3.0)


@given(st.floats(1e-3, 0.4), INTERVALS, INTERVALS, st.integers(1, 50))
def test_every_multiple_of_an_interval_is_met_once_and_in_order(dt, table, frames, chunk):
    events = Timetable(every={"table": max(table, dt), "frames": max(frames, dt)})
    count, met = 0, {"table": 0, "frames": 0}
    while count < 300:
        before = count * dt
        moment = events.following(before)
        assert not reached(before, moment)
        count += min(chunk, max(1, steps_until(before, moment, dt)))
        due = events.due(before, count * dt)
        assert (reached(count * dt, moment)) == bool(due)
        for name in due:
            met[name] += 1
            assert reached(count * dt, met[name] * events.every[name])
            assert not reached(before, met[name] * events.every[name])


@given(st.floats(1e-6, 1.0), st.integers(0, 10**7), st.integers(1, 10**6))
def test_steps_until_a_multiple_of_the_step_are_exact(dt, done, more):
    assert steps_until(done * dt, (done + more) * dt, dt) == pytest.approx(more, abs=1 + 1e-9 * (done + more))
    assert reached((done + more) * dt, (done + more) * dt)


def test_single_moments_are_met_once():
    events = Timetable(at={"motion": [0.25, 0.5]})
    assert events.following(0.0) == 0.25
    assert events.due(0.0, 0.25) == ["motion"]
    assert events.due(0.25, 0.4) == []
    assert events.following(0.25) == 0.5
    assert events.following(0.5) == np.inf
