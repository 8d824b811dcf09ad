"""How thick a skin pays: the model behind `NeighborList(skin="auto")`."""

from __future__ import annotations

import math
from collections import deque
from dataclasses import dataclass
from statistics import median

# Skins that are compared, as shares of the reach of a pair; a list of twice the reach has eight times the entries.
SHARES = (0.0, 0.02, 0.04, 0.06, 0.08, 0.1, 0.13, 0.16, 0.2, 0.25, 0.3, 0.35, 0.4, 0.5, 0.6, 0.8, 1.0)
# Before anything is known about motion: thick enough to watch it for some steps, at little cost if it is fast.
FIRST_SHARE = 0.1
# A way in one step this many times as long as those before is a jump, not motion that a skin can be made for.
JUMP = 4.0
# Builds that are remembered, and gaps between updates; the median of gaps is not disturbed by output now and then.
BUILDS = 4
GAPS = 15
# After a skin that lasted less than half as long as predicted, this many builds have none; twice as many the next time.
FIRST_PAUSE = 8
LONGEST_PAUSE = 1024
# Nobody moves: a build lasts this many steps, for all we know.
LONGEST = 1e9


@dataclass(frozen=True)
class Costs:
    """Seconds: of a build without a skin, of a check, and of the consumer's loop without a skin."""

    build: float
    check: float
    consumer: float


@dataclass(frozen=True)
class Motion:
    """How far the fastest body gets in `steps` steps, `pace * steps**power`, and steps between jumps."""

    pace: float
    power: float
    jumps: float = math.inf

    def lasting(self, budget: float) -> float:
        """Return after how many steps a budget is used up."""
        steps = LONGEST if self.pace <= 0 else (budget / self.pace) ** (1 / self.power)
        return min(steps, self.jumps, LONGEST)


def growth(share: float, dim: int) -> float:
    """Return how many times more entries a list with this skin has."""
    return float((1 + share) ** dim)


def seconds_per_step(share: float, reach: float, dim: int, costs: Costs, motion: Motion) -> float:
    """Return what a step costs with a skin of this share of the reach."""
    more = growth(share, dim)
    if share == 0:
        return costs.build + costs.consumer
    # The step that finds the budget used up pays for the check and the build.
    steps = math.floor(motion.lasting(share * reach / 2)) + 1
    return costs.build * more / steps + costs.check + costs.consumer * more


def _usual(seconds: deque[float]) -> float:
    return median(seconds) if seconds else 0.0


class SkinTuner:
    """Chooses a skin before every build from what was measured until then.

    Parameters
    ----------
    consumer
        Seconds per entry the consumer's loop takes; None measures the time between updates and takes all of it for the
        loop over the list, which errs towards thin skins.
    """

    def __init__(self, consumer: float | None = None) -> None:
        self._consumer = consumer
        # Seconds, per entry of a list without a skin where they grow with the skin.
        self._builds: deque[float] = deque(maxlen=BUILDS)
        self._gaps: deque[float] = deque(maxlen=GAPS)
        self._checks: deque[float] = deque(maxlen=GAPS)
        self._entries = 0.0  # of a list without a skin
        self._more = 1.0  # times as many entries has this one
        self._ways: list[float] = []  # the longest way after each step since the build
        self._motion: Motion | None = None
        self._predicted = 0.0
        self._pause = 0
        self._next_pause = FIRST_PAUSE
        self.reason = "nothing was built yet"

    def note_gap(self, seconds: float) -> None:
        """Note the time between two updates."""
        self._gaps.append(seconds / self._more)

    def note_way(self, way: float) -> None:
        """Note how far the fastest body is from where it was at the last build, one step later than before."""
        self._ways.append(way)

    def note_forced(self) -> None:
        """Note that the list is built again; if nobody looked at motion, then it was not because of motion."""
        if not self._ways:
            self._ways = [math.inf]

    def note_check(self, seconds: float) -> None:
        """Note what a check took."""
        self._checks.append(seconds)

    def note_build(self, seconds: float, entries: int, share: float, dim: int) -> None:
        """Note what a build took, and that motion is counted from here."""
        self._more = growth(share, dim)
        self._builds.append(seconds / self._more)
        self._entries = entries / self._more
        self._ways = []

    def _costs(self) -> Costs:
        consumer = self._consumer * self._entries if self._consumer is not None else _usual(self._gaps)
        # Only the first build of a size waits for fresh memory: the least is what builds will take.
        return Costs(min(self._builds), _usual(self._checks), consumer)

    def choose(self, reach: float, dim: int, most: float) -> float:
        """Return the skin for the next build, at most `most`."""
        self._learn()
        if not self._builds or self._motion is None:
            skin = min(FIRST_SHARE * reach, most)
            self.reason = "a first guess: nothing was measured yet"
            self._predicted = 0.0
            return skin
        if self._pause > 0:
            self._pause -= 1
            self.reason = f"bodies moved faster than predicted, so none is tried for {self._pause + 1} more builds"
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
            self.reason = f"{facts}: no skin lasts long enough to pay"
        return best * reach

    def _learn(self) -> None:
        """Turn the ways since the last build into a law of motion."""
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
        self._motion = Motion(ways[-1] / steps**power, power, jumps)
