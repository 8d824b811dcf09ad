"""One search in one call of the core: nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _core, slabs
from vicinal._check import check_points
from vicinal.settings import Settings

Origin = tuple[str, Mapping[str, float]] | tuple[_core.Chooser, int | None]
"""Where a single search takes its structure from: name and options, or a chooser and a limit for all pairs."""


class SingleSearch:
    """A search that the core makes, answers and drops in one call. It has the methods of `_core.Search` for that."""

    def __init__(self, origin: Origin, settings: Settings) -> None:
        self.origin = origin
        self._all, self._cell = settings.bodies, settings.box
        self._space = settings.cutoff, settings.box.for_core
        self._bodies = settings.bodies.for_core, *self._space

    def pairs(self, want: str, half: bool, sort: bool, queries: Any, hit_filter: Any) -> list[npt.NDArray[Any]]:  # noqa: FBT001
        """Find pairs; see `Index.pairs`."""
        return _core.pairs(self.origin, *self._bodies, want, half, sort, queries, hit_filter)

    def rows(self, want: str, half: bool, sort: bool, queries: Any, hit_filter: Any) -> list[npt.NDArray[Any]]:  # noqa: FBT001
        """Find rows; see `Index.neighbors`."""
        return _core.rows(self.origin, *self._bodies, want, half, sort, queries, hit_filter)

    def count(self, queries: Any, hit_filter: Any) -> npt.NDArray[np.int32]:
        """Count neighbours; see `Index.count`."""
        return _core.count(self.origin, *self._bodies, queries, hit_filter)

    def histogram(self, *arguments: Any) -> npt.NDArray[Any]:
        """Count pairs by distance."""
        return self._made().histogram(*arguments)

    def components(self, hit_filter: Any) -> tuple[npt.NDArray[np.int32], int]:
        """Label connected components."""
        return self._made().components(hit_filter)

    def reduce(self, *arguments: Any) -> npt.NDArray[Any] | None:
        """Sum a function over pairs."""
        return self._made().reduce(*arguments)

    def _made(self) -> _core.Search:
        return _core.Search.once(self.origin, *self._bodies)

    def chunks(
        self,
        most: int,
        want: str,
        half: bool,  # noqa: FBT001
        queries: Any,
        hit_filter: Any,
    ) -> Iterator[tuple[npt.NDArray[Any], ...]]:
        """Iterate over the columns of all pairs, at most `most` at a time."""

        def search(bodies: Any, others: Any) -> Iterator[tuple[npt.NDArray[Any], ...]]:
            made = _core.Search.once(self.origin, bodies, *self._space)
            return pieces(_core.Chunks(made, want, half, others, hit_filter), most)

        alone = queries is None and hit_filter is None and half
        if alone and self._all.kind == "points" and not self._cell.tilted and len(self._all) >= slabs.LARGE:
            return slabs.chunks(
                self._all,
                self._space[0],
                self._cell.edges,
                want,
                lambda points, others: search(
                    check_points(points).for_core, None if others is None else check_points(others).for_core
                ),
            )
        return search(self._all.for_core, queries)

    def touch(self, points: Any, normals: Any, queries: Any) -> list[npt.NDArray[Any]]:
        """Find the bodies that reach planes."""
        # Planes are tested against every body, without a structure.
        return _core.Search("Exhaustive", *self._bodies, {}, False).touch(points, normals, queries)


def plain_pairs(core: Any, queries: object, want: object, sort: object) -> tuple[npt.NDArray[Any], ...] | None:
    """Find the pairs of queries with points that are kept, in one call of the core; None if they need other checks."""
    ready = isinstance(core, _core.Search) and isinstance(want, str) and (sort is True or sort is False)
    return core.plain_pairs(queries, want, sort) if ready else None


def pieces(found: _core.Chunks, most: int) -> Iterator[tuple[npt.NDArray[Any], ...]]:
    """Iterate over the columns of pairs, at most `most` at a time."""
    while (columns := found.next(most)) is not None:
        size = len(columns[0])
        # The pairs of a few thousand bodies are found together, and may be more.
        for begin in range(0, size, most):
            yield tuple(columns) if size <= most else tuple(c[begin : begin + most] for c in columns)
