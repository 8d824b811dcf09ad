"""
The gain of a neighbour list: upkeep, with and without a loop over it, compared with new searches; fast motion; peers.

Uniform points in a periodic cube, 30 neighbours each, moving along straight lines; one thread. A step is an
update, then the loop. Times of lists are means over all steps, builds included; those of new searches are the mean of
occasional searches in the same run. The loop is Lennard-Jones, once compiled with the library and once by Numba.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any

from trial import begin, finish, parser, verdict

SLOW, FAST = 0.002, 0.3  # of the cutoff per step
NEIGHBOURS = 30
FRESH_EVERY = 20  # steps between two new searches: so rare that they do not affect the list's own measurements
SIGMA = 0.5  # of the cutoff
ANGSTROM = 5.0  # a cutoff for peers that assume ångström
CHEAPER, TOGETHER, NEVER, PEERS = 5.0, 1.5, 1.05, 10.0


def np_() -> Any:
    """Import NumPy late, so that --help is fast."""
    return import_module("numpy")


class Gas:
    """Points that move along straight lines through a periodic cube, of edge 1 unless the cutoff is given."""

    def __init__(self, bodies: int, share: float, cutoff: float | None = None) -> None:
        np = np_()
        rng = np.random.default_rng(1)
        reach = float((NEIGHBOURS / (bodies * 4 / 3 * np.pi)) ** (1 / 3))
        self.edge = 1.0 if cutoff is None else cutoff / reach
        self.cutoff = reach * self.edge
        self.points = rng.random((bodies, 3)) * self.edge
        heading = rng.normal(size=(bodies, 3))
        heading /= np.linalg.norm(heading, axis=1)[:, None]
        self.velocity = heading * (share * self.cutoff)

    def move(self) -> None:
        """One step; bodies that leave the cube enter it on the opposite side."""
        self.fly()
        outside = (self.points < 0) | (self.points >= self.edge)
        if outside.any():
            self.points[outside] %= self.edge

    def fly(self) -> None:
        """One step without wrapping, which ASE would count as a large displacement."""
        self.points += self.velocity

    def sort(self, order: Any) -> None:
        """Reorder the bodies."""
        self.points, self.velocity = self.points[order], self.velocity[order]


def timed(call: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds of a call, and its result."""
    start = time.process_time()
    result = call()
    return time.process_time() - start, result


def follow(gas: Gas, steps: int, step: Callable[[], Any], fresh: Callable[[], Any]) -> tuple[float, float]:
    """Mean CPU seconds of a step of a list, and of occasional new searches with the same loop."""
    step()
    fresh()
    total, beside = 0.0, []
    for k in range(steps):
        gas.move()
        total += timed(step)[0]
        if k % FRESH_EVERY == FRESH_EVERY // 2:
            seconds, result = timed(fresh)
            del result
            beside.append(seconds)
    return total / steps, sum(beside) / len(beside)


def numba_loops() -> tuple[Any, Any] | None:
    """Lennard-Jones energy over half rows and over pairs, in a cube of edge 1; None without Numba."""
    np = np_()
    try:
        numba = import_module("numba")
    except ImportError:
        return None

    @numba.njit(error_model="numpy")
    def term(points: Any, i: int, j: int, cutoff2: float, sigma2: float) -> float:
        r2 = 0.0
        for axis in range(3):
            d = points[j, axis] - points[i, axis]
            d -= 1.0 if d > 0.5 else 0.0
            d += 1.0 if d < -0.5 else 0.0
            r2 += d * d
        if r2 > cutoff2:
            return 0.0
        q6 = (sigma2 / r2) ** 3
        return 4 * q6 * (q6 - 1)

    @numba.njit(error_model="numpy")
    def over_rows(points: Any, offsets: Any, indices: Any, cutoff2: float, sigma2: float) -> float:
        energy = 0.0
        for i in range(len(offsets) - 1):
            for k in range(offsets[i], offsets[i + 1]):
                energy += term(points, i, indices[k], cutoff2, sigma2)
        return energy

    @numba.njit(error_model="numpy")
    def over_pairs(points: Any, i: Any, j: Any, cutoff2: float, sigma2: float) -> float:
        energy = 0.0
        for k in range(len(i)):
            energy += term(points, i[k], j[k], cutoff2, sigma2)
        return energy

    few = np.array([[0.1] * 3, [0.2] * 3])
    ids = np.zeros(1, np.int32)
    over_rows(few, np.array([0, 1, 1]), ids + 1, 1.0, 1.0)
    over_pairs(few, ids, ids + 1, 1.0, 1.0)
    return over_rows, over_pairs


def line(name: str, ours: float, theirs: float, least: float, rest: str = "") -> dict[str, float]:
    """Print and return one comparison: the time of the others divided by ours."""
    ratio = theirs / ours
    goal = f"  {verdict(ratio >= least)} (≥ {least:.3g})" if least else ""
    print(f"{name:<52}{ours * 1e3:9.1f} ms {theirs * 1e3:9.1f} ms {ratio:7.2f} ×{goal}  {rest}", flush=True)
    return {"ours": ours, "theirs": theirs, "ratio": ratio}


