"""Runs case by case: memory in a child process, the check of results, then interleaved repeats."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

from contestants import Call, Contestant
from measure import interleave, once
from memory import Footprint, run_child
from verify import Reference, Verdict, pair_keys, referee
from workloads import Case, Cloud, make_cloud


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Options of the measurement; they do not change the cases."""

    repeats: int
    threads: int
    time_limit: float
    """CPU seconds (times threads) one call may take, in the child."""
    budget: float
    """Seconds after which a contestant is left out of the remaining repeats."""
    memory: bool
    check: bool


@dataclass(kw_only=True)
class Row:
    """One contestant in one case."""

    contestant: str
    reason: str | None = None
    """The reason why there is no result."""
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    peak_bytes: int | None = None
    result_bytes: int | None = None
    verdict: Verdict | None = None
    against_vicinal: Verdict | None = None

    def per_entry(self, entries: int, clock: str = "cpu") -> float | None:
        """Best nanoseconds per entry of the result."""
        seconds = self.cpu if clock == "cpu" else self.wall
        return min(seconds) * 1e9 / max(entries, 1) if seconds else None


@dataclass(kw_only=True)
class CaseResult:
    """All contestants in one case."""

    case: Case
    cutoff: float
    pairs: int
    rows: list[Row]

    @property
    def entries(self) -> int:
        """The number of entries that times are divided by: pairs, or the entries of all rows (twice as many)."""
        return self.pairs if self.case.task in {"pairs", "vectors"} else 2 * self.pairs

    def ratio(self, row: Row, clock: str = "cpu") -> float | None:
        """Time relative to the first contestant."""
        own, first = row.per_entry(self.entries, clock), self.rows[0].per_entry(self.entries, clock)
        return own / first if own is not None and first else None

    def as_dict(self) -> dict[str, Any]:
        """Return plain data for JSON, including derived figures."""
        rows = []
        for row in self.rows:
            derived = {
                f"{clock}_{name}": value
                for clock in ("cpu", "wall")
                for name, value in (
                    ("ns_per_entry", row.per_entry(self.entries, clock)),
                    ("ratio", self.ratio(row, clock)),
                )
            }
            rows.append(asdict(row) | derived)
        return {
            "case": asdict(self.case),
            "cutoff": self.cutoff,
            "pairs": self.pairs,
            "mean_neighbours": 2 * self.pairs / self.case.bodies,
            "rows": rows,
        }


class Runner:
    """Runs cases and skips contestants at larger sizes once they were too slow or too large."""

    def __init__(self, contestants: list[Contestant], settings: Settings, show: Callable[[str], None]) -> None:
        self.contestants, self.settings, self.show = contestants, settings, show
        self.label = ""
        self._seen: dict[tuple[str, tuple[str, ...]], tuple[int, Footprint]] = {}
        self._pace: dict[str, float] = {}  # slowest seconds per body of a contestant, over all series

    def say(self, text: str) -> None:
        """Show the current action in the progress bar."""
        self.show(f"{self.label}: {text}")

    def run(self, case: Case) -> CaseResult:
        """Measure one case."""
        self.label = case.label
        self.say("building the cloud")
        cloud = make_cloud(case)
        rows = {c.name: Row(contestant=c.name, reason=c.refuses(case)) for c in self.contestants}
        for contestant in self.contestants:
            row = rows[contestant.name]
            if row.reason is None and self.settings.memory:
                self._weigh(contestant, case, cloud, row)
        field_: list[tuple[Contestant, Call]] = [
            (contestant, contestant.prepare(cloud, case.task, self.settings.threads))
            for contestant in self.contestants
            if rows[contestant.name].reason is None
        ]
        pairs = self._check(case, cloud, field_, rows)
        times = interleave(field_, repeats=self.settings.repeats, budget=self.settings.budget, progress=self.say)
        for name, own in times.items():
            rows[name].cpu, rows[name].wall = own.cpu, own.wall
        return CaseResult(case=case, cutoff=cloud.cutoff, pairs=pairs, rows=list(rows.values()))

    def _weigh(self, contestant: Contestant, case: Case, cloud: Cloud, row: Row) -> None:
        """Measure peak memory in a child process, which also shows whether the contestant can run the case."""
        key = (contestant.name, case.series)
        bodies, last = self._seen.get(key, (0, Footprint()))
        if last.failure is not None and bodies <= case.bodies:
            row.reason = f"{last.failure} at {bodies:.0e}"
            return
        # The same series predicts well; other series only exclude contestants that are far too slow.
        expected = (
            last.seconds * case.bodies / bodies if last.seconds else self._pace.get(contestant.name, 0.0) * case.bodies
        )
        if expected > self.settings.time_limit * (1 if last.seconds else 3):
            row.reason = f"too slow: about {expected:.0f} s expected"
            return
        self.say(f"memory of {contestant.name}")
        seen = run_child(contestant.name, cloud, case.task, self.settings.threads, self.settings.time_limit)
        self._seen[key] = (case.bodies, seen)
        if seen.seconds is not None:
            self._pace[contestant.name] = max(seen.seconds / case.bodies, self._pace.get(contestant.name, 0.0))
        row.peak_bytes, row.result_bytes, row.reason = seen.peak_bytes, seen.result_bytes, seen.failure

    def _check(self, case: Case, cloud: Cloud, field_: list[tuple[Contestant, Call]], rows: dict[str, Row]) -> int:
        """Run every contestant once as a warm-up, compare the results, and return the number of pairs."""
        reference, ours = None, None
        if self.settings.check:
            self.say("referee")
            reference = ours = referee(cloud)
        pairs = len(reference) if reference is not None else 0
        for position, (contestant, call) in enumerate(field_):
            self.say(f"check of {contestant.name}")
            result = once(contestant, call)
            if reference is None:
                pairs = pairs or _pairs_in(contestant, case, result)
                continue
            row = rows[contestant.name]
            row.verdict = _judge(reference, contestant, case, result)
            first = position == 0 and contestant.distribution == "vicinal"
            if first and not row.verdict.correct and case.task != "count":
                # If vicinal itself is wrong, the others are compared with both.
                ours = Reference(pair_keys(contestant.listing(result, case.task), case.bodies, "upper"), case.bodies)
            row.against_vicinal = row.verdict if ours is reference else _judge(ours, contestant, case, result)
            del result
        return pairs


def _judge(reference: Reference | None, contestant: Contestant, case: Case, result: Any) -> Verdict:
    assert reference is not None
    if case.task == "count":
        return reference.judge_counts(contestant.counts(result))
    return reference.judge(contestant.listing(result, case.task))


def _pairs_in(contestant: Contestant, case: Case, result: Any) -> int:
    """Count the pairs of a result that is not checked."""
    if case.task == "count":
        return int(contestant.counts(result).sum(dtype="int64")) // 2
    listing = contestant.listing(result, case.task)
    return len(listing.i) // (2 if listing.full else 1)
