"""What a value of the configuration may be, said once: for TOML files, for Python and for the error messages."""

from __future__ import annotations

import dataclasses
import difflib
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self, TypeVar

import numpy as np

from vicinal.errors import InputError

Path = tuple[str | int, ...]
"""From the root to a value: names of tables and keys, and places in lists."""


class SchemaError(InputError):
    """A value that the schema does not allow: where it stands, what it is, what it may be."""

    def __init__(self, path: Path, value: object, remedy: str, *, place: str = "") -> None:
        self.path = path
        self.value = value
        self.remedy = remedy
        what = dotted(path) if value is ABSENT else f"{dotted(path)} = {show(value)}"
        super().__init__(f"{place}{': ' if place else ''}{what}: {remedy}")

    def inside(self, *outer: str | int) -> SchemaError:
        """Return the same error as seen from a table around."""
        return SchemaError((*outer, *self.path), self.value, self.remedy)

    def at(self, place: str) -> SchemaError:
        """Return the same error with the place in a file."""
        return SchemaError(self.path, self.value, self.remedy, place=place)


class _Absent:
    def __repr__(self) -> str:
        return "absent"


ABSENT = _Absent()
"""The value of a key that is not there."""


def dotted(path: Path) -> str:
    """Write a path as ``--set`` takes it.

    Examples
    --------
    >>> dotted(("walls", 0, "motion", "speed"))
    'walls.0.motion.speed'
    """
    return ".".join(str(step) for step in path)


def show(value: object) -> str:
    """Write a value for a message, shortened if it is long."""
    text = f'"{value}"' if isinstance(value, str) else repr(plain(value))
    return text if len(text) <= 60 else f"{text[:57]}..."


class Check(Protocol):
    """Takes a raw value and gives the wanted one, or raises `SchemaError` with a path from here."""

    @property
    def allowed(self) -> str:
        """What may stand here, to follow the word "give"."""

    def __call__(self, value: object) -> Any:
        """Convert."""


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
            return f" from {self.low:g} to {self.high:g}"
        parts = []
        if low:
            parts.append(f" above {self.low:g}" if self.above else f" of at least {self.low:g}")
        if high:
            parts.append(f" below {self.high:g}" if self.below else f" of at most {self.high:g}")
        return " and".join(parts)

    def fits(self, number: float) -> bool:
        """Whether a number is within the range."""
        return (
            math.isfinite(number)
            and (number > self.low if self.above else number >= self.low)
            and (number < self.high if self.below else number <= self.high)
        )

    def __call__(self, value: object) -> float:
        """Return the number as a float."""
        if not _is_number(value) or not self.fits(float(value)):  # type: ignore[arg-type]
            raise SchemaError((), value, f"give {self.allowed}")
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

    def __call__(self, value: object) -> int:
        """Return the number as an int; 1e5 is as whole as 100000."""
        if not _is_number(value) or not self.fits(float(value)) or float(value) != int(value):  # type: ignore[arg-type,call-overload]
            raise SchemaError((), value, f"give {self.allowed}")
        return int(value)  # type: ignore[call-overload,no-any-return]


@dataclass(frozen=True)
class Flag:
    """True or false."""

    allowed: str = "true or false"

    def __call__(self, value: object) -> bool:
        """Return the flag."""
        if not isinstance(value, bool | np.bool_):
            raise SchemaError((), value, f"give {self.allowed}")
        return bool(value)


@dataclass(frozen=True)
class Text:
    """Any text that is not empty."""

    allowed: str = "text"

    def __call__(self, value: object) -> str:
        """Return the text."""
        if not isinstance(value, str) or not value.strip():
            raise SchemaError((), value, f"give {self.allowed}")
        return value


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """The words."""
        return listed(self.words)

    def __call__(self, value: object) -> str:
        """Return the word."""
        if not isinstance(value, str) or value not in self.words:
            raise SchemaError((), value, f"give {self.allowed}{suggestion(value, self.words)}")
        return value


@dataclass(frozen=True)
class Items:
    """A list of values of one kind, of a certain length if `count` is given."""

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
        if isinstance(value, str | Mapping) or not isinstance(value, Sequence):
            raise SchemaError((), value, f"give {self.allowed}")
        if (self.count is not None and len(value) != self.count) or len(value) < self.least:
            raise SchemaError((), value, f"give {self.allowed}")
        return tuple(_at(place, self.item, entry) for place, entry in enumerate(value))


VECTOR = Items(Number(), 3)
"""Three numbers."""


@dataclass(frozen=True)
class Direction:
    """Three numbers that are not all zero; made a unit vector."""

    allowed: str = "a list of 3 numbers that are not all 0"

    def __call__(self, value: object) -> tuple[float, ...]:
        """Return the unit vector."""
        try:
            vector = VECTOR(value)
        except SchemaError:
            raise SchemaError((), value, f"give {self.allowed}") from None
        length = math.hypot(*vector)
        if length == 0 or not math.isfinite(length):
            raise SchemaError((), value, f"give {self.allowed}")
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
        """Return the section: one made in Python as it is, one from a file after its checks."""
        if isinstance(value, self.kind):
            return value
        if not isinstance(value, Mapping):
            raise SchemaError((), value, f"give {self.allowed}")
        return self.kind.of(value)


