"""
The best possible speed on this machine, compared with that of vicinal.

``limit.cpp`` measures the operations a pair search consists of: testing distances and storing the hits,
writing memory that is new or already mapped, moving points into cell order. Their costs per entry, simply
added, estimate the best possible time for the number of tests that vicinal makes: the estimate assumes that no
operations overlap and that there are no others.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
FLAGS = ("-std=c++20", "-O3", "-ffp-contract=off")
# A row of three cells at thirty neighbours per body holds about this many candidates.
TYPICAL_RANGE = 96
BYTES_PER_ENTRY = {"pairs": 8, "rows": 4}


@dataclass(frozen=True, kw_only=True)
class Reached:
    """One case: measured nanoseconds per entry, and the parts of the best possible time."""

    case: str
    entries: int
    fresh_ns: float
    reused_ns: float
    tests_per_entry: float
    index_bytes_per_body: float
    tests_ns: float
    order_ns: float
    store_ns: float
    touch_ns: float

    @property
    def best_reused_ns(self) -> float:
        """Tests, ordering, and results written to memory already mapped."""
        return self.tests_ns + self.order_ns + self.store_ns

    @property
    def best_fresh_ns(self) -> float:
        """The same with results written to new memory in huge pages."""
        return self.tests_ns + self.order_ns + self.touch_ns


def measure_machine(compiler: str) -> dict[str, float]:
    """Compile limit.cpp into a temporary folder and run it."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "limit"
        subprocess.run([compiler, *FLAGS, str(HERE / "limit.cpp"), "-o", str(program)], check=True)
        done = subprocess.run([str(program)], check=True, capture_output=True, text=True)
    return {name: float(value) for name, value in json.loads(done.stdout).items()}


def measure_vicinal(sizes: list[int], repeats: int, machine: dict[str, float]) -> list[Reached]:
    """Time pairs and rows, with a new and with a kept index, and compute the parts of the best possible time."""
    vc = import_module("vicinal")
    from measure import interleave
    from ours import Vicinal
    from workloads import Case, make_cloud

    isa = vc.info()["isa"]
    reached = []
    for size in sizes:
        for dtype in ("float64", "float32"):
            for task in ("pairs", "rows"):
                case = Case(workload="uniform", bodies=size, dtype=dtype, task=task)
                cloud = make_cloud(case)
                ways = (Vicinal(), Vicinal(reused=True))
                calls = [(way, way.prepare(cloud, task, 1)) for way in ways]
                for _, call in calls:
                    call()
                times = interleave(calls, repeats=repeats, budget=60)
                index = _searched_index(vc, cloud, task)
                entries = index.stats.pairs
                tests = index.stats.candidates / entries
                test_ns = _test_ns(machine, isa)
                reached.append(
                    Reached(
                        case=f"{size:.0e} {dtype} {task}",
                        entries=entries,
                        fresh_ns=times["vicinal"].best * 1e9 / entries,
                        reused_ns=times["vicinal reused"].best * 1e9 / entries,
                        tests_per_entry=tests,
                        index_bytes_per_body=index.stats.bytes / size,
                        tests_ns=tests * test_ns,
                        order_ns=_order_ns(machine, size) * size / entries,
                        store_ns=BYTES_PER_ENTRY[task] / machine["write_GB_per_s"],
                        touch_ns=BYTES_PER_ENTRY[task] / machine["first_touch_huge_GB_per_s"],
                    )
                )
    return reached


def _searched_index(vc: Any, cloud: Any, task: str) -> Any:
    """Build the structure that vicinal chooses and search it once, so that its statistics are available."""
    chosen = vc.choose(cloud.points, cutoff=cloud.cutoff, box=cloud.box)
    structure = getattr(vc, chosen.structure)
    index = structure(cloud.points, cutoff=cloud.cutoff, box=cloud.box, **chosen.parameters)
    _ = index.pairs() if task == "pairs" else index.neighbors()
    return index


def _test_ns(machine: dict[str, float], isa: str) -> float:
    """Cost of a test in float32: with a band, float64 is exact at nearly the same cost."""
    return machine.get(f"test_ns_float32_{isa}_{TYPICAL_RANGE}", float("nan"))


def _order_ns(machine: dict[str, float], size: int) -> float:
    """Cost of moving one point to its cell, from the measured size nearest to this one."""
    known = (10**5, 10**6, 10**7)
    nearest = min(known, key=lambda k: abs(k.bit_length() - size.bit_length()))
    label = f"1e{len(str(nearest)) - 1}"
    return min(machine[f"scatter_ns_per_point_{label}"], machine[f"gather_ns_per_point_{label}"])


def print_tables(machine: dict[str, float], reached: list[Reached]) -> None:
    """Print both tables."""
    from rich.console import Console
    from rich.table import Table

    console = Console()
    if not console.is_terminal:
        console = Console(width=150)
    table = Table(title="this machine, one thread", title_justify="left")
    table.add_column("operation")
    table.add_column("at best", justify="right")
    for name, value in machine.items():
        if name != "repeats":
            table.add_row(name, f"{value:.2f}")
    console.print(table)
    if not reached:
        return
    table = Table(title="vicinal, ns CPU per entry, one thread", title_justify="left")
    headings = (
        "uniform, random order", "tests", "testing", "order", "store", "possible", "reused", "of it",
        "first touch", "possible", "fresh", "of it", "index B/body",
    )  # fmt: skip
    for heading in headings:
        first = heading.startswith("uniform")
        table.add_column(heading, justify="left" if first else "right", no_wrap=first)
    for line in reached:
        reused, fresh = line.best_reused_ns, line.best_fresh_ns
        numbers = (
            line.tests_per_entry, line.tests_ns, line.order_ns, line.store_ns,
            reused, line.reused_ns, f"{reused / line.reused_ns:.0%}",
            line.touch_ns, fresh, line.fresh_ns, f"{fresh / line.fresh_ns:.0%}",
            line.index_bytes_per_body,
        )  # fmt: skip
        table.add_row(line.case, *(n if isinstance(n, str) else f"{n:.2f}" for n in numbers))
    console.print(table)


def main() -> int:
    """Measure, show, write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1e5,1e6", help="numbers of bodies for vicinal's part")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    parser.add_argument("--machine-only", action="store_true", help="without vicinal")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    options = parser.parse_args()
    if shutil.which(options.compiler) is None:
        print(f"limit: no compiler {options.compiler!r}; name one with --compiler", file=sys.stderr)
        return 2
    for variable in ("OMP_NUM_THREADS", "VICINAL_NUM_THREADS"):
        os.environ[variable] = "1"  # libraries read these variables when they are loaded, which happens below
    machine = measure_machine(options.compiler)
    reached: list[Reached] = []
    if not options.machine_only:
        sizes = [int(float(word)) for word in options.sizes.split(",")]
        reached = measure_vicinal(sizes, options.repeats, machine)
    print_tables(machine, reached)
    from vicinal.machine import describe

    lines = [asdict(r) | {"best_reused_ns": r.best_reused_ns, "best_fresh_ns": r.best_fresh_ns} for r in reached]
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "limit.json"
    data = {"machine": describe(), "limit": machine, "reached": lines}
    path.write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
