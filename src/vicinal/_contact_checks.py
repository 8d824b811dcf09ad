"""What contacts are made from: checks of fields, of pairs and of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.errors import InputError
from vicinal.rows import Neighbors

Ids = npt.NDArray[np.int32]
Places = npt.NDArray[np.int64]
Rows = tuple[Places, Ids]

# What a field may hold: numbers whose sign can be turned.
DTYPES = ("float64", "float32", "int64", "int32")


def check_names(names: Iterable[object], fields: Mapping[str, int], argument: str) -> None:
    """Check that names are those of fields."""
    for name in names:
        if name not in fields:
            raise InputError(
                f"{argument}: {name!r} found; pass names of fields: {', '.join(fields) or 'there are none'}"
            )


def check_fields(fields: object) -> dict[str, int]:
    """Check names and numbers of components."""
    if not isinstance(fields, Mapping):
        raise InputError(f"fields: {fields!r} found; pass a mapping of names to numbers, such as {{'tangent': 3}}")
    for name in fields:
        if not isinstance(name, str) or not name:
            raise InputError(f"fields: the name {name!r} found; pass names that are text")
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
    raise InputError(f"dtype: {value!r} found; pass one of {', '.join(DTYPES)}")


def check_initial(
    initial: object, fields: Mapping[str, int], dtypes: Mapping[str, np.dtype[Any]]
) -> dict[str, npt.NDArray[Any]]:
    """Return the values a new contact starts with: per field an array with one row."""
    if not isinstance(initial, Mapping):
        raise InputError(f"initial: {initial!r} found; pass a mapping of names of fields to values")
    check_names(initial, fields, "initial")
    made = {}
    for name, width in fields.items():
        value = _check.as_array(initial.get(name, 0), f"initial[{name!r}]")
        row: npt.NDArray[Any] = np.zeros(1 if width == 1 else (1, width), dtypes[name])
        try:
            row[...] = np.broadcast_to(value, row.shape) if value.size != row.size else value.reshape(row.shape)
        except (ValueError, TypeError, OverflowError):
            raise InputError(
                f"initial[{name!r}]: {initial[name]!r} found; pass one number or {width}, that {dtypes[name]} can hold"
            ) from None
        made[name] = row
    return made


def check_ids(value: object, name: str) -> Ids:
    """Check numbers of bodies, one per pair."""
    array = as_ids(value, name)
    check_sign(array, name)
    return array


def as_ids(value: object, name: str) -> Ids:
    """Return numbers of bodies as the core takes them. They may still be negative: `contacts_sort` sees that, too."""
    array = _check.as_array(value, name)
    if array.size == 0 and array.ndim == 1:
        return np.zeros(0, np.int32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise InputError(f"{name}: shape {array.shape} and dtype {array.dtype} found; pass a list of whole numbers")
    if array.dtype != np.int32:
        high = int(array.max())
        if high >= _check.MOST_BODIES:
            raise InputError(f"{name}: {high} found; pass numbers of bodies, from 0 to {_check.MOST_BODIES - 1}")
        check_sign(array, name)
    return np.ascontiguousarray(array, dtype=np.int32)


def check_sign(array: npt.NDArray[Any], name: str) -> None:
    """Check that no number is negative."""
    low = int(array.min(initial=0))
    if low < 0:
        raise InputError(f"{name}: {low} found; pass numbers of bodies, from 0 to {_check.MOST_BODIES - 1}")


def check_pairs(i: object, j: object) -> tuple[Ids, Ids]:
    """Check two arrays of the same length, but not their signs."""
    first, second = as_ids(i, "i"), as_ids(j, "j")
    if len(first) != len(second):
        raise InputError(f"j: {len(second)} entries found for {len(first)} in i; pass as many")
    return first, second


def check_rows(value: object) -> Rows:
    """Check rows given as `vicinal.Neighbors` or (offsets, neighbors); what is in a row is not looked at."""
    if isinstance(value, Neighbors):
        given: tuple[object, object] = value.offsets, value.indices
    elif isinstance(value, tuple) and len(value) == 2:
        given = value
    else:
        raise InputError(
            f"rows: {type(value).__name__} found; pass a Neighbors or (offsets, neighbors), or pairs as i, j"
        )
    offsets = _check.as_array(given[0], "offsets")
    if offsets.ndim != 1 or offsets.size == 0 or offsets.dtype.kind not in "iu":
        raise InputError(
            f"offsets: shape {offsets.shape} and dtype {offsets.dtype} found; pass whole numbers, one more than rows"
        )
    if len(offsets) - 1 > _check.MOST_BODIES:
        raise InputError(f"offsets: {len(offsets)} found; at most {_check.MOST_BODIES} rows fit, so use fewer bodies")
    ready = np.ascontiguousarray(offsets, dtype=np.int64)
    others = as_ids(given[1], "neighbors")
    wrong = _core.contacts_wrong_offset(ready, others)
    if wrong >= 0:
        raise InputError(
            f"offsets: {ready[wrong : wrong + 2].tolist()} found from row {wrong} on, with {len(others)} neighbors; "
            "they must ascend from 0 to the number of neighbors (pass pairs as update(i, j), not as one tuple)"
        )
    return ready, others


def rows_of(i: Ids, j: Ids) -> Rows:
    """Return pairs in canonical order as rows."""
    count = int(i[-1]) + 1 if len(i) else 0
    return np.searchsorted(i, np.arange(count + 1)).astype(np.int64), j


def disorder(offsets: Places, others: Ids) -> tuple[int, list[int]]:
    """Return the first row that is not in canonical order, with what it holds."""
    for row, (begin, end) in enumerate(zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)):
        values = [row, *others[begin:end].tolist()]
        if any(a >= b for a, b in pairwise(values)):
            return row, values[1:]
    raise AssertionError


def repeated(i: Ids, j: Ids) -> InputError:
    """Return what to say about pairs that are not pairs, or are there more than once."""
    check_sign(i, "i")
    check_sign(j, "j")
    own = np.flatnonzero(i == j)
    if len(own):
        return InputError(
            f"i, j: body {int(i[own[0]])} is in contact with itself; remove such pairs, and use a box that is "
            "longer than a body reaches where they are its periodic images"
        )
    low, high = np.minimum(i, j), np.maximum(i, j)
    order = np.lexsort((high, low))
    low, high = low[order], high[order]
    at = np.flatnonzero((low[1:] == low[:-1]) & (high[1:] == high[:-1]))[0]
    return InputError(
        f"i, j: the pair ({int(low[at])}, {int(high[at])}) is there more than once; pass each unordered pair once "
        "(half=True). Periodic images of one pair cannot be told apart: use a box longer than twice the reach"
    )
