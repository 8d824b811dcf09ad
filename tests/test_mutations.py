"""The mutations of ``make mutations``, which takes long, can be made: their expressions are in the core."""

from __future__ import annotations

import runpy
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_every_mutation_has_an_expression_of_the_core() -> None:
    mutations = runpy.run_path(str(ROOT / "tools" / "mutations.py"))["MUTATIONS"]
    assert len(mutations) > 10
    wrong = [
        f"{one.file}: {one.old}"
        for one in mutations
        if (ROOT / "cpp" / one.file).read_text(encoding="utf-8").count(one.after + one.old) != 1
    ]
    assert wrong == []
    # They stand between the parentheses of a conditional expression.
    for text in (text for one in mutations for text in (one.old, one.new)):
        assert text.count("(") == text.count(")"), text
        assert ";" not in text, text
        assert not text.startswith((":", "?", ",", ")")), text
