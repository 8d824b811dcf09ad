"""Published results as data, and their comparison with measurements.

Counts are compared with a tolerance, orderings and growth by their own criteria. Seconds of the authors' machines are
shown and never judged: `Shown` is the only claim that takes a single column of seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar, Literal, Protocol

from vicinal.lab.figures import figure
from vicinal.lab.rows import Pick, Row, Scalar, exponent, matching


class Verdict(StrEnum):
    """The result of a comparison."""

    REPRODUCED = "reproduced"
    DIFFERS = "differs"
    REACHED = "reached"
    MISSED = "missed"
    SHOWN = "shown"
    MISSING = "not measured"

    @property
    def kind(self) -> Literal["good", "bad", "calm"]:
        """The class by which it is counted and coloured."""
        if self in {Verdict.REPRODUCED, Verdict.REACHED}:
            return "good"
        return "bad" if self in {Verdict.DIFFERS, Verdict.MISSED} else "calm"


@dataclass(frozen=True)
class Finding:
    """One line of the table: published, measured here, verdict, and reason."""

    label: str
    published: str
    measured: str
    verdict: Verdict
    why: str = ""


class Claim(Protocol):
    """A statement of a paper that rows can confirm or refute."""

    @property
    def label(self) -> str:
        """The subject, in a few words."""

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Compare the claim with the rows."""


def _missing(label: str, published: str) -> Finding:
    return Finding(label, published, "–", Verdict.MISSING, "not part of this run")


def _no_seconds(pick: Pick) -> None:
    if "seconds" in pick.column:
        raise ValueError(f"{pick.column}: seconds of other machines are not judged; use Ratio, Order or Shown")


def _exactly(value: float) -> str:
    return f"{value:,.0f}" if value == int(value) else repr(value)


def _because(*reasons: str) -> str:
    return "; ".join(reason for reason in reasons if reason)


@dataclass(frozen=True, kw_only=True)
class Value:
    """A count or a share, the same on every machine up to a relative tolerance.

    Parameters
    ----------
    label
        What it is.
    pick
        The figure measured.
    published
        The figure published.
    tolerance
        Largest relative difference that counts as reproduced.
    why
        What is known of the difference, should there be one.

    Examples
    --------
    >>> claim = Value(label="candidates", pick=Pick("candidates"), published=100, tolerance=0.05)
    >>> claim.judge([{"candidates": 103}]).verdict, claim.judge([{"candidates": 200}]).verdict
    (<Verdict.REPRODUCED: 'reproduced'>, <Verdict.DIFFERS: 'differs'>)
    """

    label: str
    pick: Pick
    published: float
    tolerance: float
    why: str = ""

    def __post_init__(self) -> None:
        """Refuse seconds."""
        _no_seconds(self.pick)

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Compare with the tolerance."""
        measured = self.pick.of(rows)
        write = figure if self.tolerance else _exactly
        if measured is None:
            return _missing(self.label, write(self.published))
        within = f"within {self.tolerance:.0%}" if self.tolerance else "the same number"
        if abs(measured - self.published) <= self.tolerance * abs(self.published):
            verdict, why = Verdict.REPRODUCED, within
        else:
            # Enough digits to distinguish the two.
            times = f"{measured / self.published:.3g} times the published" if self.published else "published: 0"
            verdict, why = Verdict.DIFFERS, _because(times, f"required: {within}", self.why)
        return Finding(self.label, write(self.published), write(measured), verdict, why)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """The ratio of two figures; the units cancel, so seconds may be compared.

    Parameters
    ----------
    label
        What it is.
    over, under
        The figures: the ratio is over / under.
    published
        As the paper says it: a number, or words such as "up to 5".
    least, most
        Bounds of what counts as reproduced.
    why
        What is known of the difference, should there be one.

    Examples
    --------
    >>> claim = Ratio(label="gain", over=Pick("slow"), under=Pick("fast"), published=5, least=3, most=8)
    >>> claim.judge([{"slow": 20.0, "fast": 4.0}]).measured, claim.judge([{"slow": 8.0, "fast": 4.0}]).verdict
    ('5 ×', <Verdict.DIFFERS: 'differs'>)
    """

    label: str
    over: Pick
    under: Pick
    published: float | str
    least: float = 0.0
    most: float = float("inf")
    why: str = ""

    @property
    def _published(self) -> str:
        return self.published if isinstance(self.published, str) else f"{figure(self.published)} ×"

    @property
    def _required(self) -> str:
        if self.most == float("inf"):
            return f"at least {figure(self.least)}"
        return f"from {figure(self.least)} to {figure(self.most)}" if self.least > 0 else f"at most {figure(self.most)}"

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Compare with the bounds."""
        over, under = self.over.of(rows), self.under.of(rows)
        if over is None or under is None or under == 0:
            return _missing(self.label, self._published)
        ratio = over / under
        held = self.least <= ratio <= self.most
        why = f"required: {self._required}"
        verdict = Verdict.REPRODUCED if held else Verdict.DIFFERS
        measured = f"{figure(ratio)} ×"
        return Finding(self.label, self._published, measured, verdict, why if held else _because(why, self.why))


