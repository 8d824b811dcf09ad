"""
The k nearest points against SciPy's cKDTree: uniform, clustered and periodic points, and few queries of a kept index.

vicinal includes building its tree; cKDTree is timed without (`query`) and with building it. Both find the points
themselves among the neighbours. The results are compared.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

from trial import Step, begin, finish, parser, race, seconds, verdict

ENOUGH = 8.0
CLUSTERS = 100


def clouds(n: int) -> dict[str, tuple[Any, float | None]]:
    """Points and their period."""
    rng = np.random.default_rng(0)
    centres, sizes = rng.random((CLUSTERS, 3)), 0.001 * rng.integers(1, 11, CLUSTERS)
    of = rng.integers(0, CLUSTERS, n)
    return {
        "uniform": (rng.random((n, 3)), None),
        "clustered": (centres[of] + sizes[of, None] * rng.normal(size=(n, 3)), None),
        "periodic": (rng.random((n, 3)), 1.0),
    }


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--sizes", default="1e5", help="numbers of points, separated by commas")
    made.add_argument("--neighbors", default="8", help="values of k, separated by commas")
    made.add_argument("--budget", type=float, default=20.0)
    options = made.parse_args()
    data = begin(options)
    vc = import_module("vicinal")
    data["cases"] = {}
    for n in (int(float(size)) for size in options.sizes.split(",")):
        for name, (points, period) in clouds(n).items():
            tree = cKDTree(points, boxsize=period)
            for k in map(int, options.neighbors.split(",")):
                d, _ = vc.nearest(points, k, box=period, queries=points)
                if not np.allclose(d, tree.query(points, k)[0], rtol=1e-9, atol=1e-15):
                    raise SystemExit(f"{name}: distances differ from those of cKDTree")
                steps = [
                    Step("vicinal", lambda p=points, k=k, b=period: vc.nearest(p, k, box=b, queries=p)),
                    Step("own", lambda p=points, k=k, b=period: vc.nearest(p, k, box=b)),
                    Step("query", lambda p=points, k=k, t=tree: t.query(p, k)),
                    Step("build", lambda p=points, b=period: cKDTree(p, boxsize=b)),
                ]
                times = race(steps, options.repeats, options.budget)
                ns = {step: times[step].best / n * 1e9 for step in times}
                ratio = ns["query"] / ns["own"]
                built = ratio + ns["build"] / ns["own"]
                print(
                    f"{name:9} {n:8} k = {k:3}: {ns['own']:6.0f} ns per point, {ns['vicinal']:6.0f} as queries; "
                    f"cKDTree {ns['query']:6.0f} + {ns['build']:4.0f}: {ratio:.1f} ×, {built:.1f} × with building; "
                    f"at least {ENOUGH:g}: {verdict(ratio >= ENOUGH)}"
                )
                data["cases"][f"{name} {n} {k}"] = {step: seconds(clock) for step, clock in times.items()}
    kept = vc.CellSorting(clouds(100_000)["uniform"][0], cutoff=0.01)
    tree = cKDTree(kept._core.bodies()[0])  # noqa: SLF001
    for count in (1, 10, 1000):
        queries = np.random.default_rng(1).random((count, 3))
        steps = [
            Step("vicinal", lambda q=queries: kept.nearest(8, queries=q)),
            Step("query", lambda q=queries: tree.query(q, 8)),
        ]
        times = race(steps, options.repeats * 20)
        both = times["vicinal"].best * 1e6, times["query"].best * 1e6
        print(f"{count:5} queries of a kept index: {both[0]:7.1f} µs, cKDTree {both[1]:7.1f} µs")
        data["cases"][f"{count} queries"] = {step: seconds(clock) for step, clock in times.items()}
    finish(options, "nearest", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
