"""The interface of a contestant of the harness."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from workloads import Case, Cloud

IntArray = NDArray[Any]
Call = Callable[[], Any]


@dataclass(frozen=True)
class Listing:
    """The result of a contestant: each pair once, or (``full``) both directions; self entries are ignored."""

    i: IntArray
    j: IntArray
    full: bool


class Contestant(ABC):
    """One way to search. Conversions that a library requires are done in ``prepare``, untimed."""

    name: str
    distribution: ClassVar[str]
    tasks: ClassVar[tuple[str, ...]] = ("pairs", "rows", "count")
    dims: ClassVar[tuple[int, ...]] = (2, 3)
    periodic: ClassVar[bool] = True
    most_bodies: ClassVar[int | None] = None
    arithmetic: ClassVar[str] = "input"
    """Precision of the distance test: that of the input, or always float32 or float64."""
    closed: ClassVar[bool] = True
    """Whether a pair exactly at the cutoff counts."""
    remark: ClassVar[str] = ""

    def version(self) -> str | None:
        """Installed version, or None."""
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return None

    def refuses(self, case: Case) -> str | None:
        """Return the reason why this contestant cannot run a case, or None."""
        if self.version() is None:
            return f"{self.distribution} is not installed"
        if case.task not in self.tasks:
            return f"does not support {case.task}"
        if case.dim not in self.dims:
            return f"no {case.dim}D"
        if case.periodic and not self.periodic:
            return "no periodic box"
        if self.most_bodies is not None and case.bodies > self.most_bodies:
            return f"too slow beyond {self.most_bodies:.0e} bodies"
        return None

    def before(self) -> None:  # noqa: B027  (most contestants need no action)
        """Run untimed code before each call, such as switching the instruction set."""

    def after(self) -> None:  # noqa: B027
        """Undo it."""

    @abstractmethod
    def prepare(self, cloud: Cloud, task: str, threads: int) -> Call:
        """Return the call that is timed."""

    @abstractmethod
    def listing(self, result: Any, task: str) -> Listing:
        """Turn a result of "pairs", "vectors" or "rows" into index arrays (untimed)."""

    def counts(self, result: Any) -> IntArray:
        """Neighbours per body, without the body itself, from a result of "count" (untimed)."""
        return np.asarray(result)


def listing_of_rows(rows: Any) -> Listing:
    """Flatten a list of index arrays (or of anything iterable) into a full listing."""
    lengths = np.fromiter((len(row) for row in rows), dtype=np.int64, count=len(rows))
    j = np.empty(int(lengths.sum()), dtype=np.int64)
    start = 0
    for row in rows:
        j[start : start + len(row)] = row
        start += len(row)
    return Listing(np.repeat(np.arange(len(lengths)), lengths), j, full=True)
