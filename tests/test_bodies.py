"""Bodies with size: the meaning of radii, boxes and skins, accepted and refused input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH
from compare import assert_same_bits, assert_same_pairs
from forms import FORMS
from oracle import Pairs, exact_pairs
from refusals import Refusal, check_refusal

if TYPE_CHECKING:
    from oracle import Array

RNG = np.random.default_rng(25)
CLOUD = RNG.random((60, 3))
RADII = RNG.uniform(0, 0.2, 60)
BOXES = CLOUD, CLOUD + RNG.uniform(0, 0.3, (60, 3))


def spoiled(array: Array, row: Any, value: float) -> Array:
    copy = array.copy()
    copy[row] = value
    return copy


# -------------------------------------------------------------------------------- what a pair is


def test_the_definition_of_spheres_itself() -> None:
    """Written out in NumPy, without helper functions."""
    points, radii = CLOUD.astype(np.float32), RADII.astype(np.float32)
    dx, dy, dz = (points[None, :, axis] - points[:, None, axis] for axis in range(3))
    reach = radii[None, :] + radii[:, None]
    i, j = np.nonzero(np.triu((dx * dx + dy * dy) + dz * dz <= reach * reach, 1))
    assert len(i) > 20
    pairs = vc.pairs(points, radii=radii, sort=True)
    assert np.array_equal(pairs[0], i)
    assert np.array_equal(pairs[1], j)


def test_the_definition_of_boxes_itself() -> None:
    lower, upper = BOXES
    overlap = (lower[None] <= upper[:, None]) & (lower[:, None] <= upper[None])
    i, j = np.nonzero(np.triu(overlap.all(axis=2), 1))
    assert len(i) > 20
    pairs = vc.pairs(boxes=BOXES, sort=True)
    assert np.array_equal(pairs[0], i)
    assert np.array_equal(pairs[1], j)


def test_points_are_spheres_of_half_the_cutoff() -> None:
    for dtype in BOTH:
        points = CLOUD.astype(dtype)
        cutoff, radii = vc.pairs(points, cutoff=0.25, sort=True), vc.pairs(points, radii=0.125, sort=True)
        assert all(np.array_equal(a, b) for a, b in zip(cutoff, radii, strict=True))


def test_one_radius_may_stand_for_all() -> None:
    for radii in (0.1, np.float32(0.1), np.array(0.1), 1):
        one = vc.pairs(CLOUD, radii=radii, want="ijdD", sort=True)
        many = vc.pairs(CLOUD, radii=np.full(60, radii), want="ijdD", sort=True)
        for a, b in zip(one, many, strict=True):
            assert_same_bits(a, b)


def test_radii_are_rounded_to_the_dtype_of_the_points() -> None:
    """0.1 is less in float64 than in float32: two float32 spheres that touch are still a pair."""
    points = np.array([[0, 0], [0.2, 0]], np.float32)
    assert float(points[1, 0]) > 0.2
    for radii in ([0.1, 0.1], np.array([0.1, 0.1]), 0.1):
        assert len(vc.pairs(points, radii=radii)[0]) == 1
    assert len(vc.pairs(points.astype(np.float64), radii=0.1)[0]) == 0


def test_a_query_without_radii_is_a_point() -> None:
    bare = vc.pairs(CLOUD, radii=RADII, queries=CLOUD + 0.05, want="ijd", sort=True)
    zero = vc.pairs(CLOUD, radii=RADII, queries=CLOUD + 0.05, query_radii=0.0, want="ijd", sort=True)
    assert len(bare[0]) > 5
    for a, b in zip(bare, zero, strict=True):
        assert_same_bits(a, b)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_array_is_taken(form: str) -> None:
    make = FORMS[form]
    expected = vc.pairs(boxes=BOXES, sort=True)
    pairs = vc.pairs(boxes=(make(BOXES[0]), make(BOXES[1])), sort=True)
    assert all(np.array_equal(a, b) for a, b in zip(pairs, expected, strict=True))


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.uint16, np.int64, np.float32, np.longdouble])
def test_radii_may_be_any_numbers(dtype: Any) -> None:
    radii = np.array([0, 1, 2, 3, 0] * 12).astype(dtype)
    expected = vc.pairs(CLOUD * 9, radii=radii.astype(np.float64), sort=True)
    pairs = vc.pairs(CLOUD * 9, radii=radii, sort=True)
    assert len(pairs[0]) > 5
    assert all(np.array_equal(a, b) for a, b in zip(pairs, expected, strict=True))
    strided = np.repeat(radii, 2)[::2]
    assert all(
        np.array_equal(a, b) for a, b in zip(vc.pairs(CLOUD * 9, radii=strided, sort=True), expected, strict=True)
    )
    listed = vc.pairs(CLOUD * 9, radii=radii.tolist(), sort=True)
    assert all(np.array_equal(a, b) for a, b in zip(listed, expected, strict=True))


def test_input_is_never_changed() -> None:
    arrays = CLOUD.copy(), RADII.copy(), *(corner.copy() for corner in BOXES)
    vc.pairs(arrays[0], radii=arrays[1], skin=0.1, box=0.7)
    vc.pairs(boxes=arrays[2:], skin=0.1, box=0.7)
    index = vc.CellSorting(boxes=arrays[2:], skin=0.1)
    index.pairs(query_boxes=arrays[2:])
    for array, copy in zip(arrays, (CLOUD, RADII, *BOXES), strict=True):
        assert_same_bits(array, copy)


def test_no_bodies_have_no_pairs() -> None:
    empty = np.zeros((0, 3))
    for bodies in ({"points": empty, "radii": []}, {"points": empty, "radii": 1.0}, {"boxes": (empty, empty)}):
        assert [len(column) for column in vc.pairs(**bodies)] == [0, 0]
        assert vc.count(**bodies).shape == (0,)
        assert len(vc.neighbors(**bodies)) == 0
    assert [len(column) for column in vc.pairs(boxes=([], []))] == [0, 0]
    assert len(vc.pairs(CLOUD, radii=RADII, queries=empty)[0]) == 0
    assert len(vc.pairs(boxes=BOXES, query_boxes=(empty, empty))[0]) == 0


def test_the_repr_of_an_index_describes_its_bodies() -> None:
    assert repr(vc.CellSorting(CLOUD, cutoff=0.5)) == "CellSorting(60 bodies, cutoff=0.5)"
    assert repr(vc.CellSorting(CLOUD, radii=RADII)) == "CellSorting(60 bodies, spheres)"
    assert repr(vc.CellSorting(boxes=BOXES)) == "CellSorting(60 bodies, boxes)"


# -------------------------------------------------------------------------------- skin


@pytest.mark.parametrize("dtype", BOTH)
def test_a_skin_is_half_a_skin_on_every_side(dtype: Any) -> None:
    points, radii = CLOUD.astype(dtype), RADII.astype(dtype)
    expected = vc.pairs(points, radii=radii + dtype(0.05), want="ijd", sort=True)
    for a, b in zip(vc.pairs(points, radii=radii, skin=0.1, want="ijd", sort=True), expected, strict=True):
        assert_same_bits(a, b)
    lower, upper = (corner.astype(dtype) for corner in BOXES)
    expected = vc.pairs(boxes=(lower - dtype(0.05), upper + dtype(0.05)), box=1.5, want="ijS", sort=True)
    for a, b in zip(vc.pairs(boxes=(lower, upper), skin=0.1, box=1.5, want="ijS", sort=True), expected, strict=True):
        assert_same_bits(a, b)


@pytest.mark.parametrize("dtype", BOTH)
def test_a_skin_is_added_to_the_cutoff(dtype: Any) -> None:
    points = CLOUD.astype(dtype)
    expected = vc.pairs(points, float(dtype(0.2)) + 0.1, want="ijd", sort=True)
    assert len(expected[0]) > len(vc.pairs(points, 0.2)[0])
    for a, b in zip(vc.pairs(points, 0.2, skin=0.1, want="ijd", sort=True), expected, strict=True):
        assert_same_bits(a, b)
    index = vc.CellSorting(points[:9], 0.2, skin=0.1)
    index.insert(points[9:])
    assert len(index.pairs()[0]) == len(expected[0])


def test_bodies_that_come_later_have_the_skin_too() -> None:
    points = np.array([[0.0, 0.0], [2.25, 0.0]])
    index = vc.CellSorting(points[:1], radii=[1.0], skin=0.5)
    index.insert(points[1:], radii=[1.0])
    assert len(index.pairs()[0]) == 1
    index.update(points + 7)  # radii and skin stay
    assert len(index.pairs()[0]) == 1
    index.update(points, radii=[1.0, 1.0])
    assert len(index.pairs()[0]) == 1
    index.update(points, radii=[1.0, 0.5])
    assert len(index.pairs()[0]) == 0
    lower = points * 1.0
    boxes = vc.CellSorting(boxes=(lower, lower + 2), skin=0.5)
    assert len(boxes.pairs()[0]) == 1
    boxes.update(boxes=(lower * 2, lower * 2 + 2))
    assert len(boxes.pairs()[0]) == 0


def test_queries_have_no_skin_but_bodies_do() -> None:
    """Half a skin, not a whole one."""
    index = vc.CellSorting([[0.0, 0.0]], radii=[1.0], skin=0.5)
    assert len(index.pairs(queries=[[1.25, 0.0]])[0]) == 1
    assert len(index.pairs(queries=[[1.26, 0.0]])[0]) == 0
    assert len(index.pairs(queries=[[2.25, 0.0]], query_radii=[1.0])[0]) == 1
    assert len(index.pairs(queries=[[2.26, 0.0]], query_radii=[1.0])[0]) == 0


# -------------------------------------------------------------------------------- images


def test_a_sphere_larger_than_the_period_is_its_own_neighbour() -> None:
    i, j, S = vc.pairs([[0.2, 0.3]], radii=[0.5], box=1.0, want="ijS", half=False, sort=True)
    assert i.tolist() == j.tolist() == [0] * 4
    assert S.tolist() == [[-1, 0], [0, -1], [0, 1], [1, 0]]
    assert len(vc.pairs([[0.2, 0.3]], radii=[0.5], box=1.0)[0]) == 2


def test_a_box_larger_than_the_period_is_its_own_neighbour() -> None:
    S = vc.pairs(boxes=([[0.2, 0.3]], [[1.2, 0.4]]), box=1.0, want="S", half=False, sort=True)[0]
    assert S.tolist() == [[-1, 0], [1, 0]]
    S = vc.pairs(boxes=([[0.2, 0.3]], [[1.1, 0.4]]), box=1.0, want="S", half=False)[0]
    assert len(S) == 0


def test_shifts_lead_from_box_to_box_as_they_were_given() -> None:
    """In the frame of the corners that were given, not of those inside the periodic box."""
    lower, upper = (np.floor(corner * 256) / 256 for corner in BOXES)
    moves = np.random.default_rng(0).integers(-5, 6, lower.shape)
    i, j, S = vc.pairs(boxes=(lower, upper), box=1.0, want="ijS", half=False, sort=True)
    k, m, moved = vc.pairs(boxes=(lower + moves, upper + moves), box=1.0, want="ijS", half=False, sort=False)
    order = np.lexsort((*(moved - moves[k] + moves[m]).T[::-1], m, k))
    assert np.array_equal(k[order], i)
    assert np.array_equal(m[order], j)
    assert np.array_equal((moved - moves[k] + moves[m])[order], S)


# -------------------------------------------------------------------------------- refused

INDEX = {
    "points": vc.CellSorting(CLOUD, cutoff=0.2),
    "spheres": vc.CellSorting(CLOUD, radii=RADII),
    "boxes": vc.CellSorting(boxes=BOXES),
}
LOWER, UPPER = BOXES

REFUSALS = [
    Refusal("nothing said", lambda: vc.pairs(CLOUD), "cutoff=, radii= or boxes", "none given"),
    Refusal("cutoff and radii", lambda: vc.pairs(CLOUD, cutoff=1, radii=RADII), "radii", "cutoff and radii given"),
    Refusal("radii and boxes", lambda: vc.count(radii=RADII, boxes=BOXES), "boxes", "radii and boxes"),
    Refusal("all three", lambda: vc.neighbors(CLOUD, cutoff=1, radii=1, boxes=BOXES), "boxes", "cutoff and radii"),
    Refusal("points and boxes", lambda: vc.pairs(CLOUD, boxes=BOXES), "points", "boxes"),
    Refusal("radii without points", lambda: vc.pairs(radii=RADII), "points", "None"),
    Refusal("cutoff without points", lambda: vc.pairs(cutoff=1.0), "points", "None"),
    Refusal("a negative radius", lambda: vc.pairs(CLOUD, radii=spoiled(RADII, 7, -0.5)), "radii", r"-0\.5.*7"),
    Refusal("a radius of nan", lambda: vc.pairs(CLOUD, radii=spoiled(RADII, 8, np.nan)), "radii", "nan.*8"),
    Refusal("an infinite radius", lambda: vc.pairs(CLOUD, radii=spoiled(RADII, 59, np.inf)), "radii", "inf.*59"),
    Refusal("one negative radius for all", lambda: vc.pairs(CLOUD, radii=-1.0), "radii", "-1"),
    Refusal("too few radii", lambda: vc.pairs(CLOUD, radii=RADII[:-1]), "radii", r"60.*\(59,\)"),
    Refusal("one radius in a list", lambda: vc.pairs(CLOUD, radii=[0.1]), "radii", r"60.*\(1,\)"),
    Refusal("a column of radii", lambda: vc.pairs(CLOUD, radii=RADII[:, None]), "radii", r"\(60, 1\)"),
    Refusal("radii of text", lambda: vc.pairs(CLOUD, radii=["a"] * 60), "radii", "<U1|str"),
    Refusal("complex radii", lambda: vc.pairs(CLOUD, radii=RADII + 0j), "radii", "complex"),
    Refusal("radii of truth", lambda: vc.pairs(CLOUD, radii=RADII > 0.1), "radii", "bool"),
    Refusal("ragged radii", lambda: vc.pairs(CLOUD, radii=[[1.0], [1.0, 2.0]]), "radii", "."),
    Refusal(
        "a radius that overflows float32",
        lambda: vc.pairs(CLOUD.astype(np.float32), radii=spoiled(RADII, 5, 1e39)),
        "radii",
        r"float32.*1e\+?39.*5",
    ),
    Refusal("a square that overflows", lambda: vc.pairs(CLOUD, radii=spoiled(RADII, 5, 1e154)), "radii", r"1e\+?154"),
    Refusal(
        "a square that overflows with its skin", lambda: vc.pairs(CLOUD, radii=RADII, skin=1e155), "radii", "float64"
    ),
    Refusal("one array of boxes", lambda: vc.pairs(boxes=LOWER), "boxes", "ndarray"),
    Refusal("three corners", lambda: vc.pairs(boxes=(LOWER, UPPER, UPPER)), "boxes", "tuple|3"),
    Refusal("swapped corners", lambda: vc.pairs(boxes=(UPPER, LOWER)), "boxes", "row 0"),
    Refusal("one corner above", lambda: vc.pairs(boxes=(spoiled(LOWER, (9, 2), 5.0), UPPER)), "boxes", r"5\.0.*row 9"),
    Refusal("nan in a lower corner", lambda: vc.pairs(boxes=(spoiled(LOWER, (4, 0), np.nan), UPPER)), "boxes", "row 4"),
    Refusal("inf in an upper one", lambda: vc.pairs(boxes=(LOWER, spoiled(UPPER, (6, 1), np.inf))), "boxes", "row 6"),
    Refusal("fewer uppers", lambda: vc.pairs(boxes=(LOWER, UPPER[:-1])), "boxes", r"\(60, 3\).*\(59, 3\)"),
    Refusal("flat uppers", lambda: vc.pairs(boxes=(LOWER, UPPER[:, :2])), "boxes", r"\(60, 3\).*\(60, 2\)"),
    Refusal("corners of one axis", lambda: vc.pairs(boxes=(LOWER[:, :1], UPPER[:, :1])), "boxes", r"\(60, 1\)"),
    Refusal(
        "an edge that overflows",
        lambda: vc.pairs(boxes=(np.full((2, 2), -1.5e308), np.full((2, 2), 1.5e308))),
        "boxes",
        "overflow",
    ),
    Refusal(
        "a corner that overflows with its skin",
        lambda: vc.pairs(boxes=(LOWER.astype("f4"),) * 2, skin=1e39),
        "boxes",
        "overflow",
    ),
    Refusal("distances of boxes", lambda: vc.pairs(boxes=BOXES, want="ijd"), "want", "'ijd'"),
    Refusal("vectors of boxes", lambda: vc.neighbors(boxes=BOXES, want="jD"), "want", "'jD'"),
    Refusal("distances of queried boxes", lambda: INDEX["boxes"].pairs(query_boxes=BOXES, want="d"), "want", "'d'"),
    Refusal("skin that overflows with a cutoff", lambda: vc.pairs(CLOUD, cutoff=1, skin=1e155), "skin", r"1e\+155"),
    Refusal("negative skin", lambda: vc.pairs(CLOUD, radii=RADII, skin=-0.1), "skin", r"-0\.1"),
    Refusal("nan skin", lambda: vc.pairs(CLOUD, radii=RADII, skin=np.nan), "skin", "nan"),
    Refusal("infinite skin", lambda: vc.pairs(boxes=BOXES, skin=np.inf), "skin", "inf"),
    Refusal("skin of text", lambda: vc.pairs(CLOUD, radii=RADII, skin="thick"), "skin", "thick"),
    Refusal("true skin", lambda: vc.pairs(CLOUD, radii=RADII, skin=True), "skin", "True"),
    Refusal("no skin at all", lambda: vc.pairs(CLOUD, radii=RADII, skin=None), "skin", "None"),
    Refusal("too many images of spheres", lambda: vc.pairs(CLOUD, radii=1e5, box=1.0), "radii", "(?s)images.*box"),
    Refusal("too many images of boxes", lambda: vc.pairs(boxes=(LOWER, LOWER + 1e5), box=1.0), "boxes", "(?s)images"),
    Refusal(
        "too many images of a query",
        lambda: vc.pairs(CLOUD, radii=RADII, box=1.0, queries=CLOUD[:1], query_radii=1e5),
        "radii",
        "images",
    ),
    Refusal("boxes far outside", lambda: vc.pairs(boxes=(LOWER + 1e12, UPPER + 1e12), box=1.0), "boxes|points", "box"),
    # a second set
    Refusal(
        "radii for points", lambda: INDEX["points"].pairs(queries=CLOUD, query_radii=RADII), "query_radii", "cutoff="
    ),
    Refusal("boxes for points", lambda: INDEX["points"].pairs(query_boxes=BOXES), "query_boxes", "points"),
    Refusal("boxes for spheres", lambda: INDEX["spheres"].pairs(query_boxes=BOXES), "query_boxes", "spheres"),
    Refusal("radii for boxes", lambda: INDEX["boxes"].count(query_radii=1.0), "query_radii", "None"),
    Refusal(
        "queries and boxes", lambda: INDEX["boxes"].count(queries=CLOUD, query_boxes=BOXES), "query_boxes", "queries"
    ),
    Refusal("radii without queries", lambda: vc.pairs(CLOUD, radii=RADII, query_radii=1.0), "query_radii", "None"),
    Refusal(
        "query radii for a cutoff",
        lambda: vc.pairs(CLOUD, cutoff=1, queries=CLOUD, query_radii=1),
        "query_radii",
        "leave out cutoff=",
    ),
    Refusal(
        "a negative radius of a query",
        lambda: vc.pairs(CLOUD, radii=RADII, queries=CLOUD, query_radii=spoiled(RADII, 3, -1)),
        "query_radii",
        "-1.* in row 3",
    ),
    Refusal(
        "queries in 2D", lambda: INDEX["boxes"].pairs(query_boxes=(LOWER[:, :2], UPPER[:, :2])), "query_boxes", "2"
    ),
    # changes
    Refusal(
        "radii for an index of points", lambda: INDEX["points"].insert(CLOUD, radii=RADII), "bodies", "points.*spheres"
    ),
    Refusal("no radii for new spheres", lambda: INDEX["spheres"].insert(CLOUD), "radii", "spheres.*points"),
    Refusal("boxes for an index of spheres", lambda: INDEX["spheres"].update(boxes=BOXES), "bodies", "spheres.*boxes"),
    Refusal("points for an index of boxes", lambda: INDEX["boxes"].update(CLOUD), "bodies", "boxes.*points"),
    Refusal("another number without radii", lambda: INDEX["spheres"].update(CLOUD[:9]), "radii", "9.*60"),
    Refusal("radii without points", lambda: INDEX["spheres"].update(radii=RADII), "points", "None"),
    Refusal("nothing to update", lambda: INDEX["boxes"].update(), "points", "None"),
    Refusal("no such body", lambda: INDEX["boxes"].remove([3, 60]), "ids", "60"),
    Refusal("a body below zero", lambda: INDEX["spheres"].remove([-1]), "ids", "-1"),
    Refusal("a body twice", lambda: INDEX["points"].remove([5, 1, 5]), "ids", "5"),
    Refusal("half a body", lambda: INDEX["points"].remove([0.5]), "ids", "float"),
    Refusal("a mask of bodies", lambda: INDEX["points"].remove(RADII > 0.1), "ids", "bool"),
    Refusal("a table of bodies", lambda: INDEX["points"].remove([[1], [2]]), "ids", r"\(2, 1\)"),
    Refusal(
        "a body larger than its cell",
        lambda: vc.LinkedCells(CLOUD, radii=0.1, cell=0.3).insert(CLOUD[:1], radii=[0.5]),
        "cell",
        r"0\.3",
    ),
    # planes
    Refusal("one array of planes", lambda: vc.pairs(CLOUD, radii=1, planes=np.eye(3)), "planes", "ndarray"),
    Refusal("planes without normals", lambda: vc.pairs(CLOUD, radii=1, planes=([0, 0, 0],)), "planes", "tuple|1"),
    Refusal("flat planes", lambda: vc.pairs(CLOUD, radii=1, planes=([0, 0], [0, 1])), "planes", "2"),
    Refusal(
        "more points than normals",
        lambda: vc.pairs(CLOUD, radii=1, planes=(np.zeros((2, 3)), [[0, 0, 1]])),
        "planes",
        "2.*1",
    ),
    Refusal(
        "a normal of no length",
        lambda: vc.pairs(CLOUD, radii=1, planes=(np.zeros((2, 3)), [[0, 0, 1], [0, 0, 0]])),
        "planes",
        "row 1",
    ),
    Refusal("a plane at nan", lambda: vc.pairs(CLOUD, radii=1, planes=([0, 0, np.nan], [0, 0, 1])), "planes", "nan"),
    Refusal("a normal of inf", lambda: vc.pairs(CLOUD, radii=1, planes=([0, 0, 0], [0, 0, np.inf])), "planes", "inf"),
    Refusal("planes of text", lambda: vc.pairs(CLOUD, radii=1, planes=(["a"], ["b"])), "planes", "<U1|str"),
    Refusal(
        "a normal whose square overflows",
        lambda: vc.pairs(CLOUD, radii=1, planes=([0, 0, 0], [0, 0, 1e200])),
        "planes",
        r"1e\+?200",
    ),
    Refusal(
        "a plane that overflows float32",
        lambda: vc.pairs(CLOUD.astype("f4"), radii=1, planes=([0, 0, 1e60], [0, 0, 1])),
        "planes",
        r"1e\+?60|inf",
    ),
    Refusal(
        "a plane across a periodic axis",
        lambda: vc.pairs(CLOUD, radii=0.1, box=(1, None, 1), planes=([0, 0, 0], [1, 1, 0])),
        "planes",
        "periodic axis 0",
    ),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)


def test_refusals_leave_the_indices_unchanged() -> None:
    for refusal in REFUSALS:
        with pytest.raises(vc.InputError):
            refusal.call()
    points = {"points": {"cutoff": 0.2}, "spheres": {"radii": RADII}}
    for kind, own in points.items():
        pairs = Pairs(*INDEX[kind].pairs(want="ijSdD", half=False, sort=True))
        assert_same_pairs(pairs, exact_pairs(CLOUD, **own))
    i, j = INDEX["boxes"].pairs(half=False, sort=True)
    expected = exact_pairs(boxes=BOXES)
    assert np.array_equal(i, expected.i)
    assert np.array_equal(j, expected.j)
