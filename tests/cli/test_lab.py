"""``vicinal lab``: the list, a run with its table, and errors that state the remedy."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from vicinal import lab
from vicinal.cli.app import app

RUN = ["lab", "run", "koch-relations"]


def invoke(*arguments: str):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


def test_the_list_has_every_experiment() -> None:
    result = invoke("lab", "list")
    assert result.exit_code == 0
    for name, experiment in lab.experiments().items():
        assert name in result.stdout
        assert experiment.title in result.stdout


def test_a_run_prints_published_measured_and_verdict(tmp_path: Path) -> None:
    result = invoke(*RUN, "--out", str(tmp_path))
    assert result.exit_code == 0
    assert "relations of 32³ leaves" in result.stdout
    assert "830,584" in result.stdout
    assert "reproduced" in result.stdout
    assert "not measured" in result.stdout
    assert f"page: {(tmp_path / 'koch-relations.small' / 'page.html').resolve()}" in result.stdout
    assert "5 of 5, side 32, about" in result.stderr
    again = invoke(*RUN, "--out", str(tmp_path))
    assert "side" not in again.stderr, "all cases are finished"
    report = invoke("lab", "report", "--out", str(tmp_path))
    assert report.exit_code == 0
    assert report.stdout == f"report: {(tmp_path / 'report.html').resolve()}\n"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["lab", "run", "z-nothing"], "NAME must be an experiment, got 'z-nothing'; choose from"),
        ([*RUN, "--scale", "huge"], "--scale must be one of small, paper, large, got 'huge'"),
        ([*RUN, "--structures", "BVH"], "structures must be among those that koch-relations compares, got 'BVH'"),
        ([*RUN, "--structures", "Octree,,"], "got 'Octree,,'"),
        (["lab", "report"], "holds no results; run an experiment first"),
    ],
)
def test_errors_state_the_remedy(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = invoke(*arguments, "--out", str(tmp_path))
    assert result.exit_code == 2
    assert said in result.stderr
    assert len(result.stderr.strip().splitlines()) == 1
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", [["--steps", "0"], ["--seed", "-1"], ["--scale"]])
def test_options_out_of_range_are_refused(option: list[str], tmp_path: Path) -> None:
    assert invoke(*RUN, *option, "--out", str(tmp_path)).exit_code == 2


def test_a_report_needs_a_folder_that_exists(tmp_path: Path) -> None:
    result = invoke("lab", "report", "--out", str(tmp_path), "-o", str(tmp_path / "no" / "page.html"))
    assert result.exit_code == 1
    assert "does not exist; create it first" in result.stderr


def test_an_interrupt_keeps_finished_cases(tmp_path: Path) -> None:
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from vicinal.cli import main; main()"
    )
    command = [sys.executable, "-c", program, "lab", "run", "koch-scaling", "--out", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as child:
        assert child.stderr is not None
        for line in child.stderr:
            if "2 of" in line:
                child.send_signal(signal.SIGINT)
                break
        rest = child.stderr.read()
        assert child.wait(60) == 130
    assert "interrupted; finished cases are kept" in rest
    assert '"bodies 10000"' in (tmp_path / "koch-scaling.small" / "result.json").read_text()
