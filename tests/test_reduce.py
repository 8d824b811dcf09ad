"""Sums of functions over pairs: those of math.fsum over the pairs of the oracle, bit for bit, in every form."""

from __future__ import annotations

import math
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import vicinal as vc
from each import check_each
from oracle import Array, Pairs, exact_pairs
from problem import Problem
from refusals import Refusal, check_refusal
from strategies import problems, sized_problems
from structures import STRUCTURES

numba = pytest.importorskip("numba")

RNG = np.random.default_rng(7)
CLOUD = RNG.random((6000, 3))
CHARGES = RNG.normal(size=6000)


def turned(i, j, d2, v):
    """Not symmetric, and sensitive to every argument."""
    first = v[0] * (i + 1) - v[1] * (2 * j + 1)
    return first + d2, d2 * d2 - 0.5 * i, v[0]


def energy(i, j, d2, v):
    s = 1.0 / (d2 * d2 * d2)
    return 4.0 * (s * s - s)


def coulomb(i, j, d2, v, charges, scale):
    return scale * charges[i] * charges[j] / np.sqrt(d2)


def values_of(pairs: Pairs) -> Array:
    """The values of `turned`, every operation in the dtype that Numba uses: float64 where a whole number takes part."""
    D = pairs.D
    d2 = D[:, 0] * D[:, 0] + D[:, 1] * D[:, 1]
    if D.shape[1] == 3:
        d2 = d2 + D[:, 2] * D[:, 2]
    first = D[:, 0] * (pairs.i.astype(float) + 1) - D[:, 1] * (2.0 * pairs.j + 1)
    return np.stack([first + d2, d2 * d2 - 0.5 * pairs.i, D[:, 0]], 1).astype(np.float64)


def sums_of(values: Array) -> list[float]:
    return [math.fsum(column) for column in values.T]


@given(problem=problems(with_queries=True))
def test_sums_are_those_of_the_pairs(problem: Problem) -> None:
    points, queries, cutoff, box = problem.points, problem.queries, problem.cutoff, problem.box
    assert points is not None
    assert queries is not None
    with np.errstate(all="ignore"):
        full, cross = exact_pairs(points, cutoff, box), exact_pairs(points, cutoff, box, queries)
        if not np.isfinite(values_of(full)).all() or not np.isfinite(values_of(cross)).all():
            return
        assert vc.reduce(points, cutoff, turned, box=box).tolist() == sums_of(values_of(full.half()))
        rows = vc.reduce(points, cutoff, turned, box=box, each=True)
        assert rows.tolist() == [sums_of(values_of(full[full.i == i])) for i in range(len(points))]
        assert vc.reduce(points, cutoff, turned, box=box, queries=queries).tolist() == sums_of(values_of(cross))
        rows = vc.reduce(points, cutoff, turned, box=box, queries=queries, each=True)
        assert rows.tolist() == [sums_of(values_of(cross[cross.i == i])) for i in range(len(queries))]


@given(problem=sized_problems("spheres"))
def test_spheres_that_touch_are_pairs(problem: Problem) -> None:
    with np.errstate(all="ignore"):
        values = values_of(exact_pairs(**problem.bodies).half())
        if np.isfinite(values).all():
            bodies = dict(problem.bodies)
            points = bodies.pop("points")
            bodies.pop("cutoff", None)
            assert vc.reduce(points, None, turned, **bodies).tolist() == sums_of(values)


def test_conditions_leave_out_the_same_pairs_as_in_a_search() -> None:
    rng = np.random.default_rng(2)
    n = 300
    points, queries = rng.random((n, 3)), rng.random((40, 3))
    bonds = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    cutoffs = [[0.2, 0.1, -1.0], [0.1, 0.3, 0.15], [-1.0, 0.15, 0.25]]
    types, groups = rng.integers(0, 3, n), rng.integers(-1, 60, n)
    radii = rng.choice([0.03, 0.1], n)
    for cutoff, conditions in (
        (cutoffs, {"types": types, "groups": groups, "r_min": 0.05}),
        (0.2, {"exclude": bonds, "box": 1.0}),
        (None, {"radii": radii, "criterion": "min", "exclude": bonds}),
        (None, {"radii": radii, "criterion": "max", "box": (1.0, None, 0.8)}),
    ):
        options: Any = conditions
        full = exact_pairs(points, cutoff, **options)
        assert len(full) > 20
        assert vc.reduce(points, cutoff, turned, **options).tolist() == sums_of(values_of(full.half()))
        rows = vc.reduce(points, cutoff, turned, each=True, structure="BVH", **options)
        assert rows.tolist() == [sums_of(values_of(full[full.i == i])) for i in range(n)]
    others: Any = {"queries": queries, "query_types": types[:40], "query_groups": groups[:40]}
    cross = exact_pairs(points, cutoffs, types=types, groups=groups, **others)
    found = vc.reduce(points, cutoffs, turned, types=types, groups=groups, **others)
    assert found.tolist() == sums_of(values_of(cross))


