"""All runs on one page that works without a network."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

from vicinal.errors import InputError
from vicinal.io import atomic_file
from vicinal.lab.claims import Verdict
from vicinal.lab.experiment import Experiment
from vicinal.lab.page import document, draw, judge, section, tally
from vicinal.lab.store import StoredRun, all_runs

REPORT = "report.html"


def write_report(out: Path, experiments: Mapping[str, Experiment], target: Path | None = None) -> Path:
    """Collect all runs below a folder in one page and return its path.

    Parameters
    ----------
    out
        Folder with the folders of runs.
    experiments
        All experiments by name.
    target
        The page; the default is report.html in the folder.
    """
    runs = [run for run in all_runs(out) if run.experiment in experiments]
    if not runs:
        raise InputError(f"{out} holds no results; run an experiment first, for example vicinal lab run koch-scenarios")
    order = list(experiments)
    runs.sort(key=lambda run: (order.index(run.experiment), run.folder.name))
    path = target or out / REPORT
    with atomic_file(path) as file:
        file.write(document("vicinal lab", _body(runs, experiments)).encode())
    return path


def _body(runs: Sequence[StoredRun], experiments: Mapping[str, Experiment]) -> str:
    counts: Counter[Verdict] = Counter()
    lines = []
    for run in runs:
        experiment = experiments[run.experiment]
        findings = judge(experiment, run.rows)
        counts.update(finding.verdict for finding in findings)
        lines.append(
            f'<tr><td>{escape(str(experiment.paper))}</td><td><a href="#{escape(run.folder.name)}">'
            f"{escape(experiment.title)}</a></td><td>{escape(str(run.plan['scale']))}"
            f"{'' if run.complete else ', unfinished'}</td><td>{tally(findings)}</td></tr>"
        )
    judged = counts[Verdict.REPRODUCED] + counts[Verdict.DIFFERS]
    head = (
        "<h1>vicinal lab</h1>\n"
        '<p class="lead">The experiments of five papers on neighbour search, run again. '
        f"{counts[Verdict.REPRODUCED]} of {judged} published results were reproduced, {counts[Verdict.DIFFERS]} "
        "differ; the size of every difference is given and, if known, its cause. Counts are compared with a tolerance, "
        "orderings and growth by their own criteria; seconds of older machines are shown and never judged.</p>\n"
    )
    table = (
        '<section class="card"><div class="scroll"><table><thead><tr><th>paper</th><th>experiment</th><th>scale</th>'
        f"<th>verdicts</th></tr></thead><tbody>{''.join(lines)}</tbody></table></div></section>"
    )
    parts = [section(experiments[run.experiment], run, draw(experiments[run.experiment], run)) for run in runs]
    return head + table + "\n".join(parts)
