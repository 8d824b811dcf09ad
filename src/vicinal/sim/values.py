"""Checks for the values of a scene: numbers, words, vectors, lists and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from vicinal.sim.schema import ABSENT, Check, SchemaError, Section, check_at, listed, suggestion


def _refused(value: object, allowed: str, hint: str = "") -> SchemaError:
    return SchemaError((), value, f"must be {allowed}", hint=hint)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


@dataclass(frozen=True)
class Number:
    """A finite real number within bounds."""

    low: float = -math.inf
    high: float = math.inf
    above: bool = False
    below: bool = False

    @property
    def allowed(self) -> str:
        """The range in words."""
        return "a number" + self._range()

    def _range(self) -> str:
        low, high = self.low > -math.inf, self.high < math.inf
        if low and high and not self.above and not self.below:
            return f" from {self._shown(self.low)} to {self._shown(self.high)}"
        parts = []
        if low:
            parts.append(f" above {self.low:g}" if self.above else f" of at least {self.low:g}")
        if high:
            at_most = "at most" if low else "of at most"
            parts.append(f" below {self.high:g}" if self.below else f" {at_most} {self.high:g}")
        return " and".join(parts)

    def _shown(self, bound: float) -> str:
        return f"{bound:g}"

    def fits(self, number: float) -> bool:
        """Return whether a number is within the range."""
        return (
            math.isfinite(number)
            and (number > self.low if self.above else number >= self.low)
            and (number < self.high if self.below else number <= self.high)
        )

    def __call__(self, value: object) -> float:
        """Return the number as a float."""
        if not _is_number(value) or not self.fits(float(value)):  # type: ignore[arg-type]
            raise _refused(value, self.allowed)
        return float(value)  # type: ignore[arg-type]


POSITIVE = Number(0, above=True)
NOT_NEGATIVE = Number(0)


@dataclass(frozen=True)
class Whole(Number):
    """A whole number within bounds."""

    @property
    def allowed(self) -> str:
        """The range in words."""
        return "a whole number" + self._range()

    def _shown(self, bound: float) -> str:
        return f"{int(bound):,}"

    def __call__(self, value: object) -> int:
        """Return the number as an int; floats such as 1e5 are accepted if they are whole."""
        if not _is_number(value) or not self.fits(float(value)) or float(value) != int(value):  # type: ignore[arg-type,call-overload]
            raise _refused(value, self.allowed)
        return int(value)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class Flag:
    """True or false."""

    allowed: str = "true or false"

    def __call__(self, value: object) -> bool:
        """Return the flag."""
        if not isinstance(value, bool | np.bool_):
            raise _refused(value, self.allowed)
        return bool(value)


@dataclass(frozen=True)
class Text:
    """Text that is not empty."""

    allowed: str = "text"

    def __call__(self, value: object) -> str:
        """Return the text."""
        if not isinstance(value, str) or not value.strip():
            raise _refused(value, self.allowed)
        return value


@dataclass(frozen=True)
class OneOf:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The words."""
        return listed(self.words)

    def __call__(self, value: object) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise _refused(value, self.allowed, suggestion(value, self.words).strip())
        return value


@dataclass(frozen=True)
class Items:
    """A list of values of one kind, with exactly `count` entries if given."""

    item: Check
    count: int | None = None
    least: int = 0

    @property
    def allowed(self) -> str:
        """The length and the kind of the entries."""
        if self.count is not None:
            return f"a list of {self.count}, each {self.item.allowed}"
        at_least = f" of at least {self.least}" if self.least else ""
        return f"a list{at_least}, each entry {self.item.allowed}"

    def __call__(self, value: object) -> tuple[Any, ...]:
        """Return the entries as a tuple."""
        if isinstance(value, np.ndarray):
            value = value.tolist()
        if isinstance(value, Mapping) and not isinstance(self.item, Number):
            raise _refused(value, self.allowed, hint="in a file, begin every entry with double brackets, [[ ]]")
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise _refused(value, self.allowed)
        if (self.count is not None and len(value) != self.count) or len(value) < self.least:
            raise _refused(value, self.allowed)
        return tuple(check_at(place, self.item, entry) for place, entry in enumerate(value))


VECTOR = Items(Number(), 3)
"""Three numbers."""


@dataclass(frozen=True)
class Direction:
    """Three numbers that are not all zero; converted to a unit vector."""

    allowed: str = "a list of 3 numbers that are not all 0"

    def __call__(self, value: object) -> tuple[float, ...]:
        """Return the unit vector."""
        try:
            vector = VECTOR(value)
        except SchemaError:
            raise _refused(value, self.allowed) from None
        length = math.hypot(*vector)
        if length == 0 or not math.isfinite(length):
            raise _refused(value, self.allowed)
        return tuple(x / length for x in vector)


@dataclass(frozen=True)
class Part:
    """A table with keys of its own."""

    kind: type[Section]

    @property
    def allowed(self) -> str:
        """The keys."""
        return f"a table with the keys {', '.join(self.kind.keys())}"

    def __call__(self, value: object) -> Section:
        """Return the section; a table from a file is checked and converted, a section from Python is returned as is."""
        if isinstance(value, self.kind):
            return value
        if not isinstance(value, Mapping):
            raise _refused(value, self.allowed)
        return self.kind.of(value)


@dataclass(frozen=True)
class Variant:
    """A table whose keys depend on the value of one key, such as ``shape``."""

    tag: str
    kinds: Mapping[str, type[Section]]
    default: str | None = None

    @property
    def allowed(self) -> str:
        """The allowed words of the deciding key."""
        return f"a table in which {self.tag} is {listed(tuple(self.kinds))}"

    def __call__(self, value: object) -> Section:
        """Return the section that the deciding key names."""
        if isinstance(value, tuple(self.kinds.values())):
            return value  # type: ignore[return-value]
        if not isinstance(value, Mapping):
            raise _refused(value, self.allowed)
        word = value.get(self.tag, self.default)
        words = tuple(self.kinds)
        if word is None:
            raise SchemaError((self.tag,), ABSENT, "is missing", hint=f"it must be {listed(words)}")
        if word not in self.kinds:
            raise SchemaError((self.tag,), word, f"must be {listed(words)}", hint=suggestion(word, words).strip())
        return self.kinds[word].of({key: entry for key, entry in value.items() if key != self.tag}, tag=self.tag)


@dataclass(frozen=True)
class Named:
    """A table of entries that the user names."""

    item: Check

    @property
    def allowed(self) -> str:
        """The kind of the entries."""
        return f"a table of names, each with {self.item.allowed}"

    def __call__(self, value: object) -> dict[str, Any]:
        """Return the entries by their names."""
        if not isinstance(value, Mapping):
            raise _refused(value, self.allowed)
        return {str(name): check_at(str(name), self.item, entry) for name, entry in value.items()}


@dataclass(frozen=True)
class Either:
    """A value with two forms, which are distinguished by type."""

    simple: Check
    other: Check
    takes: tuple[type, ...]
    """Types of the raw values that belong to `other`."""

    @property
    def allowed(self) -> str:
        """Both ways."""
        return f"{self.simple.allowed}, or {self.other.allowed}"

    def __call__(self, value: object) -> Any:
        """Convert the value with the form that it has."""
        if isinstance(value, self.takes):
            return self.other(value)
        if not isinstance(self.simple, OneOf | Text) and isinstance(value, str):
            raise _refused(value, self.allowed)
        return self.simple(value)
