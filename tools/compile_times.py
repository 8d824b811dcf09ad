"""CPU seconds that each unit of the core takes to compile, in a new build without a compiler cache.

.venv/bin/python tools/compile_times.py                 the whole core
.venv/bin/python tools/compile_times.py OBJECTS...      some objects, by the names that ninja gives them

Header files that almost every unit includes are compiled first, and are part of the sum.
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "compile_times"
LOG = BUILD / "seconds.txt"


def compile_unit(command: list[str]) -> int:
    """Run the compiler, and note its time. CMake calls this for every unit."""
    status = subprocess.run(command, check=False).returncode
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    with LOG.open("a", encoding="utf-8") as log:
        log.write(f"{used.ru_utime + used.ru_stime:.2f} {command[command.index('-o') + 1]}\n")
    return status


def main() -> None:
    """Build, then print a line per unit, the slowest first, and the sum."""
    shutil.rmtree(BUILD, ignore_errors=True)
    BUILD.mkdir(parents=True)
    nanobind = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    where = subprocess.run(nanobind, capture_output=True, text=True, check=True).stdout.strip()
    launcher = f"{sys.executable};{Path(__file__).resolve()};--unit"
    settings = {
        "Python_EXECUTABLE": sys.executable,
        "nanobind_DIR": where,
        "CMAKE_CXX_COMPILER_LAUNCHER": launcher,
    }
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {key: value for key, value in os.environ.items() if key != "MAKEFLAGS"} | {"PATH": path}
    configure = ["cmake", "-S", ROOT, "-B", BUILD, "-G", "Ninja", *(f"-D{k}={v}" for k, v in settings.items())]
    subprocess.run(configure, env=environment, stdout=subprocess.DEVNULL, check=True)
    build = ["cmake", "--build", BUILD, *(["--target", *sys.argv[1:]] if len(sys.argv) > 1 else [])]
    subprocess.run(build, env=environment, stdout=subprocess.DEVNULL, check=True)
    units = [line.split() for line in LOG.read_text(encoding="utf-8").splitlines()]
    for seconds, unit in sorted(units, key=lambda one: -float(one[0])):
        print(f"{float(seconds):7.1f}  {unit}")
    print(f"{sum(float(seconds) for seconds, _ in units):7.1f}  in all")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--unit"]:
        sys.exit(compile_unit(sys.argv[2:]))
    main()
