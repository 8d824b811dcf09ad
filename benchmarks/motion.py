"""
The cost of motion: Schornbaum's (2009) moving cuboids, and insertion and removal.

Cubes of one size in a periodic cube, two pairs per body; each moves in a random direction by up to a share of its
size per step. Measured are the gain of an incremental update and, in open space (our sweep and prune keeps no pairs in
a periodic box), the motion below which sweep and prune is faster than the hash grid.
"far apart" is Schornbaum's (2009) last figure: the same motion, bodies 100 000 times smaller.
"""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import islice, pairwise
from typing import Any

from measure import once
from trial import Step, begin, both, finish, parser, seconds, structures, verdict
from vicinal.timing import RoundTimer

SHARES = (0.2, 0.05, 0.01, 1e-3, 1e-4, 1e-5, 0.0)
FILLING = 0.5  # cubes of edge s: n (2 s)³ / 2 V = 2 pairs per body
FAR = 1e-5
CHEAPER = 3.0
CONTESTANTS = ("HashGrid", "HashGrid rebuild", "SweepAndPrune", "BVH", "Octree", "CellSorting")
LIVING = ("HashGrid", "SweepAndPrune", "BVH", "Octree", "SpatialHash", "CellSorting")


def bodies_at(lower: Any, edge: float, *, spheres: bool) -> dict[str, Any]:
    """Return the arguments of an index or an update: cubes with these lower corners, or spheres at them."""
    return {"points": lower, "radii": edge / 2} if spheres else {"boxes": (lower, lower + edge)}


def make(name: str, lower: Any, edge: float, box: float | None, *, spheres: bool) -> Any:
    """Build an index of cubes or spheres."""
    vc = import_module("vicinal")
    structure, _, rest = name.partition(" ")
    options = {"update": "rebuild"} if rest else {}
    return getattr(vc, structure)(**bodies_at(lower, edge, spheres=spheres), box=box, **options)


def walk(bodies: int, share: float, steps: int, size: float, box: float | None) -> tuple[list[Any], float]:
    """Lower corners step by step from a cube of edge 1, which may be periodic, and the edge of a body."""
    scenes = import_module("vicinal.scenes")
    edge = float((FILLING / bodies) ** (1 / 3)) * size
    region = {"lower": (0.0,) * 3, "upper": (box,) * 3, "periodic": True} if box else {}
    velocity = scenes.headings(bodies, share * edge, seed=1)
    path = scenes.drift(scenes.uniform(bodies, seed=1).points, velocity, **region)
    return list(islice(path, steps)), edge


def moving(
    names: list[str], options: Any, share: float, *, size: float = 1.0, box: float | None = 1.0
) -> dict[str, Any]:
    """Best times of an update and of the search after it."""
    bodies, spheres = int(options.bodies), options.spheres
    places, edge = walk(bodies, share, options.repeats + 2, size, box)
    kept = {name: make(name, places[0], edge, box, spheres=spheres) for name in names}
    times = {name: (RoundTimer(), RoundTimer()) for name in names}
    pairs: dict[str, int] = {}
    for turn, lower in enumerate(places[1:]):
        now = bodies_at(lower, edge, spheres=spheres)
        order = names[turn % len(names) :] + names[: turn % len(names)]
        for name in order:
            index = kept[name]
            step = Step(name, index.pairs)
            # The first step is a warm-up, in which buffers are allocated.
            once(step, lambda index=index, now=now: index.update(**now), times[name][0] if turn else None)
            pairs[name] = len(once(step, index.pairs, times[name][1] if turn else None)[0])
        if len(set(pairs.values())) != 1:
            raise SystemExit(f"pairs differ: {pairs}")
    moved = kept["HashGrid"].stats.details.get("moved", 0)
    return {"times": times, "pairs": next(iter(pairs.values())), "moved": moved, "edge": edge}


def report_motion(label: str, result: dict[str, Any], bodies: int) -> dict[str, Any]:
    """Print one case and return it for JSON."""
    times = result["times"]
    print(f"{label}: {result['pairs'] / bodies:.2f} pairs per body")
    total = {name: update.best + search.best for name, (update, search) in times.items()}
    for name, (update, search) in times.items():
        print(f"  {name:18} update {both(update)}  search {both(search)}  step {total[name] * 1e3:9.2f} ms")
    saved = times["HashGrid rebuild"][0].best / times["HashGrid"][0].best
    noted: dict[str, Any] = {
        "pairs": result["pairs"],
        "update": {name: seconds(update) for name, (update, _) in times.items()},
        "search": {name: seconds(search) for name, (_, search) in times.items()},
        "rebuild_over_incremental": saved,
    }
    print(f"  an incremental update is {saved:.2f} × cheaper than a rebuild", end="")
    if "SweepAndPrune" in total:
        noted["sweep_over_hash"] = ratio = total["SweepAndPrune"] / total["HashGrid"]
        print(f"; a step of SweepAndPrune takes {ratio:.2f} × HashGrid's", end="")
    print()
    return noted


