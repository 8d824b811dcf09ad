"""Sections of a scene: tables whose keys are declared once for TOML files, Python and error messages."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

from vicinal.errors import InputError

Path = tuple[str | int, ...]
"""The path from the root to a value: names of tables and keys, and positions in lists."""


class SchemaError(InputError):
    """A value that the schema does not allow.

    Parameters
    ----------
    path
        The path of the value.
    value
        The value, or `ABSENT`.
    problem
        The problem, as the predicate of a sentence about the key: "must be a number above 0".
    hint
        The remedy, if it does not follow from the problem.
    place
        File and line.
    """

    def __init__(self, path: Path, value: object, problem: str, *, hint: str = "", place: str = "") -> None:
        self.path = path
        self.value = value
        self.problem = problem
        self.hint = hint
        got = "" if value is ABSENT else f", got {show(value)}"
        super().__init__(
            f"{place}{': ' if place else ''}{dotted(path) or 'the scene'} {problem}{got}{'; ' if hint else ''}{hint}"
        )

    def inside(self, *outer: str | int) -> SchemaError:
        """Return the same error with a path that starts at an enclosing table."""
        return SchemaError((*outer, *self.path), self.value, self.problem, hint=self.hint)

    def at(self, place: str) -> SchemaError:
        """Return the same error with file and line."""
        return SchemaError(self.path, self.value, self.problem, hint=self.hint, place=place)


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
"""Stands for the value of a missing key."""


def dotted(path: Path) -> str:
    """Return a path in the form of ``--set``.

    Examples
    --------
    >>> dotted(("walls", 0, "motion", "speed"))
    'walls.0.motion.speed'
    """
    return ".".join(str(step) for step in path)


def show(value: object) -> str:
    """Return the text of a value for a message, shortened if it is long."""
    text = f'"{value}"' if isinstance(value, str) else repr(plain(value))
    text = text.lower() if isinstance(value, bool) else text
    return text if len(text) <= 60 else f"{text[:57]}..."


class Check(Protocol):
    """Converts a raw value, or raises `SchemaError` with a path that starts here."""

    @property
    def allowed(self) -> str:
        """The allowed values, as a phrase that follows "must be"."""

    def __call__(self, value: object) -> Any:
        """Convert a value."""


def check_at(step: str | int, check: Check, value: object) -> Any:
    """Convert the value of a key or position; errors name it."""
    try:
        return check(value)
    except SchemaError as error:
        raise error.inside(step) from None


def key(check: Check, default: Any = ABSENT, help: str = "") -> Any:  # noqa: A002 - reads well in calls
    """Declare a key of a section: the check of its value, and its default. A key without default is required."""
    metadata = {"check": check, "help": help}
    if default is ABSENT:
        return dataclasses.field(metadata=metadata)
    if isinstance(default, dict | list) or dataclasses.is_dataclass(default):
        return dataclasses.field(default_factory=lambda: default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table of a scene. Its values are checked in Python and from a file alike."""

    TAG: ClassVar[tuple[str, str] | None] = None
    """The key and the word with which a file selects this section among others."""

    def __post_init__(self) -> None:
        """Check and convert every value."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            object.__setattr__(self, field.name, check_at(field.name, field.metadata["check"], value))
        self.check()

    def check(self) -> None:
        """Check conditions on several keys."""

    def wrong(self, name: str, problem: str, hint: str = "") -> SchemaError:
        """Return the error for one of the keys."""
        value = getattr(self, name)
        return SchemaError((name,), ABSENT if value is None else value, problem, hint=hint)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Return the names of the keys."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @classmethod
    def of(cls, table: Mapping[str, Any], *, tag: str = "") -> Self:
        """Return a section from a table of raw values."""
        known = cls.keys()
        for name, value in table.items():
            if name not in known:
                raise unknown_key(name, value, known, (tag, *known) if tag else known)
        for field in dataclasses.fields(cls):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if needed and field.name not in table:
                raise missing(field.name, field.metadata["check"].allowed)
        return cls(**table)

    def table(self) -> dict[str, Any]:
        """Return the section as plain values, in the form of a file, without keys that are not set."""
        items = {} if self.TAG is None else dict([self.TAG])
        given = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return items | {name: plain(value) for name, value in given if value is not None}


def missing(name: str, allowed: str) -> SchemaError:
    """Return the error for a missing required key."""
    return SchemaError((name,), ABSENT, "is missing", hint=f"it must be {allowed}")


def unknown_key(name: str, value: object, known: Sequence[str], shown: Sequence[str]) -> SchemaError:
    """Return the error for a key that a table does not have."""
    hint = f"{suggestion(name, known)}known here: {', '.join(shown)}"
    return SchemaError((name,), ABSENT if isinstance(value, Mapping | list) else value, "is an unknown key", hint=hint)


def plain(value: Any) -> Any:
    """Turn sections and tuples into tables and lists."""
    if isinstance(value, Section):
        return value.table()
    if isinstance(value, dict):
        return {name: plain(entry) for name, entry in value.items()}
    if isinstance(value, tuple):
        return [plain(entry) for entry in value]
    return value


def suggestion(word: object, known: Sequence[str]) -> str:
    """Return the most similar known word as the beginning of a hint; empty if none is similar.

    Examples
    --------
    >>> suggestion("frictoin", ["friction", "density"])
    'did you mean "friction"? '
    """
    near = difflib.get_close_matches(str(word).lower(), [name.lower() for name in known], n=1, cutoff=0.6)
    return f'did you mean "{near[0]}"? ' if near else ""


def listed(words: Sequence[str]) -> str:
    """Return words as a choice.

    Examples
    --------
    >>> listed(("a", "b", "c"))
    '"a", "b" or "c"'
    """
    quoted = [f'"{word}"' for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
