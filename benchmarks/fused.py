"""
What is done with pairs without storing them, against the way over stored pairs.

Histograms of distances against the RDF of freud (same counts) and against `pairs` and `numpy.histogram`; components
against scipy.sparse.csgraph on the neighbours that vicinal found, and on those of cKDTree. Periodic cube, uniform.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial import cKDTree

from trial import Step, begin, finish, parser, race, seconds, verdict

BINS = 100
ENOUGH = 10.0


def histograms(n: int, neighbors: float, options: Any) -> dict[str, Any]:
    """Time the counts of pairs by distance."""
    vc = import_module("vicinal")
    points = np.random.default_rng(0).random((n, 3)).astype(np.float32)
    cutoff = (neighbors / (4 / 3 * np.pi * n)) ** (1 / 3)
    edges = np.linspace(0, cutoff, BINS + 1)
    counts = vc.histogram(points, edges, box=1.0)
    pairs = int(counts.sum())
    steps = [Step("vicinal", lambda: vc.histogram(points, edges, box=1.0))]

    def stored() -> Any:
        return np.histogram(vc.pairs(points, cutoff, box=1.0, want="d")[0], edges)[0]

    if pairs < 1e8:
        steps.append(Step("pairs and numpy", stored))
    try:
        freud = import_module("freud")
    except ModuleNotFoundError:
        freud = None
    if freud is not None and n <= options.peers:
        freud.parallel.set_num_threads(1)
        rdf = freud.density.RDF(BINS, cutoff)
        system = (freud.box.Box.cube(1.0), points - np.float32(0.5))
        steps.append(Step("freud", lambda: rdf.compute(system, reset=True)))
        rdf.compute(system)
        off = np.abs(rdf.bin_counts / 2 - counts).sum() / pairs
        print(f"share of pairs that freud (float32 distances of shifted points) puts into another bin: {off:.2g}")
    times = race(steps, options.repeats, options.budget)
    base = times["vicinal"].best
    for name, clock in times.items():
        ns, ratio = clock.best / pairs * 1e9, clock.best / base
        print(f"histogram {n:9} points, {pairs:11} pairs: {name:16} {ns:7.2f} ns per pair, {ratio:.1f} ×")
    return {name: seconds(clock) for name, clock in times.items()}


def components(n: int, options: Any) -> dict[str, Any]:
    """Time friends of friends with a fifth of the mean distance as the linking length, in clustered points."""
    vc = import_module("vicinal")
    rng = np.random.default_rng(0)
    centres, of = rng.random((n // 200, 3)), rng.integers(0, n // 200, n // 2)
    halos = centres[of] + n ** (-1 / 3) * rng.normal(size=(n // 2, 3)) * rng.random(n // 200)[of, None]
    points = np.concatenate([halos, rng.random((n - n // 2, 3))]) % 1.0
    cutoff = 0.2 * n ** (-1 / 3)
    labels = vc.components(points, cutoff, box=1.0)

    def over_rows() -> Any:
        return connected_components(vc.neighbors(points, cutoff, box=1.0).to_scipy(), directed=False)

    def over_scipy() -> Any:
        pairs = cKDTree(points, boxsize=1.0).query_pairs(cutoff, output_type="ndarray")
        matrix = coo_array((np.ones(len(pairs), np.int8), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
        return connected_components(matrix, directed=False)

    steps = [Step("vicinal", lambda: vc.components(points, cutoff, box=1.0))]
    if n <= options.peers:
        if over_scipy()[0] != labels.max() + 1:
            raise SystemExit("SciPy finds another number of components")
        steps += [Step("rows and csgraph", over_rows), Step("SciPy", over_scipy)]
    times = race(steps, options.repeats, options.budget)
    base = times["vicinal"].best
    for name, clock in times.items():
        goal = f"; at least {ENOUGH:g}: {verdict(clock.best / base >= ENOUGH)}" if name == "SciPy" else ""
        print(
            f"components {n:9} points, {labels.max() + 1} components: {name:16} {clock.best / n * 1e9:7.0f} ns per "
            f"point, {clock.best / base:.1f} ×{goal}"
        )
    return {name: seconds(clock) for name, clock in times.items()}


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--sizes", default="1e5", help="numbers of points, separated by commas")
    made.add_argument("--neighbors", type=float, default=100, help="neighbours within the last edge of a histogram")
    made.add_argument("--peers", type=float, default=1e6, help="most points for which the others are run")
    made.add_argument("--budget", type=float, default=20.0)
    options = made.parse_args()
    data = begin(options)
    for n in (int(float(size)) for size in options.sizes.split(",")):
        data[f"histogram {n}"] = histograms(n, options.neighbors, options)
        data[f"components {n}"] = components(n, options)
    finish(options, "fused", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
