"""Measure the seconds of each count of `vicinal.costs`, and write the table of one instruction set to costs.json.

All variants of all structures are timed on seeded scenes, one thread, CPU time, best of several. The seconds are
those that fit the times best: not negative, with the least relative error. `choice.py` tests the chooser on other
scenes. The tables of the other instruction sets stay as they are.

    python benchmarks/calibrate.py                         # an hour
    python benchmarks/calibrate.py --quick                 # some minutes
    python benchmarks/calibrate.py --few                   # only the seconds for few bodies; those for many are kept
    python benchmarks/calibrate.py --refit                 # fit the times of the last run again
    python benchmarks/calibrate.py --seconds 60            # measure for a minute; the next call continues
    VICINAL_ISA=baseline python benchmarks/calibrate.py    # for an instruction set other than the best one here
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import vicinal as vc
from scenes import Scene, scenes
from shots import Shot, once, run
from vicinal import _core
from vicinal.choose import choose_checked
from vicinal.costs import FILE, ISAS, forget, read_tables, survey
from vicinal.machine import cpu
from vicinal.settings import check_settings

SEED = 7
QUICK = {800: 160, 3_000: 160, 20_000: 160, 150_000: 60, 1_000_000: 8}
FULL = {800: 320, 3_000: 320, 20_000: 320, 150_000: 240, 1_000_000: 60}
MOST_FEW = 3_000  # bodies of the scenes from which the seconds for few bodies are fitted
ROUNDS = 6
GOAL, LIMIT = 1.25, 2.0  # largest ratio of the time of a choice to that of the fastest way

# Lower bounds of seconds. A fit could attribute all the time of a structure to counts that happen to grow like its
# tests; without a lower bound for tests it would predict that dense cells cost nothing.
LEAST = {"test": 1e-10, "pair": 5e-10, "copy": 1e-10, "row": 1e-10, "look": 1e-9, "visit": 1e-9, "block": 5e-9}

Group = tuple[str, str]  # structure and kind of bodies
Seconds = dict[tuple[str, str], float]  # by "few" or "many", and count


def measure(plan: dict[int, int], repeats: int, times: Path, seconds: float) -> bool:
    """Time the ways on all scenes of the plan and keep a row for each scene and way in a file.

    Scenes whose times are in the file are left out. After so many seconds it returns False: there are more scenes.
    """
    times.parent.mkdir(exist_ok=True)
    rows = json.loads(times.read_text(encoding="utf-8")) if times.exists() else []
    done = {row["scene"] for row in rows}
    start = time.perf_counter()
    for size, count in plan.items():
        for k, scene in enumerate(scenes(SEED + size, count, (size,))):
            name = f"{scene.label} {scene.seed}"
            if name in done:
                continue
            if time.perf_counter() - start > seconds:
                times.write_text(json.dumps(rows), encoding="utf-8")
                print(f"{k} of {count} scenes of {size} bodies are measured; call again to go on")
                return False
            setting, shots = run(scene.make(), repeats=repeats, budget=2.0)
            rows += [
                {
                    "scene": name,
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
                times.write_text(json.dumps(rows), encoding="utf-8")
    times.write_text(json.dumps(rows), encoding="utf-8")
    return True


def shares_of(row: dict[str, Any]) -> Seconds:
    """Return the counts of a row, weighted for the seconds for few bodies and for those for many."""
    share = _core.share_of_many(row["bodies"])
    few = {("few", name): (1 - share) * count for name, count in row["counts"].items()}
    return few | {("many", name): share * count for name, count in row["counts"].items()}


def predicted_by(seconds: Seconds, row: dict[str, Any]) -> float:
    """Return the time of a row, predicted from the seconds of its counts."""
    return sum(seconds[key] * count for key, count in shares_of(row).items())


def fit(
    rows: list[dict[str, Any]], factors: dict[str, float], least: dict[str, float], fixed: Seconds
) -> tuple[Seconds, float]:
    """Return the seconds per count of one structure for one kind of bodies, and the remaining error.

    Times are divided by the factors of their scenes first. Times far above the least time of their scene have less
    weight: a structure that will not be chosen need not be predicted well. `fixed` seconds are not changed.
    """
    names = [name for name in shares_of(rows[0]) if name not in fixed]
    counts = np.array([[shares[name] for name in names] for shares in map(shares_of, rows)])
    seconds = np.array([row["seconds"] / factors[row["scene"]] for row in rows])
    nearness = np.array([least[row["scene"]] / row["seconds"] for row in rows]) ** 0.25
    # The relative error of a sum that is too small is less than that of one that is too large by the same factor. The
    # geometric mean of the measured and the predicted time as the unit gives both the same weight.
    base = np.array([sum(fixed.get(name, 0.0) * share for name, share in shares_of(row).items()) for row in rows])
    least_each = np.array([LEAST.get(count, 0.0) for _, count in names])
    predicted = seconds
    for _ in range(20):
        weight = nearness / np.sqrt(seconds * predicted)
        scale = (counts * weight[:, None]).max(axis=0)
        scale[scale == 0] = 1
        more, _ = nnls(counts * weight[:, None] / scale, (seconds - base - counts @ least_each) * weight)
        each = least_each + more / scale
        predicted = base + counts @ each
    error = float(np.sqrt(np.mean(np.log(predicted / seconds) ** 2)))
    return fixed | dict(zip(names, each.tolist(), strict=True)), error


def fit_all(rows: list[dict[str, Any]], fixed: dict[Group, Seconds]) -> dict[Group, Seconds]:
    """Return all seconds, by structure and kind of bodies.

    A choice depends on ratios within a scene. An error that all structures have in common there, such as another
    process that took the caches or a wrong estimate of the number of pairs, would only blur the constants. So each
    scene has a factor, by which all structures take longer than predicted. It is fitted alternately with the constants.
    """
    groups: dict[Group, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        groups[row["structure"], row["kind"]].append(row)
    factors = {row["scene"]: 1.0 for row in rows}
    least = {scene: min(row["seconds"] for row in rows if row["scene"] == scene) for scene in factors}
    for turn in range(ROUNDS):
        fitted = {key: fit(group, factors, least, fixed.get(key, {})) for key, group in groups.items()}
        off: dict[str, list[float]] = defaultdict(list)
        for row in rows:
            seconds = fitted[row["structure"], row["kind"]][0]
            off[row["scene"]].append(math.log(row["seconds"] / predicted_by(seconds, row)))
        factors = {scene: math.exp(float(np.clip(np.median(logs), -1, 1))) for scene, logs in off.items()}
        common = math.exp(float(np.mean([math.log(factor) for factor in factors.values()])))
        factors = {scene: factor / common for scene, factor in factors.items()}
        if turn in (0, ROUNDS - 1):
            for (name, kind), (_, error) in sorted(fitted.items()):
                print(f"{name:14} {kind:8} {len(groups[name, kind]):4} times, error ×{math.exp(error):.2f}")
    return {key: seconds for key, (seconds, _) in fitted.items()}


def tune(rows: list[dict[str, Any]], fitted: dict[Group, Seconds]) -> dict[Group, float]:
    """Return the factors for the seconds of each structure and kind that give the best choices.

    The sum that fits best overall need not be accurate where two structures take similar times, which is where a
    choice matters. One factor at a time, from 0.8 to 1.6, as long as the choices improve.
    """
    scenes: dict[str, list[tuple[Group, float, float]]] = defaultdict(list)
    for row in rows:
        key = row["structure"], row["kind"]
        scenes[row["scene"]].append((key, predicted_by(fitted[key], row), row["seconds"]))
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
    fitted: dict[Group, Seconds], factors: dict[Group, float], fixed: dict[Group, Seconds]
) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Return the seconds as in costs.json: by structure, kind, few or many, and count."""
    structures: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for (name, kind), seconds in sorted(fitted.items()):
        sizes = structures.setdefault(name, {}).setdefault(kind, {"few": {}, "many": {}})
        for (size, count), each in seconds.items():
            factor = 1.0 if (size, count) in fixed.get((name, kind), {}) else factors[name, kind]
            sizes[size][count] = float(f"{max(factor * each, LEAST.get(count, 0.0)):.4g}")
    return structures


