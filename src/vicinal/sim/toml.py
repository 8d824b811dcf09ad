"""Reading TOML with line numbers for error messages, setting values from the command line, and writing TOML."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vicinal.errors import InputError
from vicinal.extras import need
from vicinal.sim.schema import ABSENT, Path, SchemaError, dotted


@dataclass
class Source:
    """Raw values of a scene, and the file and line of each."""

    name: str
    table: dict[str, Any]
    lines: dict[Path, int] = field(default_factory=dict)
    overrides: dict[Path, str] = field(default_factory=dict)

    def place(self, path: Path) -> str:
        """Return the place of a value, or that of the table from which it is missing."""
        for known, setting in self.overrides.items():
            if known[: len(path)] == path:
                return f"--set {setting}"
        for length in range(len(path), 0, -1):
            if path[:length] in self.overrides:  # the new value replaces the whole table below
                return f"--set {self.overrides[path[:length]]}"
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return f"{self.name}:{self.lines[path[:length]]}"
        return self.name

    def override(self, setting: str) -> None:
        """Set a value by its path, as in ``run.duration=2`` or ``walls.0.motion.speed=3``."""
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set must have the form KEY=VALUE, got {setting!r}; for example --set run.duration=2")
        path: Path = tuple(int(step) if step.isdigit() else step for step in name.strip().split("."))
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            # Words need no quotes on a command line, since the shell removes quotes.
            value = text.strip()
        _assign(self.table, path, value, setting)
        for known in [known for known in self.overrides if known[: len(path)] == path]:
            del self.overrides[known]
        self.overrides[path] = setting


def _assign(table: dict[str, Any], path: Path, value: object, setting: str) -> None:
    here: Any = table
    for depth, step in enumerate(path):
        last = depth == len(path) - 1
        if isinstance(here, list):
            if not isinstance(step, int) or step >= len(here):
                problem = f"does not exist; {dotted(path[:depth])} is a list with entries 0 to {len(here) - 1}"
                raise SchemaError(path[: depth + 1], ABSENT, problem, place=f"--set {setting}")
        elif isinstance(here, dict):
            step = str(step)  # noqa: PLW2901 - names may consist of digits
            if not last:
                here.setdefault(step, {})
        else:
            problem = f"does not exist; {dotted(path[:depth])} is a value, not a table"
            raise SchemaError(path[: depth + 1], ABSENT, problem, place=f"--set {setting}")
        if last:
            here[step] = value
        else:
            here = here[step]


def parse(text: str, name: str) -> Source:
    r"""Read TOML, and keep the line of every key.

    Examples
    --------
    >>> source = parse("[run]\nduration = 2\n", "drum.toml")
    >>> source.table, source.place(("run", "duration"))
    ({'run': {'duration': 2}}, 'drum.toml:2')
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        line = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f"{name}:{line[1]}" if line else name
        raise InputError(f"{place}: not valid TOML: {error}") from None
    return Source(name, table, _Lines(text).lines)


class _Lines:
    """Finds the line of every key in a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.lines: dict[Path, int] = {}
        self.arrays: dict[Path, int] = {}
        base: Path = ()
        while self._skip():
            line = self._line()
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self._resolved(self._key())
                self.arrays[path] = self.arrays.get(path, -1) + 1
                base = (*path, self.arrays[path])
                self.lines.setdefault(path, line)
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                base = self._resolved(self._key(), whole=True)
                self.at += 1
            else:
                self._pair(base)
                continue
            for length in range(1, len(base) + 1):
                self.lines.setdefault(base[:length], line)

    def _line(self) -> int:
        return bisect.bisect_left(self.breaks, self.at) + 1

    def _skip(self) -> bool:
        """Skip blanks and comments; return False at the end of the text."""
        blank = re.compile(r"(?:[\s]+|#[^\n]*)*")
        match = blank.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _resolved(self, names: Path, *, whole: bool = False) -> Path:
        """Insert the positions in lists of tables into the path of a header."""
        path: Path = ()
        for depth, name in enumerate(names):
            path = (*path, name)
            if path in self.arrays and (whole or depth < len(names) - 1):
                path = (*path, self.arrays[path])
        return path

    def _key(self) -> Path:
        names: list[str] = []
        while True:
            self._skip()
            if self.text[self.at] in "\"'":
                begin = self.at
                self._string()
                names.append(str(tomllib.loads(f"v = {self.text[begin : self.at]}")["v"]))
            else:
                match = re.compile(r"[A-Za-z0-9_-]+").match(self.text, self.at)
                assert match is not None  # noqa: S101 - the text is valid TOML
                names.append(match[0])
                self.at = match.end()
            self._skip()
            if self.text[self.at] != ".":
                return tuple(names)
            self.at += 1

    def _pair(self, base: Path) -> None:
        line = self._line()
        names = self._key()
        for length in range(1, len(names) + 1):
            self.lines.setdefault((*base, *names[:length]), line)
        self._skip()
        self.at += 1  # the sign =
        self._value((*base, *names))

    def _value(self, path: Path) -> None:
        self._skip()
        self.lines.setdefault(path, self._line())
        first = self.text[self.at]
        if first in "\"'":
            self._string()
        elif first == "[":
            self._list(path)
        elif first == "{":
            self._table(path)
        else:
            match = re.compile(r"[^,\]}\n#]*").match(self.text, self.at)
            self.at = match.end() if match else self.at

    def _string(self) -> None:
        quote = self.text[self.at]
        ends = quote * 3 if self.text.startswith(quote * 3, self.at) else quote
        self.at += len(ends)
        while not self.text.startswith(ends, self.at):
            self.at += 2 if quote == '"' and self.text[self.at] == "\\" else 1
        self.at += len(ends)
        # The last two of up to five closing quotes may belong to a long string: """"a"""""
        while len(ends) == 3 and self.at < len(self.text) and self.text[self.at] == quote:
            self.at += 1

    def _list(self, path: Path) -> None:
        self.at += 1
        place = 0
        while self._skip() and self.text[self.at] != "]":
            self._value((*path, place))
            place += 1
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1

    def _table(self, path: Path) -> None:
        self.at += 1
        while self._skip() and self.text[self.at] != "}":
            self._pair(path)
            self._skip()
            if self.text[self.at] == ",":
                self.at += 1
        self.at += 1


def dump(table: Mapping[str, Any]) -> str:
    """Write plain values as TOML; `tomllib` reads the same values back.

    Examples
    --------
    >>> print(dump({"title": "drum", "run": {"duration": 0.5}}), end="")
    title = "drum"
    <BLANKLINE>
    [run]
    duration = 0.5
    """
    need("writing TOML", "dem", "tomli_w")
    import tomli_w

    return tomli_w.dumps(table)
