"""Runs: every number is on disk, an interrupt keeps finished cases, a rerun resumes."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

import vicinal as vc
from vicinal import lab
from vicinal.lab.papers import BEYOND


class Bench:
    """An experiment that counts its cases and can be interrupted."""

    def __init__(self) -> None:
        self.measured: list[int] = []
        self.stop_at: int | None = None
        self.error: type[BaseException] = KeyboardInterrupt
        self.experiment = lab.Experiment(
            name="bench",
            title="A <small> experiment & its claims",
            paper=BEYOND,
            section="none",
            setup="nothing",
            measured="squares",
            structures=("one", "two"),
            cases=lambda plan: [lab.Case({"n": n}, weight=n) for n in range(1, plan.at(5, 9))],
            measure=self.measure,
            claims=(lab.Value(label="square of 3", pick=lab.Pick("square", {"n": 3}), published=9, tolerance=0),),
            plots=(lab.Plot(name="squares", title="Squares", x="n", y="square"),),
        )

    def measure(self, case: lab.Case, plan: lab.Plan) -> list[lab.Row]:
        n = int(case.values["n"])
        if n == self.stop_at:
            raise self.error
        self.measured.append(n)
        assert vc.get_threads() == 1
        return [{"structure": name, "square": n * n, "seed": plan.seed} for name in plan.of(["one", "two"])]


def test_a_run_writes_everything(tmp_path: Path) -> None:
    bench = Bench()
    kept = lab.run(bench.experiment, lab.Plan(seed=7), tmp_path)
    assert kept.complete
    assert {path.name for path in kept.folder.iterdir()} == {"result.json", "rows.csv", "page.html", "squares.svg"}
    data = json.loads((kept.folder / "result.json").read_text())
    assert data["plan"] == {"scale": "small", "seed": 7, "steps": None, "structures": None}
    assert data["machine"]["vicinal"]["version"] == vc.info()["version"]
    assert {"cpu", "python", "versions", "memory_bytes"} <= set(data["machine"])
    assert data["complete"]
    with (kept.folder / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["n"], row["structure"], row["square"]) for row in rows[:3]] == [
        ("1", "one", "1"), ("1", "two", "1"), ("2", "one", "4"),
    ]  # fmt: skip
    page = (kept.folder / "page.html").read_text()
    assert "A &lt;small&gt; experiment &amp; its claims" in page
    assert ">reproduced<" in page
    assert "<svg" in page


def test_an_interrupt_keeps_finished_cases_and_a_rerun_resumes(tmp_path: Path) -> None:
    bench = Bench()
    bench.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        lab.run(bench.experiment, lab.Plan(), tmp_path)
    folder = tmp_path / "bench.small"
    half = json.loads((folder / "result.json").read_text())
    assert not half["complete"]
    assert list(half["cases"]) == ["n 1", "n 2"]
    assert "2 of 4 cases are finished" in (folder / "page.html").read_text()
    bench.stop_at = None
    kept = lab.run(bench.experiment, lab.Plan(), tmp_path)
    assert bench.measured == [1, 2, 3, 4], "no case is measured twice"
    assert kept.complete
    assert kept.rows == lab.run(Bench().experiment, lab.Plan(), tmp_path / "elsewhere").rows


def test_an_exception_keeps_finished_cases(tmp_path: Path) -> None:
    bench = Bench()
    bench.stop_at, bench.error = 4, RuntimeError
    with pytest.raises(RuntimeError):
        lab.run(bench.experiment, lab.Plan(), tmp_path)
    bench.stop_at = None
    assert lab.run(bench.experiment, lab.Plan(), tmp_path).complete
    assert bench.measured == [1, 2, 3, 4]


def test_fresh_measures_again(tmp_path: Path) -> None:
    bench = Bench()
    lab.run(bench.experiment, lab.Plan(), tmp_path)
    lab.run(bench.experiment, lab.Plan(), tmp_path)
    assert bench.measured == [1, 2, 3, 4]
    lab.run(bench.experiment, lab.Plan(), tmp_path, fresh=True)
    assert bench.measured == [1, 2, 3, 4] * 2


def test_different_plans_have_different_folders(tmp_path: Path) -> None:
    plans = [
        lab.Plan(), lab.Plan(seed=2), lab.Plan(steps=3), lab.Plan(structures=("two",)), lab.Plan(scale=lab.Scale.PAPER),
    ]  # fmt: skip
    folders = {lab.run(Bench().experiment, plan, tmp_path).folder.name for plan in plans}
    assert folders == {"bench.small", "bench.small.seed2", "bench.small.steps3", "bench.small.two", "bench.paper"}


def test_times_of_two_machines_are_not_mixed(tmp_path: Path) -> None:
    bench = Bench()
    bench.stop_at = 3
    with pytest.raises(KeyboardInterrupt):
        lab.run(bench.experiment, lab.Plan(), tmp_path)
    path = tmp_path / "bench.small" / "result.json"
    data = json.loads(path.read_text())
    data["machine"]["cpu"] = "an abacus"
    path.write_text(json.dumps(data))
    bench.stop_at = None
    with pytest.raises(vc.InputError, match=r"another processor .*--fresh"):
        lab.run(bench.experiment, lab.Plan(), tmp_path)
    assert lab.run(bench.experiment, lab.Plan(), tmp_path, fresh=True).complete


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 99}', '{"format": 99, "experiment": "x"}'])
def test_a_broken_result_is_named(text: str, tmp_path: Path) -> None:
    folder = tmp_path / "bench.small"
    folder.mkdir()
    (folder / "result.json").write_text(text)
    with pytest.raises(vc.InputError, match=r"result\.json is not .*run again"):
        lab.run(Bench().experiment, lab.Plan(), tmp_path)


def test_a_newer_format_is_named(tmp_path: Path) -> None:
    kept = lab.run(Bench().experiment, lab.Plan(), tmp_path)
    path = kept.folder / "result.json"
    path.write_text(path.read_text().replace('"format": 1', '"format": 2'))
    with pytest.raises(vc.InputError, match="has format 2"):
        lab.run(Bench().experiment, lab.Plan(), tmp_path)


def test_progress_has_the_time_left_by_the_weights_of_the_cases(tmp_path: Path) -> None:
    told: list[lab.LabProgress] = []
    lab.run(Bench().experiment, lab.Plan(), tmp_path, tell=told.append)
    assert [now.done for now in told] == [0, 1, 2, 3, 4]
    assert {now.total for now in told} == {4}
    assert told[0].seconds_left is None
    assert all(now.seconds_left is not None for now in told[1:])
    assert told[-1].case is None


def test_structures_that_an_experiment_does_not_have_are_refused(tmp_path: Path) -> None:
    with pytest.raises(vc.InputError, match=r"got 'three'.*one, two"):
        lab.run(Bench().experiment, lab.Plan(structures=("three",)), tmp_path)
    assert not list(tmp_path.iterdir())


def test_structures_can_be_chosen(tmp_path: Path) -> None:
    kept = lab.run(Bench().experiment, lab.Plan(structures=("two",)), tmp_path)
    assert {row["structure"] for row in kept.rows} == {"two"}
