"""
Growth of time and memory with the number of bodies: equal spheres at constant density, about two pairs per body.

Time is that of one build and search. Memory is that of the statistics of the index, and the growth of the
resident memory of a fresh process that builds it.
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from trial import Step, begin, both, finish, parser, race, seconds, structures, verdict

SIZES = (10_000, 31_623, 100_000, 316_228, 1_000_000)
MORE = (3_162_278, 10_000_000)
FILLING = 0.5  # n 4/3 π (2 r)³ / 2 V = 2 pairs per body
EXPONENTS = {"HashGrid": 1.05, "CellSorting": 1.05, "Octree": 1.10}
BYTES = {"CellSorting": 64, "BVH": 100, "HashGrid": 100, "Octree": 100}


def spheres(bodies: int) -> tuple[Any, float]:
    """Positions in a cube of edge 1, and the radius."""
    points = import_module("vicinal.scenes").uniform(bodies, seed=1).points
    return points, float((FILLING / bodies / (4 / 3 * math.pi)) ** (1 / 3))


def search(name: str, points: Any, radius: float) -> Any:
    """Build and search."""
    return getattr(import_module("vicinal"), name)(points, radii=radius).pairs()


def resident() -> int:
    """Resident bytes of this process."""
    for text in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
        if text.startswith("VmRSS"):
            return int(text.split()[1]) * 1024
    raise OSError("no VmRSS in /proc/self/status")


def child(name: str, bodies: int) -> None:
    """Build in a separate process and print the bytes per body, by statistics and as measured."""
    vc = import_module("vicinal")
    vc.set_threads(1)
    structure = getattr(vc, name)
    points, radius = spheres(bodies)
    radii = import_module("numpy").full(bodies, radius)
    structure(points[:1000].copy(), radii=radii[:1000].copy()).pairs()
    before = resident()
    index = structure(points, radii=radii)
    built = resident() - before
    told = index.stats.bytes
    del index
    as_points = structure(points, cutoff=2 * radius).stats.bytes
    print(json.dumps({"stats": told / bodies, "resident": built / bodies, "stats as points": as_points / bodies}))


def memory(name: str, bodies: int) -> dict[str, float]:
    """Run a child."""
    command = [sys.executable, __file__, "--child", name, "--sizes", str(bodies)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def exponent(times: dict[int, float]) -> float:
    """Slope of the logarithms, by least squares."""
    np = import_module("numpy")
    return float(np.polyfit(np.log(list(times)), np.log(list(times.values())), 1)[0])


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--sizes", help="numbers of bodies, such as 1e4,1e5")
    made.add_argument("--full", action="store_true", help="up to 10⁷ bodies")
    made.add_argument("--budget", type=float, default=20.0, help="seconds per structure and size")
    made.add_argument("--structures", default="HashGrid,CellSorting,Octree,BVH,SpatialHash,LinkedCells")
    made.add_argument("--child", help="measure the memory of this structure (used by the benchmark itself)")
    options = made.parse_args()
    sizes = SIZES + MORE * options.full
    if options.sizes:
        sizes = tuple(sorted(int(float(size)) for size in options.sizes.split(",")))
    if options.child:
        child(options.child, sizes[0])
        return 0
    data = begin(options)
    names = structures(*options.structures.split(","))
    times: dict[str, dict[int, float]] = {name: {} for name in names}
    data["growth"] = {}
    for bodies in sizes:
        points, radius = spheres(bodies)
        steps = [Step(name, partial(search, name, points, radius)) for name in names]
        raced = race(steps, options.repeats, options.budget)
        data["growth"][bodies] = {name: seconds(value) for name, value in raced.items()}
        print(f"{bodies} bodies")
        for name, value in raced.items():
            times[name][bodies] = value.best
            print(f"  {name:12}{both(value)}  {value.best / bodies * 1e9:7.1f} ns per body")
    data["exponents"] = {}
    if len(sizes) > 1:
        logarithm = import_module("numpy").log
        for name in names:
            slope = exponent(times[name])
            by_log = exponent({n: t / float(logarithm(n)) for n, t in times[name].items()})
            data["exponents"][name] = {"n": slope, "n log n": by_log}
            limit = EXPONENTS.get(name)
            said = f"; at most {limit}: {verdict(slope <= limit)}" if limit else ""
            print(f"{name:12} exponent {slope:.3f}{said}; of time / log n: {by_log:.3f}")
    data["bytes"] = {}
    for name in names:
        data["bytes"][name] = told = memory(name, sizes[-1])
        limit = BYTES.get(name)
        said = f"; at most {limit}: {verdict(max(told.values()) <= limit)}" if limit else ""
        print(f"{name:12} {told['stats']:.1f} bytes per body by stats, {told['resident']:.1f} resident{said}", end="")
        print(f"; points by stats {told['stats as points']:.1f}")
    finish(options, "sized_growth", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
