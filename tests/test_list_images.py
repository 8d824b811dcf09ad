"""Lists of bodies with several images, of boxes and with planes: their entries, shifts and vectors are exact."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from oracle import Pairs, exact_pairs

Array = Any
TILTED = [
    ((0.9, 0.0, 0.0), (0.3, 0.8, 0.0), (-0.2, 0.4, 1.0)),
    ((0.1, 0.6, 0.0), (0.9, 2.5, 0.0), (0.0, 0.1, 0.8)),
    ((0.0, 2.0, 2.0), (2.0, 0.0, 2.0), (2.0, 2.0, 0.0)),
]
FLOOR = ([[0.0, 0.0, 0.1], [0.0, 0.0, 0.9]], [[0.0, 0.0, 1.0], [0.1, 0.0, -2.0]])


@pytest.fixture(autouse=True)
def _one_thread(threads: None) -> None:
    vc.set_threads(1)


@dataclass(frozen=True)
class World:
    """Bodies of one kind in a box, with planes or without."""

    kind: str
    points: Array
    sizes: Array  # cutoff, radii, or edges of boxes
    box: Any
    planes: Any
    half: bool

    @property
    def bodies(self) -> dict[str, Any]:
        if self.kind == "points":
            return {"points": self.points, "cutoff": self.sizes}
        if self.kind == "spheres":
            return {"points": self.points, "radii": self.sizes}
        return {"boxes": (self.points, self.points + self.sizes)}

    def pairs(self) -> Pairs:
        expected = exact_pairs(**self.bodies, box=self.box, planes=self.planes)
        return expected.half() if self.half else expected

    def list(self, **options: Any) -> vc.NeighborList:
        kind: Any = {"points": {"cutoff": self.sizes}, "spheres": {"radii": self.sizes}, "boxes": {"boxes": True}}
        return vc.NeighborList(**kind[self.kind], box=self.box, planes=self.planes, half=self.half, **options)

    def update(self, made: vc.NeighborList, **change: Any) -> bool:
        if self.kind == "boxes":
            return made.update(boxes=self.bodies["boxes"], **change)
        return made.update(self.points, **change)

    def taken(self, order: Array) -> World:
        return replace(
            self, points=self.points[order], sizes=self.sizes if self.kind == "points" else self.sizes[order]
        )


def keys(i: Array, j: Array, shifts: Array) -> list[tuple[int, ...]]:
    return list(map(tuple, np.column_stack([i, j, shifts]).tolist()))


def assert_holds(made: vc.NeighborList, world: World) -> None:
    """Entries are in canonical order and include every pair; vectors and distances have the oracle's bits."""
    expected = world.pairs()
    rows = len(world.points) + (0 if world.planes is None else len(world.planes[0]))
    assert len(made.offsets) == rows + 1
    i = np.repeat(np.arange(rows), np.diff(made.offsets))
    listed = keys(i, made.indices, made.shifts)
    assert listed == sorted(set(listed))
    place = {key: k for k, key in enumerate(listed)}
    wanted = keys(expected.i, expected.j, expected.S)
    assert set(wanted) <= set(listed), f"lost {sorted(set(wanted) - set(listed))[:3]}"
    assert keys(*made.exact(want="ijS")) == wanted
    if world.kind != "boxes":
        at = [place[key] for key in wanted]
        assert made.vectors[at].tobytes() == expected.D.tobytes()
        assert made.distances[at].tobytes() == expected.d.tobytes()


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """Few bodies, boxes down to a third of the reach, planes along periodic axes."""
    dtype: Any = draw(st.sampled_from([np.float32, np.float64]))
    kind = draw(st.sampled_from(["points", "spheres", "boxes"]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(0, 12))
    points = rng.uniform(-1, 2, (n, 3)).astype(dtype)
    sizes: Any = 0.45
    if kind == "spheres":
        sizes = rng.uniform(0, 0.3, n).astype(dtype)
    elif kind == "boxes":
        sizes = rng.uniform(0, 0.4, (n, 3)).astype(dtype)
    lengths = [None, (1.0, 0.7, None), (0.5, 1.0, None), (0.3, None, None), (0.9, 0.9, 0.9), (3, 3, 3)]
    box: Any = draw(st.sampled_from([*lengths, *TILTED]))
    if box is not None and np.ndim(box) == 1:
        box = tuple(None if edge is None else float(dtype(edge)) for edge in box)
    planes = None
    if box is None and draw(st.booleans()):
        planes = FLOOR
    elif box is not None and box[2] is None and draw(st.booleans()):
        planes = ([[0.0, 0.0, 0.1], [0.0, 0.0, 0.9]], [[0.0, 0.0, 1.0], [0.0, 0.0, -2.0]])
    return World(kind, points, sizes, box, planes, draw(st.booleans()))


ACTIONS = ("rest", "creep", "run", "turn", "wrap", "reorder", "lift", "tilt")


@given(
    worlds(),
    st.lists(st.sampled_from(ACTIONS), min_size=1, max_size=8),
    st.sampled_from([0.0, 0.05, 0.2, "auto"]),
    st.integers(0, 2**32 - 1),
)
def test_images_planes_and_boxes_are_never_lost(world: World, actions: list[str], skin: Any, seed: int) -> None:
    rng = np.random.default_rng(seed)
    dtype = world.points.dtype
    made = world.list(skin=skin)
    world.update(made)
    assert_holds(made, world)
    for action in actions:
        points, change = world.points, {}
        if action in ("creep", "run"):
            points = points + rng.normal(0, 0.01 if action == "creep" else 0.3, points.shape)
        elif action in ("turn", "wrap") and np.ndim(world.box) == 2:
            rows = np.array(world.box)
            turns = rng.integers(-3, 4, points.shape) if action == "turn" else -np.floor(points @ np.linalg.inv(rows))
            points = points + turns @ rows
        elif action in ("turn", "wrap") and world.box is not None:
            # The caller moves bodies by whole periods, or wraps them.
            for axis, edge in enumerate(world.box):
                if edge is not None:
                    whole = edge * rng.integers(-3, 4, len(points)) if action == "turn" else 0
                    moved = points[:, axis] + whole if action == "turn" else points[:, axis] % edge
                    points = np.concatenate([points[:, :axis], moved[:, None], points[:, axis + 1 :]], axis=1)
        elif action in ("lift", "tilt") and world.planes is not None:
            at, normals = (np.array(entry) for entry in world.planes)
            if action == "lift":
                at = at + rng.normal(0, 0.02, (2, 1)) * normals
            else:
                normals = normals * np.array([[1.0], [3.0]])
            world = replace(world, planes=(at, normals))
            change = {"planes": world.planes}
        elif action == "reorder":
            order = rng.permutation(len(points))
            made.reorder(order)
            world = world.taken(order)
            points = world.points
        world = replace(world, points=points.astype(dtype))
        world.update(made, **change)
        assert_holds(made, world)


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_every_image_is_an_entry_of_its_own(half: bool, dtype: Any) -> None:
    points = np.array([[0.1, 0.2, 0.3], [0.6, 0.2, 0.3]], dtype)
    world = World("points", points, 1.0, (1.0, 1.0, 1.0), None, half)
    made = world.list(skin=0.0)
    world.update(made)
    expected = world.pairs()
    i = np.repeat(np.arange(2), np.diff(made.offsets))
    assert keys(i, made.indices, made.shifts) == keys(expected.i, expected.j, expected.S)
    assert made.vectors.tobytes() == expected.D.tobytes()
    assert (expected.i == expected.j).sum() == (6 if half else 12), "own images"
    pairs = vc.NeighborList(cutoff=1.0, skin=0.0, box=1.0, half=half, layout="pairs", sort=False)
    pairs.update(points)
    turned = expected.half() if half else expected
    listed = Pairs(pairs.i, pairs.j, pairs.shifts, pairs.distances, pairs.vectors)
    listed = (listed.oriented() if half else listed).sorted()
    assert keys(listed.i, listed.j, listed.S) == keys(turned.i, turned.j, turned.S)
    assert listed.d.tobytes() == turned.sorted().d.tobytes()


def test_a_list_in_a_small_box_is_kept_while_bodies_move() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((30, 3))
    world = World("points", points, 0.6, (1.0, 1.0, 1.0), None, True)
    made = world.list(skin=0.1)
    builds = 0
    for step in range(12):
        points = points + rng.normal(0, 0.004, points.shape)
        world = replace(world, points=points % 1.0 if step % 3 else points)
        builds += world.update(made)
        assert_holds(made, world)
    assert 1 <= builds < 6


@pytest.mark.parametrize("kind", ["points", "spheres", "boxes"])
def test_motion_by_less_than_half_the_skin_needs_no_build(kind: str) -> None:
    rng = np.random.default_rng(1)
    points = rng.random((40, 3))
    sizes: Any = {"points": 0.2, "spheres": np.full(40, 0.1), "boxes": np.full((40, 3), 0.2)}[kind]
    world = World(kind, points, sizes, None, FLOOR, True)
    made = world.list(skin=0.1)
    assert world.update(made)
    assert not replace(world, points=points + np.array([0.049, 0, 0])).update(made)
    assert replace(world, points=points + np.array([0.051, 0, 0])).update(made)
    assert world.update(made)
    higher = [[0.0, 0.0, 0.149], [0.0, 0.0, 0.9]]
    world = replace(world, planes=(higher, FLOOR[1]))
    assert not world.update(made, planes=world.planes)
    assert_holds(made, world)
    world = replace(world, planes=([[0.0, 0.0, 0.151], [0.0, 0.0, 0.9]], FLOOR[1]))
    assert world.update(made, planes=world.planes)
    assert_holds(made, world)


def test_derived_arrays_are_read_only() -> None:
    made = vc.NeighborList(cutoff=0.5, skin=0.1)
    made.update(np.random.default_rng(0).random((10, 3)))
    for array in (made.vectors, made.distances, made.shifts):
        with pytest.raises(ValueError, match="read-only"):
            array[:] = 0


def test_later_changes_of_the_arrays_of_a_box_have_no_effect() -> None:
    points = np.random.default_rng(3).random((60, 3))
    cell, along = np.eye(3), np.array([True, True, True])
    rows = vc.NeighborList(cutoff=0.3, skin=0.05, box=cell, periodic=along)
    rows.update(points)
    cell *= 9.0
    along[:] = False
    rows.update(points + 0.5)  # builds again
    expected = vc.pairs(points + 0.5, 0.3, box=1.0, sort=True)
    assert all(np.array_equal(a, b) for a, b in zip(rows.exact(), expected, strict=True))

    cell = 1.5 * np.eye(3)
    rows = vc.NeighborList(cutoff=0.3, skin=0.05, box=1.0)
    rows.update(points, box=cell)
    cell *= 9.0
    rows.update(points + 0.5)
    expected = vc.pairs(points + 0.5, 0.3, box=1.5, sort=True)
    assert all(np.array_equal(a, b) for a, b in zip(rows.exact(), expected, strict=True))


def test_growing_boxes_use_up_the_skin() -> None:
    lower = np.random.default_rng(2).random((50, 2))
    made = vc.NeighborList(boxes=True, skin=0.02)
    made.update(boxes=(lower, lower + 0.05))
    assert not made.update(boxes=(lower - 0.0099, lower + 0.0599))
    assert not made.update(boxes=(lower + 0.01, lower + 0.02)), "smaller ones are in the list"
    assert made.update(boxes=(lower, lower + 0.061))


def test_the_point_of_a_plane_may_be_far_away() -> None:
    rng = np.random.default_rng(3)
    for dtype in (np.float32, np.float64):
        points = rng.random((200, 3)).astype(dtype)
        normal = np.array([3e-3, -2e-3, 1.0])
        planes = ([np.array([2e4, 3e4, 0.0])], [normal])
        made = vc.NeighborList(radii=0.05, skin=0.01, planes=planes)
        for _ in range(10):
            points = (points + rng.normal(0, 0.001, points.shape)).astype(dtype)
            made.update(points)
            assert_holds(made, World("spheres", points, np.full(200, 0.05, dtype), None, planes, True))


def test_sums_count_images_and_planes() -> None:
    points = np.random.default_rng(4).random((20, 3))
    made = vc.NeighborList(cutoff=0.7, skin=0.0, box=(1.0, 1.0, None), planes=([0, 0, 0.2], [0, 0, 1.0]))
    made.update(points)
    ones = np.ones(made.stats.entries)
    sums = made.reduce(ones, how="symmetric")
    assert sums.shape == (21,)
    expected = exact_pairs(points, 0.7, (1.0, 1.0, None), planes=([[0, 0, 0.2]], [[0, 0, 1.0]]))
    assert np.array_equal(sums, np.bincount(expected.i, minlength=21))
    forces = made.reduce(made.vectors)
    assert np.allclose(forces.sum(axis=0), 0)


def test_the_built_in_law_counts_every_image() -> None:
    sites = np.argwhere(np.ones((2, 2, 2))) * 1.1 + np.random.default_rng(0).normal(0, 0.02, (8, 3))
    made = vc.NeighborList(cutoff=2.5, skin=0.3, box=2.2)
    made.update(sites + np.array([6.6, -2.2, 0.0]))
    assert not made.update(sites + 0.01)
    energy, forces = made.lennard_jones()
    copies = np.concatenate([sites + 2.2 * np.array(s) for s in np.ndindex(4, 4, 4)])
    large = vc.NeighborList(cutoff=2.5, skin=0.3, box=8.8)
    large.update(copies)
    total, on_copies = large.lennard_jones()
    assert energy == pytest.approx(total / 64)
    assert np.allclose(forces, on_copies[:8])
    assert made.pointers.shifts[0] == made.shifts[0, 0]
    assert not large.pointers.shifts
