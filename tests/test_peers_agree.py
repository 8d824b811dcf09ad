"""A second opinion: SciPy's k-d tree on larger sets, ASE on cells smaller than the cutoff."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import vicinal as vc
from structures import STRUCTURES

if TYPE_CHECKING:
    from oracle import Array

N = 30_000


def uniform() -> tuple[Array, float]:
    return np.random.default_rng(20).random((N, 3)), 0.045


def clustered() -> tuple[Array, float]:
    """90 % of the points in 1 % of the volume."""
    rng = np.random.default_rng(21)
    crowd = 0.4 + rng.random((N * 9 // 10, 3)) * 0.01 ** (1 / 3)
    return rng.permutation(np.concatenate([crowd, rng.random((N // 10, 3))])), 0.0105


def flat() -> tuple[Array, float]:
    return np.random.default_rng(22).random((N, 2)), 0.0095


CLOUDS = {"uniform": uniform, "clustered": clustered, "flat": flat}
fast = [structure for structure in STRUCTURES if structure.name != "Exhaustive"]


def numbered(i: Any, j: Any) -> Array:
    """Unordered pairs as sorted numbers."""
    return np.sort(np.minimum(i, j).astype(np.int64) * N + np.maximum(i, j))


@pytest.mark.parametrize("box", [None, 1.0], ids=["open", "periodic"])
@pytest.mark.parametrize("cloud", CLOUDS)
def test_scipy_finds_the_same_pairs(cloud: str, box: float | None) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    points, cutoff = CLOUDS[cloud]()
    tree = spatial.cKDTree(points, boxsize=box)
    expected = numbered(*tree.query_pairs(cutoff, output_type="ndarray").T)
    assert len(expected) > 100_000
    assert np.array_equal(numbered(*vc.pairs(points, cutoff=cutoff, box=box)), expected)
    for structure in fast:
        if not structure.lives_in(points.shape[1], [box]):
            continue
        pairs = structure.build(points, cutoff=cutoff, box=box).pairs()
        assert np.array_equal(numbered(*pairs), expected), f"{structure} differs"


@pytest.mark.parametrize("box", [None, 1.0], ids=["open", "periodic"])
def test_scipy_finds_the_same_neighbours_of_queries(box: float | None) -> None:
    spatial = pytest.importorskip("scipy.spatial")
    points, cutoff = uniform()
    queries = np.random.default_rng(23).random((N // 10, 3))
    near = spatial.cKDTree(points, boxsize=box).query_ball_point(queries, cutoff, return_sorted=True)
    rows = vc.neighbors(points, cutoff=cutoff, box=box, queries=queries, sort=True)
    assert np.array_equal(rows.counts, [len(row) for row in near])
    assert np.array_equal(rows.indices, np.concatenate(near))


@pytest.mark.parametrize("periodic", [(True, True, True), (True, False, True), (False, False, True)])
@pytest.mark.parametrize("cutoff", [0.4, 0.9, 1.7, 2.7])
def test_ase_finds_the_same_images(periodic: tuple[bool, ...], cutoff: float) -> None:
    ase = pytest.importorskip("ase")
    neighborlist = pytest.importorskip("ase.neighborlist")
    rng = np.random.default_rng(24)
    lengths = (1.0, 1.3, 0.8)
    for n in (1, 2, 17):
        points = rng.uniform(-2, 3, (n, 3))
        atoms = ase.Atoms(f"H{n}", positions=points, cell=lengths, pbc=periodic)
        i, j, S = neighborlist.neighbor_list("ijS", atoms, cutoff)
        order = np.lexsort((*S.T[::-1], j, i))
        box = tuple(length if on else None for length, on in zip(lengths, periodic, strict=True))
        for structure in STRUCTURES:
            if not structure.periodic:
                continue
            pairs = structure.build(points, cutoff=cutoff, box=box).pairs(want="ijS", half=False, sort=True)
            for ours, theirs in zip(pairs, (i[order], j[order], S[order]), strict=True):
                assert np.array_equal(ours, theirs), f"{structure} differs"
