"""What is made of the pairs of all ranks without storing them: components, histograms, nearest points, sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal.bodies import QueryArguments, check_points
from vicinal.components import components
from vicinal.distributed.agreement import check_same, passed
from vicinal.distributed.ghost_search import GhostSearch, joined
from vicinal.distributed.messages import Array, together
from vicinal.distributed.wishes import Wishes
from vicinal.errors import InputError
from vicinal.fused import check_edges, check_marks
from vicinal.histogram import histogram
from vicinal.nearest import check_nearest, nearest
from vicinal.pair_function import PairFunction
from vicinal.reduce import ExactTotal, exact_total, reduce
from vicinal.search import pairs

if TYPE_CHECKING:
    from vicinal.distributed.bodies import LocalBodies

Ids = npt.NDArray[np.int64]
Kinds = npt.NDArray[np.int32] | None

# Of the sphere in which the nearest points are expected, by the mean density; more are searched for again.
FIRST_GUESS = 1.5


def find_components(mine: LocalBodies, search: GhostSearch) -> Ids:
    """Return the smallest id in the component of every own body."""
    comm, halo = mine.domain.comm, mine.halo
    assert halo is not None  # noqa: S101 - the search has fetched ghosts
    labels = components(**search.inner(), **search.space).astype(np.int64)
    count = int(labels.max(initial=-1)) + 1
    first = np.full(count, np.iinfo(np.int64).max)
    np.minimum.at(first, labels, mine.owned_ids)
    # Components of all ranks have the numbers of bodies in them: the smallest id of an own part is unique.
    names = first[labels]
    seen = np.concatenate([names, halo.forward(names)])
    border = search.border_pairs("ij") if not search.alone else {"i": labels[:0], "j": labels[:0]}
    links = np.unique(np.stack([seen[border["i"]], seen[border["j"]]], axis=1), axis=0)
    links = np.concatenate(comm.allgather(links))
    if not len(links):
        return names
    parts, ends = np.unique(links, return_inverse=True)
    roots = _joined_parts(ends.reshape(-1, 2), len(parts))
    place = np.minimum(np.searchsorted(parts, names), len(parts) - 1)
    return np.where(parts[place] == names, parts[roots[place]], names)


def _joined_parts(links: Ids, size: int) -> npt.NDArray[np.intp]:
    """Return for each of `size` parts the smallest one that links connect it with."""
    roots = np.arange(size)
    while True:
        ends = roots[links]
        low = ends.min(axis=1)
        if (ends == low[:, None]).all():
            return roots
        for end in (0, 1):
            np.minimum.at(roots, ends[:, end], low)
        while not np.array_equal(roots, roots[roots]):
            roots = roots[roots]


def count_distances(
    mine: LocalBodies, edges: npt.ArrayLike, types: npt.ArrayLike | None, wishes: Wishes
) -> npt.NDArray[np.int64]:
    """Return the number of pairs in each bin, of all ranks."""
    comm, domain, of_queries = mine.domain.comm, mine.domain, wishes.of_queries
    check_same(comm, {"edges": edges, **passed(types=types)})
    space: dict[str, Any] = {"box": domain.box, "periodic": domain.periodic, "structure": wishes.structure}
    asked: dict[str, Any] = {
        "queries": of_queries["queries"],
        "query_types": of_queries["query_types"],
        "query_groups": of_queries["query_groups"],
    }

    def check() -> tuple[float, Kinds, Kinds]:
        cutoff = check_edges(edges, check_points(mine.points))[1]
        kinds = check_marks(None, types, len(mine), ("weights", "types"))[1]
        none: dict[str, Any] = {
            "types": None if kinds is None else kinds[:0],
            "groups": None if wishes.groups is None else [],
            "exclude": None if wishes.exclude is None else np.zeros((0, 2), np.int64),
        }
        histogram(mine.points[:0], edges, **none, **asked, **space)
        return (
            cutoff,
            kinds,
            None if of_queries["query_types"] is None else np.asarray(of_queries["query_types"], np.int32),
        )

    cutoff, kinds, query_kinds = together(comm, check)
    search = mine._prepare(replace(wishes, cutoff=cutoff, of_queries={"queries": of_queries["queries"]}))  # noqa: SLF001
    assert mine.halo is not None  # noqa: S101 - the search has fetched ghosts
    every = None if kinds is None else np.concatenate([kinds, mine.halo.forward(kinds)])
    sizes = [max(comm.allgather(0 if some is None else int(some.max(initial=0)) + 1)) for some in (every, query_kinds)]
    columns = max(sizes[0], 1)
    total = np.zeros(
        (sizes[1] if wishes.has_queries and every is not None else columns, columns, _bins(edges)), np.int64
    )

    def counts(rows: npt.NDArray[np.intp], **asked: Any) -> npt.NDArray[np.int64]:
        some = search.some(rows)
        chosen = {"types": None if every is None else every[rows], "groups": some["groups"], "exclude": some["exclude"]}
        found: npt.NDArray[np.int64] = histogram(some["points"], edges, **chosen, **asked, **space)
        return found if found.ndim == 3 else found[None, None]

    def add(part: npt.NDArray[np.int64], sign: int) -> None:
        total[: part.shape[0], : part.shape[1]] += sign * part  # a rank may know fewer types

    whole = np.arange(len(mine.ids))
    if wishes.has_queries:
        add(counts(whole, **asked), 1)
    else:
        add(counts(whole), 1)
        add(counts(whole[len(mine) :]), -1)
    sums = np.empty_like(total)
    comm.Allreduce(total, sums)
    return sums if every is not None else sums[0, 0]


def _bins(edges: npt.ArrayLike) -> int:
    return len(_check.as_array(edges, "edges")) - 1


def find_nearest(
    mine: LocalBodies, k: int, cutoff: float, queries: npt.ArrayLike | None
) -> tuple[Array, npt.NDArray[np.int32]]:
    """Return distances and local numbers of the nearest points of every own body, or of every query."""
    domain, comm = mine.domain, mine.domain.comm
    check_same(comm, {"k": k, "cutoff": cutoff, **passed(queries=queries)})
    total = comm.allreduce(len(mine))
    bodies = check_points(mine.points)
    cell = domain.cell(bodies.dim, bodies.array.dtype)

    def check() -> tuple[int, float, Bodies | None]:
        asked = None if queries is None else _check.check_like(queries, bodies, cell, "queries")
        return *check_nearest(k, cutoff, bodies, cell), asked

    number, reach, asked = together(comm, check)
    places = mine.points if asked is None else np.concatenate([mine.points, asked.array])
    low = np.min(comm.allgather(places.min(axis=0, initial=np.inf).astype(np.float64)), axis=0)
    high = np.max(comm.allgather(places.max(axis=0, initial=-np.inf).astype(np.float64)), axis=0)
    spans = np.where(np.isfinite(high - low), high - low, 0.0)
    farthest = math.inf if cell.periodic else float(np.linalg.norm(spans)) * (1 + 1e-6)
    edge = max(float(spans.max(initial=0.0)), cell.size) or 1.0
    radius = FIRST_GUESS * edge * (number / max(total, 1)) ** (1 / bodies.dim)
    while True:
        radius = min(radius, reach)
        distances, indices = _nearest_within(mine, number, radius, None if asked is None else asked.array)
        missing = bool((indices[:, -1] < 0).any()) and radius < reach and radius < farthest
        if not max(comm.allgather(missing)):
            return distances, indices
        radius *= 2


def _nearest_within(
    mine: LocalBodies, k: int, radius: float, queries: Array | None
) -> tuple[Array, npt.NDArray[np.int32]]:
    search = mine._prepare(Wishes(radius, of_queries={"queries": queries}), everywhere=True)  # noqa: SLF001
    order = np.argsort(mine.ids, kind="stable")  # of points equally far away, the first one counts
    everything = joined(search.own, search.ghosts)
    space: dict[str, Any] = {"box": mine.domain.box, "periodic": mine.domain.periodic}
    distances, found = nearest(everything.array[order], k, radius, **space, queries=queries)
    if queries is None:
        own = np.argsort(order)[: len(mine)]
        distances, found = distances[own], found[own]
    return distances, np.where(found < 0, found, order[found]).astype(np.int32)


def sum_function(
    mine: LocalBodies,
    wishes: Wishes,
    function: PairFunction,
    fields: Sequence[str],
    query_fields: Sequence[npt.ArrayLike],
    data: tuple[Any, ...],
    *,
    each: bool,
) -> Any:
    """Return the sum over all pairs of all ranks, or that of each own body or query."""
    comm = mine.domain.comm
    count = len(query_fields)
    check_same(comm, {"function": function, "each": each, "fields": fields, "query_fields": count, "data": data})
    further = together(comm, lambda: _check_fields(mine, fields, query_fields, wishes))
    search = mine._prepare(wishes, pairs, everywhere=each)  # noqa: SLF001
    halo = mine.halo
    assert halo is not None  # noqa: S101 - the search has fetched ghosts
    columns = [np.concatenate([c, halo.forward(c)]) for c in (mine.fields[name] for name in fields)]
    by_id = np.argsort(mine.ids, kind="stable")
    queries = wishes.of_queries if wishes.has_queries else QueryArguments()

    def arguments(rows: npt.NDArray[np.intp]) -> dict[str, Any]:
        given = (*(column[rows] for column in columns), *further, *data)
        return {"function": function, **search.some(rows), **_without_boxes(queries), "data": given}

    if each:
        sums = together(comm, lambda: reduce(**{"cutoff": None, **arguments(by_id)}, each=True))
        return sums if wishes.has_queries else sums[np.argsort(by_id)[: len(mine)]]

    def total() -> ExactTotal:
        found = exact_total(**arguments(by_id))
        ghosts = by_id[by_id >= len(mine)]
        if wishes.has_queries or not len(ghosts):
            return found
        # Sums are exact, so that pairs of two ghosts, which other ranks count, can be taken away again.
        return replace(found, digits=found.digits - exact_total(**arguments(ghosts)).digits)

    own = together(comm, total)
    digits = np.empty_like(own.digits)
    comm.Allreduce(own.digits, digits)
    values = _core.exact_values(digits)
    return float(values[0]) if own.single else values


def _without_boxes(queries: QueryArguments) -> dict[str, Any]:
    return {name: value for name, value in queries.items() if name != "query_boxes"}


def _check_fields(
    mine: LocalBodies, fields: Sequence[str], query_fields: Sequence[npt.ArrayLike], wishes: Wishes
) -> list[Array]:
    """Check the names of columns of bodies, and return those of queries."""
    for name in fields:
        if name not in mine.fields:
            raise InputError(f"fields must be among {sorted(mine.fields)}, got {name!r}; pass them to scatter")
    given = wishes.of_queries["queries"]
    count = 0 if given is None else len(_check.as_array(given, "queries"))
    columns = [_check.as_array(column, "query_fields") for column in query_fields]
    for column in columns:
        if len(column) != count:
            raise InputError(f"query_fields must have one row for each of the {count} queries, got {len(column)}")
    return columns
