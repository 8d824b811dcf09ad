"""
Sums over pairs of a function compiled by Numba, against a loop in C++ written by hand (lennard_jones.cpp).

Lennard-Jones energy and forces in a periodic cube, float64. The C++ loop is compiled for this processor and sorts its
points into cells in every call, as vicinal does. Its sums are rounded at every step; those of vicinal once.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from trial import HERE, Step, begin, finish, parser, race, seconds, verdict

ENOUGH = 1.5


def energy(i, j, d2, v, sigma):  # noqa: ARG001
    """Energy of a pair."""
    s2 = sigma * sigma / d2
    s6 = s2 * s2 * s2
    return 4.0 * (s6 * s6 - s6)


def force(i, j, d2, v, sigma):  # noqa: ARG001
    """Force on body i."""
    s2 = sigma * sigma / d2
    s6 = s2 * s2 * s2
    f = -24.0 * (2.0 * s6 * s6 - s6) / d2
    return f * v[0], f * v[1], f * v[2]


def by_hand(folder: Path, compiler: str) -> Any:
    """Compile lennard_jones.cpp."""
    library = folder / "lennard_jones.so"
    flags = ["-std=c++20", "-O3", "-march=native", "-shared", "-fPIC"]
    subprocess.run([compiler, *flags, str(HERE / "lennard_jones.cpp"), "-o", str(library)], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.energy.restype = ctypes.c_double
    return loaded


def measure(n: int, neighbors: float, loaded: Any, options: Any) -> dict[str, Any]:
    """Time energy and forces of points with a least distance, as in a fluid."""
    vc = import_module("vicinal")
    edge = round(n ** (1 / 3))
    rng = np.random.default_rng(0)
    lattice = np.stack(np.meshgrid(*[np.arange(edge)] * 3, indexing="ij"), -1).reshape(-1, 3)
    points = rng.permutation((lattice + 0.5 + rng.uniform(-0.3, 0.3, lattice.shape)) / edge)
    n = len(points)
    cutoff = (neighbors / (4 / 3 * np.pi * n)) ** (1 / 3)
    sigma = 0.9 / edge
    to = np.empty_like(points)
    address, reals = points.ctypes.data_as(ctypes.c_void_p), (ctypes.c_double(cutoff), ctypes.c_double(sigma))
    size = ctypes.c_size_t(n)

    def hand_forces() -> Any:
        loaded.forces(address, size, *reals, to.ctypes.data_as(ctypes.c_void_p))
        return to

    calls = {
        "energy": (
            lambda: vc.reduce(points, cutoff, energy, box=1.0, data=(sigma,)),
            lambda: loaded.energy(address, size, *reals),
        ),
        "forces": (
            lambda: vc.reduce(points, cutoff, force, box=1.0, each=True, data=(sigma,)),
            hand_forces,
        ),
    }
    pairs = int(vc.histogram(points, [0.0, cutoff], box=1.0).sum())
    times = {}
    for name, (ours, theirs) in calls.items():
        off = np.abs(np.asarray(ours()) - theirs()).max() / np.abs(theirs()).max()
        if off > 1e-9:
            raise SystemExit(f"{name}: the loop by hand gives another result, off by {off}")
        made = race([Step("vicinal", ours), Step("by hand", theirs)], options.repeats, options.budget)
        ratio = made["vicinal"].best / made["by hand"].best
        goal = f"; at most {ENOUGH:g}: {verdict(ratio <= ENOUGH)}"
        print(f"{name:7} {n:8} points, {pairs:9} pairs: ", end="")
        print(
            ", ".join(f"{label} {clock.best / pairs * 1e9:5.1f} ns per pair" for label, clock in made.items()), end=""
        )
        print(f", ratio {ratio:.2f}{goal}")
        times[name] = {label: seconds(clock) for label, clock in made.items()}
    return times


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--sizes", default="1e4,1e5,1e6", help="numbers of points, separated by commas")
    made.add_argument("--neighbors", type=float, default=60, help="neighbours within the cutoff")
    made.add_argument("--compiler", default=os.environ.get("CXX", "g++"))
    made.add_argument("--budget", type=float, default=20.0)
    options = made.parse_args()
    data = begin(options)
    with tempfile.TemporaryDirectory() as folder:
        loaded = by_hand(Path(folder), options.compiler)
        for n in (int(float(size)) for size in options.sizes.split(",")):
            data[f"{n}"] = measure(n, options.neighbors, loaded, options)
    finish(options, "reduce", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
