"""TOML with the lines that errors name, keys set from outside, and the way back to text."""

from __future__ import annotations

import bisect
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from vicinal.errors import InputError
from vicinal.sim.schema import ABSENT, Path, SchemaError, dotted


@dataclass
class Source:
    """Raw values of a configuration, and where each of them comes from."""

    name: str
    table: dict[str, Any]
    lines: dict[Path, int] = field(default_factory=dict)
    overrides: dict[Path, str] = field(default_factory=dict)

    def place(self, path: Path) -> str:
        """Say where a value was given: its own place, or that of the table it is missing from."""
        for known, setting in self.overrides.items():
            if known[: len(path)] == path:
                return f"--set {setting}"
        for length in range(len(path), 0, -1):
            if path[:length] in self.overrides:  # whatever the file has below it is gone
                return f"--set {self.overrides[path[:length]]}"
        for length in range(len(path), 0, -1):
            if path[:length] in self.lines:
                return f"{self.name}:{self.lines[path[:length]]}"
        return self.name

    def override(self, setting: str) -> None:
        """Set a value by its path, as in ``solver.dt=1e-5`` or ``walls.0.motion.speed=3``."""
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InputError(f"--set {setting}: give a key and a value, as in --set solver.dt=1e-5")
        path: Path = tuple(int(step) if step.isdigit() else step for step in name.strip().split("."))
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            # Words need no quotes on a command line, where the shell takes them away anyway.
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
                most = len(here) - 1
                remedy = f"{dotted(path[:depth])} is a list; give a place from 0 to {most}, not {step}"
                raise SchemaError(path[: depth + 1], ABSENT, remedy, place=f"--set {setting}")
        elif isinstance(here, dict):
            step = str(step)  # noqa: PLW2901 - names may be digits too
            if not last:
                here.setdefault(step, {})
        else:
            remedy = f"{dotted(path[:depth])} is a value, not a table"
            raise SchemaError(path[: depth + 1], ABSENT, remedy, place=f"--set {setting}")
        if last:
            here[step] = value
        else:
            here = here[step]


def parse(text: str, name: str) -> Source:
    r"""Read TOML, and remember the line of every key.

    Examples
    --------
    >>> source = parse("[solver]\ndt = 1e-5\n", "drum.toml")
    >>> source.table, source.place(("solver", "dt"))
    ({'solver': {'dt': 1e-05}}, 'drum.toml:2')
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = re.search(r"\(at line (\d+), column (\d+)\)", str(error))
        place = f"{name}:{found[1]}" if found else name
        raise InputError(f"{place}: not valid TOML: {error}") from None
    return Source(name, table, _Lines(text).found)


class _Lines:
    """Finds the line of every key in a text that is known to be valid TOML."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.breaks = [match.start() for match in re.finditer("\n", text)]
        self.found: dict[Path, int] = {}
        self.arrays: dict[Path, int] = {}
        base: Path = ()
        while self._skip():
            line = self._line()
            if self.text.startswith("[[", self.at):
                self.at += 2
                path = self._resolved(self._key())
                self.arrays[path] = self.arrays.get(path, -1) + 1
                base = (*path, self.arrays[path])
                self.found.setdefault(path, line)
                self.at += 2
            elif self.text[self.at] == "[":
                self.at += 1
                base = self._resolved(self._key(), whole=True)
                self.at += 1
            else:
                self._pair(base)
                continue
            self.found.setdefault(base, line)

    def _line(self) -> int:
        return bisect.bisect_left(self.breaks, self.at) + 1

    def _skip(self) -> bool:
        """Go on to the next thing that is not blank or a comment; False at the end."""
        blank = re.compile(r"(?:[\s]+|#[^\n]*)*")
        match = blank.match(self.text, self.at)
        self.at = match.end() if match else self.at
        return self.at < len(self.text)

    def _resolved(self, names: Path, *, whole: bool = False) -> Path:
        """Put in the places of the lists of tables that a header goes through."""
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
            self.found.setdefault((*base, *names[:length]), line)
        self._skip()
        self.at += 1  # the sign =
        self._value((*base, *names))

    def _value(self, path: Path) -> None:
        self._skip()
        self.found.setdefault(path, self._line())
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
        # Up to two more quotes may belong to a long string: """"a"""""
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
    >>> print(dump({"title": "drum", "solver": {"dt": 1e-05}, "walls": [{"shape": "plane"}]}), end="")
    title = "drum"
    <BLANKLINE>
    [solver]
    dt = 1e-05
    <BLANKLINE>
    [[walls]]
    shape = "plane"
    """
    lines: list[str] = []
    _dump(table, (), lines)
    return "\n".join(lines).strip("\n") + "\n"


def _dump(table: Mapping[str, Any], path: tuple[str, ...], lines: list[str]) -> None:
    later = {}
    for name, value in table.items():
        if isinstance(value, Mapping) or (isinstance(value, list) and value and isinstance(value[0], Mapping)):
            later[name] = value
        else:
            lines.append(f"{_name(name)} = {_text(value)}")
    for name, value in later.items():
        here = (*path, _name(name))
        if isinstance(value, Mapping):
            if not value or not all(isinstance(entry, Mapping) for entry in value.values()):
                lines.extend(["", f"[{'.'.join(here)}]"])
            _dump(value, here, lines)
        else:
            for entry in value:
                lines.extend(["", f"[[{'.'.join(here)}]]"])
                _dump(entry, here, lines)


def _name(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        return '"' + re.sub(r"[\x00-\x1f\x7f]", lambda sign: f"\\u{ord(sign[0]):04x}", escaped) + '"'
    if isinstance(value, list | tuple):
        return f"[{', '.join(_text(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_name(name)} = {_text(entry)}" for name, entry in value.items()) + " }"
    return repr(value)
