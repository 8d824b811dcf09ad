"""Measure how good `vicinal.choose` is: time every structure on seeded scenes and compare the choice with the best.

Single searches, building included; one thread, CPU time, interleaved, best of several. Structures that would take
more than twenty times as long as the best are not tried. The regret of a scene is the time of the choice (without the
time to choose, which is shown as a share) over that of the fastest structure tried.

    python benchmarks/choice.py               # an hour
    python benchmarks/choice.py --quick       # some minutes
    python benchmarks/choice.py --rejudge     # choose again with the times of the last run
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import vicinal as vc
from scenes import scenes
from shots import run
from vicinal.choose import choose_checked
from vicinal.costs import current_costs
from vicinal.machine import cpu

SEED = 11
QUICK = {1_000: 30, 10_000: 50, 100_000: 40, 1_000_000: 6}
FULL = {1_000: 120, 10_000: 150, 100_000: 150, 1_000_000: 60}
GOAL, LIMIT = 1.25, 2.0


def measure(plan: dict[int, int], repeats: int, seed: int) -> list[dict[str, Any]]:
    """Return a row for every scene: the times of all structures, the choice and its time."""
    rows = []
    start = time.perf_counter()
    for size, count in plan.items():
        for scene in scenes(seed + size, count, (size,)):
            setting, shots = run(scene.make(), repeats=repeats, budget=4.0)
            choosing = math.inf
            for _ in range(5):
                begin = time.process_time()
                choice = choose_checked(setting)
                choosing = min(choosing, time.process_time() - begin)
            row = {
                "scene": scene.label,
                "bodies": len(setting.bodies),
                "kind": setting.bodies.kind,
                "chosen": [choice.structure, dict(choice.parameters)],
                "choosing": choosing,
                "ways": [[s.structure, s.parameters, s.counts, s.best] for s in shots],
            }
            rows.append(row)
            print(f"{time.perf_counter() - start:5.0f} s  {describe(row)}", flush=True)
    return rows


def regret(row: dict[str, Any]) -> float:
    """Return the time of the choice over that of the fastest structure; infinite if the choice was not tried."""
    times = {(name, json.dumps(way)): best for name, way, _, best in row["ways"]}
    name, way = row["chosen"]
    return times.get((name, json.dumps(way)), math.inf) / min(times.values())


def describe(row: dict[str, Any]) -> str:
    """Return one line: the scene, the choice, its regret, and the best time of each structure."""
    best: dict[str, float] = {}
    for name, _, _, spent in row["ways"]:
        best[name] = min(best.get(name, math.inf), spent)
    fastest = min(best.values())
    others = "  ".join(
        f"{name} {spent / fastest:.2f}" for name, spent in sorted(best.items(), key=lambda item: item[1])
    )
    name, way = row["chosen"]
    chosen = name + "".join(f" {key}={value:.3g}" for key, value in way.items())
    r = regret(row)
    mark = "!!" if r > LIMIT else "! " if r > GOAL else "  "
    spent = f"{fastest * 1e3:8.2f} ms, +{row['choosing'] / fastest:.1%}"
    return f"{mark}{r:5.2f} {row['scene']:62} {chosen:26} {spent}  {others}"


def rejudge(row: dict[str, Any]) -> None:
    """Choose again from the counts of a row."""
    least = math.inf
    for name, way, counts, _ in row["ways"]:
        cost = current_costs().table.seconds(name, row["kind"], row["bodies"], counts)
        if cost is not None and cost < least:
            least, row["chosen"] = cost, [name, way]


def report(rows: list[dict[str, Any]]) -> None:
    """Print how often the choice was good."""
    sizes = sorted({10 ** round(math.log10(row["bodies"])) for row in rows})
    for size in [*sizes, None]:
        those = [row for row in rows if size is None or 10 ** round(math.log10(row["bodies"])) == size]
        regrets = np.array([regret(row) for row in those])
        shares = [row["choosing"] / min(way[3] for way in row["ways"]) for row in those]
        label = "all" if size is None else f"{size:.0e}"
        print(
            f"{label:6} {len(those):4} scenes, within {GOAL}×: {np.mean(regrets <= GOAL):6.1%}, "
            f"worst {regrets.max():.2f}×, mean {np.exp(np.log(regrets).mean()):.3f}×; "
            f"choosing takes {np.median(shares):.1%} of the fastest search (worst {max(shares):.1%})"
        )
    names = sorted({way[0] for row in rows for way in row["ways"]})
    fastest = [min(row["ways"], key=lambda way: way[3])[0] for row in rows]
    print("fastest:", ", ".join(f"{name} {fastest.count(name)}" for name in names))
    print("chosen: ", ", ".join(f"{name} {[row['chosen'][0] for row in rows].count(name)}" for name in names))


def main() -> int:
    """Measure and print; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    parser.add_argument("--seed", type=int, default=SEED, help="other scenes of the same kinds")
    parser.add_argument("--rejudge", action="store_true", help="choose again for the scenes of the last run")
    parser.add_argument("--out", type=Path, default=Path(__file__).with_name("results") / "choice.json")
    options = parser.parse_args()
    vc.set_threads(1)
    if options.rejudge:
        rows = json.loads(options.out.read_text(encoding="utf-8"))["scenes"]
        for row in rows:
            rejudge(row)
            if regret(row) > GOAL:
                print(describe(row))
    else:
        rows = measure(QUICK if options.quick else FULL, 4 if options.quick else 10, options.seed)
        machine = {"cpu": cpu(), "load": os.getloadavg(), "isa": vc.info()["isa"]}
        options.out.parent.mkdir(exist_ok=True)
        options.out.write_text(json.dumps({"machine": machine, "scenes": rows}), encoding="utf-8")
    report(rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
