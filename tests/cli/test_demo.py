"""``vicinal demo``: progress, table, picture, and what an interrupt leaves behind."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

import vicinal as vc
from vicinal.cli.app import app
from vicinal.cli.demo import with_progress
from vicinal.demo import DemoSettings, simulate

if TYPE_CHECKING:
    from pathlib import Path

# Shells give programs in the background an ignored SIGINT; the test needs the ordinary one.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from vicinal.cli import main; main()"


def test_it_prints_a_table_and_draws_a_picture(tmp_path: Path) -> None:
    target = tmp_path / "demo.png"
    target.write_text("an older picture")
    arguments = ["--bodies", "3000", "--steps", "8", "--seed", "1", "--threads", "1", "--output", str(target)]
    result = CliRunner().invoke(app, ["demo", *arguments])
    assert result.exit_code == 0, result.output
    for label in ("bodies", "pairs per second", "time per pair", "structure", "steps", "instruction set"):
        assert label in result.stdout
    for value in ("3,000", "8 of 8", " ns", vc.info()["isa"]):
        assert value in result.stdout
    assert f"picture: {target.resolve()}\n" in result.stdout
    assert "step 8 of 8" in result.stderr
    assert imread(target).shape[:2] == (1500, 2400)
    assert [entry.name for entry in tmp_path.iterdir()] == ["demo.png"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("stream", "bar"), [(Terminal, True), (io.StringIO, False)], ids=["terminal", "file"])
def test_progress_is_a_bar_on_a_terminal_and_plain_lines_elsewhere(
    stream: type[io.StringIO], monkeypatch: pytest.MonkeyPatch, *, bar: bool
) -> None:
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr("sys.stderr", stream())
    settings = DemoSettings(bodies=500, steps=30)
    assert len(list(with_progress(simulate(settings), settings))) == 30
    printed = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert ("\x1b" in printed) == bar
    assert ("30/30" in printed and "pairs/s" in printed) == bar
    assert (printed.count("\n") == 11 and "step 30 of 30" in printed) != bar


@pytest.mark.parametrize(
    ("arguments", "code", "word"),
    [
        (["--output", "picture.xls"], 2, "'.xls'"),
        (["--output", "missing/picture.png"], 1, "missing"),
        (["--bodies", "0"], 2, "--bodies"),
        (["--steps", "0"], 2, "--steps"),
        (["--threads", "0"], 2, "--threads"),
    ],
)
def test_an_unwritable_picture_is_refused_at_the_start(arguments: list[str], code: int, word: str) -> None:
    result = CliRunner().invoke(app, ["demo", *arguments])
    assert result.exit_code == code
    assert word in result.stderr
    assert "step 1 " not in result.stderr


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_an_interrupt_reports_the_finished_steps_and_leaves_no_file(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "demo", "--bodies", "2000", "--steps", "1000000"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stderr is not None
        assert process.stderr.readline().startswith("step 1 of 1000000")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=15)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "of 1000000 steps" in errors
    assert "Traceback" not in errors
    assert "pairs per second" in output
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_while_drawing_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("vicinal.demo.draw", interrupted)
    target = tmp_path / "demo.png"
    result = CliRunner().invoke(app, ["demo", "--bodies", "100", "--steps", "2", "-o", str(target)])
    assert result.exit_code == 130
    assert "interrupted after 2 of 2 steps" in result.stderr
    assert list(tmp_path.iterdir()) == []
