"""Compares every pair set with the definition, and counts the differences."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from contestants import IntArray, Listing
from workloads import Cloud

Keys = NDArray[np.uint64]
CHUNK = 1 << 22
# The kd-tree proposes candidates with this much slack, and the definition decides. The slack exceeds the rounding of
# any coordinate difference (in a periodic box that of numbers as large as the box, hundreds of cutoffs).
SLACK = {"float32": 1e-3, "float64": 1e-8}


@dataclass(frozen=True)
class Verdict:
    """Differences between a pair set (or counts) and the reference; all zero is correct."""

    missing: int = 0
    extra: int = 0
    repeated: int = 0

    @property
    def correct(self) -> bool:
        """Whether the sets are equal."""
        return self.missing == self.extra == self.repeated == 0

    def __str__(self) -> str:
        """Short, for a table cell."""
        if self.correct:
            return "yes"
        parts = ((self.missing, "−"), (self.extra, "+"), (self.repeated, "×"))
        return " ".join(f"{sign}{number}" for number, sign in parts if number)


class Reference:
    """
    A set of unordered pairs as sorted 64-bit keys, with a fingerprint so that correct sets need not be sorted.

    Parameters
    ----------
    keys
        ``lower * bodies + higher`` for each pair, in any order; sorted in place.
    bodies
        Number of bodies.
    """

    def __init__(self, keys: Keys, bodies: int) -> None:
        keys.sort()
        self.keys, self.bodies = keys, bodies
        self.fingerprint = fingerprint(keys)

    def __len__(self) -> int:
        """Number of pairs."""
        return len(self.keys)

    def judge(self, listing: Listing) -> Verdict:
        """Compare a listing; in a full one either direction must hold every pair."""
        if not listing.full:
            return self._judge(pair_keys(listing, self.bodies))
        upper = self._judge(pair_keys(listing, self.bodies, keep="upper"))
        lower = self._judge(pair_keys(listing, self.bodies, keep="lower"))
        return Verdict(upper.missing + lower.missing, upper.extra + lower.extra, upper.repeated + lower.repeated)

    def judge_counts(self, counts: IntArray) -> Verdict:
        """Compare neighbours per body."""
        ends = np.concatenate([self.keys // np.uint64(self.bodies), self.keys % np.uint64(self.bodies)])
        expected = np.bincount(ends.astype(np.int64), minlength=self.bodies)
        difference = counts.astype(np.int64) - expected
        return Verdict(int(-difference[difference < 0].sum()), int(difference[difference > 0].sum()))

    def _judge(self, keys: Keys) -> Verdict:
        if fingerprint(keys) == self.fingerprint:
            return Verdict()
        keys.sort()
        distinct = np.unique(keys)
        return Verdict(
            missing=len(np.setdiff1d(self.keys, distinct, assume_unique=True)),
            extra=len(np.setdiff1d(distinct, self.keys, assume_unique=True)),
            repeated=len(keys) - len(distinct),
        )


def pair_keys(listing: Listing, bodies: int, keep: str = "all") -> Keys:
    """Keys of a listing's pairs without self entries: of all, or of those with i < j ("upper") or i > j."""
    parts = []
    for start in range(0, len(listing.i), CHUNK):
        i = listing.i[start : start + CHUNK].astype(np.int64)
        j = listing.j[start : start + CHUNK].astype(np.int64)
        chosen = {"all": np.not_equal, "upper": np.less, "lower": np.greater}[keep](i, j)
        i, j = i[chosen], j[chosen]
        parts.append((np.minimum(i, j) * bodies + np.maximum(i, j)).astype(np.uint64))
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64)


def fingerprint(keys: Keys) -> tuple[int, int, int]:
    """Count, and the sum and exclusive or of scrambled keys (splitmix64): the same for every order."""
    total, mixed = 0, 0
    for start in range(0, len(keys), CHUNK):
        z = keys[start : start + CHUNK] + np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
        total = (total + int(z.sum(dtype=np.uint64))) % 2**64
        mixed ^= int(np.bitwise_xor.reduce(z)) if len(z) else 0
    return len(keys), total, mixed


def referee(cloud: Cloud) -> Reference:
    """Pairs by the definition, in the dtype of the points, among the candidates of scipy's cKDTree."""
    tree_of: Any = import_module("scipy.spatial").cKDTree
    slack = 1 + SLACK[cloud.points.dtype.name]
    candidates = tree_of(cloud.points, boxsize=cloud.box).query_pairs(cloud.cutoff * slack, output_type="ndarray")
    real = cloud.points.dtype.type
    limit = real(cloud.cutoff) * real(cloud.cutoff)
    n = len(cloud.points)
    parts = []
    for start in range(0, len(candidates), CHUNK):
        i, j = candidates[start : start + CHUNK].T
        difference = cloud.points[j] - cloud.points[i]
        if cloud.box is not None:
            # The points lie inside the box and the cutoff is below half of it: only one image can be within reach.
            edge = real(cloud.box)
            shift = (difference < -edge / 2).astype(real) - (difference > edge / 2).astype(real)
            difference += shift * edge
        squares = difference * difference
        inside = sum(squares.T[1:], start=squares[:, 0]) <= limit
        parts.append((np.minimum(i, j) * n + np.maximum(i, j))[inside].astype(np.uint64))
    return Reference(np.concatenate(parts) if parts else np.empty(0, dtype=np.uint64), n)
