"""The folder of a run: result.json with all data, rows.csv, pictures and a page."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vicinal.errors import InputError
from vicinal.io import atomic_file
from vicinal.lab.experiment import Case, Experiment, Plan
from vicinal.lab.rows import Row
from vicinal.machine import describe, now

FORMAT = 1
RESULT, ROWS = "result.json", "rows.csv"


@dataclass
class StoredRun:
    """One run, as stored in its file.

    Parameters
    ----------
    folder
        The folder of the run.
    experiment
        Name of the experiment.
    plan
        The options of the run.
    machine
        The machine it ran on.
    wanted
        Keys of all cases.
    cases
        The finished cases: rows, seconds and time of day by key.
    """

    folder: Path
    experiment: str
    plan: dict[str, Any]
    machine: dict[str, Any]
    wanted: list[str] = field(default_factory=list)
    cases: dict[str, dict[str, Any]] = field(default_factory=dict)

    @property
    def rows(self) -> list[Row]:
        """The rows of all finished cases."""
        return [row for key in self.wanted if key in self.cases for row in self.cases[key]["rows"]]

    @property
    def complete(self) -> bool:
        """Whether all cases are finished."""
        return all(key in self.cases for key in self.wanted)

    @property
    def seconds(self) -> float:
        """Wall time of the finished cases."""
        return sum(float(case["seconds"]) for case in self.cases.values())

    def finish(self, case: Case, rows: Sequence[Row], seconds: float) -> None:
        """Keep a finished case."""
        kept = [{**case.values, **row} for row in rows]
        self.cases[case.key] = {"rows": kept, "seconds": seconds, "when": now()}
        self.save()

    def save(self) -> None:
        """Write result.json."""
        data = {
            "format": FORMAT, "experiment": self.experiment, "plan": self.plan, "machine": self.machine,
            "complete": self.complete, "wanted": self.wanted, "cases": self.cases,
        }  # fmt: skip
        self.folder.mkdir(parents=True, exist_ok=True)
        with atomic_file(self.folder / RESULT) as file:
            file.write((json.dumps(data, indent=1, ensure_ascii=False) + "\n").encode())


def as_csv(rows: Sequence[Row]) -> str:
    """Write rows with all columns that any of them has.

    Examples
    --------
    >>> print(as_csv([{"n": 1, "s": "a"}, {"n": 2, "t": 0.5}]).replace(chr(13), ""), end="")
    n,s,t
    1,a,
    2,,0.5
    """
    columns = list(dict.fromkeys(name for row in rows for name in row))
    target = io.StringIO()
    writer = csv.DictWriter(target, columns, restval="")
    writer.writeheader()
    writer.writerows(rows)
    return target.getvalue()


def load(folder: Path) -> StoredRun:
    """Read a run back."""
    path = folder / RESULT
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        kind = data["format"]
        run = StoredRun(folder, data["experiment"], data["plan"], data["machine"], data["wanted"], data["cases"])
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path} is not a result of the lab ({error!r}); remove the folder and run again") from error
    if kind != FORMAT:
        raise InputError(
            f"{path} has format {kind}, but this version reads format {FORMAT}; remove the folder and run again"
        )
    return run


def begin(experiment: Experiment, plan: Plan, cases: Sequence[Case], out: Path, *, fresh: bool) -> StoredRun:
    """Open the folder of a run; finished cases are kept unless all are measured again.

    Times of different machines must not be mixed, so a folder from another machine is refused.
    """
    folder = out / f"{experiment.name}.{plan.label}"
    new = StoredRun(folder, experiment.name, plan.as_dict(), describe(), [case.key for case in cases])
    if fresh or not (folder / RESULT).exists():
        return new
    old = load(folder)
    for name, before, today in (
        ("processor", old.machine["cpu"], new.machine["cpu"]),
        ("version of vicinal", old.machine["vicinal"]["version"], new.machine["vicinal"]["version"]),
        ("instruction set", old.machine["vicinal"]["isa"], new.machine["vicinal"]["isa"]),
        ("seed", old.plan["seed"], new.plan["seed"]),
    ):
        if before != today:
            raise InputError(
                f"{folder}: was made with another {name} ({before}, now {today}); pass --fresh to measure again, "
                "or --out for another folder"
            )
    new.cases = {key: old.cases[key] for key in new.wanted if key in old.cases}
    return new


def all_runs(out: Path) -> list[StoredRun]:
    """Read every run below a folder."""
    return [load(path.parent) for path in sorted(out.glob(f"*/{RESULT}"))]
