"""The contract of every structure: the oracle's pairs, bit for bit, in every form, and correct figures."""

from __future__ import annotations

import gc
from dataclasses import FrozenInstanceError
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, hard_case, hard_problem, hard_queries
from compare import (
    ALL,
    ask,
    ask_queries,
    assert_same_bits,
    assert_same_half,
    assert_same_pairs,
    assert_sorted,
    rows_of,
)
from each import check_each
from oracle import Array, Pairs, exact_pairs
from problem import Problem
from sized_cases import SIZED
from strategies import problems, sized_problems, tilted_problems
from structures import STRUCTURES, Structure

every_structure = pytest.mark.parametrize("structure", STRUCTURES, ids=str)
every_dtype = pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
every_dim = pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")

# Big enough for several cells a side, several blocks a cell, and several threads.
CLOUD = np.random.default_rng(7).random((4000, 3))
SPACES = {"open": None, "periodic": (1.0, 1.0, 1.0), "slab": (1.0, None, 1.0)}
in_every_space = pytest.mark.parametrize(
    ("structure", "box"),
    [
        pytest.param(structure, box, id=f"{structure}-{name}")
        for structure, (name, box) in product(STRUCTURES, SPACES.items())
        if structure.lives_in(max(structure.dims), box)
    ],
)
in_every_dim = pytest.mark.parametrize(
    ("structure", "dim"),
    [
        pytest.param(structure, dim, id=f"{structure}-{dim}D")
        for structure, dim in product(STRUCTURES, DIMS)
        if structure.lives_in(dim)
    ],
)


def check_everything(index: Any, expected: Pairs, kind: str = "points") -> None:
    """Pairs half and full, sorted and not, rows and counts: all agree with the oracle."""
    assert_same_pairs(ask(index.pairs, kind, half=False, sort=True), expected)
    assert_same_pairs(ask(index.pairs, kind, half=False).sorted(), expected)
    half = ask(index.pairs, kind, sort=True)
    assert np.all(half.i <= half.j)
    assert_sorted(half)
    assert_same_half(half, expected)
    assert_same_half(ask(index.pairs, kind), expected)
    assert_same_pairs(rows_of(index.neighbors, kind, sort=True), expected)
    assert_same_pairs(rows_of(index.neighbors, kind).sorted(), expected)
    counts = index.count()
    assert counts.dtype == np.int32
    assert np.array_equal(counts, np.bincount(expected.i, minlength=len(counts)))


def check_queries(index: Any, others: dict[str, Any], expected: Pairs) -> None:
    assert_same_pairs(ask_queries(index, others, sort=True), expected)
    assert_same_pairs(ask_queries(index, others).sorted(), expected)


# Variants of a structure run every case, but not in every dtype and dimension.
in_its_spaces = pytest.mark.parametrize(
    ("structure", "dtype", "dim"),
    [
        pytest.param(structure, dtype, dim, id=f"{structure}-{dtype.__name__}-{dim}D")
        for structure, dtype, dim in product(STRUCTURES, BOTH, DIMS)
        if structure.lives_in(dim) and (not structure.label or (dtype is np.float64) == (dim == max(structure.dims)))
    ],
)


@in_its_spaces
def test_hard_cases_are_answered_as_the_oracle_does(structure: Structure, dtype: Any, dim: int) -> None:
    def check(name: str) -> None:
        problem, expected = hard_case(name, dtype, dim)
        index = structure.solve(problem)
        check_everything(index, expected, problem.kind)
        check_queries(index, *hard_queries(name, dtype, dim))
        # Queries larger than any body may have changed the structure, but not the bodies.
        assert_same_pairs(ask(index.pairs, problem.kind, half=False, sort=True), expected)

    names = [name for name in BUILDERS | SIZED if structure.takes(hard_problem(name, dtype, dim))]
    check_each(names, check, at_least=30)


# The oracle takes longer than a structure: all structures answer the same drawn problem.


def check_structures(problem: Problem) -> None:
    """Every structure that takes a problem finds its pairs, and those of its queries if it has any."""
    expected = exact_pairs(**problem.bodies)
    of_queries = exact_pairs(**problem.bodies, **problem.second) if problem.second else None

    def check(structure: Structure) -> None:
        index = structure.solve(problem)
        check_everything(index, expected, problem.kind)
        if of_queries is not None:
            check_queries(index, problem.second, of_queries)

    check_each([structure for structure in STRUCTURES if structure.takes(problem)], check)


@given(problem=problems())
def test_any_problem_is_answered_as_the_oracle_does(problem: Problem) -> None:
    check_structures(problem)


@given(problem=problems(most=40, with_queries=True))
def test_any_queries_are_answered_as_the_oracle_does(problem: Problem) -> None:
    check_structures(problem)


@pytest.mark.parametrize("kind", ["spheres", "boxes"])
@given(data=st.data())
def test_bodies_of_any_size_are_answered_as_the_oracle_does(kind: str, data: st.DataObject) -> None:
    check_structures(data.draw(sized_problems(kind)))


