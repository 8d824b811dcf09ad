"""Materials, and the parameters of the contact laws that they hold.

Laws are defined in the compiled core, one file each (cpp/dem/laws). Their names, parameters, units, ranges and formulas
are read from there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, make_dataclass
from typing import TYPE_CHECKING, Any

from vicinal import _core
from vicinal.errors import InputError


@dataclass(frozen=True)
class LawParameter:
    """A parameter of a material: unit, allowed range and default."""

    name: str
    unit: str
    low: float
    low_allowed: bool
    high: float
    default: float | None
    required: bool
    doc: str

    def check(self, value: object) -> None:
        """Raise `InputError` unless a value is in the range."""
        ok = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        if ok and value <= self.high and (value > self.low or (self.low_allowed and value == self.low)):  # type: ignore[operator]
            return
        raise InputError(f"{self.name} must be a finite number {self.range}, got {value!r}")

    @property
    def range(self) -> str:
        """The allowed range in words.

        Examples
        --------
        >>> PARAMETERS["restitution"].range
        'above 0 and at most 1'
        """
        low = f"of at least {self.low:g}" if self.low_allowed else f"above {self.low:g}"
        return low if self.high == math.inf else f"{low} and at most {self.high:g}"


@dataclass(frozen=True)
class Law:
    """A contact law: its own parameters, the parameters it refuses, and its formulas."""

    name: str
    title: str
    parameters: tuple[LawParameter, ...]
    refused: Mapping[str, str]
    """Names of parameters that would have no effect, and what to give instead."""
    formulas: Mapping[str, str]

    def missing(self, material: Material) -> LawParameter | None:
        """Return the first required parameter that a material does not have."""
        return next((p for p in self.parameters if p.required and getattr(material, p.name) is None), None)

    def unwanted(self, material: Material) -> str | None:
        """Return the first refused parameter that a material has."""
        return next((name for name in self.refused if getattr(material, name) is not None), None)

    def unused(self, material: Material) -> list[str]:
        """Return parameters of other laws that a material has, and that have no effect with this one."""
        own = {p.name for p in (*SHARED, *self.parameters)}
        return [name for name in values_of(material) if name not in own]

    def check(self, name: str, material: Material) -> None:
        """Raise `InputError` unless a material has all parameters that this law needs and none that it refuses."""
        missing, unwanted = self.missing(material), self.unwanted(material)
        if missing is not None:
            raise InputError(f'materials["{name}"] must have {missing.name}, which the law "{self.name}" requires')
        if unwanted is not None:
            raise InputError(
                f'materials["{name}"] must not have {unwanted}, which the law "{self.name}" does not use; '
                f"pass {self.refused[unwanted]}"
            )


_FORMULAS = ("normal_spring", "normal_dashpot", "tangential_spring", "tangential_dashpot")


def _law(described: Mapping[str, Any]) -> Law:
    parameters = tuple(LawParameter(**p) for p in described["parameters"])
    formulas = {name.replace("_", " "): described[name] for name in _FORMULAS}
    return Law(described["name"], described["title"], parameters, described["refused"], formulas)


SHARED = tuple(LawParameter(**p) for p in _core.dem_shared_parameters())
"""Parameters that every law uses."""

LAWS: Mapping[str, Law] = {law.name: law for law in map(_law, _core.dem_laws())}
"""Contact laws by name."""

PARAMETERS: Mapping[str, LawParameter] = {
    p.name: p for p in (*SHARED, *(p for law in LAWS.values() for p in law.parameters))
}
"""Parameters of materials by name."""


def _documentation() -> str:
    lines = ["A material of bodies and walls.", "", "Parameters", "----------"]
    owners = {p.name: f" Law ``{law.name!r}``." for law in LAWS.values() for p in law.parameters}
    for p in PARAMETERS.values():
        default = "" if p.default is None else f"; {p.default:g} by default"
        lines += [p.name, f"    {p.doc} Unit {p.unit}, {p.range}{default}.{owners.get(p.name, '')}"]
    return "\n".join(lines)


if TYPE_CHECKING:

    @dataclass(frozen=True, kw_only=True)
    class Material:
        """A material of bodies and walls; its fields are `PARAMETERS`."""

        def __init__(self, **values: float | None) -> None: ...
        def __getattr__(self, name: str) -> Any: ...

else:

    def _check_fields(self: Material) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if value is not None:
                PARAMETERS[item.name].check(value)

    Material = make_dataclass(
        "Material",
        [(p.name, "float | None", field(default=p.default)) for p in PARAMETERS.values()],
        namespace={"__post_init__": _check_fields, "__doc__": _documentation(), "__module__": __name__},
        frozen=True,
        kw_only=True,
    )


def values_of(material: Material) -> dict[str, float]:
    """Return the parameters of a material that are set.

    Examples
    --------
    >>> values = values_of(Material(kn=1e4))
    >>> values["kn"], values["friction"], "kt" in values
    (10000.0, 0.0, False)
    """
    values = {item.name: getattr(material, item.name) for item in fields(material)}
    return {name: float(value) for name, value in values.items() if value is not None}


def check_materials(materials: object) -> dict[str, Material]:
    """Return materials by name."""
    if not isinstance(materials, Mapping):
        raise InputError(
            f'materials must have names, as in {{"glass": Material(...)}}, got {type(materials).__name__} without names'
        )
    for name, material in materials.items():
        if not isinstance(material, Material):
            raise InputError(f'materials["{name}"] must be a Material, got {type(material).__name__}')
    return dict(materials)


def check_law(name: object) -> str:
    """Return the name of a law."""
    if not isinstance(name, str) or name not in LAWS:
        raise InputError(f"law must be one of {', '.join(LAWS)}, got {name!r}")
    return name


PairValues = Mapping[tuple[str, str], Mapping[str, float]]


def check_pairs(pairs: Any, names: Sequence[str]) -> list[tuple[int, int, dict[str, float]]]:
    """Return values that replace those of two materials, with the materials given by number."""
    known = [name for name in PARAMETERS if name != "density"]
    numbered = []
    if not isinstance(pairs, Mapping):
        raise InputError(f'pairs must be {{("glass", "steel"): {{"friction": 0.2}}}} or the like, got {pairs!r}')
    for two, values in pairs.items():
        if not (isinstance(two, tuple) and len(two) == 2 and isinstance(values, Mapping)):
            raise InputError(
                f"pairs must map two names of materials to parameters, got {two!r}: {values!r}; "
                'pass for example {("glass", "steel"): {"friction": 0.2}}'
            )
        first, second = two
        for name in two:
            if name not in names:
                raise InputError(f"pairs must have names of materials ({', '.join(names)}), got {name!r}")
        for key, value in values.items():
            if key not in known:
                raise InputError(f"pairs must have some of the keys {', '.join(known)}, got {key!r}")
            PARAMETERS[key].check(value)
        numbered.append((names.index(first), names.index(second), {key: float(v) for key, v in values.items()}))
    return numbered


def law_table() -> str:
    """Return the formulas of all laws as the Markdown table of docs/grains.md."""
    laws = list(LAWS.values())
    lines = ["| |" + "".join(f' `law="{law.name}"` |' for law in laws), "|---|" + "---|" * len(laws)]
    lines += [f"| {name} |" + "".join(f" {law.formulas[name]} |" for law in laws) for name in laws[0].formulas]
    return "\n".join(lines)


def parameter_table() -> str:
    """Return the parameters of all materials as the Markdown table of docs/grains.md."""
    lines = ["| parameter | unit | allowed | default | law | |", "|---|---|---|---|---|---|"]
    shared = {p.name for p in SHARED}
    for p in PARAMETERS.values():
        users = ", ".join(f"`{law.name}`" for law in LAWS.values() if p in law.parameters)
        default = "required" if p.required else "" if p.default is None else f"{p.default:g}"
        allowed = p.range
        lines.append(
            f"| `{p.name}` | {p.unit} | {allowed} | {default} | {'all' if p.name in shared else users} | {p.doc} |"
        )
    return "\n".join(lines)
