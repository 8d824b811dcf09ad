"""Hypothesis profiles, and fixtures that restore the state of the process."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, settings

# Idle threads sleep. By default they spin for some milliseconds, which takes the processor from the other worker: most
# searches of the tests are shorter than that. The variable is read when the extension is loaded, hence here.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import vicinal as vc
from vicinal import _core

if TYPE_CHECKING:
    from collections.abc import Iterator

SLOW_IS_FINE = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much]

settings.register_profile(
    "ci",
    max_examples=100,
    derandomize=True,
    database=None,
    deadline=None,
    report_multiple_bugs=False,  # shrinking one is enough
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile(
    "long",
    max_examples=5000,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=SLOW_IS_FINE,
)
settings.register_profile("short", settings.get_profile("ci"), max_examples=15)
settings.load_profile(os.environ.get("VICINAL_HYPOTHESIS", "ci"))


@pytest.fixture
def isa() -> Iterator[None]:
    """The test may switch the instruction set."""
    before = vc.info()["isa"]
    yield
    _core.set_isa(before)


@pytest.fixture
def threads() -> Iterator[None]:
    """The test may change the number of threads."""
    before = vc.get_threads()
    yield
    vc.set_threads(before)