@dataclass(frozen=True)
class OneOf:
    """A table whose keys depend on one of them, such as ``shape``."""

    tag: str
    kinds: Mapping[str, type[Section]]
    default: str | None = None

    @property
    def allowed(self) -> str:
        """The words for the deciding key."""
        return f"a table in which {self.tag} is {listed(tuple(self.kinds))}"

    def __call__(self, value: object) -> Section:
        """Return the section that the deciding key names."""
        if isinstance(value, tuple(self.kinds.values())):
            return value  # type: ignore[return-value]
        if not isinstance(value, Mapping):
            raise SchemaError((), value, f"give {self.allowed}")
        word = value.get(self.tag, self.default)
        if word is None:
            raise SchemaError((self.tag,), ABSENT, f"is missing; give {listed(tuple(self.kinds))}")
        if word not in self.kinds:
            remedy = f"give {listed(tuple(self.kinds))}{suggestion(word, tuple(self.kinds))}"
            raise SchemaError((self.tag,), word, remedy)
        return self.kinds[word].of({key: entry for key, entry in value.items() if key != self.tag}, tag=self.tag)


@dataclass(frozen=True)
class Named:
    """A table of things that the user gives names to."""

    item: Check

    @property
    def allowed(self) -> str:
        """The kind of the entries."""
        return f"a table of names, each with {self.item.allowed}"

    def __call__(self, value: object) -> dict[str, Any]:
        """Return the things by their names."""
        if not isinstance(value, Mapping):
            raise SchemaError((), value, f"give {self.allowed}")
        return {str(name): _at(str(name), self.item, entry) for name, entry in value.items()}


@dataclass(frozen=True)
class Either:
    """A value that may be given in two ways, told apart by its type."""

    simple: Check
    other: Check
    takes: tuple[type, ...]
    """Types of the raw values that belong to `other`."""

    @property
    def allowed(self) -> str:
        """Both ways."""
        return f"{self.simple.allowed}, or {self.other.allowed}"

    def __call__(self, value: object) -> Any:
        """Convert in the way that suits the value."""
        if isinstance(value, self.takes):
            return self.other(value)
        if not isinstance(self.simple, Choice | Text) and isinstance(value, str):
            raise SchemaError((), value, f"give {self.allowed}")
        return self.simple(value)


def _at(step: str | int, check: Check, value: object) -> Any:
    try:
        return check(value)
    except SchemaError as error:
        raise error.inside(step) from None


def key(check: Check, default: Any = ABSENT, help: str = "") -> Any:  # noqa: A002 - reads well where it is used
    """Declare a key of a section: what it takes, and its value where it is not given; without one it must be."""
    metadata = {"check": check, "help": help}
    if default is ABSENT:
        return dataclasses.field(metadata=metadata)
    if isinstance(default, dict | list) or dataclasses.is_dataclass(default):
        return dataclasses.field(default_factory=lambda: default, metadata=metadata)
    return dataclasses.field(default=default, metadata=metadata)


S = TypeVar("S", bound="Section")


@dataclass(frozen=True, kw_only=True)
class Section:
    """A table of the configuration. Its values are checked wherever it is made, in Python or from a file."""

    TAG: ClassVar[tuple[str, str] | None] = None
    """The key and the word by which a file chooses this section among others."""

    def __post_init__(self) -> None:
        """Check and convert every value."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value is None and field.default is None:
                continue
            object.__setattr__(self, field.name, _at(field.name, field.metadata["check"], value))
        self.check()

    def check(self) -> None:
        """Check what depends on several keys."""

    def wrong(self, name: str, remedy: str) -> SchemaError:
        """Make the error for one of the keys."""
        value = getattr(self, name)
        return SchemaError((name,), ABSENT if value is None else value, remedy)

    @classmethod
    def keys(cls) -> tuple[str, ...]:
        """Names of the keys."""
        return tuple(field.name for field in dataclasses.fields(cls))

    @classmethod
    def of(cls, table: Mapping[str, Any], *, tag: str = "") -> Self:
        """Make a section from a table of raw values."""
        known = cls.keys()
        for name, value in table.items():
            if name not in known:
                also = (tag, *known) if tag else known
                remedy = f"unknown key{suggestion(name, known)}; known here: {', '.join(also)}"
                raise SchemaError((name,), ABSENT if isinstance(value, Mapping) else value, remedy)
        for field in dataclasses.fields(cls):
            needed = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if needed and field.name not in table:
                raise SchemaError((field.name,), ABSENT, f"is missing; give {field.metadata['check'].allowed}")
        return cls(**table)

    def table(self) -> dict[str, Any]:
        """Give the section back as plain values, as a file would have them; what is not set is left out."""
        items = {} if self.TAG is None else dict([self.TAG])
        given = ((field.name, getattr(self, field.name)) for field in dataclasses.fields(self))
        return items | {name: plain(value) for name, value in given if value is not None}


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
    """Name the nearest known word, if one is near.

    Examples
    --------
    >>> suggestion("frictoin", ["friction", "density"])
    ' (did you mean "friction"?)'
    """
    near = difflib.get_close_matches(str(word).lower(), [name.lower() for name in known], n=1, cutoff=0.6)
    return f' (did you mean "{near[0]}"?)' if near else ""


def listed(words: Sequence[str]) -> str:
    """Write words as a choice.

    Examples
    --------
    >>> listed(("a", "b", "c"))
    '"a", "b" or "c"'
    """
    quoted = [f'"{word}"' for word in words]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Walk through the plain values of a configuration."""
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from leaves(entry, (*path, name))
    elif isinstance(value, list | tuple):
        for place, entry in enumerate(value):
            yield from leaves(entry, (*path, place))
    else:
        yield path, value
