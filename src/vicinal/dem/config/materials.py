"""Materials and pairs of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vicinal.dem.materials import RANGES, Material
from vicinal.sim.schema import (
    Items,
    Number,
    SchemaError,
    Section,
    Text,
    key,
    suggestion,
)


def allowed_range(name: str) -> Number:
    """Return the range of a quantity, as `Material` has it."""
    low, closed, high = RANGES[name]
    return Number(low, high, above=not closed)


@dataclass(frozen=True)
class MaterialTable:
    """The keys of `Material`, and its ranges."""

    keys: tuple[str, ...] = tuple(field.name for field in dataclasses.fields(Material))

    @property
    def allowed(self) -> str:
        """The keys."""
        return f"a table with the keys {', '.join(self.keys)}"

    def values(self, table: Mapping[str, Any]) -> dict[str, float]:
        """Check every value."""
        values = {}
        for name, value in table.items():
            if name not in self.keys:
                remedy = f"unknown key{suggestion(name, self.keys)}; known here: {', '.join(self.keys)}"
                raise SchemaError((name,), value, remedy)
            try:
                values[name] = allowed_range(name)(value)
            except SchemaError as error:
                raise error.inside(name) from None
        return values

    def __call__(self, value: object) -> Material:
        """Return the material."""
        if isinstance(value, Material):
            return value
        if not isinstance(value, Mapping):
            raise SchemaError((), value, f"give {self.allowed}")
        return Material(**self.values(value))


@dataclass(frozen=True, kw_only=True)
class Pair(Section):
    """What holds between two materials in place of the mixture of both."""

    materials: tuple[str, str] = key(Items(Text(), 2), help="names of the two materials; may be the same twice")
    youngs_modulus: float | None = key(allowed_range("youngs_modulus"), None)
    poisson_ratio: float | None = key(allowed_range("poisson_ratio"), None)
    restitution: float | None = key(allowed_range("restitution"), None)
    friction: float | None = key(allowed_range("friction"), None)
    rolling_friction: float | None = key(allowed_range("rolling_friction"), None)
    cohesion: float | None = key(allowed_range("cohesion"), None)
    kn: float | None = key(allowed_range("kn"), None)
    kt: float | None = key(allowed_range("kt"), None)
    gamma_n: float | None = key(allowed_range("gamma_n"), None)
    gamma_t: float | None = key(allowed_range("gamma_t"), None)

    def values(self) -> dict[str, float]:
        """Return what is given."""
        return {name: value for name, value in self.table().items() if name != "materials"}


MATERIAL = MaterialTable()
