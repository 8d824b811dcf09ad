"""Times of single searches with every variant that can be chosen: build included, interleaved, CPU time, one thread."""

from __future__ import annotations

import gc
import math
import time
from dataclasses import dataclass, field
from typing import Any

import vicinal as vc
from vicinal.costs import survey
from vicinal.settings import Settings, check_settings

# A test takes at least this long; a variant that would take HOPELESS times as long as another is not tried.
TEST_SECONDS = 1.2e-10
HOPELESS = 20.0
LEAST_SECONDS = 0.05


@dataclass
class Shot:
    """One way to search a scene: its counts, and the seconds of every repeat."""

    structure: str
    parameters: dict[str, Any]
    counts: dict[str, float]
    seconds: list[float] = field(default_factory=list)

    @property
    def best(self) -> float:
        """Least CPU seconds; infinite if it was not tried."""
        return min(self.seconds, default=math.inf)


def once(settings: Settings, shot: Shot) -> float:
    """Build, search, and return the CPU seconds of both."""
    gc.disable()
    try:
        start = time.process_time()
        result = getattr(vc, shot.structure)._once(settings, shot.parameters).pairs()  # noqa: SLF001
        return time.process_time() - start
    finally:
        del result
        gc.enable()


def run(bodies: dict[str, Any], *, repeats: int, budget: float, least: float = 4e-3) -> tuple[Settings, list[Shot]]:
    """Time every way in turn, again and again, until the budget (seconds) or the repeats are used up; at least twice,
    because the first contestant uses memory that has not been touched yet.

    Short searches are repeated more: until they have run for `least` seconds per round in total.
    """
    settings = check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})
    shots = [Shot(structure, parameters, counts) for structure, parameters, counts, _ in survey(settings).estimates()]
    # Variants with the fewest tests come first, so that variants that are far too slow are recognised.
    shots.sort(key=lambda shot: shot.counts["test"])
    start, fastest = time.process_time(), math.inf
    for turn in range(repeats):
        for shot in shots:
            limit = max(HOPELESS * fastest, LEAST_SECONDS)
            if shot.best > HOPELESS * fastest and shot.seconds:
                continue
            if not shot.seconds and (turn > 0 or TEST_SECONDS * shot.counts["test"] > limit):
                continue
            spent = 0.0
            while True:
                shot.seconds.append(once(settings, shot))
                spent += shot.seconds[-1]
                if spent >= least:
                    break
            fastest = min(fastest, shot.best)
        if turn > 0 and time.process_time() - start > budget:
            break
    return settings, [shot for shot in shots if shot.seconds]
