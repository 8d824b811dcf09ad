"""Sorted rows: every length of row, every instruction set, rows of one piece and of several."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import vicinal as vc
from vicinal import _core

pytestmark = pytest.mark.usefixtures("isa")
every_isa = pytest.mark.parametrize("name", vc.info()["isa_available"])

# Groups of coincident bodies: the row of each has one entry less than its group. The largest groups need several tiles
# of candidates.
SIZES = [*range(1, 70), 100, 127, 128, 129, 130, 137, 200, 256, 257, 258, 300, 513, 1025, 1100, 2500]


Rows = tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]  # offsets and indices


@cache
def groups() -> tuple[npt.NDArray[np.float32], Rows, Rows]:
    """Return points in groups far from each other, in random order, and their full and half rows."""
    group = np.random.default_rng(1).permutation(np.repeat(np.arange(len(SIZES)), SIZES))
    centers = np.stack([group % 10, group // 10 % 10, group // 100], axis=1).astype(np.float32)
    members = [np.flatnonzero(group == k).astype(np.int32) for k in range(len(SIZES))]  # ascending
    full = [members[group[i]][members[group[i]] != i] for i in range(len(group))]
    return centers, rows_of(full), rows_of([row[row > i] for i, row in enumerate(full)])


def rows_of(rows: list[npt.NDArray[np.int32]]) -> Rows:
    return np.cumsum([0, *map(len, rows)]), np.concatenate(rows)


def assert_rows(offsets: Any, indices: Any, expected: Rows) -> None:
    np.testing.assert_array_equal(offsets, expected[0])
    np.testing.assert_array_equal(indices, expected[1])


@every_isa
@pytest.mark.parametrize("box", [None, 10.0])
def test_rows_of_every_length_are_sorted(name: str, box: float | None) -> None:
    _core.set_isa(name)
    points, full, half = groups()
    assert len(points) == sum(SIZES)
    rows = vc.neighbors(points, cutoff=0.1, box=box, sort=True)
    assert_rows(rows.offsets, rows.indices, full)
    unsorted = vc.neighbors(points, cutoff=0.1, box=box)
    np.testing.assert_array_equal(unsorted.offsets, rows.offsets)
    assert all(np.array_equal(np.sort(unsorted[k]), rows[k]) for k in range(0, len(rows), 7))
    i, j = vc.pairs(points, cutoff=0.1, box=box, sort=True)
    np.testing.assert_array_equal(i, np.repeat(np.arange(len(points)), np.diff(half[0])))
    assert_rows(np.searchsorted(i, np.arange(len(points) + 1)), j, half)
    for wanted, kept in ((half, True), (full, False)):
        lists = vc.NeighborList(cutoff=0.1, skin=0.1, half=kept, box=box)
        lists.update(points)
        assert_rows(lists.offsets, lists.indices, wanted)


@every_isa
@pytest.mark.parametrize("structure", ["CellSorting", "HashGrid", "Octree"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sorted_rows_are_the_unsorted_ones_in_order(name: str, structure: str, dtype: type) -> None:
    _core.set_isa(name)
    rng = np.random.default_rng(5)
    # A dense corner in a sparse periodic box: rows through several images, and of very different lengths.
    points = np.concatenate([rng.random((3000, 3)), rng.random((700, 3)) * 0.05]).astype(dtype)
    rng.shuffle(points)
    index = getattr(vc, structure)(points, cutoff=0.08, box=1.0)
    loose, tight = index.neighbors(), index.neighbors(sort=True)
    np.testing.assert_array_equal(loose.offsets, tight.offsets)
    assert tight.offsets[-1] > 100 * 700
    owners = np.repeat(np.arange(len(points)), tight.counts)
    np.testing.assert_array_equal(loose.indices[np.lexsort((loose.indices, owners))], tight.indices)
    i, j = index.pairs(sort=True)
    above = tight.indices > owners
    np.testing.assert_array_equal(i, owners[above])
    np.testing.assert_array_equal(j, tight.indices[above])


@every_isa
@pytest.mark.parametrize("structure", ["LinkedCells", "CellSorting"])
def test_rows_of_dense_cells_are_sorted(name: str, structure: str) -> None:
    """With many bodies per cell, candidates are sorted instead of rows."""
    _core.set_isa(name)
    rng = np.random.default_rng(9)
    cloud = rng.random((1500, 3))
    lattice = np.stack(np.meshgrid(*[np.arange(12)] * 3), axis=-1).reshape(-1, 3) / 12  # float32 cannot decide its ties
    for dtype, box in ((np.float32, None), (np.float64, 1.0), (np.float64, None), (np.float32, 1.0)):
        points = rng.permutation(cloud).astype(dtype)
        bodies: list[dict[str, Any]] = [
            {"points": points, "cutoff": 0.25},
            {"points": rng.permutation(lattice).astype(dtype), "cutoff": 0.25},
            {"points": points[:, :2].copy(), "cutoff": 0.15},
            {"points": points, "radii": rng.random(len(points)) * 0.12},
            {"boxes": (points, points + 0.2)},
        ]
        for given in bodies:
            index = getattr(vc, structure)(**given, box=box)
            loose, tight = index.neighbors(), index.neighbors(sort=True)
            np.testing.assert_array_equal(loose.offsets, tight.offsets)
            owners = np.repeat(np.arange(len(tight)), tight.counts)
            order = np.lexsort((loose.indices, owners))
            np.testing.assert_array_equal(loose.indices[order], tight.indices)
            i, j = index.pairs(sort=True)
            above = tight.indices > owners
            np.testing.assert_array_equal(i, owners[above])
            np.testing.assert_array_equal(j, tight.indices[above])
