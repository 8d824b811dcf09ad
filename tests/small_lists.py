"""Small lists that several tests make, and their entries."""

from __future__ import annotations

from typing import Any

import numpy as np

import vicinal as vc

FLOOR = ([[0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], [[0.0, 0.0, 1.0], [0.0, 0.1, -1.0]])
CLOUD = np.random.default_rng(5).random((200, 3))
REACH = 0.15


def entries(made: vc.NeighborList) -> list[tuple[int, int]]:
    """Every entry of a list with rows, as (row, neighbour)."""
    i = np.repeat(np.arange(len(made)), np.diff(made.offsets))
    return list(zip(i.tolist(), made.indices.tolist(), strict=True))


def made_with(layout: str, half: bool = True, **options: Any) -> vc.NeighborList:
    made = vc.NeighborList(cutoff=REACH, skin=0.05, half=half, layout=layout, **options)
    made.update(CLOUD)
    return made