def upkeep(bodies: int, steps: int) -> dict[str, Any]:
    """Time the list alone: slow motion, an automatic skin."""
    vc = import_module("vicinal")
    gas = Gas(bodies, SLOW)
    rows = vc.NeighborList(cutoff=gas.cutoff, box=1.0)
    ours, theirs = follow(
        gas, steps, lambda: rows.update(gas.points), lambda: vc.pairs(gas.points, cutoff=gas.cutoff, box=1.0)
    )
    result = line("upkeep of rows | vc.pairs", ours, theirs, CHEAPER, f"{rows.stats.builds} builds")
    print(f"  {rows.stats.reason}")
    return result


def with_loop(bodies: int, steps: int) -> dict[str, Any]:
    """Compare the list and a compiled loop over it with a new search and the same loop; bodies are sorted before."""
    vc = import_module("vicinal")

    def sorted_gas() -> Gas:
        gas = Gas(bodies, SLOW)
        gas.sort(vc.spatial_order(gas.points, box=1.0))
        return gas

    results = {}
    gas = sorted_gas()
    sigma = SIGMA * gas.cutoff
    rows = vc.NeighborList(cutoff=gas.cutoff, box=1.0)
    rebuilt = vc.NeighborList(cutoff=gas.cutoff, box=1.0, skin=0)

    def step(made: Any) -> Any:
        made.update(gas.points)
        return made.lennard_jones(sigma=sigma)

    ours, theirs = follow(gas, steps, lambda: step(rows), lambda: step(rebuilt))
    results["built in"] = line("list + built-in loop | the same, built at every step", ours, theirs, TOGETHER)
    print(f"  {rows.stats.reason}")
    loops = numba_loops()
    if loops is None:
        print("Numba is not installed")
        return results
    over_rows, over_pairs = loops

    def fresh_step() -> Any:
        i, j = vc.pairs(gas.points, cutoff=gas.cutoff, box=1.0)
        return over_pairs(gas.points, i, j, gas.cutoff**2, sigma**2)

    def rows_step(made: Any) -> Any:
        made.update(gas.points)
        return over_rows(gas.points, made.offsets, made.indices, gas.cutoff**2, sigma**2)

    def pairs_step(made: Any) -> Any:
        made.update(gas.points)
        return over_pairs(gas.points, made.i, made.j, gas.cutoff**2, sigma**2)

    for name, options, loop in (
        ("rows", {}, rows_step),
        ("pairs as found", {"layout": "pairs", "sort": False}, pairs_step),
    ):
        gas = sorted_gas()
        made = vc.NeighborList(cutoff=gas.cutoff, box=1.0, **options)
        ours, theirs = follow(gas, steps, partial(loop, made), fresh_step)
        energy, other = loop(made), fresh_step()
        if abs(energy - other) > 1e-6 * abs(other):
            raise SystemExit(f"energies differ: {energy} and {other}")
        results[f"numba, {name}"] = line(f"list of {name} + Numba | vc.pairs + Numba", ours, theirs, TOGETHER)
        print(f"  {made.stats.reason}")
    return results


def fast(bodies: int, steps: int) -> dict[str, Any]:
    """Motion so fast that no skin pays off: a list must not cost more than searching."""
    vc = import_module("vicinal")
    results = {}
    for name, options, sort in (
        ("pairs as found", {"layout": "pairs", "sort": False}, False),
        ("sorted pairs", {"layout": "pairs"}, True),
    ):
        gas = Gas(bodies, FAST)
        made = vc.NeighborList(cutoff=gas.cutoff, box=1.0, **options)
        # Timed after the first guess, because a simulation spends most of its time after it.
        for _ in range(3):
            made.update(gas.points)
            gas.move()
        ours, theirs = follow(
            gas,
            steps,
            lambda made=made, gas=gas: made.update(gas.points),
            lambda gas=gas, sort=sort: vc.pairs(gas.points, cutoff=gas.cutoff, box=1.0, sort=sort),
        )
        results[name] = line(f"fast motion, {name} | vc.pairs", ours, theirs, 1 / NEVER, f"skin {made.skin:g}")
    return results


