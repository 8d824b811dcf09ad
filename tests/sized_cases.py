"""The hard cases of bodies with size: spheres and boxes that touch, hide inside each other or dwarf all others."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from cases import SIZED, Array, Build, case, chosen, lattice, line, neighbours_of, uniform
from problem import Problem

Generator = np.random.Generator
Space = tuple[float | None, ...] | None


def spheres(points: Array, radii: Any, box: Space = None, **more: Any) -> Problem:
    radii = np.broadcast_to(np.asarray(radii, points.dtype), len(points)).copy()
    return Problem(points, box=box, radii=radii, **more)


def boxes(lower: Array, edges: Any, box: Space = None, **more: Any) -> Problem:
    return Problem(None, box=box, boxes=(lower, lower + np.asarray(edges, lower.dtype)), **more)


def sized(at_least: int = 0) -> Callable[[Build], Build]:
    return case(at_least, SIZED)


def log_uniform(dtype: Any, rng: Generator, n: int, low: float, high: float) -> Array:
    return np.exp(rng.uniform(np.log(low), np.log(high), n)).astype(dtype)


# -------------------------------------------------------------------------------- few spheres


@sized()
def no_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(np.zeros((0, dim), dtype), [])


@sized()
def one_sphere(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 1), 0.5)


@sized(2)
def two_spheres_touching(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(line(dtype, dim, [0, 0.75], axis=dim - 1), [0.25, 0.5])


@sized()
def two_spheres_one_ulp_apart(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(line(dtype, dim, [0, np.nextafter(dtype(0.75), dtype(1))]), [0.25, 0.5])


@sized(12)
def sums_of_radii_that_round(dtype: Any, dim: int, rng: Generator) -> Problem:
    """0.1 + 0.2 next to 0.3, and 0.3 next to both: the sum is rounded before it is squared."""
    x = np.concatenate([[0], neighbours_of([0.3, -0.3], dtype), neighbours_of([0.1], dtype) + dtype(0.2)])
    return spheres(line(dtype, dim, x), np.where(np.arange(len(x)) == 0, 0.1, 0.2))


@sized(100)
def concentric_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    centres = np.repeat(uniform(dtype, dim, rng, 3, -2, 2), 8, axis=0)
    return spheres(centres, np.tile([0, 1e-6, 0.001, 0.25, 0.25, 0.5, 1, 3], 3))


@sized(50)
def coincident_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(np.repeat(uniform(dtype, dim, rng, 6), 5, axis=0), 0.01)


# -------------------------------------------------------------------------------- spheres of many sizes


@sized(100)
def no_radius_at_all(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Only points at the same position are pairs."""
    return spheres(chosen(dtype, dim, rng, 150, [0, 0.5, -1.5, 2]), 0.0)


@sized(100)
def some_without_radius(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 150, -1, 1), np.where(np.arange(150) % 3, 0, 0.3))


@sized(50)
def one_giant_among_small(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = uniform(dtype, dim, rng, 180, -10, 10)
    return spheres(points, np.where(np.arange(180) == 77, 8.0, 0.05))


@sized(100)
def a_giant_outside(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Its centre is far from all others, its surface among them."""
    points = np.concatenate([uniform(dtype, dim, rng, 150), line(dtype, dim, [1000.5])])
    return spheres(points, np.append(np.full(150, 0.02), 1000.0))


@sized(50)
def radii_spread_over_a_million(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 160, -1.5, 1.5), log_uniform(dtype, rng, 160, 1e-6, 1.0))


@sized(20)
def radii_spread_with_neighbors(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Every sphere touches another of the same size exactly."""
    points, radii = uniform(dtype, dim, rng, 60, -9, 9), 2.0 ** rng.integers(-12, 2, 60)
    beside = points.copy()
    beside[np.arange(60), rng.integers(dim, size=60)] += (2 * radii).astype(dtype)
    return spheres(np.concatenate([points, beside]), np.tile(radii, 2))


@sized(100)
def two_sizes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 170, 0, 10), np.where(np.arange(170) % 9, 0.2, 1.5))


