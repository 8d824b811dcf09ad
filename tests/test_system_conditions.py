"""Spheres, types, groups, exclusions and smallest distances in batches: the pairs of a loop over the systems."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import ALL, assert_same_pairs, from_rows
from oracle import Array, Pairs
from refusals import Refusal, check_refusal
from strategies import problems, sized_problems, tilted_problems

if TYPE_CHECKING:
    from problem import Problem

PER_BODY = ("radii", "types", "groups")


def part_of(conditions: dict[str, Any], begin: int, end: int) -> dict[str, Any]:
    """The conditions on some of the bodies."""
    part = {
        name: value[begin:end] if name in PER_BODY and np.ndim(value) else value for name, value in conditions.items()
    }
    if "exclude" in part:
        excluded = np.asarray(part["exclude"]).reshape(-1, 2)
        inside = ((excluded >= begin) & (excluded < end)).all(axis=1)
        part["exclude"] = excluded[inside] - begin
    return part


def looped(points: Array, offsets: Array, conditions: dict[str, Any], space: dict[str, Any], **options: Any) -> Pairs:
    """The pairs of a search for each system."""
    parts = []
    for begin, end in pairwise(offsets.tolist()):
        part = part_of(conditions, begin, end)
        found = Pairs(*vc.pairs(points[begin:end], **part, **space, want=ALL, sort=True, **options))
        parts.append(Pairs(found.i + np.int32(begin), found.j + np.int32(begin), found.S, found.d, found.D))
    return Pairs(*(np.concatenate([getattr(part, name) for part in parts]) for name in "ijSdD"))


def check(points: Array, offsets: Array, conditions: dict[str, Any], space: dict[str, Any]) -> Pairs:
    """Pairs half and full, rows, counts, self pairs and nearest neighbours; returns all pairs."""
    common = {**conditions, "batch": offsets}
    # One matrix of edge vectors for all systems could also be lengths of several systems.
    several = len(offsets) - 1
    common |= {**space, "box": [space["box"]] * several} if np.ndim(space.get("box")) == 2 else space
    full = looped(points, offsets, conditions, space, half=False)
    assert_same_pairs(Pairs(*vc.pairs(points, **common, want=ALL, sort=True, half=False)), full)
    half = looped(points, offsets, conditions, space)
    assert_same_pairs(Pairs(*vc.pairs(points, **common, want=ALL, sort=True)), half)
    assert_same_pairs(from_rows(vc.neighbors(points, **common, want="jSdD", sort=True)), full)
    assert np.array_equal(vc.count(points, **common), np.bincount(full.i, minlength=len(points)))
    for options in ({"self_pairs": True}, {"half": False, "self_pairs": True}, {"half": False, "max_neighbors": 2}):
        found = Pairs(*vc.pairs(points, **common, want=ALL, sort=True, **options))
        assert_same_pairs(found, looped(points, offsets, conditions, space, **options))
    return full


@st.composite
def batches(draw: st.DrawFn) -> tuple[Any, Array, dict[str, Any]]:
    """A cloud of points or spheres cut into systems, and conditions on their pairs."""
    problem = draw(
        st.one_of(
            problems(most=24),
            sized_problems("spheres", most=20),
            tilted_problems("points", most=16),
            tilted_problems("spheres", most=16),
        )
    )
    n = len(problem.points)
    offsets = np.array([0, *sorted(draw(st.lists(st.integers(0, n), max_size=4))), n])
    if len(offsets) == n:  # could also be the system of each body
        offsets = np.insert(offsets, 0, 0)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    conditions: dict[str, Any] = {"skin": problem.skin} if problem.skin else {}
    size = max(problem.sizes)
    if problem.radii is not None:
        conditions |= {"radii": problem.radii, "criterion": draw(st.sampled_from(["sum", "max", "min", "mean"]))}
    elif draw(st.booleans()):
        matrix = np.triu(rng.choice([-1.0, 0.3, 0.6, 1.0], (3, 3)))
        matrix[0, 0] = 1.0
        conditions |= {"types": rng.integers(0, 3, n), "cutoff": np.where(matrix < 0, -1, matrix * size)}
        conditions["cutoff"] = np.triu(conditions["cutoff"]) + np.triu(conditions["cutoff"], 1).T
    else:
        conditions["cutoff"] = problem.cutoff
    if draw(st.booleans()):
        conditions["groups"] = rng.integers(-1, 6, n)
    if draw(st.booleans()) and n:
        conditions["exclude"] = rng.integers(0, n, (n, 2))
    if draw(st.booleans()):
        conditions["r_min"] = float(size) * draw(st.sampled_from([0.25, 0.5, 1.0]))
    return problem, offsets, conditions


@given(batch=batches())
def test_any_batch_is_searched_as_if_each_system_were_alone(batch: tuple[Problem, Array, dict[str, Any]]) -> None:
    problem, offsets, conditions = batch
    assert problem.points is not None
    check(problem.points, offsets, conditions, {"box": problem.box, "periodic": problem.periodic})


RNG = np.random.default_rng(8)
OFFSETS = np.array([0, 30, 30, 70, 1500, 1520])  # the fourth is searched with a structure
N = 1520
POINTS = RNG.random((N, 3))
MATRIX = np.array([[0.2, 0.05, -1.0], [0.05, 0.12, 0.15], [-1.0, 0.15, 0.1]])
CONDITIONS: dict[str, dict[str, Any]] = {
    "radii": {"radii": 0.1 * RNG.random(N)},
    "one radius": {"radii": 0.05, "skin": 0.02},
    "the larger radius": {"radii": 0.12 * RNG.random(N), "criterion": "max"},
    "the smaller radius": {"radii": 0.2 * RNG.random(N), "criterion": "min", "r_min": 0.03},
    "the mean radius": {"radii": 0.2 * RNG.random(N), "criterion": "mean"},
    "types": {"cutoff": MATRIX, "types": RNG.integers(0, 3, N)},
    "groups": {"cutoff": 0.15, "groups": RNG.integers(-1, 9, N)},
    "excluded": {"cutoff": 0.15, "exclude": RNG.integers(0, N, (30_000, 2))},
    "r_min": {"cutoff": 0.15, "r_min": 0.12},
}


@pytest.mark.parametrize("name", CONDITIONS)
def test_every_condition_removes_pairs_of_small_and_large_systems(name: str) -> None:
    conditions = CONDITIONS[name]
    wide = {"cutoff": 0.2} if "cutoff" in conditions else {"radii": 0.1 if name == "one radius" else 0.2}
    for dtype in (np.float32, np.float64):
        points = POINTS.astype(dtype)
        for box in (None, (1.0, None, 0.9)):
            full = check(points, OFFSETS, conditions, {"box": box})
            everything = vc.pairs(points, **wide, box=box, batch=OFFSETS, half=False)[0]
            for begin, end in ((0, 70), (70, 1500)):  # small systems, the large one
                kept, all_of = (((i >= begin) & (i < end)).sum() for i in (full.i, everything))
                assert 0 < kept < all_of


def test_each_system_has_its_own_box_and_radii() -> None:
    boxes = np.array([[0.5, 0.6, 0.7], [1.0, 1.0, 1.0], [0.8, np.nan, 0.9], [1.0, 1.0, 1.0], [0.3, 0.3, np.nan]])
    radii = 0.08 * RNG.random(N)
    found = Pairs(*vc.pairs(POINTS, radii=radii, box=boxes, batch=OFFSETS, want=ALL, sort=True))
    parts = []
    for k, (begin, end) in enumerate(pairwise(OFFSETS.tolist())):
        box = [None if np.isnan(x) else float(x) for x in boxes[k]]
        part = Pairs(*vc.pairs(POINTS[begin:end], radii=radii[begin:end], box=box, want=ALL, sort=True))
        parts.append(Pairs(part.i + np.int32(begin), part.j + np.int32(begin), part.S, part.d, part.D))
    assert_same_pairs(found, Pairs(*(np.concatenate([getattr(p, name) for p in parts]) for name in "ijSdD")))
    edges, _ = vc.pairs(POINTS, radii=radii, box=boxes, batch=OFFSETS, want="Ed")
    assert edges.shape == (2, len(found))


FOUR = RNG.random((4, 3))
TWO = [0, 0, 1, 1]
REFUSALS = [
    Refusal("boxes", lambda: vc.pairs(boxes=(FOUR, FOUR), batch=TWO), "batch", "boxes"),
    Refusal("planes", lambda: vc.count(FOUR, 1.0, planes=([0, 0, 0], [0, 0, 1]), batch=TWO), "batch", "planes"),
    Refusal("queries", lambda: vc.neighbors(FOUR, 1.0, queries=FOUR, batch=TWO), "batch", "queries"),
    Refusal("structure", lambda: vc.pairs(FOUR, 1.0, structure="BVH", batch=TWO), "batch", "structure"),
    Refusal("radii", lambda: vc.pairs(FOUR, radii=[1.0, 2.0], batch=TWO), "radii", r"\(2,\)"),
    Refusal("types", lambda: vc.pairs(FOUR, 1.0, types=TWO, batch=TWO), "types", "one number"),
    Refusal("criterion", lambda: vc.pairs(FOUR, 1.0, criterion="max", batch=TWO), "criterion", "max"),
    Refusal("excluded", lambda: vc.pairs(FOUR, 1.0, exclude=[[0, 4]], batch=TWO), "exclude", "4"),
    Refusal("images", lambda: vc.pairs(FOUR, radii=99.0, box=[[1, 1, 1]] * 2, batch=TWO), "radii", "99.0"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_what_batches_do_not_have_is_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
