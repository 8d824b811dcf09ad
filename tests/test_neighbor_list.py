"""A list holds every pair at every step, for any motion of the bodies."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import vicinal as vc
from compare import COPIES
from oracle import exact_pairs
from small_lists import CLOUD, REACH, entries, made_with
from vicinal.list_state import Given


@pytest.fixture(autouse=True)
def _one_thread(threads: None) -> None:
    """Use one thread: small lists do not benefit from more."""
    vc.set_threads(1)


def pairs_of(columns: tuple[Any, ...]) -> list[tuple[int, int]]:
    return list(zip(columns[0].tolist(), columns[1].tolist(), strict=True))


def assert_holds(made: vc.NeighborList, points: Any, box: Any = None, half: bool = True, **bodies: Any) -> None:
    """The list has every pair of a new search, each once, with rows in order; `exact` equals the new search."""
    expected = pairs_of(vc.pairs(points, **bodies, box=box, half=half, sort=True))
    listed = entries(made)
    assert set(expected) <= set(listed), f"lost {sorted(set(expected) - set(listed))[:5]}"
    assert listed == sorted(set(listed))
    if half:
        assert all(i < j for i, j in listed)
    assert pairs_of(made.exact()) == expected


# -------------------------------------------------------------------------------- motion


@pytest.mark.parametrize("box", [None, 1.0, (1.0, None, 2.0)])
@pytest.mark.parametrize("skin", [0.0, 0.03, "auto"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sized", [False, True])
def test_a_list_contains_every_pair_while_bodies_move(box: Any, skin: Any, dtype: Any, sized: bool) -> None:
    rng = np.random.default_rng(3)
    points = CLOUD.astype(dtype)
    bodies: dict[str, Any] = {"radii": rng.uniform(0.02, 0.07, 200).astype(dtype)} if sized else {"cutoff": 0.12}
    half = dtype is np.float32
    made = vc.NeighborList(**bodies, skin=skin, half=half, box=box)
    builds = 0
    for step in range(20):
        speed = 0.001 if step % 10 < 6 else 0.02
        points = (points + rng.normal(0, speed, points.shape)).astype(dtype)
        if step % 7 == 3:
            points[rng.integers(200)] = rng.random(3)
        builds += made.update(points)
        assert_holds(made, points, box, half, **bodies)
    assert made.stats.builds == builds
    assert builds == 20 if skin == 0.0 else 1 < builds < 20


MOVES = ("rest", "creep", "run", "teleport", "far")
ACTIONS = (*MOVES, "grow", "shrink", "stretch", "born", "die", "reorder")


def moved(action: str, points: Any, rng: np.random.Generator) -> Any:
    if action in ("creep", "run"):
        return points + rng.normal(0, 0.002 if action == "creep" else 0.2, points.shape)
    moved = np.arange(len(points)) == rng.integers(len(points))
    if action == "teleport":
        return np.where(moved[:, None], rng.random(3), points)
    return points + 1000 * moved[:, None] if action == "far" else points


def stretched(box: Any) -> Any:
    return 1.1 * box if isinstance(box, float) else tuple(edge and 1.1 * edge for edge in box)


@given(
    st.lists(st.sampled_from(ACTIONS), min_size=2, max_size=12),
    st.integers(0, 2**32 - 1),
    st.sampled_from([None, 1.0, (None, 1.0, 1.5)]),
    st.sampled_from([np.float32, np.float64]),
    st.sampled_from([0.0, 0.02, 0.1, "auto"]),
    st.booleans(),
    st.booleans(),
)
def test_no_change_of_bodies_loses_a_pair(
    actions: list[str], seed: int, box: Any, dtype: Any, skin: Any, sized: bool, half: bool
) -> None:
    rng = np.random.default_rng(seed)
    points, radii = rng.random((40, 3)).astype(dtype), rng.uniform(0, 0.09, 40).astype(dtype)
    made = vc.NeighborList(**({"radii": radii} if sized else {"cutoff": 0.2}), skin=skin, half=half, box=box)
    made.update(points)
    for action in actions:
        change: dict[str, Any] = {}
        if action in MOVES:
            points = moved(action, points, rng)
        elif action in ("grow", "shrink"):
            radii = np.minimum(radii * (1.03 if action == "grow" else 0.9), 0.11)
            change = {"radii": radii.astype(dtype)}
        elif action == "stretch" and box is not None:
            box = stretched(box)
            change = {"box": box}
        elif action in ("born", "die"):
            kept = slice(0 if action == "born" else 1, None)
            points = np.vstack([points[kept], rng.random((int(action == "born"), 3))])
            radii = np.append(radii[kept], [0.05] * int(action == "born"))
            change = {"radii": radii.astype(dtype)}
        elif action == "reorder":
            order = rng.permutation(len(points))
            made.reorder(order)
            points, radii = points[order], radii[order]
        points, radii = points.astype(dtype), radii.astype(dtype)
        made.update(points, **{name: value for name, value in change.items() if sized or name == "box"})
        assert_holds(made, points, box, half, **({"radii": radii} if sized else {"cutoff": 0.2}))


# -------------------------------------------------------------------------------- when it is built


def test_motion_by_half_a_skin_needs_no_build() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0.02)
    assert made.update(CLOUD)
    step = np.array([0.0099, 0.0, 0.0])
    assert not made.update(CLOUD + step)
    assert not made.update(CLOUD - step), "motion is measured from the positions of the build"
    moved = CLOUD.copy()
    moved[77, 1] += 0.0101
    assert made.update(moved), "one body is enough"
    assert not made.update(moved)
    assert made.stats.updates == 5
    assert made.stats.builds == 2


def test_crossing_a_periodic_face_is_a_small_displacement() -> None:
    points = np.array([[0.001, 0.5, 0.5], [0.99, 0.5, 0.5], [0.5, 0.5, 0.5]])
    made = vc.NeighborList(cutoff=0.05, skin=0.02, box=1.0)
    assert made.update(points)
    assert entries(made) == [(0, 1)]
    assert not made.update(points - np.array([0.002, 0.0, 0.0]))
    assert not made.update((points - np.array([0.002, 0.0, 0.0])) % 1.0), "wrapped or not, it is the same position"
    assert not made.update(points + np.array([7.0, -3.0, 100.0]))
    assert made.update(points + np.array([7.5, 0.0, 0.0]))


def test_without_a_skin_every_update_builds() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0)
    assert [made.update(CLOUD) for _ in range(3)] == [True] * 3
    assert entries(made) == pairs_of(vc.pairs(CLOUD, cutoff=REACH, sort=True))


def test_growing_uses_up_the_skin_as_moving_does() -> None:
    radii = np.full(200, 0.05)
    made = vc.NeighborList(radii=radii, skin=0.02)
    made.update(CLOUD)
    assert not made.update(CLOUD, radii=radii + 0.0099)
    assert made.update(CLOUD + np.array([0.0002, 0.0, 0.0])), "the radii of the last update count"
    assert made.update(CLOUD + np.array([0.0002, 0.0, 0.0]), radii=radii + 0.03)
    assert not made.update(CLOUD, radii=radii), "smaller bodies are all in the list"
    assert_holds(made, CLOUD, radii=radii)


def test_later_changes_of_the_array_of_radii_have_no_effect() -> None:
    radii = np.full(200, 0.05)
    made = vc.NeighborList(radii=radii, skin=0.02)
    radii[:] = 0.5
    made.update(CLOUD)
    assert pairs_of(made.exact()) == pairs_of(vc.pairs(CLOUD, radii=0.05, sort=True))


def test_a_new_box_builds_again() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0.02, box=1.0)
    made.update(CLOUD)
    assert made.update(CLOUD, box=1.2)
    assert not made.update(CLOUD)
    assert_holds(made, CLOUD, 1.2, cutoff=REACH)


def test_one_radius_stands_for_any_number_of_bodies() -> None:
    made = vc.NeighborList(radii=0.05, skin=0.02)
    for n in (200, 100, 0, 150):
        assert made.update(CLOUD[:n])
        assert len(made) == n
        assert_holds(made, CLOUD[:n], radii=0.05)


@pytest.mark.parametrize("dim", [2, 3])
def test_no_bodies_have_no_neighbours(dim: int) -> None:
    made = vc.NeighborList(cutoff=1.0)
    made.update(np.zeros((0, dim)))
    made.update(np.zeros((0, dim)))
    assert made.offsets.tolist() == [0]
    assert made.indices.tolist() == []
    assert made.reduce(np.zeros(0)).shape == (0,)


def test_points_of_another_dtype_or_dimension_build_again() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0.05)
    for points in (CLOUD, CLOUD.astype(np.float32), CLOUD[:, :2].copy(), CLOUD):
        assert made.update(points)
        assert not made.update(points)
        assert_holds(made, points, cutoff=REACH)


def test_lists_and_strided_arrays_are_taken() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0.05)
    assert made.update(CLOUD.tolist())
    assert not made.update(np.asfortranarray(CLOUD))
    assert not made.update(CLOUD.tolist())


# -------------------------------------------------------------------------------- rounding


def holds(made: vc.NeighborList, points: Any) -> bool:
    """Whether an update does not build."""
    assert made._state is not None
    return made._holds(made._state, Given(points, None, None, None, None))


def last_place(made: vc.NeighborList, start: Any, way: Any, dtype: Any) -> Any:
    """How far bodies get along a path without a build: the last position for which the list is valid."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        trial = (start + middle * way).astype(dtype)
        if holds(made, trial):
            low = middle
        else:
            high = middle
    return (start + low * way).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "origin, box", [(0.0, None), (1e3, None), (-1e6, None), (0.0, 4.0), (3.9, 4.0), (800.0, 4.0), (-3e4, 4.0)]
)
def test_bodies_that_come_as_near_as_they_may_are_in_the_list_or_not_yet_a_pair(
    dtype: Any, origin: float, box: Any
) -> None:
    cutoff, skin = 0.7, 0.1
    rng = np.random.default_rng(1)
    # Far from the origin too few digits are left to resolve positions better than this.
    grain = float(np.spacing(dtype(abs(origin) + 4)))
    for _ in range(60):
        heading = rng.normal(size=3)
        heading /= np.linalg.norm(heading)
        # Just outside the list: the bodies may move by the whole distance between this and the cutoff.
        apart = (cutoff + skin) * (1 + rng.uniform(0, 4) * np.finfo(dtype).eps) + rng.uniform(0, 2) * grain
        first = origin + rng.random(3)
        start = np.array([first, first + apart * heading]).astype(dtype)
        made = vc.NeighborList(cutoff=cutoff, skin=skin, box=box)
        made.update(start)
        if entries(made):
            continue
        way = np.array([heading, -heading]) * skin
        end = last_place(made, start.astype(np.float64), way, dtype)
        assert not made.update(end)
        assert len(exact_pairs(end, cutoff, box)) == 0, (start, end)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sizes_whose_squares_underflow_lose_no_pair(dtype: Any) -> None:
    tiny = float(np.finfo(dtype).tiny)
    points = (np.array([[0.0, 0, 0], [1, 0, 0], [2.5, 0, 0], [40, 0, 0]]) * tiny).astype(dtype)
    made = vc.NeighborList(cutoff=tiny, skin=tiny / 4)
    for shift in (0.0, 0.05, 0.2):
        points[1, 0] += dtype(shift * tiny)
        made.update(points)
        assert_holds(made, points, cutoff=tiny)


