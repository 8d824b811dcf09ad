"""The program as a shell sees it: exit codes, streams, no control codes outside a terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
import typer

import vicinal as vc
from vicinal.cli.exits import exit_codes

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TERM": "xterm-256color", **variables}
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "GITHUB_ACTIONS"):
        environment.pop(name, None)
    return subprocess.run(
        [sys.executable, "-m", "vicinal.cli", *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    np.save(tmp_path / "points.npy", np.random.default_rng(1).random((50, 2)))
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n3,four\n")
    return tmp_path


def test_success_is_0_and_piped_output_is_plain(folder: Path) -> None:
    result = run("pairs", "points.npy", "--cutoff", "0.2", "-o", "pairs.npz", folder=folder)
    assert result.returncode == 0
    assert result.stderr == ""
    assert "\x1b" not in result.stdout
    assert (folder / "pairs.npz").exists()


def test_a_missing_file_is_1_and_one_line(folder: Path) -> None:
    result = run("pairs", "nowhere.npy", "--cutoff", "0.2", folder=folder)
    assert result.returncode == 1
    assert result.stderr == "error: nowhere.npy: No such file or directory\n"


def test_bad_input_is_2_and_one_line(folder: Path) -> None:
    result = run("pairs", "bad.csv", "--cutoff", "0.2", folder=folder)
    assert result.returncode == 2
    assert result.stderr.startswith("error: bad.csv, line 3: column 2 must be a number, got 'four'")
    assert len(result.stderr.splitlines()) == 1


def test_wrong_usage_is_2(folder: Path) -> None:
    result = run("pairs", "points.npy", folder=folder)
    assert result.returncode == 2
    assert "--cutoff" in result.stderr
    assert "\x1b" not in result.stderr


@pytest.mark.parametrize("variable", ["VICINAL_ISA", "VICINAL_NUM_THREADS"])
@pytest.mark.parametrize("arguments", [["info"], ["pairs", "points.npy", "--cutoff", "0.2"]], ids=" ".join)
def test_a_wrong_environment_is_2_and_one_line(folder: Path, arguments: list[str], variable: str) -> None:
    result = run(*arguments, folder=folder, **{variable: "foo"})
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith(f"error: {variable} must be ")
    assert result.stderr.endswith(" got 'foo'\n")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("error", "code", "word"),
    [
        (vc.InputError("cutoff must be positive,\n  got 0"), 2, "cutoff must be positive, got 0"),
        (vc.MissingExtraError("a plot needs matplotlib"), 1, "a plot needs matplotlib"),
        (PermissionError(13, "Permission denied", "a.npz"), 1, "a.npz: Permission denied"),
        (OSError("no space"), 1, "no space"),
        (MemoryError("8 GB"), 1, "not enough memory: 8 GB"),
        (MemoryError(), 1, "not enough memory"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_exceptions_become_exit_codes(
    error: BaseException, code: int, word: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as caught, exit_codes():
        raise error
    assert caught.value.exit_code == code
    printed = capsys.readouterr().err
    assert printed.startswith("error: ")
    assert word in printed
    assert printed.count("\n") == 1


def test_faults_of_the_program_keep_their_traceback() -> None:
    with pytest.raises(ZeroDivisionError), exit_codes():
        raise ZeroDivisionError


def test_the_library_does_not_import_the_command_line() -> None:
    heavy = "typer rich matplotlib vicinal.cli vicinal.demo vicinal.io"
    code = f"import sys, vicinal; print([name for name in {heavy.split()} if name in sys.modules])"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "[]\n"


def test_help_does_not_import_the_plotting_library() -> None:
    code = "import sys, vicinal.cli.app; print('matplotlib' in sys.modules)"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout == "False\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("pairs", "points.npy", "--cutoff", "0.1", "-o", "pairs.npz"),
        ("pairs", "points.npy", "--cutoff", "0.1", "--tiles", "-o", "pairs.npz"),
        ("demo", "--bodies", "10", "-o", "pairs.png"),
        ("render", "results"),
        ("lab", "run", "all"),
    ],
)
def test_commands_that_every_rank_would_run_alone_refuse_ranks(folder: Path, arguments: tuple[str, ...]) -> None:
    before = sorted(folder.iterdir())
    first, second = (run(*arguments, folder=folder, PMI_SIZE="2", PMI_RANK=rank) for rank in "01")
    assert first.returncode == second.returncode == 2
    advice = "add --tiles --runner mpi, or leave out mpiexec" if arguments[0] == "pairs" else "leave out mpiexec"
    assert first.stderr == f"error: vicinal {arguments[0]} must run in one process, got 2 ranks; {advice}\n"
    assert second.stderr == first.stdout == second.stdout == ""
    assert sorted(folder.iterdir()) == before
