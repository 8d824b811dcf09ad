"""All code of the documentation runs."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
import re
from pathlib import Path
from types import ModuleType

import pytest

import vicinal as vc

ROOT = Path(__file__).resolve().parent.parent
PAGES = sorted([*ROOT.glob("README.md"), *ROOT.glob("docs/**/*.md")])
BLOCK = re.compile(r"^```python[^\S\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(vc.__path__, "vicinal.")
    if not re.search(r"\b(_core|cli|__main__)\b", module.name)
)
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def blocks(page: Path) -> list[tuple[int, str]]:
    """The Python blocks of a page, each with the line it starts on."""
    text = page.read_text(encoding="utf-8")
    return [(text.count("\n", 0, match.start(1)) + 1, match[1]) for match in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_examples_of_a_page_run_from_top_to_bottom(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "__example__"}
    for line, source in blocks(page):
        if ">>>" in source:
            test = doctest.DocTestParser().get_doctest(source, names, f"{page.name}:{line}", str(page), line)
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            runner.run(test, clear_globs=False)
            assert not runner.summarize(verbose=False).failed
            names.update(test.globs)
        else:
            exec(compile("\n" * (line - 1) + source, str(page), "exec"), names)


def test_the_readme_shows_the_library_at_work() -> None:
    source = "\n".join(block for _, block in blocks(ROOT / "README.md"))
    for name in ("pairs", "neighbors", "count"):
        assert f".{name}(" in source


def test_the_readme_names_everything_public() -> None:
    """The README lists the whole public API."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    table = text.partition("## The whole API")[2].partition("\n## ")[0]
    missing = [name for name in [*vc.__all__, *vc._LATE] if not re.search(rf"\b{name}\b", table)]
    assert not missing
    assert len(table.splitlines()) < 60


@pytest.mark.parametrize("name", ["vicinal", *MODULES])
def test_the_examples_of_a_module_run(name: str) -> None:
    module = importlib.import_module(name)
    failed, _ = doctest.testmod(module, extraglobs={"vicinal": vc}, optionflags=FLAGS)
    assert not failed


def public() -> list[str]:
    return [name for name in vc.__all__ if not isinstance(getattr(vc, name), ModuleType | str)]


@pytest.mark.parametrize("name", public())
def test_everything_public_is_described(name: str) -> None:
    thing = getattr(vc, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing) and thing.__module__.startswith("vicinal"):
        for member, function in inspect.getmembers(thing, inspect.isroutine):
            if not member.startswith("_") and member in vars(thing):
                assert inspect.getdoc(function), f"{name}.{member} has no description"


@pytest.mark.parametrize(
    "name", ["pairs", "neighbors", "count", "choose", "Exhaustive", "LinkedCells", "CellSorting", "Delaunay"]
)
def test_every_public_function_has_an_example(name: str) -> None:
    assert ">>>" in (inspect.getdoc(getattr(vc, name)) or "")


@pytest.mark.parametrize("name", ["", "dem", "sph", "sim", "coupled", "lab", "scenes", "distributed"])
def test_a_package_lists_what_is_public(name: str) -> None:
    package = getattr(vc, name) if name else vc
    more = [*vc._LATE, "__version__"] if package is vc else []
    assert dir(package) == sorted([*package.__all__, *more])
