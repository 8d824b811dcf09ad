"""NumPy is enough to search; a command or function whose extra is missing names the extra to install."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import vicinal as vc
from vicinal.extras import EXTRAS, need

ROOT = Path(__file__).resolve().parent.parent

# Hides every optional package from the import system.
HIDE = """
import sys
class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"typer", "rich", "click", "matplotlib", "h5py", "trimesh", "scipy", "tomli_w"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Hidden())
"""


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", HIDE + code], cwd=folder, capture_output=True, text=True, timeout=60, check=False
    )


def test_everything_but_files_and_pictures_works_with_numpy_alone(tmp_path: Path) -> None:
    code = """
import numpy as np
import vicinal as vc
points = np.random.default_rng(0).random((2000, 3))
i, j = vc.pairs(points, 0.1)
rows = vc.NeighborList(0.1, skin=0.02)
rows.update(points)
contacts = vc.Contacts({"age": 1})
contacts.update(i, j)
mesh = vc.Mesh([[[0, 0, 0], [1, 0, 0], [0, 1, 0]]])
fluid = vc.fluid.Fluid(points, radius=0.1)
fluid.step()
assert vc.lab.experiments() and vc.dem.Simulation and vc.sim and vc.scenes
print(len(contacts), len(mesh.contacts(points, 0.05)) > 0, vc.choose(points, 0.1).structure)
"""
    result = python(code, tmp_path)
    assert result.returncode == 0, result.stderr
    _, touching, structure = result.stdout.split()
    assert touching == "True"
    assert issubclass(getattr(vc, structure), vc.Index)


def test_modules_are_loaded_when_they_are_used() -> None:
    code = (
        "import sys, vicinal as vc; print([n for n in ('dem', 'fluid', 'lab', 'sim') if f'vicinal.{n}' in sys.modules])"
    )
    code += "; print([getattr(vc, n).__name__ for n in ('dem', 'fluid', 'lab', 'scenes', 'sim')], 'dem' in dir(vc))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = [f"vicinal.{name}" for name in ("dem", "fluid", "lab", "scenes", "sim")]
    assert result.stdout == f"[]\n{names} True\n"
    with pytest.raises(AttributeError, match="no_such_module"):
        _ = vc.no_such_module


@pytest.mark.parametrize("arguments", [[], ["--help"], ["pairs", "points.npy"]], ids=" ".join)
def test_the_command_line_without_its_extra_names_it(arguments: list[str], tmp_path: Path) -> None:
    result = python(f"sys.argv[1:] = {arguments}\nfrom vicinal.cli import main\nmain()", tmp_path)
    assert result.returncode == 1
    assert result.stderr == 'vicinal: this command needs typer and rich; pip install "vicinal[cli]"\n'
    assert result.stdout == ""


FUNCTIONS = {
    "scipy": ("vc.neighbors([[0, 0]], 1.0).to_scipy()", 'to_scipy needs scipy; pip install "vicinal[scipy]"'),
    "mesh": ("vc.Mesh.load('a.stl')", 'reading a mesh needs trimesh; pip install "vicinal[mesh]"'),
    "dem": ("from vicinal.sim.vtkhdf import need_h5py; need_h5py()", 'needs h5py; pip install "vicinal[dem]"'),
    "lab": (
        "from vicinal.demo import draw; draw([], title='', subtitle='', target=None, kind='png')",
        'needs matplotlib; pip install "vicinal[lab]"',
    ),
}


@pytest.mark.parametrize(("code", "message"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_without_its_extra_names_it(code: str, message: str, tmp_path: Path) -> None:
    result = python(f"import vicinal as vc\n{code}", tmp_path)
    assert result.returncode == 1
    last = result.stderr.splitlines()[-1]
    assert last.startswith("vicinal.errors.MissingExtraError: ")
    assert last.endswith(message)


COMMANDS = {
    "demo": (["demo", "--bodies", "10"], 'vicinal demo needs matplotlib; pip install "vicinal[lab]"'),
    "lab run": (["lab", "run", "koch-relations"], 'vicinal lab run needs matplotlib; pip install "vicinal[lab]"'),
    "lab report": (["lab", "report"], 'vicinal lab report needs matplotlib; pip install "vicinal[lab]"'),
    "render": (["render", "a.vtkhdf"], 'vicinal render needs h5py and matplotlib; pip install "vicinal[dem]"'),
}


@pytest.mark.parametrize(("arguments", "message"), COMMANDS.values(), ids=COMMANDS)
def test_a_command_without_its_extra_names_it(arguments: list[str], message: str, tmp_path: Path) -> None:
    hide = HIDE.replace('"typer", "rich", "click", ', "")
    code = f"sys.argv[1:] = {arguments}\nfrom vicinal.cli import main\nmain()"
    result = subprocess.run(
        [sys.executable, "-c", hide + code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert result.returncode == 1
    assert result.stderr == f"error: {message}\n"


def test_the_extras_are_those_of_the_project() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert [entry.partition(">")[0] for entry in project["dependencies"]] == ["numpy"]
    extras = {
        extra: {entry.partition(">")[0].replace("-", "_") for entry in entries}
        for extra, entries in project["optional-dependencies"].items()
        if extra != "all"
    }
    assert extras == {extra: set(modules) for extra, modules in EXTRAS.items()}
    (everything,) = project["optional-dependencies"]["all"]
    assert everything == f"vicinal[{','.join(sorted(EXTRAS))}]"


def test_nothing_is_missing_where_all_is_installed() -> None:
    for extra in ("cli", "lab"):
        need("a test", extra)