def crossing(ratios: dict[float, float]) -> float | None:
    """Motion at which sweep and prune takes as long as the hash grid: between two shares measured, by logarithms."""
    np = import_module("numpy")
    shares = sorted(share for share in ratios if share > 0)
    for below, above in pairwise(shares):
        if ratios[below] <= 1 < ratios[above]:
            weight = np.log(1 / ratios[below]) / np.log(ratios[above] / ratios[below])
            return float(np.exp(np.log(below) + weight * np.log(above / below)))
    return None


def living(name: str, options: Any) -> dict[str, float]:
    """Insertions and removals per second: many in one call, and a few or one in each of several calls."""
    np = import_module("numpy")
    spheres = options.spheres
    places, edge = walk(int(options.bodies), 0.0, 1, 1.0, None)
    index = make(name, places[0], edge, None, spheres=spheres)
    rng = np.random.default_rng(3)
    rates = {}
    for per_call, calls in ((int(options.many), 1), (100, 5), (1, 20)):
        new = [bodies_at(lower, edge, spheres=spheres) for lower in rng.random((calls, per_call, 3))]
        size = len(index)
        gone = [rng.choice(size, per_call, replace=False) for _ in range(calls)]

        def insert(new: list[Any] = new) -> None:
            for given in new:
                index.insert(**given)

        def remove(gone: list[Any] = gone) -> None:
            for ids in gone:
                index.remove(ids)

        # Insertion and removal alternate, so the number of bodies is constant; the first turn is a warm-up.
        times = {"insert": RoundTimer(), "remove": RoundTimer()}
        for turn in range(options.repeats + 1):
            for key, call in (("insert", insert), ("remove", remove)):
                once(Step(key, call), call, times[key] if turn else None)
        for key, value in times.items():
            rates[f"{key} {per_call} per call"] = per_call * calls / value.best
    return rates


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--bodies", type=float, default=1e5)
    made.add_argument("--many", type=float, default=1e4, help="bodies inserted or removed in one call")
    made.add_argument("--shares", default=",".join(map(str, SHARES)), help="largest motion per step, in sizes")
    made.add_argument("--spheres", action="store_true", help="spheres in place of cubes")
    made.set_defaults(repeats=7)
    options = made.parse_args()
    data = begin(options)
    bodies = int(options.bodies)
    names = [name for name in CONTESTANTS if structures(name.split()[0])]
    shares = [float(share) for share in options.shares.split(",")]
    data["motion"], crossed = {"periodic": {}, "open": {}}, {}
    for space, box in (("periodic", 1.0), ("open", None)):
        for share in shares:
            result = moving(names, options, share, box=box)
            noted = report_motion(f"{space}, up to {share:.4%} of the size per step", result, bodies)
            data["motion"][space][share] = noted
            if box is None and "sweep_over_hash" in noted:
                crossed[share] = noted["sweep_over_hash"]
    far = moving(names, options, 0.01, size=FAR, box=None)
    data["far apart"] = report_motion("open, far apart, 1 % of the size per step", far, bodies)
    print()
    if 0.01 in shares:
        saved = data["motion"]["periodic"][0.01]["rebuild_over_incremental"]
        print(f"incremental at 1 %: {saved:.2f} ×; at least {CHEAPER:g}: {verdict(saved >= CHEAPER)}")
    if crossed:
        data["crossing"] = at = crossing(crossed)
        least = min((share for share in crossed if share > 0), default=0.0)
        beats = crossed.get(0.0, 2.0) <= 1
        below = f"below {least:.4%} of the size per step" if beats else "nowhere measured"
        where = f"at {at:.4%} of the size per step" if at else below
        print(f"SweepAndPrune and HashGrid take the same time {where}\n")
    data["living"] = {}
    for name in structures(*LIVING):
        data["living"][name] = rates = living(name, options)
        print(f"{name:14}" + "  ".join(f"{key}: {rate:9.3g}/s" for key, rate in rates.items()))
    finish(options, "motion", data)
    return 0


if __name__ == "__main__":
    sys.exit(main())
