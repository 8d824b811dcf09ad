"""What papers A (Koch 2020) and E (Onderik & Ďurikovič 2008) published, and the bodies they searched.

Paper A counts candidates ("collision pairs") over all steps, walls included: every body is a candidate of each of six
walls. Bodies hardly move, so one step times the number of steps is the sum. Where the paper leaves something open, what
reproduces its counts was taken:

- Spheres are within the walls as a whole, and do not overlap. Without the first, linked cells count 1 to 3 % fewer.
- Table 2's first region is the 150 × 150 × 100 of the text; its corner coordinates span 150 × 50 × 100, which gives 1.8
  times the candidates for linked cells.
- The first body that meets the hash grid, which sets the cells of all grids, is one of the largest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

import vicinal as vc

Array = npt.NDArray[np.float64]
Corner = tuple[float, float, float]

MOST_ROUNDS = 500


@dataclass(frozen=True)
class Group:
    """So many spheres of a radius, anywhere between two corners."""

    bodies: int
    radius: float
    lower: Corner
    upper: Corner


@dataclass(frozen=True)
class Scenario:
    """One of paper A's tables 1 to 7.

    Parameters
    ----------
    table, name
        As in the paper.
    edge
        The domain is a cube from the origin.
    groups
        Bodies, large ones first.
    steps
        Steps of the simulation.
    cell
        Edge of linked cells.
    octree
        Capacity and depth, or None where the paper has no octree.
    cube
        Cells per axis of the hash grids.
    candidates, seconds
        Published candidates, and seconds of detection over all steps, by structure.
    """

    table: int
    name: str
    edge: float
    groups: tuple[Group, ...]
    steps: int
    cell: float
    octree: tuple[int, int] | None
    cube: int
    candidates: dict[str, float]
    seconds: dict[str, float]

    @property
    def walls(self) -> tuple[Array, Array]:
        """Six planes around the domain."""
        points = np.repeat([[0.0] * 3, [self.edge] * 3], 3, axis=0)
        return points, np.vstack([np.eye(3), -np.eye(3)])

    def bodies(self, seed: int = 1) -> tuple[Array, Array]:
        """Positions and radii of spheres that do not overlap."""
        return place(self.groups, seed)

    def indices(self, points: Array, radii: Array) -> dict[str, Callable[[], vc.Index]]:
        """How to make each structure with the published parameters."""
        bodies: dict[str, Any] = {"radii": radii, "planes": self.walls}
        made: dict[str, Callable[[], vc.Index]] = {
            "LinkedCells": lambda: vc.LinkedCells(points, cell=self.cell, **bodies),
            "HashGrid": lambda: vc.HashGrid(points, factor=2, max_cells=self.cube, **bodies),
        }
        if self.octree is not None:
            capacity, depth = self.octree
            domain = ((0.0,) * 3, (self.edge,) * 3)
            made["Octree"] = lambda: vc.Octree(points, capacity=capacity, depth=depth, domain=domain, **bodies)
        return made


def cube(edge: float) -> tuple[Corner, Corner]:
    """Corners of a cube at the origin."""
    return (0.0, 0.0, 0.0), (edge, edge, edge)


def checkerboard(fields: int, edge: float, bodies: int) -> tuple[Group, ...]:
    """Every other field of a board is filled."""
    lowers = [tuple(edge * k for k in at) for at in product(range(fields), repeat=3) if sum(at) % 2 == 0]
    return tuple(Group(bodies, 0.5, (x, y, z), (x + edge, y + edge, z + edge)) for x, y, z in lowers)


SCENARIOS = (
    Scenario(
        1, "reference", 100, (Group(100_000, 0.5, *cube(100)),), 200, 1.3, (11, 6), 128,
        {"LinkedCells": 1.75e8, "Octree": 9.04e8, "HashGrid": 1.92e8},
        {"LinkedCells": 4.42, "Octree": 17.9, "HashGrid": 12.5},
    ),
    Scenario(
        2, "inhomogeneous", 500,
        (
            Group(70_000, 0.5, (0, 200, 250), (150, 350, 350)),
            Group(25_000, 0.5, (325, 150, 100), (400, 225, 175)),
            Group(4_000, 0.5, (475, 475, 475), (500, 500, 500)),
            Group(1_000, 0.5, *cube(500)),
        ),
        200, 3.75, (11, 8), 128,
        {"LinkedCells": 7.09e8, "Octree": 8.40e8, "HashGrid": 1.59e8},
        {"LinkedCells": 13.3, "Octree": 17.3, "HashGrid": 6.50},
    ),
    Scenario(
        3, "very inhomogeneous", 2000,
        (Group(8_000, 0.5, *cube(40)), Group(68_000, 0.5, *cube(100)), Group(4_000, 0.5, *cube(2000))),
        200, 7.0, (11, 10), 128,
        {"LinkedCells": 5.06e9, "Octree": 9.72e8, "HashGrid": 1.42e8},
        {"LinkedCells": 69.1, "Octree": 17.3, "HashGrid": 5.60},
    ),
    Scenario(
        4, "checkerboard", 400, checkerboard(4, 100, 31_250), 50, 2.1, (11, 8), 256,
        {"LinkedCells": 4.87e8, "Octree": 4.12e9, "HashGrid": 3.71e8},
        {"LinkedCells": 14.8, "Octree": 64.9, "HashGrid": 16.6},
    ),
    Scenario(
        5, "polydisperse", 200, tuple(Group(12_500, radius, *cube(200)) for radius in (2, 1, 0.5, 0.25)),
        200, 4, None, 128,
        {"LinkedCells": 1.12e8, "HashGrid": 6.54e7}, {"LinkedCells": 2.64, "HashGrid": 8.99},
    ),
    Scenario(
        6, "more polydisperse", 400,
        (
            Group(320, 20, *cube(400)), Group(2_880, 2.5, *cube(400)),
            Group(12_800, 1, *cube(400)), Group(64_000, 0.5, *cube(400)),
        ),
        200, 40, None, 128,
        {"LinkedCells": 1.30e10, "HashGrid": 4.17e8}, {"LinkedCells": 165.8, "HashGrid": 18.7},
    ),
    Scenario(
        7, "very polydisperse", 400, (Group(1, 180, *cube(400)), Group(39_999, 0.5, *cube(400))),
        10, 360, None, 128,
        {"LinkedCells": 8.00e9, "HashGrid": 3.01e6}, {"LinkedCells": 104.4, "HashGrid": 0.0965},
    ),
)  # fmt: skip

# Tables 8 and 10: candidates of 10 steps without motion or walls, r 0.5 in a cube of 1024.
SCALING_EDGE, SCALING_STEPS, SCALING_RADIUS, SCALING_CUBE = 1024.0, 10, 0.5, 128
SCALING_CAPACITY, SCALING_DEPTH = 10, 10
SCALING_FEW = 20_000
SCALING = {
    10_000: {"Octree": 2.95e6, "HashGrid": 6.33e3},
    20_000: {"Octree": 1.12e7, "HashGrid": 2.55e4},
    40_000: {"Octree": 2.00e7, "HashGrid": 1.05e5},
    80_000: {"Octree": 2.51e7, "HashGrid": 4.19e5},
    160_000: {"Octree": 9.53e7, "HashGrid": 1.69e6},
    320_000: {"Octree": 1.66e8, "HashGrid": 6.72e6},
    640_000: {"Octree": 2.08e8, "HashGrid": 2.69e7},
    1_280_000: {"Octree": 7.87e8, "HashGrid": 1.08e8},
    2_560_000: {"Octree": 1.37e9, "HashGrid": 4.31e8},
    5_120_000: {"Octree": 1.69e9, "HashGrid": 1.72e9},
}

# Table 9: relations between the cells of a full grid, each its own neighbour.
RELATIONS = {2: 64, 4: 1000, 8: 10_648, 16: 97_336, 32: 830_584, 64: 6_859_000, 128: 55_742_968}

# Paper E: points in cubes of these sides, cutoff 1; it prints the ratio at both ends and the formula gives the others.
RATIO_POINTS, RATIO_DRAWS = 15_000, 4
RATIO_SIDES = range(2, 16)
RATIOS_PRINTED = {2: 0.9999, 15: 0.0069}


def place(groups: tuple[Group, ...], seed: int) -> tuple[Array, Array]:
    """Positions and radii of spheres within their regions that do not overlap: who meets an earlier one draws again."""
    rng = np.random.default_rng(seed)
    sizes = [group.bodies for group in groups]
    radii = np.repeat([float(group.radius) for group in groups], sizes)
    lower = np.repeat(np.array([group.lower for group in groups], dtype=float), sizes, axis=0) + radii[:, None]
    upper = np.repeat(np.array([group.upper for group in groups], dtype=float), sizes, axis=0) - radii[:, None]
    points = rng.uniform(lower, upper)
    for _ in range(MOST_ROUNDS):
        i, j = vc.HashGrid(points, radii=radii).pairs()
        if len(i) == 0:
            return points, radii
        again = np.unique(np.maximum(i, j))
        points[again] = rng.uniform(lower[again], upper[again])
    raise RuntimeError("the spheres do not fit into their regions")


def candidates(index: vc.Index) -> int:
    """How many pairs a structure proposes in one search."""
    index.pairs()
    return index.stats.candidates


def scaling_candidates(structure: str, bodies: int) -> float:
    """Candidates of tables 8 and 10, over all steps. Few bodies have few candidates, which scatter: they draw again."""
    draws = 16 if bodies <= SCALING_FEW else 1
    domain = ((0.0,) * 3, (SCALING_EDGE,) * 3)
    total = 0
    for seed in range(draws):
        points = np.random.default_rng(seed).uniform(0, SCALING_EDGE, (bodies, 3))
        index: vc.Index
        if structure == "HashGrid":
            index = vc.HashGrid(points, radii=SCALING_RADIUS, factor=2, max_cells=SCALING_CUBE)
        else:
            limits: Any = {"capacity": SCALING_CAPACITY, "depth": SCALING_DEPTH, "domain": domain}
            index = vc.Octree(points, radii=SCALING_RADIUS, **limits)
        total += candidates(index)
    return SCALING_STEPS * total / draws


def relations(side: int) -> int:
    """Relations of table 9: an octree with a body in each cell of a full grid of `side` cells a side."""
    at = (np.arange(side) + 0.5) / side
    points = np.stack(np.meshgrid(at, at, at, indexing="ij"), axis=-1).reshape(-1, 3)
    depth = side.bit_length() - 1
    tree = vc.Octree(points, cutoff=0.5 / side, capacity=1, depth=depth, domain=((0.0,) * 3, (1.0,) * 3))
    return int(tree.stats.details["relations"])


def ratio_points(side: int, seed: int) -> Array:
    """Points of paper E in a cube of this side."""
    return np.random.default_rng((side, seed)).uniform(0, side, (RATIO_POINTS, 3))


def expected_ratio(side: int) -> float:
    """Candidates over all pairs by paper E: each of n cells per axis meets itself and its neighbours."""
    return float(((3 * side - 2) / side**2) ** 3)


def pair_ratio(side: int) -> float:
    """Candidates of cell sorting over all pairs of two bodies; the mean of some draws, for one scatters by 1 %."""
    every = RATIO_POINTS * (RATIO_POINTS - 1) / 2
    proposed = [
        candidates(vc.CellSorting(ratio_points(side, seed), cutoff=1.0, h_mask=1)) for seed in range(RATIO_DRAWS)
    ]
    return float(np.mean(proposed)) / every


def neighbouring(points: Array) -> int:
    """Pairs of points in the same cell or in neighbouring ones, counted by adding up cells of edge 1."""
    cells = np.floor(points - points.min(axis=0)).astype(np.int64) + 1
    grid = np.zeros(cells.max(axis=0) + 2)
    np.add.at(grid, tuple(cells.T), 1)
    around = grid
    for axis in range(3):
        around = around + np.roll(around, 1, axis) + np.roll(around, -1, axis)
    return int((grid * around).sum() - len(points)) // 2