def all_pairs_limit() -> tuple[int, float]:
    """Return the number of bodies up to which testing all pairs is fastest, and the seconds to choose for that many."""
    few, choosing = 64, 0.0
    for n in (64, 96, 128, 192, 256, 384, 512, 768):
        for sizes in ("points", "equal", "boxes"):
            bodies = Scene(bodies=n, sizes=sizes, pairs=1.0).make()
            setting = check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})
            times: dict[str, list[float]] = defaultdict(list)
            for _ in range(100):
                for name in ("Exhaustive", "LinkedCells", "HashGrid"):
                    times[name].append(once(setting, Shot(name, {}, {})))
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
    """Return the seconds to update a body that stays in its cell and, in addition, one that leaves it."""
    bodies = Scene(bodies=100_000, sizes="equal", pairs=3.0).make()
    where, radii = bodies["points"], bodies["radii"]
    surveyed = survey(check_settings(where, radii=radii))
    rng = np.random.default_rng(SEED)
    step = rng.standard_normal(where.shape)
    step *= 2 * radii[0] / np.linalg.norm(step, axis=1, keepdims=True)
    result = {}
    for name, _, _, kept in surveyed.estimates():
        if not kept:
            continue
        index = getattr(vc, name)(where, radii=radii)
        shares, times = [], []
        for motion in (0.0, 0.01, 0.03, 0.1, 0.3):
            spent = []
            for turn in range(6):
                there = where + (turn % 2) * motion * step
                start = time.process_time()
                index.update(there)
                if "test" in kept:  # this structure finds pairs during the update
                    index.pairs()
                spent.append(time.process_time() - start)
            shares.append(surveyed.moved(motion))
            times.append(min(spent) / len(where))
        each, _ = nnls(np.column_stack([np.ones(len(shares)), shares]) / np.array(times)[:, None], np.ones(len(times)))
        result[name] = {"stay": float(f"{each[0]:.4g}"), "move": float(f"{each[1]:.4g}")}
    return result


