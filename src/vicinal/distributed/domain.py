"""The division of space among ranks."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.cell import BoxLike, Cell, PeriodicLike
from vicinal.distributed.agreement import check_same, passed
from vicinal.distributed.axes import along_axes
from vicinal.distributed.bisection import Bisection, bisect, wrapped
from vicinal.distributed.bodies import LocalBodies
from vicinal.distributed.messages import Array, own_communicator, send_rows, swap_counts, together
from vicinal.errors import InputError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

# Positions per rank that the division rests on. With random samples of s positions, the share of a rank is off by
# about 1/sqrt(s): 3 % here. More samples cost time on every rank, because each computes the whole division.
SAMPLES = 1000


class Domain:
    """Space, divided among the ranks of a communicator by recursive coordinate bisection.

    Parameters
    ----------
    comm
        An mpi4py communicator. Messages of vicinal use a duplicate of it, so they cannot be mixed up with yours.
    box, periodic
        The periodic cell, as for `vicinal.pairs`; it may be tilted.

    Examples
    --------
    Run it with ``mpiexec -n 4 python script.py``; every rank passes its share of the bodies, in any order.

    >>> import numpy as np
    >>> from mpi4py import MPI
    >>> domain = vicinal.distributed.Domain(MPI.COMM_WORLD, box=1.0)
    >>> share = np.random.default_rng(domain.rank).random((1000, 3))
    >>> mine = domain.scatter(share)
    >>> i, j = mine.pairs(cutoff=0.1)
    >>> domain.comm.allreduce(len(i)) > 0
    True
    """

    def __init__(self, comm: Intracomm, *, box: BoxLike = None, periodic: PeriodicLike = None) -> None:
        self.comm = own_communicator(comm)
        self.rank, self.size = comm.rank, comm.size
        self.box, self.periodic = deepcopy(box), deepcopy(periodic)
        self.parts = Bisection(())
        """The parts of space; before the first `scatter`, rank 0 owns all of it."""
        check_same(self.comm, {"box": box, "periodic": periodic})

    def __repr__(self) -> str:
        """Return rank and box."""
        return f"Domain(rank {self.rank} of {self.size}, box={self.box!r})"

    def cell(self, dim: int, dtype: npt.DTypeLike) -> Cell:
        """Return the periodic cell for bodies of a type and a number of coordinates."""
        none = _check.Bodies(np.zeros((0, dim), dtype), [0.0] * dim, [0.0] * dim)
        return _check.check_box(self.box, none, 0.0, self.periodic)

    def scatter(
        self,
        points: npt.ArrayLike | None = None,
        ids: npt.ArrayLike | None = None,
        *,
        fields: Mapping[str, npt.ArrayLike] | None = None,
        weights: npt.ArrayLike | None = None,
        divide: bool = True,
    ) -> LocalBodies:
        """Divide space, and send every body to the rank that owns its part. All ranks call it together.

        Parameters
        ----------
        points
            Any share of the bodies: all on one rank, or some on each. None: no bodies from this rank.
        ids
            A whole number per body that stays with it. None: bodies are numbered in the order of ranks and rows.
        fields
            Other columns by name, one row per body, that travel with the bodies.
        weights
            What each body costs; every rank gets the same sum. None: all the same.
        divide
            False: leave the division as it is, for a second set of bodies that is searched for among the first.
        """
        check_same(self.comm, {"divide": divide})
        columns = together(self.comm, lambda: _check_columns(points, ids, fields, weights))
        columns = self._agree(columns)
        size = len(columns["points"])
        if self._numbers_bodies(size, ids):
            before = self.comm.exscan(size)
            columns["ids"] = np.arange(size, dtype=np.int64) + (before if self.rank else 0)
        wrapped = self._wrapped(columns["points"])
        weights = columns.pop("weights")
        if divide:
            self.parts = self.divide(wrapped, weights)
        return self._send(columns, wrapped)

    def _numbers_bodies(self, size: int, ids: npt.ArrayLike | None) -> bool:
        """Return whether bodies get ids; ranks without bodies need not pass any."""
        given = self.comm.allgather(None if size == 0 else ids is not None)
        if True in given and False in given:
            raise InputError(
                f"ids must be passed by all ranks with bodies or by none, got ids on rank {given.index(True)} "
                f"and none on rank {given.index(False)}"
            )
        return True not in given

    def load(self, path: str | Path) -> LocalBodies:
        """Read points from a file and scatter them; every rank reads its share of a npy file, rank 0 all others.

        Parameters
        ----------
        path
            A file that `vicinal pairs` reads.
        """
        from vicinal.io import read_points

        check_same(self.comm, {"path": path})

        def read() -> Array | None:
            try:
                if Path(path).suffix != ".npy":
                    return read_points(path).points if self.rank == 0 else None
                whole = np.load(Path(path), mmap_mode="r")
            except InputError:
                raise
            except (OSError, ValueError, ImportError) as error:  # all ranks must learn of it
                raise InputError(f"path must name a readable file, got {path} ({error})") from error
            begin, end = (len(whole) * rank // self.size for rank in (self.rank, self.rank + 1))
            return np.array(whole[begin:end])

        return self.scatter(together(self.comm, read))

    def exchange(
        self, bodies: LocalBodies, points: npt.ArrayLike | None, fields: Mapping[str, npt.ArrayLike]
    ) -> LocalBodies:
        """Send bodies to the ranks that own the parts they are in; see `LocalBodies.exchange`."""

        def check() -> dict[str, Array]:
            moved = bodies.points if points is None else _check.check_points(points, dtype=bodies.points.dtype).array
            unknown = set(fields) - set(bodies.fields)
            if unknown:
                raise InputError(f"fields must be among {sorted(bodies.fields)}, got {sorted(unknown)[0]!r}")
            columns = {"points": moved, "ids": bodies.owned_ids}
            for name, values in {**bodies.fields, **fields}.items():
                columns[f"fields.{name}"] = np.asarray(values, bodies.fields[name].dtype)
            for name, column in columns.items():
                if len(column) != len(bodies):
                    raise InputError(f"{name} must have one row per body, {len(bodies)}, got {len(column)}")
            return columns

        columns = together(self.comm, check)
        return self._send(columns, self._wrapped(columns["points"]))

    def rebalance(self, bodies: LocalBodies, cost: float | None, tolerance: float) -> LocalBodies:
        """Divide space again if costs differ; see `LocalBodies.rebalance`."""
        check_same(self.comm, {"tolerance": tolerance, **passed(cost=cost)})
        mine = float(len(bodies)) if cost is None else together(self.comm, lambda: _check_cost(cost))
        costs = np.array(self.comm.allgather(mine))
        if not costs.max() > tolerance * costs.mean():
            return bodies
        wrapped = self._wrapped(bodies.points)
        weights = np.full(len(bodies), mine / max(1, len(bodies)))
        self.parts = self.divide(wrapped, weights)
        columns = {"points": bodies.points, "ids": bodies.owned_ids}
        columns |= {f"fields.{name}": column for name, column in bodies.fields.items()}
        return self._send(columns, wrapped)

    def gather(self, bodies: LocalBodies, values: Array) -> Array | None:
        """Return a column of all ranks in the order of ids on rank 0; see `LocalBodies.gather`."""

        def check() -> Array:
            if len(values) != len(bodies):
                raise InputError(f"values must have one row per own body, {len(bodies)}, got {len(values)}")
            return values

        column = together(self.comm, check)
        leaving = np.zeros(self.size, np.int64)
        leaving[0] = len(bodies)
        ids, rows = send_rows(self.comm, [bodies.owned_ids, column], leaving, swap_counts(self.comm, leaving))
        return rows[np.argsort(ids, kind="stable")] if self.rank == 0 else None

    def _wrapped(self, points: Array) -> npt.NDArray[np.float64]:
        """Return positions along the axes of the cell, and inside it: they decide which rank owns a body."""
        cell = self.cell(points.shape[1], points.dtype)
        return wrapped(along_axes(points, cell), cell.edges)

    def divide(self, points: npt.NDArray[np.float64], weights: npt.NDArray[np.float64]) -> Bisection:
        """Return a division of space by samples of all ranks, the same on each; points are `wrapped`."""
        size = len(points)
        # One sample per so many bodies, as many on a rank as its share of the bodies.
        total = self.comm.allreduce(size)
        stride = max(1.0, total / (SAMPLES * self.size))
        taken = np.unique((np.arange(int(np.ceil(size / stride))) * stride).astype(np.int64))
        taken = taken[taken < size]
        rest = weights.sum() / max(weights[taken].sum(), np.finfo(float).tiny)
        samples = self.comm.allgather((points[taken], weights[taken] * rest))
        return bisect(np.concatenate([s[0] for s in samples]), np.concatenate([s[1] for s in samples]), self.size)

    def _send(self, columns: Mapping[str, Array], wrapped: npt.NDArray[np.float64]) -> LocalBodies:
        owners = self.parts.owners(wrapped)
        order = np.argsort(owners, kind="stable")
        leaving = np.bincount(owners, minlength=self.size).astype(np.int64)
        arriving = swap_counts(self.comm, leaving)
        arrived = send_rows(self.comm, [column[order] for column in columns.values()], leaving, arriving)
        named = dict(zip(columns, arrived, strict=True))
        points, ids = named.pop("points"), named.pop("ids")
        return LocalBodies(self, points, ids, {name.removeprefix("fields."): column for name, column in named.items()})

    def _agree(self, columns: dict[str, Array]) -> dict[str, Array]:
        """Give all ranks columns of the same type, also those without bodies; refuse ranks that disagree."""
        kinds = {name: (column.dtype.str, column.shape[1:]) for name, column in columns.items()}
        described = self.comm.allgather((len(columns["points"]), kinds))
        full = [(rank, kinds) for rank, (size, kinds) in enumerate(described) if size]
        first, agreed = full[0] if full else (0, described[0][1])
        for rank, other in full:
            if other != agreed:
                name = next(name for name in {**agreed, **other} if agreed.get(name) != other.get(name))
                raise InputError(
                    f"{name} must be alike on all ranks with bodies, got {_told(agreed.get(name))} on rank {first} and "
                    f"{_told(other.get(name))} on rank {rank}"
                )
        if len(columns["points"]):
            return columns
        return {name: np.empty((0, *shape), dtype) for name, (dtype, shape) in agreed.items()}


def _told(kind: tuple[str, tuple[int, ...]] | None) -> str:
    return "none" if kind is None else f"rows of shape {kind[1]} and dtype {np.dtype(kind[0])}"


def _check_columns(
    points: npt.ArrayLike | None,
    ids: npt.ArrayLike | None,
    fields: Mapping[str, npt.ArrayLike] | None,
    weights: npt.ArrayLike | None,
) -> dict[str, Array]:
    array = _check.check_points(np.zeros((0, 3)) if points is None else points).array
    size = len(array)
    columns: dict[str, Array] = {"points": array}
    numbers = np.empty(size, np.int64) if ids is None else _check.as_array(ids, "ids")
    if numbers.size == 0:
        numbers = numbers.reshape(-1).astype(np.int64)
    if numbers.dtype.kind not in "iu":
        raise InputError(f"ids must be whole numbers, got dtype {numbers.dtype}")
    columns["ids"] = numbers.astype(np.int64)
    columns["weights"] = np.ones(size) if weights is None else _check.as_array(weights, "weights").astype(np.float64)
    for name, values in (fields or {}).items():
        columns[f"fields.{name}"] = _check.as_array(values, f"fields[{name!r}]")
    for name, column in columns.items():
        if len(column) != size:
            raise InputError(f"{name} must have one row per point, {size}, got {len(column)}")
    if not (np.isfinite(columns["weights"]).all() and (columns["weights"] >= 0).all()):
        raise InputError("weights must be finite and at least 0")
    return columns


def _check_cost(cost: float) -> float:
    value = _check.check_number(cost, "cost")
    if not (np.isfinite(value) and value >= 0):
        raise InputError(f"cost must be a finite number of at least 0, got {cost}")
    return value
