"""Threads: ours, Python's and the operating system's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import vicinal as vc
from compare import ALL, assert_same_half, assert_same_pairs
from oracle import Pairs

CLOUD = np.random.default_rng(16).random((20000, 3))
SPACES = {"open": None, "periodic": 1.0}


def sorted_pairs(points: Any, **options: Any) -> Pairs:
    return Pairs(*vc.pairs(points, **options, want=ALL, half=False, sort=True))


def python(script: str, *, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a separate Python process."""
    return subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )


# -------------------------------------------------------------------------------- the number


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_can_be_set() -> None:
    for n in (1, 2, 3):
        vc.set_threads(n)
        assert vc.get_threads() == n == vc.info()["threads"]


@pytest.mark.usefixtures("threads")
def test_the_number_of_threads_is_restored() -> None:
    vc.set_threads(2)
    with vc.threads(1):
        assert vc.get_threads() == 1
        with vc.threads(3):
            assert vc.get_threads() == 3
        assert vc.get_threads() == 1
    assert vc.get_threads() == 2
    with pytest.raises(RuntimeError, match="stop"), vc.threads(1):
        raise RuntimeError("stop")
    assert vc.get_threads() == 2


def test_the_environment_sets_the_number_of_threads() -> None:
    result = python("import vicinal; print(vicinal.get_threads())", VICINAL_NUM_THREADS="1")
    assert result.stdout.strip() == "1", result.stderr
    result = python("import vicinal; print(vicinal.get_threads())", VICINAL_NUM_THREADS="3")
    assert result.stdout.strip() == "3", result.stderr


@pytest.mark.parametrize("number", ["0", "-2", "many", "1.5"])
def test_an_invalid_environment_variable_raises_a_clear_error(number: str) -> None:
    result = python("import vicinal; vicinal.pairs([[0, 0], [1, 1]], 2)", VICINAL_NUM_THREADS=number)
    assert result.returncode != 0
    assert "InputError: VICINAL_NUM_THREADS must be" in result.stderr
    assert number in result.stderr


# -------------------------------------------------------------------------------- the results


@pytest.mark.parametrize("box", SPACES.values(), ids=SPACES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_answer_does_not_depend_on_the_number_of_threads(box: Any, dtype: Any) -> None:
    points = CLOUD.astype(dtype)
    with vc.threads(1):
        expected = sorted_pairs(points, cutoff=0.06, box=box)
        counts = vc.count(points, cutoff=0.06, box=box)
        asked = vc.pairs(points, queries=points[::3], cutoff=0.06, box=box, sort=True)
    assert len(expected) > 300000
    for n in (2, 3):
        with vc.threads(n):
            assert_same_pairs(sorted_pairs(points, cutoff=0.06, box=box), expected)
            assert_same_half(Pairs(*vc.pairs(points, cutoff=0.06, box=box, want=ALL)), expected)
            assert np.array_equal(vc.count(points, cutoff=0.06, box=box), counts)
            rows = vc.neighbors(points, cutoff=0.06, box=box, sort=True)
            assert np.array_equal(rows.indices, expected.j)
            assert np.array_equal(rows.counts, counts)
            again = vc.pairs(points, queries=points[::3], cutoff=0.06, box=box, sort=True)
            assert all(np.array_equal(a, b) for a, b in zip(again, asked, strict=True))


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_there_may_be_more_threads_than_bodies(n: int) -> None:
    with vc.threads(8):
        assert len(vc.pairs(np.zeros((n, 3)), cutoff=1.0)[0]) == n * (n - 1) // 2


def test_searches_from_several_python_threads_do_not_disturb_each_other() -> None:
    clouds = [CLOUD[k * 2000 : (k + 1) * 2000] * (1 + k) for k in range(6)]
    expected = [sorted_pairs(cloud, cutoff=0.2) for cloud in clouds]
    with ThreadPoolExecutor(6) as pool:
        results = list(pool.map(lambda cloud: sorted_pairs(cloud, cutoff=0.2), clouds * 4))
    for k, pairs in enumerate(results):
        assert_same_pairs(pairs, expected[k % 6])


@pytest.mark.parametrize("structure", [vc.Exhaustive, vc.LinkedCells, vc.CellSorting])
def test_one_index_may_be_searched_from_several_python_threads(structure: Any) -> None:
    index = structure(CLOUD[:3000], cutoff=0.1)

    def answers() -> list[Any]:
        results = [*index.pairs(sort=True), *index.pairs(want=ALL, sort=True), index.count()]
        return [*results, *index.pairs(queries=CLOUD[3000:4000], want=ALL, sort=True)]

    with ThreadPoolExecutor(4) as pool:
        turns = list(pool.map(lambda _: answers(), range(24)))
    expected = answers()
    for turn in turns:
        assert all(np.array_equal(a, b) for a, b in zip(turn, expected, strict=True))


# -------------------------------------------------------------------------------- the interpreter


def test_python_threads_run_during_a_search() -> None:
    """The GIL is released: another thread keeps running between the start and the end of one long call."""
    index = vc.Exhaustive(np.tile(CLOUD, (3, 1)), cutoff=1e-3)
    ticks: list[float] = []
    done = threading.Event()

    def tick() -> None:
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.001)

    ticker = threading.Thread(target=tick)
    ticker.start()
    try:
        with vc.threads(1):
            start = time.perf_counter()
            index.count()
            end = time.perf_counter()
    finally:
        done.set()
        ticker.join()
    margin = (end - start) / 10
    assert sum(start + margin < t < end - margin for t in ticks) >= 5


