"""Spatial hashing: cells in a hash table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Unpack

from vicinal import _check, _core
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

MOST_BUCKETS = 2**31 - 1
# A table may take this share of memory.
TABLE_SHARE = 0.25
BYTES_PER_BUCKET = 4


class SpatialHash(Index):
    """Cells hashed into a table of fixed size (Teschner et al. 2003), for comparison: `CellSorting` is faster.

    The edge of a cell is the cutoff or the largest body. Runs of cells along the first axis are hashed together and
    have consecutive buckets. Cells that share a bucket propose their bodies together; `stats.details` counts these
    collisions.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    table
        Buckets of the hash table. The default is the first prime that is at least twice the number of bodies.

    Examples
    --------
    >>> index = vicinal.SpatialHash([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0]], cutoff=4.0, table=11)
    >>> index.count().tolist()
    [2, 1, 1]
    >>> index.stats.details["table"]
    11.0
    """

    _structure = "SpatialHash"
    _why = "{cells}, and a hash table holds the occupied ones"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        cutoff: npt.ArrayLike | None = None,
        *,
        table: int | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(table=table)
        super().__init__(points, cutoff, **bodies)

    def _set_options(self, *, table: int | None = None) -> None:
        self._table = 0 if table is None else _check.check_integer(table, "table", least=1, most=MOST_BUCKETS)
        room = TABLE_SHARE * _core.physical_memory()
        if self._table * BYTES_PER_BUCKET > room:
            raise InputError(
                f"table must take at most {room / 2**30:.3g} GiB, got {table} buckets, which take "
                f"{self._table * BYTES_PER_BUCKET / 2**30:.3g} GiB; pass None for twice the number of bodies"
            )

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        return {"table": float(self._table)}
