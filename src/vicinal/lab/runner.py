"""Runs an experiment case by case; a finished case is on disk before the next one begins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

import vicinal as vc
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.page import write_page
from vicinal.lab.store import StoredRun, begin


@dataclass(frozen=True)
class LabProgress:
    """The progress of a run.

    Parameters
    ----------
    case
        The case that begins, or None at the end.
    done, total
        Cases finished, and all.
    seconds_left
        An estimate from the weights of the cases; None before the first has finished.
    """

    case: Case | None
    done: int
    total: int
    seconds_left: float | None


def run(
    experiment: Experiment,
    plan: Plan,
    out: Path,
    *,
    fresh: bool = False,
    tell: Callable[[LabProgress], None] = lambda _: None,
) -> StoredRun:
    """Measure the unfinished cases and write the folder of the run.

    An interrupt keeps the finished cases, writes the pages for them and is raised again; the same call resumes the run.

    Parameters
    ----------
    experiment, plan
        The experiment and the options.
    out
        Folder in which the run gets a subfolder.
    fresh
        Whether to measure everything again.
    tell
        Called with the progress of the run.
    """
    experiment.check(plan)
    cases = list(experiment.cases(plan))
    kept = begin(experiment, plan, cases, out, fresh=fresh)
    kept.save()
    try:
        # One thread, as in the papers; a busy machine disturbs it least.
        with vc.threads(1):
            _run(experiment, plan, cases, kept, tell)
    finally:
        write_page(experiment, kept)
    return kept


def _run(
    experiment: Experiment, plan: Plan, cases: Sequence[Case], kept: StoredRun, tell: Callable[[LabProgress], None]
) -> None:
    left = [case for case in cases if case.key not in kept.cases]
    spent = weight = 0.0
    for number, case in enumerate(left):
        rest = sum(other.weight for other in left[number:])
        tell(LabProgress(case, len(cases) - len(left) + number, len(cases), spent / weight * rest if weight else None))
        start = perf_counter()
        rows = list(experiment.measure(case, plan))
        seconds = perf_counter() - start
        kept.finish(case, rows, seconds)
        spent, weight = spent + seconds, weight + case.weight
    tell(LabProgress(None, len(cases), len(cases), 0.0))
