"""Connected components of bodies, without storing pairs: `components`."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from vicinal.bodies import BoxesLike
from vicinal.cell import BoxLike, PeriodicLike
from vicinal.search import index_of
from vicinal.settings import check_settings
from vicinal.structures import StructureLike


def components(
    points: npt.ArrayLike | None = None,
    cutoff: npt.ArrayLike | None = None,
    *,
    radii: npt.ArrayLike | None = None,
    boxes: BoxesLike | None = None,
    skin: float = 0.0,
    box: BoxLike = None,
    periodic: PeriodicLike = None,
    criterion: str = "sum",
    types: npt.ArrayLike | None = None,
    groups: npt.ArrayLike | None = None,
    exclude: npt.ArrayLike | None = None,
    r_min: float = 0.0,
    structure: StructureLike = None,
) -> npt.NDArray[np.int32]:
    """Label the connected components of bodies (friends of friends): bodies that chains of pairs connect.

    Components are joined during the search and pairs are never stored, so memory does not grow with their number.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, box, periodic, criterion, types, groups, exclude, r_min, structure
        As for `pairs`.

    Returns
    -------
    array
        int32, a label per body. Labels are 0, 1, … in the order of the smallest number in each component; their number
        is ``labels.max() + 1``, and ``numpy.bincount(labels)`` are the sizes.

    Examples
    --------
    >>> vicinal.components([[0.0, 0.0], [9.0, 0.0], [1.0, 0.0], [2.0, 0.0]], 1.0).tolist()
    [0, 1, 0, 0]
    """
    settings = check_settings(
        points,
        cutoff,
        radii=radii,
        boxes=boxes,
        skin=skin,
        box=box,
        periodic=periodic,
        criterion=criterion,
        types=types,
        groups=groups,
        exclude=exclude,
        r_min=r_min,
    )
    return index_of(settings, structure).components()
