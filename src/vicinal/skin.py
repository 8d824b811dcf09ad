"""How thick the skin of a list should be: chosen from measured times, or from counted steps."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from statistics import median

import numpy as np
import numpy.typing as npt

# Skins that are compared, as shares of the reach of a pair; a list of twice the reach has eight times the entries.
SHARES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
# The first skin, before any motion is known: thick enough to measure it over some steps, and cheap if it is fast.
FIRST_SHARE = 0.1
# A motion in one step this many times as long as those before is a jump, for which no skin is thick enough.
JUMP = 4.0
# Builds and gaps between updates that are remembered; occasional output does not disturb the median of gaps.
BUILDS = 4
GAPS = 15
# After a skin that lasted less than half as long as predicted, this many builds have no skin; next time twice as many.
FIRST_PAUSE = 8
LONGEST_PAUSE = 1024
# How many steps a list lasts if no body moves.
LONGEST = 1e9


@dataclass(frozen=True)
class ListCosts:
    """Seconds of a build without a skin, of a check, and of the consumer's loop without a skin."""

    build: float
    check: float
    consumer: float


@dataclass(frozen=True)
class BodyMotion:
    """How far the fastest body gets in `steps` steps, `pace * steps**power`, and steps between jumps."""

    pace: float
    power: float
    jumps: float = math.inf

    def lasting(self, budget: float) -> float:
        """Return the number of steps after which a budget is used up."""
        steps = LONGEST if self.pace <= 0 else (budget / self.pace) ** (1 / self.power)
        return min(steps, self.jumps, LONGEST)


def growth(share: float, dim: int) -> float:
    """Return the number of entries of a list with this skin, relative to one without."""
    return float((1 + share) ** dim)


def seconds_per_step(share: float, reach: float, dim: int, costs: ListCosts, motion: BodyMotion) -> float:
    """Return the cost of a step with a skin of this share of the reach."""
    more = growth(share, dim)
    if share == 0:
        return costs.build + costs.consumer
    # The step that finds the budget used up pays for the check and the build.
    steps = math.floor(motion.lasting(share * reach / 2)) + 1
    return costs.build * more / steps + costs.check + costs.consumer * more


def _usual(seconds: deque[float]) -> float:
    return median(seconds) if seconds else 0.0


