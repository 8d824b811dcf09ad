"""Spheres against boxes: the centre is within the radius of the box."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import ask, assert_same_pairs
from oracle import exact_pairs
from refusals import Refusal, check_refusal
from strategies import sized_problems
from structures import STRUCTURES


def cloud(seed: int, n: int, dim: int, dtype: Any) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    return rng.random((n, dim)).astype(dtype) * 2 - dtype(0.5), rng.choice([0, 0.02, 0.1, 0.3], n).astype(dtype)


def check(spheres: dict[str, Any], boxes: Any, box: Any) -> None:
    """Spheres as bodies and as queries, for every structure that has boxes."""
    expected = exact_pairs(**spheres, query_boxes=boxes, box=box)
    found = ask(lambda **more: vc.pairs(**spheres, query_boxes=boxes, box=box, **more), "boxes", sort=True)
    assert_same_pairs(found, expected)
    counts = vc.count(**spheres, query_boxes=boxes, box=box)
    assert np.array_equal(counts, np.bincount(expected.i, minlength=len(counts)))
    if "radii" in spheres:
        others = {"queries": spheres["points"], "query_radii": spheres["radii"]}
        expected = exact_pairs(boxes=boxes, box=box, **others)
        for structure in STRUCTURES:
            if "boxes" in structure.kinds and structure.lives_in(boxes[0].shape[1], box) and not structure.label:
                index = structure.build(boxes=boxes, box=box, size=0.5)
                assert_same_pairs(ask(index.pairs, "boxes", sort=True, **others), expected)


def test_every_structure_answers_as_the_oracle() -> None:
    for dim, dtype in ((3, np.float64), (2, np.float32)):
        points, radii = cloud(1, 150, dim, dtype)
        lower, edges = cloud(2, 80, dim, dtype)
        boxes = lower, lower + edges[:, None]
        tilted = ((0.9, 0.1), (0.5, 0.7)) if dim == 2 else ((0.9, 0.1, 0.0), (0.5, 0.8, 0.05), (-2.3, 0.2, 0.7))
        for box in (None, (1.0, None, 0.7)[:dim], tilted):
            check({"points": points, "radii": radii}, boxes, box)
            check({"points": points, "cutoff": 0.1}, boxes, box)
            check({"points": points, "cutoff": 0.0}, boxes, box)  # points inside boxes


@given(spheres=sized_problems("spheres", most=12), boxes=sized_problems("boxes", most=12), data=st.data())
def test_any_spheres_and_boxes(spheres: Any, boxes: Any, data: st.DataObject) -> None:
    points, radii = spheres.points, spheres.radii
    lower, upper = (corner.astype(points.dtype) for corner in boxes.boxes)
    if lower.shape[1] != points.shape[1] or not (np.isfinite(lower).all() and np.isfinite(upper).all()):
        lower, upper = points[::2], points[::2] + radii[::2, None]
    if not np.isfinite(upper).all():
        return
    bodies = {"points": points, "radii": radii}
    size = float(np.abs(points).max(initial=0) + np.abs(upper).max(initial=0) + radii.max(initial=0))
    if not size < 1e15 or not len(lower) or not len(points):
        return
    expected = exact_pairs(**bodies, query_boxes=(lower, upper))
    structure = data.draw(st.sampled_from(["HashGrid", "BVH", "CellSorting", None]))
    found = ask(
        lambda **more: vc.pairs(**bodies, query_boxes=(lower, upper), structure=structure, **more), "boxes", sort=True
    )
    assert_same_pairs(found, expected)


SOME = np.random.default_rng(0).random((4, 3))
BOXES = SOME, SOME + 1
REFUSALS = [
    Refusal("r_min", lambda: vc.pairs(SOME, 1.0, r_min=0.5, query_boxes=BOXES), "r_min", "query_boxes"),
    Refusal("criterion", lambda: vc.pairs(SOME, radii=1.0, criterion="max", query_boxes=BOXES), "criterion", "boxes"),
    Refusal("index", lambda: vc.BVH(SOME, 1.0).pairs(query_boxes=BOXES), "query_boxes", "boxes"),
    Refusal("distances", lambda: vc.pairs(SOME, 1.0, query_boxes=BOXES, want="d"), "want", "'d'"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_what_boxes_cannot_do_is_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
