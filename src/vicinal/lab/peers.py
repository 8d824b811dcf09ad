"""Installed libraries from PyPI that also find close pairs.

Each is used in the fastest documented way. Building is part of every call: none of them can update bodies that
have moved.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from vicinal.scenes import SampleScene

Search = Callable[[Any], Any]
"""Finds all pairs, given positions."""


def peers(scene: SampleScene) -> dict[str, Search]:
    """Return the peers that can search a scene of spheres: by name, a call that takes the positions.

    Trees and cell lists have one cutoff, so they take part if all spheres have one size; an R-tree takes boxes.
    """
    if scene.radii is None or not len(scene):
        return {}
    searches: dict[str, Search] = {}
    alike = bool((scene.radii == scene.radii[0]).all())
    if alike and find_spec("scipy") is not None:
        searches["scipy cKDTree"] = partial(_scipy, 2 * float(scene.radii[0]))
    if alike and find_spec("vesin") is not None:
        searches["vesin"] = partial(_vesin, 2 * float(scene.radii[0]))
    if not alike and find_spec("rtree") is not None:
        searches["rtree (boxes)"] = partial(_rtree, scene.radii)
    return searches


def _scipy(cutoff: float, points: Any) -> Any:
    return import_module("scipy.spatial").cKDTree(points).query_pairs(cutoff, output_type="ndarray")


def _vesin(cutoff: float, points: Any) -> Any:
    # Without a period its cells are laid over the bounds of this box.
    box = np.diag(np.ptp(points, axis=0) + cutoff)
    search = import_module("vesin").NeighborList(cutoff=cutoff, full_list=False)
    return search.compute(points - points.min(axis=0), box=box, periodic=False, quantities="ij")


def _rtree(radii: Any, points: Any) -> Any:
    module = import_module("rtree.index")
    lower, upper = points - radii[:, None], points + radii[:, None]
    tree = module.Index((np.arange(len(points)), lower, upper), properties=module.Property(dimension=points.shape[1]))
    return tree.intersection_v(lower, upper)
