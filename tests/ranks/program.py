"""What the tests run on several ranks: ``mpiexec -n 3 python program.py NAME`` runs the function of that name.

A function raises an error on some rank if a check fails; mpi4py then ends all ranks.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from mpi4py import MPI

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, SIZED, hard_problem
from oracle import Pairs
from vicinal.distributed import Domain, LocalBodies
from vicinal.distributed.bisection import bisect

WORLD = MPI.COMM_WORLD


def message(call: Any) -> str:
    """The text of the error of a call."""
    try:
        call()
    except vc.InputError as error:
        return str(error)
    return "no error"


def share(comm: MPI.Intracomm, array: Any, way: int) -> Any:
    """Rows that this rank passes to `scatter`: dealt out, all on the last rank, or in slices."""
    if way == 0:
        return array[comm.rank :: comm.size]
    if way == 1:
        return array if comm.rank == comm.size - 1 else array[:0]
    return array[len(array) * comm.rank // comm.size : len(array) * (comm.rank + 1) // comm.size]


def deal(comm: MPI.Intracomm, problem: Any, way: int) -> tuple[LocalBodies, dict[str, Any]]:
    """Scatter the bodies of a problem; return them with the keywords of a search."""
    domain = Domain(comm, box=problem.box, periodic=problem.periodic)
    numbers = np.arange(len(problem.positions))
    fields = {}
    if problem.radii is not None:
        fields["radii"] = share(comm, np.broadcast_to(problem.radii, len(numbers)), way)
    if problem.boxes is not None:
        fields["upper"] = share(comm, problem.boxes[1], way)
    mine = domain.scatter(share(comm, problem.positions, way), share(comm, numbers, way), fields=fields)
    if problem.boxes is not None:
        return mine, {"boxes": (mine.points, mine.fields["upper"])}
    return mine, {"radii": mine.fields["radii"]} if problem.radii is not None else {"cutoff": problem.cutoff}


def collect(mine: LocalBodies, columns: tuple[Any, ...]) -> list[Any] | None:
    """The columns of all ranks together on rank 0, with ids in place of local numbers."""
    i, j, *rest = columns
    parts = mine.domain.comm.gather([mine.ids[i], mine.ids[j], *rest])
    return None if parts is None else [np.concatenate(column) for column in zip(*parts, strict=True)]


def assert_same(got: list[Any], expected: Pairs, *, distances: bool, name: str) -> None:
    i, j, shifts, *others = got
    d, vectors = others if distances else (np.zeros(len(i)), np.zeros(shifts.shape))
    pairs = Pairs(i, j, shifts, d, vectors).oriented().sorted()
    wanted = expected.half().sorted()
    for column in "ijS" + "dD" * distances:
        assert np.array_equal(getattr(pairs, column), getattr(wanted, column)), (name, column)


def hard_cases() -> None:
    """Every hard case: pairs, rows and counts of all ranks together are those of one process.

    The contract suite compares one process with the definition, which takes far longer to compute, while ranks that
    wait for it occupy the processor. Dtypes and dimensions take turns: the hard part of a case is its geometry.
    """
    checked = 0
    for k, name in enumerate([*BUILDERS, *SIZED]):
        dtype, dim = BOTH[k % 2], DIMS[k % 2]
        problem = hard_problem(name, dtype, dim)
        if problem.skin or problem.second or len(problem.positions) > 3000:
            continue
        mine, sizes = deal(WORLD, problem, k % 3)
        letters = "ijS" if problem.boxes is not None else "ijSdD"
        whole = collect(mine, mine.pairs(**sizes, want=letters))
        rows = mine.neighbors(**sizes, want=letters[1:], sort=True)
        directed = [np.repeat(np.arange(len(mine), dtype=np.int32), rows.counts), rows.indices, rows.shifts]
        if "d" in letters:
            directed += [rows.distances, rows.vectors]
        both = collect(mine, tuple(directed))
        counts = mine.gather(mine.count(**sizes))
        assert rows.columns == len(mine.ids)
        if whole is not None and both is not None and counts is not None:
            wanted = {"want": letters, "half": False, "sort": True}
            columns = dict(zip(letters, vc.pairs(**problem.bodies, **wanted), strict=True))
            nothing = {"d": np.zeros(len(columns["i"])), "D": np.zeros(columns["S"].shape)}
            expected = Pairs(**{**nothing, **columns})
            label = f"{name} {dtype.__name__} {dim}D"
            assert_same(whole, expected, distances="d" in letters, name=label)
            full = Pairs(*both, *([] if "d" in letters else [np.zeros(len(both[0])), np.zeros(both[2].shape)]))
            assert_same(
                [getattr(full.half(), c) for c in letters], expected, distances="d" in letters, name=f"rows of {label}"
            )
            assert np.array_equal(counts, np.bincount(both[0], minlength=len(counts))), f"counts of {label}"
            checked += 1
    if WORLD.rank == 0:
        assert checked > 60, checked


def structures() -> None:
    """Every structure, periodic and open, both directions and sorted."""
    rng = np.random.default_rng(5)
    points = rng.random((600, 2))
    for box in (None, (1.0, None), 1.0):
        mine = Domain(WORLD, box=box).scatter(share(WORLD, points, 0), share(WORLD, np.arange(600), 0))
        for structure in ("Exhaustive", "LinkedCells", "CellSorting", "SpatialHash", "HashGrid", "Octree", "BVH", None):
            one = vc.pairs(points, 0.1, box=box, want="ijS", half=False, sort=True)
            got = collect(mine, mine.pairs(0.1, want="ijS", half=False, structure=structure))
            i, j = mine.pairs(0.1, sort=True, structure=structure)
            assert (np.diff(i.astype(np.int64) * len(mine.ids) + j) > 0).all()
            if got is not None:
                order = np.lexsort((*got[2].T[::-1], got[1], got[0]))
                assert all(np.array_equal(a[order], b) for a, b in zip(got, one, strict=True)), (box, structure)


def motion() -> None:
    """Everything crosses borders in every step; ids, fields, ghosts and sums stay right, also while rebalancing."""
    rng = np.random.default_rng(1)
    start = rng.random((500, 3))
    mine = Domain(WORLD, box=1.0).scatter(
        share(WORLD, start, 2), share(WORLD, np.arange(500), 2), fields={"home": share(WORLD, start, 2)}
    )
    for step in range(1, 12):
        velocity = np.random.default_rng(step).normal(size=(500, 3))
        mine = mine.exchange(mine.points + velocity[mine.owned_ids] * 0.3)
        assert np.array_equal(mine.fields["home"], start[mine.owned_ids])
        if step % 3 == 0:
            mine = mine.rebalance(cost=float(len(mine)) * (1 + WORLD.rank), tolerance=1.0)
        where = mine.gather()
        i, j = mine.pairs(0.08)
        pairs = collect(mine, (i, j))
        halo = mine.borders(0.08)
        assert np.array_equal(halo.forward(mine.points).shape, (len(halo), 3))
        # Each ghost returns its own id: an own body gets its id times the number of ranks that hold it.
        back = halo.reverse(halo.forward(mine.owned_ids))
        assert np.array_equal(back, mine.owned_ids * np.bincount(halo.rows, minlength=len(mine)))
        if where is not None and pairs is not None:
            one = vc.pairs(where, 0.08, box=1.0, sort=True)
            ids = np.sort(np.stack(pairs), axis=0)
            order = np.lexsort(ids[::-1])
            assert np.array_equal(ids[:, order], np.stack(one)), step


def tried_on_all_ranks(examples: int) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Let Hypothesis try the same examples on all ranks. A failure ends all of them: ranks cannot shrink it alone."""

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        @settings(
            max_examples=examples,
            derandomize=True,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(data=st.data())
        def run(data: Any) -> None:
            try:
                check(data.draw)
            except Exception:  # noqa: BLE001 - printed, and all ranks end
                traceback.print_exc()
                sys.stderr.flush()
                WORLD.Abort(1)

        return run

    return decorate


SIZES = st.integers(60, 150) | st.integers(0, 3)


def some_points(draw: Any, dim: int, size: int) -> tuple[Any, Any]:
    """Points spread out or in a heap, and radii, one of them larger than a part of space."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    points = rng.random((size, dim)) if draw(st.booleans()) else rng.normal(size=(size, dim)) * 0.05 + 0.5
    radii = (0.02 * rng.lognormal(size=size)).astype(dtype)
    radii[:1] = draw(st.sampled_from([0.05, 0.5, 0.7]))
    return points.astype(dtype), radii


def compare_search(mine: LocalBodies, points: Any, radii: Any, kind: str, space: dict[str, Any]) -> None:
    """Pairs and counts of all ranks are those of one process."""
    own = mine.owned_ids
    upper = points + radii[:, None]
    bodies, whole = {
        "points": ({"cutoff": 0.25}, {"points": points, "cutoff": 0.25}),
        "spheres": ({"radii": radii[own]}, {"points": points, "radii": radii}),
        "boxes": ({"boxes": (mine.points, upper[own])}, {"boxes": (points, upper)}),
    }[kind]
    letters = "ijS" if kind == "boxes" else "ijSdD"
    got = collect(mine, mine.pairs(**bodies, want=letters))
    counts = mine.gather(mine.count(**bodies))
    if got is not None and counts is not None:
        one = vc.pairs(**whole, **space, want=letters, sort=True)
        more = got[3:] or (np.zeros(len(got[0])), np.zeros(got[2].shape))
        pairs = Pairs(*got[:3], *more).oriented().sorted()
        for letter, column in zip(letters, one, strict=True):
            assert np.array_equal(getattr(pairs, letter), column), letter
        assert np.array_equal(counts, vc.count(**whole, **space))


@tried_on_all_ranks(120 // WORLD.size)
def decompositions(draw: Any) -> None:
    """Any cuts, empty ranks, giants larger than a part of space: always the pairs of one process."""
    dim, size, way = draw(st.sampled_from([2, 3])), draw(SIZES), draw(st.integers(0, 2))
    points, radii = some_points(draw, dim, size)
    box = draw(st.sampled_from([None, 1.0]) | st.tuples(*[st.sampled_from([None, 1.0])] * dim))
    domain = Domain(WORLD, box=box)
    mine = domain.scatter(share(WORLD, points, way), share(WORLD, np.arange(size), way))
    percent = st.tuples(*[st.integers(0, 100)] * dim)
    cut = np.array(draw(st.lists(percent, min_size=2, max_size=12, unique=True))) / 100
    domain.parts = bisect(cut, np.ones(len(cut)), WORLD.size)  # anything but the division that `scatter` made
    mine = mine.exchange()
    compare_search(mine, points, radii, draw(st.sampled_from(["points", "spheres", "boxes"])), {"box": box})


@tried_on_all_ranks(160 // WORLD.size)
def cells(draw: Any) -> None:
    """Tilted cells: hexagonal, strongly tilted, left-handed, thin, any; some axes open; points far outside."""
    dim = draw(st.sampled_from([2, 3]))
    number = st.floats(-2, 2).map(lambda x: round(x, 3))
    matrices = [
        [[1, 0, 0], [-0.5, 3**0.5 / 2, 0], [0, 0, 1.6]],
        [[1, 0, 0], [5.3, 1, 0], [-3.1, 7.7, 1]],
        [[0, 1, 0.3], [1, 0, 0], [0.2, 0, 1]],
        [[3, 0, 0], [0.4, 0.3, 0], [0, 0.1, 2]],
    ]
    box = draw(
        st.sampled_from([np.array(matrix)[:dim, :dim] for matrix in matrices])
        | st.lists(st.tuples(*[number] * dim), min_size=dim, max_size=dim).map(np.array)
        | (st.just((1.0, 1.2, 0.9, 70.0, 80.0, 110.0)) if dim == 3 else st.nothing())
    )
    if np.ndim(box) == 2 and abs(np.linalg.det(box)) < 0.05:  # flat
        box = np.eye(dim) + 0.3 * np.eye(dim, k=1)
    periodic = None if np.ndim(box) == 1 else draw(st.none() | st.lists(st.booleans(), min_size=dim, max_size=dim))
    points, radii = some_points(draw, dim, draw(SIZES))
    points = points * points.dtype.type(draw(st.sampled_from([1, 300])))
    way = draw(st.integers(0, 2))
    domain = Domain(WORLD, box=box, periodic=periodic)
    mine = domain.scatter(share(WORLD, points, way), share(WORLD, np.arange(len(points)), way))
    space = {"box": box, "periodic": periodic}
    compare_search(mine, points, radii, draw(st.sampled_from(["points", "spheres", "boxes"])), space)


def filters() -> None:
    """Types, groups, excluded pairs, criteria and smallest distances: pairs, rows, counts and components."""
    rng = np.random.default_rng(4)
    n = 400
    points, radii = rng.random((n, 3)), rng.uniform(0.02, 0.12, n)
    types, groups = rng.integers(0, 3, n), rng.integers(-1, 40, n)
    bonds = np.stack(vc.pairs(points, 0.11, box=1.0), axis=1)
    bonds = bonds[rng.random(len(bonds)) < 0.5]
    matrix = np.array([[0.1, 0.14, -1.0], [0.14, 0.06, 0.12], [-1.0, 0.12, 0.15]])
    mine = Domain(WORLD, box=1.0).scatter(share(WORLD, points, 0), share(WORLD, np.arange(n), 0))
    own = mine.owned_ids
    for name, local, whole in (
        ("types", {"cutoff": matrix, "types": types[own]}, {"cutoff": matrix, "types": types}),
        ("groups", {"cutoff": 0.12, "groups": groups[own]}, {"cutoff": 0.12, "groups": groups}),
        ("exclude", {"cutoff": 0.12, "exclude": bonds}, {"cutoff": 0.12, "exclude": bonds}),
        ("r_min", {"cutoff": 0.12, "r_min": 0.07}, {"cutoff": 0.12, "r_min": 0.07}),
        ("max", {"radii": radii[own], "criterion": "max"}, {"radii": radii, "criterion": "max"}),
        ("min", {"radii": radii[own], "criterion": "min"}, {"radii": radii, "criterion": "min"}),
        (
            "mean",
            {"radii": radii[own], "criterion": "mean", "exclude": bonds[:, ::-1], "groups": groups[own]},
            {"radii": radii, "criterion": "mean", "exclude": bonds, "groups": groups},
        ),
    ):
        got = collect(mine, mine.pairs(**local, want="ijSdD"))
        labels = mine.gather(mine.components(**local))
        counts = mine.gather(mine.count(**local))
        rows = mine.neighbors(**local, sort=True)
        directed = collect(mine, (np.repeat(np.arange(len(mine)), rows.counts), rows.indices))
        if got is not None and directed is not None:
            one = vc.pairs(points, **whole, box=1.0, want="ijSdD", sort=True)
            assert len(one[0]) > 40, name
            pairs = Pairs(*got).oriented().sorted()
            assert all(np.array_equal(getattr(pairs, c), a) for c, a in zip("ijSdD", one, strict=True)), name
            assert np.array_equal(counts, vc.count(points, **whole, box=1.0)), name
            assert np.array_equal(counts, np.bincount(directed[0], minlength=n)), name
            found = vc.components(points, **whole, box=1.0)
            first = np.unique(found, return_index=True)[1]
            assert np.array_equal(labels, first[found]), name


def difference(i: Any, j: Any, d2: Any, v: Any, mass: Any, scale: Any) -> Any:
    """Depends on the order of i and j."""
    return scale * v[0] * mass[i], (mass[i] - mass[j]) / (d2 + 0.1)


def closeness(_i: Any, _j: Any, d2: Any, _v: Any) -> Any:
    return 1.0 / (d2 + 0.01)


def consumers() -> None:
    """Nearest points, histograms, components and sums: open, periodic and tilted space, ties, and empty ranks."""
    tilted = [[1, 0, 0], [0.4, 0.9, 0], [-0.3, 0.2, 1.1]]
    for case, (dim, size, box, dtype) in enumerate(
        [
            (3, 500, None, np.float64),
            (2, 400, 1.0, np.float32),
            (3, 300, tilted, np.float64),
            (3, 300, (1.0, None, 1.0), np.float32),
            (2, 2, None, np.float64),
            (3, 5, 1.0, np.float64),
            (2, 0, None, np.float64),
        ]
    ):
        rng = np.random.default_rng(case)
        points = rng.random((size, dim)).astype(dtype)
        if case == 1:
            points = (points * 16).round().astype(dtype) / dtype(16)  # many at the same place or equally far away
        mass, types, groups = rng.random(size), rng.integers(0, 3, size), rng.integers(-1, 30, size)
        mine = Domain(WORLD, box=box).scatter(
            share(WORLD, points, case % 3),
            share(WORLD, np.arange(size), case % 3),
            fields={"mass": share(WORLD, mass, case % 3)},
        )
        own = mine.owned_ids
        edges = [0.0, 0.05, 0.1, 0.2]
        got: dict[str, Any] = {}
        for k in (1, 7):
            for cutoff in (np.inf, 0.15):
                d, j = mine.nearest(k, cutoff)
                got[f"d {k} {cutoff}"] = mine.gather(d)
                got[f"j {k} {cutoff}"] = mine.gather(np.where(j < 0, -1, mine.ids[j]))
        got["histogram"] = mine.histogram(edges)
        got["by groups"] = mine.histogram(edges, groups=groups[own])
        got["by types"] = mine.histogram(edges, types=types[own])
        got["components"] = mine.gather(mine.components(0.06))
        got["sum"] = mine.reduce(0.2, closeness)
        got["sums"] = mine.reduce(0.2, difference, fields=["mass"], data=(3.0,))
        got["each"] = mine.gather(mine.reduce(0.2, difference, each=True, fields=["mass"], data=(3.0,)))
        if WORLD.rank == 0:
            one: dict[str, Any] = {}
            for k in (1, 7):
                for cutoff in (np.inf, 0.15):
                    one[f"d {k} {cutoff}"], one[f"j {k} {cutoff}"] = vc.nearest(points, k, cutoff, box=box)
            one["histogram"] = vc.histogram(points, edges, box=box)
            one["by groups"] = vc.histogram(points, edges, box=box, groups=groups)
            one["by types"] = vc.histogram(points, edges, box=box, types=types)
            found = vc.components(points, 0.06, box=box)
            one["components"] = np.unique(found, return_index=True)[1][found] if size else found
            one["sum"] = vc.reduce(points, 0.2, closeness, box=box)
            one["sums"] = vc.reduce(points, 0.2, difference, data=(mass, 3.0), box=box)
            one["each"] = vc.reduce(points, 0.2, difference, each=True, data=(mass, 3.0), box=box)
            for name, expected in one.items():
                assert np.array_equal(got[name], expected), (case, name, got[name], expected)


def balance() -> None:
    """Ranks get equal shares of clustered points, and of weights."""
    rng = np.random.default_rng(2)
    points = np.concatenate([rng.normal(size=(20_000, 3)) * 0.01, rng.random((20_000, 3))])
    sizes = WORLD.allgather(len(Domain(WORLD).scatter(share(WORLD, points, 0))))
    assert sum(sizes) == 40_000
    assert max(sizes) < 1.1 * np.mean(sizes), sizes
    weights = np.where(points[:, 0] > 0.5, 10.0, 1.0)
    fields = {"cost": share(WORLD, weights, 0)}
    mine = Domain(WORLD).scatter(share(WORLD, points, 0), fields=fields, weights=fields["cost"])
    costs = WORLD.allgather(mine.fields["cost"].sum())
    assert max(costs) < 1.15 * np.mean(costs), costs
    assert mine.rebalance() is mine or WORLD.size > 1


def bisection() -> None:
    """Random points, weights and ranks: each rank's share of the weight is right to the weight of a body per cut."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        points, ranks = rng.normal(size=(rng.integers(1, 400), 2)).round(1), int(rng.integers(1, 9))
        weights = np.ones(len(points))
        owners = bisect(points, weights, ranks).owners(points)
        assert owners.min() >= 0
        assert owners.max() < ranks
        ties = max(np.unique(points[:, axis], return_counts=True)[1].max() for axis in (0, 1))
        assert np.bincount(owners, minlength=ranks).max() <= len(points) / ranks + 4 * ties + 1


def disagree() -> None:
    """An error of one rank is raised on all ranks; so are disagreements between them."""
    last = WORLD.size - 1

    wrong = np.full((3, 2), np.nan if WORLD.rank == last else 0.0)
    assert f"rank {last} of {WORLD.size}" in message(lambda: Domain(WORLD).scatter(wrong))
    mixed = np.zeros((3, 2), np.float32 if WORLD.rank == last else np.float64)
    assert "points must be alike on all ranks" in message(lambda: Domain(WORLD).scatter(mixed))
    assert "box must be the same" in message(lambda: Domain(WORLD, box=1.0 + WORLD.rank))
    mine = Domain(WORLD).scatter(np.random.default_rng(WORLD.rank).random((9, 2)))
    assert "cutoff must be" in message(lambda: mine.pairs(-1.0 if WORLD.rank == last else 1.0))
    assert "readable file" in message(lambda: Domain(WORLD).load("no_such_file.npy"))
    assert "types must be" in message(lambda: mine.pairs(np.ones((2, 2)), types=np.zeros(len(mine) + WORLD.rank, int)))
    assert "exclude must be" in message(lambda: mine.count(1.0, exclude=[1.0] if WORLD.rank == last else []))
    assert "k must be" in message(lambda: mine.nearest(0 if WORLD.rank == last else 1))
    assert "edges must be" in message(lambda: mine.histogram([1.0] if WORLD.rank == last else [0.0, 1.0]))
    assert "fields must be among [], got 'mass'" in message(lambda: mine.reduce(1.0, closeness, fields=["mass"]))


def arguments() -> None:
    """Arguments that are not the same on all ranks are refused by name, with the values and the ranks."""
    rank = WORLD.rank
    domain = Domain(WORLD)
    mine = domain.scatter(np.random.default_rng(rank).random((200, 3)))
    sizes = np.full(len(mine), 0.05)
    for call, wrong in (
        (lambda: mine.pairs(cutoff=0.05 if rank else 0.1), "cutoff, got 0.1 on rank 0 and 0.05 on rank 1"),
        (lambda: mine.count(cutoff=0.05, r_min=0.01 * rank), "r_min, got 0.0 on rank 0 and 0.01 on rank 1"),
        (lambda: mine.histogram(np.linspace(0, 0.5, 2 + rank)), "edges, got [0.0, 0.5] on rank 0 and [0.0, 0.25, 0.5]"),
        (
            lambda: mine.histogram(np.linspace(0, 0.5 + rank, 99)),
            "edges, got different values of shape (99,) on rank 0 and on rank 1",
        ),
        (lambda: mine.nearest(3 + rank), "k, got 3 on rank 0 and 4 on rank 1"),
        (lambda: mine.nearest(3, 0.1 + rank), "cutoff, got 0.1 on rank 0 and 1.1 on rank 1"),
        (
            lambda: mine.neighbors(**({"radii": sizes} if rank else {"cutoff": 0.1})),
            "cutoff, got 0.1 on rank 0 and None",
        ),
        (
            lambda: mine.components(0.1, groups=np.zeros(len(mine), int) if rank else None),
            "whether groups= is passed, got False on rank 0 and True on rank 1",
        ),
        (lambda: mine.pairs(0.1, half=rank == 0), "half, got True on rank 0 and False on rank 1"),
        (lambda: mine.reduce(0.1, closeness, each=rank == 0), "each, got True on rank 0 and False on rank 1"),
        (lambda: mine.rebalance(tolerance=1.1 + rank), "tolerance, got 1.1 on rank 0 and 2.1 on rank 1"),
        (lambda: mine.borders(0.1 + rank), "cutoff, got 0.1 on rank 0 and 1.1 on rank 1"),
    ):
        name, got = wrong.split(", ", maxsplit=1)
        assert message(call).startswith(f"{name} must be the same on all ranks, {got}"), (message(call), wrong)
    assert "ids must be passed by all ranks with bodies or by none" in message(
        lambda: domain.scatter(np.zeros((1, 3)), [7] if rank else None)
    )
    none = domain.scatter(np.zeros((2, 3)) if rank else None, [5, 6] if rank else None)
    assert sorted(id_ for ids in WORLD.allgather(none.owned_ids.tolist()) for id_ in ids) == [5, 6]
    # The same values of other types, and what belongs to a rank, are no disagreement.
    mine.pairs(np.float32(0.5) if rank else 0.5, exclude=[[rank, 2]], want="ijd" if rank else "ij", sort=bool(rank))
    mine.histogram([0, 1] if rank else np.array([0.0, 1.0]))


def load() -> None:
    """Points from files, of which every rank or only the first reads a part."""
    folder = Path(sys.argv[2])
    points = np.random.default_rng(3).random((100, 3))
    if WORLD.rank == 0:
        np.save(folder / "points.npy", points)
        np.savetxt(folder / "points.csv", points, delimiter=",", fmt="%.17g")
    WORLD.Barrier()
    for name in ("points.npy", "points.csv"):
        mine = Domain(WORLD).load(folder / name)
        assert np.array_equal(mine.points, points[mine.owned_ids]), name
        assert WORLD.allreduce(len(mine)) == 100
    for name, content in (("broken.npy", "no array"), ("broken.csv", "x,y,z\n1,2,three\n")):
        if WORLD.rank == 0:
            (folder / name).write_text(content)
        WORLD.Barrier()
        assert name in message(lambda name=name: Domain(WORLD).load(folder / name)), name


def fail() -> None:
    """One rank fails while the others wait for it."""
    if WORLD.rank == 1:
        raise RuntimeError("the second rank has failed")
    WORLD.Barrier()


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        globals()[name]()
        WORLD.Barrier()
    if WORLD.rank == 0:
        print(f"passed on {WORLD.size} ranks")
