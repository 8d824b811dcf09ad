"""
The cost of a search in Kureck's (2016) bi-disperse case: 1 000 000 spheres of radius 1 and 276 of radius 10.

The paper searched settled particles; here spheres lie at random, as dense as settled grains (60 % filling), so that
there are enough pairs. Build, update and search are timed separately: the paper's figure is the search.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from trial import Step, begin, both, finish, parser, race, seconds, structures, verdict

LARGE_SHARE = 276 / 1_000_000
FILLING = 0.6
ENOUGH = 15.0


def bodies(small: int, filling: float) -> tuple[Any, Any]:
    """Return positions and radii; the large spheres are at random positions among the others."""
    scenes = import_module("vicinal.scenes")
    large = max(1, round(small * LARGE_SHARE))
    scene = scenes.spheres(scenes.bimodal(small + large, large=large, seed=1), filling=filling, seed=1)
    return scene.points, scene.radii


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--small", type=float, default=1e6, help="spheres of radius 1")
    made.add_argument("--filling", type=float, default=FILLING)
    made.add_argument("--budget", type=float, default=30.0)
    options = made.parse_args()
    data = begin(options)
    vc = import_module("vicinal")
    points, radii = bodies(int(options.small), options.filling)
    names = structures("LinkedCells", "HashGrid", "BVH", "SpatialHash")
    kept = {name: getattr(vc, name)(points, radii=radii) for name in names}
    counts = {name: len(index.pairs()[0]) for name, index in kept.items()}
    if len(set(counts.values())) != 1:
        raise SystemExit(f"pairs differ: {counts}")
    pairs = counts["LinkedCells"]
    candidates = {name: index.stats.candidates for name, index in kept.items()}
    print(f"{len(points)} spheres, {pairs} pairs")
    search = race([Step(name, index.pairs) for name, index in kept.items()], options.repeats, options.budget)
    build = race(
        [Step(name, lambda name=name: getattr(vc, name)(points, radii=radii)) for name in names],
        options.repeats,
        options.budget,
    )
    base = search["LinkedCells"].best
    data |= {"bodies": len(points), "pairs": pairs, "structures": {}}
    for name in names:
        ratio = base / search[name].best
        said = f"; at least {ENOUGH:g}: {verdict(ratio >= ENOUGH)}" if name in {"HashGrid", "BVH"} else ""
        print(
            f"{name:12} search {both(search[name])}  build {both(build[name])}  {candidates[name]:.3g} candidates",
            end="",
        )
        print(f"  {ratio:.1f} × LinkedCells{said}")
        data["structures"][name] = {
            "search": seconds(search[name]), "build": seconds(build[name]),
            "candidates": candidates[name], "ratio": ratio,
        }  # fmt: skip
    finish(options, "bidisperse", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
