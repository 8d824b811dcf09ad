"""Comparison of a result of vicinal with that of the oracle: bit for bit."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np

from oracle import Array, Pairs

ALL = "ijSdD"
COPIES = {"copy": copy.copy, "deepcopy": copy.deepcopy, "pickle": lambda value: pickle.loads(pickle.dumps(value))}


def ask(search: Any, kind: str, **options: Any) -> Pairs:
    """All columns of a search. Boxes have no distances, so they get zeros, as in the oracle."""
    if kind != "boxes":
        return Pairs(*search(want=ALL, **options))
    i, j, S = search(want="ijS", **options)
    return Pairs(i, j, S, np.zeros(len(i)), np.zeros(S.shape))


def ask_queries(index: Any, others: dict[str, Any], **options: Any) -> Pairs:
    """The pairs of a second set, given by the keywords of `vicinal.pairs`, with the bodies of an index."""
    kind = "boxes" if "query_boxes" in others else "points"
    return ask(index.pairs, kind, **others, **options)


def rows_of(search: Any, kind: str, **options: Any) -> Pairs:
    """The same for a search for rows."""
    return from_rows(search(want="jS" if kind == "boxes" else "jSdD", **options))


def assert_same_bits(actual: Array, expected: Array) -> None:
    """Same dtype, same shape, same bits."""
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert np.array_equal(actual, expected)
    assert actual.tobytes() == expected.tobytes()


def assert_same_pairs(actual: Pairs, expected: Pairs) -> None:
    """The same pairs in the same order, with the same shifts, distances and vectors."""
    if len(actual) != len(expected) or not all(np.array_equal(getattr(actual, k), getattr(expected, k)) for k in "ijS"):
        missing, extra = keys(expected) - keys(actual), keys(actual) - keys(expected)
        assert not missing, f"lost {len(missing)} of {len(expected)} (i, j, S): {sorted(missing)[:5]}"
        assert not extra, f"invented {len(extra)} in addition to {len(expected)} (i, j, S): {sorted(extra)[:5]}"
        assert len(actual) == len(expected), "a pair occurs twice"
    for name in ALL:
        assert_same_bits(getattr(actual, name), getattr(expected, name))


def keys(pairs: Pairs) -> set[tuple[Any, ...]]:
    """The set of (i, j, S)."""
    return set(zip(pairs.i.tolist(), pairs.j.tolist(), map(tuple, pairs.S.tolist()), strict=True))


def without_signed_zeros(pairs: Pairs) -> Pairs:
    """Replace -0.0 by 0.0: a reversed pair has the one where the pair has the other."""
    return Pairs(pairs.i, pairs.j, pairs.S, pairs.d, pairs.D + pairs.D.dtype.type(0))


def assert_same_half(actual: Pairs, expected: Pairs) -> None:
    """The same unordered pairs, each once, in any order and orientation."""
    assert_same_pairs(without_signed_zeros(actual.oriented().sorted()), without_signed_zeros(expected.half()))


def assert_sorted(pairs: Pairs) -> None:
    """By i, then j, then S."""
    order = np.lexsort((*pairs.S.T[::-1], pairs.j, pairs.i))  # stable: rows in order stay where they are
    assert np.array_equal(order, np.arange(len(pairs)))


def from_rows(rows: Any) -> Pairs:
    """The rows of a Neighbors with everything wanted, as pairs."""
    i = np.repeat(np.arange(len(rows), dtype=np.int32), np.diff(rows.offsets))
    if rows.distances is None:
        return Pairs(i, rows.indices, rows.shifts, np.zeros(len(i)), np.zeros(rows.shifts.shape))
    return Pairs(i, rows.indices, rows.shifts, rows.distances, rows.vectors)
