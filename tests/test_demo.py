"""The demonstration: its scene, the count of all pairs, and the picture."""

from __future__ import annotations

import io

import numpy as np
import pytest
from matplotlib.image import imread

import vicinal as vc
from vicinal.demo import DemoSettings, draw, simulate, summarise
from vicinal.demo.galaxies import DURATION, MAX_DT, Stars, encounter
from vicinal.demo.run import frame_steps

SMALL = DemoSettings(bodies=2000, steps=7, seed=3)


# The scene


def test_equal_seeds_give_equal_scenes_and_others_do_not() -> None:
    first, again, other = (Stars(500, seed=seed) for seed in (1, 1, 2))
    for stars in (first, again, other):
        stars.move(0.3)
    np.testing.assert_array_equal(first.points, again.points)
    assert not np.array_equal(first.points, other.points)


@pytest.mark.parametrize("bodies", [1, 2, 3, 1001])
def test_the_scene_has_exactly_the_stars_asked_for(bodies: int) -> None:
    stars = Stars(bodies, seed=0)
    stars.move(0.1)
    assert stars.points.shape == (bodies, 3)
    assert stars.points.dtype == np.float32
    assert stars.points.flags.c_contiguous
    assert np.isfinite(stars.points).all()


def test_at_the_start_the_stars_fill_two_discs() -> None:
    points = Stars(4000, seed=0).points
    first, second = encounter()
    near_first = np.linalg.norm(points - first.centre, axis=1) < 1.2 * first.radius
    near_second = np.linalg.norm(points - second.centre, axis=1) < 1.2 * second.radius
    assert (near_first ^ near_second).all()
    assert near_first.mean() == pytest.approx(first.mass / (first.mass + second.mass), abs=1e-3)


def test_the_encounter_draws_out_tails() -> None:
    def strays(stars: Stars) -> float:
        away = np.linalg.norm(stars.points[:, None] - stars.centres, axis=2).min(axis=1)
        return float((away > 1.2).mean())

    stars = Stars(4000, seed=0)
    assert strays(stars) == 0.0
    stars.move(DURATION)
    assert 0.05 < strays(stars) < 0.5


def test_long_steps_are_divided_so_that_the_motion_hardly_depends_on_them() -> None:
    coarse, fine = Stars(1000, seed=0), Stars(1000, seed=0)
    coarse.move(10 * MAX_DT)
    for _ in range(40):
        fine.move(MAX_DT / 4)
    assert np.linalg.norm(coarse.points - fine.points, axis=1).max() < 0.1
    assert np.median(np.linalg.norm(coarse.points - fine.points, axis=1)) < 0.01


# The job


def test_every_step_finds_the_pairs_that_one_call_finds() -> None:
    steps = list(simulate(SMALL))
    assert [step.number for step in steps] == list(range(SMALL.steps))
    for step in steps:
        if step.frame is not None:
            counts = vc.count(step.frame.points, cutoff=SMALL.cutoff)
            np.testing.assert_array_equal(step.frame.counts, counts)
            assert step.pairs == counts.sum() // 2 > 0
        assert step.candidates >= step.pairs
        assert step.search_seconds > 0


def test_frames_begin_at_the_start_and_end_at_the_end() -> None:
    frames = [step.frame for step in simulate(SMALL) if step.frame is not None]
    assert len(frames) == len(frame_steps(SMALL.steps)) == 6
    stars = Stars(SMALL.bodies, seed=SMALL.seed)
    assert frames[0].time == 0.0
    np.testing.assert_array_equal(frames[0].points, stars.points)
    for _ in range(SMALL.steps - 1):
        stars.move(DURATION / (SMALL.steps - 1))
    assert frames[-1].time == pytest.approx(DURATION)
    np.testing.assert_array_equal(frames[-1].points, stars.points)
    assert [step.frame is not None for step in simulate(DemoSettings(bodies=10, steps=1))] == [True]


@pytest.mark.parametrize("bodies", [10_000, 40_000])
def test_the_cutoff_gives_some_tens_of_neighbours_for_any_number_of_stars(bodies: int) -> None:
    settings = DemoSettings(bodies=bodies)
    mean = vc.count(Stars(bodies, seed=settings.seed).points, cutoff=settings.cutoff).mean()
    assert 20 < mean < 60


def test_a_summary_adds_up() -> None:
    steps = list(simulate(SMALL))
    summary = summarise(steps)
    assert summary.steps == SMALL.steps
    assert summary.pairs == sum(step.pairs for step in steps)
    assert summary.candidates == sum(step.candidates for step in steps)
    assert summary.structure == vc.choose(Stars(2000, seed=3).points, cutoff=SMALL.cutoff).structure
    seconds = sum(step.search_seconds for step in steps)
    assert summary.pairs_per_second == pytest.approx(summary.pairs / seconds)
    assert summary.nanoseconds_per_pair == pytest.approx(1e9 * seconds / summary.pairs)


def test_a_single_star_has_no_pairs_and_no_division_by_zero() -> None:
    summary = summarise(list(simulate(DemoSettings(bodies=1, steps=2))))
    assert summary.pairs == 0
    assert summary.nanoseconds_per_pair == 0.0


@pytest.mark.parametrize(("name", "value"), [("bodies", 0), ("steps", 0), ("seed", -1)])
def test_settings_that_cannot_be_run_are_refused(name: str, value: int) -> None:
    with pytest.raises(vc.InputError, match=f"{name}.*{value}"):
        DemoSettings(**{name: value})


# The picture


def picture(settings: DemoSettings) -> np.ndarray:
    frames = [step.frame for step in simulate(settings) if step.frame is not None]
    target = io.BytesIO()
    draw(frames, title="title", subtitle="subtitle", target=target, dpi=40)
    target.seek(0)
    return np.asarray(imread(target, format="png"))


def test_the_picture_shows_stars_on_a_dark_ground() -> None:
    image = picture(SMALL)
    assert image.shape[:2] == (400, 640)
    brightness = image[..., :3].max(axis=2)
    large_panel, strip = brightness[50:300], brightness[320:]
    assert np.median(brightness) < 0.1
    assert 0.005 < (large_panel > 0.4).mean() < 0.5
    assert (strip > 0.4).mean() > 0.005


def test_a_single_frame_and_a_single_star_can_be_drawn() -> None:
    assert picture(DemoSettings(bodies=1, steps=1)).shape[:2] == (400, 640)
