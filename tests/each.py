"""Many cases in one test: all of them run, and the failure names those that failed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

SHOWN = 3  # tracebacks per test; further failures are named only


def check_each(cases: Iterable[Any], check: Callable[[Any], None], at_least: int = 1) -> None:
    """Call `check(case)` for every case, then raise if any of them failed or if there were fewer than `at_least`."""
    failures: dict[str, Exception] = {}
    count = 0
    for case in cases:
        count += 1
        try:
            check(case)
        except Exception as error:  # noqa: BLE001  # reported below, with the name of the case
            error.add_note(f"case: {case}")
            failures[str(case)] = error
    if failures:
        names = ", ".join(failures)
        raise ExceptionGroup(f"{len(failures)} of {count} cases failed: {names}", list(failures.values())[:SHOWN])
    assert count >= at_least, f"only {count} cases ran, expected at least {at_least}"
