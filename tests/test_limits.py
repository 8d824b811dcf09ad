"""Limits of numbers and memory: a clear error, and an index that still works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from cases import BOTH
from compare import ask, assert_same_pairs
from structures import STRUCTURES
from vicinal import _core

LONGEST = {np.float32: 3e32, np.float64: 1e296}
both = pytest.mark.parametrize("dtype", BOTH, ids=lambda dtype: dtype.__name__)


@both
def test_a_periodic_edge_whose_images_overflow_is_refused(dtype: Any) -> None:
    points = np.zeros((2, 3), dtype)
    with pytest.raises(vc.InputError, match=r"box\[1\] must be at most .* use a smaller unit of length"):
        vc.pairs(points, cutoff=1.0, box=(1.0, 4 * LONGEST[dtype], 1.0))


@pytest.mark.parametrize("structure", [s for s in STRUCTURES if s.periodic], ids=str)
@both
def test_the_longest_periodic_edge_loses_no_image(structure: Any, dtype: Any) -> None:
    edge = dtype(LONGEST[dtype])
    rng = np.random.default_rng(3)
    for dim in structure.dims:
        lower = (rng.random((40, dim)) * edge).astype(dtype)
        for size in (0.3, 2.5):  # of the edge
            upper = (lower + dtype(size) * rng.random((40, dim)).astype(dtype) * edge).astype(dtype)
            bodies = {"boxes": (lower, upper), "box": float(edge)}
            index = structure.build(**bodies, size=float(size * edge))
            expected = ask(vc.Exhaustive(**bodies).pairs, "boxes", sort=True)
            assert len(expected) > 0
            assert_same_pairs(ask(index.pairs, "boxes", sort=True), expected)


@both
def test_tiny_queries_on_boxes_without_size(dtype: Any) -> None:
    """Linked cells as long as the queries would not fit into memory."""
    places = np.random.default_rng(0).random((200, 3)).astype(dtype)
    index = vc.LinkedCells(boxes=(places, places))
    queries = (places[:5], places[:5] + dtype(1e-6))
    i, j = index.pairs(query_boxes=queries, sort=True)
    assert i.tolist() == j.tolist() == list(range(5))
    assert len(index.pairs()[0]) == 0
    assert index.count().tolist() == [0] * 200


SHORT_OF_MEMORY = """
import resource
import numpy as np
import vicinal as vc
vc.set_threads(1)
points = np.random.default_rng(0).random((20_000, 3))
index = vc.Exhaustive(points, cutoff=2.0)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, resource.RLIM_INFINITY))
try:
    index.pairs()
except MemoryError as error:
    print(error)
print(index.count()[0])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs a limit of address space")
def test_a_lack_of_memory_raises_a_clear_error() -> None:
    run = subprocess.run([sys.executable, "-c", SHORT_OF_MEMORY], capture_output=True, text=True, check=True)
    message, count = run.stdout.splitlines()
    assert message.startswith("not enough memory for this search or its result; use a smaller cutoff")
    assert count == "19999"


@pytest.fixture
def little_memory() -> Iterator[int]:
    """A machine with 64 MiB left, as the core sees it."""
    _core.pretend_available_memory(2**26)
    yield 2**26
    _core.pretend_available_memory(0)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "search",
    [
        lambda points: vc.pairs(points, 1.0),
        lambda points: vc.pairs(points, 1.0, sort=True),
        lambda points: vc.pairs(points, 1.0, want="ijdD"),
        lambda points: vc.neighbors(points, 1.0),
        lambda points: vc.Exhaustive(points, cutoff=1.0).neighbors(),
        lambda points: vc.pairs(points, 1.0, batch=np.zeros(len(points), int)),
        lambda points: vc.nearest(points, 1000),
    ],
    ids=["pairs", "sorted", "columns", "rows", "kept", "system", "nearest"],
)
def test_a_result_larger_than_memory_raises_before_it_is_written(
    search: Callable[[Any], Any], threads: int, little_memory: int
) -> None:
    """Linux would end the process."""
    places = np.zeros((12_000, 3))  # 144 million pairs in both directions
    with vc.threads(threads), pytest.raises(MemoryError, match="not enough memory for this search or its result"):
        search(places)
    i, _ = vc.pairs(places[:1000], 1.0)
    assert 8 * len(i) < little_memory


def test_the_memory_that_is_left_is_that_of_the_machine_at_most() -> None:
    assert 0 < _core.available_memory() <= _core.physical_memory()


def test_columns_count_together(little_memory: int) -> None:
    """Each of two columns of 10 million pairs is smaller than what is left; both together are larger."""
    places = np.zeros((4500, 3))
    (j,) = vc.pairs(places, 1.0, want="j")
    assert j.nbytes < little_memory < 2 * j.nbytes
    with pytest.raises(MemoryError):
        vc.pairs(places, 1.0)
