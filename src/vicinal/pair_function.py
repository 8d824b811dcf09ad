"""Functions of pairs, compiled by Numba into a loop over blocks of pairs that the core calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.errors import InputError
from vicinal.extras import need

BLOCK = 512
"""Distance of the columns of a block: `function_block` in cpp/pairs/pair_sums.hpp."""

MOST_VALUES = 64
"""Values per pair: more would not stay in the cache."""

PairFunction = Callable[..., Any]


@dataclass(frozen=True)
class Compiled:
    """A compiled function: how many values a pair has, whether they are a number instead of a tuple, and the code."""

    values: int
    single: bool
    code: Any

    def for_core(self, data: Data) -> tuple[int, int, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Address, values per pair, addresses and shapes of the data."""
        return self.code.address, self.values, data.addresses, data.shapes


@dataclass(frozen=True)
class Data:
    """Arguments of a function after those of the pair: arrays, and numbers as arrays without dimensions."""

    arrays: tuple[npt.NDArray[Any], ...]

    @property
    def kinds(self) -> tuple[tuple[str, int], ...]:
        """The dtype and the number of dimensions of each."""
        return tuple((array.dtype.str, array.ndim) for array in self.arrays)

    @property
    def addresses(self) -> npt.NDArray[np.int64]:
        """Where each begins."""
        return np.array([array.ctypes.data for array in self.arrays], np.int64)

    @property
    def shapes(self) -> npt.NDArray[np.int64]:
        """The shapes of all, one after the other."""
        return np.array([length for array in self.arrays for length in array.shape], np.int64)


def check_data(data: object) -> Data:
    """Check the arguments that follow those of a pair."""
    if not isinstance(data, (tuple, list)):
        raise InputError(
            f"data must be a tuple of arrays and numbers, got {type(data).__name__}; pass for example data=(charges,)"
        )
    arrays = []
    for k, entry in enumerate(data):
        array = _check.as_array(entry, f"data[{k}]")
        if array.dtype.kind not in "biufc":
            raise InputError(f"data[{k}] must hold numbers, got dtype {array.dtype}")
        if array.ndim > 3:
            raise InputError(f"data[{k}] must have at most 3 dimensions, got shape {array.shape}; reshape it")
        arrays.append(np.require(array, array.dtype.newbyteorder("="), ["C", "A"]))
    return Data(tuple(arrays))


def check_function(function: object, dtype: np.dtype[Any], dim: int, data: Data) -> Compiled:
    """Compile a function for points of a dtype and dimension; functions compiled before are kept."""
    need("reduce", "numba")
    # Those that Numba has already compiled are compiled again, into the loop.
    plain = getattr(function, "py_func", None) or getattr(function, "__wrapped__", None) or function
    if not callable(plain) or not hasattr(plain, "__code__"):
        raise InputError(
            f"function must be a Python function of (i, j, d2, v), plain or compiled by Numba, got {function!r}"
        )
    return _compile(plain, dtype.str, dim, data.kinds)


def _numba() -> Any:
    return import_module("numba")


def _store_number(values: Any, k: Any, value: Any) -> None:
    values[k] = value


def _tuple_store(count: int) -> Any:
    """Return a function that stores a tuple: one that stores the entries before the last, and the last."""
    njit = _numba().njit
    last = count - 1
    if last == 0:

        def store(values: Any, k: Any, given: Any) -> None:
            values[k] = given[0]

    else:
        before = njit(_tuple_store(last))

        def store(values: Any, k: Any, given: Any) -> None:
            before(values, k, given)
            values[last * BLOCK + k] = given[last]

    return store


_VECTORS = {
    2: lambda vectors, k: (vectors[k], vectors[BLOCK + k]),
    3: lambda vectors, k: (vectors[k], vectors[BLOCK + k], vectors[2 * BLOCK + k]),
}
"""The vector of pair k, by dimension."""


def _unpack(kinds: Sequence[tuple[str, int]]) -> Any:
    """Return a function that makes a tuple of arrays and numbers from addresses and shapes."""
    numba = _numba()
    carray, njit = numba.carray, numba.njit
    if not kinds:
        return njit(lambda addresses, shapes: ())  # noqa: ARG005
    before, last, at = _unpack(kinds[:-1]), len(kinds) - 1, sum(ndim for _, ndim in kinds[:-1])
    name, ndim = kinds[-1]
    entry = numba.from_dtype(np.dtype(name))

    def number(addresses: Any, shapes: Any) -> Any:
        return (*before(addresses, shapes), carray(addresses[last], (1,), entry)[0])

    def line(addresses: Any, shapes: Any) -> Any:
        return (*before(addresses, shapes), carray(addresses[last], (shapes[at],), entry))

    def table(addresses: Any, shapes: Any) -> Any:
        return (*before(addresses, shapes), carray(addresses[last], (shapes[at], shapes[at + 1]), entry))

    def tables(addresses: Any, shapes: Any) -> Any:
        shape = (shapes[at], shapes[at + 1], shapes[at + 2])
        return (*before(addresses, shapes), carray(addresses[last], shape, entry))

    return njit((number, line, table, tables)[ndim])


@lru_cache(maxsize=64)
def _compile(function: PairFunction, dtype: str, dim: int, kinds: tuple[tuple[str, int], ...]) -> Compiled:
    numba = _numba()
    from_dtype, njit, types = numba.from_dtype, numba.njit, numba.types
    real = from_dtype(np.dtype(dtype))
    entries = [(from_dtype(np.dtype(name)), ndim) for name, ndim in kinds]
    more_types = [types.Array(entry, ndim, "C") if ndim else entry for entry, ndim in entries]
    arguments = (types.int64, types.int64, real, types.UniTuple(real, dim), *more_types)
    # Division by zero gives inf, as in NumPy; a check of every division would keep the loop from being vectorised.
    inner = njit(error_model="numpy")(function)
    try:
        inner.compile(arguments)
        returned = inner.overloads[arguments].signature.return_type
    except (numba.core.errors.NumbaError, TypeError) as error:
        text = " ".join(str(error).split())
        raise InputError(
            f"function must compile for the arguments {', '.join(map(str, arguments))}, got an error of Numba: {text}"
        ) from error
    single = not isinstance(returned, types.BaseTuple)
    parts = (returned,) if single else tuple(returned)
    wrong = [part for part in parts if not isinstance(part, (types.Integer, types.Float, types.Boolean))]
    if wrong or not 1 <= len(parts) <= MOST_VALUES:
        raise InputError(
            f"function must return a number or a tuple of 1 to {MOST_VALUES} numbers, got {returned}; "
            "return a value along every path"
        )
    store = _store_number if single else _tuple_store(len(parts))
    store, vector, unpack = njit(store), njit(_VECTORS[dim]), _unpack(kinds)
    pointer = types.CPointer
    signature = types.void(
        types.int64,
        pointer(types.int32),
        pointer(types.int32),
        pointer(real),
        pointer(real),
        pointer(types.float64),
        pointer(types.voidptr),
        pointer(types.int64),
        pointer(types.int64),
    )

    def run(
        n: Any, i: Any, j: Any, squares: Any, vectors: Any, values: Any, addresses: Any, shapes: Any, done: Any
    ) -> None:
        more = unpack(addresses, shapes)
        for k in range(n):
            store(values, k, inner(types.int64(i[k]), types.int64(j[k]), squares[k], vector(vectors, k), *more))
        done[0] = n  # not reached if the function raises

    return Compiled(len(parts), single, numba.cfunc(signature)(run))
