"""The table ``dem`` of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from vicinal.dem.config.bodies import BODIES, Body
from vicinal.dem.config.insertion import INSERTS, Emitter, Fill, GrainOutlet, Insert
from vicinal.dem.config.materials import MATERIAL, Pair, allowed_range
from vicinal.dem.materials import LAWS, Material, values_of
from vicinal.dem.overlaps import MAX_OVERLAP
from vicinal.sim.scene import Scene, check_name
from vicinal.sim.schema import ABSENT, SchemaError, key
from vicinal.sim.solver import SolverSection
from vicinal.sim.values import POSITIVE, Flag, Items, Named, Number, OneOf, Part


@dataclass(frozen=True, kw_only=True)
class Dem(SolverSection):
    """Grains: contact law, time step, materials, bodies, and where bodies are inserted and removed.

    Examples
    --------
    >>> Dem(law="linear", materials={"glass": {"density": 2500, "kn": 1e4}}).materials["glass"].kn
    10000.0
    """

    RESTARTABLE: ClassVar[tuple[str, ...]] = ("dt", "materials", "pairs")

    law: str = key(OneOf(tuple(LAWS)), "hertz", help="contact law")
    history: bool = key(Flag(), default=True, help="keep tangential springs from step to step")
    dt: float | None = key(POSITIVE, None, help="time step")
    fraction: float | None = key(
        Number(0, 1, above=True), None, help="time step relative to the critical time, instead of dt"
    )
    skin: float | None = key(
        POSITIVE, None, help="skin of the neighbour list; chosen automatically by default. Changes speed only"
    )
    max_overlap: float = key(
        POSITIVE, MAX_OVERLAP, help="largest overlap of bodies when they are inserted, relative to the smaller radius"
    )
    materials: dict[str, Material] = key(Named(MATERIAL))
    pairs: tuple[Pair, ...] = key(Items(Part(Pair)), ())
    bodies: dict[str, Body] = key(Named(BODIES), {})
    insert: tuple[Insert, ...] = key(Items(INSERTS), ())
    outlets: tuple[GrainOutlet, ...] = key(Items(Part(GrainOutlet)), ())

    def check(self) -> None:
        """Check that the step is given once, that all names are known, and that the law accepts the materials."""
        if self.dt is not None and self.fraction is not None:
            raise self.wrong("fraction", "must not be given together with dt")
        for name, body in self.bodies.items():
            check_name(("bodies", name, "material"), body.material, self.materials, "dem.materials")
        for place, pair in enumerate(self.pairs):
            for side, name in enumerate(pair.materials):
                check_name(("pairs", place, "materials", side), name, self.materials, "dem.materials")
        for place, insert in enumerate(self.insert):
            for name in insert.shares():
                check_name(("insert", place, "bodies"), name, self.bodies, "dem.bodies")
        for name, material in self.materials.items():
            self._check_law(name, material)

    def check_scene(self, scene: Scene) -> None:
        """Check the names of regions, and that walls have a material."""
        for place, insert in enumerate(self.insert):
            if isinstance(insert, Fill | Emitter):
                check_name(("insert", place, "region"), insert.region, scene.regions, "regions")
        for place, outlet in enumerate(self.outlets):
            check_name(("outlets", place, "region"), outlet.region, scene.regions, "regions")
        for place, wall in enumerate(scene.walls):
            path = ("walls", place, "material")
            if wall.material is None:
                raise SchemaError(path, ABSENT, "is missing", hint="grains need a material from [dem.materials]")
            check_name(path, wall.material, self.materials, "dem.materials")

    def _check_law(self, name: str, material: Material) -> None:
        law = LAWS[self.law]
        missing, unwanted = law.missing(material), law.unwanted(material)
        if missing is not None:
            hint = f'the law "{law.name}" needs {allowed_range(missing.name).allowed}'
            raise SchemaError(("materials", name, missing.name), ABSENT, "is missing", hint=hint)
        if unwanted is not None:
            path, value = ("materials", name, unwanted), getattr(material, unwanted)
            problem = f'must not be given with the law "{law.name}"'
            raise SchemaError(path, value, problem, hint=f"give {law.refused[unwanted]} instead")

    def table(self) -> dict[str, Any]:
        """Return the section as plain values, in the form of a file."""
        items = super().table()
        items["materials"] = {name: values_of(material) for name, material in self.materials.items()}
        return {name: value for name, value in items.items() if value not in ({}, [])}
