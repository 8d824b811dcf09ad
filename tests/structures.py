"""The structures the contract suite runs. A new one is one line here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import vicinal as vc
from vicinal import lab

if TYPE_CHECKING:
    from collections.abc import Callable

    from oracle import Array
    from problem import Problem

KINDS = ("points", "spheres", "boxes")


def no_options(_size: float) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Structure:
    """A class of vicinal and the options it is built with, which may depend on the cutoff or the largest body."""

    name: str
    label: str = ""
    options: Callable[[float], dict[str, Any]] = no_options
    dims: tuple[int, ...] = (2, 3)
    periodic: bool = True  # otherwise open space only
    kinds: tuple[str, ...] = KINDS

    def __str__(self) -> str:
        return f"{self.name}{self.label}"

    @property
    def type(self) -> Any:
        """The class of the structure; those that reproduce a paper are in the lab."""
        return getattr(vc, self.name, None) or getattr(lab, self.name)

    def build(self, points: Array | None = None, *, size: float | None = None, **bodies: Any) -> Any:
        """Make an index; `size` is that of the largest body it will hold, if that is not the cutoff."""
        return self.type(points, **bodies, **self.options(bodies["cutoff"] if size is None else size))

    def solve(self, problem: Problem) -> Any:
        """Make an index of the bodies of a problem."""
        return self.build(**problem.bodies, size=max(problem.sizes))

    def takes(self, problem: Problem) -> bool:
        return problem.kind in self.kinds and self.lives_in(problem.dim, problem.box)

    def lives_in(self, dim: int, box: Any = None) -> bool:
        return dim in self.dims and (self.periodic or not any(box or ()))

    def flatten(self, points: Array) -> Array:
        """Points in space, or their projection onto the plane for a structure that is two-dimensional."""
        return points[:, : max(self.dims)].copy()


STRUCTURES = [
    Structure("Exhaustive"),
    Structure("LinkedCells"),
    Structure("LinkedCells", "_wide", lambda r: {"cell": 1.7 * r or 1.0}),
    Structure("CellSorting"),
    Structure("CellSorting", "_h1", lambda _: {"h_mask": 1}),
    Structure("CellSorting", "_h2", lambda _: {"h_mask": 2}),
    Structure("CellSorting", "_h3", lambda _: {"h_mask": 3}),
    Structure("HashGrid"),
    Structure("HashGrid", "_rebuild", lambda _: {"update": "rebuild", "few": 0}),
    Structure("PublishedHashGrid", "_growing", lambda _: {"factor": 2.0, "dims": 4, "few": 0}),
    Structure("HashGrid", "_folded", lambda _: {"fill": 8.0, "few": 0}),
    Structure("PublishedHashGrid", "_cube", lambda _: {"factor": 2.0, "max_cells": 8, "few": 0}, periodic=False),
    Structure("BVH"),
    Structure("BVH", "_leaf1", lambda _: {"leaf": 1}),
    Structure("BVH", "_lazy", lambda _: {"growth": 1e300}),
    Structure("Octree"),
    Structure("Octree", "_fine", lambda _: {"capacity": 3}),
    Structure("Octree", "_sampled", lambda _: {"capacity": 4, "adjacency": "sampled"}),
    Structure("SpatialHash"),
    Structure("SpatialHash", "_crowded", lambda _: {"table": 7}),
    Structure("SweepAndPrune"),
    Structure("SweepAndPrune", "_one", lambda _: {"axes": "one"}),
    Structure("Delaunay", dims=(2,), periodic=False, kinds=("points",)),
    Structure("Delaunay", "_slack", lambda r: {"slack": 0.3 * r}, dims=(2,), periodic=False, kinds=("points",)),
]
