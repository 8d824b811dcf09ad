"""Sums whose bits do not depend on the order of the terms."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from vicinal import _core

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e300, max_value=1e300)


def sums(columns: np.ndarray) -> np.ndarray:
    return _core.exact_values(_core.exact_sums(np.ascontiguousarray(columns)))


@given(st.lists(finite | st.floats(width=16, allow_nan=False, allow_infinity=False), max_size=50), st.randoms())
def test_a_sum_is_right_and_does_not_depend_on_order(terms: list[float], random: object) -> None:
    (got,) = sums(np.array(terms))
    right = math.fsum(terms)
    assert abs(got - right) <= np.spacing(abs(right))
    mixed = list(terms)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    parts = _core.exact_sums(np.array(mixed[::2])) + _core.exact_sums(np.array(mixed[1::2]))
    assert _core.exact_values(parts)[0] == got


def test_extremes() -> None:
    tiny = 5e-324
    assert sums(np.array([1e308, tiny, -1e308]))[0] == tiny
    assert sums(np.array([[1.0, -1e-300], [2.0, 3.0], [-4.0, -3.0]])).tolist() == [-1.0, -1e-300]
    assert sums(np.array([1.0, np.inf]))[0] == np.inf
    assert sums(np.array([-np.inf, 1.0, -np.inf]))[0] == -np.inf
    assert math.isnan(sums(np.array([np.inf, 1.0, -np.inf]))[0])
    assert math.isnan(sums(np.array([np.nan]))[0])
    assert sums(np.empty(0)).tolist() == [0.0]
