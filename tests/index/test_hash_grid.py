"""The hierarchical hash grid while bodies move a little: most stay in their cells, only the others are moved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH, DIMS
from compare import ask, assert_same_pairs
from vicinal import _core

N = 1501  # more than a group of slots, and not a multiple of any number of lanes
STEPS = 5

pytestmark = pytest.mark.usefixtures("isa")
every_isa = pytest.mark.parametrize("isa_name", vc.info()["isa_available"])


def bodies_of(kind: str, places: Any, sizes: Any, turned: Any = ()) -> dict[str, Any]:
    """Bodies at given positions; the size of a point does not matter. Turned boxes are long along the first axis."""
    if kind == "points":
        return {"points": places}
    if kind == "spheres":
        return {"points": places, "radii": sizes}
    edges = sizes[:, None] * np.linspace(1, 2, places.shape[1]).astype(places.dtype)
    chosen = np.asarray(turned, dtype=int)
    edges[chosen] = edges[chosen, ::-1]
    return {"boxes": (places, places + edges)}


@every_isa
@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
@pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("dim", DIMS, ids=lambda dim: f"{dim}D")
@pytest.mark.parametrize("space", ["open", "periodic", "far out"])
def test_bodies_that_move_a_little_are_searched_at_their_new_positions(
    isa_name: str, kind: str, dtype: Any, dim: int, space: str
) -> None:
    """Some swap sizes, and so grids; some leave the box and are wrapped; some are removed and leave holes."""
    _core.set_isa(isa_name)
    rng = np.random.default_rng([dim, len(space)])
    scale = 1e-3 if space == "far out" else 1.0  # then all bodies except a stray are within 1e-5 of the space
    spacing = scale * N ** (-1 / dim)
    box = scale * np.linspace(1, 1.2, dim) if space == "periodic" else None
    places = (scale * rng.random((N, dim))).astype(dtype)
    if space == "far out":
        places[0] = 100.0
    sizes = (0.3 * spacing * 20 ** (rng.random(N) ** 3)).astype(dtype)
    more = {"cutoff": float(spacing)} if kind == "points" else {}
    index = vc.HashGrid(**bodies_of(kind, places, sizes), **more, box=box, few=0)
    assert (index.stats.details["levels"] > 1) == (kind != "points")
    moved = 0.0
    for step in range(STEPS):
        places = (places + 0.1 * spacing * rng.standard_normal((N, dim))).astype(dtype)
        if step == 2:
            gone = rng.choice(np.arange(1, N), 100, replace=False)
            new = bodies_of(kind, places[gone], sizes[gone])
            index.remove(gone)
            index.insert(**new)
            places, sizes = (np.concatenate([np.delete(a, gone, axis=0), a[gone]]) for a in (places, sizes))
        if step > 0:
            one, two = rng.choice(N, (2, 50), replace=False)
            sizes[one], sizes[two] = sizes[two], sizes[one]
        bodies = bodies_of(kind, places, sizes)
        rebuilds = index.stats.details["rebuilds"]
        index.update(**bodies)
        # If bodies leave the space of the layout, all are laid out again; never in a periodic box.
        assert index.stats.details["rebuilds"] == rebuilds or space != "periodic"
        every = vc.Exhaustive(**bodies, **more, box=box)
        assert_same_pairs(ask(index.pairs, kind, sort=True), ask(every.pairs, kind, sort=True))
        moved += index.stats.details["moved"]
    assert 0 < moved < STEPS * N


@every_isa
def test_small_boxes_that_turn_where_they_are(isa_name: str) -> None:
    """Along one axis they are longer than all bodies of their grid were, but not longer than the large ones."""
    _core.set_isa(isa_name)
    rng = np.random.default_rng(5)
    spacing = N**-0.5
    places = rng.random((N, 2))
    sizes = np.where(rng.random(N) < 0.1, 6 * spacing, 1.5 * spacing)
    index = vc.HashGrid(**bodies_of("boxes", places, sizes), box=1.0, few=0, levels=[3.1 * spacing])
    bodies = bodies_of("boxes", places, sizes, np.flatnonzero(sizes < 2 * spacing))
    index.update(**bodies)
    every = vc.Exhaustive(**bodies, box=1.0)
    assert_same_pairs(ask(index.pairs, "boxes", sort=True), ask(every.pairs, "boxes", sort=True))
