"""Which bodies form pairs: criteria of radii, types, groups, excluded pairs, smallest distances, self pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import COPIES, ask, assert_same_half, assert_same_pairs, rows_of
from oracle import Array, exact_pairs
from refusals import Refusal, check_refusal
from strategies import problems, sized_problems, tilted_problems
from structures import STRUCTURES, Structure

every_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=str)
CRITERIA = ("sum", "max", "min", "mean")
# Tilted cells by dimension: one larger than the clouds, and one smaller than its cutoff.
TILTED = {2: ((0.9, 0.1), (0.5, 0.7)), 3: ((0.9, 0.1, 0.0), (0.5, 0.8, 0.05), (-0.3, 0.2, 0.7))}
SMALL = {2: ((0.5, 0.0), (2.3, 0.6)), 3: ((0.6, 0.0, 0.1), (2.5, 0.6, 0.0), (-0.3, 0.2, 0.7))}
CUTOFFS = [[0.05, 0.1, -1.0], [0.1, 0.02, 0.08], [-1.0, 0.08, 0.0]]


@dataclass(frozen=True, eq=False)
class Case:
    """Keywords of `vicinal.pairs` and of the oracle; `search` are those of the search only, not of an index."""

    bodies: dict[str, Any]
    search: dict[str, Any]


def bonds(rng: np.random.Generator, n: int) -> Array:
    """Pairs of neighbours in a chain, and some others, repeated and reversed."""
    chain = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1) if n > 1 else np.zeros((0, 2), np.int64)
    more = rng.integers(0, max(n, 1), (n, 2)) if n else np.zeros((0, 2), np.int64)
    return np.concatenate([chain, more, chain[::3, ::-1]])


def cases(dtype: Any, dim: int) -> list[Case]:
    """Clouds with every condition on its own, and with several at once, open and periodic."""
    rng = np.random.default_rng(5)
    n = 90
    points = rng.random((n, dim)).astype(dtype)
    points[:8] = points[8:16]  # coincident points
    radii = rng.choice([0.01, 0.03, 0.08, 0.0], n).astype(dtype)
    types, groups = rng.integers(0, 3, n), rng.integers(-2, 40, n)
    box = (1.0, None, 0.7)[:dim]
    reach = {"points": points, "cutoff": 0.1}
    spheres = {"points": points, "radii": radii}
    lower = points
    boxes = {"boxes": (lower, (lower + radii[:, None]).astype(dtype))}
    made = [
        Case(reach | {"r_min": 0.05}, {}),
        Case(reach | {"groups": groups, "box": box}, {}),
        Case(reach | {"exclude": bonds(rng, n)}, {}),
        Case({"points": points, "cutoff": CUTOFFS, "types": types}, {}),
        Case({"points": points, "cutoff": CUTOFFS, "types": types, "box": box, "groups": groups, "r_min": 0.01}, {}),
        Case({"points": points, "cutoff": 0.0, "box": box}, {}),
        Case(boxes | {"groups": groups, "exclude": bonds(rng, n), "box": box}, {}),
        Case(
            {"points": points[:12], "cutoff": 0.9, "box": (0.8,) * dim, "exclude": bonds(rng, 12)}, {"self_pairs": True}
        ),
        Case(boxes, {"self_pairs": True}),
        Case(
            {"points": points, "cutoff": CUTOFFS, "types": types, "box": TILTED[dim], "groups": groups, "r_min": 0.01},
            {},
        ),
        Case(reach | {"exclude": bonds(rng, n), "box": TILTED[dim], "periodic": (True, False, True)[:dim]}, {}),
        Case(boxes | {"groups": groups, "box": TILTED[dim]}, {}),
        Case(
            {"points": points[:8], "cutoff": 0.7, "box": SMALL[dim], "exclude": bonds(rng, 8), "r_min": 0.2},
            {"self_pairs": True},
        ),
    ]
    for k, criterion in enumerate(CRITERIA):
        some = {"r_min": 0.02, "exclude": bonds(rng, n)} if k % 2 else {}
        made.append(Case(spheres | {"criterion": criterion} | some, {}))
        made.append(Case(spheres | {"criterion": criterion, "box": TILTED[dim]} | some, {}))
        made.append(Case(spheres | {"criterion": criterion, "box": box, "skin": 0.01}, {"self_pairs": True}))
    return made


CASES = {(dtype, dim): cases(dtype, dim) for dtype in (np.float64, np.float32) for dim in (2, 3)}


@cache
def expected_of(case: Case) -> Any:
    """What the oracle finds; computed once for all structures."""
    return exact_pairs(**case.bodies, **case.search)


def kind_of(case: Case) -> str:
    return "boxes" if "boxes" in case.bodies else "points"


def check_case(case: Case, search: Any) -> None:
    """Pairs half and full, sorted and not, rows and counts."""
    kind, more = kind_of(case), case.search
    expected = expected_of(case)
    assert_same_pairs(ask(search.pairs, kind, half=False, sort=True, **more), expected)
    assert_same_pairs(ask(search.pairs, kind, half=False, **more).sorted(), expected)
    i, j = search.pairs(half=False, sort=True, **more)
    assert np.array_equal(i, expected.i)
    assert np.array_equal(j, expected.j)
    half = ask(search.pairs, kind, sort=True, **more)
    once = half_of(expected)
    assert_same_pairs(half, once)
    if not more:
        assert_same_half(ask(search.pairs, kind), expected)
    assert len(search.pairs(**more)[0]) == len(once)
    assert_same_pairs(rows_of(search.neighbors, kind, sort=True, **more), expected)
    assert_same_pairs(rows_of(search.neighbors, kind, **more).sorted(), expected)
    assert np.array_equal(search.neighbors(sort=True, **more).indices, expected.j)
    counts = search.count(**more)
    assert np.array_equal(counts, np.bincount(expected.i, minlength=len(counts)))


def half_of(expected: Any) -> Any:
    """Each pair once: of a body with itself both directions are the same."""
    own = (expected.i == expected.j) & (expected.S == 0).all(axis=1)
    once = expected.half()
    joined = [np.concatenate([getattr(once, name), getattr(expected[own], name)]) for name in "ijSdD"]
    return type(expected)(*joined).sorted()


@every_structure
def test_every_structure_answers_as_the_oracle(structure: Structure) -> None:
    # Each dtype in one dimension.
    for dim in structure.dims:
        for dtype in (np.float64,) if structure.label or dim == 2 else (np.float32,):
            for case in CASES[dtype, dim]:
                bodies = case.bodies
                kind = "boxes" if "boxes" in bodies else "spheres" if "radii" in bodies else "points"
                if kind in structure.kinds and structure.lives_in(dim, bodies.get("box")):
                    check_case(case, structure.build(**bodies, size=1.0))


def test_a_single_search_answers_as_the_oracle() -> None:
    for case in CASES[np.float32, 2] + CASES[np.float64, 3]:
        check_case(case, Single(case.bodies))


@dataclass(frozen=True)
class Single:
    """The functions of vicinal as methods, with the same bodies for each."""

    bodies: dict[str, Any]

    def pairs(self, **options: Any) -> Any:
        return vc.pairs(**self.bodies, **options)

    def neighbors(self, **options: Any) -> Any:
        return vc.neighbors(**self.bodies, **options)

    def count(self, **options: Any) -> Any:
        return vc.count(**self.bodies, **options)


def test_queries_have_types_groups_and_radii_of_their_own() -> None:
    rng = np.random.default_rng(8)
    points, queries = rng.random((250, 3)), rng.random((90, 3))
    types, groups = rng.integers(0, 3, 250), rng.integers(-1, 9, 250)
    others = {"queries": queries, "query_types": rng.integers(0, 3, 90), "query_groups": rng.integers(-1, 9, 90)}
    bodies = {"points": points, "cutoff": CUTOFFS, "types": types, "groups": groups, "box": (1.0, 1.0, None)}
    expected = exact_pairs(**bodies, **others)
    assert len(expected) > 20
    assert_same_pairs(ask(Single(bodies).pairs, "points", sort=True, **others), expected)
    index = vc.CellSorting(**bodies)
    assert_same_pairs(ask(index.pairs, "points", sort=True, **others), expected)
    assert np.array_equal(index.count(**others), np.bincount(expected.i, minlength=90))
    assert np.array_equal(index.neighbors(sort=True, **others).indices, expected.j)
    radii = rng.choice([0.0, 0.05, 0.3], 90)
    expected = exact_pairs(points, radii=0, queries=queries, query_radii=radii)
    found = ask(Single({"points": points}).pairs, "points", queries=queries, query_radii=radii, sort=True)
    assert_same_pairs(found, expected)
    assert np.array_equal(
        vc.BVH(points, radii=0).count(queries=queries, query_radii=radii), np.bincount(expected.i, minlength=90)
    )
    for criterion in CRITERIA:
        spheres = {"points": points, "radii": rng.choice([0.02, 0.06], 250), "criterion": criterion}
        more = {"queries": queries, "query_radii": radii}
        expected = exact_pairs(**spheres, **more)
        for structure in (vc.HashGrid, vc.LinkedCells, vc.BVH):
            assert_same_pairs(ask(structure(**spheres).pairs, "points", sort=True, **more), expected)


@given(problem=st.one_of(problems(most=30), tilted_problems("points", most=24)), data=st.data())
def test_any_points(problem: Any, data: st.DataObject) -> None:
    """Types, groups, exclusions and distances of any points, also in tilted cells."""
    n = len(problem.points)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    kinds = data.draw(st.integers(1, 3))
    shares = rng.choice([0.0, 0.3, 1.0, -1.0], (kinds, kinds))
    cutoffs = np.maximum(shares, shares.T) * problem.cutoff
    bodies = {
        "points": problem.points,
        "box": problem.box,
        "periodic": problem.periodic,
        "cutoff": cutoffs if data.draw(st.booleans()) else problem.cutoff,
        "r_min": float(data.draw(st.sampled_from([0.0, 0.25, 1.0]))) * problem.cutoff,
    }
    if np.ndim(bodies["cutoff"]):
        bodies["types"] = rng.integers(0, kinds, n)
    if data.draw(st.booleans()):
        bodies["groups"] = rng.integers(-1, max(n // 2, 1), n)
    if data.draw(st.booleans()):
        bodies["exclude"] = bonds(rng, n)
    check_case(Case(bodies, {"self_pairs": data.draw(st.booleans())}), Single(bodies))


@given(problem=st.one_of(sized_problems("spheres", most=20), tilted_problems("spheres", most=16)), data=st.data())
def test_any_spheres(problem: Any, data: st.DataObject) -> None:
    """Every criterion for spheres of any size, with queries of any size."""
    criterion = data.draw(st.sampled_from(CRITERIA))
    structure = data.draw(st.sampled_from([vc.HashGrid, vc.BVH, vc.CellSorting, vc.Octree, vc.SweepAndPrune]))
    bodies = problem.bodies | {"criterion": criterion}
    others = {"queries": problem.queries, "query_radii": problem.query_radii}
    index = structure(**bodies)
    assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), exact_pairs(**bodies))
    assert_same_pairs(ask(index.pairs, "points", sort=True, **others), exact_pairs(**bodies, **others))
    assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), exact_pairs(**bodies))


def test_an_index_keeps_its_conditions_while_bodies_move() -> None:
    rng = np.random.default_rng(3)
    n = 80
    here, there, radii = rng.random((n, 3)), rng.random((n, 3)), rng.choice([0.05, 0.1], n)
    kept = {"groups": rng.integers(0, 12, n), "exclude": bonds(rng, n), "r_min": 0.03}
    for criterion in CRITERIA:
        rules = kept | {"criterion": criterion}
        for structure in (vc.HashGrid, vc.Octree, vc.SweepAndPrune):
            index = structure(here, radii=radii, **rules)
            index.update(there)
            expected = exact_pairs(there, radii=radii, **rules)
            for copied in (index, *(make(index) for make in COPIES.values())):
                assert_same_pairs(ask(copied.pairs, "points", half=False, sort=True), expected)
            index.update(here, radii=radii[::-1])
            expected = exact_pairs(here, radii=radii[::-1], **rules)
            assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), expected)
    index = vc.CellSorting(here, radii=radii, criterion="max")
    index.insert(there, radii=radii)
    both = exact_pairs(np.concatenate([here, there]), radii=np.concatenate([radii, radii]), criterion="max")
    assert np.array_equal(index.count(), np.bincount(both.i, minlength=2 * n))


def test_lists_leave_out_groups_and_excluded_pairs() -> None:
    rng = np.random.default_rng(4)
    n = 120
    points = rng.random((n, 3))
    kept = {"groups": rng.integers(-1, 60, n), "exclude": bonds(rng, n)}
    rows = vc.NeighborList(cutoff=0.15, skin=0.05, box=(1.0, 1.0, 1.0), half=False, **kept)
    for _ in range(3):
        rows.update(points)
        expected = exact_pairs(points, 0.15, (1.0, 1.0, 1.0), **kept)
        i, j, d = rows.exact(want="ijd")
        assert np.array_equal(i, expected.i)
        assert np.array_equal(j, expected.j)
        assert np.array_equal(d, expected.d)
        owners = np.repeat(np.arange(n), np.diff(rows.offsets))
        listed = set(zip(owners.tolist(), rows.indices.tolist(), strict=True))
        assert listed >= set(zip(i.tolist(), j.tolist(), strict=True))
        assert not any(kept["groups"][a] == kept["groups"][b] >= 0 for a, b in listed)
        assert not listed & {(a, b) for a, b in kept["exclude"].tolist()}
        points = points + rng.normal(0, 0.004, points.shape)
    order = rng.permutation(n)
    rows.update(points)
    rows.reorder(order)
    kept = {"groups": kept["groups"][order], "exclude": np.argsort(order)[kept["exclude"]]}
    expected = exact_pairs(points[order], 0.15, (1.0, 1.0, 1.0), **kept)
    assert np.array_equal(rows.exact(want="d")[0], expected.d)


def test_chunks_histograms_and_components_keep_to_the_conditions() -> None:
    rng = np.random.default_rng(6)
    n = 400
    points = rng.random((n, 3))
    cell = {"box": TILTED[3]}
    kept = {"groups": rng.integers(-1, 60, n), "exclude": bonds(rng, n)}
    typed = {"cutoff": CUTOFFS, "types": rng.integers(0, 3, n), "r_min": 0.02}
    found = vc.pairs(points, **typed, **kept, **cell, want="ijd", sort=True)
    chunks = list(vc.pairs(points, **typed, **kept, **cell, want="ijd", chunks=50))
    i, j, d = (np.concatenate(column) for column in zip(*chunks, strict=True))
    order = np.lexsort((np.maximum(i, j), np.minimum(i, j)))
    assert len(chunks) > 1
    assert np.array_equal(np.minimum(i, j)[order], found[0])
    assert np.array_equal(d[order], found[2])
    queries, groups = rng.random((50, 3)), rng.integers(-1, 60, 50)
    more = {"queries": queries, "query_groups": groups}
    crossed = vc.pairs(points, 0.1, groups=kept["groups"], **more, **cell, want="d")[0]
    chunks = list(vc.pairs(points, 0.1, groups=kept["groups"], **more, **cell, want="d", chunks=9))
    assert np.array_equal(np.sort(np.concatenate(chunks, axis=1)[0]), np.sort(crossed))

    edges = np.linspace(0.0, 0.1, 5)
    (d,) = vc.pairs(points, 0.1, **kept, **cell, want="d")
    assert np.array_equal(vc.histogram(points, edges, **kept, **cell), np.histogram(d, edges)[0])
    assert vc.histogram(points, edges, **cell).sum() > len(d)
    counted = vc.histogram(points, edges, groups=kept["groups"], **more, **cell)
    assert np.array_equal(counted, np.histogram(crossed, edges)[0])

    labels = vc.components(points, **typed, **kept, **cell)
    joined = np.arange(n)
    for _ in range(n):
        np.minimum.at(joined, found[0], joined[found[1]])
        np.minimum.at(joined, found[1], joined[found[0]])
    assert np.array_equal(np.unique(joined, return_inverse=True)[1], labels)
    radii = rng.choice([0.01, 0.05], n)
    widest = vc.components(points, radii=radii, criterion="max")
    i, j = vc.pairs(points, radii=radii, criterion="max")
    assert (widest[i] == widest[j]).all()


SOME = np.random.default_rng(0).random((4, 3))
REFUSALS = [
    Refusal("no such criterion", lambda: vc.pairs(SOME, radii=1.0, criterion="product"), "criterion", "'product'"),
    Refusal("criterion of points", lambda: vc.pairs(SOME, 1.0, criterion="max"), "criterion", "'max'"),
    Refusal("types without a matrix", lambda: vc.pairs(SOME, 1.0, types=[0] * 4), "types", "one number"),
    Refusal("matrix without types", lambda: vc.pairs(SOME, [[1.0]]), "cutoff", r"\(1, 1\)"),
    Refusal("types of spheres", lambda: vc.pairs(SOME, radii=1.0, types=[0] * 4), "types", "radii"),
    Refusal("not square", lambda: vc.pairs(SOME, [[1.0, 2.0]], types=[0] * 4), "types", r"\(1, 2\)"),
    Refusal("not symmetric", lambda: vc.pairs(SOME, [[1, 2], [3, 1]], types=[0] * 4), "cutoff", "2.0"),
    Refusal("not finite", lambda: vc.pairs(SOME, [[np.nan]], types=[0] * 4), "cutoff", "nan"),
    Refusal("too few types", lambda: vc.pairs(SOME, [[1.0]], types=[0] * 3), "types", r"\(3,\)"),
    Refusal("unknown type", lambda: vc.pairs(SOME, [[1.0]], types=[0, 1, 0, 0]), "types", "got 1"),
    Refusal("types that are no numbers", lambda: vc.pairs(SOME, [[1.0]], types=[0.5] * 4), "types", "float64"),
    Refusal("too few groups", lambda: vc.pairs(SOME, 1.0, groups=[0] * 3), "groups", r"\(3,\)"),
    Refusal("a huge group", lambda: vc.pairs(SOME, 1.0, groups=[0, 0, 0, 2**40]), "groups", "1099511627776"),
    Refusal("excluded triples", lambda: vc.pairs(SOME, 1.0, exclude=[[0, 1, 2]]), "exclude", r"\(1, 3\)"),
    Refusal("an unknown body", lambda: vc.pairs(SOME, 1.0, exclude=[[0, 4]]), "exclude", r"\[0, 4\]"),
    Refusal("a negative distance", lambda: vc.pairs(SOME, 1.0, r_min=-1.0), "r_min", "-1.0"),
    Refusal("an endless distance", lambda: vc.pairs(SOME, 1.0, r_min=np.inf), "r_min", "inf"),
    Refusal("distances of boxes", lambda: vc.pairs(boxes=(SOME, SOME), r_min=1.0), "r_min", "1.0"),
    Refusal("self pairs of queries", lambda: vc.pairs(SOME, 1.0, queries=SOME, self_pairs=True), "self_pairs", "True"),
    Refusal("no types of queries", lambda: vc.pairs(SOME, [[1.0]], types=[0] * 4, queries=SOME), "query_types", "None"),
    Refusal("types of no queries", lambda: vc.pairs(SOME, 1.0, query_types=[0] * 4), "query_types", "queries"),
    Refusal(
        "types of queries only", lambda: vc.pairs(SOME, 1.0, queries=SOME, query_types=[0] * 4), "query_types", "types"
    ),
    Refusal("excluded queries", lambda: vc.pairs(SOME, 1.0, queries=SOME, exclude=[[0, 1]]), "exclude", "queries"),
    Refusal(
        "chunks",
        lambda: vc.pairs(SOME, 1.0, self_pairs=True, chunks=5),
        "self_pairs",
        r"chunks; add the pairs \(i, i\)",
    ),
    Refusal("edges in chunks", lambda: vc.pairs(SOME, 1.0, want="E", chunks=5), "want", "'E'"),
    Refusal("nearest", lambda: vc.BVH(SOME, 1.0, groups=[0] * 4).nearest(2), "nearest", "groups"),
    Refusal("histogram", lambda: vc.histogram(SOME, [0, 1], groups=[0] * 4, queries=SOME), "query_groups", "None"),
    Refusal("more bodies", lambda: vc.BVH(SOME, 1.0, groups=[0] * 4).insert(SOME), "points", "8"),
    Refusal("fewer bodies", lambda: vc.BVH(SOME, 1.0, exclude=[[0, 1]]).remove([0]), "points", "3"),
    Refusal("other bodies", lambda: vc.BVH(SOME, 1.0, groups=[0] * 4).update(SOME[:2]), "points", "2"),
]


@pytest.mark.parametrize("refusal", REFUSALS, ids=str)
def test_wrong_conditions_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