# -------------------------------------------------------------------------------- layouts


@pytest.mark.parametrize("half", [True, False])
def test_every_layout_has_the_same_entries(half: bool) -> None:
    expected = entries(made_with("rows", half))
    assert expected == pairs_of(vc.pairs(CLOUD, cutoff=REACH + 0.05, half=half, sort=True))
    pairs = made_with("pairs", half)
    assert pairs_of((pairs.i, pairs.j)) == expected
    longest = int(np.bincount([i for i, _ in expected]).max())
    fixed = made_with("fixed", half, width=longest)
    assert fixed.table.shape == (200, longest)
    assert fixed.table.dtype == np.int32
    rows = [(i, j) for i, row in enumerate(fixed.table.tolist()) for j in row[: fixed.counts[i]]]
    assert rows == expected
    assert all(j == -1 for i, row in enumerate(fixed.table.tolist()) for j in row[fixed.counts[i] :])
    hybrid = made_with("hybrid", half, width=5)
    rows = [(i, j) for i, row in enumerate(hybrid.table.tolist()) for j in row[: hybrid.counts[i]]]
    over = pairs_of((hybrid.i, hybrid.j))
    assert over == sorted(over)
    assert len(over) > 20
    assert sorted(rows + over) == expected
    assert all(hybrid.counts[i] == 5 for i, _ in over)
    for made in (pairs, fixed, hybrid):
        assert made.stats.entries == len(expected)


