"""Along the curve, neighbours in space are neighbours in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from refusals import Refusal, check_refusal


def jump(points: Any) -> float:
    """The mean distance from one body to the next."""
    return float(np.linalg.norm(np.diff(points, axis=0), axis=1).mean())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
def test_an_order_is_a_permutation_that_brings_neighbours_together(dtype: Any, dim: int) -> None:
    points = np.random.default_rng(0).random((5000, dim)).astype(dtype)
    order = vc.spatial_order(points)
    assert order.dtype == np.int32
    assert np.array_equal(np.sort(order), np.arange(5000))
    spacing = 5000 ** (-1 / dim)
    assert jump(points[order]) < 2.5 * spacing < jump(points) / 2


@pytest.mark.usefixtures("threads")
def test_the_order_does_not_depend_on_threads() -> None:
    points = np.random.default_rng(1).random((60_000, 3))
    points[::7] = points[0]  # many at one position
    orders = []
    for threads in (1, 2, 3):
        vc.set_threads(threads)
        orders.append(vc.spatial_order(points).tobytes())
    assert orders[0] == orders[1] == orders[2]


def test_a_stray_body_does_not_spoil_the_order_of_the_others() -> None:
    points = np.random.default_rng(2).random((3000, 3))
    points[1234] = 1e12
    order = vc.spatial_order(points)
    assert jump(points[order[order != 1234]]) < 2.5 * 3000 ** (-1 / 3)


def test_in_a_box_wrapped_places_count() -> None:
    points = np.random.default_rng(3).random((500, 3))
    shifts = np.random.default_rng(4).integers(-3, 4, (500, 3))
    exact = np.round(points * 1024) / 1024  # moving these by whole edges does not round
    assert np.array_equal(vc.spatial_order(exact + shifts, box=1.0), vc.spatial_order(exact, box=1.0))


def test_no_bodies_and_one_body() -> None:
    assert vc.spatial_order(np.zeros((0, 3))).tolist() == []
    assert vc.spatial_order([[1.0, 2.0]]).tolist() == [0]
    assert sorted(vc.spatial_order(np.ones((20, 2))).tolist()) == list(range(20))


@pytest.mark.parametrize(
    "refusal",
    [
        Refusal("nan", lambda: vc.spatial_order([[0.0, np.nan]]), "points", "nan"),
        Refusal("shape", lambda: vc.spatial_order([0.0, 1.0]), "points", r"\(2,\)"),
        Refusal("box", lambda: vc.spatial_order([[0.0, 1.0]], box=-1.0), "box", "-1"),
    ],
    ids=str,
)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)