class SkinTuner:
    """Chooses a skin before every build from the times and motions measured so far.

    Parameters
    ----------
    consumer
        Seconds per entry that the consumer's loop takes. None: the time between updates is measured and counted as the
        loop over the list, which errs towards thin skins.
    """

    def __init__(self, consumer: float | None = None) -> None:
        self._consumer = consumer
        # Seconds, per entry of a list without a skin where they grow with the skin.
        self._builds: deque[float] = deque(maxlen=BUILDS)
        self._gaps: deque[float] = deque(maxlen=GAPS)
        self._checks: deque[float] = deque(maxlen=GAPS)
        self._entries = 0.0  # of a list without a skin
        self._more = 1.0  # entries of the present list, relative to one without a skin
        self._ways: list[float] = []  # the longest displacement after each step since the build
        self._motion: BodyMotion | None = None
        self._predicted = 0.0
        self._pause = 0
        self._next_pause = FIRST_PAUSE
        self.reason = "no list was built yet"

    def note_gap(self, seconds: float) -> None:
        """Note the time between two updates."""
        self._gaps.append(seconds / self._more)

    def note_way(self, way: float) -> None:
        """Note how far the fastest body is from its position at the last build, one step later than before."""
        self._ways.append(way)

    def note_forced(self) -> None:
        """Note that the list is built again. If no motion was measured, motion was not the reason."""
        if not self._ways:
            self._ways = [math.inf]

    def note_check(self, seconds: float) -> None:
        """Note the time of a check."""
        self._checks.append(seconds)

    def note_build(self, seconds: float, entries: int, share: float, dim: int) -> None:
        """Note the time of a build, and count motion from here."""
        self._more = growth(share, dim)
        self._builds.append(seconds / self._more)
        self._entries = entries / self._more
        self._ways = []

    def _costs(self) -> ListCosts:
        consumer = self._consumer * self._entries if self._consumer is not None else _usual(self._gaps)
        # The first build of a size also waits for new memory, so the least time predicts the next build best.
        return ListCosts(min(self._builds), _usual(self._checks), consumer)

    def choose(self, reach: float, dim: int, most: float) -> float:
        """Return the skin for the next build, at most `most`."""
        self._learn()
        if not self._builds or self._motion is None:
            skin = min(FIRST_SHARE * reach, most)
            self.reason = "a first guess: no motion was measured yet"
            self._predicted = 0.0
            return skin
        if self._pause > 0:
            self._pause -= 1
            self.reason = f"bodies moved faster than predicted, so no skin is tried for {self._pause + 1} more builds"
            self._predicted = 0.0
            return 0.0
        costs, motion = self._costs(), self._motion
        best = min(
            (share for share in SHARES if share * reach <= most),
            key=lambda share: seconds_per_step(share, reach, dim, costs, motion),
        )
        with_skin, without = (seconds_per_step(share, reach, dim, costs, motion) for share in (best, 0.0))
        steps = motion.lasting(best * reach / 2)
        self._predicted = steps if best > 0 else 0.0
        if math.isinf(motion.pace):
            self.reason = "sizes, box or number of bodies change, so the list has to be built at every step"
            return best * reach
        facts = (
            f"a build without skin takes {costs.build * 1e3:.3g} ms, the loop over it {costs.consumer * 1e3:.3g} ms, "
            f"and the fastest body moves {motion.pace / reach if reach else 0:.2%} of the reach in a step"
        )
        if best > 0:
            self.reason = (
                f"{facts}: {best:.0%} of the reach lasts about {max(steps, 1):.3g} steps and costs "
                f"{with_skin * 1e3:.3g} ms per step instead of {without * 1e3:.3g}"
            )
        else:
            self.reason = f"{facts}: no skin would pay off"
        return best * reach

    def _learn(self) -> None:
        """Fit the law of motion to the motions since the last build."""
        ways = self._ways
        if not ways:
            return
        steps = len(ways)
        if self._predicted >= 2 and steps < self._predicted / 2:
            self._pause, self._next_pause = self._next_pause, min(2 * self._next_pause, LONGEST_PAUSE)
        elif self._predicted:
            self._next_pause = FIRST_PAUSE
        jumps = self._motion.jumps if self._motion is not None else math.inf
        last = ways[-1] - (ways[-2] if steps > 1 else 0.0)
        usual = ways[-2] / (steps - 1) if steps > 1 else math.inf
        if last > JUMP * usual:
            jumps = steps if math.isinf(jumps) else (jumps + steps) / 2
            ways = ways[:-1]
        elif steps > jumps:
            jumps = math.inf
        steps = len(ways)
        power = 1.0
        early = max(1, steps // 4)
        if steps >= 4 and ways[early - 1] > 0 and math.isfinite(ways[-1]):
            power = math.log(max(ways[-1] / ways[early - 1], 1.0)) / math.log(steps / early)
            power = min(max(power, 0.5), 1.0)
        self._motion = BodyMotion(ways[-1] / steps**power, power, jumps)


# Skins from counted steps. A build costs about as much as testing 16 entries per body, and a skin of one diameter adds
# about 16 entries per body (benchmarks/dem.py). So lists that last this many steps × diameters / skin cost least.
LIFE_TIMES_SKIN = 16.0
FIRST_SKIN, LEAST_SKIN, MOST_SKIN = 0.1, 0.02, 0.6  # in diameters
# The share of all bodies that are slower than the speed for which half a skin is meant.
USUAL_SPEED = 0.9
# A list lasts at least this many steps.
LEAST_STEPS = 3.0


def next_skin(skin: float, life: int, diameter: float) -> float:
    """Return the skin that would have cost least at the speed at which the last one was used up.

    Steps are counted, not seconds: the same run makes the same lists.

    Examples
    --------
    >>> next_skin(0.1, 160, 1.0)
    0.1
    >>> next_skin(0.1, 10, 1.0)
    0.2
    """
    best = math.sqrt(LIFE_TIMES_SKIN * skin * diameter / max(life, 1))
    best = min(max(best, 0.5 * skin), 2 * skin)
    return min(max(best, LEAST_SKIN * diameter), MOST_SKIN * diameter)


Array = npt.NDArray[np.float64]


def usual_place(bodies: int) -> int:
    """Return the place of the speed that half a skin is meant for among the sorted speeds of all bodies."""
    return int(USUAL_SPEED * (bodies - 1))


def margins_of(skin: float, speeds: Array, usual: float, dt: float, most: Array) -> Array:
    """Return how far each body may move before the list is built again.

    `usual` is the speed that half a skin is meant for. Most bodies may move by half a skin. The few that are faster
    than nearly all others get larger margins, at most `most`, because they alone would use up the list for all. Every
    margin lasts some steps.

    Examples
    --------
    >>> import numpy as np
    >>> speeds = np.array([0.0, *[1.0] * 18, 5.0])
    >>> margins_of(0.2, speeds, np.sort(speeds)[usual_place(20)], 1e-3, np.full(20, 0.4))[[0, 1, 19]]
    array([0.1, 0.1, 0.4])
    """
    faster = np.ones(len(speeds)) if usual == 0 else np.maximum(speeds / usual, 1.0)
    if usual == 0:
        faster[speeds > 0] = np.inf
    margins = np.minimum(0.5 * skin * faster, np.maximum(most, 0.5 * skin))
    return np.maximum(margins, LEAST_STEPS * speeds * dt)


class StepTuner:
    """Chooses a skin before every build from the number of steps that the last list lasted.

    It has the methods of `SkinTuner`, but uses no times. The same updates get the same skins on any machine.
    """

    def __init__(self, consumer: float | None = None) -> None:
        self._consumer = consumer
        self._skin = 0.0
        self._life = 0  # updates since the build
        self._used_up = False
        self.reason = "no list was built yet"

    def note_gap(self, seconds: float) -> None:
        """Ignore the time between two updates."""

    def note_check(self, seconds: float) -> None:
        """Ignore the time of a check."""

    def note_way(self, way: float) -> None:
        """Count an update whose motion was measured."""
        self._life += 1
        self._used_up = way > 0

    def note_forced(self) -> None:
        """Note that the list is built again, for any reason."""

    def note_build(self, seconds: float, entries: int, share: float, dim: int) -> None:  # noqa: ARG002
        """Count updates from here."""
        self._life, self._used_up = 0, False

    def choose(self, reach: float, dim: int, most: float) -> float:  # noqa: ARG002
        """Return the skin for the next build, at most `most`."""
        if self._skin == 0:
            self._skin = FIRST_SKIN * reach
            self.reason = "the first skin: no list was used up yet"
        elif self._used_up:
            self._skin = next_skin(self._skin, self._life, reach)
            self.reason = f"the last list lasted {self._life} updates"
        return min(self._skin, most)


TUNERS: dict[str, type[SkinTuner | StepTuner]] = {"auto": SkinTuner, "steps": StepTuner}