def test_pairs_may_be_unsorted() -> None:
    for half in (True, False):
        made = made_with("pairs", half, sort=False)
        expected = pairs_of(vc.pairs(CLOUD, cutoff=REACH + 0.05, half=half, sort=True))
        listed = pairs_of((made.i, made.j))
        assert sorted((min(two), max(two)) if half else two for two in listed) == expected


def test_a_table_too_narrow_is_refused_and_leaves_no_arrays() -> None:
    counts = np.bincount(vc.pairs(CLOUD, cutoff=REACH, sort=True)[0], minlength=200)
    body, needed = int(counts.argmax()), int(counts.max())
    made = vc.NeighborList(cutoff=REACH, skin=0.0, layout="fixed", width=needed - 1)
    with pytest.raises(vc.InputError, match=rf"width .*got {needed - 1}: body {body} has {needed} neighbours.*use"):
        made.update(CLOUD)
    with pytest.raises(vc.InputError, match="update"):
        _ = made.table
    made.update(CLOUD[:20])
    assert made.table.shape == (20, needed - 1)


@pytest.mark.parametrize("index", ["Exhaustive", "CellSorting", "HashGrid", "BVH", vc.Octree, vc.SweepAndPrune])
def test_every_structure_makes_the_same_list(index: Any) -> None:
    made = made_with("rows", structure=index)
    assert entries(made) == entries(made_with("rows"))
    assert made.stats.structure == (index if isinstance(index, str) else index.__name__)
    made.update(CLOUD[::-1].copy())
    assert_holds(made, CLOUD[::-1].copy(), cutoff=REACH)


