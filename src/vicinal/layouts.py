"""The layouts of a neighbour list, and sums over its entries."""

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
          int64_t bodies;          // rows: bodies, and planes after them
          int64_t entries;         // of the list
          int64_t width;           // of the table, 0 without a table
          int64_t extra;           // entries of i and j
          const int64_t *offsets;  // bodies + 1: row k is indices[offsets[k]] ... indices[offsets[k + 1] - 1]
          const int32_t *indices;  // entries
          const int32_t *table;    // bodies * width, row by row, -1 where a row is shorter
          const int32_t *counts;   // bodies: entries of each row of the table
          const int32_t *i, *j;    // extra: all pairs, or the pairs that did not fit the table
          const int32_t *shifts;   // entries * dimension, where pairs can have several images
        };

    Pointers to arrays that the list does not have are NULL. The struct is valid until the next update or reorder.
    """

    _fields_: ClassVar[list[tuple[str, Any]]] = [
        ("bodies", ctypes.c_int64),
        ("entries", ctypes.c_int64),
        ("width", ctypes.c_int64),
        ("extra", ctypes.c_int64),
        ("offsets", ctypes.POINTER(ctypes.c_int64)),
        ("indices", ctypes.POINTER(ctypes.c_int32)),
        ("table", ctypes.POINTER(ctypes.c_int32)),
        ("counts", ctypes.POINTER(ctypes.c_int32)),
        ("i", ctypes.POINTER(ctypes.c_int32)),
        ("j", ctypes.POINTER(ctypes.c_int32)),
        ("shifts", ctypes.POINTER(ctypes.c_int32)),
    ]


_POINTERS = dict(ListPointers._fields_)


def lay_out(layout: str, offsets: npt.NDArray[np.int64], indices: npt.NDArray[np.int32], width: int) -> Arrays:
    """Return the arrays of a layout made from sorted rows."""
    if layout == "rows":
        return {"offsets": offsets, "indices": indices}
    if layout == "pairs":
        return {"offsets": offsets, "indices": indices, "i": _core.row_names(offsets), "j": indices}
    if layout == "fixed":
        body, needed = _core.longest_row(offsets)
        if needed > width:
            raise InputError(
                f"width must be at least {needed}, got {width}: body {body} has {needed} neighbours within the cutoff "
                f'and the skin; pass more, or use layout "hybrid"'
            )
    table, counts, i, j = _core.spread_rows(offsets, indices, width)
    arrays: Arrays = {"table": table, "counts": counts}
    return arrays if layout == "fixed" else arrays | {"offsets": offsets, "i": i, "j": j}


def rows_of(arrays: Arrays) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32]]:
    """Return the sorted rows a layout was made from."""
    if "indices" in arrays:
        return arrays["offsets"], arrays["indices"]
    offsets = arrays.get("offsets")
    if offsets is None:
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(arrays["counts"], dtype=np.int64)])
    return offsets, _core.collect_rows(offsets, arrays["table"], arrays.get("j", np.zeros(0, np.int32)))


def offsets_of(owners: npt.NDArray[np.int32], rows: int) -> npt.NDArray[np.int64]:
    """Return where the rows begin, from the owners of all entries in ascending order."""
    offsets = np.zeros(rows + 1, np.int64)
    np.cumsum(np.bincount(owners, minlength=rows), out=offsets[1:])
    return offsets


def owners_of(arrays: Arrays) -> npt.NDArray[np.int32]:
    """Return the row of every entry."""
    return arrays["i"] if "i" in arrays else _core.row_names(arrays["offsets"])


def renumbered(
    offsets: npt.NDArray[np.int64],
    indices: npt.NDArray[np.int32],
    shifts: npt.NDArray[np.int32] | None,
    place: npt.NDArray[np.int32],
    *,
    half: bool,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int32] | None]:
    """Return sorted rows, with their shifts, after body k became place[k]."""
    i, j = place[_core.row_names(offsets)], place[indices]
    turned = i > j if half else np.zeros(len(i), bool)
    i, j = np.where(turned, j, i), np.where(turned, i, j)
    keys: tuple[npt.NDArray[Any], ...] = (j, i)
    if shifts is not None:
        shifts = np.where(turned[:, None], -shifts, shifts)
        keys = (*shifts.T[::-1], j, i)
    order = np.lexsort(keys)
    kept = None if shifts is None else np.ascontiguousarray(shifts[order])
    return offsets_of(i, len(offsets) - 1), np.ascontiguousarray(j[order]), kept


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
    pointers = ListPointers(
        bodies=bodies,
        entries=entries_of(arrays),
        width=0 if table is None else table.shape[1],
        extra=len(arrays["j"]) if "i" in arrays else 0,
        **{name: array.ctypes.data_as(_POINTERS[name]) for name, array in arrays.items()},
    )
    pointers.arrays = dict(arrays)
    return pointers


def reduce_values(arrays: Arrays, bodies: int, values: object, how: str, *, half: bool) -> npt.NDArray[Any]:
    """Sum a value per entry onto the bodies."""
    if how not in _GIVE:
        raise InputError(f"how must be 'symmetric' or 'antisymmetric', got {how!r}; pass one of them")
    give = _GIVE[how] if half else 0
    if "table" in arrays and "i" in arrays:
        if not isinstance(values, (tuple, list)) or len(values) != 2:
            raise InputError(
                f"values must be (table, pairs) for a hybrid list, got {type(values).__name__}; pass both parts"
            )
        fixed = _check_values(values[0], arrays["table"].shape, "values[0]")
        extra = _check_values(values[1], arrays["j"].shape, "values[1]")
        if fixed.shape[2:] != extra.shape[1:] or fixed.dtype != extra.dtype:
            raise InputError(
                f"values must agree in dtype and columns, got {fixed.dtype} {fixed.shape} "
                f"and {extra.dtype} {extra.shape}"
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
        given = _check_values(values, arrays["indices"].shape, "values")
        sums, flat = _zeros(bodies, given, 1)
        _core.reduce_rows(arrays["offsets"], arrays["indices"], given, give, flat)
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
        raise InputError(f"{name} must be real numbers, got dtype {array.dtype}; pass float32 or float64")
    if array.shape[: len(entries)] != entries or array.ndim > len(entries) + 1 or 0 in array.shape[len(entries) :]:
        wanted = ", ".join(map(str, entries))
        raise InputError(
            f"{name} must have shape {entries} or ({wanted}, k), got {array.shape}; pass one per entry of the list"
        )
    kept = np.dtype(np.float32) if array.dtype.newbyteorder("=") == np.float32 else np.dtype(np.float64)
    return np.ascontiguousarray(array, dtype=kept)
