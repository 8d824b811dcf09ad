"""Runs a program on several MPI ranks."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# The launcher of the MPI that pip installed beside mpi4py, or that of the system.
LAUNCHER = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")

needs_launcher = pytest.mark.skipif(LAUNCHER is None, reason="ranks need mpiexec, which is not installed")


def start(ranks: int, *command: str) -> subprocess.Popen[str]:
    """Start ``python -m mpi4py`` with these arguments on several ranks, one thread each."""
    return start_launcher("-n", str(ranks), sys.executable, "-m", "mpi4py", *command)


def start_launcher(*arguments: str) -> subprocess.Popen[str]:
    """Start ``mpiexec`` with these arguments; its programs have one thread each."""
    assert LAUNCHER is not None
    environment = {**os.environ, "VICINAL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    whole = [LAUNCHER, *arguments]
    return subprocess.Popen(whole, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def finish(process: subprocess.Popen[str]) -> subprocess.CompletedProcess[str]:
    """Wait for a program, for four minutes at the most."""
    try:
        out, errors = process.communicate(timeout=240)
    except subprocess.TimeoutExpired:
        process.terminate()  # mpiexec ends its ranks
        out, errors = process.communicate()
        errors += "\nstopped after four minutes"
    return subprocess.CompletedProcess(process.args, process.returncode, out, errors)


def launch(ranks: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m mpi4py`` with these arguments on several ranks."""
    return finish(start(ranks, *command))
