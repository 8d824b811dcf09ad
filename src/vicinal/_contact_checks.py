"""Checks of the arguments of contacts: fields, pairs and rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.errors import InputError

Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Rows = tuple[Places, Ids]


@runtime_checkable
class HasRows(Protocol):
    """Something with CSR rows: `vicinal.Neighbors`, `vicinal.NeighborList`."""

    @property
    def offsets(self) -> Places:
        """int64, one more than the number of rows."""

    @property
    def indices(self) -> Ids:
        """int32, the neighbours of all rows."""


# The dtypes of fields: numbers that have a sign.
DTYPES = ("float64", "float32", "int64", "int32")


def check_names(names: Iterable[object], fields: Mapping[str, int], argument: str) -> None:
    """Check that names are those of fields."""
    for name in names:
        if name not in fields:
            raise InputError(
                f"{argument} must name fields, got {name!r}; pass names of {', '.join(fields) or 'no fields'}"
            )


def check_fields(fields: object) -> dict[str, int]:
    """Check names and numbers of components."""
    if not isinstance(fields, Mapping):
        raise InputError(f"fields must map names to numbers of components, got {fields!r}; pass e.g. {{'tangent': 3}}")
    for name in fields:
        if not isinstance(name, str) or not name:
            raise InputError(f"fields must have names that are text, got {name!r}; pass text")
    return {name: _check.check_integer(k, f"fields[{name!r}]", least=1, most=4096) for name, k in fields.items()}


def check_dtypes(dtype: object, fields: Mapping[str, int]) -> dict[str, np.dtype[Any]]:
    """Return the dtype of each field."""
    if isinstance(dtype, Mapping):
        check_names(dtype, fields, "dtype")
        given = {name: dtype.get(name, "float64") for name in fields}
    else:
        given = dict.fromkeys(fields, dtype)
    return {name: _check_dtype(entry) for name, entry in given.items()}


def _check_dtype(value: Any) -> np.dtype[Any]:
    for name in DTYPES:
        try:
            if value is not None and np.dtype(value) == np.dtype(name):
                return np.dtype(name)
        except TypeError:
            break
    raise InputError(f"dtype must be one of {', '.join(DTYPES)}, got {value!r}")


def check_initial(
    initial: object, fields: Mapping[str, int], dtypes: Mapping[str, np.dtype[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the values a new contact starts with: per field an array with one row."""
    if not isinstance(initial, Mapping):
        raise InputError(f"initial must map names of fields to values, got {initial!r}; pass a mapping")
    check_names(initial, fields, "initial")
    made = {}
    for name, width in fields.items():
        value = _check.as_array(initial.get(name, 0), f"initial[{name!r}]")
        row: npt.NDArray[Any] = np.zeros(1 if width == 1 else (1, width), dtypes[name])
        try:
            row[...] = np.broadcast_to(value, row.shape) if value.size != row.size else value.reshape(row.shape)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"initial[{name!r}] must be one number or {width} in the range of {dtypes[name]}, got {initial[name]!r}"
            ) from None
        made[name] = row
    return made


def check_ids(value: object, name: str) -> Ids:
    """Check numbers of bodies, one per pair."""
    array = as_ids(value, name)
    check_sign(array, name)
    return array


def as_ids(value: object, name: str) -> Ids:
    """Return numbers of bodies as the core takes them. They may still be negative: `contacts_sort` checks that, too."""
    array = _check.as_array(value, name)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name} must be a list of whole numbers, got shape {array.shape} and dtype {array.dtype}")
    if array.dtype != np.int32:
        high = int(array.max())
        if high >= _check.MOST_BODIES:
            raise InputError(f"{name} must be numbers of bodies from 0 to {_check.MOST_BODIES - 1}, got {high}")
        check_sign(array, name)
    return np.ascontiguousarray(array, dtype=np.int32)


def check_sign(array: npt.NDArray[Any], name: str) -> None:
    """Check that no number is negative."""
    low = int(array.min(initial=0))
    if low < 0:
        raise InputError(f"{name} must be numbers of bodies from 0 to {_check.MOST_BODIES - 1}, got {low}")


def check_pairs(i: object, j: object) -> tuple[Ids, Ids]:
    """Check two arrays of the same length, but not whether numbers are negative."""
    first, second = as_ids(i, "i"), as_ids(j, "j")
    if len(first) != len(second):
        raise InputError(f"j must be as long as i, got {len(second)} entries for {len(first)}; pass one per pair")
    return first, second


def check_rows(value: object) -> Rows:
    """Check rows given as an object with `offsets` and `indices` or as a tuple of both, but not the entries of rows."""
    given: tuple[object, object]
    if isinstance(value, HasRows):
        given = value.offsets, value.indices
    elif isinstance(value, tuple) and len(value) == 2:
        given = value
    else:
        raise InputError(
            f"rows must be a Neighbors, a NeighborList or (offsets, indices), got {type(value).__name__}; "
            "pass pairs as i, j"
        )
    offsets = _check.as_array(given[0], "offsets")
    if offsets.ndim != 1 or offsets.size == 0 or offsets.dtype.kind not in "iu":
        raise InputError(
            f"offsets must be whole numbers, one more than rows, got shape {offsets.shape} and dtype {offsets.dtype}"
        )
    if len(offsets) - 1 > _check.MOST_BODIES:
        raise InputError(f"offsets must be of at most {_check.MOST_BODIES} rows, got {len(offsets)}; use fewer bodies")
    ready = np.ascontiguousarray(offsets, dtype=np.int64)
    indices = as_ids(given[1], "indices")
    wrong = _core.contacts_wrong_offset(ready, indices)
    if wrong >= 0:
        raise InputError(
            f"offsets must ascend from 0 to the number of indices, got {ready[wrong : wrong + 2].tolist()} from "
            f"row {wrong} on with {len(indices)} indices (pass pairs as update(i, j), not as one tuple)"
        )
    return ready, indices


def rows_of(i: Ids, j: Ids) -> Rows:
    """Return pairs in canonical order as rows."""
    count = int(i[-1]) + 1 if len(i) else 0
    return np.searchsorted(i, np.arange(count + 1)).astype(np.int64), j


def disorder(offsets: Places, indices: Ids) -> tuple[int, list[int]]:
    """Return the first row that is not in canonical order, and its entries."""
    for row, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        values = [row, *indices[begin:end].tolist()]
        if any(a >= b for a, b in pairwise(values)):
            return row, values[1:]
    raise AssertionError


def repeated(i: Ids, j: Ids) -> InputError:
    """Return the error for bodies paired with themselves, or for pairs that occur more than once."""
    check_sign(i, "i")
    check_sign(j, "j")
    own = np.flatnonzero(i == j)
    if len(own):
        return InputError(
            f"i, j must be different bodies, got body {int(i[own[0]])} with itself; remove such pairs, or use a box "
            "longer than the reach if they are its periodic images"
        )
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    at = np.flatnonzero((low[1:] == low[:-1]) & (high[1:] == high[:-1]))[0]
    return InputError(
        f"i, j must hold each unordered pair once, got ({int(low[at])}, {int(high[at])}) more than once; use "
        "half=True, and a box longer than twice the reach, because contacts do not tell images of a pair apart"
    )
