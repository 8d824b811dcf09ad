"""What the programs of grains and fluids on ranks share: they compare cases with one process, bit for bit."""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from mpi4py import MPI

import vicinal as vc

WORLD = MPI.COMM_WORLD
Results = dict[str, Any]


def share(comm: Any, *columns: Any) -> list[Any]:
    """The rows that this rank passes: consecutive ones, so that ids are those of one process."""
    if comm is None:
        return list(columns)
    return [c[len(c) * comm.rank // comm.size : len(c) * (comm.rank + 1) // comm.size] for c in columns]


def meet() -> None:
    """Wait for all ranks, asleep: in its own waits, MPI takes the processor from the rank that still works."""
    done = WORLD.Ibarrier()
    while not done.Test():
        time.sleep(0.002)


def assert_same(got: Results, expected: Results, name: str) -> None:
    for key, value in expected.items():
        assert np.array_equal(got[key], value), (name, key)


def message(call: Callable[[], Any]) -> str:
    """The text of the error of a call, or of a warning that is an error."""
    try:
        call()
    except (vc.InputError, FloatingPointError, Warning) as error:
        return str(error)
    return "no error"


def in_thirds(
    make: Callable[[Any], Any],
    restore: Callable[[Any, Any], Any],
    results: Callable[[Any, Any], Results | None],
    steps: int,
) -> None:
    """Every call of a program does a third of a run on its own number of ranks; the last one compares."""
    file = Path(sys.argv[2]) / "state.pickle"
    sim = restore(pickle.loads(file.read_bytes()), WORLD) if file.exists() else make(WORLD)
    sim.run(steps)
    state = sim.state()
    WORLD.Barrier()
    if WORLD.rank == 0:
        file.write_bytes(pickle.dumps(state))
    if sim.step_count == 3 * steps:
        got = results(sim, WORLD)
        if got is not None:
            alone = make(None)
            for _ in range(3):
                alone.run(steps)
            expected = results(alone, None)
            assert expected is not None
            assert_same(got, expected, "restart")
            for name, value in alone.state().items():
                same = name in {"settings", "held", "walls"} or np.array_equal(value, state[name])
                assert same, name


def main(programs: dict[str, Callable[[], None]]) -> None:
    for name in sys.argv[1].split(","):
        programs[name]()
        meet()
    if WORLD.rank == 0:
        print(f"passed on {WORLD.size} ranks")