def reordering(bodies: int, repeats: int) -> dict[str, Any]:
    """Compare bodies in random order, as after mixing, with the same bodies sorted along a curve."""
    vc = import_module("vicinal")
    gas = Gas(bodies, SLOW)
    sigma = SIGMA * gas.cutoff

    def best(call: Callable[[], Any]) -> float:
        return min(timed(call)[0] for _ in range(repeats))

    made = vc.NeighborList(cutoff=gas.cutoff, box=1.0, skin=0.2 * gas.cutoff)
    builder = vc.NeighborList(cutoff=gas.cutoff, box=1.0, skin=0)
    made.update(gas.points)
    before = {
        "loop": best(lambda: made.lennard_jones(sigma=sigma)),
        "build": best(lambda: builder.update(gas.points)),
    }
    ordering, order = timed(lambda: vc.spatial_order(gas.points, box=1.0))
    renumbering, _ = timed(lambda: made.reorder(order))
    gas.sort(order)
    if made.update(gas.points):
        raise SystemExit("a reordered list was built again")
    after = {
        "loop": best(lambda: made.lennard_jones(sigma=sigma)),
        "build": best(lambda: builder.update(gas.points)),
    }
    for name, seconds in after.items():
        line(f"sorted | mixed: {name}", seconds, before[name], 0)
    print(f"  spatial_order takes {ordering * 1e3:.1f} ms, reorder {renumbering * 1e3:.1f} ms")
    return {"mixed": before, "sorted": after, "spatial_order": ordering, "reorder": renumbering}


def peer_steps(gas: Gas) -> dict[str, Callable[[], Any]]:
    """A step of each installed peer: its own list if it has one, otherwise its search."""
    np = np_()
    calls: dict[str, Callable[[], Any]] = {}
    cell = np.eye(3) * gas.edge
    try:
        vesin = import_module("vesin")
        made = vesin.NeighborList(cutoff=gas.cutoff, full_list=False, skin=0.3 * gas.cutoff)
        calls["vesin, skin 30 %"] = lambda: made.compute(points=gas.points, box=cell, periodic=True, quantities="ij")
    except (ImportError, TypeError) as error:
        print(f"vesin: {error}")
    try:
        ase = import_module("ase.neighborlist")
        n = len(gas.points)
        kept = ase.NewPrimitiveNeighborList(
            np.full(n, gas.cutoff / 2), skin=0.15 * gas.cutoff, self_interaction=False, bothways=False
        )
        calls["ASE, skin 30 %"] = lambda: kept.update([True] * 3, cell, gas.points)
    except ImportError as error:
        print(f"ASE: {error}")
    try:
        freud = import_module("freud")
        box = freud.box.Box.cube(gas.edge)
        wanted = {"r_max": gas.cutoff, "exclude_ii": True}
        calls["freud, no skin"] = lambda: (
            freud.locality.LinkCell(box, gas.points - gas.edge / 2, gas.cutoff)
            .query(gas.points - gas.edge / 2, wanted)
            .toNeighborList()
        )
    except ImportError as error:
        print(f"freud: {error}")
    return calls


def peers(bodies: int, steps: int) -> dict[str, Any]:
    """Time the lists of peers for the same motion."""
    vc = import_module("vicinal")
    results = {}
    for name in peer_steps(Gas(1000, SLOW, ANGSTROM)):
        gas = Gas(bodies, SLOW, ANGSTROM)
        theirs = peer_steps(gas)[name]
        made = vc.NeighborList(cutoff=gas.cutoff, box=gas.edge)
        made.update(gas.points)
        theirs()
        times = [0.0, 0.0]
        searches = steps if "no skin" not in name else 5  # every step is the same
        for _ in range(searches):
            gas.fly()
            times[1] += timed(theirs)[0]
        for _ in range(steps):
            gas.fly()
            times[0] += timed(partial(made.update, gas.points))[0]
        results[name] = line(f"upkeep of rows | {name}", times[0] / steps, times[1] / searches, PEERS)
    return results


def main() -> int:
    """Run everything."""
    options = parser(__doc__)
    options.add_argument("--bodies", type=float, default=1e6)
    options.add_argument("--steps", type=int, default=200)
    options.add_argument("--peer-bodies", type=float, default=1e5, help="for the peers, which take long")
    options.add_argument("--peer-steps", type=int, default=160, help="at least two builds with a skin of 30 %%")
    options.add_argument("--parts", default="upkeep,loop,fast,order,peers")
    options.add_argument("--quick", action="store_true", help="10⁵ bodies, 60 steps; 10⁴ bodies for the peers")
    chosen = options.parse_args()
    if chosen.quick:
        chosen.bodies, chosen.steps, chosen.peer_bodies = 1e5, 60, 1e4
    report = begin(chosen)
    bodies = int(chosen.bodies)
    print(f"{bodies} points, {NEIGHBOURS} neighbours, {chosen.steps} steps; ours | theirs, CPU time per step\n")
    parts = {
        "upkeep": lambda: upkeep(bodies, chosen.steps),
        "loop": lambda: with_loop(bodies, chosen.steps),
        "fast": lambda: fast(bodies, max(chosen.steps // 5, FRESH_EVERY)),
        "order": lambda: reordering(bodies, chosen.repeats),
        "peers": lambda: peers(int(chosen.peer_bodies), chosen.peer_steps),
    }
    for name in chosen.parts.split(","):
        report[name] = parts[name]()
    finish(chosen, "lists", report)
    return 0


if __name__ == "__main__":
    sys.exit(main())
