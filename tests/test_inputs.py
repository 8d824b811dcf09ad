"""Accepted and refused input; a refusal names the argument, the value passed and the remedy."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from compare import COPIES, assert_same_bits
from forms import FORMS
from oracle import exact_pairs
from refusals import Refusal, check_refusal
from vicinal.structures import STRUCTURES

if TYPE_CHECKING:
    from oracle import Array

CLOUD = np.random.default_rng(15).random((60, 3))
CUTOFF = 0.3
FCC = 0.5 * np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
FLAT = np.array([[1, 0, 0], [0, 1, 0], [3, -2, 0]])
EDGELESS = np.diag([1.0, 1.0, 0.0])
STEEP = np.array([[1, 0, 0], [1e7, 1, 0], [0, 0, 1]])


def spoiled(row: int, value: float) -> Array:
    points = CLOUD.copy()
    points[row, 1] = value
    return points


# -------------------------------------------------------------------------------- refused

REFUSALS = [
    Refusal("nan", lambda: vc.pairs(spoiled(17, np.nan), cutoff=CUTOFF), "points", "nan.*17"),
    Refusal("inf", lambda: vc.pairs(spoiled(23, np.inf), cutoff=CUTOFF), "points", "inf.*23"),
    Refusal("minus inf", lambda: vc.count(spoiled(59, -np.inf), cutoff=CUTOFF), "points", "inf.*59"),
    Refusal("nan in a query", lambda: vc.pairs(CLOUD, queries=spoiled(4, np.nan), cutoff=CUTOFF), "queries", "4"),
    Refusal("a flat array", lambda: vc.pairs(CLOUD.ravel(), cutoff=CUTOFF), "points", r"\(180,\)"),
    Refusal("one axis", lambda: vc.pairs(CLOUD[:, :1], cutoff=CUTOFF), "points", r"\(60, 1\)"),
    Refusal("four axes", lambda: vc.pairs(np.zeros((60, 4)), cutoff=CUTOFF), "points", r"\(60, 4\)"),
    Refusal("a stack of points", lambda: vc.neighbors(CLOUD[None], cutoff=CUTOFF), "points", r"\(1, 60, 3\)"),
    Refusal("a number for points", lambda: vc.pairs(3.0, cutoff=CUTOFF), "points", r"\(\)"),
    Refusal("complex points", lambda: vc.pairs(CLOUD + 0j, cutoff=CUTOFF), "points", "complex"),
    Refusal("objects", lambda: vc.pairs(CLOUD.astype(object), cutoff=CUTOFF), "points", "object"),
    Refusal("text", lambda: vc.pairs([["a", "b"]], cutoff=CUTOFF), "points", "<U1|str"),
    Refusal("ragged rows", lambda: vc.pairs([[0.0, 1.0], [2.0]], cutoff=CUTOFF), "points", "."),
    Refusal("negative cutoff", lambda: vc.count(CLOUD, cutoff=-0.25), "cutoff", r"-0\.25"),
    Refusal("nan cutoff", lambda: vc.pairs(CLOUD, cutoff=np.nan), "cutoff", "nan"),
    Refusal("infinite cutoff", lambda: vc.pairs(CLOUD, cutoff=np.inf), "cutoff", "inf"),
    Refusal("cutoff whose square overflows", lambda: vc.pairs(CLOUD, cutoff=1e200), "cutoff", r"1e\+?200"),
    Refusal(
        "cutoff whose square overflows in float32",
        lambda: vc.pairs(CLOUD.astype(np.float32), cutoff=1e20),
        "cutoff",
        r"1e\+?20.*float32|float32.*1e\+?20",
    ),
    Refusal(
        "cutoff that is zero in float32",
        lambda: vc.pairs(CLOUD.astype(np.float32), cutoff=1e-50),
        "cutoff",
        "1e-50.*float32|float32.*1e-50",
    ),
    Refusal("cutoff of text", lambda: vc.pairs(CLOUD, cutoff="far"), "cutoff", "far"),
    Refusal("cutoff of digits", lambda: vc.pairs(CLOUD, cutoff="0.1"), "cutoff", "'0.1'"),
    Refusal("rows for columns", lambda: vc.pairs(CLOUD.T, cutoff=CUTOFF), "points", r"\(3, 60\).*transposed"),
    Refusal("one query", lambda: vc.pairs(CLOUD, CUTOFF, queries=CLOUD[0]), "queries", r"\(3,\).*one row"),
    Refusal("several cutoffs", lambda: vc.pairs(CLOUD, cutoff=[0.1, 0.2]), "cutoff", r"\(2,\).*radii="),
    Refusal("no number for a cutoff", lambda: vc.pairs(CLOUD, cutoff=None), "cutoff", "none given"),
    Refusal("box of two for three", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, 2)), "box", "2"),
    Refusal("box of no length", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, 0, 1)), "box", "0"),
    Refusal("negative box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=-2.5), "box", r"-2\.5"),
    Refusal("nan box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, np.nan, 1)), "box", "nan"),
    Refusal("infinite box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=np.inf), "box", "inf"),
    Refusal("box of text", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box="large"), "box", "3 by 3 matrix.*'large'"),
    Refusal("box of a flat cell", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=FLAT), "box", "linearly independent"),
    Refusal("box without an edge", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=EDGELESS), "box", r"periodic\[2\]"),
    Refusal("box of another dimension", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=np.eye(2)), "box", "3 by 3"),
    Refusal("uneven box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=[[1, 0, 0], 1, 1]), "box", "3 by 3"),
    Refusal("nan in a matrix", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=np.full((3, 3), np.nan)), "box", "nan"),
    Refusal("steep box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=STEEP), "box", "10000000"),
    Refusal("wide angle", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, 1, 1, 90, 90, 190)), "box", "190"),
    Refusal("impossible angles", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, 1, 1, 20, 20, 90)), "box", "20"),
    Refusal("length below 0", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, -1, 1, 90, 90, 80)), "box", "-1"),
    Refusal(
        "a period of 0",
        lambda: vc.pairs(CLOUD, CUTOFF, box=(1, 0, 1, 90, 90, 80), periodic=True),
        "box",
        r"periodic\[1\]",
    ),
    Refusal(
        "angles of no cell", lambda: vc.pairs(CLOUD, CUTOFF, box=(1, 1, 1, 10, 10, 170)), "box", r"\(10, 10, 170\)"
    ),
    Refusal(
        "radii of queries and a cutoff",
        lambda: vc.pairs(CLOUD, 1.0, queries=CLOUD, query_radii=1.0),
        "query_radii",
        "leave out cutoff=, the query radii are the distances",
    ),
    Refusal(
        "radii of queries of an index",
        lambda: vc.BVH(CLOUD, 1.0).pairs(queries=CLOUD, query_radii=1.0),
        "query_radii",
        "make the index with radii=0",
    ),
    Refusal(
        "radii of no queries", lambda: vc.pairs(CLOUD, radii=0.1, query_radii=0.1), "query_radii", "got None.*radii="
    ),
    Refusal(
        "radii of no queries near boxes",
        lambda: vc.neighbors(boxes=(CLOUD, CLOUD), query_radii=0.1),
        "query_radii",
        "got None",
    ),
    Refusal(
        "radii of boxes",
        lambda: vc.pairs(boxes=(CLOUD, CLOUD), query_radii=0.1, query_boxes=(CLOUD, CLOUD)),
        "query_radii",
        "query_boxes",
    ),
    Refusal(
        "queries with boxes of their own",
        lambda: vc.BVH(boxes=(CLOUD, CLOUD)).pairs(queries=CLOUD, query_boxes=(CLOUD, CLOUD)),
        "query_boxes",
        "leave out queries",
    ),
    Refusal(
        "types with one cutoff",
        lambda: vc.pairs(CLOUD, CUTOFF, types=[0] * len(CLOUD)),
        "cutoff",
        "matrix.*one number.*leave out types",
    ),
    Refusal("nearest boxes", lambda: vc.neighbors(boxes=(CLOUD, CLOUD), max_neighbors=2), "max_neighbors", "distances"),
    Refusal("periodic without a box", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, periodic=True), "box", "periodic"),
    Refusal("two flags", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=1, periodic=(True, True)), "periodic", "True"),
    Refusal(
        "no length along a periodic axis",
        lambda: vc.pairs(CLOUD, cutoff=CUTOFF, box=(1, 1, None), periodic=True),
        "box",
        "None",
    ),
    Refusal("too many images of a cell", lambda: vc.pairs(CLOUD, cutoff=99.0, box=FCC), "cutoff", "99"),
    Refusal("too far outside a cell", lambda: vc.pairs(spoiled(31, 1e12), cutoff=CUTOFF, box=FCC), "points", "31"),
    Refusal(
        "too many images",
        lambda: vc.pairs(CLOUD, cutoff=1e6, box=1.0),
        "cutoff",
        r"(?s)(1e\+?0?6|1000000).*box|box",
    ),
    Refusal("images beyond counting", lambda: vc.pairs(CLOUD * 0, cutoff=1, box=1e-320), "cutoff", "box"),
    Refusal(
        "too far outside",
        lambda: vc.pairs(spoiled(31, 1e12), cutoff=CUTOFF, box=1.0),
        "points",
        r"(?s)31.*box|box.*31",
    ),
    Refusal("unknown letter", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, want="ijx"), "want", "x"),
    Refusal("no letter", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, want=""), "want", "''|\"\"|empty|nothing"),
    Refusal("letters in a list", lambda: vc.pairs(CLOUD, cutoff=CUTOFF, want=5), "want", "5"),
    Refusal("i of a row", lambda: vc.neighbors(CLOUD, cutoff=CUTOFF, want="ij"), "want", "i"),
    Refusal(
        "queries in 2D",
        lambda: vc.pairs(CLOUD, queries=CLOUD[:, :2], cutoff=CUTOFF),
        "queries",
        "as the points have, got 2",
    ),
    Refusal(
        "queries too large for float32",
        lambda: vc.pairs(CLOUD.astype(np.float32), queries=spoiled(4, 1e39), cutoff=CUTOFF),
        "queries",
        r"float32.*1e\+39.*row 4",
    ),
    Refusal("masked points", lambda: vc.pairs(np.ma.masked_array(CLOUD), CUTOFF), "points", r"masked.*\(60, 3\)"),
    Refusal("masked radii", lambda: vc.pairs(CLOUD, radii=np.ma.ones(60)), "radii", r"masked.*\(60,\)"),
    Refusal("masked queries", lambda: vc.pairs(CLOUD, CUTOFF, queries=np.ma.ones((2, 3))), "queries", "masked"),
    Refusal("a masked corner", lambda: vc.pairs(boxes=(CLOUD, np.ma.masked_array(CLOUD + 1))), "boxes", "masked"),
    Refusal("radii as a cutoff", lambda: vc.pairs(CLOUD, np.ones(60)), "cutoff", r"\(60,\).*radii="),
    Refusal("a structure that is none", lambda: vc.pairs(CLOUD, CUTOFF, structure="Grid"), "structure", "'Grid'"),
    Refusal("the base class", lambda: vc.count(CLOUD, CUTOFF, structure=vc.Index), "structure", "Index"),
    Refusal("half of two", lambda: vc.pairs(CLOUD, CUTOFF, half=2), "half", "2"),
    Refusal("half as text", lambda: vc.pairs(CLOUD, CUTOFF, half="no"), "half", "'no'"),
    Refusal(
        "half of a query",
        lambda: vc.pairs(CLOUD, queries=CLOUD, cutoff=CUTOFF, half=False),
        "half",
        "queries",
    ),
    Refusal("small cells", lambda: vc.LinkedCells(CLOUD, cutoff=0.3, cell=0.2), "cell", r"0\.2"),
    Refusal("a fourth mask", lambda: vc.CellSorting(CLOUD, cutoff=0.3, h_mask=4), "h_mask", "4"),
    Refusal("no threads", lambda: vc.set_threads(0), "threads|n", "0"),
    Refusal("minus one thread", lambda: vc.set_threads(-1), "threads|n", "-1"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_a_refusal_names_argument_value_and_requirement(refusal: Refusal) -> None:
    check_refusal(refusal)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("dim", [2, 3])
def test_the_first_bad_row_is_reported_at_any_position(dtype: Any, dim: int) -> None:
    rows = [(n, row) for n in (1, 2, 5, 13, 40) for row in range(n)]
    rows += [(400_000, row) for row in (0, 87_379, 87_380, 131_069, 131_070, 131_071, 399_999)]
    for n, row in rows:
        points = np.ones((n, dim), dtype)
        points[row, row % dim] = (np.nan, np.inf, -np.inf)[row % 3]
        points[n - 1, 0] = np.nan
        with pytest.raises(vc.InputError, match=rf"points must be finite .* in row {row};"):
            vc.pairs(points, cutoff=0.1)


def test_an_input_error_is_a_value_error() -> None:
    assert issubclass(vc.InputError, ValueError)


def test_the_cutoff_may_be_positional_and_options_are_keywords() -> None:
    by_name = vc.pairs(CLOUD, cutoff=CUTOFF, sort=True)
    assert all(map(np.array_equal, vc.pairs(CLOUD, CUTOFF, sort=True), by_name))
    assert np.array_equal(vc.count(CLOUD, CUTOFF), vc.count(CLOUD, cutoff=CUTOFF))
    assert np.array_equal(vc.neighbors(CLOUD, CUTOFF).offsets, vc.neighbors(CLOUD, cutoff=CUTOFF).offsets)
    assert vc.choose(CLOUD, CUTOFF).structure == vc.choose(CLOUD, cutoff=CUTOFF).structure
    for kind in STRUCTURES.values():
        index = kind(CLOUD[:, :2] if kind is vc.Delaunay else CLOUD, CUTOFF)
        assert index._cutoff == CUTOFF
    with pytest.raises(TypeError):
        vc.pairs(CLOUD, CUTOFF, 0.0)  # type: ignore[misc]
    with pytest.raises(TypeError):
        vc.pairs(CLOUD, cutof=CUTOFF)  # type: ignore[call-arg]


def test_too_many_bodies_are_refused_without_reading_them() -> None:
    """2**31 rows that take no memory: a view that repeats one row."""
    crowd = np.broadcast_to(np.zeros((1, 2), np.float32), (2**31, 2))
    with pytest.raises(vc.InputError, match="points"):
        vc.pairs(crowd, cutoff=1.0)


# -------------------------------------------------------------------------------- accepted


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_form_of_array_is_taken(form: str, dtype: Any) -> None:
    points = CLOUD.astype(dtype)
    given = FORMS[form](points)
    d_type = np.float64 if form == "list of lists" else dtype
    expected = vc.pairs(points.astype(d_type), cutoff=CUTOFF, want="ijd", sort=True)
    assert len(expected[0]) > 50
    columns = vc.pairs(given, cutoff=CUTOFF, want="ijd", sort=True)
    for column, wanted in zip(columns, expected, strict=True):
        assert type(column) is np.ndarray
        assert_same_bits(column, wanted)
    assert len(vc.pairs(given, queries=given, cutoff=CUTOFF)[0]) == 2 * len(expected[0]) + len(points)


@pytest.mark.parametrize("dtype", [np.float16, np.int8, np.int32, np.int64, np.uint16, np.uint64, np.longdouble])
def test_every_other_number_becomes_float64(dtype: Any) -> None:
    points = np.random.default_rng(0).integers(0, 9, (50, 2)).astype(dtype)
    i, j, d = vc.pairs(points, cutoff=2, want="ijd", sort=True)
    assert d.dtype == np.float64
    for column, expected in zip(
        (i, j, d), vc.pairs(points.astype(np.float64), cutoff=2, want="ijd", sort=True), strict=True
    ):
        assert_same_bits(column, expected)


@pytest.mark.parametrize("cutoff", [1, 1.0, np.float32(1), np.int64(1), np.array(1.0)])
def test_any_number_is_a_cutoff(cutoff: Any) -> None:
    assert len(vc.pairs([[0, 0], [1, 0]], cutoff=cutoff)[0]) == 1


@pytest.mark.parametrize("shape", [(0, 2), (0, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32])
def test_no_points_are_points_too(shape: tuple[int, int], dtype: Any) -> None:
    empty = np.zeros(shape, dtype)
    i, j, D = vc.pairs(empty, cutoff=1.0, want="ijD")
    assert (i.shape, j.shape, D.shape) == ((0,), (0,), shape)
    assert vc.count(empty, cutoff=1.0).shape == (0,)
    assert len(vc.neighbors(empty, cutoff=1.0)) == 0


def test_an_empty_list_holds_no_points() -> None:
    assert [column.shape for column in vc.pairs([], cutoff=1.0)] == [(0,), (0,)]
    assert [column.shape for column in vc.pairs(CLOUD, queries=[], cutoff=1.0)] == [(0,), (0,)]


@pytest.mark.parametrize("box", [None, 1.0, (0.5, None, 1.0)])
def test_input_is_never_changed(box: Any) -> None:
    points, queries = CLOUD * 4 - 2, CLOUD[:20] * 4 - 2
    copies = points.copy(), queries.copy()
    vc.pairs(points, cutoff=0.1, box=box, want="ijdDS", sort=True)
    vc.neighbors(points, cutoff=0.1, box=box, queries=queries)
    vc.count(points, cutoff=0.1, box=box)
    assert_same_bits(points, copies[0])
    assert_same_bits(queries, copies[1])


@pytest.mark.parametrize("flag", [1, np.bool_(True), np.int64(1), True])
def test_flags_may_be_numbers(flag: Any) -> None:
    expected = vc.pairs(CLOUD, CUTOFF, half=True, sort=True)
    assert all(map(np.array_equal, vc.pairs(CLOUD, CUTOFF, half=flag, sort=flag), expected))
    both = vc.pairs(CLOUD, CUTOFF, half=1 - int(flag))
    assert len(both[0]) == 2 * len(expected[0])


@pytest.mark.parametrize("along", [(1, 1, 0), np.array([1, 1, 0]), np.array([True, True, False])])
def test_periodic_axes_may_be_numbers(along: Any) -> None:
    expected = vc.pairs(CLOUD, CUTOFF, box=(1.0, 1.0, None), sort=True)
    assert all(map(np.array_equal, vc.pairs(CLOUD, CUTOFF, box=1.0, periodic=along, sort=True), expected))
    boxes: dict[str, Any] = {"box": np.ones((1, 3)), "batch": [0] * len(CLOUD), "sort": True}
    assert all(map(np.array_equal, vc.pairs(CLOUD, CUTOFF, periodic=along, **boxes), expected))
    assert vc.count(CLOUD, CUTOFF, box=1.0, periodic=0).tolist() == vc.count(CLOUD, CUTOFF).tolist()
    with pytest.raises(vc.InputError, match=r"periodic must be .*got \(1, 2, 0\)"):
        vc.pairs(CLOUD, CUTOFF, box=1.0, periodic=(1, 2, 0))


# -------------------------------------------------------------------------------- dtypes


@pytest.mark.parametrize("of", [np.float32, np.float64, np.int64, np.float16])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_queries_take_the_dtype_of_the_points(dtype: Any, of: Any) -> None:
    """As in a NumPy assignment; the pairs are exactly those of the converted queries."""
    points, queries = (CLOUD * 9).astype(dtype), (CLOUD[::-1] * 9).astype(of)
    expected = exact_pairs(points, 2.0, queries=queries.astype(dtype))
    for search in (partial(vc.pairs, points, 2.0), vc.CellSorting(points, 2.0).pairs):
        i, j, d = search(queries=queries, want="ijd", sort=True)
        assert_same_bits(d, expected.d)
        assert np.array_equal(i, expected.i)
        assert np.array_equal(j, expected.j)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_new_positions_take_the_dtype_of_the_index(dtype: Any) -> None:
    other = np.float64 if dtype is np.float32 else np.float32
    points, moved = CLOUD.astype(dtype), (CLOUD + 0.01).astype(other)
    index = vc.CellSorting(points, CUTOFF)
    index.update(moved)
    for ours, theirs in zip(
        index.pairs(want="ijd", sort=True), vc.pairs(moved.astype(dtype), CUTOFF, want="ijd", sort=True), strict=True
    ):
        assert_same_bits(ours, theirs)
    index.insert(moved.astype(np.float64) + 0.3)
    assert len(index) == 120
    assert index.pairs(want="d")[0].dtype == dtype
    with pytest.raises(vc.InputError, match="points must have 3 columns"):
        index.update(CLOUD[:, :2])


def test_corners_of_two_dtypes_become_float64() -> None:
    lower, upper = CLOUD.astype(np.float32), CLOUD + 0.1
    expected = vc.pairs(boxes=(lower.astype(np.float64), upper), sort=True)
    assert len(expected[0]) > 5
    assert all(map(np.array_equal, vc.pairs(boxes=(lower, upper), sort=True), expected))


# -------------------------------------------------------------------------------- structures by name


@pytest.mark.parametrize("name", [name for name in STRUCTURES if name != "Delaunay"])
def test_a_structure_is_named_by_its_class_or_by_its_name(name: str) -> None:
    expected = vc.pairs(CLOUD, CUTOFF, sort=True)
    for structure in (name, STRUCTURES[name]):
        assert all(map(np.array_equal, vc.pairs(CLOUD, CUTOFF, sort=True, structure=structure), expected))
        assert np.array_equal(vc.count(CLOUD, CUTOFF, structure=structure), vc.count(CLOUD, CUTOFF))
        rows = vc.neighbors(CLOUD, CUTOFF, sort=True, structure=structure)
        assert np.array_equal(rows.indices, vc.neighbors(CLOUD, CUTOFF, sort=True).indices)
    assert STRUCTURES[name](CLOUD, CUTOFF).stats.structure == name


# -------------------------------------------------------------------------------- copies


@pytest.mark.parametrize("name", STRUCTURES)
@pytest.mark.parametrize("way", COPIES)
def test_copies_of_an_index_go_their_own_ways(way: str, name: str) -> None:
    """Copies used to share the compiled structure, with the sizes of before."""
    points = CLOUD[:, :2] if name == "Delaunay" else CLOUD
    index = STRUCTURES[name](points, CUTOFF)
    copied = COPIES[way](index)
    assert repr(copied) == repr(index)
    index.remove([0, 1])
    assert (len(copied), len(index)) == (60, 58)
    for one, bodies in ((copied, points), (index, points[2:])):
        assert all(map(np.array_equal, one.pairs(sort=True), vc.pairs(bodies, CUTOFF, sort=True)))
    copied.insert(points[:5])
    copied.update(points[::-1])
    assert all(map(np.array_equal, copied.pairs(sort=True), vc.pairs(points[::-1], CUTOFF, sort=True)))


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_an_index_keep_sizes_options_and_planes(way: str) -> None:
    radii = np.linspace(0.05, 0.2, 60)
    planes = ([0.0, 0.0, 0.1], [0.0, 0.0, 1.0])
    for bodies in ({"points": CLOUD, "radii": radii}, {"boxes": (CLOUD, CLOUD + radii[:, None])}):
        index = vc.SweepAndPrune(**bodies, skin=0.05, planes=planes, box=(1.0, None, None), axes="one")
        copied = COPIES[way](index)
        expected = index.pairs(want="ijS", sort=True)
        assert len(expected[0]) > 20
        assert all(map(np.array_equal, copied.pairs(want="ijS", sort=True), expected))
        assert copied.stats.details["axes"] == 1
    empty = vc.CellSorting(np.zeros((0, 2), np.float32), 1.0)
    assert len(COPIES[way](empty)) == 0