def test_every_structure_thread_count_and_cell_gives_the_same_bits() -> None:
    tilted = [[1.0, 0.0, 0.0], [0.4, 1.0, 0.0], [-0.3, 0.2, 1.0]]

    def check(structure: Any) -> None:
        points = structure.flatten(CLOUD)
        cutoff = 0.08 if points.shape[1] == 3 else 0.03
        boxes = [None, 1.0, tilted] if structure.periodic and points.shape[1] == 3 else [None]
        for box in boxes:
            expected = vc.reduce(points, cutoff, energy, box=box)
            rows = vc.reduce(points, cutoff, turned, box=box, each=True)
            for threads in (1, 2, 4):
                with vc.threads(threads):
                    options: Any = dict(box=box, structure=structure.type)
                    assert vc.reduce(points, cutoff, energy, **options) == expected
                    assert vc.reduce(points, cutoff, turned, each=True, **options).tobytes() == rows.tobytes()

    slow = {"Delaunay"}
    check_each([s for s in STRUCTURES if not s.label and s.name not in slow], check, at_least=8)


def test_data_follow_the_vector() -> None:
    i, j, D = vc.pairs(CLOUD, 0.05, want="ijD", half=False)
    d2 = (D[:, 0] * D[:, 0] + D[:, 1] * D[:, 1]) + D[:, 2] * D[:, 2]
    scale = 0.5
    values = scale * CHARGES[i] * CHARGES[j] / np.sqrt(d2)
    rows = vc.reduce(CLOUD, 0.05, coulomb, each=True, data=(CHARGES, scale))
    assert rows.tolist() == [math.fsum(values[i == k]) for k in range(len(CLOUD))]
    upper = i < j
    assert vc.reduce(CLOUD, 0.05, coulomb, data=(CHARGES, scale)) == math.fsum(values[upper])

    def of_kinds(i, j, d2, v, kinds, table, weights):
        return table[kinds[i], kinds[j]] * weights[0, 1, 0]

    kinds, table = RNG.integers(0, 2, 6000).astype(np.int8), np.array([[1, 10], [100, 1000]], np.float32)
    weights = np.arange(4.0).reshape(1, 2, 2)
    expected = 2.0 * table[kinds[i], kinds[j]][upper].sum(dtype=np.float64)
    assert vc.reduce(CLOUD, 0.05, of_kinds, data=(kinds, table, weights)) == expected


def test_compiled_functions_and_all_kinds_of_numbers_are_taken() -> None:
    expected = vc.reduce(CLOUD, 0.05, energy)
    assert vc.reduce(CLOUD, 0.05, numba.njit(energy)) == expected
    real = numba.types.float64
    signature = real(numba.types.int64, numba.types.int64, real, numba.types.UniTuple(real, 3))
    assert vc.reduce(CLOUD, 0.05, numba.cfunc(signature)(energy)) == expected
    count = len(vc.pairs(CLOUD, 0.05)[0])

    def mixed(i, j, d2, v):
        return 1, True, 0.5

    assert vc.reduce(CLOUD, 0.05, mixed).tolist() == [count, count, count / 2]


