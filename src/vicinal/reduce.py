"""Sums of a function over pairs, without storing the pairs: `reduce`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from vicinal.bodies import BodyArguments
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.fused import sum_function
from vicinal.pair_function import PairFunction
from vicinal.search import index_of
from vicinal.settings import check_settings
from vicinal.structures import StructureLike


def reduce(
    points: npt.ArrayLike,
    cutoff: npt.ArrayLike | None,
    function: PairFunction,
    *,
    each: bool = False,
    data: tuple[Any, ...] = (),
    radii: npt.ArrayLike | None = None,
    skin: float = 0.0,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    criterion: str = "sum",
    types: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    exclude: npt.ArrayLike | None = None,
    r_min: float = 0.0,
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    structure: StructureLike = None,
) -> Any:
    """Sum a function over pairs, in one number or for each body, such as an energy or forces.

    The function is compiled by Numba into the search; pairs are never stored, so memory does not grow with their
    number. The values of the function are added without rounding error, and each sum is rounded once to float64, as
    `math.fsum` does: it depends neither on the number of threads nor on the structure.

    Parameters
    ----------
    points, cutoff, radii, skin, box, periodic
        As for `pairs`.
    criterion, types, groups, exclude, r_min
        Which bodies form pairs, such as those that no bond connects; see `pairs`.
    queries, query_radii, query_types, query_groups, structure
        As for `pairs`.
    function
        A Python function ``function(i, j, d2, v)`` that Numba can compile, plain or already compiled by ``numba.njit``
        or ``numba.cfunc``. It gets the numbers of the bodies, their squared distance, and the vector from i to j, a
        tuple of two or three numbers, to the image that is a pair; it returns a number or a tuple of numbers. Its
        result must depend on the arguments only. It is compiled once per dtype and dimension of the points and kept:
        pass the same function again, not a new one from a ``lambda``.
    each
        A sum for each body (or query): of ``function(i, j, …)`` over all neighbours j. Otherwise one sum over all pairs
        of ``function(i, j, …)`` with i < j (with queries: of every query i and point j).
    data
        Arrays and numbers that the function takes after `v`: ``function(i, j, d2, v, *data)``. An index beyond the end
        of an array is not noticed, as always in code compiled by Numba.

    Returns
    -------
    float or array
        The sum, in float64: a number, or an array if the function returns a tuple. With `each` one row per body.

    Examples
    --------
    >>> def energy(i, j, d2, v):
    ...     s = 1.0 / (d2 * d2 * d2)
    ...     return 4.0 * (s * s - s)
    >>> points = [[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]]
    >>> vicinal.reduce(points, 1.5, energy)
    0.0
    >>> def pull(i, j, d2, v, mass):
    ...     return mass[j] * v[0], mass[j] * v[1]
    >>> vicinal.reduce(points, 2.0, pull, each=True, data=([1.0, 2.0, 3.0],)).tolist()
    [[2.0, 6.0], [-1.0, 0.0], [0.0, -2.0]]
    >>> vicinal.reduce(points, 2.0, pull, each=True, data=([1.0, 2.0, 3.0],), exclude=[[0, 1]]).tolist()
    [[0.0, 6.0], [0.0, 0.0], [0.0, -2.0]]
    """
    settings = check_settings(
        points,
        cutoff,
        radii=radii,
        skin=skin,
        box=box,
        periodic=periodic,
        criterion=criterion,
        types=types,
        groups=groups,
        exclude=exclude,
        r_min=r_min,
    )
    return index_of(settings, structure).reduce(
        function,
        each=each,
        data=data,
        queries=queries,
        query_radii=query_radii,
        query_types=query_types,
        query_groups=query_groups,
    )


@dataclass(frozen=True)
class ExactTotal:
    """A sum of a function over all pairs, as digits that can be added to those of other ranks.

    `single`: the function returns a number, not a tuple.
    """

    digits: npt.NDArray[np.int64]
    single: bool


def exact_total(
    function: PairFunction,
    *,
    points: npt.ArrayLike,
    cutoff: npt.ArrayLike | None = None,
    data: tuple[Any, ...] = (),
    queries: npt.ArrayLike | None = None,
    query_radii: npt.ArrayLike | None = None,
    query_types: npt.ArrayLike | None = None,
    query_groups: npt.ArrayLike | None = None,
    structure: StructureLike = None,
    **bodies: Unpack[BodyArguments],
) -> ExactTotal:
    """Sum a function over all pairs of some bodies, or of queries and bodies, without rounding."""
    index = index_of(check_settings(points, cutoff, **bodies), structure)
    sums = sum_function(
        index,
        function,
        data=data,
        queries=queries,
        query_radii=query_radii,
        query_types=query_types,
        query_groups=query_groups,
        exact=True,
    )
    return ExactTotal(*sums)
