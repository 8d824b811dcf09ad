"""Nearest points, histograms, components and chunks in tilted cells, against pairs, which the contract suite tests."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc

CELLS = {
    "hexagonal": [[1.0, 0.0, 0.0], [-0.5, 0.75**0.5, 0.0], [0.0, 0.0, 1.6]],
    "very tilted": [[1.0, 0.0, 0.0], [3.7, 1.1, 0.0], [-2.2, 1.9, 0.9]],
    "left-handed": [[0.0, 1.0, 0.2], [1.1, 0.1, 0.0], [0.3, 0.0, 1.2]],
    "thin": [[4.0, 0.3, 0.0], [0.0, 0.2, 0.1], [0.5, 0.0, 3.0]],
    "plane": [[1.0, 0.2], [-0.6, 0.8]],
}


@pytest.fixture(params=CELLS)
def system(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    cell = np.array(CELLS[request.param])
    points = np.random.default_rng(4).normal(size=(90, len(cell))) @ cell
    return points, cell


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("open_edge", [False, True])
def test_nearest_points_are_the_nearest_of_all_pairs(system: Any, dtype: Any, open_edge: bool) -> None:
    points, cell = system[0].astype(dtype), system[1]
    periodic = [True] * (len(cell) - 1) + [not open_edge]
    k = 7
    for queries in (None, points[::3] + dtype(0.05)):
        d, j = vc.nearest(points, k, box=cell, periodic=periodic, queries=queries)
        reach = float(d[np.isfinite(d)].max()) * 1.01
        rows = vc.neighbors(points, reach, box=cell, periodic=periodic, queries=queries, want="jd")
        for row, (near, found) in enumerate(zip(d, j, strict=True)):
            distances = rows.distances[rows.offsets[row] : rows.offsets[row + 1]]
            order = np.lexsort((rows[row], distances))[:k]
            assert np.array_equal(near, distances[order])
            # Equal roots may have different squares, so that numbers are compared where distances differ.
            clear = np.append(np.diff(near) > 0, False) & np.insert(np.diff(near) > 0, 0, True)
            assert np.array_equal(found[clear], rows[row][order][clear])
    index = vc.BVH(points, 0.3, box=cell, periodic=periodic)
    assert all(
        np.array_equal(a, b)
        for a, b in zip(index.nearest(k), vc.nearest(points, k, box=cell, periodic=periodic), strict=True)
    )


def test_histograms_components_and_chunks_are_those_of_the_pairs(system: Any) -> None:
    points, cell = system
    cutoff = 0.35
    i, j, d = vc.pairs(points, cutoff, box=cell, want="ijd", sort=True)
    edges = np.linspace(0, cutoff, 6)
    assert np.array_equal(vc.histogram(points, edges, box=cell), np.histogram(d, edges)[0])
    labels = vc.components(points, 0.2, box=cell)
    one, two = vc.pairs(points, 0.2, box=cell)
    assert (labels[one] == labels[two]).all()
    joined = np.arange(len(points))
    for _ in range(len(points)):
        np.minimum.at(joined, one, joined[two])
        np.minimum.at(joined, two, joined[one])
    assert len(np.unique(joined)) == labels.max() + 1
    parts = list(vc.pairs(points, cutoff, box=cell, chunks=50))
    together = np.sort(np.stack([np.concatenate(column) for column in zip(*parts, strict=True)]), axis=0)
    assert np.array_equal(together[:, np.lexsort(together[::-1])], np.stack([i, j])[:, np.lexsort((j, i))])