# -------------------------------------------------------------------------------- sums


def expected_sums(made_entries: list[tuple[int, int]], values: Any, n: int, how: str, half: bool) -> Any:
    """One addition after the other, in the order of the entries."""
    sums = np.zeros((n, *values.shape[1:]), values.dtype)
    for (i, j), value in zip(made_entries, values, strict=True):
        sums[i] += value
        if half:
            sums[j] += value if how == "symmetric" else -value
    return sums


@pytest.mark.parametrize("how", ["symmetric", "antisymmetric"])
@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize("columns", [None, 1, 2, 3, 4, 5])
def test_sums_are_the_bits_of_one_addition_after_the_other(how: str, half: bool, columns: int | None) -> None:
    rng = np.random.default_rng(2)
    listed = entries(made_with("rows", half))
    shape = (len(listed),) if columns is None else (len(listed), columns)
    for dtype in (np.float32, np.float64):
        values = rng.normal(size=shape).astype(dtype)
        expected = expected_sums(listed, values, 200, how, half)
        for layout, threads in product(("rows", "pairs"), (1, 2, 3)):
            with vc.threads(threads):
                sums = made_with(layout, half).reduce(values, how=how)
            assert sums.dtype == dtype
            assert sums.tobytes() == expected.tobytes()


@pytest.mark.parametrize("half", [True, False])
def test_sums_over_tables_are_those_over_rows(half: bool) -> None:
    rng = np.random.default_rng(2)
    rows = made_with("rows", half)
    per_entry = rng.normal(size=(len(rows.indices), 3))
    value_of = dict(zip(entries(rows), per_entry, strict=True))
    expected = rows.reduce(per_entry)
    wide = made_with("fixed", half, width=60)
    narrow = made_with("hybrid", half, width=4)
    tables = []
    for made in (wide, narrow):
        values = rng.normal(size=(*made.table.shape, 3))  # beyond the counts: anything
        for i, row in enumerate(made.table.tolist()):
            for k, j in enumerate(row[: made.counts[i]]):
                values[i, k] = value_of[i, j]
        tables.append(values)
    over = np.array([value_of[two] for two in pairs_of((narrow.i, narrow.j))])
    assert wide.reduce(tables[0]).tobytes() == expected.tobytes()
    sums = [narrow.reduce((tables[1], over)) for threads in (1, 2, 3) if not vc.set_threads(threads)]
    assert np.allclose(sums[0], expected, rtol=0, atol=1e-12)
    assert len({one.tobytes() for one in sums}) == 1


