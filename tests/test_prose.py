"""Prose: data are not persons, papers are cited by author and year, and known riddles stay out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("cpp", "src", "docs", "tests", "benchmarks", "tools")
ENDINGS = {".py", ".hpp", ".cpp", ".md", ".toml"}
PERSONS = r"\b(nobody|somebody|everybody|anybody|everyone|whoever|who|whom)\b"
RIDDLES = r"\b(anew|afresh|shall|to be had|for people)\b"
# Phrases that were translated word by word; a manual says "continues", "tests", "does not depend on", "sometimes", …
TRANSLATED = (
    r"\b(goes on|looked at|knows? nothing|of no use|whatever|whichever|in all but|lets? go|now and then|comes? to be"
    r"|every other time|for ever|upon|merely|(?:row|tile|piece) after (?:row|tile|piece)|put aside|at hand|above all"
    r"|seen through|as good as|will do|is so by|but for rounding)\b"
)
REFUSED = re.compile(rf"{PERSONS}|{RIDDLES}|{TRANSLATED}|\bpaper [A-E]\b", re.IGNORECASE)


def test_words_that_have_to_be_read_twice_are_not_used() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in ENDINGS]
    files += list(ROOT.glob("*.md"))
    places = [
        f"{path.relative_to(ROOT)}:{number}: {match.group()}"
        for path in files
        if path != Path(__file__).resolve()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := REFUSED.search(line))
    ]
    assert len(files) > 300
    assert not places, "\n".join(places)
