"""skin="auto": the model chooses the skin of least cost, independently of the clock of this machine."""

from __future__ import annotations

import numpy as np
import pytest

import vicinal as vc
from vicinal.skin import FIRST_SKIN, SHARES, BodyMotion, ListCosts, SkinTuner, StepTuner, seconds_per_step


def told(
    *, build: float, gap: float, check: float, ways: list[float], consumer: float | None = None, share: float = 0.1
) -> SkinTuner:
    """A tuner that saw one build with a skin and the steps after it. The reach is 1, in space."""
    tuner = SkinTuner(consumer)
    tuner.choose(1.0, 3, np.inf)
    tuner.note_build(build * (1 + share) ** 3, 1000, share, 3)
    for way in ways:
        tuner.note_gap(gap * (1 + share) ** 3)
        tuner.note_way(way)
        tuner.note_check(check)
    tuner.note_build(build * (1 + share) ** 3, 1000, share, 3)
    for way in ways:
        tuner.note_way(way)
    return tuner


def steady(pace: float, until: float = 0.05) -> list[float]:
    return [pace * k for k in range(1, int(until / pace) + 2)]


def test_slow_bodies_and_a_cheap_loop_get_the_skin_with_the_cheapest_builds() -> None:
    # (1 + s)³ / s is least at s = 1/2.
    tuner = told(build=1.0, gap=0.0, check=0.01, ways=steady(0.002))
    assert tuner.choose(1.0, 3, np.inf) == pytest.approx(0.5)
    assert "50% of the reach" in tuner.reason
    assert "0.20%" in tuner.reason


def test_an_expensive_loop_gets_a_thin_skin() -> None:
    thin = told(build=1.0, gap=3.0, check=0.01, ways=steady(0.002)).choose(1.0, 3, np.inf)
    assert 0 < thin <= 0.1


def test_fast_bodies_get_no_skin() -> None:
    tuner = told(build=1.0, gap=0.5, check=0.05, ways=steady(0.3, 0.3))
    assert tuner.choose(1.0, 3, np.inf) == 0.0
    assert "no skin would pay off" in tuner.reason


def test_no_motion_gets_the_thinnest_skin() -> None:
    tuner = told(build=1.0, gap=0.5, check=0.05, ways=[0.0] * 30)
    assert tuner.choose(1.0, 3, np.inf) == pytest.approx(SHARES[1])


def test_the_choice_is_the_least_of_the_model() -> None:
    rng = np.random.default_rng(0)
    for _ in range(50):
        build, gap, pace = rng.uniform(0.1, 2), rng.uniform(0, 2), rng.uniform(0.001, 0.2)
        tuner = told(build=build, gap=gap, check=0.02, ways=steady(pace))
        skin = tuner.choose(1.0, 3, np.inf)
        costs, motion = ListCosts(build, 0.02, gap), BodyMotion(pace, 1.0)
        best = min(seconds_per_step(share, 1.0, 3, costs, motion) for share in SHARES)
        assert seconds_per_step(skin, 1.0, 3, costs, motion) == pytest.approx(best, rel=0.02)


def test_random_walks_are_not_taken_for_straight_ones() -> None:
    ways = [0.01 * k**0.5 for k in range(1, 30)]
    tuner = told(build=1.0, gap=0.2, check=0.0, ways=ways)
    tuner.choose(1.0, 3, np.inf)
    assert tuner._motion is not None
    assert tuner._motion.power == pytest.approx(0.5, abs=0.01)


def test_a_body_that_jumps_is_no_reason_for_a_thick_skin() -> None:
    slow = [1e-5 * k for k in range(1, 20)]
    tuner = told(build=1.0, gap=0.01, check=0.0, ways=[*slow, 5.0])
    assert tuner.choose(1.0, 3, np.inf) == pytest.approx(SHARES[1]), "it lasts until the next jump"


def test_the_cost_of_the_consumer_may_be_given() -> None:
    measured = told(build=1.0, gap=5.0, check=0.0, ways=steady(0.002)).choose(1.0, 3, np.inf)
    told_so = told(build=1.0, gap=5.0, check=0.0, ways=steady(0.002), consumer=1e-9).choose(1.0, 3, np.inf)
    assert measured < told_so == pytest.approx(0.5)


def test_a_box_may_leave_little_room() -> None:
    assert told(build=1.0, gap=0.0, check=0.0, ways=steady(0.002)).choose(1.0, 3, 0.17) == pytest.approx(0.16)
    assert SkinTuner().choose(1.0, 3, 0.03) == pytest.approx(0.03)


def test_a_skin_that_lasted_too_short_is_not_tried_again_at_once() -> None:
    tuner = told(build=1.0, gap=0.0, check=0.0, ways=steady(0.002))
    assert tuner.choose(1.0, 3, np.inf) > 0
    tuner.note_build(1.0, 1000, 0.5, 3)
    tuner.note_way(9.0)  # one step instead of some hundred
    assert tuner.choose(1.0, 3, np.inf) == 0.0
    assert "faster than predicted" in tuner.reason


def test_fast_bodies_that_slow_down_get_a_skin_again() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((2000, 3))
    made = vc.NeighborList(cutoff=0.1, consumer=0.0)
    for _ in range(4):
        points = rng.random((2000, 3))
        assert made.update(points)
    assert made.skin == 0.0
    builds = [made.update(points + 1e-6 * k) for k in range(60)]
    assert made.skin > 0
    assert not all(builds[-5:])


def test_a_box_that_changes_at_every_step_gets_no_skin() -> None:
    points = np.random.default_rng(0).random((500, 3))
    made = vc.NeighborList(cutoff=0.1, box=1.0)
    for step in range(5):
        made.update(points, box=1.0 + step / 1000)
    assert made.skin == 0.0
    assert "built at every step" in made.stats.reason


# -------------------------------------------------------------------------------- counted steps


def test_counted_steps_make_the_same_lists_again() -> None:
    rng = np.random.default_rng(0)
    start, velocity = rng.random((1000, 3)), rng.normal(0, 3e-4, (1000, 3))

    def run() -> tuple[list[bool], list[float], bytes]:
        made = vc.NeighborList(cutoff=0.1, skin="steps", box=1.0)
        builds, skins = [], []
        for step in range(120):
            builds.append(made.update(start + step * velocity))
            skins.append(made.skin)
        assert "updates" in made.stats.reason
        return builds, skins, made.indices.tobytes()

    first = run()
    with vc.threads(2):
        assert run() == first
    assert 1 < sum(first[0]) < 40
    assert len(set(first[1])) > 1, "the skin follows the motion"


def test_the_first_counted_skin_is_kept_until_a_list_is_used_up() -> None:
    tuner = StepTuner()
    assert tuner.choose(2.0, 3, np.inf) == pytest.approx(2 * FIRST_SKIN)
    tuner.note_build(1.0, 10, 0.1, 3)
    tuner.note_forced()  # the number of bodies changed
    assert tuner.choose(2.0, 3, np.inf) == pytest.approx(2 * FIRST_SKIN)
    tuner.note_build(1.0, 10, 0.1, 3)
    tuner.note_way(1.0)
    assert tuner.choose(2.0, 3, np.inf) == pytest.approx(4 * FIRST_SKIN), "one step: twice as much"
    assert tuner.choose(2.0, 3, 0.1) == pytest.approx(0.1)
