"""Flows of two phases with exact or published solutions, at any resolution.

The tests run them coarse, the experiment `fluids-phases` fine.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from vicinal.lab.flows import LAYERS
from vicinal.sim.walls import box_walls
from vicinal.sph import Phase, Simulation
from vicinal.sph.boundary import wall_particles
from vicinal.sph.fill import fill
from vicinal.sph.guard import Guard
from vicinal.sph.probes import FluidSample

Array = npt.NDArray[np.float64]

HE_TIMES = (0.49442, 0.94191, 1.39406, 1.97415, 2.3675, 2.6586, 3.0209, 3.48763, 3.89431)
HE_BUBBLE = (0.5321975, 0.5492425, 0.56755, 0.5978925, 0.6160075, 0.6287875, 0.6449675, 0.6666025, 0.6848875)
HE_SPIKE = (0.46399, 0.4446425, 0.4147725, 0.3636375, 0.3257575, 0.2962875, 0.2651525, 0.223485, 0.1837125)
"""Heights of the highest light and of the lowest heavy fluid in a channel of height 1, over t √(g/H), H being its width
0.25: He, Chen & Zhang, J. Comput. Phys. 152 (1999) 642, density ratio 3, Reynolds number 256."""

HYSING_CENTRE, HYSING_SPEED, HYSING_CIRCULARITY = 1.0817529, 0.2416576, 0.9012524
"""Rising bubble, case 1: height of its centre at t = 3, largest speed, least circularity. Hysing et al., Int. J. Numer.
Meth. Fluids 60 (2009) 1259, group 3."""

HYSING_CENTRES_2 = 1.12, 1.14
"""Case 2 (density ratio 1000): bounds of the height of the centre at t = 3; the groups have 1.1249, 1.1376, 1.1377."""


def rayleigh_taylor(cells: int, *, until: float = 4.0) -> dict[str, float]:
    """Return how far fingers of two fluids are from those of He et al., in heights of the channel.

    Parameters
    ----------
    cells
        Particles across the channel, whose height is four times its width.
    """
    spacing = 1 / cells
    walls = box_walls("end", (0, 0, 0), (1, 4, 1), "", sides=["-y", "+y"])
    points = fill(((0, 0), (1, 4)), spacing)
    x, y = points.T
    light = y < 2 + 0.1 * np.cos(2 * math.pi * x)
    periodic = (1.0, None)
    # At rest every column has the weight of what is above it.
    pressures = np.where(light, 6 + (2 - y), 3 * (4 - y))
    sim = Simulation(
        points,
        spacing=spacing,
        phases=[Phase(density=3.0, nu=1 / 256), Phase(density=1.0, nu=1 / 256)],
        phase=light.astype(np.int32),
        sound_speed=12.0,
        gravity=(0.0, -1.0),
        pressures=pressures,
        box=periodic,
        walls=wall_particles(walls, spacing, LAYERS, dim=2, fluid=points, slip=[], periodic=periodic),
        guard=Guard(walls, spacing, 2),
        scheme="edac",
    )
    bubble, spike = [], []
    times = [moment for moment in HE_TIMES if moment <= until]
    for moment in times:
        sim.run_until(moment)
        x, y = sim.positions.T
        # Along the axis of each finger: drops beside it do not count.
        bubble.append((y[light & (np.abs(x - np.round(x)) < 0.1)].max() + 0.5 * spacing) / 4)
        spike.append((y[~light & (np.abs(x - 0.5) < 0.1)].min() - 0.5 * spacing) / 4)
    return {
        "bubble": float(np.abs(np.array(bubble) - HE_BUBBLE[: len(times)]).max()),
        "spike": float(np.abs(np.array(spike) - HE_SPIKE[: len(times)]).max()),
    }


def rising_bubble(cells: int, *, case: int = 1, until: float = 3.0) -> dict[str, float]:
    """Return centre, largest speed and least circularity of a rising bubble.

    Parameters
    ----------
    cells
        Particles across the tank of 1 × 2; the bubble has a quarter of its width as radius.
    case
        1 (density ratio 10) or 2 (density ratio 1000, hardly any surface tension).
    """
    density, mu, tension = ((100.0, 1.0, 24.5), (1.0, 0.1, 1.96))[case - 1]
    spacing, g = 1 / cells, 0.98
    walls = box_walls("tank", (0, 0, -1), (1, 2, 1), "", sides=["-x", "+x", "-y", "+y"])
    points = fill(((0, 0), (1, 2)), spacing)
    inside = np.linalg.norm(points - 0.5, axis=1) < 0.25
    height = points[:, 1]
    pressures = np.where(inside, 1470 + tension / 0.25 + density * g * (0.5 - height), 1000 * g * (2 - height))
    sim = Simulation(
        points,
        spacing=spacing,
        phases=[Phase(density=1000.0, nu=10 / 1000), Phase(density=density, nu=mu / density)],
        phase=inside.astype(np.int32),
        surface_tension=tension,
        # Buoyancy acts at once and makes the tank ring: the faster sound is, the less does the bubble follow it.
        sound_speed=20.0,
        gravity=(0.0, -g),
        pressures=pressures,
        walls=wall_particles(walls, spacing, LAYERS, dim=2, fluid=points, slip=["tank-x", "tank+x"]),
        guard=Guard(walls, spacing, 2),
        scheme="edac",
    )
    times, centres, circularities = [0.0], [0.5], [1.0]
    for moment in np.arange(0.1, until + 0.05, 0.1):
        sim.run_until(moment)
        times.append(sim.time)
        centres.append(float(sim.positions[inside, 1].mean()))
        if case == 1:
            circularities.append(circularity(sim, inside))
    return {
        "centre": centres[-1],
        # Over a fifth of a second: sound of the start is not part of the motion.
        "speed": float(np.gradient(centres, times)[1:-1].max()),
        "circularity": min(circularities),
    }


def circularity(sim: Simulation, inside: npt.NDArray[np.bool_]) -> float:
    """Return the perimeter of a circle of the same area over that of a body that rays from its centre leave once."""
    fluid = FluidSample.of(sim)
    middle = sim.positions[inside].mean(axis=0)
    angles = np.linspace(0, 2 * math.pi, 180, endpoint=False)
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    steps = np.arange(0.25 * sim.spacing, 0.6, 0.25 * sim.spacing)
    places = (middle + steps[:, None, None] * rays).reshape(-1, 2)
    which, particle, weight = fluid.weights(places)
    own = np.bincount(which, weight * inside[particle], len(places))
    share = (own / np.maximum(np.bincount(which, weight, len(places)), 1e-300)).reshape(len(steps), -1)
    # The first step at which less than half is of the body, between two by a straight line.
    last = np.argmax(share < 0.5, axis=0)
    column = np.arange(len(angles))
    above, below = share[last - 1, column], share[last, column]
    radius = steps[last - 1] + (steps[1] - steps[0]) * (above - 0.5) / (above - below)
    # Particles make the outline rough: its first waves are the shape.
    waves = np.fft.rfft(radius)
    waves[13:] = 0
    smooth, slope = np.fft.irfft(waves, len(angles)), np.fft.irfft(1j * np.arange(len(waves)) * waves, len(angles))
    area, perimeter = 0.5 * np.mean(smooth**2), np.mean(np.hypot(smooth, slope))
    return float(math.sqrt(2 * area) / perimeter)


def _drop(cells: int, radius: float, half: float, stretch: float, *, nu: float, sound: float) -> Simulation:
    """Return a drop of density 1 in a periodic square of a gas of density 0.001, with a surface tension of 1."""
    spacing = 1 / cells
    count = round(2 * half / spacing)
    points = fill(((0, 0), (count * spacing, count * spacing)), spacing)
    middle = 0.5 * count * spacing
    inside = np.linalg.norm((points - middle) / [1 + stretch, 1 / (1 + stretch)], axis=1) < radius
    return Simulation(
        points,
        spacing=spacing,
        phases=[Phase(density=1.0, nu=nu), Phase(density=0.001, nu=10 * nu)],
        phase=(~inside).astype(np.int32),
        surface_tension=1.0,
        sound_speed=sound,
        pressures=inside / radius,
        box=(count * spacing, count * spacing),
        scheme="edac",
    )


def laplace_jump(cells: int, *, until: float = 0.3) -> dict[str, float]:
    """Return the jump of pressure across the surface of a drop at rest over σ/R, densities being 1000 : 1.

    Parameters
    ----------
    cells
        Particles per unit of length; the radius is 0.25.
    """
    sim = _drop(cells, 0.25, 0.5, 0.0, nu=0.05, sound=20.0)
    inside = sim.phase == 0
    jumps = []
    for moment in np.linspace(0.5, 1, 11) * until:
        sim.run_until(moment)
        away = np.linalg.norm(sim.positions - sim.positions[inside].mean(axis=0), axis=1)
        reach = sim.kernel.support
        p = sim.pressures
        jumps.append(p[inside & (away < 0.25 - reach)].mean() - p[~inside & (away > 0.25 + reach)].mean())
    area = math.sqrt(inside.sum() / math.pi) / cells
    return {"jump": float(np.mean(jumps)) * area, "speed": sim.largest_speed}


def drop_period(cells: int, *, periods: float = 2.0) -> dict[str, float]:
    """Return the period of a drop that oscillates between two ellipses over that of Lamb, densities being 1000 : 1.

    Parameters
    ----------
    cells
        Particles per unit of length; the radius is 0.1875.
    periods
        How long to simulate, at least 1.5.
    """
    radius = 0.1875
    # Viscosity makes the period longer by less than a thousandth; it damps sound, which the start excites.
    sim = _drop(cells, radius, 0.32, 0.05, nu=0.01, sound=25.0)
    inside = sim.phase == 0
    radius = math.sqrt(inside.sum() / math.pi) / cells  # of the particles that there are
    exact = 2 * math.pi / math.sqrt(6 / (1.001 * radius**3))
    times = np.linspace(0, periods * exact, round(40 * periods) + 1)
    shape = []
    for moment in times:
        sim.run_until(moment)
        spread = sim.positions[inside].var(axis=0)
        shape.append((spread[0] - spread[1]) / spread.sum())
    values = np.array(shape)
    # Where the drop is round.
    crossings = np.flatnonzero(np.sign(values[:-1]) != np.sign(values[1:]))
    share = values[crossings] / (values[crossings] - values[crossings + 1])
    moments = times[crossings] + share * (times[1] - times[0])
    # Whole periods: lattices make drops that are not quite round at rest, so halves are long and short in turn.
    return {"period": float((moments[2:] - moments[:-2]).mean()) / exact}