@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
@given(data=st.data())
def test_any_tilted_cell_is_answered_as_the_oracle_does(kind: str, data: st.DataObject) -> None:
    check_structures(data.draw(tilted_problems(kind)))


@cache
def from_anywhere(dtype: Any, dim: int, box: Any) -> tuple[Array, Array, Pairs]:
    """Points, queries in every direction and at every distance, and their pairs."""
    points = CLOUD[:200, :dim].astype(dtype)
    steps = np.array([-1e30, -1e6, -3, -1.3, -0.3, -0.2, -0.1, 0.3, 0.5, 0.9, 1.1, 1.2, 1.3, 3, 1e6, 1e30], dtype)
    around = np.array(list(product(steps, repeat=dim)), dtype)
    if box[0] is not None:
        around[:, 0] = np.clip(around[:, 0], -100, 100)
    expected = exact_pairs(points, 0.15, box, around)
    assert len(expected) > 5
    return points, around, expected


@every_structure
@every_dtype
@every_dim
@pytest.mark.parametrize("first_edge", [None, 0.5], ids=["open", "periodic"])
def test_queries_may_come_from_anywhere(structure: Structure, dtype: Any, dim: int, first_edge: float | None) -> None:
    """In every direction and at every distance, in one set and one by one."""
    box = (first_edge, None, None)[:dim]
    if not structure.lives_in(dim, box):
        pytest.skip("not a space of this structure")
    points, around, expected = from_anywhere(dtype, dim, box)
    index = structure.build(points, cutoff=0.15, box=box)
    assert_same_pairs(Pairs(*index.pairs(queries=around, want=ALL, sort=True)), expected)
    for k in range(0, len(around), 17):
        (neighbors,) = index.pairs(queries=around[k : k + 1], want="j", sort=True)
        assert np.array_equal(neighbors, expected.j[expected.i == k])


@every_dtype
@in_every_space
def test_a_large_cloud_has_the_pairs_of_exhaustive(structure: Structure, dtype: Any, box: Any) -> None:
    """Thousands of points, compared with the structure whose candidates cannot be wrong."""
    cloud = structure.flatten(CLOUD)
    points = cloud.astype(dtype)
    wanted = {"want": ALL, "half": False, "sort": True}
    expected = Pairs(*vc.Exhaustive(points, cutoff=0.12, box=box).pairs(**wanted))
    index = structure.build(points, cutoff=0.12, box=box)
    assert_same_pairs(Pairs(*index.pairs(**wanted)), expected)
    assert len(index.pairs()[0]) == len(expected) // 2


@in_every_space
def test_the_order_of_the_input_does_not_matter(structure: Structure, box: Any) -> None:
    cloud = structure.flatten(CLOUD)
    points = cloud[:1000]
    order = np.random.default_rng(1).permutation(len(points))
    i, j = structure.build(points, cutoff=0.15, box=box).pairs(half=False)
    k, m = structure.build(points[order], cutoff=0.15, box=box).pairs(half=False)
    assert set(zip(i.tolist(), j.tolist(), strict=True)) == set(zip(order[k].tolist(), order[m].tolist(), strict=True))


BEFORE, AFTER = CLOUD[:400], CLOUD[400:800] * 3 - 1


@cache
def pairs_of_update(after: bool, n: int, dim: int, box: Any) -> Pairs:
    return exact_pairs((AFTER if after else BEFORE)[:n, :dim], 0.2, box)


@in_every_space
def test_an_updated_index_is_like_a_new_one(structure: Structure, box: Any) -> None:
    before, after = structure.flatten(BEFORE), structure.flatten(AFTER)
    dim = before.shape[1]
    index = structure.build(before, cutoff=0.2, box=box)
    index.pairs()
    index.update(after)
    check_everything(index, pairs_of_update(True, len(after), dim, box))
    for n in (400, 150, 0, 1, 400):
        index.update(before[:n])
        assert len(index) == n
        check_everything(index, pairs_of_update(False, n, dim, box))


