"""Fit the seconds of every count to measured times, such that the fastest way is chosen.

The seconds minimise a sum of four terms, each a mean over scenes or seconds:

- the regret: the logarithm of the ratio of the time of the choice to that of the fastest way. Near the choice it is
  smooth: of two ways predicted to take about the same time, each is chosen with a probability;
- the squares of the relative errors of the predictions. A choice depends on ratios within a scene only, so errors that
  all ways of a scene have in common (a wrong estimate of the number of pairs, say) are left out. Ways that are far from
  the fastest have less weight: what will not be chosen need not be predicted well;
- the squares of these common errors, with a small weight, so that predictions are seconds;
- the spread of the seconds of a count of a structure over kinds of bodies, and over few and many bodies. There are
  more seconds than scenes, and without this term they would fit the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csc_array

from shots import Shot, Timed, settings_of, ways_of
from vicinal import _core

SOFTNESS = 0.1  # relative difference of predictions at which the choice is uncertain
COMMON = 0.02  # weight of errors that all ways of a scene have in common
SPREAD = 1.5  # weight of the spread of seconds
UNTRIED = 8.0  # a way that was not tried takes so many times as long as the fastest, at least
MOST_REGRET = 2.0  # larger logarithms of regrets count the same
# Parameters that depend on the survey may have been a little different when times were measured.
TOLERANCE = 0.35
# Lower bounds of seconds. A fit could attribute all the time of a structure to counts that happen to grow like its
# tests; without a lower bound for tests it would predict that dense cells cost nothing.
LEAST = {"test": 1e-10, "pair": 5e-10, "copy": 1e-10, "row": 1e-10, "look": 1e-10, "visit": 1e-9, "block": 5e-9}

Array = NDArray[np.float64]
Key = tuple[str, str, str, str]  # structure, kind of bodies, "few" or "many", count
Table = dict[str, dict[str, dict[str, dict[str, float]]]]  # by these four


@dataclass(frozen=True)
class Way:
    """A way to search a scene: its counts, and the seconds it took (infinite if it was not tried)."""

    scene: int
    kind: str
    bodies: int
    shot: Shot
    seconds: float

    def shares(self) -> dict[Key, float]:
        """Return the counts, weighted for the seconds for few bodies and for those for many."""
        many = _core.share_of_many(self.bodies)
        return {
            (self.shot.structure, self.kind, size, name): share * count
            for size, share in (("few", 1 - many), ("many", many))
            for name, count in self.shot.counts.items()
        }


def ways_in(rows: list[Timed]) -> list[Way]:
    """Return all ways of scenes, with their counts as they are estimated now."""
    ways = []
    for k, row in enumerate(rows):
        settings = settings_of(row.scene)
        for shot in ways_of(settings):
            seconds = row.seconds(shot, TOLERANCE)
            # A cell that depends on the survey was not tried because the survey has changed, not because it is slow.
            if math.isfinite(seconds) or "cell" not in shot.parameters:
                ways.append(Way(k, settings.bodies.kind, len(settings.bodies), shot, seconds))
    return ways


class Fit:
    """The terms of the sum as functions of the logarithms of the seconds."""

    def __init__(self, ways: list[Way]) -> None:
        shares = [way.shares() for way in ways]
        self.keys = sorted({key for share in shares for key in share})
        column = {key: k for k, key in enumerate(self.keys)}
        entries = [(w, column[key], count) for w, share in enumerate(shares) for key, count in share.items() if count]
        row, col, count = (np.array(values) for values in zip(*entries, strict=True))
        self.counts = csc_array((count, (row, col)), shape=(len(ways), len(self.keys)))
        self.scene = np.unique([way.scene for way in ways], return_inverse=True)[1]
        self.scenes = int(self.scene.max()) + 1
        seconds = np.array([way.seconds for way in ways])
        fastest = np.full(self.scenes, np.inf)
        np.minimum.at(fastest, self.scene, seconds)
        tried = np.isfinite(seconds)
        seconds = np.where(tried, seconds, UNTRIED * fastest[self.scene])
        self.measured = np.log(seconds)
        regret = seconds / fastest[self.scene]
        self.regret = np.minimum(np.log(regret), MOST_REGRET)
        self.weight = np.where(tried, 1 / regret, 0.0)
        self.weights = self._over_scenes(self.weight)
        self.least = np.array([LEAST.get(key[3], 0.0) for key in self.keys])
        names = sorted({(key[0], key[3]) for key in self.keys})
        self.group = np.array([names.index((key[0], key[3])) for key in self.keys])
        # Where each count takes an equal part of the time of a search.
        self.start = np.log([self._part(k, seconds) for k in range(len(self.keys))])

    def _part(self, column: int, seconds: Array) -> float:
        one = slice(self.counts.indptr[column], self.counts.indptr[column + 1])
        if one.start == one.stop:
            return 1e-12
        return float(np.median(0.15 * seconds[self.counts.indices[one]] / self.counts.data[one]))

    def _over_scenes(self, values: Array) -> Array:
        return np.bincount(self.scene, values, self.scenes).astype(np.float64)

    def value(self, logs: Array) -> tuple[float, Array]:
        """Return the sum and its gradient."""
        more = np.exp(logs)
        total = self.counts @ (self.least + more)
        predicted = np.log(total)
        error = predicted - self.measured
        common = self._over_scenes(self.weight * error) / self.weights
        rest = error - common[self.scene]
        # The probability of each way to be chosen, and the expected regret.
        chance = -predicted / SOFTNESS
        highest = np.full(self.scenes, -np.inf)
        np.maximum.at(highest, self.scene, chance)
        chance = np.exp(chance - highest[self.scene])
        chance /= self._over_scenes(chance)[self.scene]
        regret = self._over_scenes(chance * self.regret)
        mean = np.bincount(self.group, logs) / np.bincount(self.group)
        spread = logs - mean[self.group]
        value = (
            regret.sum() + (self.weight * rest**2).sum() + COMMON * (common**2).sum()
        ) / self.scenes + SPREAD * np.mean(spread**2)
        slope = (
            -chance * (self.regret - regret[self.scene]) / SOFTNESS
            + 2 * self.weight * rest
            + 2 * COMMON * self.weight * (common / self.weights)[self.scene]
        ) / self.scenes
        gradient = (self.counts.T @ (slope / total)) * more + 2 * SPREAD * spread / len(logs)
        return float(value), gradient

    def run(self) -> dict[Key, float]:
        """Return the seconds of every count."""
        bounds = [(start - 8, None) for start in self.start]
        found: Any = minimize(
            self.value, self.start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}
        )
        return dict(zip(self.keys, (self.least + np.exp(found.x)).tolist(), strict=True))


def fit(ways: list[Way]) -> Table:
    """Return the seconds as in costs.json: by structure, kind, few or many, and count."""
    table: Table = {}
    for (structure, kind, size, count), seconds in Fit(ways).run().items():
        table.setdefault(structure, {}).setdefault(kind, {}).setdefault(size, {})[count] = float(f"{seconds:.4g}")
    return table


def regrets(ways: list[Way], table: Table) -> Array:
    """Return, for each scene, the ratio of the time of the choice to that of the fastest way."""
    scenes: dict[int, list[tuple[float, float]]] = {}
    for way in ways:
        cost = sum(table[a][b][c][d] * count for (a, b, c, d), count in way.shares().items())
        scenes.setdefault(way.scene, []).append((cost, way.seconds))
    return np.array([min(those)[1] / min(seconds for _, seconds in those) for those in scenes.values()])
