"""Materials, and parameters of pairs of materials."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vicinal.dem.materials import PARAMETERS, Material
from vicinal.sim.schema import SchemaError, Section, check_at, key, unknown_key
from vicinal.sim.values import Items, Number, Text


def allowed_range(name: str) -> Number:
    """Return the range that `Material` allows for a quantity."""
    p = PARAMETERS[name]
    return Number(p.low, p.high, above=not p.low_allowed)


@dataclass(frozen=True)
class MaterialTable:
    """The keys of `Material`, and its ranges."""

    keys: tuple[str, ...] = tuple(PARAMETERS)

    @property
    def allowed(self) -> str:
        """The keys."""
        return f"a table with the keys {', '.join(self.keys)}"

    def values(self, table: Mapping[str, Any]) -> dict[str, float]:
        """Check every value."""
        values = {}
        for name, value in table.items():
            if name not in self.keys:
                raise unknown_key(name, value, self.keys, self.keys)
            values[name] = check_at(name, allowed_range(name), value)
        return values

    def __call__(self, value: object) -> Material:
        """Return the material."""
        if isinstance(value, Material):
            return value
        if not isinstance(value, Mapping):
            raise SchemaError((), value, f"must be {self.allowed}")
        return Material(**self.values(value))


@dataclass(frozen=True, kw_only=True)
class _Pair(Section):
    """Contact parameters of two materials, which replace those of both: the keys of `Material` without density."""

    materials: tuple[str, str] = key(Items(Text(), 2), help="names of the two materials; may be the same twice")

    def values(self) -> dict[str, float]:
        """Return the parameters that are given."""
        return {name: value for name, value in self.table().items() if name != "materials"}


if TYPE_CHECKING:
    Pair = _Pair
else:
    Pair = dataclasses.make_dataclass(
        "Pair",
        [(name, "float | None", key(allowed_range(name), None)) for name in PARAMETERS if name != "density"],
        bases=(_Pair,),
        namespace={"__doc__": _Pair.__doc__, "__module__": __name__},
        frozen=True,
        kw_only=True,
    )


MATERIAL = MaterialTable()
