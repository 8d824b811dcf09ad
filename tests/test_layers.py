"""Includes and imports point one way: a layer uses only the layers before it (see ARCHITECTURE.md)."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import vicinal

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(vicinal.__file__).parent

CPP = (
    "exec",
    "geometry",
    "delaunay",
    "index",
    "pairs",
    "nearest",
    "rows",
    "search",
    "distributed",
    "lists",
    "contacts",
    "mesh",
    "fluid",
    "dem",
    "sph",
    "python",
)
"""Folders of cpp/, each of which includes only those before it."""

PYTHON = ("search", "distributed", "tiles", "sim", "scenes", "dem", "sph", "coupled", "fluid", "lab", "demo", "cli")
"""Layers of the package, each of which imports only those before it; `search` is every module not named here."""


def layer_of(module: str) -> str:
    """Return the layer of a module such as vicinal.dem.walls."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in PYTHON else "search"


def imports(path: Path) -> set[str]:
    """Return the modules of the package that a file imports at its top level."""
    names: set[str] = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{name.name}" for name in node.names}
    return {name for name in names if name.split(".")[0] == "vicinal"}


def test_headers_include_only_lower_layers() -> None:
    files = list((ROOT / "cpp").rglob("*.?pp"))
    wrong = [
        f"{path.relative_to(ROOT)} includes {included}/"
        for path in files
        for included in re.findall(r'#include "(\w+)/', path.read_text(encoding="utf-8"))
        if CPP.index(included) > CPP.index(path.relative_to(ROOT / "cpp").parts[0])
    ]
    assert len(files) > 100
    assert not wrong, "\n".join(wrong)


def test_only_the_bindings_depend_on_python() -> None:
    files = [path for path in (ROOT / "cpp").rglob("*.?pp") if "nanobind" in path.read_text(encoding="utf-8")]
    assert {path.relative_to(ROOT / "cpp").parts[0] for path in files} == {"python"}


def test_only_units_per_machine_depend_on_compiler_and_processor() -> None:
    """The variant `serial` compiles these again, and takes all other objects from the installed extension."""
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    listed = re.search(r"set\(per_machine ([^)]*)\)", cmake)
    assert listed is not None
    macros = re.compile(r"_OPENMP|\bomp\b|omp\.h|VICINAL_(X86|NEON|OF_ISA)|of_isa\.hpp")
    files = [path for path in (ROOT / "cpp").rglob("*.?pp") if macros.search(path.read_text(encoding="utf-8"))]
    found = {str(path.relative_to(ROOT)) for path in files} - {"cpp/exec/of_isa.hpp"}
    assert found == set(listed[1].split())
    openmp = [path for path in files if "omp.h" in path.read_text(encoding="utf-8")]
    assert openmp == [ROOT / "cpp/exec/threads.cpp"]


def test_modules_import_only_lower_layers() -> None:
    files = list(PACKAGE.rglob("*.py"))
    wrong = [
        f"{module} imports {name}"
        for path in files
        for module in [".".join(("vicinal", *path.relative_to(PACKAGE).with_suffix("").parts))]
        for name in imports(path)
        if PYTHON.index(layer_of(name)) > PYTHON.index(layer_of(module))
    ]
    assert len(files) > 100
    assert not wrong, "\n".join(wrong)


def test_every_folder_of_the_core_has_a_layer() -> None:
    assert {path.name for path in (ROOT / "cpp").iterdir() if path.is_dir()} == set(CPP)
