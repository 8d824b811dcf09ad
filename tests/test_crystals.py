"""Perfect lattices with the cutoff at a shell distance: every pair of a shell is a tie, and rounding decides it.

In float64 most pairs are tested in float32 first; all ties lie in the band and are tested again in float64.
"""

from __future__ import annotations

from itertools import product

import numpy as np
import numpy.typing as npt
import pytest

import vicinal as vc
from compare import ask, assert_same_half, assert_same_pairs
from oracle import exact_pairs
from vicinal import _core

pytestmark = pytest.mark.usefixtures("isa")
every_isa = pytest.mark.parametrize("name", vc.info()["isa_available"])

BASES = {
    "sc": [(0.0, 0.0, 0.0)],
    "bcc": [(0.0, 0.0, 0.0), (0.5, 0.5, 0.5)],
    "fcc": [(0.0, 0.0, 0.0), (0.0, 0.5, 0.5), (0.5, 0.0, 0.5), (0.5, 0.5, 0.0)],
}
# Squared distances of shells, in units of the edge of the cubic cell.
SHELLS = {"sc": (1.0, 2.0, 3.0), "bcc": (0.75, 1.0, 2.0), "fcc": (0.5, 1.0, 1.5)}


def lattice(kind: str, cells: int, edge: float) -> npt.NDArray[np.float64]:
    corners = np.array(list(product(range(cells), repeat=3)), dtype=np.float64)
    points = (corners[:, None, :] + np.array(BASES[kind])[None]).reshape(-1, 3) * edge
    return points[np.random.default_rng(3).permutation(len(points))]


def cutoffs(kind: str, edge: float) -> list[float]:
    """Return every shell distance, and the numbers just below and just above it."""
    shells = [float(np.sqrt(square)) * edge for square in SHELLS[kind]]
    return [r if to is None else float(np.nextafter(r, to)) for r in shells for to in (0.0, None, np.inf)]


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("periodic", [False, True])
def test_ties_are_decided_by_the_exact_test(kind: str, periodic: bool) -> None:
    cells, edge = 4, 3.615
    points = lattice(kind, cells, edge)
    box = cells * edge if periodic else None
    seen = set()
    for cutoff in cutoffs(kind, edge):
        expected = exact_pairs(points, cutoff, box=box)
        half = expected.half()
        for name in vc.info()["isa_available"]:
            _core.set_isa(name)
            index = vc.CellSorting(points, cutoff=cutoff, box=box)
            assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), expected)
            assert_same_half(ask(index.pairs, "points"), expected)
            # Ids alone take another code path than ids with distances.
            rows = index.neighbors(sort=True)
            np.testing.assert_array_equal(rows.counts, np.bincount(expected.i, minlength=len(points)), name)
            np.testing.assert_array_equal(rows.indices, expected.j, name)
            np.testing.assert_array_equal(index.count(), rows.counts, name)
            i, j = index.pairs()
            assert sorted(zip(*np.sort([i, j], axis=0).tolist(), strict=True)) == sorted(
                zip(half.i.tolist(), half.j.tolist(), strict=True)
            ), name
        seen.add(len(expected))
    assert len(seen) > len(SHELLS[kind])  # cutoffs around a shell distance give different numbers of pairs


@every_isa
def test_spheres_that_just_touch(name: str) -> None:
    _core.set_isa(name)
    points = lattice("sc", 7, 0.1)
    for radius in (0.05, float(np.nextafter(0.05, 0.0)), float(np.nextafter(0.05, 1.0))):
        radii = np.full(len(points), radius)
        index = vc.CellSorting(points, radii=radii)
        assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), exact_pairs(points, None, radii=radii))


# From some tens of queries with ties in a row on, tiles are tested in float64 at once.
EDGE, NEAREST = 3.615, float(np.sqrt(0.5)) * 3.615


@pytest.mark.parametrize("periodic", [False, True])
def test_structures_agree_on_a_crystal(periodic: bool) -> None:
    points = lattice("fcc", 6, EDGE)
    box = 6 * EDGE if periodic else None
    radii = np.full(len(points), NEAREST / 2)
    for bodies, expected in (
        ({"cutoff": NEAREST}, exact_pairs(points, NEAREST, box=box)),
        ({"radii": radii}, exact_pairs(points, None, radii=radii, box=box)),
    ):
        counts = np.bincount(expected.i, minlength=len(points))
        for structure in ("BVH", "CellSorting", "HashGrid", "LinkedCells", "Octree", "SpatialHash", "SweepAndPrune"):
            index = getattr(vc, structure)(points, box=box, **bodies)
            assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), expected)
            assert_same_half(ask(index.pairs, "points"), expected.half())
            np.testing.assert_array_equal(index.count(), counts, structure)
            rows = index.neighbors(sort=True)
            np.testing.assert_array_equal(rows.indices, expected.j, structure)


@every_isa
def test_an_index_of_a_crystal_follows_its_points(name: str) -> None:
    _core.set_isa(name)
    points = lattice("fcc", 6, EDGE)
    index = vc.CellSorting(points, cutoff=NEAREST)
    index.pairs()
    for moved in (points + 0.3, points * (1 + 1e-15), points[::-1].copy()):
        index.update(moved)
        assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), exact_pairs(moved, NEAREST))


def test_a_crystal_in_a_gas_and_queries_on_its_places() -> None:
    crystal = lattice("fcc", 6, EDGE)
    gas = np.random.default_rng(4).random((1000, 3)) * 6 * EDGE + [6 * EDGE, 0, 0]
    points = np.concatenate([crystal, gas])
    queries = np.concatenate([crystal[:700] + np.array([0.5, 0.5, 0]) * EDGE, gas[:300]])
    expected, crossed = exact_pairs(points, NEAREST), exact_pairs(points, NEAREST, queries=queries)
    for threads in (1, 3):
        with vc.threads(threads):
            index = vc.LinkedCells(points, cutoff=NEAREST)
            assert_same_pairs(ask(index.pairs, "points", half=False, sort=True), expected)
            assert_same_pairs(ask(index.pairs, "points", queries=queries, sort=True), crossed)