@sized(40)
def spheres_growing_along_a_row(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Each twice the one before and touching it: 2**k fits floats exactly."""
    radii = 2.0 ** np.arange(-10, 11)
    return spheres(line(dtype, dim, 3 * radii), radii, growth=1.5)


@sized(100)
def lattice_of_touching_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    ticks = np.arange(-6, 7) if dim == 2 else np.arange(-2, 3)
    return spheres(lattice(dtype, dim, ticks), 0.5)


@sized(100)
def lattice_of_tenths(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = lattice(dtype, dim, np.arange(11 if dim == 2 else 5) * dtype(0.1))
    return spheres(points, rng.choice([0.05, 0.1, 0.15], len(points)))


@sized(100)
def radii_of_a_power_of_two_and_beside(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Sizes at which hierarchies go from one level to the next."""
    radii = neighbours_of([0.125, 0.25, 0.5, 1, 2], dtype)
    return spheres(chosen(dtype, dim, rng, 120, np.arange(-12, 13) * 0.5), rng.choice(radii, 120))


@sized(100)
def spheres_clustered(dtype: Any, dim: int, rng: Generator) -> Problem:
    crowd = rng.normal(0.3, 0.05, (140, dim)).astype(dtype)
    points = np.concatenate([crowd, uniform(dtype, dim, rng, 30, -5, 5)])
    return spheres(points, np.append(np.full(140, 0.02), rng.uniform(0, 1, 30)))


# -------------------------------------------------------------------------------- spheres, large and small numbers


@sized(50)
def spheres_at_huge_coordinates(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = (1e8 + rng.integers(0, 40, (120, dim)) * 2.5e-4).astype(dtype)
    return spheres(np.concatenate([points, points[:40]]), rng.choice([0, 1e-3, 5e-4], 160))


@sized(100)
def radii_of_a_few_last_bits(dtype: Any, dim: int, rng: Generator) -> Problem:
    base = dtype(1e8)
    points = base + rng.integers(-10, 10, (150, dim)).astype(dtype) * np.spacing(base)
    return spheres(points, rng.integers(0, 4, 150) * np.spacing(base))


@sized(50)
def spheres_spread_over_1e12_sizes(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = uniform(dtype, dim, rng, 100, 0, 1)
    points[np.arange(100), rng.integers(dim, size=100)] *= dtype(1e12)
    return spheres(np.concatenate([points, points + dtype(0.25)]), rng.choice([0.2, 0.3, 0.5], 200))


@sized(100)
def a_stray_sphere_very_far_away(dtype: Any, dim: int, rng: Generator) -> Problem:
    away = np.full((1, dim), -1e300 if dtype is np.float64 else -1e30, dtype)
    return spheres(np.concatenate([uniform(dtype, dim, rng, 120), away]), rng.uniform(0, 0.2, 121))


@sized(100)
def extent_of_spheres_overflows(dtype: Any, dim: int, rng: Generator) -> Problem:
    far = np.array([[-0.9] * dim, [0.9] * dim, [0.9] * dim], dtype) * np.finfo(dtype).max
    return spheres(np.concatenate([uniform(dtype, dim, rng, 120), far]), rng.uniform(0, 0.2, 123))


@sized(20)
def square_of_the_diameter_nearly_overflows(dtype: Any, dim: int, rng: Generator) -> Problem:
    r = 6.5e153 if dtype is np.float64 else 9e18
    points = rng.integers(-4, 5, (60, dim)).astype(dtype) * dtype(r / 2)
    return spheres(points, rng.choice([0, 0.5, 1], 60) * r, growth=1.0)


@sized(20)
def squares_of_radii_are_denormal(dtype: Any, dim: int, rng: Generator) -> Problem:
    r = 1e-161 if dtype is np.float64 else 5e-22
    return spheres(uniform(dtype, dim, rng, 120, -4 * r, 4 * r), rng.uniform(0, r, 120))


@sized(20)
def squares_of_radii_vanish(dtype: Any, dim: int, rng: Generator) -> Problem:
    r, limit = (1e-170, 1.6e-162) if dtype is np.float64 else (1e-25, 2.7e-23)
    return spheres(uniform(dtype, dim, rng, 100, -4 * limit, 4 * limit), rng.choice([0, r], 100))


@sized(20)
def denormal_radii(dtype: Any, dim: int, rng: Generator) -> Problem:
    smallest = np.finfo(dtype).smallest_subnormal
    points = np.concatenate([rng.integers(-3, 4, (40, dim)) * smallest, rng.uniform(-1, 1, (20, dim))])
    return spheres(points.astype(dtype), rng.integers(0, 4, 60) * smallest)


# -------------------------------------------------------------------------------- spheres with a skin


@sized(100)
def skin_closes_the_gap(dtype: Any, dim: int, rng: Generator) -> Problem:
    ticks = np.arange(9 if dim == 2 else 5)
    return spheres(lattice(dtype, dim, ticks), 0.375, skin=0.25)


@sized(50)
def skin_of_mixed_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 120, -0.8, 0.8), log_uniform(dtype, rng, 120, 1e-4, 0.3), skin=0.1)


@sized(100)
def skin_of_spheres_without_radius(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 120, -1, 1), 0.0, (1.5,) * dim, skin=0.3)


