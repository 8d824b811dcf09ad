"""Sweep and prune: the ends of bodies, sorted along one axis or along all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from vicinal.errors import InputError
from vicinal.index import Index, Settings

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments


class SweepAndPrune(Index):
    """Ends of bodies sorted along the axes: the fastest while almost nothing moves, whatever the sizes.

    Along all axes, the set of bodies that overlap is kept from step to step. `update` compares the bodies with those of
    the last step and touches only what has moved; the pairs are then read off. Where much has moved it starts afresh.

    Along one axis, bodies are sorted once for a single search. That is good for bodies along a line, and for few.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for every index. A periodic box is swept along one axis, whatever `axes` says.
    axes
        "all" or "one". The default is "all" for an index, and "one" for a single search such as `vicinal.pairs`.

    Examples
    --------
    >>> index = vicinal.SweepAndPrune([[0.0, 0.0], [3.0, 0.0], [0.0, 9.0]], radii=[2.0, 1.0, 4.0])
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0], [1]]
    >>> index.update([[0.0, 0.0], [3.0, 0.0], [0.0, 6.0]])
    >>> [column.tolist() for column in index.pairs(sort=True)]
    [[0, 0], [1, 2]]
    >>> index.stats.details["overlaps"]
    2.0
    """

    _structure = "SweepAndPrune"
    _why = "few of the {bodies} bodies overlap along one axis, or few of them move"

    def __init__(
        self,
        points: npt.ArrayLike | None = None,
        *,
        axes: Literal["one", "all"] | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(axes=axes)
        super().__init__(points, **bodies)

    def _set_options(self, *, axes: Literal["one", "all"] | None = None) -> None:
        if axes not in (None, "one", "all"):
            raise InputError(f"axes: {axes!r} found; pass 'one' or 'all'")
        self._axes = axes

    def _make(self, settings: Settings, *, lasting: bool) -> None:
        if self._axes is None:
            self._axes = "all" if lasting else "one"
        super()._make(settings, lasting=lasting)

    def _options(self, bodies: Bodies, cutoff: float, box: list[float]) -> dict[str, float]:  # noqa: ARG002
        return {"axes": 1.0 if self._axes == "one" else float(bodies.dim)}
