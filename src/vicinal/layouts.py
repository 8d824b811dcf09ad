"""The forms a neighbour list can have, and sums over them."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from vicinal import _check, _core
from vicinal.errors import InputError

LAYOUTS = ("rows", "pairs", "fixed", "hybrid")
Arrays = dict[str, npt.NDArray[Any]]
_GIVE = {"symmetric": 1, "antisymmetric": -1}


class ListPointers(ctypes.Structure):
    """A list for compiled code: `ctypes.addressof(list.pointers)` is a pointer to this struct.

    .. code-block:: c

        struct vicinal_list {
          int64_t bodies;            // rows
          int64_t entries;           // in the list
          int64_t width;             // of the table, 0 if there is none
          int64_t extra;             // entries of i and j
          const int64_t *offsets;    // bodies + 1: row k is neighbors[offsets[k]] ... neighbors[offsets[k + 1] - 1]
          const int32_t *neighbors;  // entries
          const int32_t *table;      // bodies * width, row by row, -1 where a row is shorter
          const int32_t *counts;     // bodies: entries of each row of the table
          const int32_t *i, *j;      // extra: all pairs, or those that did not fit the table
        };

    What a layout does not have is NULL. It is valid until the list is built again or reordered.
    """

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("bodies", ctypes.c_int64),
        ("entries", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("extra", ctypes.c_int64),
        ("offsets", ctypes.POINTER(ctypes.c_int64)),
        ("neighbors", ctypes.POINTER(ctypes.c_int32)),
        ("table", ctypes.POINTER(ctypes.c_int32)),
        ("counts", ctypes.POINTER(ctypes.c_int32)),
        ("i", ctypes.POINTER(ctypes.c_int32)),
        ("j", ctypes.POINTER(ctypes.c_int32)),
    ]


_POINTERS = dict(ListPointers._fields_)


def lay_out(layout: str, offsets: npt.NDArray[np.int64], neighbors: npt.NDArray[np.int32], width: int) -> Arrays:
    """Return the arrays of a layout made from sorted rows."""
    if layout == "rows":
        return {"offsets": offsets, "neighbors": neighbors}
    if layout == "pairs":
        return {"offsets": offsets, "neighbors": neighbors, "i": _core.row_names(offsets), "j": neighbors}
    if layout == "fixed":
        body, needed = _core.longest_row(offsets)
        if needed > width:
            raise InputError(
                f"width: {width} found, but body {body} has {needed} neighbours within the cutoff and the skin; "
                f'pass at least {needed}, or use layout "hybrid"'
            )
    table, counts, i, j = _core.spread_rows(offsets, neighbors, width)
    arrays: Arrays = {"table": table, "counts": counts}
    return arrays if layout == "fixed" else arrays | {"offsets": offsets, "i": i, "j": j}


def rows_of(arrays: Arrays) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the sorted rows a layout was made from."""
    if "neighbors" in arrays:
        return arrays["offsets"], arrays["neighbors"]
    offsets = arrays.get("offsets")
    if offsets is None:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(arrays["counts"], dtype=np.int64)])
    return offsets, _core.collect_rows(offsets, arrays["table"], arrays.get("j", np.zeros(0, np.int32)))


def entries_of(arrays: Arrays) -> int:
    """Return how many entries a list has."""
    if "offsets" in arrays:
        return int(arrays["offsets"][-1])
    return int(arrays["counts"].sum(dtype=np.int64)) if "counts" in arrays else len(arrays["j"])


def bytes_of(arrays: Arrays) -> int:
    """Return the memory of a list; columns that are the same array count once."""
    return sum({id(array): array.nbytes for array in arrays.values()}.values())


def pointers_of(arrays: Arrays, bodies: int) -> ListPointers:
    """Return the struct for compiled code. It keeps the arrays alive."""
    table = arrays.get("table")
    found = ListPointers(
        bodies=bodies,
        entries=entries_of(arrays),
        width=0 if table is None else table.shape[1],
        extra=len(arrays["j"]) if "i" in arrays else 0,
        **{name: array.ctypes.data_as(_POINTERS[name]) for name, array in arrays.items()},
    )
    found.arrays = dict(arrays)
    return found


def reduce_values(arrays: Arrays, bodies: int, values: object, how: str, *, half: bool) -> npt.NDArray[Any]:
    """Sum a value per entry onto the bodies."""
    if how not in _GIVE:
        raise InputError(f"how: {how!r} found; pass 'symmetric' or 'antisymmetric'")
    give = _GIVE[how] if half else 0
    if "table" in arrays and "i" in arrays:
        if not isinstance(values, (tuple, list)) or len(values) != 2:
            raise InputError(
                f"values: {type(values).__name__} found; a hybrid list has two parts, so pass (table, pairs)"
            )
        fixed = _check_values(values[0], arrays["table"].shape, "values[0]")
        extra = _check_values(values[1], arrays["j"].shape, "values[1]")
        if fixed.shape[2:] != extra.shape[1:] or fixed.dtype != extra.dtype:
            raise InputError(
                f"values: {fixed.dtype} {fixed.shape} and {extra.dtype} {extra.shape} found; both must agree"
            )
        sums, flat = _zeros(bodies, fixed, 2)
        _core.reduce_table(arrays["counts"], arrays["table"], fixed, give, flat)
        _core.reduce_pairs(arrays["i"], arrays["j"], extra, give, flat)
        return sums
    if "table" in arrays:
        given = _check_values(values, arrays["table"].shape, "values")
        sums, flat = _zeros(bodies, given, 2)
        _core.reduce_table(arrays["counts"], arrays["table"], given, give, flat)
    elif "offsets" in arrays:
        given = _check_values(values, arrays["neighbors"].shape, "values")
        sums, flat = _zeros(bodies, given, 1)
        _core.reduce_rows(arrays["offsets"], arrays["neighbors"], given, give, flat)
    else:
        given = _check_values(values, arrays["j"].shape, "values")
        sums, flat = _zeros(bodies, given, 1)
        _core.reduce_pairs(arrays["i"], arrays["j"], given, give, flat)
    return sums


def _zeros(bodies: int, values: npt.NDArray[Any], entry_axes: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return sums of no entries, and the same memory as (bodies, columns)."""
    sums = np.zeros((bodies, *values.shape[entry_axes:]), values.dtype)
    return sums, sums.reshape(bodies, -1) if bodies else np.zeros((0, 1), values.dtype)


def _check_values(value: object, entries: tuple[int, ...], name: str) -> npt.NDArray[Any]:
    """Check an array with one value, or one row of values, per entry."""
    array = _check.as_array(value, name)
    if array.dtype.kind not in "fiu":
        raise InputError(f"{name}: dtype {array.dtype} is not supported; pass float32 or float64")
    if array.shape[: len(entries)] != entries or array.ndim > len(entries) + 1 or 0 in array.shape[len(entries) :]:
        wanted = ", ".join(map(str, entries))
        raise InputError(
            f"{name}: shape {array.shape} found; pass ({wanted}) or ({wanted}, k), one per entry of the list"
        )
    kept = np.dtype(np.float32) if array.dtype.newbyteorder("=") == np.float32 else np.dtype(np.float64)
    return np.ascontiguousarray(array, dtype=kept)
