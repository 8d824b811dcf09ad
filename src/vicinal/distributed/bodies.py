"""The bodies of one rank, and the search among them and the ghosts of other ranks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack, overload

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.bodies import BoxesLike, QueryArguments
from vicinal.distributed.agreement import check_same
from vicinal.distributed.axes import bodies_along_axes, farthest
from vicinal.distributed.consumers import count_distances, find_components, find_nearest, sum_function
from vicinal.distributed.ghost_search import BodySet, Excluded, GhostSearch
from vicinal.distributed.halo import Halo, keeps_pair
from vicinal.distributed.messages import Array, together
from vicinal.distributed.wishes import Wishes
from vicinal.errors import InputError
from vicinal.pair_function import PairFunction
from vicinal.rows import Neighbors, nearest_of
from vicinal.search import count, neighbors, pairs
from vicinal.structures import StructureLike

if TYPE_CHECKING:
    from vicinal._check import Bodies
    from vicinal.distributed.domain import Domain


class LocalArguments(QueryArguments, total=False):
    """The keywords that describe the bodies and queries of a rank."""

    radii: npt.ArrayLike | None
    boxes: BoxesLike | None
    criterion: str
    types: npt.ArrayLike | None
    groups: npt.ArrayLike | None
    exclude: npt.ArrayLike | None
    r_min: float


class LocalBodies:
    """The bodies that this rank owns. `Domain.scatter` makes it.

    Bodies have local numbers: 0 to ``len(mine) - 1`` are own bodies, the numbers after them are ghosts of the last
    search, which other ranks own. `ids` gives the id of both. All ranks must call a method together, with the same
    arguments, except what belongs to own bodies, and `want`, `sort` and `structure`.

    Parameters
    ----------
    domain
        The division of space.
    points
        Positions of the own bodies.
    ids
        Their ids, int64, which stay with them.
    fields
        Other columns that travel with the bodies, one row each.

    Examples
    --------
    >>> from mpi4py import MPI
    >>> domain = vicinal.distributed.Domain(MPI.COMM_SELF, box=(10.0, None))
    >>> mine = domain.scatter([[0.5, 0.0], [9.5, 0.0], [5.0, 0.0]], ids=[7, 8, 9])
    >>> i, j = mine.pairs(2.0)
    >>> sorted(mine.ids[[*i, *j]].tolist())
    [7, 8]
    """

    def __init__(
        self,
        domain: Domain,
        points: Array,
        ids: npt.NDArray[np.int64],
        fields: Mapping[str, Array] | None = None,
    ) -> None:
        self.domain = domain
        self.points = points
        self.fields = dict(fields or {})
        self.halo: Halo | None = None
        """The ghosts of the last search."""
        self._own_ids = ids
        self._ids = ids

    def __len__(self) -> int:
        """Return the number of own bodies."""
        return len(self.points)

    def __repr__(self) -> str:
        """Return number of bodies and rank."""
        return f"LocalBodies({len(self)} bodies on rank {self.domain.rank} of {self.domain.size})"

    @property
    def ids(self) -> npt.NDArray[np.int64]:
        """Ids of the own bodies, followed by those of the ghosts of the last search."""
        return self._ids

    @property
    def owned_ids(self) -> npt.NDArray[np.int64]:
        """Ids of the own bodies."""
        return self._own_ids

    # Not at run time: see `vicinal.search`.
    if TYPE_CHECKING:

        @overload
        def pairs(
            self,
            cutoff: npt.ArrayLike | None = None,
            *,
            want: str = "ij",
            half: bool = True,
            sort: bool = False,
            self_pairs: bool = False,
            structure: StructureLike = None,
            chunks: None = None,
            **bodies: Unpack[LocalArguments],
        ) -> tuple[Array, ...]: ...
        @overload
        def pairs(
            self,
            cutoff: npt.ArrayLike | None = None,
            *,
            want: str = "ij",
            half: bool = True,
            sort: bool = False,
            self_pairs: bool = False,
            structure: StructureLike = None,
            chunks: int,
            **bodies: Unpack[LocalArguments],
        ) -> Iterator[tuple[Array, ...]]: ...

    def pairs(
        self,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        want: str = "ij",
        half: bool = True,
        sort: bool = False,
        self_pairs: bool = False,
        structure: StructureLike = None,
        chunks: int | None = None,
    ) -> tuple[Array, ...] | Iterator[tuple[Array, ...]]:
        """Find pairs; each is found on exactly one rank, the rank of i, as local numbers.

        Parameters
        ----------
        cutoff, radii, boxes, criterion, types, groups, r_min, want, half, sort, self_pairs, structure
            As for `vicinal.pairs`; radii, boxes, types and groups are those of the own bodies.
        exclude
            Ids of bodies that form no pairs, shape (m, 2). A rank needs the rows with its own bodies; others are
            ignored.
        queries, query_radii, query_boxes, query_types, query_groups
            A second set, as for `vicinal.pairs`: pairs are then (row of a query of this rank, local number of a body).
            They may lie anywhere; a rank fetches all bodies near its queries, so queries are best on the rank that
            owns their place, where ``domain.scatter(queries, divide=False)`` sends them.
        chunks
            As for `vicinal.pairs`: the result is an iterator. Ghosts are fetched at once, and ranks need not take the
            same number of chunks.

        Returns
        -------
        tuple of arrays
            One per letter of `want`. In a pair with a ghost, the ghost is j; with ``half=False``, the pair comes a
            second time the other way round.
        """
        of_queries = _of_queries(queries, query_radii, query_boxes, query_types, query_groups)
        wishes = Wishes(cutoff, radii, boxes, criterion, types, groups, exclude, r_min, structure, of_queries)
        options: Any = {"half": half, "self_pairs": self_pairs, "chunks": chunks}
        search = self._prepare(
            wishes, lambda **none: pairs(**none, **options, want=want, sort=sort), want=want, letters="ijdDS", **options
        )
        if chunks is not None:
            return search.chunks(chunks, want, half=half)
        return search.pairs(want, half=half, sort=sort, self_pairs=self_pairs)

    def neighbors(
        self,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        want: str = "j",
        sort: bool = False,
        self_pairs: bool = False,
        max_neighbors: int | None = None,
        structure: StructureLike = None,
    ) -> Neighbors:
        """Find all neighbours of the own bodies, or of queries, a row each; numbers from ``len(mine)`` on are ghosts.

        Parameters
        ----------
        cutoff, radii, boxes, criterion, types, groups, exclude, r_min, want, sort, self_pairs, structure
            As for `pairs`, and for `vicinal.neighbors`.
        queries, query_radii, query_boxes, query_types, query_groups
            As for `pairs`.
        max_neighbors
            As for `vicinal.pairs`: only so many of the nearest ones; ties are decided by id.
        """
        of_queries = _of_queries(queries, query_radii, query_boxes, query_types, query_groups)
        wishes = Wishes(cutoff, radii, boxes, criterion, types, groups, exclude, r_min, structure, of_queries)
        options: Any = {"self_pairs": self_pairs, "max_neighbors": max_neighbors}
        search = self._prepare(
            wishes,
            lambda **none: neighbors(**none, **options, want=want, sort=sort),
            want=want,
            everywhere=True,
            **options,
        )
        if max_neighbors is None:
            return search.neighbors(want, sort=sort, self_pairs=self_pairs)
        return self._nearest_rows(search, max_neighbors, want, sort=sort, self_pairs=self_pairs)

    def _nearest_rows(self, search: GhostSearch, most: int, want: str, *, sort: bool, self_pairs: bool) -> Neighbors:
        """Return rows of the nearest neighbours; of those equally far away, the ones with smaller ids count."""
        letters = "".join(dict.fromkeys("jDS" + want))
        rows = search.neighbors(letters, sort=sort, self_pairs=self_pairs)
        order = np.argsort(self.ids, kind="stable")
        by_id = np.argsort(order).astype(np.int32)
        kept = nearest_of(replace(rows, indices=by_id[rows.indices]), most)
        columns = {"d": kept.distances, "D": kept.vectors, "S": kept.shifts}
        distances, vectors, shifts = (columns[letter] if letter in want else None for letter in "dDS")
        indices = order.astype(np.int32)[kept.indices]
        return Neighbors(kept.offsets, indices, kept.columns, distances=distances, vectors=vectors, shifts=shifts)

    def count(
        self,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_boxes: BoxesLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        self_pairs: bool = False,
        structure: StructureLike = None,
    ) -> npt.NDArray[np.int32]:
        """Count the neighbours of every own body, or of every query, ghosts included.

        Parameters
        ----------
        cutoff, radii, boxes, criterion, types, groups, exclude, r_min, self_pairs, structure
            As for `pairs`.
        queries, query_radii, query_boxes, query_types, query_groups
            As for `pairs`.
        """
        of_queries = _of_queries(queries, query_radii, query_boxes, query_types, query_groups)
        wishes = Wishes(cutoff, radii, boxes, criterion, types, groups, exclude, r_min, structure, of_queries)
        search = self._prepare(
            wishes,
            lambda **none: count(**none, self_pairs=self_pairs),
            everywhere=True,
            self_pairs=self_pairs,
        )
        counts = search.count()
        return counts + np.int32(1) if self_pairs else counts

    def components(
        self,
        cutoff: npt.ArrayLike | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        structure: StructureLike = None,
    ) -> npt.NDArray[np.int64]:
        """Label the connected components of the bodies of all ranks, as `vicinal.components` does.

        Parameters
        ----------
        cutoff, radii, boxes, criterion, types, groups, exclude, r_min, structure
            As for `pairs`.

        Returns
        -------
        array
            int64, for every own body the smallest id in its component.
        """
        wishes = Wishes(cutoff, radii, boxes, criterion, types, groups, exclude, r_min, structure)
        return find_components(self, self._prepare(wishes))

    def histogram(
        self,
        edges: npt.ArrayLike,
        *,
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        queries: npt.ArrayLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        structure: StructureLike = None,
    ) -> npt.NDArray[np.int64]:
        """Count the pairs of points of all ranks by distance; all ranks get the same counts.

        Parameters
        ----------
        edges, types, groups, structure
            As for `vicinal.histogram`; types and groups are those of the own bodies. There are no weights, whose sums
            would depend on the ranks.
        exclude, queries, query_types, query_groups
            As for `pairs`.
        """
        of_queries = _of_queries(queries, None, None, query_types, query_groups)
        wishes = Wishes(groups=groups, exclude=exclude, structure=structure, of_queries=of_queries)
        return count_distances(self, edges, types, wishes)

    def nearest(
        self, k: int, cutoff: float = math.inf, *, queries: npt.ArrayLike | None = None
    ) -> tuple[Array, npt.NDArray[np.int32]]:
        """Find the k nearest points of every own body, or of every query, on any rank.

        Of points equally far away, those with smaller ids come first.

        Parameters
        ----------
        k, cutoff
            As for `vicinal.nearest`, as is the result; indices are local numbers, those of ghosts included.
        queries
            As for `pairs`.
        """
        return find_nearest(self, k, cutoff, queries)

    def reduce(
        self,
        cutoff: npt.ArrayLike | None,
        function: PairFunction,
        *,
        each: bool = False,
        fields: Sequence[str] = (),
        data: tuple[Any, ...] = (),
        radii: npt.ArrayLike | None = None,
        criterion: str = "sum",
        types: npt.ArrayLike | None = None,
        groups: npt.ArrayLike | None = None,
        exclude: npt.ArrayLike | None = None,
        r_min: float = 0.0,
        queries: npt.ArrayLike | None = None,
        query_radii: npt.ArrayLike | None = None,
        query_types: npt.ArrayLike | None = None,
        query_groups: npt.ArrayLike | None = None,
        query_fields: Sequence[npt.ArrayLike] = (),
        structure: StructureLike = None,
    ) -> Any:
        """Sum a function over the pairs of all ranks, in one number that all ranks get, or for each own body or query.

        Parameters
        ----------
        cutoff, function, each, radii, criterion, types, groups, r_min, structure
            As for `vicinal.reduce`; radii, types and groups are those of the own bodies. The bodies i and j of a pair
            are in the order of their ids.
        exclude, queries, query_radii, query_types, query_groups
            As for `pairs`; i is then the row of a query.
        fields
            Names of columns that travel with the bodies: the function takes these columns after `v`, with a row for
            each i and j.
        query_fields
            Columns of the queries, with a row for each i, which it takes after those of bodies.
        data
            What it takes last, the same on all ranks: ``function(i, j, d2, v, *fields, *query_fields, *data)``.
        """
        of_queries = _of_queries(queries, query_radii, None, query_types, query_groups)
        wishes = Wishes(cutoff, radii, None, criterion, types, groups, exclude, r_min, structure, of_queries)
        return sum_function(self, wishes, function, fields, query_fields, data, each=each)

    def borders(
        self,
        cutoff: float | None = None,
        *,
        radii: npt.ArrayLike | None = None,
        boxes: BoxesLike | None = None,
    ) -> Halo:
        """Decide which bodies are ghosts where, so that every rank has all bodies that its own can form pairs with.

        `Halo.forward` and `Halo.reverse` then carry data between bodies and their ghosts.
        """
        bodies, reach = self._check(Wishes(cutoff, radii, boxes))
        return self._halo(bodies, reach, None, everywhere=True)

    def exchange(self, points: npt.ArrayLike | None = None, **fields: npt.ArrayLike) -> LocalBodies:
        """Send bodies that have left this rank's part of space to the rank that owns the part they are in.

        Parameters
        ----------
        points
            New positions of the own bodies. None: as they are.
        fields
            New values of columns that travel with the bodies.
        """
        return self.domain.exchange(self, points, fields)

    def rebalance(self, cost: float | None = None, *, tolerance: float = 1.1) -> LocalBodies:
        """Divide space again if the ranks have unequal work; otherwise return these bodies.

        Parameters
        ----------
        cost
            What the own bodies cost since the last division, such as measured CPU seconds. None: their number.
        tolerance
            Largest ratio of the largest cost to the mean cost that is left as it is.
        """
        return self.domain.rebalance(self, cost, tolerance)

    def gather(self, values: npt.ArrayLike | None = None) -> Array | None:
        """Return a column of all ranks (by default the positions) in the order of the ids on rank 0, None elsewhere."""
        return self.domain.gather(self, self.points if values is None else np.asarray(values))

    def _check(
        self,
        wishes: Wishes,
        alone: Callable[..., object] | None = None,
        *,
        want: str = "j",
        letters: str = "j",
        **agreed: object,
    ) -> tuple[Bodies, float]:
        """Check what own bodies are searched for; return them as ghosts are found, and the cutoff of points.

        `alone` is the search of one process, which checks the other arguments.
        """
        check_same(self.domain.comm, {**wishes.agreed, **agreed})

        def check() -> tuple[Bodies, float]:
            _check.check_want(want, letters)
            bodies, reach = wishes.check(self.points, self.domain)
            if len(bodies) != len(self):
                raise InputError(f"boxes must be one for each of the {len(self)} own bodies, got {len(bodies)}")
            if bodies.array.dtype != self.points.dtype:
                raise InputError(f"boxes must have dtype {self.points.dtype}, as the points, got {bodies.array.dtype}")
            if alone is not None:
                none = self._own_set(wishes, bodies, reach).taken(np.zeros(0, np.intp))
                excluded = None if wishes.exclude is None else np.zeros((0, 2), np.int64)
                space = {"box": self.domain.box, "periodic": self.domain.periodic, "structure": wishes.structure}
                alone(**none.as_bodies(), **wishes.of_queries, **space, **wishes.conditions, exclude=excluded)
            return bodies, reach

        return together(self.domain.comm, check)

    def _own_set(self, wishes: Wishes, bodies: Bodies, reach: float) -> BodySet:
        types, groups = (None if c is None else np.asarray(c, np.int32) for c in (wishes.types, wishes.groups))
        return BodySet(bodies.array, bodies.extra, reach if wishes.types is None else wishes.cutoff, types, groups)

    def _halo(self, bodies: Bodies, reach: float, seekers: Bodies | None, *, everywhere: bool) -> Halo:
        wanted: dict[str, Any] = {} if everywhere or seekers is not None else {"wanted": keeps_pair}
        comm, cell = self.domain.comm, self.domain.cell(bodies.dim, bodies.array.dtype)
        if cell.tilted:
            some = [bodies] if seekers is None else [bodies, seekers]
            far = max(farthest(column) for one in some for column in (one.array, one.extra) if column is not None)
            far = max(comm.allgather(far))
            bodies, reach = bodies_along_axes(bodies, reach, cell, far)
            seekers = None if seekers is None else bodies_along_axes(seekers, 0.0, cell, far)[0]
        return Halo.between(comm, bodies, reach, cell.edges, **wanted, seekers=seekers)

    def _prepare(
        self,
        wishes: Wishes,
        alone: Callable[..., object] | None = None,
        *,
        want: str = "j",
        letters: str = "jdDS",
        everywhere: bool = False,
        **agreed: object,
    ) -> GhostSearch:
        """Fetch the ghosts and return the search among them and the own bodies.

        `alone` is the search of one process, which checks arguments; `agreed` are further arguments that must be the
        same on all ranks.
        """
        bodies, reach = self._check(wishes, alone, want=want, letters=letters, **agreed)
        halo = self._halo(bodies, reach, wishes.seekers(bodies), everywhere=everywhere)
        self.halo = halo
        self._ids = np.concatenate([self._own_ids, halo.forward(self._own_ids)])

        def sent(column: Array | None) -> Array | None:
            return None if column is None else halo.forward(column).copy()

        own = self._own_set(wishes, bodies, reach)
        ghosts = BodySet(
            halo.forward(bodies.array).copy(), sent(bodies.extra), own.cutoff, sent(own.types), sent(own.groups)
        )
        excluded = None if wishes.exclude is None else Excluded.of(wishes.excluded_ids(), self._ids, len(self))
        space = self.domain.box, self.domain.periodic, wishes.structure
        queries = wishes.of_queries if wishes.has_queries else None
        return GhostSearch(own, ghosts, halo.near, *space, wishes.conditions, excluded, queries)


def _of_queries(
    queries: npt.ArrayLike | None,
    radii: npt.ArrayLike | None,
    boxes: BoxesLike | None,
    types: npt.ArrayLike | None,
    groups: npt.ArrayLike | None,
) -> QueryArguments:
    """Return the keywords of a second set."""
    return {
        "queries": queries,
        "query_radii": radii,
        "query_boxes": boxes,
        "query_types": types,
        "query_groups": groups,
    }