def test_arrays_and_sums_do_not_depend_on_threads() -> None:
    rng = np.random.default_rng(4)
    points = rng.random((40_000, 3))
    velocity = rng.normal(0, 2e-4, points.shape)
    seen = []
    for threads in (1, 2, 3):
        vc.set_threads(threads)
        made = vc.NeighborList(cutoff=0.03, skin=0.004, box=1.0)
        full = vc.NeighborList(cutoff=0.03, skin=0.004, box=1.0, half=False, layout="hybrid", width=6)
        builds = [(made.update(now), full.update(now)) for now in (points + k * velocity for k in range(6))]
        values = np.sin(np.arange(len(made.indices), dtype=float))
        energy, forces = made.lennard_jones(sigma=0.02)
        arrays = [made.offsets, made.indices, full.table, full.counts, full.i, full.j, made.reduce(values), forces]
        made.reorder(vc.spatial_order(points))
        arrays += [made.offsets, made.indices, np.array(energy)]
        seen.append((builds, [array.tobytes() for array in arrays]))
    assert seen[0] == seen[1] == seen[2]
    assert 1 < sum(one for one, _ in seen[0][0]) < 6


# -------------------------------------------------------------------------------- order


def arrays_of(made: vc.NeighborList) -> dict[str, Any]:
    assert made._state is not None
    return made._state.arrays


@pytest.mark.parametrize("half", [True, False])
@pytest.mark.parametrize(
    "layout", [{}, {"layout": "pairs"}, {"layout": "fixed", "width": 60}, {"layout": "hybrid", "width": 5}]
)
def test_a_reordered_list_is_the_list_of_the_reordered_bodies(half: bool, layout: Any) -> None:
    rng = np.random.default_rng(9)
    radii = rng.uniform(0.02, 0.08, 200)
    order = rng.permutation(200)
    made = vc.NeighborList(radii=radii, skin=0.04, half=half, **layout)
    made.update(CLOUD)
    made.reorder(order)
    fresh = vc.NeighborList(radii=radii[order], skin=0.04, half=half, **layout)
    fresh.update(CLOUD[order])
    for name, array in arrays_of(fresh).items():
        assert np.array_equal(arrays_of(made)[name], array)
        assert arrays_of(made)[name].dtype == array.dtype
    assert pairs_of(made.exact()) == pairs_of(fresh.exact())
    assert not made.update(CLOUD[order] + 0.01), "the stored positions were reordered, too"
    assert made.update(CLOUD), "these are other positions"
    made.update(CLOUD[order])
    assert pairs_of(made.exact()) == pairs_of(fresh.exact())


