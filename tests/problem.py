"""A problem: the input of a search, as the tests describe it to vicinal and to the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle import Array

Corners = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class Problem:
    """The input of a search: points with a cutoff, spheres or boxes; their space; and a second set of bodies."""

    points: Array | None
    cutoff: float | None = None
    box: tuple[Any, ...] | None = None  # lengths, or edge vectors
    queries: Array | None = None
    radii: Array | None = None
    boxes: Corners | None = None
    skin: float = 0.0
    query_radii: Array | None = None
    query_boxes: Corners | None = None
    periodic: tuple[bool, ...] | None = None
    growth: float = 3.0  # largest ratio of the size of queries to that of the bodies

    def __repr__(self) -> str:
        """Python code that reproduces the problem."""
        given = {**self.bodies, **self.second}
        return "dict(" + ", ".join(f"{name}={_source(value)}" for name, value in given.items()) + ")"

    @property
    def kind(self) -> str:
        return "points" if self.cutoff is not None else "spheres" if self.radii is not None else "boxes"

    @property
    def positions(self) -> Array:
        """The points, or the lower corners."""
        if self.points is not None:
            return self.points
        assert self.boxes is not None
        return self.boxes[0]

    @property
    def dim(self) -> int:
        return int(self.positions.shape[1])

    @property
    def space(self) -> dict[str, Any]:
        """The keywords that both vicinal and the oracle take, besides the points."""
        said = {"cutoff": self.cutoff, "radii": self.radii, "boxes": self.boxes, "skin": self.skin or None}
        said["periodic"] = self.periodic
        return {name: value for name, value in said.items() if value is not None} | {"box": self.box}

    @property
    def bodies(self) -> dict[str, Any]:
        """The same with the points."""
        return self.space if self.points is None else {"points": self.points, **self.space}

    @property
    def second(self) -> dict[str, Any]:
        """The keywords of the second set, as it was given."""
        said = {"queries": self.queries, "query_radii": self.query_radii, "query_boxes": self.query_boxes}
        return {name: value for name, value in said.items() if value is not None}

    @property
    def sizes(self) -> list[float]:
        """How far apart the positions of a pair may be along each axis: the least edge of a cell."""
        if self.cutoff is not None:
            return [self.cutoff] * self.dim
        with np.errstate(over="ignore"):
            if self.radii is not None:
                return [2 * float(self.radii.max(initial=0)) + self.skin] * self.dim
            assert self.boxes is not None
            lower, upper = self.boxes
            return [float(edge) + self.skin for edge in (upper - lower).max(axis=0, initial=0)]

    def others(self) -> dict[str, Any]:
        """A second set: as it was given, or made of the bodies, moved, without size and much larger."""
        if self.second:
            return self.second
        dtype = self.positions.dtype
        step = dtype.type(0.6 * self.sizes[0])
        moved = self.positions[::3].copy()
        moved[:, 0] += step
        if self.kind == "points":
            return {"queries": np.concatenate([self.positions[::2], moved])}
        first = self.positions[:1]
        with np.errstate(under="ignore"):
            if self.radii is not None:
                largest = self.radii.max(initial=0) * dtype.type(self.growth)
                radii = [self.radii[::2] * dtype.type(0), self.radii[::3], np.full(len(first), largest, dtype)]
                return {
                    "queries": np.concatenate([self.positions[::2], moved, first]),
                    "query_radii": np.concatenate(radii).astype(dtype),
                }
            assert self.boxes is not None
            lower, upper = self.boxes
            longest = ((upper - lower).max(axis=0, initial=0) * dtype.type(self.growth)).astype(dtype)
            end = upper[::3].copy()
            end[:, 0] += step
        return {
            "query_boxes": (
                np.concatenate([lower[::2], moved, first]),
                np.concatenate([lower[::2], np.maximum(end, moved), first + longest]),
            )
        }


def _source(value: Any) -> str:
    if isinstance(value, np.ndarray):
        made = f"np.array({value.tolist()}, np.{value.dtype})"
        return made if value.ndim == 1 else f"{made}.reshape(-1, {value.shape[1]})"
    if isinstance(value, tuple) and any(isinstance(entry, np.ndarray) for entry in value):
        return "(" + ", ".join(map(_source, value)) + ")"
    return repr(value)
