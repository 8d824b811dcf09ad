"""One thread: tests run in several processes, and results do not depend on it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import vicinal as vc


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with vc.threads(1):
        yield