@dataclass(frozen=True, kw_only=True)
class Order:
    """One figure is smaller than another: "hash grids are faster than linked cells".

    Parameters
    ----------
    label
        What it is.
    less, more
        The figure that the paper reports as the smaller one, and the other.
    published
        As the paper says it.
    why
        What is known of the difference, should there be one.

    Examples
    --------
    >>> claim = Order(label="faster", less=Pick("a"), more=Pick("b"))
    >>> claim.judge([{"a": 1.0, "b": 2.0}]).verdict, claim.judge([{"a": 3.0, "b": 2.0}]).verdict
    (<Verdict.REPRODUCED: 'reproduced'>, <Verdict.DIFFERS: 'differs'>)
    """

    label: str
    less: Pick
    more: Pick
    published: str = "yes"
    why: str = ""

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Compare the two."""
        less, more = self.less.of(rows), self.more.of(rows)
        if less is None or more is None or less <= 0:
            return _missing(self.label, self.published)
        held = less < more
        measured = f"{'yes' if held else 'no'}, {figure(more / less)} ×"
        verdict = Verdict.REPRODUCED if held else Verdict.DIFFERS
        return Finding(self.label, self.published, measured, verdict, "" if held else self.why)


@dataclass(frozen=True, kw_only=True)
class Exponent:
    """The growth of a column with another: the slope of the logarithms.

    Parameters
    ----------
    label
        What it is.
    x, y
        Columns.
    where
        Which rows.
    start
        Rows with a smaller x are left out, because there the cost of a call dominates.
    published
        Exponent published.
    tolerance
        Largest difference that counts as reproduced.
    why
        What is known of the difference, should there be one.

    Examples
    --------
    >>> claim = Exponent(label="growth", x="n", y="seconds", published=1, tolerance=0.1)
    >>> claim.judge([{"n": n, "seconds": n**1.5} for n in (1, 10, 100)]).why
    'required: 1 ± 0.1'
    """

    FEWEST: ClassVar[int] = 3

    label: str
    x: str
    y: str
    where: Mapping[str, Scalar] = field(default_factory=dict)
    start: float = 0.0
    published: float
    tolerance: float
    why: str = ""

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Fit, and compare with the tolerance. Fewer than three sizes give no exponent."""
        known = [row for row in matching(rows, self.where) if self.x in row and self.y in row]
        chosen = [row for row in known if float(row[self.x]) >= self.start]
        shown = figure(self.published)
        x, y = [float(row[self.x]) for row in chosen], [float(row[self.y]) for row in chosen]
        if len(set(x)) < self.FEWEST or min(*x, *y) <= 0:
            return _missing(self.label, shown)
        measured = exponent(x, y)
        held = abs(measured - self.published) <= self.tolerance
        why = f"required: {figure(self.published)} ± {figure(self.tolerance)}"
        verdict = Verdict.REPRODUCED if held else Verdict.DIFFERS
        return Finding(self.label, shown, f"{measured:.3f}", verdict, why if held else _because(why, self.why))


@dataclass(frozen=True, kw_only=True)
class Shown:
    """A figure of the authors' machine next to ours, for information. There is no verdict.

    Examples
    --------
    >>> Shown(label="time", pick=Pick("seconds"), published=4.42, unit="s").judge([{"seconds": 0.5}]).verdict
    <Verdict.SHOWN: 'shown'>
    """

    label: str
    pick: Pick
    published: float | str
    unit: str = "s"
    why: str = "another machine"

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Return both figures."""
        published = self.published if isinstance(self.published, str) else f"{figure(self.published)} {self.unit}"
        measured = self.pick.of(rows)
        if measured is None:
            return _missing(self.label, published)
        return Finding(self.label, published, f"{figure(measured)} {self.unit}", Verdict.SHOWN, self.why)


@dataclass(frozen=True, kw_only=True)
class Goal:
    """A goal that no paper states as one figure: bounds that the measured one must keep.

    Examples
    --------
    >>> Goal(label="regret", pick=Pick("regret"), most=1.5).judge([{"regret": 2.0}]).verdict
    <Verdict.MISSED: 'missed'>
    """

    label: str
    pick: Pick
    least: float = 0.0
    most: float = float("inf")
    why: str = ""

    def judge(self, rows: Sequence[Row]) -> Finding:
        """Compare with the bounds."""
        required = f"at most {figure(self.most)}" if self.least == 0 else f"at least {figure(self.least)}"
        if 0 < self.least <= self.most < float("inf"):
            required = f"from {figure(self.least)} to {figure(self.most)}"
        measured = self.pick.of(rows)
        if measured is None:
            return _missing(self.label, f"goal: {required}")
        held = self.least <= measured <= self.most
        verdict = Verdict.REACHED if held else Verdict.MISSED
        return Finding(self.label, f"goal: {required}", figure(measured), verdict, "" if held else self.why)
