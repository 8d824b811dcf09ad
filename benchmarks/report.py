"""Tables on the terminal, and JSON and Markdown files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from run import CaseResult, Row

HEADINGS = ("contestant", "ns CPU", "ns wall", "× CPU", "× wall", "peak MB", "B/body over result", "correct")


def cells(result: CaseResult, row: Row) -> tuple[str, ...]:
    """Return one line of the table; a contestant that could not run has a dash and the reason."""
    if row.reason is not None:
        return (row.contestant, "–", "–", "–", "–", "–", "–", row.reason)
    over = None
    if row.peak_bytes is not None and row.result_bytes is not None:
        over = (row.peak_bytes - row.result_bytes) / result.case.bodies
    return (
        row.contestant,
        _number(row.per_entry(result.entries), 2),
        _number(row.per_entry(result.entries, "wall"), 2),
        _number(result.ratio(row), 2),
        _number(result.ratio(row, "wall"), 2),
        _number(None if row.peak_bytes is None else row.peak_bytes / 1e6, 1),
        _number(over, 0),
        str(row.verdict) if row.verdict is not None else "unchecked",
    )


def heading(result: CaseResult) -> str:
    """Case, size of the answer, mean number of neighbours."""
    mean = 2 * result.pairs / result.case.bodies
    return f"{result.case.label} ({result.pairs} pairs, {mean:.1f} neighbours per body)"


def print_case(console: Console, result: CaseResult) -> None:
    """Show one case."""
    table = Table(title=heading(result), title_justify="left", title_style="bold")
    for column in HEADINGS:
        table.add_column(column, justify="left" if column in {"contestant", "correct"} else "right")
    for row in result.rows:
        table.add_row(*cells(result, row), style="dim" if row.reason is not None else None)
    console.print(table)


def write_json(path: Path, machine: dict[str, Any], settings: dict[str, Any], results: list[CaseResult]) -> None:
    """Write all measurements so far; the old file is replaced only when the new one is complete."""
    data = {"machine": machine, "settings": settings, "cases": [result.as_dict() for result in results]}
    path.parent.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".part")
    draft.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    draft.replace(path)


def write_markdown(path: Path, machine: dict[str, Any], settings: dict[str, Any], results: list[CaseResult]) -> None:
    """Write the tables for a document."""
    info = machine.get("vicinal") or {}
    lines = [
        (
            f"Measured {machine['when'][:10]} on {machine['cpu']} ({machine['cores_usable']} cores, "
            f"{machine['memory_bytes'] / 2**30:.0f} GiB, {machine['system']}); "
            f"vicinal {info.get('version')} with {info.get('isa')}, {settings['threads']} thread(s), "
            f"best of {settings['repeats']}, seed {settings['seed']}."
        ),
        "",
        "Peers: " + ", ".join(f"{name} {version}" for name, version in machine["versions"].items() if version) + ".",
    ]
    for result in results:
        lines += ["", f"### {heading(result)}", ""]
        lines.append("| " + " | ".join(HEADINGS) + " |")
        lines.append("|---|" + "---:|" * (len(HEADINGS) - 2) + "---|")
        lines += ["| " + " | ".join(cells(result, row)) + " |" for row in result.rows]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def growth(results: list[CaseResult]) -> list[str]:
    """The change of the time per entry of each contestant from the smallest size to the largest."""
    lines = []
    for series in dict.fromkeys(result.case.series for result in results):
        own = sorted((r for r in results if r.case.series == series), key=lambda r: r.case.bodies)
        for name in dict.fromkeys(row.contestant for result in own for row in result.rows):
            times = {
                result.case.bodies: time
                for result in own
                for row in result.rows
                if row.contestant == name and (time := row.per_entry(result.entries)) is not None
            }
            if len(times) > 1:
                first, last = min(times), max(times)
                ends = f"{times[first]:.2f} ns at {first:.0e}, {times[last]:.2f} ns at {last:.0e}"
                factor = f"× {times[last] / times[first]:.2f}; highest {max(times.values()):.2f} ns"
                lines.append(f"{name}, {' '.join(series)}: {ends}, {factor}")
    return lines


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"
