"""The whole of a configuration, and reading it."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vicinal.dem.config.bodies import BODIES, Body
from vicinal.dem.config.insertion import INSERTS, Emitter, Fill, Insert, Outlet
from vicinal.dem.config.materials import MATERIAL, Pair, allowed_range
from vicinal.dem.materials import LAWS, Material, values_of
from vicinal.errors import InputError
from vicinal.sim.regions import REGIONS, Region, Vector
from vicinal.sim.schema import (
    ABSENT,
    NOT_NEGATIVE,
    POSITIVE,
    VECTOR,
    Choice,
    Flag,
    Items,
    Named,
    Number,
    Part,
    SchemaError,
    Section,
    Text,
    Whole,
    key,
    listed,
    suggestion,
)
from vicinal.sim.toml import Source, parse
from vicinal.sim.walls import WALLS, AnyWall


@dataclass(frozen=True, kw_only=True)
class Periodic(Section):
    """Lengths of a periodic box that begins at 0; an axis that is left out is open."""

    x: float | None = key(POSITIVE, None)
    y: float | None = key(POSITIVE, None)
    z: float | None = key(POSITIVE, None)

    def lengths(self) -> tuple[float | None, ...] | None:
        """Lengths for the search; None if all axes are open."""
        found = (self.x, self.y, self.z)
        return None if found == (None, None, None) else found


@dataclass(frozen=True, kw_only=True)
class Solver(Section):
    """How the equations are solved."""

    duration: float = key(NOT_NEGATIVE, help="time to simulate")
    law: str = key(Choice(tuple(LAWS)), "hertz", help="contact law")
    history: bool = key(Flag(), default=True, help="tangential springs remember")
    dt: float | None = key(POSITIVE, None, help="time step")
    fraction: float | None = key(
        Number(0, 1, above=True), None, help="time step over the critical time, in place of dt"
    )
    threads: int | None = key(Whole(1, 4096), None, help="threads; all cores if left out. Never changes results")
    seed: int = key(Whole(0, 2**32 - 1), 0, help="seed of all that is random")
    skin: float | None = key(
        POSITIVE, None, help="reserve of the neighbour list; chosen if left out. Changes speed only"
    )

    def check(self) -> None:
        """Check that the step is given once."""
        if self.dt is not None and self.fraction is not None:
            raise self.wrong("fraction", "dt says the time step already; give only one of dt and fraction")


@dataclass(frozen=True, kw_only=True)
class Output(Section):
    """What is written, and how often."""

    every: float | None = key(
        POSITIVE, None, help="time between pictures of all bodies; a 50th of the duration if left out"
    )
    table_every: float | None = key(
        POSITIVE, None, help="time between lines of the table; a tenth of `every` if left out"
    )
    restart_every: float | None = key(POSITIVE, None, help="time between restart files; as `every` if left out")
    contacts: bool = key(Flag(), default=True, help="write contacts with their forces")
    walls: bool = key(Flag(), default=True, help="write walls")
    precision: str = key(
        Choice(("single", "double")), "single", help="of what ParaView reads; restarts are exact anyway"
    )


@dataclass(frozen=True, kw_only=True)
class Picture(Section):
    """How ``vicinal render`` shows the run, unless told otherwise."""

    view: tuple[float, float] = key(
        Items(Number(-360, 360), 2), (-65.0, 18.0), help="direction to the eye: azimuth and elevation in degrees"
    )
    colour: str = key(Text(), "speed", help='what colours mean: "speed", or any data of the bodies')


@dataclass(frozen=True, kw_only=True)
class Scene(Section):
    """A simulation, described.

    Parameters
    ----------
    solver, materials, bodies, regions, insert, walls, outlets, pairs, periodic, gravity, output, picture, title
        Tables of the configuration as classes of `vicinal.dem.config` or as dictionaries with the same keys.

    Examples
    --------
    >>> scene = Scene(
    ...     materials={"glass": {"youngs_modulus": 1e7, "poisson_ratio": 0.25, "density": 2500, "friction": 0.4}},
    ...     bodies={"bead": {"material": "glass", "radius": 0.003}},
    ...     insert=[{"kind": "place", "bodies": "bead", "positions": [[0, 0, 0.01]]}],
    ...     walls=[{"shape": "plane", "material": "glass", "point": [0, 0, 0], "normal": [0, 0, 1]}],
    ...     solver={"duration": 0.1},
    ... )
    >>> scene.materials["glass"].friction
    0.4
    """

    title: str = key(Text(), "A simulation")
    gravity: Vector = key(VECTOR, (0.0, 0.0, -9.81))
    materials: dict[str, Material] = key(Named(MATERIAL))
    pairs: tuple[Pair, ...] = key(Items(Part(Pair)), ())
    bodies: dict[str, Body] = key(Named(BODIES), {})
    regions: dict[str, Region] = key(Named(REGIONS), {})
    insert: tuple[Insert, ...] = key(Items(INSERTS), ())
    outlets: tuple[Outlet, ...] = key(Items(Part(Outlet)), ())
    walls: tuple[AnyWall, ...] = key(Items(WALLS), ())
    periodic: Periodic = key(Part(Periodic), Periodic())
    solver: Solver = key(Part(Solver))
    output: Output = key(Part(Output), Output())
    picture: Picture = key(Part(Picture), Picture())

    def check(self) -> None:
        """Check that every name means something, and that materials have what the law needs."""
        for path, name, table in self._names():
            known: Mapping[str, Any] = getattr(self, table)
            if name not in known:
                have = f"known: {listed(tuple(known))}" if known else f"there is no table [{table}.{name}]"
                raise SchemaError(path, name, f"not a name in [{table}]{suggestion(name, tuple(known))}; {have}")
        for name, material in self.materials.items():
            self._check_law(name, material)

    def _names(self) -> Iterator[tuple[tuple[str | int, ...], str, str]]:
        """Walk through the names that refer to other tables: where, which, and to which table."""
        for name, body in self.bodies.items():
            yield ("bodies", name, "material"), body.material, "materials"
        for place, wall in enumerate(self.walls):
            yield ("walls", place, "material"), wall.material, "materials"
        for place, pair in enumerate(self.pairs):
            for side, name in enumerate(pair.materials):
                yield ("pairs", place, "materials", side), name, "materials"
        for place, outlet in enumerate(self.outlets):
            yield ("outlets", place, "region"), outlet.region, "regions"
        for place, insert in enumerate(self.insert):
            for name in insert.shares():
                yield ("insert", place, "bodies"), name, "bodies"
            if isinstance(insert, Fill | Emitter):
                yield ("insert", place, "region"), insert.region, "regions"

    def _check_law(self, name: str, material: Material) -> None:
        law = LAWS[self.solver.law]
        missing, unwanted = law.missing(material), law.unwanted(material)
        if missing is not None:
            remedy = f'is missing; the law "{law.name}" needs {allowed_range(missing.name).allowed}'
            raise SchemaError(("materials", name, missing.name), ABSENT, remedy)
        if unwanted is not None:
            remedy = f'the law "{law.name}" takes {law.refused[unwanted]} instead'
            raise SchemaError(("materials", name, unwanted), getattr(material, unwanted), remedy)

    def table(self) -> dict[str, Any]:
        """Give the scene back as plain values, as a file would have them."""
        items = super().table()
        items["materials"] = {name: values_of(material) for name, material in self.materials.items()}
        return {name: value for name, value in items.items() if value not in ({}, [])}


def read(source: Source) -> Scene:
    """Make a scene from raw values; errors name the place."""
    try:
        return Scene.of(source.table)
    except SchemaError as error:
        raise error.at(source.place(error.path)) from None


def load(path: Path | str, *, settings: Sequence[str] = ()) -> Scene:
    """Read a scene from a TOML file.

    Parameters
    ----------
    path
        The file. Names of other files in it are relative to its folder.
    settings
        Values that replace those of the file, such as ``"solver.dt=1e-5"``.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise FileNotFoundError(f"{path}: no such file") from None
    except UnicodeDecodeError:
        raise InputError(f"{path}: is not UTF-8 text; save it as UTF-8") from None
    source = parse(text, str(path))
    for setting in settings:
        source.override(setting)
    return located(read(source), path.parent)


def located(scene: Scene, folder: Path) -> Scene:
    """Return a scene whose files are found from anywhere, not only from the folder of its configuration."""

    def found(section: Any) -> Any:
        file = getattr(section, "file", None)
        return section if file is None else dataclasses.replace(section, file=str((folder / file).resolve()))

    return dataclasses.replace(
        scene,
        walls=tuple(found(wall) for wall in scene.walls),
        regions={name: found(region) for name, region in scene.regions.items()},
        insert=tuple(found(insert) for insert in scene.insert),
    )
