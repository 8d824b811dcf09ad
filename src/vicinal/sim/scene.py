"""Scenes: the description of a simulation, in TOML or in Python.

A scene has tables that all solvers share (``run``, ``gravity``, ``periodic``, ``regions``, ``walls``, ``output``,
``picture``) and one table per solver, such as ``dem``. In Python, a table may be given as its class or as a dictionary
with the same keys. Units are SI; angles are in radians.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from vicinal.errors import InputError
from vicinal.sim.regions import REGIONS, Region, Vector
from vicinal.sim.schema import ABSENT, SchemaError, Section, key, suggestion
from vicinal.sim.solver import SOLVERS, SolverSection, solver_class
from vicinal.sim.toml import Source, parse
from vicinal.sim.values import (
    NOT_NEGATIVE,
    POSITIVE,
    VECTOR,
    Flag,
    Items,
    Named,
    Number,
    OneOf,
    Part,
    Text,
    Whole,
)
from vicinal.sim.wall_sections import WALLS, AnyWall


@dataclass(frozen=True, kw_only=True)
class RunSettings(Section):
    """Duration of the simulation, threads and seed."""

    duration: float = key(NOT_NEGATIVE, help="time to simulate")
    threads: int | None = key(
        Whole(1, 4096), None, help="number of threads; all cores by default. Never changes results"
    )
    seed: int = key(Whole(0, 2**32 - 1), 0, help="seed of all random numbers")


@dataclass(frozen=True, kw_only=True)
class Periodic(Section):
    """Lengths of the periodic cell, which begins at 0; an axis without length is open."""

    x: float | None = key(POSITIVE, None)
    y: float | None = key(POSITIVE, None)
    z: float | None = key(POSITIVE, None)

    def lengths(self) -> tuple[float | None, ...] | None:
        """Return the lengths for a search; None if all axes are open."""
        lengths = (self.x, self.y, self.z)
        return None if lengths == (None, None, None) else lengths


@dataclass(frozen=True, kw_only=True)
class Output(Section):
    """The data to write, and the intervals."""

    every: float | None = key(
        POSITIVE, None, help="time between frames of the time series; by default a 50th of the duration"
    )
    table_every: float | None = key(
        POSITIVE, None, help="time between lines of the table; by default a tenth of `every`"
    )
    restart_every: float | None = key(POSITIVE, None, help="time between restart files; by default `every`")
    contacts: bool = key(Flag(), default=True, help="write contacts with their forces")
    walls: bool = key(Flag(), default=True, help="write walls")
    precision: str = key(
        OneOf(("single", "double")), "single", help="precision of the time series; restart files are always exact"
    )


STYLES = ("spheres", "surface")
"""How particles are drawn."""


@dataclass(frozen=True, kw_only=True)
class Picture(Section):
    """Default options of ``vicinal render``."""

    view: tuple[float, float] | None = key(
        Items(Number(-360, 360), 2),
        None,
        help="direction to the eye: azimuth and elevation in degrees; [-65, 18], and [-90, 90] of a fluid in the plane",
    )
    colour: str = key(Text(), "speed", help='quantity that colours show: "speed", or any data of the particles')
    style: str = key(OneOf(STYLES), "spheres", help='"surface" draws particles as one smooth body')


@dataclass(frozen=True)
class _SolverTable:
    """The table of a solver; its schema is imported together with the solver."""

    name: str

    @property
    def allowed(self) -> str:
        """The keys."""
        return Part(solver_class(self.name).SECTION).allowed

    def __call__(self, value: object) -> Section:
        return Part(solver_class(self.name).SECTION)(value)


@dataclass(frozen=True, kw_only=True)
class Scene(Section):
    """The description of a simulation.

    Parameters
    ----------
    run, gravity, periodic, regions, walls, output, picture, title
        Tables that all solvers share.
    dem, sph
        The tables of the solvers for grains and for fluids, see `vicinal.dem` and `vicinal.sph`.

    Examples
    --------
    >>> scene = Scene(
    ...     run={"duration": 0.1},
    ...     walls=[{"shape": "plane", "material": "glass", "point": [0, 0, 0], "normal": [0, 0, 1]}],
    ...     dem={
    ...         "materials": {
    ...             "glass": {"youngs_modulus": 1e7, "poisson_ratio": 0.25, "density": 2500, "friction": 0.4}
    ...         },
    ...         "bodies": {"bead": {"material": "glass", "radius": 0.003}},
    ...         "insert": [{"kind": "place", "bodies": "bead", "positions": [[0, 0, 0.01]]}],
    ...     },
    ... )
    >>> scene.dem.materials["glass"].friction
    0.4
    """

    title: str = key(Text(), "A simulation")
    run: RunSettings = key(Part(RunSettings))
    gravity: Vector = key(VECTOR, (0.0, 0.0, -9.81))
    periodic: Periodic = key(Part(Periodic), Periodic())
    regions: dict[str, Region] = key(Named(REGIONS), {})
    walls: tuple[AnyWall, ...] = key(Items(WALLS), ())
    output: Output = key(Part(Output), Output())
    picture: Picture = key(Part(Picture), Picture())
    dem: Any = key(_SolverTable("dem"), None, help="grains")
    sph: Any = key(_SolverTable("sph"), None, help="a fluid")

    def check(self) -> None:
        """Check conditions on several tables."""
        if not self.solvers():
            raise SchemaError((), ABSENT, "has no solver", hint=f"give one of the tables {', '.join(SOLVERS)}")
        names = [wall.name for wall in self.walls]
        for place, name in enumerate(names):
            if name is not None and name in names[:place]:
                raise SchemaError(("walls", place, "name"), name, "must differ from the names of other walls")
        for name, section in self.solvers().items():
            try:
                section.check_scene(self)
            except SchemaError as error:
                # A path into the common tables is complete; any other path starts at the table of the solver.
                raise (error if error.path[:1] == ("walls",) else error.inside(name)) from None

    @classmethod
    def of(cls, table: Mapping[str, Any], *, tag: str = "") -> Self:
        """Return a scene from a table of raw values; keys of a solver that stand at the top level are recognised."""
        known = cls.keys()
        for name in table:
            if name in known:
                continue
            homes = [solver for solver in SOLVERS if name in set(solver_class(solver).SECTION.keys())]
            home = next((solver for solver in homes if solver in table), homes[0] if homes else None)
            if home is not None:
                raise SchemaError((name,), ABSENT, "is an unknown key here", hint=f'write "{home}.{name}"')
        return super().of(table, tag=tag)

    def flat(self) -> bool:
        """Return whether all particles lie in a plane."""
        return all(section.flat() for section in self.solvers().values())

    def solvers(self) -> dict[str, SolverSection]:
        """Return the tables of the solvers that the scene describes, by name."""
        return {name: section for name in SOLVERS if (section := getattr(self, name)) is not None}

    def table(self) -> dict[str, Any]:
        """Return the scene as plain values, in the form of a file."""
        return {name: value for name, value in super().table().items() if value not in ({}, [])}


def check_name(path: tuple[str | int, ...], name: str, known: Mapping[str, Any], table: str) -> None:
    """Check that a value is the name of an entry of a table."""
    if name not in known:
        have = f"known: {', '.join(known)}" if known else f"there is no table [{table}.{name}]"
        raise SchemaError(path, name, f"must be a name in [{table}]", hint=suggestion(name, tuple(known)) + have)


def read(source: Source) -> Scene:
    """Return a scene from raw values; errors name file and line."""
    try:
        return Scene.of(source.table)
    except SchemaError as error:
        raise error.at(source.place(error.path)) from None


def load(path: Path | str, *, settings: Sequence[str] = (), files: bool = True) -> Scene:
    """Read a scene from a TOML file.

    Parameters
    ----------
    path
        The file. Names of other files in it are relative to its folder.
    settings
        Values that replace those of the file, such as ``"run.duration=2"``.
    files
        Whether the files that the scene names, such as meshes, must exist; a picture of old results does not need them.
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
    scene = located(read(source), path.parent)
    assert isinstance(scene, Scene)  # noqa: S101 - a section keeps its class
    for key_path, file in _files(scene, ()) if files else ():
        if not Path(file).is_file():
            missing = SchemaError(key_path, ABSENT, "must be an existing file", hint=f"there is no {file}")
            raise missing.at(source.place(key_path))
    return scene


def _files(value: Any, path: tuple[str | int, ...]) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Return the files that a section names, with the path of each key."""
    if isinstance(value, Section):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, dict):
        for name, entry in value.items():
            if name == "file" and isinstance(entry, str):
                yield (*path, name), entry
            else:
                yield from _files(entry, (*path, name))
    elif isinstance(value, tuple):
        for place, entry in enumerate(value):
            yield from _files(entry, (*path, place))


def located(value: Any, folder: Path) -> Any:
    """Return a section with absolute file names instead of names relative to a folder."""
    if isinstance(value, Section):
        changes = {
            field.name: str((folder / entry).resolve()) if field.name == "file" else located(entry, folder)
            for field in dataclasses.fields(value)
            if (entry := getattr(value, field.name)) is not None
        }
        changes = {name: entry for name, entry in changes.items() if entry is not getattr(value, name)}
        return dataclasses.replace(value, **changes) if changes else value
    if isinstance(value, dict):
        entries = {name: located(entry, folder) for name, entry in value.items()}
        return entries if any(entries[name] is not value[name] for name in value) else value
    if isinstance(value, tuple):
        parts = tuple(located(entry, folder) for entry in value)
        return parts if any(a is not b for a, b in zip(parts, value, strict=True)) else value
    return value
