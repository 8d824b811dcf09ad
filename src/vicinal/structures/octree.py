"""The octree: space divided where bodies are dense."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Unpack

import numpy as np

from vicinal import _check
from vicinal.cell import Cell
from vicinal.errors import InputError
from vicinal.index import Index

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments

CAPACITY = 32
MOST_CAPACITY = 2**31 - 1
# Most splits for which a key has bits: 21 in space, 31 in the plane. The core takes the smaller.
MOST_DEPTH = 31


class Octree(Index):
    """A tree whose leaves split where bodies are dense and store the leaves next to them; in 2D a quadtree.

    It suits bodies of one size that are spread very unevenly. `update` keeps the tree: bodies that left their leaf move
    to another, full leaves split, and almost empty siblings merge.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`.
    capacity
        A leaf with more bodies is split. The default is 32.
    depth
        Most splits from the root to a leaf. By default only the size of the leaves is limited: they are never smaller
        than the largest body (or the cutoff).
    adjacency
        "stored": every leaf keeps a list of the leaves next to it. "sampled": every search finds them again, which is
        slower and needs less memory.
    domain
        (lower, upper): the corners of the root. Bodies may lie outside, where the tree is not refined. The default is
        the bounds of the bodies; along a periodic axis it is the period.

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
        cutoff: npt.ArrayLike | None = None,
        *,
        capacity: int | None = None,
        depth: int | None = None,
        adjacency: str = "stored",
        domain: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(capacity=capacity, depth=depth, adjacency=adjacency, domain=domain)
        super().__init__(points, cutoff, **bodies)

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
        self._sampled = _check.check_choice(adjacency, "adjacency", ("stored", "sampled")) == "sampled"
        self._domain = domain

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        options = {"capacity": float(self._capacity), "depth": float(self._depth), "sampled": float(self._sampled)}
        if self._domain is None:
            return options
        if box.periodic:
            raise InputError("domain= must not be combined with a periodic box, which is its own domain")
        for axis, (low, high) in enumerate(_check_domain(self._domain, bodies.dim)):
            options |= {f"low{axis}": low, f"high{axis}": high}
        return options | {"domain": 1.0}


def _check_domain(domain: object, dim: int) -> list[tuple[float, float]]:
    """Check two corners and return (low, high) for every axis."""
    if not isinstance(domain, (tuple, list)) or len(domain) != 2:
        raise InputError(f"domain must be two corners, (lower, upper), got {domain!r}")
    corners = [_check.as_array(corner, "domain") for corner in domain]
    try:
        lower, upper = (np.broadcast_to(corner.astype(np.float64), (dim,)).tolist() for corner in corners)
    except (ValueError, TypeError):
        raise InputError(f"domain must be two corners of {dim} coordinates each, got {domain!r}") from None
    for axis, (low, high) in enumerate(zip(lower, upper, strict=True)):
        if not (math.isfinite(high - low) and low < high):
            raise InputError(
                f"domain must be finite with the lower corner first, got {low} to {high} along axis {axis}"
            )
    return list(zip(lower, upper, strict=True))
