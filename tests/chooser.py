"""Lets tests reach every structure through `vicinal.pairs` and the like, which test all pairs of few bodies."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest

from vicinal import costs

if TYPE_CHECKING:
    from collections.abc import Iterator

# The default limit, and one with which `Exhaustive` is never chosen for two bodies or more.
LIMITS = {"all_pairs": None, "chosen": -1}

each_limit = pytest.mark.parametrize("limit", LIMITS.values(), ids=LIMITS)


@contextmanager
def all_pairs_limit(limit: int | None) -> Iterator[None]:
    """Up to `limit` bodies, all pairs are tested; see `costs.ALL_PAIRS_LIMIT`."""
    before = costs.ALL_PAIRS_LIMIT
    costs.ALL_PAIRS_LIMIT = limit
    try:
        yield
    finally:
        costs.ALL_PAIRS_LIMIT = before
