"""
Broad phases from PyPI: libraries that find all overlapping axis-aligned boxes in space.

Neither creating their objects nor converting their results to index arrays is timed: both favour
them. They are called in the fastest way that their Python interface offers.

Left out: coal's other managers (SaP loses pairs, TreeArray crashes, the rest are slower than the tree), the trees of
numba_celltree and shapely (2D), aabbtree (pure Python, far too slow).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib import import_module, metadata
from typing import Any, ClassVar

import numpy as np


class BroadPhase(ABC):
    """One peer, with its bodies."""

    name: ClassVar[str]
    distribution: ClassVar[str]
    exact: ClassVar[bool] = False
    """Whether it also tests the shapes (pybullet always does)."""
    most_bodies: ClassVar[int] = 10**9

    def __init__(self, points: Any, radii: Any) -> None:
        self.points, self.radii = points, radii
        self.lower, self.upper = points - radii[:, None], points + radii[:, None]
        self.prepare()

    @classmethod
    def version(cls) -> str | None:
        """Installed version, or None."""
        try:
            return metadata.version(cls.distribution)
        except metadata.PackageNotFoundError:
            return None

    @abstractmethod
    def prepare(self) -> None:
        """Create the objects that the library takes; not timed."""

    @abstractmethod
    def build(self) -> None:
        """Build the structure."""

    def refresh(self) -> None:
        """Update the structure to moved bodies; by default it is built again."""
        self.build()

    @abstractmethod
    def search(self) -> Any:
        """Find all pairs, in the form that the library returns."""

    def pairs(self, result: Any) -> tuple[Any, Any]:
        """Index arrays of a result, each pair once; not timed."""
        raise NotImplementedError

    def judge(self, result: Any, i: Any, j: Any) -> str:
        """Compare a result with the correct pairs; not timed."""
        return difference(self.pairs(result), (i, j), len(self.points))


class Coal(BroadPhase):
    """coal (hpp-fcl): a dynamic tree, pairs collected in C++."""

    name, distribution = "coal", "coal"

    def prepare(self) -> None:
        self.coal = coal = import_module("coal")
        turn = np.eye(3)
        self.objects = [
            coal.CollisionObject(coal.Sphere(float(r)), turn, p) for p, r in zip(self.points, self.radii, strict=True)
        ]
        # The collector reserves memory for a given number of pairs: that of a first search.
        self.room = 10 * len(self.points)
        self.build()
        self.room = self.search().numCollisionPairs() + 1

    def build(self) -> None:
        self.manager = self.coal.DynamicAABBTreeCollisionManager()
        for body in self.objects:
            self.manager.registerObject(body)
        self.manager.setup()

    def refresh(self) -> None:
        self.manager.update()

    def search(self) -> Any:
        collect = self.coal.CollisionCallBackCollect(self.room)
        self.manager.collide(collect)
        return collect

    def judge(self, result: Any, i: Any, j: Any) -> str:
        """Compare the number of pairs and look some up: the list itself is not accessible from Python."""
        if result.numCollisionPairs() != len(i):
            return f"{result.numCollisionPairs()} of {len(i)}"
        for k in np.random.default_rng(1).choice(len(i), min(len(i), 100), replace=False):
            one, other = self.objects[i[k]], self.objects[j[k]]
            if not (result.exist(one, other) or result.exist(other, one)):
                return "pairs missing"
        return "right number"


class Fcl(BroadPhase):
    """python-fcl: a dynamic tree, and a Python function called for every pair."""

    name, distribution = "python-fcl", "python-fcl"

    def prepare(self) -> None:
        self.fcl = fcl = import_module("fcl")
        self.objects = [
            fcl.CollisionObject(fcl.Sphere(float(r)), fcl.Transform(p))
            for p, r in zip(self.points, self.radii, strict=True)
        ]

    def build(self) -> None:
        self.manager = self.fcl.DynamicAABBTreeCollisionManager()
        self.manager.registerObjects(self.objects)
        self.manager.setup()

    def refresh(self) -> None:
        self.manager.update()

    def search(self) -> Any:
        result: list[Any] = []

        def note(first: Any, second: Any, _: Any) -> bool:
            result.append((first, second))
            return False

        self.manager.collide(None, note)
        return result

    def pairs(self, result: Any) -> tuple[Any, Any]:
        # Bodies are returned in new wrappers; only their positions identify them.
        number = {point.tobytes(): k for k, point in enumerate(self.points)}
        known = np.array([[number[body.getTranslation().tobytes()] for body in pair] for pair in result]).reshape(-1, 2)
        return known[:, 0], known[:, 1]


class RTree(BroadPhase):
    """rtree (libspatialindex): bulk loading and one call for all queries."""

    name, distribution = "rtree", "rtree"

    def prepare(self) -> None:
        self.module = import_module("rtree.index")

    def build(self) -> None:
        shape = self.module.Property(dimension=3)
        ids = np.arange(len(self.points))
        self.tree = self.module.Index((ids, self.lower, self.upper), properties=shape)

    def search(self) -> Any:
        return self.tree.intersection_v(self.lower, self.upper)

    def pairs(self, result: Any) -> tuple[Any, Any]:
        second, counts = (np.asarray(part, dtype=np.int64) for part in result)
        first = np.repeat(np.arange(len(self.points)), counts)
        once = first < second
        return first[once], second[once]


class Bullet(BroadPhase):
    """pybullet: two dynamic trees with a cache of pairs, and the contact of every pair."""

    name, distribution, exact = "pybullet", "pybullet", True
    most_bodies = 10_000  # the time to create bodies grows with the square of their number

    def prepare(self) -> None:
        self.bullet = import_module("pybullet")

    def build(self) -> None:
        b = self.bullet
        if b.isConnected():
            b.disconnect()
        b.connect(b.DIRECT)
        for point, radius in zip(self.points.tolist(), self.radii.tolist(), strict=True):
            shape = b.createCollisionShape(b.GEOM_SPHERE, radius=radius)
            b.createMultiBody(1, shape, -1, point, useMaximalCoordinates=1)

    def refresh(self) -> None:
        """Keep the bodies at rest, which is the best case for the cache of pairs."""

    def search(self) -> Any:
        self.bullet.performCollisionDetection()
        return self.bullet.getContactPoints()

    def pairs(self, result: Any) -> tuple[Any, Any]:
        known = np.array([contact[1:3] for contact in result if contact[8] <= 0]).reshape(-1, 2)
        return known[:, 0], known[:, 1]


PEERS: tuple[type[BroadPhase], ...] = (Coal, Fcl, RTree, Bullet)


def overlapping(lower: Any, upper: Any) -> tuple[Any, Any]:
    """Return all pairs of overlapping boxes with NumPy only, from boxes sorted by their lower ends."""
    order = np.argsort(lower[:, 0], kind="stable")
    low, high = lower[order], upper[order]
    ends = np.searchsorted(low[:, 0], high[:, 0], side="right")
    found_i, found_j = [], []
    first = 0
    while first < len(order):
        counts = ends[first:] - np.arange(first + 1, len(order) + 1)
        last = first + max(1, int(np.searchsorted(np.cumsum(counts), 10_000_000)))
        counts = counts[: last - first]
        i = np.repeat(np.arange(first, first + len(counts)), counts)
        j = np.arange(len(i)) - np.repeat(np.cumsum(counts) - counts, counts) + i + 1
        hit = ((low[j, 1:] <= high[i, 1:]) & (low[i, 1:] <= high[j, 1:])).all(axis=1)
        found_i.append(order[i[hit]])
        found_j.append(order[j[hit]])
        first += len(counts)
    return np.concatenate(found_i), np.concatenate(found_j)


def as_set(i: Any, j: Any, bodies: int) -> Any:
    """Sorted numbers, one for each unordered pair."""
    return np.sort(np.minimum(i, j).astype(np.int64) * bodies + np.maximum(i, j))


def difference(result: tuple[Any, Any], expected: tuple[Any, Any], bodies: int) -> str:
    """The numbers of missing (−), additional (+) and repeated (×) pairs."""
    ours, theirs = as_set(*result, bodies), as_set(*expected, bodies)
    missing, extra = len(np.setdiff1d(theirs, ours)), len(np.setdiff1d(ours, theirs))
    counts = (("−", missing), ("+", extra), ("×", len(ours) - len(np.unique(ours))))
    return " ".join(f"{sign}{count}" for sign, count in counts if count) or "right"