UPDATING = """
import threading
import numpy as np, vicinal
points = np.random.default_rng(0).random((1_000_000, 3))
index = vicinal.CellSorting(points, cutoff=0.01)
done = threading.Event()

def update():
    for _ in range(5):
        index.update(points)
    done.set()

threading.Thread(target=update).start()
while not done.is_set():
    assert index.stats.bodies == len(points)
    assert len(index) == len(points)
print("well")
"""


def test_an_index_may_be_read_while_another_thread_updates_it() -> None:
    """An update holds the index and waits for the GIL; reading holds the GIL and waits for the index: no deadlock."""
    result = python(UPDATING)
    assert result.stdout.strip() == "well", result.stderr


# A process started in the background of a shell ignores the signal unless it asks for it.
HOURS_OF_WORK = """
import signal
import numpy as np, sys, vicinal
signal.signal(signal.SIGINT, signal.default_int_handler)
points = np.random.default_rng(0).random((3_000_000, 3))
index = vicinal.Exhaustive(points, cutoff=1e-4)
print("searching", flush=True)
try:
    index.{search}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    assert len(vicinal.pairs(points[:1000], cutoff=0.5)[0]) > 1000
    print("still well", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of another kind")
@pytest.mark.parametrize("search", ["count()", "pairs()", "neighbors()", "pairs(queries=points)"])
def test_a_long_search_can_be_interrupted(search: str) -> None:
    script = HOURS_OF_WORK.format(search=search)
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "searching\n"
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            rest, _ = process.communicate(timeout=240)
        finally:
            process.kill()
    assert rest == "interrupted\nstill well\n"


FORKING = """
import multiprocessing, warnings
import numpy as np, vicinal
warnings.simplefilter("ignore", DeprecationWarning)
points = np.random.default_rng(0).random((20000, 3))

def search(threads):
    with vicinal.threads(threads):
        return len(vicinal.pairs(points, cutoff=0.05)[0])

if __name__ == "__main__":
    expected = search(2)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(search, [1, 2, 3, 2]).get(timeout=30) == [expected] * 4
    assert search(2) == expected
    print("well")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_a_forked_child_can_search() -> None:
    """OpenMP's threads do not survive a fork; a child that waits for them would hang."""
    result = python(FORKING)
    assert result.stdout.strip() == "well", result.stderr
