"""
Common parts of the benchmarks from sizes.py on: calls timed in turn in one process, on one thread.

Times are CPU and wall seconds, the best of several rounds. Compare ratios, not seconds.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from measure import interleave
from vicinal.machine import describe
from vicinal.timing import RoundTimer

HERE = Path(__file__).resolve().parent


def nothing() -> None:
    """Do nothing."""


@dataclass
class Step:
    """A timed call, and an untimed preparation before each call."""

    name: str
    call: Callable[[], Any]
    before: Callable[[], None] = nothing

    def after(self) -> None:
        """Do nothing."""


def race(steps: Iterable[Step], repeats: int, budget: float = math.inf) -> dict[str, RoundTimer]:
    """Run every step once to warm up, then in turn."""
    entries = list(steps)
    for step in entries:
        step.before()
        step.call()
    return interleave([(step, step.call) for step in entries], repeats=repeats, budget=budget)


def seconds(times: RoundTimer) -> dict[str, float]:
    """Best times, for JSON."""
    return {"cpu": times.best, "wall": times.best_wall}


def parser(description: str | None) -> argparse.ArgumentParser:
    """The common options."""
    made = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--repeats", type=int, default=5, help="rounds, the best counts")
    made.add_argument("--out", type=Path, default=HERE / "results", help="folder for the JSON file")
    return made


def begin(options: argparse.Namespace) -> dict[str, Any]:
    """Switch to one thread and print the machine; returns the start of the report."""
    vc = import_module("vicinal")
    vc.set_threads(1)
    machine = describe()
    info = machine["vicinal"]
    print(f"{machine['cpu']}, {machine['cores_usable']} cores, load {machine['load'] or 0:.1f}; ", end="")
    print(f"vicinal {info['version']} with {info['isa']}, 1 thread, best of {options.repeats}, CPU time (wall)\n")
    noted = {name: value for name, value in vars(options).items() if name != "out"}
    return {"machine": machine, "settings": noted}


def finish(options: argparse.Namespace, name: str, data: dict[str, Any]) -> None:
    """Write the JSON file."""
    path = options.out / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"\nwritten to {path}")


def structures(*names: str) -> list[str]:
    """The names that this version of vicinal has."""
    vc = import_module("vicinal")
    return [name for name in names if hasattr(vc, name)]


def both(times: RoundTimer, scale: float = 1e3, unit: str = "ms") -> str:
    """CPU time, and wall time in brackets."""
    return f"{times.best * scale:9.2f} {unit} ({times.best_wall * scale:.2f})"


def verdict(held: bool) -> str:  # noqa: FBT001
    """Return whether a criterion holds, as a word."""
    return "holds" if held else "MISSED"
