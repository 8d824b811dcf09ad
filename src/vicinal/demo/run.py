"""The main job: move the scene, find all pairs at every step, keep a few frames for the picture."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

import vicinal as vc
from vicinal.demo.galaxies import DURATION, Stars

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

FRAMES = 6
"""Moments kept for the picture: one large panel and a strip of five."""


@dataclass(frozen=True, kw_only=True)
class DemoSettings:
    """Settings of the demonstration.

    Attributes
    ----------
    bodies
        Number of stars.
    steps
        Number of searches, spread evenly over the encounter.
    seed
        Seed of the random start.

    Examples
    --------
    >>> DemoSettings(bodies=1000, steps=2, seed=1).cutoff > DemoSettings(bodies=2000, steps=2, seed=1).cutoff
    True
    """

    bodies: int = 300_000
    steps: int = 200
    seed: int = 7

    def __post_init__(self) -> None:
        """Refuse values that cannot be run."""
        for name in ("bodies", "steps"):
            if getattr(self, name) < 1:
                message = f"{name} must be at least 1, got {getattr(self, name)}"
                raise vc.InputError(message)
        if self.seed < 0:
            message = f"seed must not be negative, got {self.seed}"
            raise vc.InputError(message)

    @property
    def cutoff(self) -> float:
        """Cutoff that gives a star some 35 neighbours on average, for any number of stars.

        Neighbours grow as n r^2 in a thin disc and as n r^3 inside its thickness; the cutoffs of interest are
        close to the thickness, and n r^2.5 holds the mean within 30 to 45 from 10^4 to 10^6 stars (measured).
        """
        return float(0.025 * (80_000 / self.bodies) ** 0.4)


@dataclass(frozen=True, kw_only=True)
class DemoMoment:
    """The scene at one moment, as the picture shows it."""

    time: float
    points: NDArray[np.float32]
    counts: NDArray[np.int32]


@dataclass(frozen=True, kw_only=True)
class DemoFrame:
    """A finished step: pairs found, candidates tested, time spent; some steps have a frame."""

    number: int
    pairs: int
    candidates: int
    structure: str
    search_seconds: float
    frame: DemoMoment | None


@dataclass(frozen=True, kw_only=True)
class Summary:
    """The steps done, added up.

    Attributes
    ----------
    steps
        Number of steps done.
    pairs, candidates
        Totals over these steps.
    structure
        The structure that `vicinal.choose` picked.
    search_seconds
        Time spent on building and searching; motion and picture are not in it.
    """

    steps: int
    pairs: int
    candidates: int
    structure: str
    search_seconds: float

    @property
    def pairs_per_second(self) -> float:
        """Pairs found per second of search."""
        return self.pairs / self.search_seconds if self.search_seconds > 0 else 0.0

    @property
    def nanoseconds_per_pair(self) -> float:
        """Search time for each pair found, in nanoseconds (0 when there is no pair)."""
        return 1e9 * self.search_seconds / self.pairs if self.pairs else 0.0


def simulate(settings: DemoSettings) -> Iterator[DemoFrame]:
    """Run the demonstration step by step.

    Parameters
    ----------
    settings
        The settings.

    Yields
    ------
    DemoFrame
        One for every search, in order. Stopping early leaves nothing behind.

    Examples
    --------
    >>> steps = list(simulate(DemoSettings(bodies=500, steps=3)))
    >>> len(steps), [step.frame is not None for step in steps]
    (3, [True, True, True])
    """
    stars = Stars(settings.bodies, seed=settings.seed)
    index, structure = _index(stars.points, cutoff=settings.cutoff)
    interval = DURATION / max(1, settings.steps - 1)
    kept = frame_steps(settings.steps)
    for number in range(settings.steps):
        begin = perf_counter()
        index.update(stars.points)
        first, _ = index.pairs(want="ij")
        seconds = perf_counter() - begin
        pairs, candidates = len(first), index.stats.candidates
        frame = None
        if number in kept:
            frame = DemoMoment(time=number * interval, points=stars.points.copy(), counts=index.count())
        # Frees the memory of the pairs before the next search needs it.
        del first, _
        yield DemoFrame(
            number=number,
            pairs=pairs,
            candidates=candidates,
            structure=structure,
            search_seconds=seconds,
            frame=frame,
        )
        if number + 1 < settings.steps:
            stars.move(interval)


def frame_steps(steps: int) -> frozenset[int]:
    """Numbers of the steps to keep for the picture, the first and the last among them.

    Examples
    --------
    >>> sorted(frame_steps(11))
    [0, 2, 4, 6, 8, 10]
    >>> sorted(frame_steps(2))
    [0, 1]
    """
    return frozenset(np.linspace(0, steps - 1, min(FRAMES, steps)).round().astype(int).tolist())


def summarise(steps: Sequence[DemoFrame]) -> Summary:
    """Add up the steps done (at least one).

    Examples
    --------
    >>> summarise(list(simulate(DemoSettings(bodies=500, steps=2)))).steps
    2
    """
    return Summary(
        steps=len(steps),
        pairs=sum(step.pairs for step in steps),
        candidates=sum(step.candidates for step in steps),
        structure=steps[0].structure,
        search_seconds=sum(step.search_seconds for step in steps),
    )


def _index(points: NDArray[np.float32], *, cutoff: float) -> tuple[vc.Index, str]:
    """Build the structure that the chooser recommends for these points."""
    choice = vc.choose(points, cutoff=cutoff)
    structure: type[vc.Index] = getattr(vc, choice.structure)
    return structure(points, cutoff=cutoff, **choice.parameters), choice.structure
