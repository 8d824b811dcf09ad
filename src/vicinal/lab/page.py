"""The page of a run: published | measured here | verdict, with the set-up and the pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from html import escape
from typing import Literal

from vicinal.io import atomic_file
from vicinal.lab.claims import Finding, Verdict
from vicinal.lab.experiment import Experiment
from vicinal.lab.figures import duration, figure
from vicinal.lab.plots import for_page, render
from vicinal.lab.rows import Row
from vicinal.lab.store import ROWS, StoredRun, as_csv
from vicinal.lab.style import CSS

PAGE = "page.html"
KINDS: tuple[Literal["good", "bad"], ...] = ("good", "bad")
MOST_ROWS = 400
"""Rows shown on a page; the CSV file has all."""


def judge(experiment: Experiment, rows: Sequence[Row]) -> list[Finding]:
    """Compare every claim of an experiment with rows."""
    return [claim.judge(rows) for claim in experiment.claims]


def document(title: str, body: str) -> str:
    """Return a complete, self-contained HTML page."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{CSS}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n"
        "</html>\n"
    )


def write_page(experiment: Experiment, run: StoredRun) -> None:
    """Write the table, the pictures and the page of a run into its folder."""
    with atomic_file(run.folder / ROWS) as file:
        file.write(as_csv(run.rows).encode())
    pictures = draw(experiment, run)
    for name, svg in pictures.items():
        with atomic_file(run.folder / f"{name}.svg") as file:
            file.write(svg.encode())
    body = f"<h1>{escape(experiment.title)}</h1>\n" + section(experiment, run, pictures, heading=False)
    with atomic_file(run.folder / PAGE) as file:
        file.write(document(f"{experiment.title} – vicinal lab", body).encode())


def draw(experiment: Experiment, run: StoredRun) -> dict[str, str]:
    """Draw the plots of an experiment that have rows, as SVG by name."""
    drawn = {plot.name: render(plot, run.rows, run.folder.name + plot.name) for plot in experiment.plots}
    return {name: svg for name, svg in drawn.items() if svg is not None}


def section(experiment: Experiment, run: StoredRun, pictures: dict[str, str], *, heading: bool = True) -> str:
    """Return the section of a page about one run."""
    rows = run.rows
    parts = [f'<section class="card" id="{escape(run.folder.name)}">']
    if heading:
        parts.append(f"<h2>{escape(experiment.title)}</h2>")
    parts += [
        f'<p class="lead">{escape(str(experiment.paper))}, {escape(experiment.section)}</p>',
        f'<p class="scroll"><code>{escape(command(run))}</code></p>',
        f"<p>{escape(experiment.setup)} <b>Measured:</b> {escape(experiment.measured)}</p>",
    ]
    if experiment.notes:
        parts.append(f'<p class="faint">{escape(experiment.notes)}</p>')
    if not run.complete:
        done = f"{len(run.cases)} of {len(run.wanted)} cases are finished; the same command resumes the run."
        parts.append(f'<p><span class="verdict bad">unfinished</span> {done}</p>')
    if experiment.claims:
        parts.append(findings_table(judge(experiment, rows)))
    if pictures:
        figures = "\n".join(f"<figure>{for_page(svg)}</figure>" for svg in pictures.values())
        parts.append(f'<div class="plots">{figures}</div>')
    parts += [rows_table(rows), facts(run), "</section>"]
    return "\n".join(parts)


def command(run: StoredRun) -> str:
    """Return the command that repeats a run."""
    words = ["vicinal lab run", run.experiment, "--scale", str(run.plan["scale"])]
    if run.plan["structures"] is not None:
        words += ["--structures", '"' + ",".join(run.plan["structures"]) + '"']
    if run.plan["steps"] is not None:
        words += ["--steps", str(run.plan["steps"])]
    return " ".join([*words, "--seed", str(run.plan["seed"])])


def badge(verdict: Verdict) -> str:
    """Return a verdict as a coloured word."""
    return f'<span class="verdict {verdict.kind}">{verdict}</span>'


def findings_table(findings: Sequence[Finding]) -> str:
    """Return the table published | measured here | verdict."""
    lines = [
        '<div class="scroll"><table><thead><tr><th></th><th>published</th><th>measured here</th><th>verdict</th>'
        "<th>why</th></tr></thead><tbody>"
    ]
    lines += [
        f'<tr><td>{escape(one.label)}</td><td class="n">{escape(one.published)}</td>'
        f'<td class="n">{escape(one.measured)}</td><td>{badge(one.verdict)}</td>'
        f'<td class="why">{escape(one.why)}</td></tr>'
        for one in findings
        if one.verdict is not Verdict.MISSING
    ]
    missing = [one.label for one in findings if one.verdict is Verdict.MISSING]
    more = f'<p class="faint">Not part of this run: {escape("; ".join(missing))}.</p>' if missing else ""
    return "\n".join([*lines, "</tbody></table></div>", more])


def tally(findings: Sequence[Finding]) -> str:
    """Return the number of reproduced claims, in words and as a bar."""
    counts = Counter(one.verdict.kind for one in findings)
    judged = counts["good"] + counts["bad"]
    if not judged:
        return '<span class="faint">nothing to judge</span>'
    goals = any(one.verdict in {Verdict.REACHED, Verdict.MISSED} for one in findings)
    words = f"{counts['good']} of {judged} {Verdict.REACHED if goals else Verdict.REPRODUCED}"
    bars = "".join(f'<i class="{kind}" style="flex:{counts[kind]}"></i>' for kind in KINDS if counts[kind])
    return f'{words}<div class="bar">{bars}</div>'


def rows_table(rows: Sequence[Row]) -> str:
    """Return all rows, collapsed."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    body = "\n".join(
        "<tr>" + "".join(f'<td class="n">{_cell(row.get(name, ""))}</td>' for name in columns) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    more = f"<p>{len(rows) - MOST_ROWS} more in rows.csv.</p>" if len(rows) > MOST_ROWS else ""
    return (
        f'<details><summary>{len(rows)} rows measured</summary><div class="scroll"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>{more}</details>"
    )


def _cell(value: object) -> str:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return figure(value)
    return escape(str(value))


def facts(run: StoredRun) -> str:
    """Return machine, versions, seed and duration on one line."""
    info = run.machine["vicinal"]
    when = max((str(case["when"]) for case in run.cases.values()), default="")
    told = [
        str(run.machine["cpu"]),
        f"vicinal {info['version']}, {info['isa']}, one thread",
        f"Python {run.machine['python']}, NumPy {run.machine['versions'].get('numpy', '?')}",
        f"seed {run.plan['seed']}",
        f"{duration(run.seconds)}, {when}",
    ]
    return '<div class="facts">' + "".join(f"<span>{escape(fact)}</span>" for fact in told) + "</div>"
