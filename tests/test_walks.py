"""The walks through the code in ARCHITECTURE.md: their files exist, are few, and are those that Python goes through."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType

import numpy as np

import vicinal as vc
from dem.grains import floor, simulation
from vicinal.dem import Material

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(vc.__file__).parent
STEP = re.compile(r"^\| `(\S+)` \| `(\w+)` \|", re.MULTILINE)
TABLES = (
    (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Two walks")[1].split("\n## ")[0].split("\n\n|")
)
PAIRS, SPHERES, WALLS = (STEP.findall("|" + table) for table in TABLES[1:])
GLASS = Material(density=2500, youngs_modulus=1e7, poisson_ratio=0.2, restitution=0.8, friction=0.3)


def functions_called(call: Callable[[], object]) -> dict[str, set[str]]:
    """The functions of the package that a call goes through, by file."""
    called: dict[str, set[str]] = {}

    def note(frame: FrameType, event: str, _: object) -> None:
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            called.setdefault(f"src/vicinal/{path.relative_to(PACKAGE)}", set()).add(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return called


def test_the_walks_are_short() -> None:
    assert 0 < len(PAIRS) <= 14
    assert 0 < len(WALLS) < len(SPHERES)
    assert len(SPHERES) + len(WALLS) <= 16


def test_every_function_of_a_walk_is_in_its_file() -> None:
    for file, function in [*PAIRS, *SPHERES, *WALLS]:
        assert re.search(rf"\b{function}\b", (ROOT / file).read_text(encoding="utf-8")), f"{file}: {function}"


def test_pairs_of_points_go_through_these_files_of_python() -> None:
    points = np.random.default_rng(0).random((1000, 3))
    vc.pairs(points, 0.1)  # constants of the chooser are read once
    listed = {file: {function} for file, function in PAIRS if file.endswith(".py")}
    assert functions_called(lambda: vc.pairs(points, 0.1)) == listed


def test_a_step_of_grains_goes_through_these_files_of_python() -> None:
    sim = simulation(GLASS, walls=[floor()], dt=1e-5)
    sim.insert([[0, 0, 1.0], [0, 0, 3.0]], radii=1.0)
    sim.run(1)
    called = functions_called(lambda: sim.run(1))
    for file, function in SPHERES:
        assert not file.endswith(".py") or function in called[file]


FILE_OR_FOLDER = re.compile(r"\w\.(hpp|cpp|py|json|md|txt)$|\w/$")


def test_paths_in_descriptions_of_the_code_exist() -> None:
    """A path in ARCHITECTURE.md and docs/internals.md is the end of that of a file or folder; "*" stands for some."""
    folders = [ROOT / name for name in ("cpp", "src", "docs", "tests", "benchmarks", "tools")]
    known = [*folders, *ROOT.glob("*"), *(path for folder in folders for path in folder.rglob("*"))]
    places = [f"/{path.relative_to(ROOT)}" for path in known]
    for page in ("ARCHITECTURE.md", "docs/internals.md"):
        text = (ROOT / page).read_text(encoding="utf-8")
        named = {one for one in re.findall(r"`([\w/.*]+)`", text) if FILE_OR_FOLDER.search(one)}
        assert len(named) > 20
        missing = {one for one in named if not any(fnmatch(place, "*/" + one.rstrip("/")) for place in places)}
        assert not missing, f"{page}: {missing}"
