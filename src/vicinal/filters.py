"""Which bodies form pairs at all: types with cutoffs of their own, groups, excluded pairs, a smallest distance."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal._check import Bodies
from vicinal.errors import InputError

Numbers = npt.NDArray[np.int32]

CRITERIA = ("sum", "max", "min", "mean")
NEEDS_POINTS = "types= needs points and a matrix of cutoffs; pass cutoff=, and no radii, boxes or planes"
# A matrix of squared cutoffs should stay in the first-level cache.
MOST_TYPES = 1024


@dataclass(frozen=True)
class Filter:
    """Checked conditions that a pair within reach must meet, besides its distance.

    Parameters
    ----------
    types, cutoffs
        The type of every body, and the cutoff of each pair of types; negative: they form no pairs.
    groups
        Bodies of one group form no pairs; negative: no group.
    excluded_offsets, excluded
        Excluded neighbours of every body, as rows in ascending order.
    r_min
        Smallest distance.
    narrowest
        Spheres: a pair within twice the smaller radius. (Their radii are halved before.)
    spheres
        The bodies are boxes around these spheres, which are compared with boxes.
    """

    types: Numbers | None = None
    cutoffs: npt.NDArray[Any] | None = None
    groups: Numbers | None = None
    excluded_offsets: npt.NDArray[np.int64] | None = None
    excluded: Numbers | None = None
    r_min: float = 0.0
    narrowest: bool = False
    spheres: Bodies | None = None

    @property
    def numbered(self) -> str:
        """The argument that speaks of bodies by their number, so that it fits a fixed number of bodies; "" if none."""
        given = {"types": self.types, "groups": self.groups, "exclude": self.excluded}
        return next((name for name, value in given.items() if value is not None), "")

    def part(self, first: int, last: int) -> Filter:
        """Return the conditions on bodies `first` to `last - 1`, which are numbered from 0 on."""
        offsets, excluded = self.excluded_offsets, self.excluded
        if offsets is not None and excluded is not None:
            # Numbers of other bodies are then below 0 or too large: no body has them.
            excluded = excluded[offsets[first] : offsets[last]] - np.int32(first)
            offsets = offsets[first : last + 1] - offsets[first]
        return replace(
            self,
            types=None if self.types is None else self.types[first:last],
            groups=None if self.groups is None else self.groups[first:last],
            excluded_offsets=offsets,
            excluded=excluded,
        )

    def for_core(
        self,
        query_types: Numbers | None = None,
        query_groups: Numbers | None = None,
        query_spheres: Bodies | None = None,
    ) -> _core.Filter:
        """Return the filter as the compiled core takes it; `query_spheres` are spheres in boxes, as `spheres` are."""
        spheres = self.spheres if query_spheres is None else query_spheres
        balls: Any = None if spheres is None else (spheres.array, spheres.extra)
        squared: list[float] = []
        if self.cutoffs is not None:
            with np.errstate(under="ignore"):
                squares = np.where(self.cutoffs < 0, -1, self.cutoffs * self.cutoffs)
            squared = squares.astype(np.float64).ravel().tolist()
        return _core.Filter(
            squared,
            0 if self.cutoffs is None else len(self.cutoffs),
            self.types,
            query_types,
            self.groups,
            query_groups,
            self.excluded_offsets,
            self.excluded,
            self.r_min,
            self.narrowest,
            balls,
            query_spheres is not None,
        )


def core_filter(mine: Filter | None, queries: Bodies | None, types: object, groups: object) -> _core.Filter | None:
    """Return the filter of an index for the core, with the types and groups of queries, which are checked."""
    if mine is types is groups is None and (queries is None or queries.spheres is None):
        return None
    if queries is None:
        given = "query_types" if types is not None else "query_groups" if groups is not None else ""
        if given:
            raise InputError(f"{given} must be left out without queries")
        return None if mine is None else mine.for_core()
    for name, value, needed in (
        ("types", types, mine is not None and mine.types is not None),
        ("groups", groups, mine is not None and mine.groups is not None),
    ):
        if needed and value is None:
            raise InputError(f"query_{name} must be given for an index with {name}, got None; pass one per query")
        if value is not None and not needed:
            raise InputError(f"query_{name}= needs an index with {name}; leave it out")
    if mine is None:
        return None if queries.spheres is None else Filter().for_core(query_spheres=queries.spheres)
    if mine.excluded is not None:
        raise InputError(
            "exclude must be left out with queries, which are not among the bodies; remove pairs from the result"
        )
    kinds = 0 if mine.cutoffs is None else len(mine.cutoffs)
    return mine.for_core(
        None if types is None else check_types(types, len(queries), kinds, "query_types"),
        None if groups is None else check_numbers(groups, len(queries), "query_groups"),
        queries.spheres,
    )


def check_filter(
    bodies: Bodies,
    cutoffs: npt.NDArray[Any] | None,
    *,
    types: object = None,
    groups: object = None,
    exclude: object = None,
    r_min: object = 0.0,
    criterion: str = "sum",
) -> Filter | None:
    """Check conditions on pairs; None if there are none. `cutoffs` comes from `check_cutoffs`."""
    if types is groups is exclude is None and criterion != "min" and isinstance(r_min, float) and r_min == 0:
        return None
    size = len(bodies)
    least = check_r_min(r_min, bodies)
    offsets = excluded = None
    if exclude is not None:
        offsets, excluded = _check_excluded(exclude, size)
    return Filter(
        None if types is None else check_types(types, size, 0 if cutoffs is None else len(cutoffs)),
        cutoffs,
        None if groups is None else check_numbers(groups, size, "groups"),
        offsets,
        excluded,
        least,
        criterion == "min",
    )


def check_criterion(value: object, *, radii: bool) -> None:
    """Check how the radii of two spheres give the largest distance of a pair."""
    if value == "sum":
        return
    _check.check_choice(value, "criterion", CRITERIA)
    if not radii:
        raise InputError(f"criterion must be 'sum' without radii, got {value!r}; pass radii=")


def check_r_min(value: object, bodies: Bodies) -> float:
    """Check a smallest distance and return its square in the dtype of the bodies."""
    number = _check.check_number(value, "r_min")
    if not (math.isfinite(number) and number >= 0):
        raise InputError(f"r_min must be a finite distance of at least 0, got {value}")
    if bodies.kind == "boxes" and number > 0:
        raise InputError(f"r_min must be 0 for boxes, which have no distance, got {value}")
    with np.errstate(over="ignore", under="ignore"):
        rounded = bodies.array.dtype.type(number)
        square = float(rounded * rounded)
    if not math.isfinite(square):
        raise InputError(f"r_min must have a finite square, got {value}, whose square overflows {bodies.array.dtype}")
    return square


def check_cutoffs(value: object, bodies: Bodies, skin: float) -> tuple[npt.NDArray[Any], float]:
    """Check a matrix of cutoffs; return it with the skin, in the dtype of the bodies, and its largest entry."""
    given = _check.as_array(value, "cutoff")
    if given.dtype.kind not in "fiu":
        raise InputError(f"cutoff must be real numbers, got dtype {given.dtype}")
    if given.ndim != 2 or given.shape[0] != given.shape[1] or not 1 <= len(given) <= MOST_TYPES:
        what = "one number" if given.ndim == 0 else f"shape {given.shape}"
        raise InputError(
            f"cutoff must be a matrix where types= are given, one row and one column per type (1 to {MOST_TYPES}), got "
            f"{what}; leave out types= for one cutoff"
        )
    matrix = given.astype(np.float64)
    if not np.isfinite(matrix).all():
        row, column = np.argwhere(~np.isfinite(matrix))[0]
        raise InputError(
            f"cutoff must be finite, got {matrix[row, column]} for types {row} and {column}; "
            "a negative number means that two types form no pairs"
        )
    if not np.array_equal(matrix, matrix.T):
        row, column = np.argwhere(matrix != matrix.T)[0]
        raise InputError(
            f"cutoff must be symmetric, got {matrix[row, column]} for types {row} and {column}, "
            f"and {matrix[column, row]} for {column} and {row}"
        )
    dtype: np.dtype[Any] = bodies.array.dtype
    with np.errstate(over="ignore", under="ignore"):
        rounded = matrix.astype(dtype)
        rounded = np.where(matrix < 0, dtype.type(-1), (rounded.astype(np.float64) + skin).astype(dtype))
    largest = max(float(rounded.max()), 0.0)
    return rounded, _check.check_cutoff(largest, bodies, "cutoff + skin" if skin else "cutoff")


def check_types(value: object, size: int, kinds: int, name: str = "types") -> Numbers:
    """Check one type per body."""
    numbers = check_numbers(value, size, name)
    wrong = np.flatnonzero((numbers < 0) | (numbers >= kinds))
    if len(wrong):
        raise InputError(
            f"{name} must lie from 0 to {kinds - 1}, as cutoff has {kinds} rows, got {numbers[wrong[0]]} for body "
            f"{wrong[0]}"
        )
    return numbers


def check_numbers(value: object, size: int, name: str) -> Numbers:
    """Check one whole number of 32 bits per body."""
    array = _check.as_array(value, name)
    if array.size == 0 and size == 0:
        return np.zeros(0, np.int32)
    if array.shape != (size,) or array.dtype.kind not in "iu":
        raise InputError(
            f"{name} must be {size} whole numbers, one for each body, got shape {array.shape} and dtype {array.dtype}"
        )
    numbers = array.astype(np.int32)
    if not np.array_equal(numbers, array):
        row = np.flatnonzero(numbers != array)[0]
        raise InputError(f"{name} must fit into 32 bits, got {array[row]} for body {row}; number them from 0 on")
    return np.ascontiguousarray(numbers)


def _check_excluded(value: object, size: int) -> tuple[npt.NDArray[np.int64], Numbers]:
    """Check a list of pairs and return it as symmetric rows."""
    pairs = _check.as_array(value, "exclude")
    if pairs.size == 0:
        pairs = np.zeros((0, 2), np.int64)
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
        raise InputError(
            f"exclude must be an array of whole numbers of shape (m, 2), got shape {pairs.shape} and dtype "
            f"{pairs.dtype}; pass the numbers of both bodies in each row"
        )
    wrong = np.flatnonzero(((pairs < 0) | (pairs >= size)).any(axis=1))
    if len(wrong):
        raise InputError(
            f"exclude must hold numbers of bodies from 0 to {size - 1}, got {pairs[wrong[0]].tolist()} in row "
            f"{wrong[0]}"
        )
    both = np.concatenate([pairs, pairs[:, ::-1]]).astype(np.int64)
    keys = np.unique(both[:, 0] * size + both[:, 1])
    offsets = np.zeros(size + 1, np.int64)
    np.cumsum(np.bincount(keys // max(size, 1), minlength=size), out=offsets[1:])
    return offsets, (keys % max(size, 1)).astype(np.int32)
