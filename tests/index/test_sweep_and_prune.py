"""SweepAndPrune: after any changes, overlaps are those of a rebuild, and little motion costs little."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from oracle import Array
from vicinal.settings import check_settings

SPACES = {"open": None, "periodic": (1.0, 1.0, 1.0), "slab": (0.3, None, 1.0), "narrow": (0.09, 0.11, 0.2)}
KINDS = ["points", "spheres", "boxes"]


def bodies_of(kind: str, points: Array, rng: np.random.Generator, size: float = 0.1) -> dict[str, Any]:
    """Bodies of any kind, one in twenty ten times as large as the rest."""
    n, dtype = len(points), points.dtype
    scale = np.where(rng.random(n) < 0.05, size, size / 10)
    if kind == "points":
        return {"points": points, "cutoff": size / 2}
    if kind == "spheres":
        return {"points": points, "radii": (scale * rng.random(n)).astype(dtype)}
    edges = (scale[:, None] * 2 * rng.random(points.shape)).astype(dtype)
    return {"boxes": (points, points + edges)}


def moved(bodies: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of `update` and `insert`."""
    return {name: value for name, value in bodies.items() if name != "cutoff"}


def assert_same_as_fresh(index: Any, bodies: dict[str, Any], box: Any = None) -> None:
    expected = vc.Exhaustive(**bodies, box=box).pairs(want="ijS", half=False, sort=True)
    for column, wanted in zip(index.pairs(want="ijS", half=False, sort=True), expected, strict=True):
        assert np.array_equal(column, wanted)
    assert len(index.pairs()[0]) == len(expected[0]) // 2
    assert np.array_equal(index.count(), np.bincount(expected[0], minlength=len(index)))


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("axes", ["one", "all"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("dim", [2, 3], ids=["2D", "3D"])
def test_pairs_are_those_of_exhaustive(dim: int, dtype: Any, kind: str, axes: Any, space: str) -> None:
    rng = np.random.default_rng(3)
    box = SPACES[space] and SPACES[space][:dim]
    bodies = bodies_of(kind, rng.random((700, dim)).astype(dtype), rng)
    index = vc.SweepAndPrune(**bodies, box=box, axes=axes)
    assert_same_as_fresh(index, bodies, box)
    others = moved(bodies_of(kind, (rng.random((200, dim)) * 1.4 - 0.2).astype(dtype), rng, 0.2))
    names = {"points": "queries", "radii": "query_radii", "boxes": "query_boxes"}
    others = {names[name]: value for name, value in others.items() if name in names}
    wanted = vc.Exhaustive(**bodies, box=box).pairs(**others, want="ijS", sort=True)
    for column, expected in zip(index.pairs(**others, want="ijS", sort=True), wanted, strict=True):
        assert np.array_equal(column, expected)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("dim", [2, 3], ids=["2D", "3D"])
@given(data=st.data())
def test_any_history_leads_to_the_same_pairs(dim: int, dtype: Any, kind: str, data: st.DataObject) -> None:
    """Steps of every length, of one body and of all; insertion, removal and changes of size."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32), label="seed"))
    # Coordinates on a lattice: ends coincide as often as possible.
    lattice = data.draw(st.booleans(), label="lattice")

    def place(x: Array) -> Array:
        return ((np.round(x * 20) / 20) if lattice else x).astype(dtype)

    bodies = bodies_of(kind, place(rng.random((data.draw(st.integers(0, 150), label="n"), dim))), rng, 0.3)
    index = vc.SweepAndPrune(**bodies, axes="all")
    for _ in range(data.draw(st.integers(1, 8), label="steps")):
        first = "boxes" if kind == "boxes" else "points"
        n = len(index)
        what = data.draw(st.sampled_from(["move", "still", "insert", "remove", "resize"]), label="what")
        if what == "insert":
            more = moved(bodies_of(kind, place(rng.random((int(rng.integers(0, 12)), dim))), rng, 0.3))
            index.insert(**more)
            for name, value in more.items():
                bodies[name] = (
                    tuple(np.concatenate(two) for two in zip(bodies[name], value, strict=True))
                    if name == "boxes"
                    else np.concatenate([bodies[name], value])
                )
        elif what == "remove":
            gone = np.flatnonzero(rng.random(n) < rng.choice([0.02, 0.7]))
            index.remove(gone)
            for name, value in moved(bodies).items():
                bodies[name] = (
                    tuple(np.delete(one, gone, axis=0) for one in value)
                    if name == "boxes"
                    else np.delete(value, gone, axis=0)
                )
        elif what == "resize" and kind != "points":
            bodies |= moved(bodies_of(kind, bodies[first][0] if kind == "boxes" else bodies[first], rng, 0.4))
            index.update(**moved(bodies))
        elif what == "move":
            step = place(rng.normal(size=(n, dim)) * rng.choice([0.001, 0.05, 5.0]))
            step[rng.random(n) > rng.choice([0.01, 0.3, 1.0])] = 0
            bodies[first] = tuple(x + step for x in bodies[first]) if kind == "boxes" else bodies[first] + step
            index.update(**moved(bodies))
        else:
            index.update(**moved(bodies))
            assert index.stats.details["swaps"] == 0
        assert_same_as_fresh(index, bodies)


def test_the_set_of_overlaps_is_exact_and_candidates_are_few_more() -> None:
    rng = np.random.default_rng(5)
    lower = rng.random((2000, 3))
    boxes = lower, lower + 0.1 * rng.random((2000, 3))
    index = vc.SweepAndPrune(boxes=boxes)
    for _ in range(5):
        pairs = len(index.pairs()[0])
        stats = index.stats
        assert pairs == stats.details["overlaps"]
        # A body is tested against the neighbours of up to seven bodies that follow it.
        assert pairs <= stats.candidates <= 8 * pairs + 28 * len(lower)
        boxes = boxes[0] + 0.001, boxes[1] + 0.001
        index.update(boxes=boxes)


def test_the_sweep_goes_along_the_axis_of_least_overlap() -> None:
    rng = np.random.default_rng(6)
    for axis in range(3):
        points = rng.random((3000, 3))
        points[:, axis] *= 3000
        index = vc.SweepAndPrune(points, radii=0.1, axes="one")
        index.pairs()
        assert index.stats.details["axis"] == axis
        assert index.stats.candidates < 15 * len(points)


@pytest.mark.parametrize("axes", ["one", "all"])
def test_images_of_flat_boxes_where_all_boxes_begin_are_found(axes: Any) -> None:
    """The sweep goes along x. The first two boxes have no width, and touch across the border of y only."""
    lower, upper = np.array([[0.0, 0], [0, 8], [50, 4]]), np.array([[0.0, 1], [0, 10.5], [51, 5]])
    for order in ([0, 1, 2], [1, 0, 2]):
        bodies = {"boxes": (lower[order], upper[order])}
        index = vc.SweepAndPrune(**bodies, box=(None, 10.0), axes=axes)
        assert len(index.pairs()[0]) == 1
        assert_same_as_fresh(index, bodies, (None, 10.0))


def test_one_giant_does_not_make_candidates_of_all() -> None:
    """Bodies before a query that end before it starts are left out, although the giant reaches far past them."""
    n = 4000
    points = np.arange(2.0 * n).reshape(n, 2) * [1, 0]
    radii = np.full(n, 1.1)
    radii[0] = 3.0 * n
    index = vc.SweepAndPrune(points, radii=radii, axes="one")
    index.count()
    assert index.stats.pairs == 4 * (n - 1) - 2
    assert index.stats.candidates < 30 * n


def test_an_update_without_motion_does_nothing() -> None:
    points = np.random.default_rng(7).random((5000, 3))
    index = vc.SweepAndPrune(points, cutoff=0.05)
    index.update(points.copy())
    details = index.stats.details
    assert (details["swaps"], details["rebuilds"], details["axes"]) == (0, 1, 3)


def test_a_small_step_swaps_few_ends_and_a_large_one_rebuilds() -> None:
    rng = np.random.default_rng(8)
    points = rng.random((5000, 3))
    index = vc.SweepAndPrune(points, cutoff=0.05)
    points[::500] += 0.001
    index.update(points)
    details = index.stats.details
    assert 0 < details["swaps"] < 5000
    assert details["rebuilds"] == 1
    points = rng.random((5000, 3))
    index.update(points)
    assert index.stats.details["rebuilds"] == 2
    assert_same_as_fresh(index, {"points": points, "cutoff": 0.05})


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
def test_a_cluster_that_drifts_far_away_stays_exact(dtype: Any) -> None:
    """The float32 frame of doubles is kept while bodies stay near it, and computed again when they leave."""
    rng = np.random.default_rng(9)
    points = rng.random((400, 3)).astype(dtype)
    index = vc.SweepAndPrune(points, cutoff=0.2)
    for step in [0.01, 0.1, 0.1, 0.5, 1, 3, 30, 1000, -1000, 1e6]:
        points = (points + dtype(step)).astype(dtype)
        index.update(points)
        assert_same_as_fresh(index, {"points": points, "cutoff": 0.2})


def test_strays_are_put_in_order_when_there_are_many() -> None:
    rng = np.random.default_rng(10)
    points = rng.random((500, 2))
    index = vc.SweepAndPrune(points, cutoff=0.1)
    for _ in range(40):
        more = rng.random((10, 2))
        index.insert(more)
        points = np.concatenate([points, more])
        assert_same_as_fresh(index, {"points": points, "cutoff": 0.1})
    assert 2 < index.stats.details["rebuilds"] < 12


def test_a_single_search_sweeps_along_one_axis() -> None:
    points = np.random.default_rng(11).random((300, 3))
    once = vc.SweepAndPrune._once(check_settings(points, cutoff=0.2), {})
    assert once._core.origin == ("SweepAndPrune", {"axes": 1.0})  # type: ignore[attr-defined]
    assert_same_as_fresh(once, {"points": points, "cutoff": 0.2})
    assert vc.SweepAndPrune(points, cutoff=0.2).stats.details["axes"] == 3
    assert vc.SweepAndPrune(points, cutoff=0.2, box=1.0).stats.details["axes"] == 1


@pytest.mark.parametrize("axes", ["two", 1, "", "x"])
def test_axes_other_than_one_and_all_are_refused(axes: Any) -> None:
    with pytest.raises(vc.InputError, match=r"axes must be one of 'one', 'all', got"):
        vc.SweepAndPrune(np.zeros((2, 3)), cutoff=0.1, axes=axes)
