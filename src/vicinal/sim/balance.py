"""Work that ranks share: measured, compared, and divided again when that pays off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from vicinal.sim.ranks import Ranks

if TYPE_CHECKING:
    from mpi4py.MPI import Intracomm

TOLERANCE = 1.01
"""Space is not divided again as long as no rank's work exceeds this many times the mean."""

SMOOTHING = 0.5
"""Weight of the newest measurement of what a body costs; the rest is that of earlier ones."""


class BalancedRanks(Ranks):
    """Ranks that divide space by what their bodies cost.

    Parameters
    ----------
    comm, box
        As for `Ranks`.
    """

    def __init__(self, comm: Intracomm | None, box: Sequence[float]) -> None:
        super().__init__(comm, box)
        self.spent = 0.0
        """CPU seconds of the steps of this rank since the work was last compared; waiting does not count."""
        self._cost = 0.0
        """Smoothed CPU seconds of a body of this rank since the last division, 0 if they are not known."""
        self._lost = self._price = 0.0
        """Seconds that ranks have waited for the slowest since the last division, and what that division took.

        The first division does not count: it is not made for the sake of balance."""
        self.compared = 0
        """The step in which the work of ranks was last compared."""

    def division_pays(self, bodies: int) -> bool:
        """Return whether to divide space again, from the work of all ranks since the last call.

        It pays once the time lost to unequal work exceeds that of a division. All ranks get the same answer.
        """
        spent, self.spent = self.spent, 0.0
        if bodies and spent > 0:
            newest = spent / bodies
            self._cost = SMOOTHING * newest + (1 - SMOOTHING) * self._cost if self._cost else newest
        described = np.array(self.gathered((spent, self._cost, bodies)))
        work = described[:, 1] * described[:, 2]
        if not (described[:, 1] > 0)[described[:, 2] > 0].all():  # some rank has not measured its bodies yet
            self._cost, work = 0.0, described[:, 2]
        self._lost += float(described[:, 0].max() - described[:, 0].mean())
        return bool(work.max() > TOLERANCE * work.mean() and self._lost >= self._price)

    def divide_by_cost(self, positions: npt.NDArray[np.float64]) -> None:
        """Divide space by own bodies, whose positions are wrapped, so that every rank has the same work."""
        assert self.domain is not None  # noqa: S101 - only called with a communicator
        self.domain.parts = self.domain.divide(positions, np.full(len(positions), self._cost or 1.0))
        self.divided = self.count(len(positions)) > 0

    def note_division(self, seconds: float) -> None:
        """Note what a division took. What a body costs is measured again, since ranks have other bodies now."""
        self._cost = self._lost = 0.0
        self._price = self.largest(seconds)