def write(isa: str, measured: dict[str, Any]) -> None:
    """Write the table of an instruction set to costs.json; keep the other tables."""
    tables = read_tables() | {isa: measured}
    FILE.write_text(json.dumps({name: tables[name] for name in ISAS if name in tables}, indent=1) + "\n", "utf-8")
    forget()


def seconds_for_many(table: dict[str, Any]) -> dict[Group, Seconds]:
    """Return the seconds for many bodies of a table of costs.json."""
    return {
        (name, kind): {("many", count): each for count, each in sizes["many"].items()}
        for name, kinds in table["structures"].items()
        for kind, sizes in kinds.items()
    }


def main() -> int:
    """Measure, fit and write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    parser.add_argument("--few", action="store_true", help="keep the seconds for many bodies")
    parser.add_argument("--refit", action="store_true", help="fit the times of the last run again")
    parser.add_argument("--times", type=Path, help="where the times are kept")
    parser.add_argument("--seconds", type=float, help="measure for so long, beginning where the last call ended")
    options = parser.parse_args()
    if options.times is None:
        options.times = Path(__file__).with_name("results") / f"calibrate-{vc.info()['isa']}.json"
    vc.set_threads(1)
    isa = vc.info()["isa"]
    before = read_tables()[isa] if options.few else {}
    if not options.refit:
        plan = QUICK if options.quick else FULL
        if options.few:
            plan = {size: count for size, count in plan.items() if size <= MOST_FEW}
        if options.seconds is None:
            options.times.unlink(missing_ok=True)
        if not measure(plan, 3 if options.quick else 8, options.times, options.seconds or math.inf):
            return 0
    rows = json.loads(options.times.read_text(encoding="utf-8"))
    fixed = seconds_for_many(before) if options.few else {}
    fitted = fit_all(rows, fixed)
    flags = [flag for flag in ("quick", "few") if getattr(options, flag)]
    measured = {
        "machine": f"{cpu()}, one thread",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "written_by": " --".join(["benchmarks/calibrate.py", *flags]),
        "all_pairs_limit": 128,
        "choosing": 0.0,
        "updates": before["updates"] if options.few else updates(),
        "structures": table(fitted, tune(rows, fitted), fixed),
    }
    write(isa, measured)
    measured["all_pairs_limit"], measured["choosing"] = all_pairs_limit()
    write(isa, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
