"""Exhaustive: every pair is a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 65, 1000])
@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_unordered_pair_is_one_candidate(n: int, dim: int, dtype: Any) -> None:
    index = vc.Exhaustive(np.random.default_rng(n).random((n, dim)).astype(dtype), cutoff=0.1)
    index.pairs()
    assert index.stats.candidates == n * (n - 1) // 2


def test_every_point_is_a_candidate_of_every_query() -> None:
    rng = np.random.default_rng(3)
    index = vc.Exhaustive(rng.random((300, 3)), cutoff=0.1)
    index.pairs(queries=rng.random((50, 3)))
    assert index.stats.candidates == 300 * 50
