"""Flows with published results, at any resolution: each function returns the figures that are compared.

The tests run them coarse, the experiments of the lab fine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from vicinal.errors import InputError
from vicinal.sim.walls import MeshWall, Wall, box_walls
from vicinal.sph import Artificial, Simulation
from vicinal.sph.boundary import WallParticles, wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.probes import FluidSample, HeightGauge, PressureProbe
from vicinal.sph.schemes import SMOOTHING
from vicinal.sph.solids import Solid, depths_in

Array = npt.NDArray[np.float64]

GRAVITY = 9.81

KOSHIZUKA = (
    (0.408, 0.845, 1.18, 1.427, 1.63, 1.834, 1.978, 2.196, 2.312, 2.501, 2.631, 2.82, 2.964, 3.11, 3.328),
    (1.128, 1.244, 1.464, 1.695, 1.903, 2.123, 2.365, 2.584, 2.804, 3.034, 3.219, 3.462, 3.704, 3.9, 4.132),
)
"""Front x/L over t √(2 g/L) of a column L × 2L: Koshizuka & Oka, Nucl. Sci. Eng. 123 (1996) 421, experiment, as
DualSPHysics has it in its first example."""

MARTIN_MOYCE = (
    (0.41, 0.84, 1.19, 1.43, 1.63, 1.82, 1.97, 2.2, 2.32, 2.5, 2.64, 2.82, 2.96),
    (1.11, 1.23, 1.44, 1.67, 1.89, 2.11, 2.33, 2.56, 2.78, 3.0, 3.22, 3.44, 3.67),
)
"""The same for a column of 2.25 inches: Martin & Moyce, Phil. Trans. R. Soc. A 244 (1952) 312."""

LOBOVSKY_IMPACT = 2.43
"""Time t √(g/H) at which the wave reaches the lowest sensor: Lobovský et al., J. Fluids Struct. 48 (2014) 407."""

LOBOVSKY_PLATEAU = 0.575
"""Mean pressure p/(ρ g H) of the lowest sensor from t √(g/H) = 3.9 to 5.6, the same source."""

LOBOVSKY_HIGHER = 0.507
"""The same of the sensor 80 mm above the bottom, the same source."""

DE_COURCY_PLATEAU, DE_COURCY_HIGHER = 0.90, 0.42
"""The same means of the sensors at 0.01 H and 0.27 H in the same geometry, in two dimensions by δ-SPH: De Courcy et
al., CMAME 420 (2024) 116700."""

ROTATING_CENTRE = -0.147343
"""Pressure p/(ρ ω² L²) in the middle of a square that starts to rotate: Colagrossi 2005, by a double sine series."""

KLEEFSMAN_IMPACT = 0.395
"""Time in seconds at which the wave reaches the obstacle: Kleefsman et al., J. Comput. Phys. 206 (2005) 363."""

KLEEFSMAN_HEIGHTS: Mapping[str, tuple[float, ...]] = {
    "H2": (
        0.0005,
        0.0005,
        0.0007,
        0.0008,
        0.0464,
        0.0988,
        0.1195,
        0.1312,
        0.1471,
        0.1664,
        0.1792,
        0.1855,
        0.1952,
        0.2078,
        0.202,
        0.2365,
        0.2555,
        0.3182,
        0.3326,
        0.2854,
        0.2884,
    ),
    "H4": (
        0.5467,
        0.5336,
        0.511,
        0.4861,
        0.4595,
        0.4261,
        0.3947,
        0.3628,
        0.3322,
        0.3029,
        0.2787,
        0.2541,
        0.2325,
        0.2138,
        0.1965,
        0.1824,
        0.1704,
        0.1587,
        0.1474,
        0.1377,
        0.1296,
    ),
}
"""Heights in metres every tenth of a second, the same source."""


LAYERS = 4
"""Layers of dummy particles: the default kernels reach 4 spacings in two dimensions, 3.2 in three."""


@dataclass(frozen=True)
class Tank:
    """A tank without a lid from 0 to `size`, with obstacles in it; the last axis points up.

    In two dimensions, that is y.
    """

    size: tuple[float, ...]
    spacing: float
    obstacles: tuple[MeshWall, ...] = ()
    slip: bool = True

    @property
    def walls(self) -> list[Wall]:
        """The walls."""
        dim = len(self.size)
        high = (*self.size, 1.0)[:3]
        sides = ["-x", "+x", "-y"] if dim == 2 else ["-x", "+x", "-y", "+y", "-z"]
        return [*box_walls("tank", (0.0, 0.0, 0.0), high, "", sides=sides), *self.obstacles]

    @property
    def particles(self) -> WallParticles:
        """Their dummy particles."""
        dim = len(self.size)
        return wall_particles(
            self.walls,
            self.spacing,
            LAYERS,
            dim=dim,
            bounds=(np.zeros(dim), np.array(self.size)),
            slip=[wall.name for wall in self.walls] if self.slip else [],
        )

    def water(
        self,
        high: tuple[float, ...],
        *,
        still: bool = True,
        solids: Sequence[Solid] = (),
        alpha: float | None = None,
        sound_speed: float | None = None,
        scheme: str = "delta",
    ) -> Simulation:
        """Return water at rest in the corner of the tank, with its hydrostatic pressure if it was still before.

        There is none inside of `solids`, bodies that float in it. `alpha` is the artificial viscosity; it and the speed
        of sound have their defaults if they are None.
        """
        dim = len(self.size)
        points = fill((np.zeros(dim), np.array(high)), self.spacing, walls=self.obstacles)
        points = points[depths_in(solids, points, self.spacing)[0] < -0.25 * self.spacing]
        gravity = [0.0] * (dim - 1) + [-GRAVITY]
        pressures = 1000 * GRAVITY * (high[-1] - points[:, -1])
        return Simulation(
            points,
            spacing=self.spacing,
            gravity=gravity,
            walls=self.particles,
            guard=Guard(self.walls, self.spacing, dim),
            pressures=pressures if still else None,
            viscosity=None if alpha is None else Artificial(alpha),
            sound_speed=sound_speed,
            scheme=scheme,
        )

    def left(self, sim: Simulation) -> int:
        """Return how many particles are outside of the tank, over its rim excepted."""
        x, size = sim.positions, np.array(self.size)
        outside = (x < 0) | (x > size)
        return int((outside[:, :-1].any(axis=1) & (x[:, -1] < size[-1]) | (x[:, -1] < 0)).sum())


def koshizuka_front(cells: int, *, scheme: str = "delta") -> dict[str, float]:
    """Return how far the front of a collapsing column is from that of Koshizuka & Oka, in widths of the column.

    Parameters
    ----------
    cells
        Particles along the width of the column.
    """
    return _front(cells, 0.146, KOSHIZUKA, scheme)


def martin_moyce_front(cells: int, *, scheme: str = "delta") -> dict[str, float]:
    """Return the same for the column of Martin & Moyce."""
    return _front(cells, 0.05715, MARTIN_MOYCE, scheme)


def _front(cells: int, length: float, measured: Sequence[Sequence[float]], scheme: str) -> dict[str, float]:
    tank = Tank((5 * length, 3 * length), length / cells)
    sim = tank.water((length, 2 * length), still=False, scheme=scheme)
    when, where = np.array(measured)
    times = np.arange(0, when[-1] + 0.05, 0.05)
    scale = math.sqrt(2 * GRAVITY / length)
    front = []
    for moment in times:
        sim.run_until(moment / scale)
        front.append((sim.positions[:, 0].max() + 0.5 * tank.spacing) / length)
    # A gate that is drawn up makes the experiment late.
    errors = {
        late: float(np.sqrt(np.mean((np.interp(when - late, times, front) - where) ** 2)))
        for late in np.arange(0, 0.5, 0.02)
    }
    late = min(errors, key=errors.__getitem__)
    return {"rms": errors[late], "late": float(late), "left": tank.left(sim), "steps": float(sim.step_count)}


def lobovsky_pressure(cells: int, *, slip: bool = True) -> dict[str, float]:
    """Return impact time and plateaus of the pressure at the far wall, scaled by √(H/g) and ρ g H.

    Parameters
    ----------
    cells
        Particles along the height of the column.
    slip
        Whether water slips along walls. If not, the layer that sticks to the bottom is as thick as some particles.
    """
    height = 0.3
    tank = Tank((1.61, 1.2), height / cells, slip=slip)
    sim = tank.water((0.6, height))
    sensors = [PressureProbe(name="p", point=(1.61, above), width=0.0042, normal=(1.0, 0.0)) for above in (0.003, 0.08)]
    scale = math.sqrt(GRAVITY / height)
    times = np.linspace(0, 5.6, 281)
    pressures = []
    for moment in times:
        sim.run_until(moment / scale)
        fluid = FluidSample.of(sim)
        pressures.append([sensor.measure(fluid) / (1000 * GRAVITY * height) for sensor in sensors])
    values, higher = np.array(pressures).T
    plateau = (times > 3.9) & (times < 5.6)
    return {
        "impact": float(times[np.flatnonzero(values > 0.2)[0]]) if (values > 0.2).any() else math.inf,
        "peak": float(values.max()),
        "plateau": float(values[plateau].mean()),
        "higher": float(higher[plateau].mean()),
        "left": tank.left(sim),
    }


def standing_wave(cells: int, *, periods: float = 4.0, reynolds: float = 1000) -> dict[str, float]:
    """Return period and decay of a standing wave of small amplitude over those of linear theory.

    Wavelength and depth are 1, the amplitude is 0.02. Depths change the
    frequency by tanh(k H); the energy decays as exp(−4 ν k² t).

    Parameters
    ----------
    cells
        Particles along the wavelength.
    periods
        Periods to simulate.
    """
    g, depth, wave, amplitude, nu = 1.0, 1.0, 2 * math.pi, 0.02, 1 / reynolds
    spacing, sound = 1 / cells, 10.0 * math.sqrt(g * depth)
    omega = math.sqrt(g * wave * math.tanh(wave * depth))
    walls = box_walls("bottom", (0, 0, 0), (1, 2, 1), "", sides=["-y"])
    dummies = wall_particles(
        walls, spacing, LAYERS, dim=2, bounds=((0, 0), (1, 1)), slip=["bottom-y"], periodic=(1.0, None)
    )
    points = fill(((0, 0), (1, depth)), spacing)
    # At rest, with the velocity of the wave at its flattest: the potential of Lamb's standing wave.
    x, y = points.T
    speed = amplitude * g * wave / omega / math.cosh(wave * depth)
    velocities = speed * np.column_stack([np.sin(wave * x) * np.cosh(wave * y), -np.cos(wave * x) * np.sinh(wave * y)])
    sim = Simulation(
        points,
        spacing=spacing,
        gravity=(0.0, -g),
        sound_speed=sound,
        velocities=velocities,
        pressures=1000 * g * (depth - y),
        walls=dummies,
        box=(1.0, None),
        # In this form viscosity also acts at a free surface as it should (Colagrossi et al. 2013).
        viscosity=Artificial(8 * nu / (sound * SMOOTHING["delta"][2] * spacing)),
    )
    period = 2 * math.pi / omega
    times = np.linspace(0, periods * period, round(40 * periods) + 1)
    energy = []
    for moment in times:
        sim.run_until(moment)
        energy.append(sim.energies()["kinetic"])
    values = np.array(energy)
    tops = _tops(times, values)
    ratio = float(np.polyfit(np.arange(len(tops)), [t for t, _ in tops], 1)[0]) / (0.5 * period)
    rate = -float(np.polyfit([t for t, _ in tops], np.log([v for _, v in tops]), 1)[0])
    return {"period": ratio, "decay": rate / (4 * nu * wave**2)}


def _tops(times: Array, values: Array) -> list[tuple[float, float]]:
    """Return the maxima of a curve, each by a parabola through three points; the first is the start."""
    found = [(float(times[0]), float(values[0]))]
    for k in range(2, len(values) - 1):
        left, top, right = values[k - 1 : k + 2]
        if top >= left and top > right:
            bend = left - 2 * top + right
            shift = 0.5 * (left - right) / bend
            found.append((float(times[k] + shift * (times[1] - times[0])), float(top - 0.25 * (left - right) * shift)))
    return found


def rotating_square(cells: int, *, turns: float = 1.0) -> dict[str, float]:
    """Return the pressure in the middle of a rotating square at its start, and voids in it later.

    Parameters
    ----------
    cells
        Particles along an edge.
    turns
        Time to simulate, in 1/ω.
    """
    spacing = 1 / cells
    points = fill(((0, 0), (1, 1)), spacing) - 0.5
    start = np.column_stack([points[:, 1], -points[:, 0]])
    sim = Simulation(
        points,
        spacing=spacing,
        sound_speed=14.0,
        velocities=start,
        pressures=1000 * _square_pressure(points),
        viscosity=Artificial(0.0),
    )
    probe = PressureProbe(name="p", point=(0.0, 0.0))
    middle = []
    # Waves of the weakly compressible start pass through the square; the mean over some of them is compared.
    for moment in np.linspace(0.0, 0.1, 21):
        sim.run_until(moment)
        middle.append(probe.measure(FluidSample.of(sim)) / 1000)
    sim.run_until(turns)
    inner = np.linalg.norm(sim.positions, axis=1) < 0.3
    cover = FluidSample.of(sim).cover(sim.positions[inner])
    spins = [float(_across(x, v).sum()) for x, v in ((points, start), (sim.positions, sim.velocities))]
    return {"pressure": float(np.mean(middle)), "cover": float(cover.min()), "angular_momentum": spins[1] / spins[0]}


def _across(a: Array, b: Array) -> Array:
    return np.asarray(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0])


def _square_pressure(points: Array) -> Array:
    """Return p/ρ of a unit square with its centre at 0 that starts to rotate at 1 rad per second."""
    x, y = points.T + 0.5
    total = np.zeros(len(points))
    for m in range(1, 60, 2):
        for n in range(1, 60, 2):
            total -= (
                32
                / (m * n * math.pi**2 * ((m * math.pi) ** 2 + (n * math.pi) ** 2))
                * (np.sin(m * math.pi * x) * np.sin(n * math.pi * y))
            )
    return total


def kleefsman_heights(
    cells: int, *, until: float = 2.0, scheme: str = "delta", alpha: float | None = None
) -> dict[str, float]:
    """Return when a wave reaches an obstacle, and how far two heights are from the experiment in metres (rms).

    Heights are those of the surface, however loose the water below is; "depth" takes all water along a gauge, without
    the gaps in it, as a wire that measures how much of it is wet does.

    Parameters
    ----------
    cells
        Particles along the height of the column of 0.55 m: a multiple of 11, so that they fill the width of 1 m, too.
    until
        Time to simulate.
    scheme
        ``"delta"`` or ``"dfsph"``.
    alpha
        Artificial viscosity, by default that of the scheme. It delays the front.
    """
    if cells < 11 or cells % 11:
        raise InputError(f"cells must be a multiple of 11, so that particles fill the width of the tank, got {cells}")
    # The face is 1.1675 m from the column and 0.6635 m + 0.161 m from the far wall (Issa & Violeau, SPHERIC test 2).
    spacing, face = 0.55 / cells, 2.3955
    obstacle = _block((face, 0.295, -0.2), (2.5565, 0.698, 0.161))
    tank = Tank((3.22, 1.0, 1.0), spacing, (obstacle,))
    column = (spacing * round(1.228 / spacing), 1.0, 0.55)
    sim = tank.water(column, scheme=scheme, alpha=alpha)
    gauges = {
        name: HeightGauge(name=name, point=(place, 0.5, 0.0), direction=(0, 0, 1), length=1.0)
        for name, place in (("H2", 2.228), ("H4", 0.582))
    }
    heights: dict[str, list[float]] = {name: [] for name in gauges}
    depths: dict[str, list[float]] = {name: [] for name in gauges}
    times = np.linspace(0, until, round(until / 0.01) + 1)
    front = []
    for step, moment in enumerate(times):
        sim.run_until(moment)
        front.append(sim.positions[:, 0].max() + 0.5 * spacing)
        if step % 10 == 0:
            now = FluidSample.of(sim)
            for name, gauge in gauges.items():
                heights[name].append(gauge.measure(now))
                depths[name].append(_depth(now, gauge))

    def rms(name: str, values: Sequence[float]) -> float:
        return float(np.sqrt(np.mean((np.array(values) - np.array(KLEEFSMAN_HEIGHTS[name][: len(values)])) ** 2)))

    errors = {name: rms(name, values) for name, values in heights.items()}
    errors |= {f"{name} depth": rms(name, values) for name, values in depths.items()}
    there = int(np.argmax(np.array(front) >= face))
    impact = float(np.interp(face, front[there - 1 : there + 1], times[there - 1 : there + 1])) if there else math.inf
    return {"impact": impact, **errors, "left": tank.left(sim)}


def _depth(fluid: FluidSample, gauge: HeightGauge) -> float:
    """Return how deep the water along a gauge would be without gaps; the kernel reaches below its foot."""
    steps = np.arange(-fluid.support, gauge.length, 0.25 * fluid.spacing)
    cover = fluid.cover(np.asarray(gauge.point) + steps[:, None] * np.asarray(gauge.direction))
    return float(0.25 * fluid.spacing * cover.sum())


def _block(low: tuple[float, float, float], high: tuple[float, float, float]) -> MeshWall:
    """Return a box as a closed mesh."""
    corners = np.array([[(low, high)[k >> axis & 1][axis] for axis in range(3)] for k in range(8)])
    quads = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))
    faces = [triangle for a, b, c, d in quads for triangle in ((a, b, c), (a, c, d))]
    return MeshWall(name="block", material="", vertices=corners, faces=np.array(faces, np.int32))
