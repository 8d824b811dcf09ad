"""The settings of a simulation of grains: which can be assigned, which are fixed, and their checks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations_with_replacement
from types import MappingProxyType
from typing import Any

import numpy as np

from vicinal import _check
from vicinal.dem.bodies import Array, GrainBodies, positive, read_only
from vicinal.dem.materials import LAWS, Material, PairValues, check_law, check_materials, check_pairs, values_of
from vicinal.errors import InputError
from vicinal.sim.walls import Wall, check_vector


def finite(value: object, name: str) -> float:
    """Return a finite number; raise `InputError` for other values."""
    number = _check.check_number(value, name)
    if not math.isfinite(number):
        raise InputError(f"{name} must be a finite number, got {number}")
    return number


def check_periods(box: Any) -> list[float]:
    """Return one period per axis, 0 for an open axis."""
    edges = tuple(box) if isinstance(box, Iterable) and not isinstance(box, str) else (box,) * 3
    if any(np.ndim(edge) > 0 for edge in edges):
        raise InputError(
            f"box must have 3 lengths, None for an open axis, got edge vectors {edges}; "
            "grains need an orthogonal box along the axes"
        )
    if len(edges) != 3:
        raise InputError(f"box must have 3 lengths, None for an open axis, got {len(edges)}")
    return [0.0 if edge is None else positive(edge, "box") for edge in edges]


def wall_names() -> str:
    """Return the kinds of walls, for messages."""
    return ", ".join(kind.__name__ for kind in Wall.__subclasses__())


def check_walls(walls: Sequence[Wall]) -> tuple[Wall, ...]:
    """Return walls of different names."""
    if not isinstance(walls, Iterable):
        raise InputError(f"walls must be a list of walls, got {type(walls).__name__}; put a single wall into a list")
    checked = tuple(walls)
    seen: set[str] = set()
    for wall in checked:
        if not isinstance(wall, Wall):
            raise InputError(f"walls must be a list of walls, each one of {wall_names()}, got {wall!r} in it")
        if wall.name in seen:
            raise InputError(f"walls must have different names, got {wall.name!r} twice")
        seen.add(wall.name)
    return checked


class GrainSettings(GrainBodies):
    """Bodies with the law of their contacts, and settings that are fixed or can be assigned."""

    _pairs: Mapping[tuple[str, str], Mapping[str, float]]
    _law: str
    _history: bool
    _walls: tuple[Wall, ...]
    _box: list[float]
    _gravity: Array
    _max_overlap: float
    _random: np.random.Generator

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse assignments without effect: to fixed settings, and to unknown names."""
        kind = type(self)
        known = getattr(kind, name, None)
        if not name.startswith("_") and (not isinstance(known, property) or known.fset is None):
            own = ((key, getattr(kind, key)) for key in dir(kind))
            assignable = ", ".join(key for key, value in own if isinstance(value, property) and value.fset)
            if known is None:
                raise AttributeError(f"{name} must be an attribute of a simulation; assign to one of {assignable}")
            raise AttributeError(f"{name} cannot be assigned; make a new Simulation, or assign to one of {assignable}")
        super().__setattr__(name, value)

    @property
    def materials(self) -> Mapping[str, Material]:
        """Materials by name. Others of the same names and densities can be assigned; the next step uses them.

        Examples
        --------
        >>> from dataclasses import replace
        >>> from vicinal.dem import Material, Simulation
        >>> sim = Simulation(materials={"sand": Material(kn=1e4, friction=0.1)}, law="linear", dt=1e-5)
        >>> sim.materials = {"sand": replace(sim.materials["sand"], friction=0.6)}
        >>> sim.materials["sand"].friction
        0.6
        """
        return MappingProxyType(self._materials)

    @materials.setter
    def materials(self, value: Mapping[str, Material]) -> None:
        self._ranks.check_same(materials=value)
        new = check_materials(value)
        if set(new) != set(self._materials):
            raise InputError(f"materials must keep their names, {', '.join(self._materials)}, got {', '.join(new)}")
        for name, former in self._materials.items():
            if new[name].density != former.density:
                raise InputError(
                    f'materials["{name}"] must keep its density, {former.density:g}, which has set the masses of '
                    f"bodies, got {new[name].density:g}"
                )
        self._change_law({name: new[name] for name in self._materials}, self._pairs)

    @property
    def pairs(self) -> Mapping[tuple[str, str], Mapping[str, float]]:
        """Parameters for pairs of materials. Others can be assigned; the next step uses them."""
        return MappingProxyType({key: MappingProxyType(dict(value)) for key, value in self._pairs.items()})

    @pairs.setter
    def pairs(self, value: PairValues) -> None:
        self._ranks.check_same(pairs=value)
        self._change_law(self._materials, value)

    @property
    def law(self) -> str:
        """Name of the contact law; fixed."""
        return self._law

    @property
    def history(self) -> bool:
        """Whether contacts have tangential springs; fixed."""
        return self._history

    @property
    def walls(self) -> tuple[Wall, ...]:
        """The walls. Their number and surfaces are fixed; motion and pose can be assigned between runs."""
        return self._walls

    @property
    def box(self) -> tuple[float, ...]:
        """Period along each axis, 0 for an open axis; fixed."""
        return tuple(self._box)

    @property
    def gravity(self) -> Array:
        """Acceleration of all bodies; an assigned value takes effect in the next step."""
        return self._gravity

    @gravity.setter
    def gravity(self, value: Sequence[float]) -> None:
        self._gravity = read_only(check_vector(value, "gravity"))
        self._core.primed = False

    @property
    def max_overlap(self) -> float:
        """The largest overlap of bodies that were just placed, relative to the smaller radius."""
        return self._max_overlap

    @max_overlap.setter
    def max_overlap(self, value: float) -> None:
        self._max_overlap = positive(value, "max_overlap")

    @property
    def random(self) -> np.random.Generator:
        """The random number generator, which is part of the state; fixed."""
        return self._random

    def _set_law(self, law: str, history: bool, pairs: PairValues | None) -> None:  # noqa: FBT001 - as it was passed
        """Set the law of contacts and the parameters of pairs of materials."""
        self._law = check_law(law)
        self._history = _check.check_flag(history, "history")
        self._pairs = {}
        self._apply_law(self._materials, {} if pairs is None else pairs)

    def _change_law(self, materials: dict[str, Material], pairs: PairValues) -> None:
        """Replace materials and parameters of pairs, or leave both as they are and raise an error."""
        before = self._materials, self._pairs
        try:
            self._apply_law(materials, pairs)
        except InputError:
            self._apply_law(*before)
            raise
        self._warned = False  # the step may be too long for them
        self._core.primed = False

    def _apply_law(self, materials: dict[str, Material], pairs: PairValues) -> None:
        for name, material in materials.items():
            LAWS[self._law].check(name, material)
        numbered = check_pairs(pairs, list(materials))
        self._core.set_law(self._law, [values_of(one) for one in materials.values()], numbered, self._history)
        if not self._history:
            self._check_dashpots(len(materials))
        self._materials = materials
        self._pairs = {key: dict(value) for key, value in pairs.items()}

    def _check_dashpots(self, count: int) -> None:
        for a, b in combinations_with_replacement(range(count), 2):
            c = self._core.coefficients(a, b)
            if c["friction"] > 0 and c["rate_t"] + c["damping_t"] == 0:
                raise InputError(
                    "history must be True where friction acts without tangential damping, got False; "
                    "pass gamma_t or restitution"
                )