# -------------------------------------------------------------------------------- periodic spheres


@sized()
def periodic_no_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(np.zeros((0, dim), dtype), [], (2.0,) * dim)


@sized(2)
def one_sphere_and_its_images(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 1, -9, 9), 0.5, (0.45, 1.0, None)[:dim])


@sized(50)
def periodic_mixed_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    box = (1.0, 0.7, 1.3)[:dim]
    return spheres(uniform(dtype, dim, rng, 150, 0, box), log_uniform(dtype, rng, 150, 1e-4, 0.2), box)


@sized(100)
def periodic_giant_larger_than_the_box(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = uniform(dtype, dim, rng, 20, -1, 2)
    return spheres(points, np.where(np.arange(20) == 7, 1.3, 0.02), (1.0, 1.1, 1.2)[:dim], growth=1.5)


@sized(100)
def periodic_giant_of_some_edges(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Radii of exactly a half, one and one and a half edges: every image is a tie."""
    points = chosen(dtype, dim, rng, 10, [0, 0.5, 0.25])
    return spheres(points, rng.choice([0, 0.25, 0.5, 0.75], 10), (0.5,) * dim, growth=1.5)


@sized(100)
def periodic_spheres_on_the_faces(dtype: Any, dim: int, rng: Generator) -> Problem:
    at = neighbours_of([-0.7, 0.0, 0.7, 1.4, 0.35], dtype)
    points = chosen(dtype, dim, rng, 100, np.append(at, [-1e-30, 1e-30]))
    return spheres(points, rng.choice([0, 0.1, 0.175, 0.35], 100), (0.7,) * dim, growth=1.5)


@sized(100)
def periodic_spheres_outside(dtype: Any, dim: int, rng: Generator) -> Problem:
    return spheres(uniform(dtype, dim, rng, 120, -50, 50), rng.uniform(0, 0.15, 120), (0.7, 1.1, 0.9)[:dim])


@sized(50)
def periodic_spheres_far_outside(dtype: Any, dim: int, rng: Generator) -> Problem:
    far = rng.integers(-100000, 100000, (100, dim)) * 0.7 + rng.uniform(0, 0.7, (100, dim))
    return spheres(far.astype(dtype), rng.uniform(0, 0.15, 100), (0.7,) * dim)


@sized(50)
def periodic_slab_of_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = np.concatenate([uniform(dtype, dim, rng, 120, -1, 2), line(dtype, dim, [1e15], axis=dim - 1)])
    return spheres(points, rng.choice([0.01, 0.2], 121), (1.0, 1.0, None)[-dim:])


@sized(50)
def periodic_long_box_of_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = uniform(dtype, dim, rng, 60, -5, [5.0, 2.5, 3.0][:dim])
    return spheres(points, rng.choice([0.01, 0.5, 1.0], 60), (1e6, 2.5, 3.0)[:dim], growth=1.5)


@sized(20)
def periodic_vast_box_of_spheres(dtype: Any, dim: int, rng: Generator) -> Problem:
    points = chosen(dtype, dim, rng, 60, [0, 5e-4, -5e-4, 1e8, 5e7])
    return spheres(points, rng.choice([0, 2.5e-4, 1e-3], 60), (1e8,) * dim)


def _enter_spheres_in_tight_boxes() -> None:
    """Edges of whole numbers of diameters and the floats next to them; centres on fractions of an edge."""

    def entry(ratio: float, side: int) -> Build:
        def build(dtype: Any, dim: int, rng: Generator) -> Problem:
            r = dtype(0.35)
            edge = dtype(ratio) * (r + r)
            if side:
                edge = np.nextafter(edge, dtype(side * np.inf))
            ticks = neighbours_of(np.array([0, 0.25, 0.5, 1], dtype) * edge, dtype)
            n = 5 if ratio < 1 else 16
            points = np.concatenate([chosen(dtype, dim, rng, n, ticks), uniform(dtype, dim, rng, n, -1, 1)])
            box = (float(edge), float(2 * edge), float(edge))[:dim]
            return spheres(points, rng.choice([r, r, r / 2, r / 8, 0], 2 * n), box, growth=1.0)

        return build

    for ratio, side in product([0.5, 1, 2, 3], [-1, 0, 1]):
        position = {-1: "just_below", 0: "of", 1: "just_above"}[side]
        SIZED[f"periodic_edge_{position}_{ratio:g}_diameters"] = entry(ratio, side), 1


_enter_spheres_in_tight_boxes()


# -------------------------------------------------------------------------------- few boxes


@sized()
def no_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(np.zeros((0, dim), dtype), np.zeros((0, dim)))


@sized()
def one_box(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(uniform(dtype, dim, rng, 1), 0.5)


@sized(2)
def two_boxes_with_a_common_corner(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(np.array([[0] * dim, [1] * dim], dtype), 1.0)


@sized()
def two_boxes_one_ulp_apart(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(line(dtype, dim, [0, np.nextafter(dtype(1), dtype(2))], axis=dim - 1), 1.0)


@sized(100)
def boxes_inside_each_other(dtype: Any, dim: int, rng: Generator) -> Problem:
    half = np.array([0, 1e-6, 0.01, 0.25, 0.25, 0.5, 1, 4] * 2, dtype)[:, None]
    centre = np.repeat(np.array([[0.0] * dim, [2.0] * dim], dtype), 8, axis=0)
    return boxes(centre - half, 2 * half)


@sized(50)
def equal_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(np.repeat(uniform(dtype, dim, rng, 6), 5, axis=0), 0.01)


# -------------------------------------------------------------------------------- boxes that touch, flat, long, large


@sized(500)
def bricks_sharing_faces_edges_and_corners(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(lattice(dtype, dim, np.arange(-6, 7) if dim == 2 else np.arange(-2, 3)), 1.0)


@sized(100)
def bricks_of_tenths(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Neighbours share a face in exact arithmetic; in floating point the last bit decides."""
    return boxes(lattice(dtype, dim, np.arange(11 if dim == 2 else 5) * dtype(0.1)), dtype(0.1))


@sized(100)
def boxes_of_no_edge(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Boxes of size 0: only those at the same position are pairs."""
    return boxes(chosen(dtype, dim, rng, 150, [0, 0.5, -1.5, 2, -0.0]), 0.0)


@sized(100)
def plates_and_rods(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Some edges are zero, along any axes."""
    return boxes(chosen(dtype, dim, rng, 150, np.arange(-4, 5)), rng.choice([0, 0, 1, 3], (150, dim)))


@sized(100)
def all_flat_along_one_axis(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = rng.uniform(0, 0.3, (150, dim))
    edges[:, dim - 1] = 0
    lower = uniform(dtype, dim, rng, 150)
    lower[:, dim - 1] = rng.choice([0, 0.5, 1e3], 150)
    return boxes(lower, edges)


@sized(50)
def long_thin_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = np.full((120, dim), 0.4)
    edges[np.arange(120), rng.integers(dim, size=120)] = rng.choice([8, 30], 120)
    return boxes(uniform(dtype, dim, rng, 120, -15 / (dim - 1), 15 / (dim - 1)), edges)


@sized(50)
def long_boxes_side_by_side(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower = uniform(dtype, dim, rng, 120, -1, 1)
    lower[:, 0] *= 50
    return boxes(lower, [40.0, *[0.15] * (dim - 1)])


@sized(50)
def one_giant_among_small_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = np.full((150, dim), 0.1)
    edges[33] = 15
    return boxes(uniform(dtype, dim, rng, 150, -10, 10), edges)


@sized(50)
def edges_spread_over_a_million(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = log_uniform(dtype, rng, 140 * dim, 1e-6, 8.0).reshape(140, dim)
    return boxes(uniform(dtype, dim, rng, 140, -2, 2), edges)


@sized(50)
def edges_of_a_power_of_two_and_beside(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = rng.choice(neighbours_of([0.125, 0.25, 0.5, 1, 2], dtype), (120, dim))
    return boxes(chosen(dtype, dim, rng, 120, np.arange(-9, 10) * 0.5), edges)


@sized(50)
def mixed_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(uniform(dtype, dim, rng, 170, -1, 1), rng.uniform(0, 0.3, (170, dim)))


# -------------------------------------------------------------------------------- boxes, large and small numbers


@sized(50)
def boxes_at_huge_coordinates(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower = (1e8 + rng.integers(0, 40, (120, dim)) * 2.5e-4).astype(dtype)
    return boxes(np.concatenate([lower, lower[:40]]), rng.choice([0, 1e-3, 5e-4], (160, dim)))


@sized(50)
def boxes_spread_over_1e12_sizes(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower = uniform(dtype, dim, rng, 80, 0, 1)
    lower[np.arange(80), rng.integers(dim, size=80)] *= dtype(1e12)
    return boxes(np.concatenate([lower, lower + dtype(0.25)]), rng.choice([0.25, 0.3, 0.5], (160, dim)))


@sized(100)
def extent_of_boxes_overflows(dtype: Any, dim: int, rng: Generator) -> Problem:
    far = np.array([[-0.9] * dim, [0.9] * dim, [0.9] * dim], dtype) * np.finfo(dtype).max
    return boxes(np.concatenate([uniform(dtype, dim, rng, 120), far]), 0.2)


@sized(100)
def a_box_around_everything(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower, edges = uniform(dtype, dim, rng, 120, -1, 1), np.full((120, dim), 0.05)
    lower[60], edges[60] = -1e30, 2e30
    return boxes(lower, edges, growth=1.5)


@sized(20)
def denormal_edges(dtype: Any, dim: int, rng: Generator) -> Problem:
    smallest = np.finfo(dtype).smallest_subnormal
    lower = np.concatenate([rng.integers(-6, 7, (60, dim)) * smallest, rng.uniform(-1, 1, (20, dim))])
    return boxes(lower.astype(dtype), rng.integers(0, 4, (80, dim)) * smallest)


# -------------------------------------------------------------------------------- boxes with a skin


@sized(100)
def skin_closes_the_gap_of_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(lattice(dtype, dim, np.arange(9 if dim == 2 else 5)), 0.75, skin=0.25)


@sized(100)
def skin_of_boxes_across_the_faces(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(uniform(dtype, dim, rng, 100, -1, 2), rng.uniform(0, 0.2, (100, dim)), (1.0,) * dim, skin=0.05)


# -------------------------------------------------------------------------------- periodic boxes


@sized()
def periodic_no_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(np.zeros((0, dim), dtype), np.zeros((0, dim)), (2.0,) * dim)


@sized(2)
def one_box_and_its_images(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(uniform(dtype, dim, rng, 1, -9, 9), [1.0, 0.5, 2.0][:dim], (0.45, 1.0, None)[:dim])


@sized(100)
def periodic_mixed_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    box = (1.0, 0.7, 1.3)[:dim]
    return boxes(uniform(dtype, dim, rng, 150, 0, box), rng.choice([0, 0.01, 0.1, 0.3], (150, dim)), box)


@sized(100)
def periodic_boxes_larger_than_space(dtype: Any, dim: int, rng: Generator) -> Problem:
    edges = np.full((16, dim), 0.05)
    edges[3], edges[5, 0], edges[7, dim - 1] = 1.7, 2.4, 1.1
    return boxes(uniform(dtype, dim, rng, 16, -1, 2), edges, (1.0, 1.1, 1.2)[:dim], growth=1.5)


@sized(100)
def periodic_boxes_of_some_edges(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Exactly half, one and two periods long: boxes touch their own images."""
    return boxes(
        chosen(dtype, dim, rng, 12, [0, 0.5, 0.25, -0.5]),
        rng.choice([0, 0.25, 0.5, 1.0], (12, dim)),
        (0.5,) * dim,
        growth=1.5,
    )


@sized(100)
def periodic_boxes_on_the_faces(dtype: Any, dim: int, rng: Generator) -> Problem:
    at = neighbours_of([-0.7, 0.0, 0.7, 1.4, 0.35], dtype)
    lower = chosen(dtype, dim, rng, 100, np.append(at, [-1e-30, 1e-30]))
    return boxes(lower, rng.choice([0, 0.1, 0.35, 0.7], (100, dim)), (0.7,) * dim, growth=1.5)


@sized(100)
def periodic_bricks(dtype: Any, dim: int, rng: Generator) -> Problem:
    """A tenth does not fit into 0.7 evenly in floats: bricks across the face overlap or miss by a bit."""
    ticks = np.arange(-3, 11) if dim == 2 else np.arange(1, 8)[::2]
    return boxes(lattice(dtype, dim, ticks * dtype(0.1)), dtype(0.1), (0.7,) * dim)


@sized(100)
def periodic_boxes_outside(dtype: Any, dim: int, rng: Generator) -> Problem:
    return boxes(uniform(dtype, dim, rng, 120, -50, 50), rng.uniform(0, 0.3, (120, dim)), (0.7, 1.1, 0.9)[:dim])


@sized(50)
def periodic_boxes_far_outside(dtype: Any, dim: int, rng: Generator) -> Problem:
    """So far out that the upper corner loses its last bits when it moves with the lower one."""
    far = rng.integers(-100000, 100000, (100, dim)) * 0.7 + rng.uniform(0, 0.7, (100, dim))
    return boxes(far.astype(dtype), rng.choice([0, 1e-6, 0.15, 0.3], (100, dim)), (0.7,) * dim)


@sized(50)
def periodic_slab_of_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower = np.concatenate([uniform(dtype, dim, rng, 120, -1, 2), line(dtype, dim, [1e15], axis=dim - 1)])
    return boxes(lower, rng.choice([0.01, 0.3], (121, dim)), (1.0, 1.0, None)[-dim:])


@sized(30)
def periodic_rods_through_the_box(dtype: Any, dim: int, rng: Generator) -> Problem:
    """Exactly a period long, or the floats beside it, and thin across."""
    edges = np.full((20, dim), 0.02)
    edges[np.arange(20), rng.integers(dim, size=20)] = rng.choice(neighbours_of([1.0], dtype), 20)
    return boxes(uniform(dtype, dim, rng, 20), edges, (1.0,) * dim)


@sized(20)
def periodic_vast_box_of_boxes(dtype: Any, dim: int, rng: Generator) -> Problem:
    lower = chosen(dtype, dim, rng, 60, [0, 5e-4, -5e-4, 1e8, 5e7])
    return boxes(lower, rng.choice([0, 5e-4, 1e-3], (60, dim)), (1e8,) * dim)
