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


def launch(ranks: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run ``python -m mpi4py`` with these arguments on several ranks, one thread each, for two minutes at the most."""
    assert LAUNCHER is not None
    environment = {**os.environ, "VICINAL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    whole = [LAUNCHER, "-n", str(ranks), sys.executable, "-m", "mpi4py", *command]
    return subprocess.run(whole, capture_output=True, text=True, timeout=120, check=False, env=environment)
