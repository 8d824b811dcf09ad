"""Neighbours of MDAnalysis atoms, and the functions of ``MDAnalysis.lib.distances`` that search within a cutoff.

>>> from vicinal.adapters.mdanalysis import capped_distance, self_capped_distance

Distances are those of float64 arithmetic on the coordinates. As in MDAnalysis, a pair has one image, the nearest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.adapters.nearest_images import nearest_images
from vicinal.errors import InputError
from vicinal.search import pairs as find_pairs

if TYPE_CHECKING:
    from MDAnalysis.core.groups import AtomGroup

Array = npt.NDArray[Any]


def box_of(dimensions: npt.ArrayLike | None) -> Any:
    """Return ``dimensions`` (three lengths and three angles) as the `box` of `vicinal.pairs`.

    Examples
    --------
    >>> vicinal.adapters.mdanalysis.box_of([10, 20, 30, 90, 90, 90])
    (10.0, 20.0, 30.0)
    """
    if dimensions is None:
        return None
    numbers = np.asarray(dimensions, np.float64)
    if numbers.shape != (6,):
        raise InputError(f"dimensions must be three lengths and three angles, got shape {numbers.shape}")
    if not numbers[:3].any():
        return None
    if (numbers[3:] == 90).all():
        return tuple(float(edge) if edge > 0 else None for edge in numbers[:3])
    return tuple(numbers.tolist())


def pairs(group: AtomGroup, cutoff: float, **options: Any) -> tuple[Array, ...]:
    """Find the pairs of an ``AtomGroup`` in its periodic cell; numbers are those within the group.

    Options are those of `vicinal.pairs`, such as ``want``, ``exclude`` and ``groups``.
    """
    columns: tuple[Array, ...] = find_pairs(
        np.asarray(group.positions), cutoff, box=box_of(group.dimensions), **options
    )
    return columns


def self_capped_distance(
    reference: Any,
    max_cutoff: float,
    min_cutoff: float | None = None,
    box: npt.ArrayLike | None = None,
    method: str | None = None,
    return_distances: bool = True,  # noqa: FBT001, FBT002
) -> Any:
    """Find the pairs within a cutoff, as ``MDAnalysis.lib.distances.self_capped_distance`` does."""
    del method
    points = _positions(reference)
    i, j, d = find_pairs(points, max_cutoff, box=box_of(box), want="ijd", sort=True)
    apart = i != j
    return _capped(i[apart], j[apart], d[apart], min_cutoff, return_distances=return_distances)


def capped_distance(
    reference: Any,
    configuration: Any,
    max_cutoff: float,
    min_cutoff: float | None = None,
    box: npt.ArrayLike | None = None,
    method: str | None = None,
    return_distances: bool = True,  # noqa: FBT001, FBT002
) -> Any:
    """Find the pairs of two sets within a cutoff, as ``MDAnalysis.lib.distances.capped_distance`` does."""
    del method
    queries, points = _positions(reference), _positions(configuration)
    i, j, d = find_pairs(points, max_cutoff, queries=queries, box=box_of(box), want="ijd", sort=True)
    return _capped(i, j, d, min_cutoff, return_distances=return_distances)


def _positions(atoms: Any) -> Array:
    positions = np.asarray(getattr(atoms, "positions", atoms), np.float64)
    return positions.reshape(1, -1) if positions.ndim == 1 else positions


def _capped(i: Array, j: Array, d: Array, least: float | None, *, return_distances: bool) -> Any:
    """Return pairs farther apart than `least` as one array, each with its nearest image only."""
    i, j, d = nearest_images(i, j, d)
    if least is not None:
        beyond = d > least
        i, j, d = i[beyond], j[beyond], d[beyond]
    both = np.stack([i, j], axis=1).astype(np.intp)
    return (both, d.astype(np.float64)) if return_distances else both
