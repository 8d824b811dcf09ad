"""
vicinal and its peers on the same points, in one process, in turn.

Run ``python benchmarks/harness.py`` for an overview in a few minutes, and with ``--help`` for all options.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
MODES = ("compare", "growth", "isa", "threads")
THREAD_VARIABLES = (
    "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "TBB_NUM_THREADS", "VICINAL_NUM_THREADS",
)  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Parse, measure, report; returns the exit code."""
    options = parse(arguments)
    # Thread pools read these variables when their library is loaded, so numerical libraries are imported later.
    for variable in THREAD_VARIABLES:
        os.environ[variable] = str(options.threads)
    from session import run_session

    try:
        return run_session(options)
    except ValueError as error:
        print(f"harness: {error}", file=sys.stderr)
        return 2


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_argument_group("measured cases (several values: every combination)")
    what.add_argument(
        "--mode",
        choices=MODES,
        default="compare",
        help="against peers (default), or vicinal alone: "
        "growth with the number of bodies, instruction sets (and scipy), thread counts",
    )
    what.add_argument("--sizes", type=_sizes, help="numbers of bodies, e.g. 1e4,1e5")
    what.add_argument("--workloads", type=_words, help="uniform, uniform2d, periodic, clustered")
    what.add_argument("--orders", type=_words, help="random, sorted (along a Morton curve)")
    what.add_argument("--dtypes", type=_words, help="float64, float32")
    what.add_argument(
        "--tasks",
        type=_words,
        help="pairs (half: i and j), vectors (half: i, j, distance, vector and shift), rows (full CSR), count",
    )
    what.add_argument("--peers", type=_words, default=("all",), help="names, all or none")
    what.add_argument(
        "--structures", type=_words, default=(), help="also vicinal with CellSorting, LinkedCells, Exhaustive"
    )
    what.add_argument("--full", action="store_true", help="every workload, order, dtype and task at 1e4 to 1e7")
    what.add_argument("--seed", type=int, default=1)
    how = parser.add_argument_group("method")
    how.add_argument("--repeats", type=_positive(int), default=5, help="interleaved rounds, the best counts")
    how.add_argument("--threads", type=_positive(int), default=1, help="threads of every contestant that supports them")
    how.add_argument("--time-limit", type=_positive(float), help="CPU seconds one call may take (5; with --full 300)")
    how.add_argument("--budget", type=_positive(float), help="seconds per contestant and case (1.5; with --full 60)")
    how.add_argument(
        "--no-memory",
        action="store_true",
        help="skip the child processes that measure peak memory; "
        "they also protect this process from a peer that crashes or exhausts the memory",
    )
    how.add_argument("--no-check", action="store_true", help="do not compare the pair sets")
    out = parser.add_argument_group("output")
    out.add_argument("--out", type=Path, default=HERE / "results", help="folder for JSON and plot")
    out.add_argument("--markdown", type=Path, help="also write the tables as Markdown to this file")
    return parser.parse_args(arguments)


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(float(word)) for word in _words(text))
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers such as 1e4,1e5") from error
    if not sizes or min(sizes) < 1000:
        # With fewer bodies the cutoff for thirty neighbours approaches half the box.
        raise argparse.ArgumentTypeError("each size must be at least 1000")
    return tuple(sorted(sizes))


def _positive(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    def convert(text: str) -> Any:
        value = kind(text)
        if value <= 0:
            raise argparse.ArgumentTypeError(f"{text} is not positive")
        return value

    return convert


if __name__ == "__main__":
    sys.exit(main())
