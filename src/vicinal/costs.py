"""What a search costs with each structure: counts of what it will do, times seconds from a benchmark.

Each structure has a small function that says how often it will do what: sort a body, start a block, copy a candidate,
test one. The counts follow from a survey of the bodies (`Crowd`); the seconds are in costs.json, which
benchmarks/calibrate.py writes. Only the order of the sums matters for the choice, so the counts are kept simple.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from operator import mul
from pathlib import Path
from typing import Any, TypeAlias

from vicinal import _core
from vicinal.index import Setting
from vicinal.structures.linked_cells import BYTES_PER_CELL, GRID_SHARE

# What sorting costs beyond this many bodies grows with every doubling: they leave the caches.
CACHED = 2**14
CACHED_CELLS = 2**17
# A dense grid of more cells per body than this is not worth thinking about.
FULL_GRID = 100
# A frame of this many reaches on either side allows doubles to be tested as floats first: see index/bodies.hpp.
NEAR = 4096
# Bodies a leaf of BVH and one of its twigs hold on average; a leaf of Octree: see those.
LEAF, TWIG, OCTANT = 27.0, 3.5, 11.0

Counts: TypeAlias = tuple[float, ...]
Way: TypeAlias = tuple[dict[str, Any], Counts]


class Crowd:
    """How crowded bodies are at every scale: what the counts are made from."""

    def __init__(self, setting: Setting) -> None:
        bodies, self.box = setting.bodies, setting.box
        self.n, self.dim, self.kind = len(bodies), bodies.dim, bodies.kind
        edge, others, cells, volume, self.levels, self.octaves = _core.statistics(bodies.for_core, self.box)
        self._scale = math.log2(edge)
        self._others = [math.log2(x) if x > 1e-12 else -40.0 for x in others]
        self._cells = [math.log2(x) if x > 1 else 0.0 for x in cells]
        reach = bodies.reach(setting.cutoff)
        some = max(reach) or 1.0
        self.reach = [r or some for r in reach]
        self.lengths = [
            period or high - low for period, low, high in zip(self.box, bodies.low, bodies.high, strict=True)
        ]
        self.periodic = any(self.box)
        self.pair_size = volume ** (1 / self.dim) / 2  # radius or edge of bodies that meet as often as these do
        if self.kind == "points":
            volume = self.reach[0] ** self.dim
        round_ = 1.0 if self.kind == "boxes" else math.pi * (4 / 3 if self.dim == 3 else 1.0)
        self.pairs = self.n / 2 * self.others(max(round_ * volume, 1e-300) ** (1 / self.dim))
        # Exact tests of doubles take twice the bytes and half the lanes.
        near = self.kind != "boxes" and max(self.lengths) < 2 * NEAR * some
        self.width = 2.0 if bodies.array.dtype.itemsize == 8 and not near else 1.0
        self.sort = self.n * max(0.0, math.log2(self.n / CACHED))

    def others(self, edge: float) -> float:
        """Other bodies in a cube around a body, on average."""
        k = self._scale - math.log2(edge)
        if k <= 0:
            return self.n - 1.0
        i = int(k)
        if i >= 16:
            return float(2 ** (self._others[16] - self.dim * (k - 16)))
        low = self._others[i]
        return float(2 ** (low + (self._others[i + 1] - low) * (k - i)))

    def around(self, edges: list[float]) -> float:
        """Others in a box around a body; what reaches around a period meets itself again."""
        if not self.periodic:
            return self.others(self.mean_edge(edges))
        images = math.prod(max(1.0, edge / period) for edge, period in zip(edges, self.box, strict=True) if period)
        inside = [min(edge, period or edge) for edge, period in zip(edges, self.box, strict=True)]
        return (self.others(self.mean_edge(inside)) + 1) * images - 1

    def cells(self, edge: float) -> float:
        """Occupied cells of a grid."""
        k = self._scale - math.log2(edge)
        if k <= 0:
            return 1.0
        i = int(k)
        if i >= 16:
            return float(self.n)
        low = self._cells[i]
        return float(2 ** (low + (self._cells[i + 1] - low) * (k - i)))

    def edge(self, others: float) -> float:
        """Edge of the cubes in which a body has so many others."""
        wanted = math.log2(max(others, 1e-12))
        values = self._others
        if wanted >= values[0]:
            return float(2**self._scale)
        for k in range(16):
            if values[k + 1] <= wanted:
                k += (values[k] - wanted) / (values[k] - values[k + 1])  # type: ignore[assignment]  # noqa: PLW2901
                return float(2 ** (self._scale - k))
        return float(2 ** (self._scale - 16 - (values[16] - wanted) / self.dim))

    def mean_edge(self, edges: list[float]) -> float:
        """Edge of the cube of the same volume."""
        return float(math.prod(edges) ** (1 / self.dim))

    def grid(self, least: float, parts: int = 1) -> list[float]:
        """Edges of the cells of a grid: a part of the reach, but not less than `least`, whole numbers in a period."""
        edges = [max(r / parts, least) for r in self.reach]
        if not self.periodic:
            return edges
        return [p / max(p // e, 1.0) if p else e for e, p in zip(edges, self.box, strict=True)]


def _exhaustive(crowd: Crowd) -> Iterator[Way]:
    images = math.prod(2 * (r // edge) + 3 for r, edge in zip(crowd.reach, crowd.box, strict=True) if edge)
    yield {}, (1.0, crowd.n, crowd.width * crowd.n**2 * images / 2, crowd.pairs)


def _cells(crowd: Crowd, edges: list[float], parts: int) -> tuple[float, float, float]:
    """Blocks, candidates copied and candidates tested where a cell looks at all within `parts` around it."""
    n, span = crowd.n, 2 * parts + 1
    blocks = crowd.cells(crowd.mean_edge(edges))
    around = crowd.around([span * edge for edge in edges]) + 1
    seen = min(float(span**crowd.dim), around * blocks / n)  # occupied cells around a body
    return blocks, crowd.width * n * seen / 2, crowd.width * n * around / 2


def _linked_cells(crowd: Crowd) -> Iterator[Way]:
    reach = max(crowd.reach)
    room = GRID_SHARE * _core.physical_memory() / BYTES_PER_CELL
    for cell in (0.0, crowd.edge(1.5), crowd.edge(4.0)):
        if 0 < cell < 1.1 * reach:
            continue
        edges = crowd.grid(cell)
        grid = math.prod(length / edge + 7 for length, edge in zip(crowd.lengths, edges, strict=True))
        grid *= 3 if crowd.dim == 2 else 1
        if grid > min(room, FULL_GRID * (crowd.n + 1e4)):
            continue
        blocks, copies, tests = _cells(crowd, edges, 1)
        rows = blocks * (1 + 3 ** (crowd.dim - 1)) / 2
        # Looking up cells in a grid that does not fit the caches, and memory that is touched for the first time.
        far, fresh = rows * min(max(math.log2(grid / CACHED_CELLS), 0.0), 4.0), max(grid - CACHED_CELLS, 0.0)
        yield (
            ({"cell": cell} if cell else {}),
            (1.0, crowd.n, crowd.sort, grid, fresh, blocks, rows, far, copies, tests, crowd.pairs),
        )


def _cell_sorting(crowd: Crowd) -> Iterator[Way]:
    for parts in (1, 2):
        edges = crowd.grid(0.0, parts)
        blocks, copies, tests = _cells(crowd, edges, parts)
        rows = blocks * (1 + (2 * parts + 1) ** (crowd.dim - 1)) / 2
        # Images of the cells at a periodic border are sorted in among the others.
        border = sum(2 * parts * edge / period for edge, period in zip(edges, crowd.box, strict=True) if period)
        images = blocks * border
        yield (
            ({"h_mask": parts} if parts > 1 else {}),
            (1.0, crowd.n, crowd.sort, images, blocks, rows, copies, tests, crowd.pairs),
        )
        if crowd.others(edges[0]) < 4:
            return


def _spatial_hash(crowd: Crowd) -> Iterator[Way]:
    blocks, copies, tests = _cells(crowd, crowd.grid(0.0), 1)
    looks = blocks * 3**crowd.dim
    # A bucket holds half a body by chance.
    yield {}, (1.0, crowd.n, crowd.sort, blocks, looks, copies + looks / 4, tests + looks / 4, crowd.pairs)


def _hash_grid(crowd: Crowd) -> Iterator[Way]:  # noqa: C901
    n, dim = crowd.n, crowd.dim
    volume = math.prod(length or 1.0 for length in crowd.lengths)
    double = 2.0 if crowd.kind == "spheres" else 1.0
    groups = [(float(n), crowd.reach)]
    if crowd.kind != "points":
        groups = [(count, [double * e or crowd.reach[0] for e in edges]) for count, _, edges in crowd.levels]
    # Cells wider than the bodies, with four in each; again and finer where they turn out to hold many more.
    spread, builds = 4 ** (1 / dim), 1
    while True:
        worst, cell = 0.0, []
        for count, sizes in groups:
            wide = spread * (volume / count) ** (1 / dim)
            cell.append([max(size, wide) for size in sizes])
            if wide > min(sizes):
                worst = max(worst, 1 + crowd.others(crowd.mean_edge(cell[-1])) * count / n)
        if worst <= 16 or builds == 3:
            break
        spread *= (4 / worst) ** (1 / dim)
        builds += 1
    # What is in the bins: bodies from cells that are far from each other are told apart one by one.
    bins, parts, folded = [], [], []
    for edges, (count, _) in zip(cell, groups, strict=True):
        space = math.prod(length / edge + 2 for length, edge in zip(crowd.lengths, edges, strict=True))
        blocks = _thinned(crowd, crowd.mean_edge(edges), count / n)
        bins.append(min(1.5 * space, 2 * count + 64))
        share = blocks / bins[-1] if space > bins[-1] else 0.0
        folded.append(1 - math.exp(-share * (1 - bins[-1] / space)))
        parts.append(blocks + folded[-1] * (count - blocks))
    rows, copies, tests = 0.0, 0.0, 0.0
    for low, (count, sizes) in enumerate(groups):
        own = crowd.mean_edge(cell[low])
        occupancy = 1 + crowd.others(own) * count / n
        filled = (occupancy - 1) / (occupancy + 1)  # how much of a cell its bodies span
        for high in range(low, len(groups)):
            others, reaches = groups[high]
            seen = []
            for size, reach, here, there in zip(sizes, reaches, cell[low], cell[high], strict=True):
                reached = reach + (size if crowd.kind == "points" else 0.8 * size)
                if low == high:
                    # Cells on either side are seen when one of the bodies is near enough to the border.
                    seen.append(3 - 2 * (1 - min(1.0, reached / there / 2)) ** occupancy)
                else:
                    seen.append((filled * here + reached) / there + 1)
            around = crowd.around([x * edge for x, edge in zip(seen, cell[high], strict=True)])
            near = (around + 1) * others / n
            if low == high:
                near += folded[low] * math.prod(seen) * others / bins[high]
            half = 0.5 if high == low else 1.0
            rows += parts[low] * math.prod(seen) / seen[0]
            tests += half * count * near
            edge = crowd.mean_edge([x * e for x, e in zip(seen, cell[high], strict=True)])
            copies += half * min(parts[low] * near, others * (edge / own) ** dim)
    yield (
        {},
        (
            1.0,
            builds * n,
            builds * crowd.sort,
            sum(bins),
            sum(parts),
            rows,
            crowd.width * copies,
            crowd.width * tests,
            crowd.pairs,
        ),
    )


def _thinned(crowd: Crowd, edge: float, share: float) -> float:
    """Occupied cells of a grid for a random share of the bodies."""
    per_body = crowd.cells(edge) / crowd.n
    if share > 0.999:
        return per_body * crowd.n
    others = 1 / per_body if per_body < 0.2 else 2 * (1 - per_body) + (1 - per_body) ** 2
    left = share * others
    return share * crowd.n * ((1 - math.exp(-left)) / left if left > 1e-6 else 1.0)


def _bvh(crowd: Crowd) -> Iterator[Way]:
    n = crowd.n
    groups = [(float(n), crowd.reach[0])] if crowd.kind == "points" else _by_octaves(crowd)
    visits, copies, tests = 0.0, 0.0, 0.0
    # A box around a few bodies is smaller than the cube they have for themselves.
    leaf = [crowd.edge((LEAF - 1) * n / count) * (LEAF - 1) / (LEAF + 1) for count, _ in groups]
    twig = [crowd.edge((TWIG - 1) * n / count) * (TWIG - 1) / (TWIG + 1) for count, _ in groups]
    for low, (count, size) in enumerate(groups):
        leaves = max(count / LEAF, 1.0)
        for high in range(low, len(groups)):
            others, reach = groups[high]
            half = 0.5 if high == low else 1.0
            around = leaf[low] + size + reach
            near = crowd.others(around + twig[high]) * others / n
            visits += half * leaves * (crowd.others(around + leaf[high]) * others / n / LEAF + 1)
            copies += half * leaves * near
            tests += half * count * near
    leaves = n / LEAF
    yield (
        {},
        (
            1.0,
            n,
            crowd.sort,
            leaves * math.log2(leaves + 2),
            visits,
            crowd.width * copies,
            crowd.width * tests,
            crowd.pairs,
        ),
    )


def _by_octaves(crowd: Crowd) -> list[tuple[float, float]]:
    """Return number and mean size of the bodies of each curve of BVH: up to twice the median, then octaves."""
    double = 1.5 if crowd.kind == "spheres" else 0.75  # of the largest size in an octave to the diameter of its mean
    groups: list[tuple[float, float]] = []
    below, weighed = 0.0, 0.0
    for count, _, edges in crowd.octaves:
        size = double * crowd.mean_edge([edge or max(edges) for edge in edges])
        if below < crowd.n / 2 or not groups:
            below, weighed = below + count, weighed + count * size
            groups = [(below, weighed / below)]
        else:
            groups.append((count, size))
    return groups


def _octree(crowd: Crowd) -> Iterator[Way]:
    edge = max(crowd.mean_edge(crowd.reach), crowd.edge(OCTANT - 1))
    blocks, copies, tests = _cells(crowd, [edge] * crowd.dim, 1)
    yield {}, (1.0, crowd.n, crowd.sort, blocks, copies, tests, crowd.pairs)


# The names of the counts of a structure, and the function that finds them for each way to use it.
COUNTS: dict[str, tuple[tuple[str, ...], Callable[[Crowd], Iterator[Way]]]] = {
    "Exhaustive": (("call", "body", "test", "pair"), _exhaustive),
    "LinkedCells": (
        ("call", "body", "sort", "grid", "fresh", "block", "row", "far", "copy", "test", "pair"),
        _linked_cells,
    ),
    "CellSorting": (("call", "body", "sort", "image", "block", "row", "copy", "test", "pair"), _cell_sorting),
    "SpatialHash": (("call", "body", "sort", "block", "look", "copy", "test", "pair"), _spatial_hash),
    "HashGrid": (("call", "body", "sort", "bin", "block", "row", "copy", "test", "pair"), _hash_grid),
    "BVH": (("call", "body", "sort", "leaf", "visit", "copy", "test", "pair"), _bvh),
    "Octree": (("call", "body", "sort", "block", "copy", "test", "pair"), _octree),
}

FILE = Path(__file__).with_name("costs.json")
_seconds: dict[str, Any] = {}


def seconds() -> Mapping[str, Any]:
    """Return what was measured: the seconds of each count of each structure for each kind of bodies."""
    if not _seconds:
        import json

        _seconds.update(json.loads(FILE.read_text(encoding="utf-8")))
    return _seconds


def predict(crowd: Crowd, name: str, motion: float | None = None) -> tuple[float, dict[str, Any]]:
    """Return the seconds of the best way to use a structure and its parameters; infinity if there is none.

    With `motion`, the seconds of a step of an index that lasts: what is kept from step to step is not built anew.
    """
    names, ways = COUNTS[name]
    each = seconds()["structures"][name][crowd.kind]
    factors = [each[count] for count in names]
    fixed = 0.0
    if motion is not None and name in UPDATES:
        factors = [0.0 if count in BUILDING else factor for count, factor in zip(names, factors, strict=True)]
        fixed = _update(crowd, name, motion)
    best, parameters = math.inf, {}
    for way, counts in ways(crowd):
        cost = fixed + sum(map(mul, factors, counts))
        if cost < best:
            best, parameters = cost, way
    return best, parameters


# What belongs to building, and the structures that keep it from step to step.
BUILDING = frozenset({"body", "sort", "grid", "fresh", "image", "bin", "leaf"})
UPDATES = ("HashGrid", "BVH", "Octree")


def moved(crowd: Crowd, motion: float) -> float:
    """Share of the bodies that leave a cell when they move by so many of their sizes."""
    size = crowd.reach[0] if crowd.kind == "points" else 2 * crowd.pair_size
    return min(1.0, 1.5 * motion * size / max(crowd.mean_edge(crowd.reach), crowd.edge(3.0)))


def _update(crowd: Crowd, name: str, motion: float) -> float:
    each = seconds()["updates"][name]
    return float(crowd.n * (each["stay"] + each["move"] * moved(crowd, motion)))
