"""What is made of the pairs of all ranks without storing them: components, histograms, nearest points, sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.bodies import check_points
from vicinal.components import components
from vicinal.distributed.agreement import check_same, passed
from vicinal.distributed.ghost_search import GhostSearch, joined
from vicinal.distributed.messages import Array, together
from vicinal.distributed.wishes import Wishes
from vicinal.errors import InputError
from vicinal.fused import check_edges
from vicinal.histogram import histogram
from vicinal.nearest import check_nearest, nearest
from vicinal.pair_function import PairFunction
from vicinal.reduce import exact_total, reduce
from vicinal.structures import StructureLike

if TYPE_CHECKING:
    from vicinal.distributed.bodies import LocalBodies

Ids = npt.NDArray[np.int64]

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
    mine: LocalBodies,
    edges: npt.ArrayLike,
    types: npt.ArrayLike | None,
    groups: npt.ArrayLike | None,
    structure: StructureLike,
) -> npt.NDArray[np.int64]:
    """Return the number of pairs in each bin, of all ranks."""
    comm, domain = mine.domain.comm, mine.domain
    check_same(comm, {"edges": edges, **passed(types=types, groups=groups)})
    _, cutoff = together(comm, lambda: check_edges(edges, check_points(mine.points)))
    kinds = None if types is None else _check.as_array(types, "types")
    space: dict[str, Any] = {"box": domain.box, "periodic": domain.periodic, "structure": structure}
    counts = together(comm, lambda: histogram(mine.points, edges, types=kinds, groups=groups, **space))
    search = mine._prepare(Wishes(cutoff, groups=groups, structure=structure))  # noqa: SLF001
    size = 0 if kinds is None else max(comm.allgather(int(kinds.max(initial=-1)) + 1))
    total = np.zeros((max(1, size), max(1, size), len(_check.as_array(edges, "edges")) - 1), np.int64)
    _add(total, counts)
    assert mine.halo is not None  # noqa: S101 - the search has fetched ghosts
    far = None if kinds is None else mine.halo.forward(kinds.astype(np.int32)).copy()
    if not search.alone:
        near = search.own.taken(search.near)
        queries: dict[str, Any] = {"queries": near.array, "query_groups": near.groups}
        if kinds is not None:
            queries["query_types"] = kinds[search.near]
        across = histogram(search.ghosts.array, edges, types=far, groups=search.ghosts.groups, **queries, **space)
        _add(total, across)
        if kinds is not None:  # a pair of two types counts at both
            different = 1 - np.eye(*across.shape[:2], dtype=np.int64)
            _add(total, (across * different[:, :, None]).swapaxes(0, 1))
    sums = np.empty_like(total)
    comm.Allreduce(total, sums)
    return sums if kinds is not None else sums[0, 0]


def _add(total: npt.NDArray[np.int64], counts: Array) -> None:
    """Add counts by types, of which a rank may know fewer."""
    part = counts if counts.ndim == 3 else counts[None, None]
    total[: part.shape[0], : part.shape[1]] += part


def find_nearest(mine: LocalBodies, k: int, cutoff: float) -> tuple[Array, npt.NDArray[np.int32]]:
    """Return distances and local numbers of the nearest points of every own body."""
    domain, comm = mine.domain, mine.domain.comm
    check_same(comm, {"k": k, "cutoff": cutoff})
    total = comm.allreduce(len(mine))
    bodies = check_points(mine.points)
    cell = domain.cell(bodies.dim, bodies.array.dtype)
    number, reach = together(comm, lambda: check_nearest(k, cutoff, bodies, cell))
    low = np.min(comm.allgather(mine.points.min(axis=0, initial=np.inf).astype(np.float64)), axis=0)
    high = np.max(comm.allgather(mine.points.max(axis=0, initial=-np.inf).astype(np.float64)), axis=0)
    spans = np.where(np.isfinite(high - low), high - low, 0.0)
    farthest = math.inf if cell.periodic else float(np.linalg.norm(spans)) * (1 + 1e-6)
    edge = max(float(spans.max(initial=0.0)), cell.size) or 1.0
    radius = FIRST_GUESS * edge * (number / max(total, 1)) ** (1 / bodies.dim)
    while True:
        radius = min(radius, reach)
        distances, indices = _nearest_within(mine, number, radius)
        missing = bool((indices[:, -1] < 0).any()) and radius < reach and radius < farthest
        if not max(comm.allgather(missing)):
            return distances, indices
        radius *= 2


def _nearest_within(mine: LocalBodies, k: int, radius: float) -> tuple[Array, npt.NDArray[np.int32]]:
    search = mine._prepare(Wishes(radius), everywhere=True)  # noqa: SLF001
    order = np.argsort(mine.ids, kind="stable")  # of points equally far away, the first one counts
    everything = joined(search.own, search.ghosts)
    space: dict[str, Any] = {"box": mine.domain.box, "periodic": mine.domain.periodic}
    distances, found = nearest(everything.array[order], k, radius, **space)
    own = np.argsort(order)[: len(mine)]
    indices = found[own]
    return distances[own], np.where(indices < 0, indices, order[indices]).astype(np.int32)


def sum_function(
    mine: LocalBodies,
    wishes: Wishes,
    function: PairFunction,
    fields: Sequence[str],
    data: tuple[Any, ...],
    *,
    each: bool,
) -> Any:
    """Return the sum over all pairs of all ranks, or that of each own body."""
    comm = mine.domain.comm
    check_same(comm, {"function": function, "each": each, "fields": fields, "data": data})
    together(comm, lambda: _check_fields(mine, fields))
    search = mine._prepare(wishes, everywhere=each)  # noqa: SLF001
    halo = mine.halo
    assert halo is not None  # noqa: S101 - the search has fetched ghosts
    columns = [np.concatenate([c, halo.forward(c)]) for c in (mine.fields[name] for name in fields)]

    def arguments(rows: npt.NDArray[np.intp]) -> dict[str, Any]:
        chosen = joined(search.own, search.ghosts).taken(rows)
        return {**chosen.as_bodies(), **search.space, "data": (*(column[rows] for column in columns), *data)}

    by_id = np.argsort(mine.ids, kind="stable")
    if each:
        sums = together(comm, lambda: reduce(function=function, each=True, **{"cutoff": None, **arguments(by_id)}))
        return sums[np.argsort(by_id)[: len(mine)]]
    # Pairs of own bodies, and those with ghosts: bodies of one group form no pairs.
    own = by_id[by_id < len(mine)]
    near = np.isin(by_id, search.near) | (by_id >= len(mine))
    across = by_id[near if not search.alone else np.zeros(len(by_id), bool)]
    inner = together(comm, lambda: exact_total(function, **arguments(own)))
    outer = together(
        comm, lambda: exact_total(function, **{**arguments(across), "groups": (across >= len(mine)).astype(np.int32)})
    )
    digits = np.empty_like(inner.digits)
    comm.Allreduce(inner.digits + outer.digits, digits)
    values = _core.exact_values(digits)
    return float(values[0]) if inner.single else values


def _check_fields(mine: LocalBodies, fields: Sequence[str]) -> None:
    for name in fields:
        if name not in mine.fields:
            raise InputError(f"fields must be among {sorted(mine.fields)}, got {name!r}; pass them to scatter")
