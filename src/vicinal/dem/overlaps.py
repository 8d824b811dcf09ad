"""Overlaps of bodies that were just placed: their number, the largest, and whether it is acceptable."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from vicinal.dem.faults import other_in_contact
from vicinal.dem.shapes import Clump
from vicinal.errors import InputError

if TYPE_CHECKING:
    from vicinal.dem.simulation import Simulation

Array = npt.NDArray[np.float64]

MAX_OVERLAP = 0.1
"""The largest accepted overlap at the start, relative to the smaller radius: a twentieth of a diameter."""

COUNTED = 1e-3
"""Overlaps below this fraction of the smaller radius count as ordinary contacts."""

ROUNDINGS = 5
"""Reference length for overlaps of a tablet or polyhedron, in roundings: accepts half the rounding by default."""

COINCIDENT = 1e-9
"""Centres closer than this fraction of a radius count as coincident."""

OPPOSITE = -0.9
"""A body is between two walls if the cosine between their normals is below this."""


@dataclass(frozen=True)
class Overlaps:
    """Bodies that overlap with each other or with walls.

    Parameters
    ----------
    bodies
        Number of bodies that overlap with something by more than a thousandth of the smaller radius.
    with_bodies, with_walls
        Number of such overlaps with bodies, and with walls.
    worst
        The largest overlap, relative to the smaller radius. Above 1, a centre is inside the other body or behind the
        wall. The overlaps of a body with opposite walls are added. The radius of a clump is that of its smallest
        sphere; for a tablet or polyhedron it is 5 times the rounding, since larger overlaps than the rounding are not
        known.
    where
        The names of the two with the largest overlap; empty without overlaps.
    same_place
        The names of two bodies with the same centre, whose contact has no direction and therefore no force.
    relative_to
        The length that the largest overlap is relative to, in words.
    """

    bodies: int = 0
    with_bodies: int = 0
    with_walls: int = 0
    worst: float = 0.0
    where: str = ""
    same_place: str = ""
    relative_to: str = "the smaller radius"

    def __str__(self) -> str:
        if not self.bodies:
            return "no overlaps"
        some = "1 body overlaps" if self.bodies == 1 else f"{self.bodies:,} bodies overlap"
        return (
            f"{some} ({_times(self.with_bodies)} with a body, {_times(self.with_walls)} with a wall); "
            f"the worst is {self.where}, by {self.worst:.3g} of {self.relative_to}"
        )

    def check(self, limit: float, time: float) -> None:
        """Raise `InputError` if the worst overlap is beyond a limit, or two bodies are at the same place."""
        if self.same_place:
            raise InputError(f"bodies must be at different places, got {self.same_place}; move one of them")
        if self.worst > limit:
            raise InputError(
                f"bodies that were just placed must overlap by at most {limit:g} of {self.relative_to}, got "
                f"{self.worst:.3g} at t = {time:.6g}: {self}; move them apart or away from walls, "
                "or allow it with max_overlap"
            )


def _times(number: int) -> str:
    return "1 time" if number == 1 else f"{number:,} times"


@dataclass(frozen=True)
class _Table:
    """Columns of all bodies that a rank knows, own ones and ghosts, in the order of ids."""

    ids: npt.NDArray[np.int64]
    positions: Array
    radii: Array
    kinds: npt.NDArray[np.int32]
    sizes: Array

    @classmethod
    def of(cls, sim: Simulation) -> _Table:
        core = sim._core  # noqa: SLF001
        ids = core.ids()
        rows = np.argsort(ids)
        radii, kinds = core.get("radii")[rows], core.shapes()[rows]
        return cls(ids[rows], core.get("positions")[rows], radii, kinds, _sizes(sim, radii, kinds))


@dataclass(frozen=True)
class _Found:
    """Overlaps that one rank has found."""

    touched: npt.NDArray[np.int64]
    overlaps: Overlaps


def find_overlaps(sim: Simulation, first_id: int = 0) -> Overlaps:
    """Return the overlaps of bodies with this id or a larger one, on all ranks."""
    ranks = sim._ranks  # noqa: SLF001
    found = [one for one in ranks.gathered(_own_overlaps(sim, first_id)) if one is not None]
    if not found:
        return Overlaps()
    worst = max(found, key=lambda one: one.overlaps.worst).overlaps
    return replace(
        worst,
        bodies=len(np.unique(np.concatenate([one.touched for one in found]))),
        with_bodies=sum(one.overlaps.with_bodies for one in found),
        with_walls=sum(one.overlaps.with_walls for one in found),
        same_place=next((one.overlaps.same_place for one in found if one.overlaps.same_place), ""),
    )


def _own_overlaps(sim: Simulation, first_id: int) -> _Found | None:
    contacts = sim.contacts()
    new = (contacts["i"] >= first_id) | (contacts["j"] >= first_id)
    i, j, wall = (contacts[name][new] for name in ("i", "j", "wall"))
    overlap, normal = contacts["overlap"][new], contacts["normal"][new]
    table = _Table.of(sim)
    between = wall < 0
    first = np.searchsorted(table.ids, i)
    second = np.where(between, np.searchsorted(table.ids, j), first)
    smaller = np.where(table.sizes[second] < table.sizes[first], second, first)
    size = table.sizes[smaller]
    part = overlap / size
    counted = np.flatnonzero(part > COUNTED)
    if not len(counted):
        return None
    _add_opposite(sim, table, part, counted, {"i": i, "wall": wall, "normal": normal, "overlap": overlap, "size": size})
    worst = int(counted[np.argmax(part[counted])])
    body = int(i[worst])
    other = other_in_contact(body, int(j[worst]), int(wall[worst]), body, sim)
    return _Found(
        np.concatenate([i[counted], j[counted][between[counted]]]),
        Overlaps(
            with_bodies=int(between[counted].sum()),
            with_walls=int((~between[counted]).sum()),
            worst=float(part[worst]),
            where=f"body {body} and {other}",
            same_place=_same_place(sim, table, normal, between, (first, second)),
            relative_to=_relative_to(sim, int(table.kinds[smaller[worst]])),
        ),
    )


def _same_place(
    sim: Simulation,
    table: _Table,
    normal: Array,
    between: npt.NDArray[np.bool_],
    rows: tuple[npt.NDArray[np.intp], ...],
) -> str:
    """Return the names of two bodies whose contact has no direction: coincident spheres, or shapes with one centre."""
    first, second = rows
    undirected = ~np.isfinite(normal).all(axis=1)
    away = table.positions[first] - table.positions[second]
    for axis, edge in enumerate(sim.box):
        if edge:
            away[:, axis] -= edge * np.round(away[:, axis] / edge)
    kinds = table.kinds
    clumps = [number for number, shape in enumerate(sim.shapes) if isinstance(shape, Clump)]
    simple = ~(np.isin(kinds[first], clumps) | np.isin(kinds[second], clumps))
    undirected |= between & simple & (np.linalg.norm(away, axis=1) < COINCIDENT * table.radii[first])
    if not undirected.any():
        return ""
    k = int(np.argmax(undirected))
    return f"body {table.ids[first[k]]} and body {table.ids[second[k]]} at the same one"


def _relative_to(sim: Simulation, kind: int) -> str:
    if kind < 0:
        return "the smaller radius"
    if isinstance(sim.shapes[kind], Clump):
        return "the smaller radius (of a clump: that of its smallest sphere)"
    return f"{ROUNDINGS} times the rounding"


def _sizes(sim: Simulation, radii: Array, kinds: npt.NDArray[np.int32]) -> Array:
    """Return the lengths that overlaps are compared with: radii; for clumps, those of their smallest spheres.

    For tablets and polyhedra it is a few roundings, since larger overlaps than the rounding are not known.
    """
    sizes = radii.copy()
    for number, shape in enumerate(sim.shapes):
        sizes[kinds == number] = shape.radii.min() if isinstance(shape, Clump) else ROUNDINGS * shape.margin
    return sizes


def _add_opposite(
    sim: Simulation, table: _Table, part: Array, counted: npt.NDArray[np.intp], contacts: dict[str, Any]
) -> None:
    """Add the overlaps of a body with opposite walls: one larger than its box overlaps each by half of the excess."""
    alone = part.copy()
    radii, ids, kinds = table.radii, table.ids, table.kinds
    of_body: dict[int, list[int]] = defaultdict(list)
    for k in counted.tolist():
        if contacts["wall"][k] >= 0:
            of_body[int(contacts["i"][k])].append(k)
    for body, some in of_body.items():
        row = int(np.searchsorted(ids, body))
        for k in some:
            wall = sim.walls[contacts["wall"][k]]
            # The radius of a shape is that of its bounding sphere, which does not bound its width.
            if kinds[row] < 0:
                beyond = 2 * radii[row] - wall.width - contacts["overlap"][k]
                part[k] += max(0.0, beyond / contacts["size"][k])
            for other in some:
                if contacts["normal"][k] @ contacts["normal"][other] < OPPOSITE:
                    part[k] += alone[other]
