"""What a search on ranks looks for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal import _check
from vicinal.bodies import BoxesLike, QueryArguments, check_bodies, check_boxes, check_points, check_spheres
from vicinal.distributed.agreement import passed
from vicinal.errors import InputError
from vicinal.settings import check_settings
from vicinal.structures import StructureLike

if TYPE_CHECKING:
    from vicinal._check import Bodies
    from vicinal.distributed.domain import Domain
    from vicinal.distributed.messages import Array


@dataclass(frozen=True)
class Wishes:
    """The arguments of a search, as for `vicinal.pairs`; arrays belong to a rank, and `exclude` has ids."""

    cutoff: npt.ArrayLike | None = None
    radii: npt.ArrayLike | None = None
    boxes: BoxesLike | None = None
    criterion: str = "sum"
    types: npt.ArrayLike | None = None
    groups: npt.ArrayLike | None = None
    exclude: npt.ArrayLike | None = None
    r_min: float = 0.0
    structure: StructureLike = None
    of_queries: QueryArguments = field(default_factory=QueryArguments)

    @property
    def has_queries(self) -> bool:
        """Whether there is a second set of bodies."""
        return any(self.of_queries.get(name) is not None for name in ("queries", "query_radii", "query_boxes"))

    @property
    def sizes(self) -> npt.ArrayLike | None:
        """The radii: 0 if queries alone have some, as in `vicinal.pairs`."""
        none = self.cutoff is None and self.radii is None and self.boxes is None
        return 0.0 if none and self.of_queries.get("query_radii") is not None else self.radii

    @property
    def agreed(self) -> dict[str, Any]:
        """What must be the same on all ranks. Excluded pairs need not: a rank passes those of its own bodies."""
        own = passed(radii=self.radii, boxes=self.boxes, types=self.types, groups=self.groups, **self.of_queries)
        return {"cutoff": self.cutoff, **self.conditions, **own}

    @property
    def conditions(self) -> dict[str, Any]:
        """The arguments that are the same for all searches of a rank."""
        return {"criterion": self.criterion, "r_min": self.r_min}

    def check(self, points: Array, domain: Domain) -> tuple[Bodies, float]:
        """Check the arguments; return bodies whose extents meet wherever bodies can form pairs, and their cutoff.

        Spheres reach as far as the sum of their radii, which no other criterion exceeds.
        """
        settings = check_settings(
            None if self.boxes is not None else points,
            self.cutoff,
            radii=self.sizes,
            boxes=self.boxes,
            box=domain.box,
            periodic=domain.periodic,
            criterion=self.criterion,
            types=self.types,
            groups=self.groups,
            r_min=self.r_min,
        )
        self.excluded_ids()
        if self.sizes is None:
            return settings.bodies, settings.cutoff
        bodies, reach = check_bodies(points, None, self.sizes)
        _check.check_box(domain.box, bodies, reach, domain.periodic)
        return bodies, reach

    def seekers(self, bodies: Bodies) -> Bodies | None:
        """Return the queries, which were checked, as ghosts are found for them; None if there are none."""
        if not self.has_queries:
            return None
        dtype: np.dtype[Any] = bodies.array.dtype
        centres: Any = self.of_queries.get("queries")
        radii, boxes = self.of_queries.get("query_radii"), self.of_queries.get("query_boxes")
        if not len(centres if boxes is None else boxes[0]):  # type: ignore[arg-type]
            return bodies.none()
        if boxes is not None:
            return check_boxes(None, boxes, 0.0, dtype, ("queries", "query_boxes"))
        if radii is not None:
            return check_spheres(centres, radii, 0.0, dtype)
        return check_points(centres, "queries", dtype)

    def excluded_ids(self) -> npt.NDArray[np.int64]:
        """Check the excluded pairs and return them."""
        pairs = np.zeros((0, 2), np.int64) if self.exclude is None else _check.as_array(self.exclude, "exclude")
        if pairs.size == 0:
            pairs = np.zeros((0, 2), np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu":
            raise InputError(
                f"exclude must be an array of whole numbers of shape (m, 2), got shape {pairs.shape} and dtype "
                f"{pairs.dtype}; pass the ids of both bodies in each row"
            )
        return pairs.astype(np.int64)
