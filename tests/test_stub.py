"""The hand-written stub of the compiled core agrees with the core: same names, same arguments."""

import ast
from pathlib import Path

import pytest

import vicinal

Signatures = dict[str, list[str]]


def signatures(text: str) -> Signatures:
    """Every function and method of a stub, with the names of its arguments; attributes and properties have none."""
    arguments_of: Signatures = {}
    for node in ast.parse(text).body:
        members = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}." if isinstance(node, ast.ClassDef) else ""
        for member in members:
            if isinstance(member, ast.FunctionDef):
                arguments = [argument.arg for argument in member.args.args]
                arguments_of[prefix + member.name] = [] if member.decorator_list else arguments
            elif prefix and isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                arguments_of[prefix + member.target.id] = []
    return arguments_of


def test_the_stub_and_the_core_agree() -> None:
    stubgen = pytest.importorskip("nanobind.stubgen")
    generator = stubgen.StubGen(module=vicinal._core)
    generator.put(vicinal._core)
    written = Path(vicinal.__file__).with_name("_core.pyi").read_text(encoding="utf-8")
    assert signatures(written) == signatures(generator.get())
