"""Lists that are made again between two builds, for the positions and margins of the last build.

They expire after the same step as the former lists, so a restart and ranks that exchange bodies change no bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from vicinal import _core
    from vicinal.dem.simulation import Simulation

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Elements:
    """For what lists were built: a row per element; bodies that consist of several have several rows."""

    ids: npt.NDArray[np.int64]
    places: Array
    margins: Array

    @property
    def columns(self) -> tuple[npt.NDArray[Any], ...]:
        """The columns."""
        return self.ids, self.places, self.margins

    @classmethod
    def of(cls, core: _core.Grains) -> Elements:
        """Return those of the own bodies of a simulation with lists, in the order of ids."""
        places, margins = core.reference()
        owners = core.owners()
        bodies = owners if len(owners) else np.arange(core.size)
        own = core.ghosts()[bodies] == 0
        return cls(core.ids()[bodies][own], places[own], margins[own]).sorted()

    def sorted(self) -> Elements:
        """Return them in the order of ids."""
        return self.rows(np.argsort(self.ids, kind="stable"))

    def joined(self, others: Elements) -> Elements:
        """Return these and those of other bodies, in the order of ids."""
        pairs = zip(self.columns, others.columns, strict=True)
        return Elements(*(np.concatenate(columns) for columns in pairs)).sorted()

    def rows(self, rows: npt.NDArray[np.intp]) -> Elements:
        """Return some of the rows."""
        return Elements(*(column[rows] for column in self.columns))

    def of_bodies(self, ids: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
        """Return the rows of some bodies, body by body, and the number of rows of each; rows must be sorted."""
        first = np.searchsorted(self.ids, ids)
        counts = np.searchsorted(self.ids, ids, side="right") - first
        return np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum()), counts


def restore_lists(sim: Simulation, elements: Elements, wall_margin: float, wall_drift: float) -> None:
    """Give bodies and contacts their rows, and make the lists again for the elements of the own bodies."""
    core, ranks = sim._core, sim._ranks  # noqa: SLF001
    settle = core.settle
    if ranks.used:
        # Ghosts of all bodies that were within reach when the lists were built. The elements of a clump are inside the
        # sphere around one of them whose radius is the diameter of the clump.
        rows, counts = elements.of_bodies(core.ids())
        first = rows[np.cumsum(counts) - counts]
        reaches = core.get("radii") * np.where(counts > 1, 2, 1) + elements.margins[first]
        settle = ranks.fetch_ghosts(core, reaches, elements.places[first])
        elements = elements.joined(ranks.elements_of_ghosts(elements))
    else:
        core.sort_rows()
    sim._set_elements()  # noqa: SLF001
    settle()
    rows, _ = elements.of_bodies(core.ids())
    sim._set_lists(elements.places[rows], elements.margins[rows], wall_margin, wall_drift)  # noqa: SLF001


def balance(sim: Simulation) -> None:
    """Compare the work of ranks, and divide space again if that pays off."""
    core, ranks = sim._core, sim._ranks  # noqa: SLF001
    if not (ranks.pays(core) and core.has_lists):
        return
    start = perf_counter()
    margins = core.wall_margin, core.wall_drift
    restore_lists(sim, ranks.redivide(core, Elements.of(core)), *margins)
    ranks.note_division(perf_counter() - start)
