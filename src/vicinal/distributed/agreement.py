"""Values that must be the same on all ranks: one small message compares them, and an error names what differs.

All arguments are compared before they are checked: a rank that refused one alone would leave the others waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from hashlib import blake2b
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

import numpy as np

from vicinal.distributed.messages import own_communicator
from vicinal.errors import InputError

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

DIGEST = 16
"""Bytes of a digest: two sets of values that differ have the same one with a probability of 2⁻¹²⁸."""

EXACT = 2**53
"""Whole numbers up to here are exact in float64, so that 1 and 1.0 are the same."""

SHOWN = 10
"""Numbers of an array that an error shows; of longer ones it tells the shape."""

LISTED = 8
"""Ranks that an error lists by number."""

PLAIN = (int, float, complex, str, bytes, type)
SEQUENCES = (np.ndarray, list, tuple)
NUMBERS = (int, float, np.generic, *SEQUENCES)
PACKAGE = __name__.split(".", maxsplit=1)[0]


def agree_on(comm: Intracomm | None, given: Mapping[str, object], *, per_rank: Collection[str]) -> None:
    """Compare the arguments of a call, such as ``locals()``, on all ranks, except those that belong to a rank.

    Without a communicator there is nothing to compare.
    """
    if comm is not None:
        check_same(own_communicator(comm), {name: value for name, value in given.items() if name not in per_rank})


def passed(**arguments: object) -> dict[str, object]:
    """Return which arguments were passed, for `check_same`: their values belong to a rank."""
    return {f"whether {name}= is passed": value is not None for name, value in arguments.items()}


def check_same(
    comm: Intracomm, values: Mapping[str, object], named: Callable[[], Mapping[str, object]] | None = None
) -> None:
    """Raise `InputError` on all ranks unless they have the same values, by name. All ranks call it together.

    Numbers are compared by value, arrays by shape and values, containers, dataclasses and other objects of this package
    by what they hold, functions and classes by name; of unknown objects only the type. If many values are compared as
    one array, to be faster, `named` returns them by name for the error.
    """
    if comm.size == 1:
        return
    from mpi4py import MPI

    words = np.frombuffer(digest(values), np.uint64)
    ends = np.concatenate([words, ~words])  # the largest of these is the inverse of the smallest of those
    comm.Allreduce(MPI.IN_PLACE, ends, MPI.MAX)
    if not np.array_equal(ends[: len(words)], ~ends[len(words) :]):
        own = {path: (_content(leaf), _text(leaf)) for path, leaf in _all(named() if named else values)}
        raise InputError(_difference(comm.allgather(own)))


def digest(values: Mapping[str, object]) -> bytes:
    """Return bytes that are the same for the same values, in every process.

    Examples
    --------
    >>> digest({"cutoff": 1, "edges": [0, 0.5]}) == digest({"cutoff": 1.0, "edges": np.array([0.0, 0.5])})
    True
    >>> digest({"cutoff": 1}) == digest({"cutoff": None})
    False
    """
    hashed = blake2b(digest_size=DIGEST)
    for path, leaf in _all(values):
        content = _content(leaf)
        hashed.update(b"%s\0%d\0%s" % (path.encode(), len(content), content))
    return hashed.digest()


def _all(values: Mapping[str, object]) -> Iterator[tuple[str, object]]:
    for name, value in values.items():
        yield from _leaves(name, value)


def _leaves(path: str, value: object) -> Iterator[tuple[str, object]]:
    """Return numbers, texts, types and arrays of numbers that make up a value, each with its place in it."""
    leaf = _leaf(value)
    yield path, leaf
    if isinstance(leaf, (type, Length)):
        for place, item in _parts(value).items():
            yield from _leaves(path + place, item)


@dataclass(frozen=True)
class Length:
    """The length of a list that holds other things than numbers."""

    count: int


def _leaf(value: Any) -> object:
    """Return a value that has no parts as it is compared, and the kind of others."""
    if value is None or isinstance(value, PLAIN):
        return value
    if isinstance(value, SEQUENCES):
        numbers = _numbers(value)
        return Length(len(value)) if numbers is None else numbers
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, PathLike):
        return fspath(value)
    if isinstance(value, Mapping):
        return dict
    return getattr(value, "__qualname__", type(value))  # that of a function


def _parts(value: Any) -> dict[str, object]:
    """Return what a container or an object holds, by its place."""
    if isinstance(value, SEQUENCES):
        return {f"[{place}]": item for place, item in enumerate(value)}
    if isinstance(value, Mapping):
        return {f".{'-'.join(key) if isinstance(key, tuple) else key}": item for key, item in value.items()}
    if isinstance(value, type):
        return {}
    if is_dataclass(value):
        return {f".{field.name}": getattr(value, field.name) for field in fields(value)}
    own = type(value).__module__.split(".")[0] == PACKAGE and hasattr(value, "__dict__")
    return {f".{name.lstrip('_')}": item for name, item in vars(value).items()} if own else {}


def _numbers(value: Any) -> Any:
    """Return an array of numbers as float64, or None for other arrays and lists."""
    array = value
    if not isinstance(value, np.ndarray):
        if not all(isinstance(item, NUMBERS) for item in value):
            return None
        try:
            array = np.asarray(value)
        except ValueError:  # rows of different lengths
            return None
    return np.add(array, 0.0, dtype=np.float64) if array.dtype.kind in "fiub" else None  # -0.0 becomes 0.0


def _content(leaf: object) -> bytes:
    """Return bytes that are the same for the same leaf."""
    if isinstance(leaf, np.ndarray):
        return repr(leaf.shape).encode() + leaf.tobytes()
    if isinstance(leaf, (int, float)) and abs(leaf) <= EXACT:
        return repr(float(leaf) + 0.0).encode()
    return (leaf.__qualname__ if isinstance(leaf, type) else repr(leaf)).encode()


def _text(leaf: object) -> str:
    """Return a leaf as an error shows it."""
    if isinstance(leaf, np.ndarray):
        return repr(leaf.tolist()) if leaf.size <= SHOWN else f"values of shape {leaf.shape}"
    if isinstance(leaf, Length):
        return f"a list of length {leaf.count}"
    return leaf.__qualname__ if isinstance(leaf, type) else repr(leaf)


def _difference(of_ranks: list[dict[str, tuple[bytes, str]]]) -> str:
    """Return the message about the first leaf that differs."""
    for path in dict.fromkeys(path for leaves in of_ranks for path in leaves):
        found = [leaves.get(path, (b"", "nothing")) for leaves in of_ranks]
        first = found[0]
        other = next((one for one in found if one != first), first)
        if other != first:
            here, there = (_listed([rank for rank, one in enumerate(found) if one == kind]) for kind in (first, other))
            alike = first[1] == other[1]
            got = f"different {first[1]} on {here}" if alike else f"{first[1]} on {here}"
            return f"{path} must be the same on all ranks, got {got} and {'' if alike else other[1] + ' '}on {there}"
    return "arguments must come in the same order on all ranks"


def _listed(ranks: list[int]) -> str:
    """Return the numbers of ranks as a text.

    Examples
    --------
    >>> _listed([1]), _listed([0, 2]), _listed(list(range(20)))
    ('rank 1', 'ranks 0, 2', 'ranks 0, 1, 2, 3, 4, 5, 6, 7 and 12 others')
    """
    names = ", ".join(map(str, ranks[:LISTED]))
    more = f" and {len(ranks) - LISTED} others" if len(ranks) > LISTED else ""
    return f"rank{'s' if len(ranks) > 1 else ''} {names}{more}"
