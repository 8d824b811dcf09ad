"""Measure what the counts of `vicinal.costs` cost on this machine, and write src/vicinal/costs.json.

Every way to search is timed on seeded scenes, one thread, CPU time, best of several. The seconds of each count are
those that fit the times best: not negative, and with the least relative error. The scenes are others than those on
which `choice.py` judges the chooser.

    python benchmarks/calibrate.py             # an hour
    python benchmarks/calibrate.py --quick     # some minutes
    python benchmarks/calibrate.py --refit     # from the times of the last run
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import defaultdict
from operator import mul
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import vicinal as vc
from scenes import Scene, scenes
from shots import Shot, once, run
from vicinal.choose import choose_checked
from vicinal.costs import COUNTS, FILE, UPDATES, Outlook, forget, share_of_many
from vicinal.index import check_settings
from vicinal.machine import cpu

SEED = 7
QUICK = {800: 160, 3_000: 160, 20_000: 160, 150_000: 60, 1_000_000: 8}
FULL = {800: 320, 3_000: 320, 20_000: 320, 150_000: 240, 1_000_000: 60}
ROUNDS = 6
GOAL, LIMIT = 1.25, 2.0  # of the time of a choice over that of the fastest way


def measure(plan: dict[int, int], repeats: int) -> list[dict[str, Any]]:
    """Time the ways on all scenes of the plan; one row for each scene and way."""
    rows = []
    start = time.perf_counter()
    for size, count in plan.items():
        for k, scene in enumerate(scenes(SEED + size, count, (size,))):
            setting, shots = run(scene.make(), repeats=repeats, budget=2.0)
            rows += [
                {
                    "scene": f"{scene.label} {scene.seed}",
                    "kind": setting.bodies.kind,
                    "bodies": len(setting.bodies),
                    "structure": shot.structure,
                    "parameters": shot.parameters,
                    "counts": shot.counts,
                    "seconds": shot.best,
                }
                for shot in shots
            ]
            if k % 10 == 9:
                print(f"{time.perf_counter() - start:5.0f} s  {size:8} bodies {k + 1:4}/{count} scenes", flush=True)
    return rows


def counts_of(row: dict[str, Any]) -> list[float]:
    """Return the counts of a row twice: as far as the seconds for few bodies apply, and as far as those for many do."""
    share = share_of_many(row["bodies"])
    return [(1 - share) * count for count in row["counts"]] + [share * count for count in row["counts"]]


def fit(rows: list[dict[str, Any]], factors: dict[str, float], least: dict[str, float]) -> tuple[list[float], float]:
    """Return the seconds of each count of one structure for one kind of bodies, few and many, and what error is left.

    Times are divided by the factors of their scenes first. Those that are far above the least time of their scene
    count for less: what is not going to be chosen need not be known well.
    """
    counts = np.array([counts_of(row) for row in rows])
    seconds = np.array([row["seconds"] / factors[row["scene"]] for row in rows])
    nearness = np.array([least[row["scene"]] / row["seconds"] for row in rows]) ** 0.25
    # Relative errors of a sum that is too small count for less than those of one too large: weigh both the same by
    # dividing by the mean of what was measured and what was predicted before.
    predicted = seconds
    for _ in range(20):
        weight = nearness / np.sqrt(seconds * predicted)
        scale = (counts * weight[:, None]).max(axis=0)
        scale[scale == 0] = 1
        each, _ = nnls(counts * weight[:, None] / scale, seconds * weight)
        each /= scale
        predicted = counts @ each
    error = float(np.sqrt(np.mean(np.log(predicted / seconds) ** 2)))
    return each.tolist(), error


def fit_all(rows: list[dict[str, Any]]) -> dict[tuple[str, str], list[float]]:
    """Return the seconds of everything, by structure and kind of bodies.

    A choice depends on ratios within a scene. What all structures have in common there, such as a neighbour who took
    the caches or an estimate of the pairs that is off for everybody, would only blur the constants. So each scene has
    a factor: how much longer all take than predicted. It is found in turns with the constants.
    """
    groups: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["structure"], row["kind"]].append(row)
    factors = {row["scene"]: 1.0 for row in rows}
    least = {scene: min(row["seconds"] for row in rows if row["scene"] == scene) for scene in factors}
    for turn in range(ROUNDS):
        found = {key: fit(group, factors, least) for key, group in groups.items()}
        off: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            each = found[row["structure"], row["kind"]][0]
            off[row["scene"]].append(math.log(row["seconds"] / sum(map(mul, each, counts_of(row)))))
        factors = {scene: math.exp(float(np.clip(np.median(logs), -1, 1))) for scene, logs in off.items()}
        common = math.exp(float(np.mean([math.log(factor) for factor in factors.values()])))
        factors = {scene: factor / common for scene, factor in factors.items()}
        if turn in (0, ROUNDS - 1):
            for (name, kind), (_, error) in sorted(found.items()):
                print(f"{name:14} {kind:8} {len(groups[name, kind]):4} times, error ×{math.exp(error):.2f}")
    return {key: each for key, (each, _) in found.items()}


def tune(rows: list[dict[str, Any]], found: dict[tuple[str, str], list[float]]) -> dict[tuple[str, str], float]:
    """Return by what to scale the seconds of each structure and kind for the best choices among the ways of a scene.

    A sum that fits best on the whole need not be right where two structures are close to each other, which is where a
    choice is made. One factor at a time, from 0.8 to 1.6, as long as that helps.
    """
    scenes: dict[str, list[tuple[tuple[str, str], float, float]]] = defaultdict(list)
    for row in rows:
        key = row["structure"], row["kind"]
        cost = sum(map(mul, found[key], counts_of(row)))
        scenes[row["scene"]].append((key, cost, row["seconds"]))
    factors = {key: 1.0 for ways in scenes.values() for key, _, _ in ways}

    def loss() -> float:
        total = 0.0
        for ways in scenes.values():
            chosen = min(ways, key=lambda way: way[1] * factors[way[0]])[2]
            regret = chosen / min(seconds for _, _, seconds in ways)
            total += math.log(regret) + 0.3 * (regret > GOAL) + (regret > LIMIT)
        return total / len(scenes)

    before = loss()
    for _ in range(3):
        for key in factors:
            tried = {}
            for factor in (1.0, 0.8, 0.85, 0.9, 0.95, 1.05, 1.1, 1.15, 1.2, 1.3, 1.4, 1.6):
                factors[key] = factor
                tried[factor] = loss() + 0.01 * abs(math.log(factor))
            factors[key] = min(tried, key=lambda factor: tried[factor])
    print(
        f"loss {before:.3f} before, {loss():.3f} after: " + ", ".join(f"{k} {v}" for k, v in factors.items() if v != 1)
    )
    return factors


def table(
    found: dict[tuple[str, str], list[float]], factors: dict[tuple[str, str], float]
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return the seconds as costs.json has them: structure, kind, few or many, count."""
    structures: dict[str, dict[str, dict[str, dict[str, float]]]] = {name: {} for name in COUNTS}
    for (name, kind), each in found.items():
        scaled = [float(f"{factors[name, kind] * seconds:.4g}") for seconds in each]
        half = len(scaled) // 2
        structures[name][kind] = {
            "few": dict(zip(COUNTS[name], scaled[:half], strict=True)),
            "many": dict(zip(COUNTS[name], scaled[half:], strict=True)),
        }
    return structures


