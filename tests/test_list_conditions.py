"""Lists of pairs by types and criteria, and with a smallest distance: no pair is missed while points move."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from refusals import Refusal, check_refusal

CUTOFFS = [[0.02, 0.2, -1.0], [0.2, 0.05, 0.1], [-1.0, 0.1, 0.0]]
WORLDS = ["sum", "max", "min", "mean", "types"]
R_MIN = 0.02
SKIN = 0.04


@pytest.fixture(autouse=True)
def _one_thread(threads: None) -> None:
    vc.set_threads(1)


def world(what: str, rng: Any, dtype: Any, n: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The keywords of a list that decide which bodies form pairs, and the radii, which may change."""
    if what == "types":
        return {"cutoff": CUTOFFS, "types": rng.integers(0, 3, n)}, {}
    return {"criterion": what}, {"radii": rng.choice([0.01, 0.03, 0.1], n).astype(dtype)}


def owners_of(rows: Any) -> Any:
    return np.repeat(np.arange(len(rows.offsets) - 1), np.diff(rows.offsets))


def keys(rows: Any) -> set[tuple[Any, ...]]:
    return set(zip(owners_of(rows).tolist(), rows.indices.tolist(), map(tuple, rows.shifts.tolist()), strict=True))


@pytest.mark.parametrize("what", WORLDS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("box", [None, (1.0, 1.0, None), (0.3, 0.9, 0.8)], ids=["open", "slab", "several images"])
def test_a_list_holds_every_pair_while_points_move_and_radii_change(what: str, dtype: Any, box: Any) -> None:
    rng = np.random.default_rng(WORLDS.index(what))
    n = 200
    points = rng.random((n, 3)).astype(dtype)
    kept, sizes = world(what, rng, dtype, n)
    rows = vc.NeighborList(**kept, **sizes, skin=SKIN, box=box, half=False, r_min=R_MIN)
    built = []
    for step in range(14):
        if sizes and step % 3 == 2:
            sizes = {"radii": (sizes["radii"] * rng.uniform(0.97, 1.02, n)).astype(dtype)}
        built.append(rows.update(points, **sizes))
        bodies = {"points": points, **kept, **sizes, "box": box}
        listed, wanted = keys(rows), keys(vc.neighbors(**bodies, want="jS"))
        assert wanted <= listed, sorted(wanted - listed)[:3]
        if built[-1]:
            assert listed == keys(vc.neighbors(**bodies, skin=SKIN, want="jS"))
        exact = vc.neighbors(**bodies, r_min=R_MIN, sort=True, want="jdS")
        i, j, d, shifts = rows.exact(want="ijdS")
        assert np.array_equal(i, owners_of(exact))
        assert np.array_equal(j, exact.indices)
        assert np.array_equal(d, exact.distances)
        assert np.array_equal(shifts, exact.shifts)
        points = points + rng.normal(0, 0.003, points.shape).astype(dtype)
    assert 1 < sum(built) < len(built)


@pytest.mark.parametrize(("criterion", "reach"), [("max", 0.3), ("min", 0.1)])
def test_pairs_that_close_the_whole_skin_and_growth_are_in_the_list(criterion: str, reach: float) -> None:
    """Two bodies just outside the list approach each other by a whole skin, and one of them grows."""
    skin = 0.1
    places = np.array([[0.0, 0.0], [reach + 1.02 * skin, 0.0]])
    for step, growth in ((0.49 * skin, 0.0), (0.56 * skin, 0.0), (0.3 * skin, 0.35 * skin), (0.3 * skin, 0.5 * skin)):
        rows = vc.NeighborList(radii=[0.3, 0.1], criterion=criterion, skin=skin)
        rows.update(places)
        assert rows.stats.entries == 0
        moved = places + np.array([[step, 0.0], [-step, 0.0]])
        radii = np.array([0.3, 0.1]) + growth
        built = rows.update(moved, radii=radii)
        assert built == (2 * step + growth > skin)
        assert rows.stats.entries >= len(vc.pairs(moved, radii=radii, criterion=criterion)[0])


def test_nearer_pairs_than_r_min_stay_in_the_list() -> None:
    rows = vc.NeighborList(cutoff=1.0, skin=0.5, r_min=0.3)
    rows.update([[0.0, 0.0], [0.2, 0.0]])
    assert (rows.indices.tolist(), rows.exact()[0].tolist()) == ([1], [])
    assert rows.update([[0.0, 0.0], [0.4, 0.0]]) is False
    assert (rows.indices.tolist(), rows.exact()[0].tolist()) == ([1], [0])


def test_a_list_with_types_is_reordered_and_copied() -> None:
    rng = np.random.default_rng(8)
    points, types = rng.random((100, 3)), rng.integers(0, 3, 100)
    rows = vc.NeighborList(CUTOFFS, types=types, skin=0.01, exclude=[[0, 1]])
    rows.update(points)
    order = rng.permutation(100)
    rows.reorder(order)
    expected = vc.pairs(
        points[order], CUTOFFS, types=types[order], exclude=[np.argsort(order)[:2]], want="ijd", sort=True
    )
    for one in (rows, copy.copy(rows)):
        assert all(np.array_equal(a, b) for a, b in zip(one.exact(want="ijd"), expected, strict=True))
    assert len(expected[0]) > 20


def test_new_radii_that_are_not_sizes_are_refused_by_every_criterion() -> None:
    for criterion in ("sum", "max", "min", "mean"):
        rows = vc.NeighborList(radii=[0.1, 0.2], criterion=criterion, skin=0.1)
        rows.update([[0.0, 0.0], [1.0, 0.0]])
        for wrong in (-0.1, np.nan, np.inf):
            with pytest.raises(vc.InputError, match="radii must be finite"):
                rows.update([[0.0, 0.0], [1.0, 0.0]], radii=[0.1, wrong])


SOME = np.random.default_rng(0).random((4, 3))
MADE = {"types": [0] * 4}
REFUSALS = [
    Refusal("types without a matrix", lambda: vc.NeighborList(1.0, **MADE).update(SOME), "types", "one number"),
    Refusal("matrix without types", lambda: vc.NeighborList([[1.0]]), "cutoff", r"\(1, 1\)"),
    Refusal("types of spheres", lambda: vc.NeighborList(radii=1.0, **MADE), "types", "radii"),
    Refusal("words", lambda: vc.NeighborList([["a"]], **MADE).update(SOME), "cutoff", "<U1"),
    Refusal("too few types", lambda: vc.NeighborList([[1.0]], types=[0]).update(SOME), "types", r"\(1,\)"),
    Refusal("criterion of points", lambda: vc.NeighborList(1.0, criterion="max"), "criterion", "'max'"),
    Refusal("no such criterion", lambda: vc.NeighborList(radii=1.0, criterion="most"), "criterion", "'most'"),
    Refusal("a negative distance", lambda: vc.NeighborList(1.0, r_min=-1.0).update(SOME), "r_min", "-1.0"),
    Refusal(
        "distances of boxes", lambda: vc.NeighborList(boxes=True, r_min=1.0).update(boxes=(SOME, SOME)), "r_min", "1.0"
    ),
    Refusal("a force of types", lambda: made(SOME).lennard_jones(), "lennard_jones", "types"),
]


def made(points: Any) -> vc.NeighborList:
    rows = vc.NeighborList([[1.0]], types=[0] * len(points))
    rows.update(points)
    return rows


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_wrong_conditions_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
