"""Derives cases and contestants from the options and runs them; an interrupt keeps finished cases."""

from __future__ import annotations

import argparse
from itertools import product

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

import ours
from contestants import Contestant
from plot import draw
from registry import peers_named
from report import growth, print_case, write_json, write_markdown
from run import CaseResult, Runner, Settings
from vicinal.machine import describe
from workloads import DTYPES, ORDERS, TASKS, WORKLOADS, Case

ALL_SIZES = (10**4, 10**5, 10**6, 10**7)
QUICK_SIZES = (10**4, 10**5)
INTERRUPTED = 130
WIDTH_IN_A_FILE = 132


def run_session(options: argparse.Namespace) -> int:
    """Run all cases; returns the exit code."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=WIDTH_IN_A_FILE)
    cases = choose_cases(options)
    contestants = choose_contestants(options)
    settings = Settings(
        repeats=options.repeats,
        threads=options.threads,
        time_limit=options.time_limit or (300.0 if options.full else 5.0),
        budget=options.budget or (60.0 if options.full else 1.5),
        # Children know contestants by name; a forced instruction set or thread count needs no memory figure.
        memory=not options.no_memory and options.mode in {"compare", "growth"},
        check=not options.no_check,
    )
    machine = describe(["numpy", *(c.distribution for c in contestants)])
    info = machine["vicinal"]
    console.print(f"{machine['cpu']}, {machine['cores_usable']} cores, load {machine['load'] or 0:.1f}", end="; ")
    console.print(f"vicinal {info['version']} with {info['isa']}, {options.threads} thread(s)")
    noted = {k: v for k, v in vars(options).items() if k not in {"out", "markdown"}}
    results: list[CaseResult] = []
    path = options.out / f"{options.mode}.json"
    code = 0
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console, transient=True) as progress:
        bar = progress.add_task("", total=len(cases))
        runner = Runner(contestants, settings, show=lambda text: progress.update(bar, description=text))
        try:
            for case in cases:
                results.append(runner.run(case))
                print_case(progress.console, results[-1])
                write_json(path, machine, noted, results)
                progress.advance(bar)
        except KeyboardInterrupt:
            console.print(f"interrupted; {len(results)} of {len(cases)} cases are kept")
            code = INTERRUPTED
    if not results:
        return code
    if options.mode == "growth":
        console.print(*growth(results), sep="\n")
    draw(path.with_suffix(".png"), results, f"{machine['cpu']}, {options.threads} thread(s)")
    if options.markdown is not None:
        write_markdown(options.markdown, machine, noted, results)
    console.print(
        f"written: {path}, {path.with_suffix('.png')}" + (f", {options.markdown}" if options.markdown else "")
    )
    return code or int(any(_wrong(result) for result in results))


def choose_cases(options: argparse.Namespace) -> list[Case]:
    """
    Cases of a run.

    All combinations of the given options. Without options, one parameter at a time departs from the base
    case (uniform, random order, float64, pairs): all combinations would take a day and show little more.
    """
    given = {
        "workload": _known("workload", options.workloads, WORKLOADS),
        "order": _known("order", options.orders, ORDERS),
        "dtype": _known("dtype", options.dtypes, DTYPES),
        "task": _known("task", options.tasks, TASKS),
    }
    choice: dict[str, tuple[str, ...]] = {
        "workload": ("uniform",),
        "order": ("random",),
        "dtype": ("float64",),
        "task": ("pairs",),
    }
    choice |= {k: v for k, v in given.items() if v}
    plain = options.mode == "compare" and not any(given.values())
    quick = plain and not options.full and not options.sizes
    sizes = options.sizes or (ALL_SIZES if options.full or options.mode == "growth" else QUICK_SIZES)
    if options.mode in {"isa", "threads"} and not options.sizes:
        sizes = (10**6,) if options.full else (10**5,)
    cases = _combine(choice, sizes, options.seed)
    if plain:
        departures: dict[str, tuple[str, ...]] = {"workload": WORKLOADS}
        if not quick:
            departures |= {"order": ORDERS, "dtype": DTYPES, "task": TASKS}
        for key, values in departures.items():
            cases += _combine(choice | {key: values[1:]}, sizes[-1:] if quick else sizes, options.seed)
    return cases


def _combine(choice: dict[str, tuple[str, ...]], sizes: tuple[int, ...], seed: int) -> list[Case]:
    return [
        Case(workload=workload, bodies=size, order=order, dtype=dtype, task=task, seed=seed)
        for workload, order, dtype, task in product(*(choice[k] for k in ("workload", "order", "dtype", "task")))
        for size in sizes
    ]


def choose_contestants(options: argparse.Namespace) -> list[Contestant]:
    """Put vicinal first, because the ratios refer to the first."""
    if ours.Vicinal().version() is None:
        raise ValueError("vicinal is not importable; install it first (pip install .)")
    if options.mode == "isa":
        # With scipy, because the baseline path must also be faster than scipy.
        return [*(ours.Vicinal(isa=isa) for isa in reversed(ours.isas())), *peers_named(("scipy",))]
    if options.mode == "threads":
        most = max(options.threads, describe()["cores_usable"])
        return [ours.Vicinal(threads=count) for count in range(1, most + 1)]
    _known("structure", options.structures, ours.STRUCTURES)
    return [
        *ours.variants(options.structures),
        *(peers_named(options.peers) if options.mode == "compare" else []),
    ]


def _known(what: str, words: tuple[str, ...] | None, known: tuple[str, ...]) -> tuple[str, ...]:
    for word in words or ():
        if word not in known:
            raise ValueError(f"unknown {what} {word!r}; known: {', '.join(known)}")
    return words or ()


def _wrong(result: CaseResult) -> bool:
    """Whether a result of vicinal is wrong; results of peers do not count."""
    return any(
        row.contestant.startswith("vicinal") and row.verdict is not None and not row.verdict.correct
        for row in result.rows
    )
