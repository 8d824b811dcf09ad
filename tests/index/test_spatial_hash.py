"""SpatialHash: cells that share a bucket cost candidates, never pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from candidates import expected_ratio
from compare import ALL, assert_same_pairs
from oracle import Array, Pairs

RNG = np.random.default_rng(11)
# A box just wider than the reach of its bodies has few cells, and each of them has many images within reach.
SPACES = {"open": None, "periodic": (1.0, 1.0, 1.0), "slab": (0.3, None, 1.0), "narrow": (0.09, 0.11, 0.2)}


def bodies_of(kind: str, dim: int, dtype: Any, n: int = 700) -> dict[str, Any]:
    points = RNG.random((n, dim)).astype(dtype)
    if kind == "points":
        return {"points": points, "cutoff": 0.1}
    if kind == "spheres":
        return {"points": points, "radii": (0.06 * RNG.random(n)).astype(dtype)}
    return {"boxes": (points, points + (0.12 * RNG.random((n, dim))).astype(dtype))}


def full_pairs(index: Any) -> tuple[Array, ...]:
    return index.pairs(want="ijS", half=False, sort=True)


@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize("table", [None, 1, 2, 64, 10**5])
@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("dim", [2, 3], ids=["2D", "3D"])
def test_collisions_change_no_pair(dim: int, dtype: Any, kind: str, table: int | None, space: str) -> None:
    box = SPACES[space] and SPACES[space][:dim]
    bodies = bodies_of(kind, dim, dtype)
    index = vc.SpatialHash(**bodies, box=box, table=table)
    expected = full_pairs(vc.Exhaustive(**bodies, box=box))
    for column, wanted in zip(full_pairs(index), expected, strict=True):
        assert np.array_equal(column, wanted)
    assert len(index.pairs()[0]) == len(expected[0]) // 2
    assert np.array_equal(index.count(), np.bincount(expected[0], minlength=len(index)))


@pytest.mark.parametrize("table", [None, 1, 30])
@pytest.mark.parametrize("box", [None, (1.0, None, 0.5)], ids=["open", "slab"])
def test_collisions_change_no_answer_to_a_query(table: int | None, box: Any) -> None:
    points, others = RNG.random((500, 3)), RNG.random((300, 3)) * 1.5 - 0.25
    expected = vc.Exhaustive(points, cutoff=0.15, box=box).pairs(queries=others, want=ALL, sort=True)
    pairs = vc.SpatialHash(points, cutoff=0.15, box=box, table=table).pairs(queries=others, want=ALL, sort=True)
    assert_same_pairs(Pairs(*pairs), Pairs(*expected))


@pytest.mark.parametrize("side", [5, 8, 15])
def test_candidates_are_those_of_the_cells_and_of_chance(side: int) -> None:
    """The experiment of Onderik & Ďurikovič 2008; the fewer buckets, the more often a look-up hits a wrong cell."""
    n = 15000
    points = RNG.uniform(0, side, (n, 3))
    near = n * (n - 1) / 2 * expected_ratio(side, 3)
    candidates = []
    for table in (2**24 - 3, 4093):
        index = vc.SpatialHash(points, cutoff=1.0, table=table)
        index.pairs()
        candidates.append(index.stats.candidates)
    assert candidates[0] == pytest.approx(near, rel=0.02)
    # Every query looks up 27 buckets, each of which contains 1/4093 of all bodies by chance. Runs of cells meet as a
    # whole: of the 25 in the smallest space, perhaps none meets another.
    by_chance = candidates[1] - candidates[0]
    assert 0 <= by_chance <= 27 / 4093 * n * n / 2 * 1.2
    assert by_chance > 0 or side == 5


def test_one_bucket_proposes_every_pair_once() -> None:
    index = vc.SpatialHash(RNG.random((300, 3)), cutoff=0.1, table=1)
    index.pairs()
    assert index.stats.candidates == 300 * 299 // 2
    index.count()
    assert index.stats.candidates == 300 * 299


def test_details_count_buckets_and_collisions() -> None:
    # Five bodies in four cells far from each other.
    points = np.array([[0.0, 0.0], [9.5, 0.0], [0.0, 9.5], [9.5, 9.5], [9.4, 9.4]])
    details = vc.SpatialHash(points, cutoff=1.0, table=1).stats.details
    assert (details["table"], details["occupied"], details["collisions"]) == (1, 1, 3)
    details = vc.SpatialHash(points, cutoff=1.0, table=10**6 + 3).stats.details
    assert (details["occupied"], details["collisions"]) == (4, 0)


@pytest.mark.parametrize(("n", "table"), [(0, 1), (1, 3), (10, 23), (1000, 2003)])
def test_the_default_table_is_a_prime_of_twice_the_bodies(n: int, table: int) -> None:
    assert vc.SpatialHash(RNG.random((n, 3)), cutoff=0.1).stats.details["table"] == table


@pytest.mark.parametrize("stretch", [1.0, 1e6, 1e12])
def test_memory_depends_on_the_bodies_and_not_on_the_extent(stretch: float) -> None:
    index = vc.SpatialHash(RNG.random((10000, 3)) * stretch, cutoff=0.05)
    index.pairs()
    assert index.stats.bytes < 100 * len(index)


@pytest.mark.parametrize("table", [0, -1, 1.5, "2", True, 2**31])
def test_an_invalid_number_of_buckets_is_refused(table: Any) -> None:
    with pytest.raises(vc.InputError, match=r"table.*whole number"):
        vc.SpatialHash(np.zeros((2, 3)), cutoff=0.1, table=table)


def test_a_table_too_large_for_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vc.structures.spatial_hash, "TABLE_SHARE", 1e-6)
    with pytest.raises(vc.InputError, match=r"table.*GiB"):
        vc.SpatialHash(np.zeros((2, 3)), cutoff=0.1, table=2**31 - 1)
