"""Planes: infinite bodies, tested against every body and numbered after the bodies."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from cases import BOTH, DIMS
from compare import ask, ask_queries, assert_same_bits, assert_same_half, assert_same_pairs, assert_sorted, rows_of
from oracle import Array, exact_pairs
from problem import Problem
from strategies import problems, sized_problems
from structures import KINDS, STRUCTURES, Structure

every_kind = pytest.mark.parametrize("kind", KINDS)
every_dtype = pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
every_dim = pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")

FLOOR = [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]


def bodies_of(kind: str, dtype: Any = np.float64, dim: int = 3, n: int = 120) -> dict[str, Any]:
    """Bodies between -1 and 1 that form pairs with each other and with the planes around them."""
    rng = np.random.default_rng(33)
    x = rng.uniform(-1, 1, (n, dim)).astype(dtype)
    if kind == "points":
        return {"points": x, "cutoff": 0.3}
    if kind == "spheres":
        return {"points": x, "radii": rng.uniform(0, 0.3, n).astype(dtype)}
    return {"boxes": (x, x + rng.uniform(0, 0.3, (n, dim)).astype(dtype))}


def size_of(bodies: dict[str, Any]) -> int:
    return len(bodies["boxes"][0] if "boxes" in bodies else bodies["points"])


def planes_of(dtype: Any = np.float64, dim: int = 3) -> tuple[Array, Array]:
    """Along the axes and across, normals of many lengths, and two planes that are the same."""
    points = np.array([[-0.8, 0, 0], [0.7, 0.1, 0], [0, -0.5, 0.2], [0, -0.5, 0.2], [3, 3, 3]])
    normals = np.array([[1, 0, 0], [-2, 0.5, 0], [0.1, 7, 0.2], [0.1, 7, 0.2], [1, 1, 1]])
    return points[:, :dim].astype(dtype), normals[:, :dim].astype(dtype)


# -------------------------------------------------------------------------------- against the oracle


@every_kind
@every_dtype
@every_dim
def test_pairs_with_planes_are_those_of_the_oracle(kind: str, dtype: Any, dim: int) -> None:
    bodies = {**bodies_of(kind, dtype, dim), "planes": planes_of(dtype, dim)}
    expected = exact_pairs(**bodies)
    n = size_of(bodies)
    assert 20 < np.count_nonzero(expected.j >= n) < 5 * n
    assert_same_pairs(ask(vc.pairs, kind, **bodies, half=False, sort=True), expected)
    assert_same_pairs(ask(vc.pairs, kind, **bodies, half=False).sorted(), expected)
    half = ask(vc.pairs, kind, **bodies, sort=True)
    assert np.all(half.i < half.j)
    assert_sorted(half)
    assert_same_half(half, expected)
    assert_same_half(ask(vc.pairs, kind, **bodies), expected)
    assert_same_pairs(rows_of(vc.neighbors, kind, **bodies, sort=True), expected)
    assert_same_pairs(rows_of(vc.neighbors, kind, **bodies).sorted(), expected)
    counts = vc.count(**bodies)
    assert counts.dtype == np.int32
    assert np.array_equal(counts, np.bincount(expected.i, minlength=n + 5))


@every_kind
@every_dtype
def test_queries_are_paired_with_planes_too(kind: str, dtype: Any) -> None:
    bodies, others = bodies_of(kind, dtype), bodies_of(kind, dtype, n=40)
    second = {"queries": others.get("points"), "query_radii": others.get("radii"), "query_boxes": others.get("boxes")}
    second = {name: value for name, value in second.items() if value is not None}
    planes = planes_of(dtype)
    expected = exact_pairs(**bodies, **second, planes=planes)
    assert np.any(expected.j >= 120)
    assert np.all(expected.i < 40)
    assert_same_pairs(ask(vc.pairs, kind, **bodies, **second, planes=planes, sort=True), expected)
    assert_same_pairs(ask(vc.pairs, kind, **bodies, **second, planes=planes).sorted(), expected)
    rows = vc.neighbors(**bodies, **second, planes=planes)
    assert len(rows) == 40
    assert_same_pairs(rows_of(vc.neighbors, kind, **bodies, **second, planes=planes, sort=True), expected)
    counts = vc.count(**bodies, **second, planes=planes)
    assert np.array_equal(counts, np.bincount(expected.i, minlength=40))


@given(
    problem=st.one_of(problems(most=30), sized_problems("spheres", most=30), sized_problems("boxes", most=30)),
    ticks=st.lists(st.integers(-4, 4), min_size=6, max_size=6),
    through=st.integers(0, 29),
)
def test_any_plane_through_a_body_is_answered_as_the_oracle_does(
    problem: Problem, ticks: list[int], through: int
) -> None:
    """A plane along every periodic axis, through the position of some body: ties are the rule."""
    dtype, dim = problem.positions.dtype, problem.dim
    normal = np.array(ticks[:dim], dtype)
    normal[[edge is not None for edge in problem.box or [None] * dim]] = 0
    if not normal.any() or not len(problem.positions):
        return
    planes = problem.positions[through % len(problem.positions)], normal
    expected = exact_pairs(**problem.bodies, planes=planes)
    pairs = ask(vc.pairs, problem.kind, **problem.bodies, planes=planes, half=False, sort=True)
    assert_same_pairs(pairs, expected)


@pytest.mark.parametrize("structure", STRUCTURES, ids=str)
def test_every_structure_has_planes(structure: Structure) -> None:
    dim = max(structure.dims)
    for kind in structure.kinds:
        bodies = bodies_of(kind, dim=dim)
        index = structure.build(**bodies, planes=planes_of(dim=dim), size=0.6)
        expected = exact_pairs(**bodies, planes=planes_of(dim=dim))
        assert_same_pairs(ask(index.pairs, kind, half=False, sort=True), expected)
        index.remove([0])
        left = np.r_[1:120]
        fewer = {
            name: tuple(v[left] for v in value) if name == "boxes" else value[left]
            for name, value in bodies.items()
            if name != "cutoff"
        }
        fewer |= {"cutoff": 0.3} if kind == "points" else {}
        expected = exact_pairs(**fewer, planes=planes_of(dim=dim))
        assert_same_pairs(ask(index.pairs, kind, half=False, sort=True), expected)


# -------------------------------------------------------------------------------- by hand


def test_a_body_on_a_plane_or_behind_it_is_a_pair() -> None:
    z = np.array([2.0, 1.0, 0.5, 0.0, -3.0, np.nextafter(1.0, 2.0)])
    points = np.zeros((6, 3)) + np.arange(6)[:, None] * [100.0, 0, 0]
    points[:, 2] = z
    i, j, d, D, S = vc.pairs(points, radii=1.0, planes=FLOOR, want="ijdDS", sort=True)
    assert i.tolist() == [1, 2, 3, 4]
    assert j.tolist() == [6] * 4
    assert d.tolist() == [1.0, 0.5, 0.0, -3.0]
    assert np.array_equal(D, np.stack([0 * d, 0 * d, -d], axis=1))
    assert not S.any()


def test_a_vector_leads_from_the_body_to_the_plane_and_back() -> None:
    points = np.array([[5.0, 7.0, 0.25]])
    i, j, D = vc.pairs(points, radii=1.0, planes=FLOOR, want="ijD", half=False, sort=True)
    assert (i.tolist(), j.tolist()) == ([0, 1], [1, 0])
    assert D.tolist() == [[0, 0, -0.25], [0, 0, 0.25]]


def test_points_within_the_cutoff_of_a_plane_are_pairs() -> None:
    points = np.array([[0, 0, 0.3], [9, 0, 0.30001], [18, 0, -5.0]])
    assert vc.count(points, cutoff=0.3, planes=FLOOR).tolist() == [1, 0, 1, 2]


def test_the_corner_farthest_behind_a_plane_decides_for_boxes() -> None:
    lower = np.array([[0.0, 0.0], [10.0, 0.0], [20.0, 0.0]])
    boxes = lower, lower + 1
    slope = [[11.0, 1.0]], [[-1.0, -1.0]]  # x + y >= 12 is solid: the corner of the second box is on it
    assert vc.count(boxes=boxes, planes=slope).tolist() == [0, 1, 1, 2]


def test_the_length_of_a_normal_does_not_matter() -> None:
    points = np.array([[0, 0, 0.5]])
    for length in (1e-3, 1.0, 1e6):
        (d,) = vc.pairs(points, radii=1.0, planes=([0, 0, 0], [0, 0, length]), want="d")
        assert d.tolist() == [0.5]


def test_one_plane_may_be_given_without_brackets() -> None:
    points = np.array([[0, 0, 0.5]])
    one = vc.pairs(points, radii=1.0, planes=([0, 0, 0], [0, 0, 1]), want="ijdD")
    many = vc.pairs(points, radii=1.0, planes=([[0, 0, 0]], [[0, 0, 1]]), want="ijdD")
    for a, b in zip(one, many, strict=True):
        assert_same_bits(a, b)


def test_an_empty_set_of_planes_is_like_none() -> None:
    bodies = bodies_of("spheres")
    none = np.zeros((0, 3)), np.zeros((0, 3))
    assert np.array_equal(vc.count(**bodies, planes=none), vc.count(**bodies))
    assert np.array_equal(vc.count(**bodies, planes=([], [])), vc.count(**bodies))


def test_planes_alone_have_no_pairs() -> None:
    """Not even with each other."""
    empty = np.zeros((0, 3))
    assert [len(column) for column in vc.pairs(empty, cutoff=1.0, planes=planes_of())] == [0, 0]
    assert vc.count(empty, radii=[], planes=planes_of()).tolist() == [0] * 5
    assert vc.neighbors(empty, cutoff=1.0, planes=planes_of()).offsets.tolist() == [0] * 6


def test_every_plane_has_a_row_of_its_own() -> None:
    points = np.array([[0, 0, 0.5], [9, 0, 0.5], [18, 0, 5.0]])
    rows = vc.neighbors(points, radii=1.0, planes=FLOOR, sort=True)
    assert len(rows) == 4
    assert rows.columns == 4
    assert [row.tolist() for row in rows] == [[3], [3], [], [0, 1]]


def test_rows_with_planes_make_a_square_matrix() -> None:
    pytest.importorskip("scipy")
    bodies = bodies_of("spheres")
    matrix = vc.neighbors(**bodies, planes=planes_of()).to_scipy().toarray()
    assert matrix.shape == (125, 125)
    assert np.array_equal(matrix, matrix.T)
    rows = vc.neighbors(**bodies, planes=planes_of(), queries=np.zeros((7, 3)))
    assert rows.to_scipy().shape == (7, 125)


@pytest.mark.parametrize("want", ["j", "S", "d", "Dj", "dS", "iD", "SDdji"])
@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("sort", [True, False])
def test_arrays_come_in_the_order_they_are_wanted(want: str, half: bool, sort: bool) -> None:
    bodies = {**bodies_of("spheres"), "planes": planes_of()}
    with vc.threads(1):  # so that the order is the same twice
        everything = ask(vc.pairs, "spheres", **bodies, half=half, sort=sort)
        pairs = vc.pairs(**bodies, want=want, half=half, sort=sort)
    for letter, array in zip(want, pairs, strict=True):
        assert array.flags.c_contiguous
        assert_same_bits(array, getattr(everything, letter))


# -------------------------------------------------------------------------------- skin, space, stats, changes


def test_a_skin_reaches_planes_half_as_far() -> None:
    points = np.array([[0, 0, 1.25], [9, 0, 1.26]])
    assert vc.count(points, radii=1.0, skin=0.5, planes=FLOOR).tolist() == [1, 0, 1]
    lower = np.array([[0, 0, 0.25], [9, 0, 0.26]])
    assert vc.count(boxes=(lower, lower + 1), skin=0.5, planes=FLOOR).tolist() == [1, 0, 1]


@every_kind
@every_dtype
def test_planes_bound_a_periodic_slab(kind: str, dtype: Any) -> None:
    bodies = bodies_of(kind, dtype)
    planes = np.array([[5, -7, -0.9], [0, 0, 0.9]], dtype), np.array([[0, 0, 1], [0, 0, -1]], dtype)
    expected = exact_pairs(**bodies, planes=planes, box=(0.7, 1.1, None))
    assert np.count_nonzero(expected.j >= 120) > 10
    pairs = ask(vc.pairs, kind, **bodies, planes=planes, box=(0.7, 1.1, None), half=False, sort=True)
    assert_same_pairs(pairs, expected)


def test_each_body_is_one_candidate_for_each_plane() -> None:
    bodies = bodies_of("spheres")
    alone = vc.CellSorting(**bodies)
    index = vc.CellSorting(**bodies, planes=planes_of())
    pairs = len(index.pairs()[0])
    alone.pairs()
    assert index.stats.candidates == alone.stats.candidates + 120 * 5
    assert index.stats.pairs == pairs
    index.count()
    alone.count()
    assert index.stats.candidates == alone.stats.candidates + 120 * 5
    index.pairs(queries=np.zeros((7, 3)))
    alone.pairs(queries=np.zeros((7, 3)))
    assert index.stats.candidates == alone.stats.candidates + 7 * 5
    assert len(index) == index.stats.bodies == 120


def test_planes_move() -> None:
    bodies = bodies_of("spheres")
    index = vc.CellSorting(**bodies, planes=planes_of())
    there = planes_of()[0] + 0.1, planes_of()[1]
    index.update(planes=there)
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), exact_pairs(**bodies, planes=there))
    index.update(bodies["points"] * 0.9)  # the planes stay
    moved = {**bodies, "points": bodies["points"] * 0.9}
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), exact_pairs(**moved, planes=there))
    index.update(bodies["points"], planes=([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]))  # and there may be fewer
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), exact_pairs(**bodies, planes=FLOOR))


def test_planes_keep_the_numbers_after_the_bodies() -> None:
    bodies = bodies_of("spheres")
    index = vc.CellSorting(**bodies, planes=FLOOR)
    more = np.array([[0.0, 0.0, 0.1]])
    assert index.insert(more, radii=[0.2]).tolist() == [120]
    grown = {"points": np.concatenate([bodies["points"], more]), "radii": np.append(bodies["radii"], 0.2)}
    expected = exact_pairs(**grown, planes=FLOOR)
    assert expected.j.max() == 121
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), expected)
    assert_same_pairs(
        ask_queries(index, {"queries": more}, sort=True), exact_pairs(**grown, queries=more, planes=FLOOR)
    )


def test_later_changes_of_the_input_do_not_affect_planes() -> None:
    points, normals = planes_of()
    index = vc.CellSorting(**bodies_of("spheres"), planes=(points, normals))
    points += 100
    normals *= -1
    expected = exact_pairs(**bodies_of("spheres"), planes=planes_of())
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), expected)


def test_a_refused_plane_leaves_the_index_as_it_was() -> None:
    bodies = bodies_of("spheres")
    index = vc.CellSorting(**bodies, planes=FLOOR)
    with pytest.raises(vc.InputError, match="planes"):
        index.update(bodies["points"] + 1, planes=([0, 0, 0], [0, 0, 0]))
    assert_same_pairs(ask(index.pairs, "spheres", half=False, sort=True), exact_pairs(**bodies, planes=FLOOR))
