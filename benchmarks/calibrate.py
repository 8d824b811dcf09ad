"""Measure the seconds of each count of `vicinal.costs`, and write the table of this machine to costs.json.

All variants of all structures are timed on seeded scenes, one thread, CPU time, best of several, and the seconds are
fitted to the times (`fit_costs.py`). `choice.py` tests the chooser on other scenes. The tables of other instruction
sets and makers of processors stay as they are.

    python benchmarks/calibrate.py                         # an hour
    python benchmarks/calibrate.py --quick                 # some minutes
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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import nnls

import vicinal as vc
from fit_costs import fit, regrets, ways_in
from scenes import Scene, scenes
from shots import Shot, measure, once, read
from vicinal._core import processor_maker
from vicinal.costs import FILE, ISAS, chooser, forget, isa_of, read_tables, survey, table_name
from vicinal.machine import cpu
from vicinal.settings import check_settings

SEED = 7
QUICK = {800: 90, 1_500: 120, 3_000: 70, 6_000: 80, 12_000: 90, 100_000: 45, 1_000_000: 8}
FULL = {800: 320, 3_000: 320, 20_000: 320, 150_000: 240, 1_000_000: 60}
GOAL = 1.25  # largest ratio of the time of a good choice to that of the fastest way


def plan(counts: dict[int, int]) -> Iterator[Scene]:
    """Yield the scenes of all sizes."""
    for size, count in counts.items():
        yield from scenes(SEED + size, count, (size,))


def all_pairs_limit() -> tuple[int, float]:
    """Return the number of bodies up to which testing all pairs is fastest, and the seconds to choose for that many."""
    few, choosing = 64, 0.0
    choose = chooser().choose
    # With more bodies, their places and sizes decide.
    for n in (64, 96, 128, 192, 256, 384, 512):
        for sizes in ("points", "equal", "boxes"):
            bodies = Scene(bodies=n, sizes=sizes, pairs=1.0).make()
            setting = check_settings(bodies.get("points"), **{k: v for k, v in bodies.items() if k != "points"})
            times: dict[str, list[float]] = defaultdict(list)
            for _ in range(100):
                for name in ("Exhaustive", "LinkedCells", "HashGrid"):
                    times[name].append(once(setting, Shot(name, {}, {})))
                start = time.process_time()
                for _ in range(5):
                    choose(setting.bodies.for_core, setting.cutoff, setting.box.for_core, 0)
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


def write(name: str, measured: dict[str, Any]) -> None:
    """Write a table to costs.json; keep the other tables."""
    tables = read_tables() | {name: measured}
    names = sorted(tables, key=lambda name: (list(ISAS).index(isa_of(name)), name))
    FILE.write_text(json.dumps({name: tables[name] for name in names}, indent=1) + "\n", "utf-8")
    forget()


def main() -> int:
    """Measure, fit and write; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer scenes")
    parser.add_argument("--refit", action="store_true", help="fit the times of the last run again")
    parser.add_argument("--times", type=Path, help="where the times are kept")
    parser.add_argument("--seconds", type=float, help="measure for so long, beginning where the last call ended")
    options = parser.parse_args()
    vc.set_threads(1)
    name = table_name(vc.info()["isa"], processor_maker())
    times = options.times or Path(__file__).with_name("results") / f"calibrate-{name.replace(' ', '-')}.jsonl"
    if not options.refit:
        if options.seconds is None:
            times.unlink(missing_ok=True)
        wanted = plan(QUICK if options.quick else FULL)
        if not measure(wanted, 4 if options.quick else 8, 2.0, times, options.seconds or math.inf):
            return 0
    ways = ways_in(read(times))
    structures = fit(ways)
    ratios = regrets(ways, structures)
    print(f"{len(ratios)} scenes, within {GOAL}×: {np.mean(ratios <= GOAL):.1%}, worst {ratios.max():.2f}×")
    before = read_tables().get(name, {}) if options.refit else {}
    measured = {
        "machine": f"{cpu()}, one thread",
        "load": round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None,
        "written_by": "benchmarks/calibrate.py" + " --quick" * options.quick,
        "all_pairs_limit": before.get("all_pairs_limit", 128),
        "choosing": before.get("choosing", 0.0),
        "updates": before.get("updates") or updates(),
        "structures": structures,
    }
    write(name, measured)
    if not before:
        measured["all_pairs_limit"], measured["choosing"] = all_pairs_limit()
        write(name, measured)
    return 0


if __name__ == "__main__":
    sys.exit(main())
