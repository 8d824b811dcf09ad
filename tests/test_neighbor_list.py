"""A list holds every pair at every step, whatever the bodies do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc


def listed(rows: vc.NeighborList) -> set[tuple[int, int]]:
    i = np.repeat(np.arange(len(rows)), np.diff(rows.offsets))
    return set(zip(i.tolist(), rows.neighbors.tolist(), strict=True))


def found(columns: tuple[Any, ...]) -> set[tuple[int, int]]:
    return set(zip(columns[0].tolist(), columns[1].tolist(), strict=True))


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("box", [None, 1.0, (1.0, None, 2.0)])
@pytest.mark.parametrize("skin", [0.0, 0.03, "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sized", [False, True])
def test_a_list_contains_every_pair_while_bodies_move(half: bool, box: Any, skin: Any, dtype: Any, sized: bool) -> None:
    rng = np.random.default_rng(3)
    points = rng.random((400, 3)).astype(dtype)
    radii = rng.uniform(0.02, 0.07, 400).astype(dtype)
    bodies: dict[str, Any] = {"radii": radii} if sized else {"cutoff": 0.12}
    rows = vc.NeighborList(**bodies, skin=skin, half=half, box=box)
    builds = 0
    for step in range(40):
        speed = 0.001 if step % 20 < 12 else 0.02
        points = (points + rng.normal(0, speed, points.shape)).astype(dtype)
        if step % 7 == 3:
            points[rng.integers(400)] = rng.random(3)
        builds += rows.update(points)
        fresh = vc.pairs(points, **bodies, box=box, half=half, sort=True)
        assert found(fresh) <= listed(rows)
        for mine, theirs in zip(rows.exact(), fresh, strict=True):
            assert np.array_equal(mine, theirs)
    assert rows.stats.builds == builds
    assert builds == 40 if skin == 0.0 else 1 < builds < 40


def test_rows_are_those_of_a_search_with_the_skin() -> None:
    points = np.random.default_rng(0).random((3000, 3))
    rows = vc.NeighborList(cutoff=0.1, skin=0.05)
    rows.update(points)
    i, j = vc.pairs(points, cutoff=0.1 + 0.05, sort=True)
    assert rows.offsets.dtype == np.int64
    assert rows.neighbors.dtype == np.int32
    assert np.array_equal(np.repeat(np.arange(3000), np.diff(rows.offsets)), i)
    assert np.array_equal(rows.neighbors, j)
