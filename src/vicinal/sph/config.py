"""The table ``sph`` of a scene."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from vicinal.sim.regions import ZERO, BoxRegion, Vector
from vicinal.sim.scene import Scene, check_name
from vicinal.sim.schema import SchemaError, Section, key
from vicinal.sim.solver import SolverSection
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
from vicinal.sph.kernels import KERNELS
from vicinal.sph.probes import PROBES, AnyProbe
from vicinal.sph.schemes import SCHEMES
from vicinal.sph.simulation import PRECISIONS, SOLVED, STATES

ENERGIES = ("kinetic", "potential", "elastic")
COLUMNS = ("particles", "dt", "limit", "largest_speed", "largest_compression", *ENERGIES, "total", "held")
"""Columns of the table of results before those of the probes."""


def _lacking(scheme: str) -> tuple[str, ...]:
    """Return the keys that do not apply to a scheme."""
    if scheme == "dfsph":
        return ("inlets", "outlets", "diffusion", "shifting", "surface_tension", "background")
    return ("tolerance", "background") if scheme == "delta" else ("tolerance", "inlets", "outlets")


@dataclass(frozen=True, kw_only=True)
class FluidPhase(Section):
    """One of several fluids that do not mix."""

    density: float = key(POSITIVE)
    nu: float = key(NOT_NEGATIVE, 0.0, help="kinematic viscosity")


@dataclass(frozen=True, kw_only=True)
class FluidFill(Section):
    """Fluid that fills a region at the start."""

    region: str = key(Text("the name of a region"), help="region to fill")
    phase: str | None = key(Text("the name of a phase"), None, help="which of the phases it is")
    replace: bool = key(
        Flag(), default=False, help="no new particles: those of earlier fills in the region become this phase"
    )
    velocity: Vector = key(VECTOR, ZERO)
    vortices: float | None = key(
        POSITIVE, None, help="largest speed of four Taylor–Green vortices in a periodic square, on top of velocity"
    )
    still: bool = key(Flag(), default=False, help="start with the pressure of a fluid at rest")


@dataclass(frozen=True, kw_only=True)
class InletSection(Section):
    """Where fluid enters."""

    region: str = key(Text("the name of a region"), help="a box, as long along the velocity as the kernel reaches")
    velocity: Vector = key(VECTOR, help="along one axis")


@dataclass(frozen=True, kw_only=True)
class OutletSection(Section):
    """Where fluid leaves."""

    region: str = key(Text("the name of a region"), help="a box, as long along the flow as the kernel reaches")
    velocity: Vector | None = key(VECTOR, None, help="with which fluid leaves; by default that with which it arrives")


@dataclass(frozen=True, kw_only=True)
class Sph(SolverSection):
    """A fluid: resolution, properties, and the regions that it fills.

    Examples
    --------
    >>> Sph(spacing=0.01, fill=[{"region": "pool"}]).density
    1000.0
    """

    RESTARTABLE: ClassVar[tuple[str, ...]] = ()

    dim: int = key(Whole(2, 3), 3, help="2 or 3; a fluid in two dimensions lies in the plane z = 0")
    spacing: float = key(POSITIVE, help="distance of neighbouring particles")
    density: float = key(POSITIVE, 1000.0)
    sound_speed: float | None = key(
        POSITIVE, None, help="by default ten times the largest speed, estimated from gravity and height"
    )
    alpha: float | None = key(NOT_NEGATIVE, None, help="artificial viscosity, 0.02 by default")
    nu: float | None = key(NOT_NEGATIVE, None, help="kinematic viscosity of a laminar flow, instead of alpha")
    scheme: str = key(
        OneOf(SCHEMES),
        "delta",
        help="delta: with free surfaces; edac: confined flows, which fluid fills everywhere; dfsph: free surfaces, "
        "long steps",
    )
    phases: dict[str, FluidPhase] = key(
        Named(Part(FluidPhase)), {}, help="several fluids by name, instead of density, alpha and nu; with edac"
    )
    surface_tension: float = key(NOT_NEGATIVE, 0.0, help="of all interfaces between phases")
    kernel: str = key(OneOf(KERNELS), "wendland_c2")
    smoothing: float | None = key(
        Number(1, 5), None, help="smoothing length in spacings; 2 in two dimensions, 1.5 with edac, and 1.6 in three"
    )
    state: str = key(OneOf(STATES), "linear", help="equation of state")
    diffusion: float | None = key(
        NOT_NEGATIVE, None, help="strength of the diffusion of density or pressure; 0.1, with dfsph none"
    )
    shifting: float | None = key(NOT_NEGATIVE, None, help="strength of shifting; 1, with dfsph none")
    background: float = key(
        Number(0, 0.1),
        0.0,
        help="with edac, for violent flows: pressure as a part of ρ c² above which sums of pressures act",
    )
    courant: float | None = key(
        Number(0, 1, above=True), None, help="length of steps relative to their limits; 0.25, with dfsph 0.4"
    )
    tolerance: float | None = key(
        Number(0, 0.1, above=True), None, help="mean compression that the solvers of dfsph leave in a step; 0.001"
    )
    precision: str = key(OneOf(PRECISIONS), "single", help="precision of sums over pairs")
    slip: tuple[str, ...] | None = key(
        Items(Text("the name of a wall")),
        None,
        help="walls along which fluid slips freely; by default all with artificial viscosity, none with laminar",
    )
    sliding: dict[str, Vector] = key(
        Named(VECTOR), {}, help="velocities of walls that slide along themselves, by name: lids and belts"
    )
    fill: tuple[FluidFill, ...] = key(Items(Part(FluidFill)), help="where the fluid is at the start")
    inlets: tuple[InletSection, ...] = key(Items(Part(InletSection)), (), help="where fluid enters")
    outlets: tuple[OutletSection, ...] = key(Items(Part(OutletSection)), (), help="where fluid leaves")
    probes: tuple[AnyProbe, ...] = key(Items(PROBES), (), help="what is measured: further columns of the table")

    def check(self) -> None:
        """Check conditions on several keys."""
        self._check_probes()
        for name in _lacking(self.scheme):
            if getattr(self, name):
                raise self.wrong(name, f"must not be given with the scheme {self.scheme}, which has none")
        if self.state != "linear" and self.scheme != "delta":
            raise self.wrong("state", f"must be linear with the scheme {self.scheme}")
        if self.alpha is not None and self.nu is not None:
            raise self.wrong("nu", "must not be given together with alpha")
        self._check_phases()

    def _check_probes(self) -> None:
        """Check that the names of probes differ from those of other columns."""
        taken = {*COLUMNS, *SOLVED}
        for place, probe in enumerate(self.probes):
            if probe.name in taken:
                raise SchemaError(
                    ("probes", place, "name"), probe.name, "must differ from the names of other columns of the table"
                )
            taken.add(probe.name)

    def _check_phases(self) -> None:
        """Check that phases and what belongs to them are given together."""
        if self.phases and self.scheme != "edac":
            raise self.wrong("scheme", "must be edac if there are phases")
        if self.surface_tension and not self.phases:
            raise self.wrong("surface_tension", "must be 0 without phases, between which it acts")
        if self.phases and not (self.alpha is None and self.nu is None):
            raise self.wrong("phases", "must not be given together with alpha or nu", hint="each phase has its own nu")
        for place, fill in enumerate(self.fill):
            if (fill.phase is None) == bool(self.phases) or fill.phase not in {None, *self.phases}:
                raise SchemaError(("fill", place, "phase"), fill.phase, "must be a name in [sph.phases]")

    def flat(self) -> bool:
        """Return whether the fluid is one in two dimensions."""
        return self.dim == 2

    def check_scene(self, scene: Scene) -> None:
        """Check the names of regions, what bodies need, and that nothing leaves the plane of a fluid in 2D."""
        for place, fill in enumerate(self.fill):
            check_name(("fill", place, "region"), fill.region, scene.regions, "regions")
            if fill.vortices is not None and (scene.periodic.x is None or scene.periodic.x != scene.periodic.y):
                raise SchemaError(
                    ("sph", "fill", place, "vortices"),
                    fill.vortices,
                    "must be in a square that is periodic along x and y",
                )
        for name in ("inlets", "outlets"):
            for place, end in enumerate(getattr(self, name)):
                check_name((name, place, "region"), end.region, scene.regions, "regions")
                if not isinstance(scene.regions[end.region], BoxRegion):
                    raise SchemaError((name, place, "region"), end.region, "must be the name of a box")
        if scene.dem is not None and self.scheme != "delta":
            raise self.wrong("scheme", "must be delta for a fluid with bodies")
        if self.dim == 2 and scene.gravity[2] != 0:
            raise self.wrong("dim", "must be 3 if gravity has a part along z", hint="gravity is along z by default")

    def table(self) -> dict[str, Any]:
        """Return the section as plain values, in the form of a file."""
        return {name: value for name, value in super().table().items() if value not in ({}, [])}
