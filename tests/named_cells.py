"""Cells of the kinds that other tools are tested with: primitive, hexagonal, monoclinic, tilted, mirrored, thin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class NamedCell:
    """Edge vectors as rows, and along which of them space is periodic."""

    name: str
    rows: Any
    periodic: tuple[bool, ...] = (True, True, True)

    def __str__(self) -> str:
        return self.name

    @property
    def vectors(self) -> Any:
        return np.array(self.rows, float)

    @property
    def closed(self) -> Any:
        """The same with an edge of length 1 where there is none, for packages that need three."""
        rows = self.vectors
        for k in np.flatnonzero(~rows.any(axis=1)):
            rows[k, k] = 1.0
        return rows

    def points(self, n: int, seed: int, spread: float = 3.0) -> Any:
        """Points inside the cell and around it, up to `spread` edges away."""
        rng = np.random.default_rng(seed)
        return rng.uniform(-spread, spread, (n, 3)) @ self.vectors


ANGLE = np.radians(20)
TURNED = [[np.cos(ANGLE), np.sin(ANGLE), 0], [-np.sin(ANGLE), np.cos(ANGLE), 0], [0, 0, 1]]
ROOT3 = 3**0.5 / 2
CELLS = [
    NamedCell("cubic", np.diag([1.2, 1.2, 1.2])),
    NamedCell("fcc", [[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
    NamedCell("bcc", [[-0.8, 0.8, 0.8], [0.8, -0.8, 0.8], [0.8, 0.8, -0.8]]),
    NamedCell("hexagonal", [[1, 0, 0], [0.5, ROOT3, 0], [0, 0, 1.6]]),
    NamedCell("obtuse", [[1, 0, 0], [-0.5, ROOT3, 0], [0, 0, 1.6]]),
    NamedCell("monoclinic", [[1.25, 0, 0], [0, 0.9, 0], [-0.4, 0, 1.1]]),
    NamedCell("triclinic", [[1.1, 0, 0], [0.3, 1.0, 0], [-0.5, 0.45, 0.9]]),
    NamedCell("very tilted", [[1, 0, 0], [5.3, 1, 0], [-3.1, 2.4, 1.2]]),
    NamedCell("left-handed", [[0, 1, 0.1], [1.2, 0, 0], [0, 0.2, 1]]),
    NamedCell("turned", np.diag([1.1, 0.9, 1.3]) @ np.array(TURNED)),
    NamedCell("turned against the axes", np.diag([1.0, -1.1, 0.8])[[2, 0, 1]]),
    NamedCell("slab", [[1.1, 0, 0], [0.4, 1.0, 0], [0, 0, 9]], (True, True, False)),
    NamedCell("slab without a third edge", [[1.1, 0, 0], [0.4, 1.0, 0], [0, 0, 0]], (True, True, False)),
    NamedCell("slab across", [[1.1, 0.2, 0.3], [0.4, 1.0, -0.2], [0, 0, 1]], (True, False, True)),
    NamedCell("wire", [[1, 0, 0], [0, 1, 0], [0.6, 0.7, 0.8]], (False, False, True)),
    NamedCell("thin", [[20, 0, 0], [3.3, 0.25, 0], [0.1, 0.1, 15]]),
    NamedCell("plate", [[0.7, 0, 0], [0.35, 0.6, 0], [5, 7, 40]]),
]
