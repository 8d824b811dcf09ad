"""One image per pair, for packages whose pairs have no others."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def nearest_images(i: Array, j: Array, d: Array) -> tuple[Array, Array, Array]:
    """Return each pair (i, j) once, with the smallest of its distances d; ordered by i, then j."""
    order = np.lexsort((d, j, i))
    i, j, d = i[order], j[order], d[order]
    first = np.ones(len(order), bool)
    first[1:] = (np.diff(i) != 0) | (np.diff(j) != 0)
    return i[first], j[first], d[first]
