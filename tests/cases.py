"""The hard cases: every situation that has ever lost, doubled or invented a pair in some neighbour search."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from oracle import Array, Pairs, exact_pairs
from problem import Problem

BOTH = (np.float32, np.float64)
DIMS = (2, 3)

# Seconds within which another Python has started and searched. In an emulator (make aarch64) on a busy machine it takes
# most of a minute.
START_SECONDS = 600

Build = Callable[[Any, int, np.random.Generator], Problem]
Table = dict[str, tuple[Build, int]]
BUILDERS: Table = {}  # points
SIZED: Table = {}  # spheres and boxes: sized_cases.py


def case(at_least: int = 0, table: Table = BUILDERS) -> Callable[[Build], Build]:
    """Add a builder to a table; `at_least` detects a case that has become trivial."""

    def enter(build: Build) -> Build:
        assert build.__name__ not in BUILDERS.keys() | SIZED.keys()
        table[build.__name__] = build, at_least
        return build

    return enter


def builder(name: str) -> tuple[Build, int]:
    return BUILDERS[name] if name in BUILDERS else SIZED[name]


@cache
def hard_problem(name: str, dtype: Any, dim: int) -> Problem:
    """One hard case."""
    problem = builder(name)[0](dtype, dim, np.random.default_rng(12345))
    for array in (problem.points, problem.radii, *(problem.boxes or ())):
        if array is not None:
            assert array.dtype == dtype
            array.flags.writeable = False
    return problem


@cache
def hard_case(name: str, dtype: Any, dim: int) -> tuple[Problem, Pairs]:
    """One hard case and its pairs."""
    problem = hard_problem(name, dtype, dim)
    expected = exact_pairs(**problem.bodies)
    assert len(expected) >= builder(name)[1], f"{name} has only {len(expected)} pairs"
    return problem, expected


@cache
def hard_queries(name: str, dtype: Any, dim: int) -> tuple[dict[str, Any], Pairs]:
    """The second set of a hard case, and its pairs with the first."""
    problem = hard_problem(name, dtype, dim)
    others = problem.others()
    return others, exact_pairs(**problem.bodies, **others)


def line(dtype: Any, dim: int, x: Any, axis: int = 0) -> Array:
    """Points on one axis."""
    points = np.zeros((len(x), dim), dtype)
    points[:, axis] = x
    return points


def lattice(dtype: Any, dim: int, ticks: Any) -> Array:
    """All combinations of the ticks."""
    return np.array(list(product(np.asarray(ticks, dtype), repeat=dim)), dtype)


def uniform(dtype: Any, dim: int, rng: np.random.Generator, n: int, low: Any = 0.0, high: Any = 1.0) -> Array:
    return rng.uniform(low, high, (n, dim)).astype(dtype)


def chosen(dtype: Any, dim: int, rng: np.random.Generator, n: int, values: Any) -> Array:
    """Points whose every coordinate is one of the values."""
    return rng.choice(np.asarray(values, dtype), (n, dim))


def with_neighbors(points: Array, rng: np.random.Generator, step: Any) -> Array:
    """The points, and for each another one a step away along some axis."""
    neighbors = points.copy()
    neighbors[np.arange(len(points)), rng.integers(points.shape[1], size=len(points))] += points.dtype.type(step)
    return np.concatenate([points, neighbors])


def neighbours_of(values: Any, dtype: Any) -> Array:
    """The values and the next numbers on either side of each."""
    v = np.asarray(values, dtype)
    return np.concatenate([v, np.nextafter(v, dtype(np.inf)), np.nextafter(v, dtype(-np.inf))])


# -------------------------------------------------------------------------------- few points


@case()
def empty(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(np.zeros((0, dim), dtype), 1.0)


@case()
def one(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 1), 1.0)


@case(2)
def two_exactly_at_the_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(line(dtype, dim, [0, dtype(0.1)], axis=dim - 1), 0.1)


@case(2)
def two_one_ulp_within(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(line(dtype, dim, [0, np.nextafter(dtype(0.1), dtype(0))]), 0.1)


@case()
def two_one_ulp_beyond(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(line(dtype, dim, [0, np.nextafter(dtype(0.1), dtype(1))]), 0.1)


@case(100)
def coincident(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(np.repeat(uniform(dtype, dim, rng, 3), 8, axis=0), 0.02)


@case(100)
def coincident_at_cutoff_0(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(
        np.concatenate([np.repeat(uniform(dtype, dim, rng, 3), 8, axis=0), uniform(dtype, dim, rng, 300)]), 0.0
    )


@case(100)
def periodic_coincident_at_cutoff_0(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """Images of a point on the faces coincide with it only after wrapping."""
    faces = chosen(dtype, dim, rng, 30, [0.0, 1.0, -1.0, 0.5])
    return Problem(np.concatenate([faces, uniform(dtype, dim, rng, 200)]), 0.0, (1.0,) * dim)


# -------------------------------------------------------------------------------- cells and faces


@case(10000)
def all_in_one_cell(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 120, 5.0, 5.5), 1.0)


@case(400)
def one_row(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(line(dtype, dim, rng.uniform(-20, 20, 200)), 0.5)


@case(400)
def one_row_along_the_last_axis(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(line(dtype, dim, rng.uniform(-20, 20, 200), axis=dim - 1), 0.5)


@case(100)
def one_row_along_the_diagonal(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(np.repeat(uniform(dtype, 1, rng, 200, -20, 20), dim, axis=1), 0.5)


@case(10000)
def one_full_column(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    crowd = uniform(dtype, dim, rng, 500, 0, [0.9] * (dim - 1) + [8.0])
    return Problem(np.concatenate([crowd, uniform(dtype, dim, rng, 50, 0, 8)]), 1.0)


@case(500)
def grid_spaced_by_the_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(lattice(dtype, dim, np.arange(-8, 9) if dim == 2 else np.arange(-3, 4)), 1.0)


@case(100)
def grid_spaced_by_a_tenth(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(lattice(dtype, dim, np.arange(17 if dim == 2 else 6) * dtype(0.1)), 0.1)


@case(100)
def grid_spaced_by_a_third_of_the_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(lattice(dtype, dim, (np.arange(13 if dim == 2 else 7) - 3) / dtype(3)), 1.0)


@case(100)
def rounding_ties(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """3 · 0.1 next to 0.3: equal in exact arithmetic, decided by the last bit in floating point."""
    return Problem(lattice(dtype, dim, np.arange(-6, 7) * dtype(0.1) if dim == 2 else np.arange(6) * dtype(0.1)), 0.3)


@case(100)
def beside_the_cell_faces(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(chosen(dtype, dim, rng, 250, neighbours_of(np.arange(-3, 4) * dtype(0.7), dtype)), 0.7)


@case(100)
def beside_the_faces_of_thirds(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(chosen(dtype, dim, rng, 250, neighbours_of(np.arange(-6, 7) * dtype(0.7 / 3), dtype)), 0.7)


@case(100)
def neighbors_exactly_at_the_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(with_neighbors(uniform(dtype, dim, rng, 200, -3, 3), rng, dtype(0.37)), 0.37)


@case(10)
def distance_rounds_down_to_the_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """Points just below zero and at the cutoff: further apart than it, until the difference is rounded."""
    tiny = dtype(1e-20) * np.arange(1, 9, dtype=dtype)
    return Problem(line(dtype, dim, np.concatenate([-tiny, [0.75, -2.25, 1.5, -1.5, -0.75, 0]])), 0.75)


@case(100)
def mixed_sign(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    near_zero = chosen(dtype, dim, rng, 60, [1e-30, -1e-30, 0.5, -0.5, 0.0, -0.0, 0.25])
    return Problem(np.concatenate([uniform(dtype, dim, rng, 150, -2, 2), near_zero]), 0.5)


@case(10)
def signed_zeros(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(chosen(dtype, dim, rng, 12, [0.0, -0.0]), 1.0)


# -------------------------------------------------------------------------------- large and small


@case(100)
def neighbouring_floats(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """Coordinates so large that the cutoff is three of their last bits."""
    base = dtype(1e8)
    ulp = np.spacing(base)
    return Problem(base + rng.integers(-10, 10, (200, dim)).astype(dtype) * ulp, float(3 * ulp))


@case(50)
def huge_coordinates_small_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    points = (1e8 + rng.integers(0, 40, (150, dim)) * 2.5e-4).astype(dtype)
    return Problem(np.concatenate([points, points[:40]]), 1e-3)


@case(50)
def spread_over_1e12_cutoffs(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    points = uniform(dtype, dim, rng, 120, 0, 1)
    points[np.arange(120), rng.integers(dim, size=120)] *= dtype(1e12)
    return Problem(with_neighbors(points, rng, 0.5), 0.75)


@case(2)
def spread_over_1e12_cutoffs_on_every_axis(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    points = uniform(dtype, dim, rng, 100, -5e11, 5e11)
    return Problem(np.concatenate([with_neighbors(points, rng, 0.5), points[:1]]), 0.75)


@case(100)
def one_stray_1e15_away(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(np.concatenate([uniform(dtype, dim, rng, 150), np.full((1, dim), 1e15, dtype)]), 0.2)


@case(100)
def one_stray_very_far_away(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    away = np.full((1, dim), -1e300 if dtype is np.float64 else -1e30, dtype)
    return Problem(np.concatenate([uniform(dtype, dim, rng, 150), away]), 0.2)


@case(100)
def extent_overflows(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    far = np.array([[-0.9] * dim, [0.9] * dim, [0.9] * dim], dtype) * np.finfo(dtype).max
    return Problem(np.concatenate([uniform(dtype, dim, rng, 150), far]), 0.2)


@case(20)
def square_of_the_cutoff_nearly_overflows(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    r = 1.3e154 if dtype is np.float64 else 1.8e19
    return Problem(rng.integers(-4, 5, (60, dim)).astype(dtype) * dtype(r / 2), r)


@case(100)
def denormal_coordinates(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    smallest = np.finfo(dtype).smallest_subnormal
    return Problem(rng.integers(-9, 10, (60, dim)).astype(dtype) * smallest, 1.0)


@case(20)
def square_of_the_cutoff_is_denormal(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """r·r keeps only a few bits, so distances up to several per cent above r are within it."""
    r = 1e-161 if dtype is np.float64 else 5e-22
    return Problem(uniform(dtype, dim, rng, 200, -6 * r, 6 * r), r)


@case(20)
def square_of_the_cutoff_is_zero(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """r·r is 0, and so is the square of every separation below 1e-162 (2.6e-23): those are the pairs."""
    r, limit = (1e-170, 1.6e-162) if dtype is np.float64 else (1e-25, 2.7e-23)
    clump = rng.integers(-5, 6, (40, dim)).astype(dtype) * dtype(r)
    return Problem(np.concatenate([clump, uniform(dtype, dim, rng, 100, -4 * limit, 4 * limit)]), r)


@case(4)
def corners_whose_squares_vanish(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """Nearly 0.7 roots of the smallest number apart on every axis: each square is 0, and so is their sum."""
    third = np.sqrt(float(np.finfo(dtype).smallest_subnormal)) / 3
    points = np.array([[0.0] * dim, [0.99] * dim, [3.02] * dim, [1.98] * dim, [4.01] * dim]) * third
    return Problem(points.astype(dtype), 1e-170 if dtype is np.float64 else 1e-25)


@case(20)
def smallest_cutoff(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    smallest = np.finfo(dtype).smallest_subnormal
    clump = rng.integers(-3, 4, (40, dim)).astype(dtype) * smallest
    return Problem(np.concatenate([clump, uniform(dtype, dim, rng, 20, -1, 1)]), float(smallest))


# -------------------------------------------------------------------------------- uneven


@case(1000)
def clustered(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """90 % of the points in 1 % of the volume."""
    side = 0.01 ** (1 / dim)
    crowd = uniform(dtype, dim, rng, 540, 0.3, 0.3 + side)
    return Problem(rng.permutation(np.concatenate([crowd, uniform(dtype, dim, rng, 60)])), 0.03 if dim == 2 else 0.05)


@case(1000)
def two_clusters_far_apart(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    here, there = uniform(dtype, dim, rng, 150), uniform(dtype, dim, rng, 150) + dtype(1e5)
    return Problem(rng.permutation(np.concatenate([here, there])), 0.3)


@case(1000)
def plane_with_a_tower(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    plane = uniform(dtype, dim, rng, 400, 0, [10.0] * (dim - 1) + [0.01])
    tower = uniform(dtype, dim, rng, 200, 0, [0.3] * (dim - 1) + [100.0])
    return Problem(np.concatenate([plane, tower]), 0.8)


@case(1000)
def uniform_cloud(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 1000, -1, 1), 0.1 if dim == 2 else 0.2)


# -------------------------------------------------------------------------------- periodic


@case()
def periodic_empty(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(np.zeros((0, dim), dtype), 1.0, (2.0,) * dim)


@case()
def periodic_one(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 1), 0.5, (2.0,) * dim)


@case(1000)
def periodic_cloud(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    box = (1.0, 0.7, 1.3)[:dim]
    return Problem(uniform(dtype, dim, rng, 500, 0, box), 0.11, box)


@case(100)
def periodic_faces(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """Points exactly at 0 and at L, beside them, and one edge further on either side."""
    at = neighbours_of([-0.7, 0.0, 0.7, 1.4, 0.35], dtype)
    return Problem(chosen(dtype, dim, rng, 100, np.append(at, [-1e-30, 1e-30])), 0.2, (0.7,) * dim)


@case(100)
def periodic_grid_on_the_faces(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(lattice(dtype, dim, np.arange(-4, 5)[:: dim - 1]), 1.0, (4.0,) * dim)


@case(100)
def periodic_tenths(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    ticks = rng.permutation(np.arange(-10, 21))[: 14 if dim == 2 else 6] * dtype(0.01)
    return Problem(lattice(dtype, dim, ticks), 0.03, (0.1,) * dim)


@case(100)
def periodic_points_outside(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 200, -50, 50), 0.15, (0.7, 1.1, 0.9)[:dim])


@case(100)
def periodic_points_far_outside(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    far = rng.integers(-100000, 100000, (150, dim)) * 0.7 + rng.uniform(0, 0.7, (150, dim))
    return Problem(far.astype(dtype), 0.15, (0.7,) * dim)


@case(100)
def periodic_on_the_first_axis_only(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 200, -1, 2), 0.2, (0.9, None, None)[:dim])


@case(100)
def periodic_on_the_last_axis_only(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 200, -1, 2), 0.2, (None, None, 0.9)[-dim:])


@case(100)
def periodic_slab_with_a_stray(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    stray = line(dtype, dim, [1e15], axis=dim - 1)
    return Problem(np.concatenate([uniform(dtype, dim, rng, 200, -1, 2), stray]), 0.2, (1.0, 1.0, None)[-dim:])


@case(100)
def periodic_long_box(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    box = (1e6, 2.5, 3.0)[:dim]
    points = uniform(dtype, dim, rng, 100, 0, [5.0, 2.5, 3.0][:dim])
    points[::2, 0] *= -1
    return Problem(points, 1.0, box)


@case(20)
def periodic_vast_box(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    """1e11 cutoffs along every edge, with pairs across the faces."""
    points = chosen(dtype, dim, rng, 60, [0, 5e-4, -5e-4, 1e8, 5e7])
    return Problem(points, 1e-3, (1e8,) * dim)


@case(1000)
def periodic_cluster_on_the_corner(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    crowd = rng.normal(0, 0.05, (180, dim)).astype(dtype)
    return Problem(np.concatenate([crowd, uniform(dtype, dim, rng, 40)]), 0.06, (1.0,) * dim)


@case(20)
def periodic_denormal_square(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    r = 1e-161 if dtype is np.float64 else 5e-22
    return Problem(uniform(dtype, dim, rng, 60, 0, 4 * r), r, (3.7 * r,) * dim)


@case(2)
def one_body_and_its_images(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
    return Problem(uniform(dtype, dim, rng, 1, -9, 9), 1.0, (0.45, 1.0, None)[:dim])


def _enter_boxes_near_the_cutoff() -> None:
    """Edges of exactly 1/2, 1, 2, ... cutoffs and the floats beside them; points on fractions of an edge."""

    def entry(ratio: float, side: int) -> Build:
        def build(dtype: Any, dim: int, rng: np.random.Generator) -> Problem:
            r = dtype(0.7)
            edge = dtype(ratio) * r
            if side:
                edge = np.nextafter(edge, dtype(side * np.inf))
            ticks = neighbours_of(np.array([0, 0.25, 0.5, 1], dtype) * edge, dtype)
            n = 6 if ratio < 1 else 20
            points = np.concatenate([chosen(dtype, dim, rng, n, ticks), uniform(dtype, dim, rng, n, -1, 1)])
            return Problem(points, float(r), (float(edge), float(2 * edge), float(edge))[:dim])

        return build

    for ratio, side in product([0.45, 0.5, 0.75, 1, 1.5, 2, 3, 4], [-1, 0, 1]):
        if side and ratio in {0.45, 0.75, 1.5}:
            continue
        position = {-1: "just_below", 0: "of", 1: "just_above"}[side]
        BUILDERS[f"periodic_edge_{position}_{ratio:g}_cutoffs"] = entry(ratio, side), 1


_enter_boxes_near_the_cutoff()
