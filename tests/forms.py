"""The forms in which the same array may be passed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from oracle import Array


@dataclass(frozen=True)
class HasArray:
    """The interface of pandas, Arrow and many others."""

    array: Array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        return np.asarray(self.array, dtype)


@dataclass(frozen=True)
class HasDLPack:
    """The interface of torch and JAX."""

    array: Array

    def __dlpack__(self, **options: Any) -> Any:
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()


def read_only(points: Array) -> Array:
    points = points.copy()
    points.flags.writeable = False
    return points


def every_second_row(points: Array) -> Array:
    wide = np.full((2 * len(points), points.shape[1]), np.nan, points.dtype)
    wide[::2] = points
    return wide[::2]


def some_columns(points: Array) -> Array:
    wide = np.full((len(points), 9), np.nan, points.dtype)
    wide[:, 1:7:2] = points
    return wide[:, 1:7:2]


def unaligned(points: Array) -> Array:
    raw = np.zeros(points.nbytes + 1, np.uint8)
    view = raw[1:].view(points.dtype).reshape(points.shape)
    view[:] = points
    return view


FORMS: dict[str, Callable[[Array], Any]] = {
    "list of lists": lambda points: points.tolist(),
    "tuple of arrays": tuple,
    "Fortran order": np.asfortranarray,
    "every second row": every_second_row,
    "some columns": some_columns,
    "backwards": lambda points: points[::-1][::-1],
    "reversed columns": lambda points: np.ascontiguousarray(points[:, ::-1])[:, ::-1],
    "unaligned": unaligned,
    "read-only": read_only,
    "big-endian": lambda points: points.astype(points.dtype.newbyteorder(">")),
    "memoryview": lambda points: memoryview(points),
    "__array__": HasArray,
    "__dlpack__": HasDLPack,
    "a subclass": lambda points: points.view(type("Sub", (np.ndarray,), {})),
}
