"""orient2d and incircle have the sign of the exact value, for every finite double."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest

import triangulations
from vicinal import _core

ROUNDS = 1500
LARGEST, SMALLEST, LEAST_NORMAL = 1.7976931348623157e308, 5e-324, 2.2250738585072014e-308
# Lattice points on one circle: exactly cocircular when multiplied by any power of two.
CIRCLE = [(a, b) for a in range(-65, 66) for b in range(-65, 66) if a * a + b * b == 65 * 65]


def nudge(rng: random.Random, x: float, most: int) -> float:
    """The number itself, or an adjacent one."""
    steps = rng.randint(-most, most)
    for _ in range(abs(steps)):
        x = math.nextafter(x, math.copysign(math.inf, steps))
    return x


def anything(rng: random.Random) -> list[float]:
    return [rng.uniform(-1, 1) for _ in range(8)]


def nearly_on_a_line(rng: random.Random) -> list[float]:
    x, y, dx, dy = (rng.uniform(-10, 10) for _ in range(4))
    at = [rng.uniform(-3, 3) for _ in range(4)]
    return [nudge(rng, v, 2) for t in at for v in (x + t * dx, y + t * dy)]


def nearly_on_a_circle(rng: random.Random) -> list[float]:
    x, y, r = rng.uniform(-3, 3), rng.uniform(-3, 3), 10 ** rng.uniform(-5, 3)
    at = [rng.uniform(0, 7) for _ in range(4)]
    return [nudge(rng, v, 1) for t in at for v in (x + r * math.cos(t), y + r * math.sin(t))]


def on_a_circle(rng: random.Random, low: int = -260, high: int = 250) -> list[float]:
    scale, ox, oy = 2.0 ** rng.randint(low, high), rng.randint(-1000, 1000), rng.randint(-1000, 1000)
    values = [v * scale for a, b in rng.choices(CIRCLE, k=4) for v in (a + ox, b + oy)]
    if rng.random() < 0.5:
        k = rng.randrange(8)
        values[k] = nudge(rng, values[k], 1)
    return values


def on_a_circle_of_any_size(rng: random.Random) -> list[float]:
    return on_a_circle(rng, -1022, 960)


def on_a_circle_beside_something_tiny(rng: random.Random) -> list[float]:
    values = [float(v) for place in rng.choices(CIRCLE, k=4) for v in place]
    return [rng.choice([0.0, 1e-300, -SMALLEST, 1e-60]) if v == 0 else v for v in values]


def on_a_grid(rng: random.Random) -> list[float]:
    return [float(rng.randint(-3, 3)) for _ in range(8)]


def on_a_grid_of_tenths(rng: random.Random) -> list[float]:
    return [0.1 * rng.randint(0, 20) for _ in range(8)]


def limits(rng: random.Random) -> list[float]:
    ends = [0.0, -0.0, SMALLEST, -SMALLEST, LARGEST, -LARGEST, LEAST_NORMAL, 1.0, 2.0**-200, 2.0**201, 2.0**-201]
    return rng.choices(ends, k=8)


def any_exponent(rng: random.Random) -> list[float]:
    return [math.ldexp(rng.uniform(-1, 1), rng.randint(-1074, 1024)) for _ in range(8)]


def some_equal(rng: random.Random) -> list[float]:
    values = [math.ldexp(rng.uniform(-1, 1), rng.randint(-190, 190)) for _ in range(8)]
    return values[:2] * 2 + values[4:] if rng.random() < 0.5 else values


Make = Callable[[random.Random], list[float]]
MAKERS: list[Make] = [
    anything,
    nearly_on_a_line,
    nearly_on_a_circle,
    on_a_circle,
    on_a_circle_of_any_size,
    on_a_circle_beside_something_tiny,
    on_a_grid,
    on_a_grid_of_tenths,
    limits,
    any_exponent,
    some_equal,
]


@pytest.mark.parametrize("make", MAKERS, ids=lambda make: make.__name__)
def test_the_signs_are_those_of_fractions(make: Make) -> None:
    rng = random.Random(make.__name__)
    seen = set()
    for _ in range(ROUNDS):
        v = make(rng)
        a, b, c, d = places = [(v[k], v[k + 1]) for k in range(0, 8, 2)]
        turn, inside = triangulations.orient2d(a, b, c), triangulations.incircle(*places)
        assert _core.orient2d(a, b, c) == turn, places
        assert _core.incircle(a, b, c, d) == inside, places
        seen |= {turn, inside}
    assert {-1, 1} <= seen


@pytest.mark.parametrize("make", [on_a_circle, on_a_circle_of_any_size, on_a_grid, limits])
def test_ties_are_among_the_cases(make: Make) -> None:
    rng = random.Random(1)
    cases = [make(rng) for _ in range(200)]
    assert any(triangulations.incircle(*[(v[k], v[k + 1]) for k in range(0, 8, 2)]) == 0 for v in cases)


def test_the_predicates_change_sign_with_the_order() -> None:
    rng = random.Random(2)
    for make in MAKERS:
        v: Any = make(rng)
        a, b, c, d = [(v[k], v[k + 1]) for k in range(0, 8, 2)]
        assert _core.orient2d(a, b, c) == _core.orient2d(b, c, a) == -_core.orient2d(b, a, c)
        assert _core.incircle(a, b, c, d) == _core.incircle(b, c, a, d) == -_core.incircle(b, a, c, d)