def few_bodies() -> tuple[int, float]:
    """Return up to how many bodies of any kind nothing beats testing all pairs, and the seconds to choose then."""
    few, choosing = 64, 0.0
    for n in (64, 96, 128, 192, 256, 384, 512, 768):
        for sizes in ("points", "equal", "boxes"):
            bodies = Scene(bodies=n, sizes=sizes, pairs=1.0).make()
            setting = check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})
            times: dict[str, list[float]] = defaultdict(list)
            for _ in range(100):
                for name in ("Exhaustive", "LinkedCells", "HashGrid"):
                    times[name].append(once(setting, Shot(name, {}, [])))
                start = time.process_time()
                for _ in range(5):
                    choose_checked(setting, limit=0)
                times["choosing"].append((time.process_time() - start) / 5)
            best = {name: min(seconds) for name, seconds in times.items()}
            if best["Exhaustive"] > min(best["LinkedCells"], best["HashGrid"]) + best["choosing"]:
                return few, choosing
        few, choosing = n, best["choosing"]
    return few, choosing


def updates() -> dict[str, dict[str, float]]:
    """Return what it takes to update a body that stays in its cell, and what more if it leaves."""
    bodies = Scene(bodies=100_000, sizes="equal", pairs=3.0).make()
    where, radii = bodies["points"], bodies["radii"]
    outlook = Outlook(check_settings(where, radii=radii))
    rng = np.random.default_rng(SEED)
    step = rng.standard_normal(where.shape)
    step *= 2 * radii[0] / np.linalg.norm(step, axis=1, keepdims=True)
    found = {}
    for name in UPDATES:
        index = getattr(vc, name)(where, radii=radii)
        shares, times = [], []
        for motion in (0.0, 0.01, 0.03, 0.1, 0.3):
            spent = []
            for turn in range(6):
                there = where + (turn % 2) * motion * step
                start = time.process_time()
                index.update(there)
                if "test" in UPDATES[name]:  # it finds pairs while it updates
                    index.pairs()
                spent.append(time.process_time() - start)
            shares.append(outlook.moved(motion))
            times.append(min(spent) / len(where))
        each, _ = nnls(np.column_stack([np.ones(len(shares)), shares]) / np.array(times)[:, None], np.ones(len(times)))
        found[name] = {"stay": float(f"{each[0]:.4g}"), "move": float(f"{each[1]:.4g}")}
    return found


def main() -> int:
    """Measure, fit and write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    parser.add_argument("--refit", action="store_true", help="fit the times of the last run anew")
    parser.add_argument("--times", type=Path, default=Path(__file__).with_name("results") / "calibrate.json")
    options = parser.parse_args()
    vc.set_threads(1)
    if not options.refit:
        rows = measure(QUICK if options.quick else FULL, 3 if options.quick else 8)
        options.times.parent.mkdir(exist_ok=True)
        options.times.write_text(json.dumps(rows), encoding="utf-8")
    rows = json.loads(options.times.read_text(encoding="utf-8"))
    found = fit_all(rows)
    kept = {
        "machine": f"{cpu()}, {vc.info()['isa']}, one thread",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "written_by": "benchmarks/calibrate.py" + (" --quick" if options.quick else ""),
        "few": 128,
        "choosing": 0.0,
        "updates": updates(),
        "structures": table(found, tune(rows, found)),
    }
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    forget()
    kept["few"], kept["choosing"] = few_bodies()
    FILE.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