def test_many_neighbours_cancellation_and_numbers_that_are_not_finite() -> None:
    points = 0.1 * CLOUD[:3000]
    i, j = vc.pairs(points, 1.0, half=False)

    def huge(i, j, d2, v):
        return 1e300 * (1 if (i + j) % 2 else -1) * (j + 1) + d2

    def plain(pairs: Any) -> Any:
        i, j, D = pairs
        d2 = (D[:, 0] * D[:, 0] + D[:, 1] * D[:, 1]) + D[:, 2] * D[:, 2]
        return np.where((i + j) % 2, 1e300, -1e300) * (j.astype(float) + 1) + d2

    few = points[:700]
    values = plain(vc.pairs(few, 1.0, want="ijD", half=False, sort=True)).reshape(700, 699)
    assert vc.reduce(few, 1.0, huge, each=True).tolist() == [math.fsum(row) for row in values]
    # More pairs than are kept at a time.
    assert vc.reduce(points, 1.0, lambda i, j, d2, v: j, each=True).tolist() == np.bincount(i, weights=j).tolist()

    def not_finite(i, j, d2, v):
        return (np.inf if i == 0 else 1.0), (np.inf if i < j else -np.inf), np.nan, 1 / (d2 - d2)

    rows = vc.reduce(few, 1.0, not_finite, each=True)
    assert rows[0, :2].tolist() == [np.inf, np.inf]
    assert rows[1, 0] == 699
    assert np.isnan(rows[1:-1, 1]).all()
    assert np.isnan(rows[:, 2]).all()
    assert np.isinf(rows[:, 3]).all()


def test_nothing_in_gives_zeros() -> None:
    none = np.zeros((0, 3))
    assert vc.reduce(none, 1.0, energy) == 0.0
    assert vc.reduce(none, 1.0, turned, each=True).shape == (0, 3)
    assert vc.reduce(CLOUD, 0.1, energy, queries=none) == 0.0
    assert vc.reduce([[0.0, 0.0], [5.0, 0.0]], 1.0, energy, each=True).tolist() == [0.0, 0.0]


def test_a_function_that_raises_stops_the_search() -> None:
    # In a process of its own: Numba reports the exception of compiled code as one that cannot be raised.
    code = """
import vicinal as vc
def stops(i, j, d2, v):
    if j == 1:
        raise ValueError("no")
    return 1.0
try:
    vc.reduce([[0.0, 0.0], [1.0, 0.0]], 2.0, stops)
except vc.InputError as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert result.stdout.startswith("function must not raise")
    assert "ValueError: no" in result.stderr


REFUSED = [
    Refusal("no function", lambda: vc.reduce(CLOUD, 0.1, 5), "function", "5"),
    Refusal("builtin", lambda: vc.reduce(CLOUD, 0.1, math.sin), "function", "sin"),
    Refusal("arguments", lambda: vc.reduce(CLOUD, 0.1, lambda i, j: 1.0), "function", "UniTuple"),
    Refusal("not compilable", lambda: vc.reduce(CLOUD, 0.1, lambda i, j, d2, v: d2.no), "function", "no"),
    Refusal("nothing", lambda: vc.reduce(CLOUD, 0.1, lambda i, j, d2, v: None), "function", "none"),
    Refusal("complex", lambda: vc.reduce(CLOUD, 0.1, lambda i, j, d2, v: 1j), "function", "complex128"),
    Refusal("data", lambda: vc.reduce(CLOUD, 0.1, coulomb, data=CHARGES), "data", "ndarray"),
    Refusal("text", lambda: vc.reduce(CLOUD, 0.1, coulomb, data=("a", 1.0)), "data", "<U1"),
    Refusal("ndim", lambda: vc.reduce(CLOUD, 0.1, coulomb, data=(np.zeros((1,) * 4), 1.0)), "data", r"1, 1"),
    Refusal("each", lambda: vc.reduce(CLOUD, 0.1, energy, each=2), "each", "2"),
    Refusal("types", lambda: vc.reduce(CLOUD, 0.1, energy, types=[0]), "types", "one number"),
    Refusal("exclude", lambda: vc.reduce(CLOUD, 0.1, energy, exclude=[[0, -1]]), "exclude", "-1"),
    Refusal("no cutoff", lambda: vc.reduce(CLOUD, None, energy), "cutoff", "none given"),
]


@pytest.mark.parametrize("refusal", REFUSED, ids=str)
def test_invalid_arguments_are_refused(refusal: Refusal) -> None:
    check_refusal(refusal)
