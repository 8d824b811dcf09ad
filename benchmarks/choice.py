"""Measure how good `vicinal.choose` is: time every structure on seeded scenes and compare the choice with the best.

Single searches, building included; one thread, CPU time, interleaved, best of several. Structures that would take
more than twenty times as long as the best are not tried. The regret of a scene is the time of the choice (without the
time to choose, which is shown as a share) over that of the fastest structure tried.

    python benchmarks/choice.py                        # an hour
    python benchmarks/choice.py --quick                # some minutes
    python benchmarks/choice.py --quick --seconds 60   # measure for a minute; the next call continues
    python benchmarks/choice.py --quick --rejudge      # choose again with the times of the last run
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import vicinal as vc
from scenes import Scene, scenes
from shots import Shot, Timed, measure, read, run, settings_of, ways_of, write
from vicinal.choose import choose_checked
from vicinal.machine import cpu

SEED = 11
QUICK = {1_000: 30, 10_000: 50, 100_000: 40, 1_000_000: 6}
FULL = {1_000: 120, 10_000: 150, 100_000: 150, 1_000_000: 60}
GOAL, LIMIT = 1.25, 2.0


@dataclass(frozen=True)
class Judged:
    """A scene, the choice, the seconds to choose, and the ratio of the time of the choice to that of the fastest."""

    row: Timed
    chosen: Shot
    choosing: float
    regret: float


def plan(counts: dict[int, int], seed: int) -> Iterator[Scene]:
    """Yield the scenes of all sizes."""
    for size, count in counts.items():
        yield from scenes(seed + size, count, (size,))


def judge(row: Timed, repeats: int) -> Judged:
    """Choose for a scene. If the choice was not timed, time it beside the fastest way."""
    settings = settings_of(row.scene)
    choosing = math.inf
    for _ in range(5):
        begin = time.process_time()
        choice = choose_checked(settings)
        choosing = min(choosing, time.process_time() - begin)
    ways = ways_of(settings)
    chosen = next(w for w in ways if (w.structure, w.parameters) == (choice.structure, dict(choice.parameters)))
    if not math.isfinite(row.seconds(chosen)):
        name, parameters, least = min(row.ways, key=lambda way: way[2])
        beside = Shot(name, parameters, chosen.counts)
        run(settings, [beside, chosen], repeats=repeats, budget=4.0)
        row.ways.append((chosen.structure, chosen.parameters, least * chosen.best / beside.best))
    return Judged(row, chosen, choosing, row.seconds(chosen) / row.fastest)


def describe(one: Judged) -> str:
    """Return one line: the scene, the choice, its regret, and the best time of each structure."""
    best: dict[str, float] = {}
    for name, _, spent in one.row.ways:
        best[name] = min(best.get(name, math.inf), spent)
    fastest = min(best.values())
    others = "  ".join(
        f"{name} {spent / fastest:.2f}" for name, spent in sorted(best.items(), key=lambda item: item[1])
    )
    chosen = one.chosen.structure + "".join(f" {key}={value:.3g}" for key, value in one.chosen.parameters.items())
    mark = "!!" if one.regret > LIMIT else "! " if one.regret > GOAL else "  "
    times = f"{fastest * 1e3:8.2f} ms, +{one.choosing / fastest:.1%}"
    return f"{mark}{one.regret:5.2f} {one.row.scene.label:62} {chosen:26} {times}  {others}"


def report(judged: list[Judged]) -> None:
    """Print how often the choice was good."""
    sizes = [10 ** round(math.log10(one.row.scene.bodies)) for one in judged]
    for size in [*sorted(set(sizes)), None]:
        those = [one for one, bodies in zip(judged, sizes, strict=True) if size is None or bodies == size]
        regrets = np.array([one.regret for one in those])
        shares = [one.choosing / one.row.fastest for one in those]
        label = "all" if size is None else f"{size:.0e}"
        print(
            f"{label:6} {len(those):4} scenes, within {GOAL}×: {np.mean(regrets <= GOAL):6.1%}, "
            f"worst {regrets.max():.2f}×, mean {np.exp(np.log(regrets).mean()):.3f}×; "
            f"choosing takes {np.median(shares):.1%} of the fastest search (worst {max(shares):.1%})"
        )
    fastest = [min(one.row.ways, key=lambda way: way[2])[0] for one in judged]
    chosen = [one.chosen.structure for one in judged]
    for label, names in (("fastest:", fastest), ("chosen: ", chosen)):
        print(label, ", ".join(f"{name} {names.count(name)}" for name in sorted({*fastest, *chosen})))


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    parser.add_argument("--seed", type=int, default=SEED, help="other scenes of the same kinds")
    parser.add_argument("--seconds", type=float, help="measure for so long, beginning where the last call ended")
    parser.add_argument("--rejudge", action="store_true", help="choose again for the scenes of the last run")
    parser.add_argument("--times", type=Path, help="where the times are kept")
    options = parser.parse_args()
    vc.set_threads(1)
    isa = vc.info()["isa"]
    times = options.times or Path(__file__).with_name("results") / f"choice-{isa}-{options.seed}.jsonl"
    repeats = 4 if options.quick else 10
    if not options.rejudge:
        if options.seconds is None:
            times.unlink(missing_ok=True)
        wanted = plan(QUICK if options.quick else FULL, options.seed)
        if not measure(wanted, repeats, 4.0, times, options.seconds or math.inf):
            return 0
    rows = read(times)
    judged = []
    for row in rows:
        judged.append(judge(row, repeats))
        if judged[-1].regret > GOAL:
            print(describe(judged[-1]), flush=True)
    write(times, rows)
    print(f"{cpu()}, {isa}, seed {options.seed}")
    report(judged)
    return 0


if __name__ == "__main__":
    sys.exit(main())
