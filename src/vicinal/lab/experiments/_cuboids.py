"""Common parts of the experiments of Schornbaum 2009: moving cuboids, and the times of updates and searches.

There are two pairs per body, and each body moves along a straight line, by up to a given fraction of its size per step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import vicinal as vc
from vicinal.lab.published import PublishedHashGrid
from vicinal.scenes import SampleScene, drift, headings
from vicinal.timing import RoundTimer

USUAL = 0.2
"""Largest motion in a step, relative to the size."""

PUBLISHED, OURS = "HashGrid", "HashGrid, ours"

MAKERS: Mapping[str, Callable[..., vc.Index]] = {
    # Grids of 16³ cells at first, growing when bodies exceed an eighth of the cells, cells growing by two.
    PUBLISHED: lambda **bodies: PublishedHashGrid(factor=2, dims=16, fill=0.125, **bodies),
    OURS: lambda **bodies: vc.HashGrid(**bodies),
    "Exhaustive": lambda **bodies: vc.Exhaustive(**bodies),
    "SweepAndPrune": lambda **bodies: vc.SweepAndPrune(**bodies),
}


@dataclass
class Times:
    """Set-up, updates and searches of one structure."""

    setup: RoundTimer = field(default_factory=RoundTimer)
    update: RoundTimer = field(default_factory=RoundTimer)
    search: RoundTimer = field(default_factory=RoundTimer)
    pairs: int = 0

    @property
    def step(self) -> float:
        """CPU seconds of an update and a search."""
        return self.update.best + self.search.best


def move(
    scene: SampleScene, makers: Mapping[str, Callable[..., vc.Index]], *, share: float, steps: int, seed: int
) -> dict[str, Times]:
    """Move the bodies and time each structure in turn; all must find the same number of pairs."""
    if scene.edges is None:
        raise TypeError("the scene has no boxes")
    times = {name: Times() for name in makers}
    kept = {}
    for name, make in makers.items():
        kept[name] = times[name].setup.run(partial(make, **scene.bodies))
    speed = headings(len(scene), share * scene.edges.max(axis=1), seed=seed)
    region = {"lower": scene.lower, "upper": scene.upper} if scene.periodic else {}
    path = drift(scene.points, speed, periodic=scene.periodic, **region)
    # The first step is a warm-up, in which buffers are allocated.
    for turn, at in enumerate(islice(path, 1, steps + 2)):
        now = scene.at(at)
        for name, index in kept.items():
            one = times[name] if turn else Times()
            one.update.run(partial(index.update, **now))
            pairs = one.search.run(index.pairs)
            times[name].pairs = len(pairs[0])
    counts = {name: one.pairs for name, one in times.items()}
    if len(set(counts.values())) > 1:
        raise RuntimeError(f"structures found different pairs: {counts}")
    return times
