"""Times of single searches with every variant that can be chosen: build included, interleaved, CPU time, one thread.

They are kept in a file with one line for each scene, so that a measurement can be interrupted and continued. Counts
are not kept: the scenes are seeded, and the estimates of their counts may improve.
"""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import vicinal as vc
from scenes import Scene
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


def settings_of(scene: Scene) -> Settings:
    """Return the bodies of a scene, checked."""
    bodies = scene.make()
    return check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})


def ways_of(settings: Settings) -> list[Shot]:
    """Return every way that can be chosen, with its counts."""
    return [Shot(structure, parameters, counts) for structure, parameters, counts, _ in survey(settings).estimates()]


def run(settings: Settings, shots: list[Shot], *, repeats: int, budget: float, least: float = 4e-3) -> list[Shot]:
    """Time every way in turn, again and again, until the budget (seconds) or the repeats are used up; at least twice,
    because the first contestant uses memory that has not been touched yet.

    Short searches are repeated more: until they have run for `least` seconds per round in total.
    """
    # Variants with the fewest tests come first, so that variants that are far too slow are recognised.
    shots = sorted(shots, key=lambda shot: shot.counts["test"])
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
    return [shot for shot in shots if shot.seconds]


@dataclass
class Timed:
    """A scene and the least seconds of every way that was tried."""

    scene: Scene
    ways: list[tuple[str, dict[str, Any], float]]

    def seconds(self, shot: Shot, tolerance: float = 0.0) -> float:
        """Return the time of a way whose parameters are equal within a tolerance; infinite if it was not tried."""
        times = [
            spent
            for structure, parameters, spent in self.ways
            if structure == shot.structure
            and parameters.keys() == shot.parameters.keys()
            and all(abs(math.log(parameters[k] / value)) <= tolerance for k, value in shot.parameters.items())
        ]
        return min(times, default=math.inf)

    @property
    def fastest(self) -> float:
        """Least seconds of all ways."""
        return min(spent for _, _, spent in self.ways)


def read(file: Path) -> list[Timed]:
    """Return the scenes of a file."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    return [Timed(Scene(**row["scene"]), [(a, b, c) for a, b, c in row["ways"]]) for row in rows]


def write(file: Path, rows: list[Timed]) -> None:
    """Write all rows to a file, which is replaced."""
    file.parent.mkdir(exist_ok=True)
    lines = [json.dumps({"scene": asdict(row.scene), "ways": row.ways}) + "\n" for row in rows]
    file.write_text("".join(lines), encoding="utf-8")


def measure(plan: Iterator[Scene], repeats: int, budget: float, file: Path, seconds: float) -> bool:
    """Time the ways on all scenes of a plan that are not in the file yet, and append them to it.

    After so many seconds it returns False: there are more scenes.
    """
    file.parent.mkdir(exist_ok=True)
    done = {row.scene for row in read(file)}
    start = time.perf_counter()
    for k, scene in enumerate(plan):
        if scene in done:
            continue
        if time.perf_counter() - start > seconds:
            print(f"{k} scenes are measured; call again to go on")
            return False
        settings = settings_of(scene)
        shots = run(settings, ways_of(settings), repeats=repeats, budget=budget)
        row = {"scene": asdict(scene), "ways": [[s.structure, s.parameters, s.best] for s in shots]}
        with file.open("a", encoding="utf-8") as out:
            out.write(json.dumps(row) + "\n")
        print(f"{time.perf_counter() - start:5.0f} s  {scene.label}", flush=True)
    return True
