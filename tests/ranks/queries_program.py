"""Second sets, and options of searches, on several ranks: ``mpiexec -n 3 python queries_program.py NAME``.

Together, the ranks find what one process finds.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import vicinal as vc
from cases import BOTH, BUILDERS, DIMS, SIZED, hard_problem
from ranks.program import WORLD, closeness, deal, difference, message, share
from vicinal.distributed import Domain, LocalBodies

COUNT = 300  # of the bodies of `problem`


def ordered(*columns: Any) -> list[Any] | None:
    """Columns of all ranks on rank 0, by i and j, and by the shift, which comes third."""
    parts = WORLD.gather(columns)
    if parts is None:
        return None
    whole = [np.concatenate(column) for column in zip(*parts, strict=True)]
    shifts = [*whole[2].T[::-1]] if len(whole) > 2 else []
    order = np.lexsort([*shifts, whole[1], whole[0]])
    return [column[order] for column in whole]


def same(got: Any, expected: Any, label: Any) -> None:
    """Compare columns, if this is rank 0."""
    if WORLD.rank == 0:
        for place, (one, other) in enumerate(zip(got, expected, strict=True)):
            assert np.array_equal(one, other), (label, place, one, other)


def placed(domain: Domain, second: dict[str, Any], way: int) -> tuple[Any, dict[str, Any]]:
    """Send a second set to the ranks that own its places, or leave it anywhere; return its numbers and keywords."""
    lower = second["query_boxes"][0] if "query_boxes" in second else second["queries"]
    columns = {"number": np.arange(len(lower))}
    if "query_radii" in second:
        columns["query_radii"] = np.broadcast_to(second["query_radii"], len(lower))
    if "query_boxes" in second:
        columns["upper"] = second["query_boxes"][1]
    own = {name: share(WORLD, column, way) for name, column in columns.items()}
    places = share(WORLD, lower, way)
    if way != 1:
        asked = domain.scatter(places, fields=own, divide=False)
        places, own = asked.points, asked.fields
    given = {"query_radii": own["query_radii"]} if "query_radii" in own else {}
    given |= {"query_boxes": (places, own["upper"])} if "upper" in own else {"queries": places}
    return own["number"], given


def hard_cases() -> None:
    """Every hard case has a second set: its pairs, rows and counts."""
    checked = 0
    for k, name in enumerate([*BUILDERS, *SIZED]):
        dtype, dim = BOTH[k % 2], DIMS[k % 2]
        problem = hard_problem(name, dtype, dim)
        if problem.skin or len(problem.positions) > 3000:
            continue
        others = problem.others()
        mine, sizes = deal(WORLD, problem, k % 3)
        number, given = placed(mine.domain, others, k % 3)
        letters = "ijS" if problem.boxes is not None or "query_boxes" in others else "ijSdD"
        i, j, *rest = mine.pairs(**sizes, **given, want=letters)
        got = ordered(number[i], mine.ids[j], *rest)
        rows = mine.neighbors(**sizes, **given, want="jS")
        owners = np.repeat(number, rows.counts)
        by_row = ordered(owners, mine.ids[rows.indices], rows.shifts)
        counts = ordered(number, mine.count(**sizes, **given))
        if WORLD.rank == 0:
            checked += 1
            one = vc.pairs(**problem.bodies, **others, want=letters, sort=True)
            same(got, one, name)
            same(by_row, one[:3], f"rows of {name}")
            same([counts[1]], [vc.count(**problem.bodies, **others)], f"counts of {name}")
    assert checked > 60 or WORLD.rank, checked


def problem(case: int) -> tuple[LocalBodies, dict[str, Any], dict[str, Any]]:
    """Some bodies on ranks, the columns of all of them, and the space."""
    dim, box, dtype = [
        (3, None, np.float64),
        (2, 1.0, np.float32),
        (3, [[1, 0, 0], [0.4, 0.9, 0], [0, 0.2, 1.1]], float),
    ][case]
    rng = np.random.default_rng(case)
    whole = {
        "points": rng.random((COUNT, dim)).astype(dtype),
        "mass": rng.random(COUNT),
        "types": rng.integers(0, 3, COUNT),
        "groups": rng.integers(-1, 30, COUNT),
        "radii": rng.uniform(0.02, 0.1, COUNT).astype(dtype),
    }
    if case == 1:
        whole["points"] = (whole["points"] * 16).round().astype(dtype) / dtype(16)  # many equally far away
    fields = {"mass": share(WORLD, whole["mass"], case)}
    mine = Domain(WORLD, box=box).scatter(
        share(WORLD, whole["points"], case), share(WORLD, np.arange(COUNT), case), fields=fields
    )
    return mine, whole, {"box": box}


def pull(i: Any, j: Any, d2: Any, v: Any, mass: Any, charge: Any, scale: Any) -> Any:
    return scale * v[0] * charge[i], mass[j] / (d2 + 0.1)


def consumers() -> None:
    """Nearest points, histograms and sums of a second set; its types and groups; criteria."""
    matrix = np.array([[0.1, 0.14, -1.0], [0.14, 0.06, 0.12], [-1.0, 0.12, 0.15]])
    for case in range(3):
        mine, whole, space = problem(case)
        rng = np.random.default_rng(case + 9)
        queries = (rng.random((70, whole["points"].shape[1])) * 1.4 - 0.2).astype(whole["points"].dtype)
        number, given = placed(mine.domain, {"queries": queries}, case)
        types, groups, charge = rng.integers(0, 3, 70), rng.integers(-1, 30, 70), rng.random(70)
        own, points, edges = mine.owned_ids, whole["points"], [0.0, 0.05, 0.1, 0.2]
        kinds = {"types": whole["types"], "query_types": types}
        kept = {"groups": whole["groups"], "query_groups": groups}
        local = {"types": whole["types"][own], "query_types": types[number]}
        here = {"groups": whole["groups"][own], "query_groups": groups[number]}
        for k, cutoff in ((1, np.inf), (7, np.inf), (4, 0.1)):
            d, j = mine.nearest(k, cutoff, **given)
            got = ordered(number, np.zeros(len(number)), number[:, None], d, np.where(j < 0, -1, mine.ids[j]))
            if got is not None:
                same(got[3:], vc.nearest(points, k, cutoff, queries=queries, **space), (case, k, cutoff))
        same([mine.histogram(edges, **given)], [vc.histogram(points, edges, queries=queries, **space)], case)
        got = mine.histogram(edges, **given, **local, **here)
        same([got], [vc.histogram(points, edges, queries=queries, **kinds, **kept, **space)], case)
        for theirs, ours in (
            ({"cutoff": matrix, **kinds}, {"cutoff": matrix, **local}),
            ({"cutoff": 0.12, "r_min": 0.05, **kept}, {"cutoff": 0.12, "r_min": 0.05, **here}),
            (
                {"radii": whole["radii"], "criterion": "max", "query_radii": 0.1 * charge},
                {"radii": whole["radii"][own], "criterion": "max", "query_radii": 0.1 * charge[number]},
            ),
            ({"query_radii": 0.3 * charge}, {"query_radii": 0.3 * charge[number]}),
        ):
            i, j, S, d = mine.pairs(**ours, **given, want="ijSd")
            one = vc.pairs(points, **theirs, queries=queries, **space, want="ijSd", sort=True)
            same(ordered(number[i], mine.ids[j], S, d) or [], one if WORLD.rank == 0 else [], (case, ours.keys()))
        data = {"fields": ["mass"], "query_fields": [charge[number]], "data": (3.0,)}
        theirs = {"data": (whole["mass"], charge, 3.0), "queries": queries, **kept, **space}
        got = mine.reduce(0.2, pull, **given, **here, **data)
        same([got], [vc.reduce(points, 0.2, pull, **theirs)], case)
        each = ordered(number, number, number[:, None], mine.reduce(0.2, pull, each=True, **given, **here, **data))
        if each is not None:
            same([each[3]], [vc.reduce(points, 0.2, pull, each=True, **theirs)], case)


def tempted(_i: Any, _j: Any, d2: Any, _v: Any) -> Any:
    """Infinite for points in the same place."""
    return 1.0 / d2 if d2 > 0 else 1e308 * 10


def options() -> None:
    """Self pairs, nearest neighbours of each body, chunks; excluded pairs and groups of histograms and sums."""
    for case in range(3):
        mine, whole, space = problem(case)
        points, own, groups = whole["points"], mine.owned_ids, whole["groups"]
        bonds = np.stack(vc.pairs(points, 0.11, **space), axis=1)
        bonds = bonds[np.random.default_rng(case).random(len(bonds)) < 0.5]
        for half in (True, False):
            one = vc.pairs(points, 0.2, **space, want="ijSd", half=half, sort=True, self_pairs=True)
            i, j, S, d = mine.pairs(0.2, want="ijSd", half=half, sort=True, self_pairs=True)
            assert (np.diff(i.astype(np.int64) * len(mine.ids) + j) >= 0).all()
            if not half:
                same(ordered(mine.ids[i], mine.ids[j], S, d) or [], one if WORLD.rank == 0 else [], (case, half))
            size = WORLD.allreduce(len(i))
            assert size == len(one[0]), (case, half)
            parts = [*mine.pairs(0.2, want="jiSd", half=half, chunks=50)]
            assert all(0 < len(part[0]) <= 50 for part in parts), [len(part[0]) for part in parts]
            j, i, S, d = (np.concatenate(column) for column in zip(*parts, strict=True))
            one = vc.pairs(points, 0.2, **space, want="ijSd", half=False, sort=True)
            if half:
                i, j, S, d = np.append(i, j), np.append(j, i), np.append(S, 0 - S, axis=0), np.append(d, d)
            same(ordered(mine.ids[i], mine.ids[j], S, d) or [], one if WORLD.rank == 0 else [], (case, "chunks"))
        counts = mine.gather(mine.count(0.2, self_pairs=True))
        same([counts], [vc.count(points, 0.2, **space, self_pairs=True)], case)
        for k, self_pairs in ((1, False), (5, True), (1000, False)):
            found = mine.neighbors(0.25, max_neighbors=k, want="dSj", self_pairs=self_pairs, groups=groups[own])
            one = vc.neighbors(
                points, 0.25, max_neighbors=k, want="dSj", sort=True, self_pairs=self_pairs, groups=groups, **space
            )
            i = np.repeat(own, found.counts)
            got = ordered(i, mine.ids[found.indices], found.shifts, found.distances)
            theirs = [np.repeat(np.arange(COUNT), one.counts), one.indices, one.shifts, one.distances]
            same(got or [], theirs if WORLD.rank == 0 else [], (case, k))
        queries, number = points[::3], np.arange(len(points[::3]))[WORLD.rank :: WORLD.size]
        found = mine.neighbors(0.25, max_neighbors=4, want="dSj", queries=queries[number])
        one = vc.neighbors(points, 0.25, max_neighbors=4, want="dSj", sort=True, queries=queries, **space)
        got = ordered(np.repeat(number, found.counts), mine.ids[found.indices], found.shifts, found.distances)
        theirs = [np.repeat(np.arange(len(queries)), one.counts), one.indices, one.shifts, one.distances]
        same(got or [], theirs if WORLD.rank == 0 else [], (case, "nearest of queries"))
        edges = [0.0, 0.05, 0.1, 0.2]
        for own_given, given in (
            ({"exclude": bonds}, {"exclude": bonds}),
            ({"exclude": bonds, "groups": groups[own]}, {"exclude": bonds, "groups": groups}),
            ({"exclude": bonds, "types": whole["types"][own]}, {"exclude": bonds, "types": whole["types"]}),
        ):
            same([mine.histogram(edges, **own_given)], [vc.histogram(points, edges, **given, **space)], case)
        for own_given, given in (
            ({"groups": groups[own]}, {"groups": groups}),
            ({"exclude": bonds}, {"exclude": bonds}),
            (
                {"exclude": bonds, "groups": groups[own], "r_min": 0.06},
                {"exclude": bonds, "groups": groups, "r_min": 0.06},
            ),
        ):
            data = {"fields": ["mass"], "data": (3.0,)}
            theirs = {"data": (whole["mass"], 3.0), **given, **space}
            got = mine.reduce(0.2, difference, **own_given, **data)
            same([got], [vc.reduce(points, 0.2, difference, **theirs)], case)
            each = mine.gather(mine.reduce(0.2, difference, each=True, **own_given, **data))
            if each is not None:
                same([each], [vc.reduce(points, 0.2, difference, each=True, **theirs)], case)
        # An infinite value of excluded pairs, of which a rank knows those of its own bodies only, does not count.
        together = np.stack(vc.pairs(points, 0.0, **space), axis=1)
        known = together[np.isin(together, own).any(axis=1)]
        same([mine.reduce(0.1, tempted)], [vc.reduce(points, 0.1, tempted, **space)], case)
        got = mine.reduce(0.1, tempted, exclude=known)
        same([got], [vc.reduce(points, 0.1, tempted, exclude=together, **space)], case)
        assert np.isfinite(got)
        assert case != 1 or len(together) > 50


def wrong() -> None:
    """What one process refuses, ranks refuse; what only some ranks pass is named."""
    rank, points = WORLD.rank, np.random.default_rng(WORLD.rank).random((20, 3))
    mine = Domain(WORLD).scatter(points)
    nowhere = np.full((1, 3), np.nan) if rank else points[:1]
    for call, text in (
        (lambda: mine.pairs(0.1, queries=nowhere), "queries must be finite"),
        (lambda: mine.pairs(0.1, queries=points if rank else None), "whether queries= is passed must be the same"),
        (lambda: mine.pairs(0.1, queries=points, half=False), "half must be True with queries"),
        (lambda: mine.pairs(0.1, queries=points, self_pairs=True), "self_pairs must be False with queries"),
        (lambda: mine.pairs(0.1, queries=points, query_radii=0.1), "query_radii= must not be combined with cutoff="),
        (lambda: mine.count(0.1, queries=points, exclude=[[1, 2]]), "exclude must be left out with queries"),
        (lambda: mine.pairs(0.1, chunks=5, sort=True), "sort must be False with chunks"),
        (lambda: mine.pairs(0.1, chunks=5 + rank), "chunks must be the same on all ranks"),
        (lambda: mine.neighbors(0.1, max_neighbors=0), "max_neighbors must be a whole number of at least 1"),
        (lambda: mine.nearest(1, queries=points[:, : 3 - rank]), "queries must have 3 columns"),
        (
            lambda: mine.histogram([0, 0.1], queries=points, query_types=np.zeros(20, int)),
            "query_types must be given with",
        ),
        (
            lambda: mine.reduce(0.1, closeness, query_fields=[points[:, 0]]),
            "query_fields must have one row for each of the 0",
        ),
        (lambda: mine.domain.scatter(points, divide=rank == 0), "divide must be the same on all ranks"),
    ):
        assert text in message(call), (text, message(call))
    # No queries on some ranks, or on all.
    for count in (0, 3 * rank):
        i, _ = mine.pairs(2.0, queries=points[:count])
        assert len(i) == count * 20 * WORLD.size
        assert mine.nearest(2, queries=points[:count])[0].shape == (count, 2)
        assert mine.histogram([0.0, 2.0], queries=points[:count]).sum() == WORLD.allreduce(count) * 20 * WORLD.size


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        globals()[name]()
        WORLD.Barrier()
    if WORLD.rank == 0:
        print(f"passed on {WORLD.size} ranks")
