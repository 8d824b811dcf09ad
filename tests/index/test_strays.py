"""A few stray bodies far away: the pairs are exact, and all other bodies are searched as if there were no strays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH, DIMS
from compare import ask, assert_same_pairs
from oracle import Pairs
from structures import STRUCTURES

N = 3000
CUTOFF = 0.08
FAR = 1e9
SPARSE = [s for s in STRUCTURES if s.name != "Exhaustive"]
# Not those with many bodies per bin on purpose: there the size of bins is at the limit with or without a stray.
CROWDED = {"HashGrid_folded", "PublishedHashGrid_cube", "SpatialHash_crowded"}
PROPOSING = [s for s in SPARSE if str(s) not in CROWDED]


def cloud(dim: int, dtype: Any) -> Any:
    return np.random.default_rng(dim).random((N, dim)).astype(dtype)


def strays(dim: int, dtype: Any) -> Any:
    """Strays that form pairs far away, at one position, and at the border of the space of most bodies."""
    signs = np.array([1.0, -1.0, 1.0])[:dim]
    near = np.linspace(1.0, 6.0, 9)[:, None] * np.ones(dim)
    pair = np.array([FAR * signs, FAR * signs, 100.0 * signs, 100.0 * signs + 0.05 * CUTOFF])
    return np.concatenate([pair, near]).astype(dtype)


def sizes_of(kind: str, count: int, dtype: Any) -> Any:
    return (
        (0.5 * CUTOFF * np.random.default_rng(7).uniform(0.2, 1.0, count)).astype(dtype) if kind != "points" else None
    )


def bodies_of(kind: str, places: Any) -> dict[str, Any]:
    sizes = sizes_of(kind, len(places), places.dtype)
    if kind == "points":
        return {"points": places, "cutoff": CUTOFF}
    if kind == "spheres":
        return {"points": places, "radii": sizes}
    return {"boxes": (places, places + sizes[:, None])}


@dataclass(frozen=True)
class Moment:
    """Bodies, their pairs, and the number of pairs of each, by testing all pairs."""

    bodies: dict[str, Any]
    pairs: Pairs
    counts: Any


@cache
def moments(kind: str, dim: int, dtype: Any) -> list[Moment]:
    """A cloud with strays, and the same after a step in which a stray returns and another body leaves."""
    before = np.concatenate([strays(dim, dtype), cloud(dim, dtype)])
    after = before + dtype(0.01 * CUTOFF)
    after[0], after[-1] = after[-1], after[0] + dtype(1.0)
    found = []
    for places in (before, after):
        bodies = bodies_of(kind, places)
        every = vc.Exhaustive(**bodies)
        found.append(Moment(bodies, ask(every.pairs, kind, sort=True), every.count()))
    return found


@pytest.mark.parametrize("structure", SPARSE, ids=str)
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
def test_pairs_with_strays_are_those_of_all_pairs(structure: Any, dtype: Any) -> None:
    for dim in structure.dims:
        for kind in structure.kinds:
            before, after = moments(kind, dim, dtype)
            index = structure.build(**before.bodies, **({} if kind == "points" else {"size": CUTOFF}))
            assert_same_pairs(ask(index.pairs, kind, sort=True), before.pairs)
            assert np.array_equal(index.count(), before.counts)
            index.update(**{k: v for k, v in after.bodies.items() if k != "cutoff"})
            assert_same_pairs(ask(index.pairs, kind, sort=True), after.pairs)
            assert np.array_equal(index.count(), after.counts)


@pytest.mark.parametrize("structure", SPARSE, ids=str)
def test_queries_far_out_find_strays(structure: Any) -> None:
    for dim in structure.dims:
        places = np.concatenate([strays(dim, np.float64), cloud(dim, np.float64)])
        queries = places[::-1] + 0.3 * CUTOFF
        index = structure.build(points=places, cutoff=CUTOFF)
        every = vc.Exhaustive(places, cutoff=CUTOFF)
        expected = ask(every.pairs, "points", queries=queries, sort=True)
        assert_same_pairs(ask(index.pairs, "points", queries=queries, sort=True), expected)


@pytest.mark.parametrize("structure", PROPOSING, ids=str)
@pytest.mark.parametrize("far", [1e3, FAR, 1e15])
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
def test_a_stray_adds_few_candidates(structure: Any, far: float, dtype: Any) -> None:
    for dim in structure.dims:
        places = cloud(dim, dtype)
        without = structure.build(points=places, cutoff=CUTOFF)
        without.pairs()
        stray = (far * np.array([[1.0, -1.0, 1.0]])[:, :dim]).astype(dtype)
        index = structure.build(points=np.concatenate([places, stray]), cutoff=CUTOFF)
        index.pairs()
        assert index.stats.candidates <= 1.3 * without.stats.candidates


@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@pytest.mark.parametrize("far", [1e3, FAR, 1e15])
def test_a_stray_does_not_widen_the_strips_of_a_sweep(dim: int, far: float) -> None:
    """The overlaps of all axes are found strip by strip; with one strip every pair along an axis would be compared."""
    places = cloud(dim, np.float64)
    stray = far * np.array([[1.0, -1.0, 1.0]])[:, :dim]
    compared = [
        vc.SweepAndPrune(bodies, cutoff=CUTOFF).stats.details["compared"]
        for bodies in (places, np.concatenate([places, stray]))
    ]
    assert compared[1] <= 1.3 * compared[0]


def test_a_stray_does_not_choose_the_axis_of_a_sweep() -> None:
    """Bodies in a layer overlap the fewest others along its long sides, wherever a stray is."""
    layer = cloud(3, np.float64) * [1e-3, 1.0, 1e-3]
    for bodies in (layer, np.concatenate([[[FAR, 0.0, 0.0]], layer])):
        assert vc.SweepAndPrune(bodies, cutoff=CUTOFF, axes="one").stats.details["axis"] == 1


@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
def test_a_stray_does_not_change_the_cells_of_a_hash_grid(dim: int) -> None:
    places = cloud(dim, np.float64)
    stray = np.full((1, dim), FAR)
    cells = [
        vc.HashGrid(bodies, cutoff=1e-3).stats.details["cell_0"] for bodies in (places, np.concatenate([places, stray]))
    ]
    assert cells[1] == pytest.approx(cells[0], rel=0.5)


@pytest.mark.parametrize("structure", [s for s in PROPOSING if s.name in {"BVH", "CellSorting", "HashGrid"}], ids=str)
def test_a_stray_does_not_prevent_tests_in_float32(structure: Any) -> None:
    """Coordinates are kept in float32 if the frame is small enough, otherwise in float64, which takes more memory."""
    places = cloud(3, np.float64)
    stray = np.array([[FAR, -FAR, FAR]])
    sizes = [
        structure.build(points=bodies, cutoff=CUTOFF).stats.bytes
        for bodies in (places, np.concatenate([places, stray]))
    ]
    assert sizes[1] < 1.1 * sizes[0]


def test_the_structure_chosen_tests_few_candidates() -> None:
    places = np.random.default_rng(1).random((30_000, 3))
    with_stray = np.concatenate([places, [[FAR, -FAR, FAR]]])
    chosen = vc.choose(with_stray, cutoff=0.03)
    index = getattr(vc, chosen.structure)(with_stray, cutoff=0.03, **chosen.parameters)
    index.pairs()
    # Wide cells with many candidates may be the fastest, but not a cell with everything in it.
    assert index.stats.candidates < 0.05 * len(with_stray) ** 2 / 2
