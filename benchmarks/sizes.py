"""
Bodies of mixed sizes: vicinal compared with the broad phases of PyPI, with linked cells, and with bodies of one size.

100 000 spheres at random, radii from 1 to 40, filling 10 % of the space, and a denser case. Radii are spread evenly
over their logarithm by number, or by volume, so that each octave fills the same volume, as grains often do. By number a
cell as large as the largest sphere holds only two spheres, and linked cells lose nothing; by volume it holds hundreds.

Peers find overlapping boxes, so vicinal is timed with spheres and with their boxes. Every result is compared with that
of NumPy.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from broadphases import PEERS, difference, overlapping
from trial import Step, begin, both, finish, parser, race, seconds, structures, verdict

SPREAD = 40.0
FILLINGS = (0.1, 1.4)
OURS = ("HashGrid", "BVH", "SweepAndPrune", "SpatialHash", "LinkedCells")
PEER_RATIO, CELL_RATIO, MONO_RATIO = 10.0, 5.0, 2.0


def spheres(bodies: int, filling: float, spread: float, evenly: str = "number") -> tuple[Any, Any]:
    """Positions and radii."""
    scenes = import_module("vicinal.scenes")
    radii = scenes.power_law(bodies, spread=spread, evenly=evenly, seed=1)
    scene = scenes.spheres(radii, filling=filling, seed=1)
    return scene.points, scene.radii


def own_steps(label: str, points: Any, names: list[str], bodies: dict[str, Any]) -> list[Step]:
    """Each structure, new and kept."""
    vc = import_module("vicinal")
    steps = []
    for name in names:
        structure = getattr(vc, name)
        kept = structure(points, **bodies)

        def fresh(structure: Any = structure) -> Any:
            return structure(points, **bodies).pairs()

        def reused(kept: Any = kept) -> Any:
            kept.update(points, **bodies)
            return kept.pairs()

        steps += [Step(f"{name} {label}, new", fresh), Step(f"{name} {label}, kept", reused)]
    return steps


def peer_steps(points: Any, radii: Any, names: set[str]) -> tuple[list[Step], dict[str, Any]]:
    """Each installed peer, new and kept."""
    steps: list[Step] = []
    made: dict[str, Any] = {}
    for kind in PEERS:
        if names and kind.name not in names:
            continue
        if kind.version() is None or len(points) > kind.most_bodies:
            why = "not installed" if kind.version() is None else f"too slow beyond {kind.most_bodies} bodies"
            print(f"  {kind.name}: {why}")
            continue
        peer = made[kind.name] = kind(points, radii)

        def fresh(peer: Any = peer) -> Any:
            peer.build()
            return peer.search()

        def kept(peer: Any = peer) -> Any:
            peer.refresh()
            return peer.search()

        steps += [Step(f"{kind.name}, new", fresh), Step(f"{kind.name}, kept", kept)]
    return steps, made


def check(steps: list[Step], peers: dict[str, Any], points: Any, radii: Any) -> dict[str, str]:
    """Compare every result with that of NumPy."""
    i, j = overlapping(points - radii[:, None], points + radii[:, None])
    apart = points[i] - points[j]
    touch = (apart**2).sum(axis=1) <= (radii[i] + radii[j]) ** 2
    expected = {False: (i, j), True: (i[touch], j[touch])}
    said = {}
    for step in steps:
        name = step.name.split(",")[0]
        result = step.call()
        if name in peers:
            said[step.name] = peers[name].judge(result, *expected[peers[name].exact])
        else:
            said[step.name] = difference(result[:2], expected["spheres" in name], len(points))
    said["pairs"] = str(int(touch.sum()))
    said["overlapping boxes"] = str(len(i))
    return said


def case(options: Any, evenly: str, filling: float) -> dict[str, Any]:
    """Measure one distribution of sizes at one filling."""
    vc, np = import_module("vicinal"), import_module("numpy")
    n = int(options.bodies)
    points, radii = spheres(n, filling, SPREAD, evenly)
    print(f"{n} spheres, radii 1 to {SPREAD:g} evenly by {evenly}, filling {filling:g}")
    boxes = (points - radii[:, None], points + radii[:, None])
    names = structures(*OURS)
    theirs, peers = peer_steps(points, radii, set(options.peers.split(",")) - {""})
    own = own_steps("spheres", points, names, {"radii": radii})
    own += own_steps("boxes", None, [name for name in names if name != "LinkedCells"], {"boxes": boxes})
    said = check(own + theirs, peers, points, radii)
    pairs, box_pairs = int(said.pop("pairs")), int(said.pop("overlapping boxes"))
    # Bodies of one size, once with the same filling and once with the same number of pairs: 4 × filling per body.
    mono_steps, mono_pairs = [], {}
    for label, share in (("same filling", filling), ("same pairs", pairs / n / 4)):
        mono, one = spheres(n, share, 1.0 + 1e-12)
        radius = float(one.max())
        index = vc.HashGrid(mono, radii=radius)
        cells = vc.LinkedCells(mono, radii=radius)
        mono_pairs[label] = len(cells.pairs()[0])
        for name, kept in (("HashGrid", index), ("LinkedCells", cells)):

            def reused(kept: Any = kept, mono: Any = mono, radius: float = radius) -> Any:
                kept.update(mono, radii=radius)
                return kept.pairs()

            mono_steps.append(Step(f"{name} one size, {label}", reused))
    times = race(own + theirs + mono_steps, options.repeats, options.budget)
    exact = {name for name, peer in peers.items() if peer.exact}
    counts = {
        step.name: pairs if "spheres" in step.name or step.name.split(",")[0] in exact else box_pairs
        for step in own + theirs
    }
    for label, count in mono_pairs.items():
        counts |= {step.name: count for step in mono_steps if step.name.endswith(label)}
    print(f"  {pairs} pairs of spheres, {box_pairs} of boxes")
    for name, value in times.items():
        each = value.best / max(counts[name], 1) * 1e9
        print(f"  {name:32}{both(value)}  {each:9.1f} ns per pair  {said.get(name, '')}")
    ratios = criteria(times, counts)
    for what, (ratio, limit, held) in ratios.items():
        print(f"  {what}: {ratio:.2f} × ({limit}: {verdict(held)})")
    return {
        "pairs": pairs, "box_pairs": box_pairs, "mono_pairs": mono_pairs, "answers": said,
        "candidates": {name: _candidates(getattr(vc, name)(points, radii=radii)) for name in names},
        "mean_radius": float(np.mean(radii)),
        "seconds": {name: seconds(value) for name, value in times.items()}, "ratios": ratios,
    }  # fmt: skip


def _candidates(index: Any) -> int:
    index.pairs()
    return int(index.stats.candidates)


def criteria(times: dict[str, Any], counts: dict[str, int]) -> dict[str, tuple[float, str, bool]]:
    """The goals of the project: ratios, each with its limit."""
    ratios = {}
    best = {name: value.best for name, value in times.items()}
    for way in ("new", "kept"):
        rivals = [peer.name for peer in PEERS if f"{peer.name}, {way}" in best]
        if rivals:
            fastest = min(rivals, key=lambda name: best[f"{name}, {way}"])
            for label in ("spheres", "boxes"):
                ratio = best[f"{fastest}, {way}"] / best[f"HashGrid {label}, {way}"]
                ratios[f"{fastest} over HashGrid {label}, {way}"] = ratio, f"≥ {PEER_RATIO:g}", ratio >= PEER_RATIO
    ratio = best["LinkedCells spheres, kept"] / best["HashGrid spheres, kept"]
    ratios["LinkedCells over HashGrid, kept"] = ratio, f"≥ {CELL_RATIO:g}", ratio >= CELL_RATIO
    for label in ("same filling", "same pairs"):
        mixed = best["HashGrid spheres, kept"] / max(counts["HashGrid spheres, kept"], 1)
        mono = best[f"HashGrid one size, {label}"] / max(counts[f"HashGrid one size, {label}"], 1)
        ratios[f"mixed over one size ({label}), per pair"] = (
            mixed / mono,
            f"≤ {MONO_RATIO:g}",
            mixed / mono <= MONO_RATIO,
        )
    return ratios


def main() -> int:
    """Measure, print and write; returns the exit code."""
    made = parser(__doc__)
    made.add_argument("--bodies", type=float, default=1e5)
    made.add_argument("--fillings", default=",".join(map(str, FILLINGS)))
    made.add_argument("--evenly", default="number,volume", help="how radii are spread")
    made.add_argument("--peers", default="", help="names, such as coal,rtree; all if not given, none for none")
    made.add_argument("--budget", type=float, default=20.0, help="seconds per contestant, at least two rounds")
    options = made.parse_args()
    data = begin(options)
    data["peers"] = {peer.name: peer.version() for peer in PEERS}
    data["cases"] = {
        f"{evenly}, {filling}": case(options, evenly, float(filling))
        for evenly in options.evenly.split(",")
        for filling in options.fillings.split(",")
    }
    finish(options, "sizes", data)
    wrong = [
        name
        for result in data["cases"].values()
        for name, said in result["answers"].items()
        if said != "right" and name.split()[0] in OURS
    ]
    if wrong:
        print(f"wrong results of vicinal: {', '.join(wrong)}", file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
