"""A class has a name of its own: no other class of the same language is called the same, and none of the other language
unless both are one idea, as a structure and its implementation are."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from pathlib import Path

import vicinal

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(vicinal.__file__).parent

# A class at the level of a namespace; classes inside others belong to these.
CPP_CLASS = re.compile(
    r"^(?:template\s*<[^;{}]*?>\s*)?(?:class|struct|enum class|union)\s+(?:alignas\([^)]*\)\s*)?(\w+)"
    r"\s*(?:final\s*)?(?::[^:{;]*)?\{",
    re.MULTILINE,
)
INSTRUCTION_SET = re.compile(r"_(baseline|avx2|avx512|neon)\.[ch]pp$")

SOLVERS = {"Simulation"}
"""Classes that every solver has under the same name: it is said as `dem.Simulation`, `sph.Simulation`."""

SAME_IDEA = {
    *("Bodies", "Planes", "Touching", "Systems", "Pose"),
    *("Elements", "GrainBodies", "LawParameter", "Simulation", "Wall", "WallMotion", "Guard", "Phase"),
}
"""Classes of Python whose counterpart in C++ has the same name, besides structures and shapes."""


def listed(file: str, pattern: str) -> set[str]:
    """Return the names in a list of the core."""
    found = re.search(pattern, (ROOT / file).read_text(encoding="utf-8"))
    assert found is not None
    return set(re.findall(r"\b[A-Z]\w*", re.sub("//.*", "", found[1])))


def structures_and_shapes() -> set[str]:
    """Return the classes that both languages have because they are in a list of structures or of shapes."""
    structures = listed("CMakeLists.txt", r"set\(structures ([^)]*)\)")
    shapes = listed("cpp/dem/shapes/kinds.hpp", r"using ShapeKinds = std::variant<([^;]*)>;")
    assert {"BVH", "HashGrid"} < structures
    assert {"Tablet", "Polyhedron"} < shapes
    return structures | shapes


def cpp_classes() -> dict[str, list[str]]:
    """Return the files that define each class, without those that implement it for one instruction set."""
    found = defaultdict(list)
    for path in sorted((ROOT / "cpp").rglob("*.?pp")):
        if not INSTRUCTION_SET.search(path.name):
            for name in CPP_CLASS.findall(path.read_text(encoding="utf-8")):
                found[name].append(str(path.relative_to(ROOT)))
    return found


def python_classes() -> dict[str, list[str]]:
    """Return the modules that define each class."""
    found = defaultdict(list)
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    return found


def test_a_name_is_one_class_of_a_language() -> None:
    for classes in (cpp_classes(), python_classes()):
        assert len(classes) > 200
        assert {name: files for name, files in classes.items() if len(files) > 1 and name not in SOLVERS} == {}


def test_a_name_in_both_languages_is_one_idea() -> None:
    assert cpp_classes().keys() & python_classes().keys() <= SAME_IDEA | structures_and_shapes()
