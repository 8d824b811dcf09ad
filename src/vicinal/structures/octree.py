"""The octree: space cut where bodies are many."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Unpack

import numpy as np

from vicinal import _check
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

CAPACITY = 32
MOST_CAPACITY = 2**31 - 1
# What a key has bits for, per axis: 21 in space, 31 in the plane. The core takes the lesser.
MOST_DEPTH = 31


class Octree(Index):
    """A tree of leaves that split where bodies are many, and know the leaves that touch them; in 2D a quadtree.

    For bodies of one size, very unevenly spread. Between updates the tree is kept: bodies that left their leaf move,
    full leaves split, siblings that have emptied merge.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for every index.
    capacity
        A leaf that holds more bodies is split. The default is 32.
    depth
        Splits from the root to the smallest leaf, at most. Leaves are never smaller than the largest body (or the
        cutoff) anyway; that is the default.
    adjacency
        "stored": every leaf keeps a list of those that touch it. "sampled": leaves look around at every search, which
        is slower and needs less memory.
    domain
        (lower, upper): two corners, the root of the tree. Bodies may leave it, but are not told apart outside. The
        default is the bounds of the bodies; along a periodic axis it is the period.

    Examples
    --------
    >>> index = vicinal.Octree([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [90.0, 4.0]], cutoff=4.0, capacity=2)
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0, 0], [1, 2]]
    >>> index.stats.details["splits"] > 0
    True
    """

    _structure = "Octree"
    _why = "{cells}, and leaves adapt to the density of bodies"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        capacity: int | None = None,
        depth: int | None = None,
        adjacency: str = "stored",
        domain: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(capacity=capacity, depth=depth, adjacency=adjacency, domain=domain)
        super().__init__(points, **bodies)

    def _set_options(
        self,
        *,
        capacity: int | None = None,
        depth: int | None = None,
        adjacency: str = "stored",
        domain: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
    ) -> None:
        most = MOST_CAPACITY
        self._capacity = (
            CAPACITY if capacity is None else _check.check_integer(capacity, "capacity", least=1, most=most)
        )
        self._depth = MOST_DEPTH if depth is None else _check.check_integer(depth, "depth", least=0, most=MOST_DEPTH)
        if adjacency not in ("stored", "sampled"):
            raise InputError(f'adjacency: {adjacency!r} found; pass "stored" or "sampled"')
        self._sampled = adjacency == "sampled"
        self._domain = domain

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        options = {"capacity": float(self._capacity), "depth": float(self._depth), "sampled": float(self._sampled)}
        if self._domain is None:
            return options
        if any(edge > 0 for edge in box):
            raise InputError(
                "domain: found together with a periodic box, which is its own domain; leave one of them out"
            )
        for axis, (low, high) in enumerate(_check_domain(self._domain, bodies.dim)):
            options |= {f"low{axis}": low, f"high{axis}": high}
        return options | {"domain": 1.0}


def _check_domain(domain: object, dim: int) -> list[tuple[float, float]]:
    """Check two corners and return (low, high) for every axis."""
    if not isinstance(domain, (tuple, list)) or len(domain) != 2:
        raise InputError(f"domain: {domain!r} found; pass two corners, (lower, upper)")
    corners = [_check.as_array(corner, "domain") for corner in domain]
    try:
        lower, upper = (np.broadcast_to(corner.astype(np.float64), (dim,)).tolist() for corner in corners)
    except (ValueError, TypeError):
        raise InputError(f"domain: {domain!r} found; pass two corners of {dim} coordinates each") from None
    for axis, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not (math.isfinite(high - low) and low < high):
            raise InputError(
                f"domain: from {low} to {high} along axis {axis} found; pass finite corners, the lower first"
            )
    return list(zip(lower, upper, strict=True))
