"""Rows of measurements: flat records, and the selection of figures from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median
from typing import Literal, TypeAlias

import numpy as np

Scalar: TypeAlias = str | int | float | bool
Row: TypeAlias = dict[str, Scalar]
Take: TypeAlias = Literal["mean", "min", "max", "sum", "median"]

_TAKE: dict[Take, Callable[[list[float]], float]] = {
    "mean": fmean,
    "min": min,
    "max": max,
    "sum": sum,
    "median": median,
}


def matching(rows: Sequence[Row], where: Mapping[str, Scalar]) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row.get(name) == value for name, value in where.items())]


@dataclass(frozen=True)
class Pick:
    """A figure of an experiment: a column of certain rows, averaged or reduced as `take` specifies.

    Examples
    --------
    >>> rows = [{"n": 1, "pairs": 4.0}, {"n": 2, "pairs": 8.0}, {"n": 2, "pairs": 10.0}]
    >>> Pick("pairs", {"n": 2}).of(rows), Pick("pairs", {"n": 3}).of(rows)
    (9.0, None)
    """

    column: str
    where: Mapping[str, Scalar] = field(default_factory=dict)
    take: Take = "mean"

    def of(self, rows: Sequence[Row]) -> float | None:
        """Return the figure, or None if it was not measured."""
        values = [float(row[self.column]) for row in matching(rows, self.where) if self.column in row]
        return float(_TAKE[self.take](values)) if values else None


def exponent(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the slope of the logarithms by least squares.

    Examples
    --------
    >>> round(exponent([1.0, 2.0, 4.0], [3.0, 12.0, 48.0]), 6)
    2.0
    """
    return float(np.polyfit(np.log(np.asarray(x, dtype=float)), np.log(np.asarray(y, dtype=float)), 1)[0])
