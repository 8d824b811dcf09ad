"""
Paper A's seven scenarios at their published sizes: what a step costs, update and search.

Bodies jitter by a thousandth of their radius from step to step, walls are planes. Linked cells have the published cell
(and their own default besides), the octree its published limits; the hash grid is ours with its defaults, and once as
published.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any

from trial import Step, begin, both, finish, parser, published, race, seconds, structures, verdict

# The paper: the hash grid is faster than linked cells in these, as to seconds of detection. 4 was a draw.
FASTER = (2, 3, 6, 7)
# There it was three to four times slower; ours may be at most this many times slower.
ALIKE, ALIKE_RATIO = (1, 5), 1.5
JITTER = 1e-3
POSITIONS = 4


def steps(scenario: Any, points: Any, radii: Any) -> list[Step]:
    """One step of each structure: the next positions, then all pairs."""
    np, vc = import_module("numpy"), import_module("vicinal")
    rng = np.random.default_rng(2)
    moved = [points + rng.uniform(-JITTER, JITTER, points.shape) * radii[:, None] for _ in range(POSITIONS)]
    bodies = {"radii": radii, "planes": scenario.walls}
    made: dict[str, Callable[[], Any]] = {
        "LinkedCells": lambda: vc.LinkedCells(points, cell=scenario.cell, **bodies),
        "LinkedCells default": lambda: vc.LinkedCells(points, **bodies),
        "HashGrid": lambda: vc.HashGrid(points, **bodies),
        "HashGrid rebuild": lambda: vc.HashGrid(points, update="rebuild", **bodies),
        "HashGrid as published": lambda: vc.HashGrid(points, factor=2, max_cells=scenario.cube, **bodies),
    }
    if scenario.octree is not None:
        made["Octree"] = scenario.indices(points, radii)["Octree"]
        made["Octree default"] = lambda: vc.Octree(points, **bodies)
    for name in structures("BVH"):
        made[name] = lambda name=name: getattr(vc, name)(points, **bodies)
    return [_step(name, make(), moved, radii) for name, make in made.items() if _fits(name, make)]


def _fits(name: str, make: Callable[[], Any]) -> bool:
    try:
        make()
    except import_module("vicinal").InputError as error:
        print(f"{name}: {error}")
        return False
    return True


def _step(name: str, index: Any, moved: list[Any], radii: Any) -> Step:
    turn = 0

    def call() -> Any:
        nonlocal turn
        turn += 1
        index.update(moved[turn % POSITIONS], radii=radii)
        return index.pairs()

    return Step(name, call)


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--tables", default="1,2,3,4,5,6,7", help="which scenarios")
    made.add_argument("--budget", type=float, default=20.0, help="seconds per structure, at least two rounds")
    options = made.parse_args()
    data = begin(options)
    data["scenarios"] = {}
    wanted = {int(table) for table in options.tables.split(",")}
    for scenario in published().SCENARIOS:
        if scenario.table not in wanted:
            continue
        points, radii = scenario.bodies()
        times = race(steps(scenario, points, radii), options.repeats, options.budget)
        own = {name: seconds(value) for name, value in times.items()}
        ratio = times["HashGrid"].best_cpu / times["LinkedCells"].best_cpu
        there = scenario.seconds["HashGrid"] / scenario.seconds["LinkedCells"]
        limit = 1.0 if scenario.table in FASTER else ALIKE_RATIO if scenario.table in ALIKE else None
        said = "" if limit is None else f"; at most {limit:g}: {verdict(ratio <= limit)}"
        print(
            f"{scenario.table} {scenario.name}, {len(points)} bodies: HashGrid takes {ratio:.2f} × LinkedCells", end=""
        )
        print(f" (paper {there:.2f}){said}")
        for name, value in times.items():
            plain = scenario.seconds.get(name.split()[0])
            note = f"   paper {plain / scenario.steps * 1e3:8.2f} ms" if plain and name in scenario.seconds else ""
            print(f"  {name:24}{both(value)}{note}")
        held = limit is None or ratio <= limit
        data["scenarios"][scenario.table] = {
            "seconds_per_step": own, "ratio": ratio, "published_ratio": there, "holds": held,
        }  # fmt: skip
    finish(options, "scenarios", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