@every_structure
def test_later_changes_of_the_input_do_not_affect_an_update(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    points = cloud[:500].copy()
    index = structure.build(points, cutoff=0.2)
    expected = exact_pairs(points, 0.2)
    points += 1e3 * np.arange(500)[:, None]
    assert_same_pairs(Pairs(*index.pairs(want=ALL, half=False, sort=True)), expected)


@every_structure
def test_input_is_never_changed(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    points, others = cloud[:500] * 4 - 2, cloud[500:700] * 4 - 2
    copies = points.copy(), others.copy()
    index = structure.build(points, cutoff=0.3, box=(1.0, None, 2.0) if structure.periodic else None)
    index.pairs()
    index.pairs(queries=others)
    index.update(points)
    assert_same_bits(points, copies[0])
    assert_same_bits(others, copies[1])


@every_structure
def test_results_outlive_the_index_and_later_searches(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    index = structure.build(cloud, cutoff=0.1)
    results = [
        *index.pairs(want=ALL),
        index.count(),
        index.neighbors().indices,
        *index.pairs(queries=cloud[:99], want=ALL),
    ]
    copies = [result.copy() for result in results]
    index.update(cloud[::-1])
    again = [
        *index.pairs(want=ALL),
        index.count(),
        index.neighbors().indices,
        *index.pairs(queries=cloud[:99], want=ALL),
    ]
    assert not any(np.shares_memory(new, old) for new in again for old in results)
    del index, again
    gc.collect()
    structure.build(cloud + 1, cutoff=0.12).pairs(want=ALL)
    for result, copy in zip(results, copies, strict=True):
        assert_same_bits(result, copy)


@every_dtype
@in_every_dim
def test_results_are_plain_writable_arrays(structure: Structure, dtype: Any, dim: int) -> None:
    index = structure.build(CLOUD[:300, :dim].astype(dtype), cutoff=0.2)
    rows = index.neighbors(want="jSdD")
    results = {
        np.dtype(np.int32): [
            *index.pairs(),
            *index.pairs(want="S"),
            index.count(),
            rows.indices,
            rows.shifts,
        ],
        np.dtype(np.int64): [rows.offsets],
        np.dtype(dtype): [*index.pairs(want="dD"), rows.distances, rows.vectors],
    }
    for expected, arrays in results.items():
        for array in arrays:
            assert type(array) is np.ndarray
            assert array.dtype == expected
            assert array.flags.c_contiguous
            assert array.flags.writeable
            assert array.flags.aligned


@every_structure
def test_nothing_in_gives_nothing_out(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    dim = cloud.shape[1]
    index = structure.build(np.zeros((0, dim)), cutoff=1.0)
    i, j, S, d, D = index.pairs(want=ALL)
    assert (i.shape, j.shape, S.shape, d.shape, D.shape) == ((0,), (0,), (0, dim), (0,), (0, dim))
    assert index.count().shape == (0,)
    assert index.neighbors().offsets.tolist() == [0]
    assert [len(column) for column in index.pairs(queries=cloud[:5])] == [0, 0]
    assert [len(column) for column in structure.build(cloud, cutoff=0.1).pairs(queries=np.zeros((0, dim)))] == [0, 0]


@in_every_space
def test_stats_describe_the_last_search(structure: Structure, box: Any) -> None:
    cloud = structure.flatten(CLOUD)
    index = structure.build(cloud, cutoff=0.1, box=box)
    fresh = index.stats
    assert (fresh.structure, fresh.bodies, fresh.candidates, fresh.pairs) == (
        structure.name,
        len(cloud),
        0,
        0,
    )
    pairs = len(index.pairs()[0])
    stats = index.stats
    assert stats.pairs == pairs
    assert pairs <= stats.candidates
    if box is None:
        assert stats.candidates <= len(cloud) * (len(cloud) - 1) // 2
    assert stats.bytes > 0
    assert stats.build_seconds > 0
    assert stats.query_seconds > 0
    assert isinstance(stats.details, dict)
    with pytest.raises(FrozenInstanceError):
        stats.pairs = 0
    assert fresh.pairs == 0


@in_every_space
def test_the_number_of_candidates_does_not_depend_on_the_threads(structure: Structure, box: Any) -> None:
    cloud = structure.flatten(CLOUD)
    candidates = set()
    for n in (1, 2, 3):
        with vc.threads(n):
            index = structure.build(cloud, cutoff=0.1, box=box)
            index.pairs()
            candidates.add(index.stats.candidates)
    assert len(candidates) == 1


@every_structure
def test_an_index_refuses_invalid_searches(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    index = structure.build(cloud[:10], cutoff=0.1)
    other = CLOUD[:10, :2] if cloud.shape[1] == 3 else CLOUD[:10]
    with pytest.raises(vc.InputError, match="want"):
        index.pairs(want="ix")
    with pytest.raises(vc.InputError, match="points"):
        index.update(np.full_like(cloud[:10], np.nan))
    with pytest.raises(vc.InputError, match="points"):
        index.update(other)
    with pytest.raises(vc.InputError, match="queries"):
        index.pairs(queries=other)
    with pytest.raises(vc.InputError, match="queries"):
        index.count(queries=other)
    with pytest.raises(vc.InputError, match="half"):
        index.pairs(queries=cloud[:10], half=False)


@every_structure
def test_a_refused_update_leaves_the_index_as_it_was(structure: Structure) -> None:
    cloud = structure.flatten(CLOUD)
    index = structure.build(cloud[:500], cutoff=0.2)
    expected = exact_pairs(cloud[:500], 0.2)
    broken = cloud[:500].copy()
    broken[321, 1] = np.inf
    with pytest.raises(vc.InputError, match="321"):
        index.update(broken)
    check_everything(index, expected)