def test_unsorted_pairs_are_renumbered() -> None:
    made = made_with("pairs", sort=False)
    before = {frozenset(two) for two in pairs_of((made.i, made.j))}
    order = np.random.default_rng(0).permutation(200)
    made.reorder(order)
    assert {frozenset((order[i], order[j])) for i, j in pairs_of((made.i, made.j))} == before


# -------------------------------------------------------------------------------- threads


def test_one_list_can_be_used_from_several_threads() -> None:
    made = vc.NeighborList(cutoff=REACH, skin=0.004, box=1.0)
    made.update(CLOUD)
    expected = pairs_of(vc.pairs(CLOUD, cutoff=REACH, box=1.0, sort=True))

    def use(seed: int) -> None:
        rng = np.random.default_rng(seed)
        for _ in range(40):
            made.update(CLOUD + rng.normal(0, 0.001, 3))  # together: some updates build, some do not
            assert len(made.offsets) == 201
            assert made.vectors.shape == made.shifts.shape
            assert made.indices.max() < 200
            assert len(made.exact()[0]) == len(expected)
            assert made.stats.entries >= len(expected)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(use, seed) for seed in range(4)]:
            done.result()
    assert made.stats.updates == 161
    assert 2 < made.stats.builds < 161


@pytest.mark.parametrize("way", COPIES)
def test_the_time_between_updates_is_not_measured_across_copies(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made = vc.NeighborList(cutoff=REACH)
    made.update(CLOUD)
    copied = COPIES[way](made)
    # The clock of another process starts anywhere.
    monkeypatch.setattr("vicinal.neighbor_list.perf_counter", lambda: 1e9)
    gaps: list[float] = []
    monkeypatch.setattr(type(copied._tuner), "note_gap", lambda _, gap: gaps.append(gap))
    copied.update(CLOUD)
    assert gaps == []
    copied.update(CLOUD)
    assert gaps == [0.0]


@pytest.mark.parametrize("kind", ["points", "spheres", "boxes", "planes", "tuned", "empty"])
@pytest.mark.parametrize("way", COPIES)
def test_copies_of_a_list_go_their_own_ways(way: str, kind: str) -> None:
    points = np.random.default_rng(4).random((300, 3))
    if kind == "spheres":
        made = vc.NeighborList(radii=0.03, skin=0.02, half=False)
    elif kind == "boxes":
        made = vc.NeighborList(boxes=True, skin=0.02)
    else:
        planes = ([0.0, 0.0, 0.0], [0.0, 0.0, 1.0]) if kind == "planes" else None
        made = vc.NeighborList(cutoff=0.08, skin="auto" if kind == "tuned" else 0.02, planes=planes)

    def step(rows: vc.NeighborList, places: npt.NDArray[np.float64]) -> None:
        if kind == "boxes":
            rows.update(boxes=(places, places + 0.05))
        else:
            rows.update(places)

    if kind != "empty":
        step(made, points)
        step(made, points + 1e-4)
    copied = COPIES[way](made)
    assert repr(copied).split(",")[0] == repr(made).split(",")[0]
    if kind != "empty":
        assert all(map(np.array_equal, copied.exact(), made.exact()))
    before = made.exact() if kind != "empty" else ()
    step(copied, points[::-1] * 0.9)
    if kind != "empty":
        assert all(map(np.array_equal, made.exact(), before))
    step(made, points[::-1] * 0.9)
    assert len(made.exact()[0]) > 0
    assert all(map(np.array_equal, copied.exact(), made.exact()))


def test_the_repr_of_a_list_describes_it() -> None:
    made = vc.NeighborList(cutoff=REACH)
    assert "not built" in repr(made)
    made.update(CLOUD)
    assert "200 bodies" in repr(made)
    assert "first guess" in repr(made)
    assert made.stats.reason.startswith("a first guess")
    assert made.stats.bytes > made.indices.nbytes
    assert made_with("rows").stats.reason == "as given"
