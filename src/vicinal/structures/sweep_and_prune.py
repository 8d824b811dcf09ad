"""Sweep and prune: the end points of bodies, sorted along one axis or along all axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Unpack

from vicinal import _check
from vicinal.cell import Cell
from vicinal.index import Index
from vicinal.settings import Settings

if TYPE_CHECKING:
    import numpy.typing as npt

    from vicinal._check import Bodies
    from vicinal.bodies import BodyArguments


class SweepAndPrune(Index):
    """End points of bodies, sorted along the axes; the fastest structure while few bodies move, for any sizes.

    Along all axes, the set of overlapping bodies is kept from step to step. `update` compares the bodies with those of
    the last step and changes only the entries of bodies that moved. If many moved, it builds the set again.

    Along one axis, bodies are sorted once for a single search. That suits bodies along a line, and few bodies.

    Parameters
    ----------
    points, cutoff, radii, boxes, skin, planes, box
        As for `vicinal.Index`. A periodic box is swept along one axis for any value of `axes`.
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
        cutoff: npt.ArrayLike | None = None,
        *,
        axes: Literal["one", "all"] | None = None,
        **bodies: Unpack[BodyArguments],
    ) -> None:
        self._set_options(axes=axes)
        super().__init__(points, cutoff, **bodies)

    def _set_options(self, *, axes: Literal["one", "all"] | None = None) -> None:
        self._axes = axes if axes is None else _check.check_choice(axes, "axes", ("one", "all"))

    def _make(self, settings: Settings, *, lasting: bool = True) -> None:
        if self._axes is None:
            self._axes = "all" if lasting else "one"
        super()._make(settings, lasting=lasting)

    def _options(self, bodies: Bodies, cutoff: float, box: Cell) -> dict[str, float]:  # noqa: ARG002
        return {"axes": 1.0 if self._axes == "one" else float(bodies.dim)}
