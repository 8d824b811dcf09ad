"""
The largest suitable time step of grains: the error of every validated quantity as a function of the step.

Each line is a quantity of docs/validation.md with its tolerance there. Columns are steps as parts of the collision
time; a value is the largest error in units of the tolerance. Errors depend on where in a step a contact begins (its
phase), so a single impact may be right or wrong by luck: impacts begin at PHASES phases, and isolated systems have the
starts SEEDS. Where the text of a line says "typical", the error is the root of the mean square over these, elsewhere
the largest. The default step (COLLISION_FRACTION in src/vicinal/dem/simulation.py) is the largest one at which, as at
all smaller ones, no error exceeds its tolerance. The tests themselves have shorter steps.

    python benchmarks/step.py [--fractions 0.01,0.02,...]
"""

from __future__ import annotations

import argparse
import itertools
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
# Replaces this folder in the path, since its dem.py would hide the package of that name.
sys.path[0] = str(ROOT / "tests")

import vicinal  # noqa: E402
from dem.grains import floor, linear, simulation  # noqa: E402 - the path is known only now
from dem.test_collisions import hertz_collision  # noqa: E402
from dem.test_oblique import RATIO, SPIN, WITH_HISTORY, WITHOUT_HISTORY, E, chung_ooi, rebound  # noqa: E402
from vicinal.dem import Material, Simulation, TimeStepWarning, box_walls  # noqa: E402
from vicinal.dem.simulation import COLLISION_FRACTION  # noqa: E402

FRACTIONS = (0.01, 0.015, 0.02, 0.025, 0.03, 0.035, 0.0375, 0.04, 0.05)
PHASES = (np.arange(20) + 0.5) / 20
SEEDS = (3, 4, 5, 6)
HERTZ = {"density": 2500, "youngs_modulus": 1e7, "poisson_ratio": 0.3}


def relative(found: object, expected: object) -> float:
    """Return the largest error of some values, relative to each."""
    a, b = np.atleast_1d(found), np.atleast_1d(expected)
    return float(np.max(np.abs(a - b) / np.abs(b)))


def typical(found: object, expected: object, scale: object = None) -> float:
    """Return the largest error of some values, each the root of the mean square over phases, relative to `scale`."""
    values, right = np.array(found), np.array(expected)
    errors = np.sqrt(np.mean((values - right) ** 2, axis=0))
    return float(np.max(errors / np.abs(right if scale is None else scale)))


def restitution(law: str, *, of_each: bool) -> Callable[[float], float]:
    """Rebound from a wall and from a sphere, at any phase of the first touch.

    The tolerance is 1 % of e from 0.5 to 1 (`of_each`), and 1 % of the impact speed below that. The test uses steps of
    a hundredth of the collision time, for which the error of e is at most 1 % of e down to 0.05.
    """

    def error(fraction: float) -> float:
        worst = 0.0
        for e in (0.5, 0.7, 0.9, 1.0) if of_each else (0.05, 0.1, 0.2, 0.35):
            material = linear(restitution=e) if law == "linear" else Material(**HERTZ, restitution=e)
            for against in ("wall", "sphere"):
                for phase in np.linspace(0.01, 0.99, 20):
                    sim = simulation(material, walls=[floor()] if against == "wall" else [], gravity=(0, 0, 0))
                    sim.insert([[0, 0, 0.5]], radii=0.5, velocities=[[0, 0, -1.0]])
                    if against == "sphere":
                        sim.insert([[0, 0, -0.5]], radii=0.5)
                    sim.dt = fraction * sim.critical_times().collision
                    sim.positions = [[0, 0, 0.5 + phase * sim.dt], *sim.positions[1:]]
                    sim.run(round(1.5 / fraction))
                    while sim.contact_count():
                        sim.run(10)
                    v = sim.velocities[:, 2]
                    found = v[0] if against == "wall" else v[0] - v[1]
                    worst = max(worst, abs(found - e) / (e if of_each else 1.0))
        return worst / 0.01

    return error


def hertz(fraction: float) -> float:
    """Largest overlap and force of Hertz's collision; 1 %."""
    measured, theory = hertz_collision(fraction)
    return relative(measured[:2], theory[:2]) / 0.01


def kureck(fraction: float) -> float:
    """Oblique impact with and without history, Kureck 2016; typical error, 2 %.

    The smallest value, -0.127 next to the zero of the curve, is a small difference of two large terms: its tolerance is
    2 % of the first, ratio / e.
    """
    worst = 0.0
    for history, table in ((True, WITH_HISTORY), (False, WITHOUT_HISTORY)):
        for ratio, value in table.items():
            if value:
                found = [rebound(ratio, history=history, per_collision=1 / fraction, phase=p) for p in PHASES]
                worst = max(worst, typical(found, value, ratio / E if value == -0.127 else value))
    return worst / 0.02


def chung(fraction: float) -> float:
    """Ratio of velocities and spin after an oblique impact, Chung & Ooi 2011; typical error, 3 %."""
    worst = 0.0
    for column, table in ((0, RATIO), (1, SPIN)):
        for angle, value in table:
            if value != -19.27:
                worst = max(worst, typical([chung_ooi(angle, 1 / fraction, p)[column] for p in PHASES], value))
    return worst / 0.03


def large_sphere(fraction: float) -> float:
    """An impact on a sphere a thousand times larger, compared with a flat wall; typical error, 0.3 %."""

    def run(part: float, vt: float, phase: float, *, wall: bool) -> list[float]:
        sim = simulation(linear(friction=0.5, gamma_t=0.0), gravity=(0, 0, 0), walls=[floor()] if wall else [])
        sim.insert([[0, 0, 0.5 + 1e-6]], radii=0.5, velocities=[[vt, 0, -1]])
        if not wall:
            sim.insert([[0, 0, -500]], radii=500)
        sim.dt = part * sim.critical_times().collision
        sim.positions = [[0, 0, 0.5 + 1e-6 + phase * sim.dt], *sim.positions[1:]]
        sim.run(round(3 / part))
        return [*sim.velocities[0, [0, 2]].tolist(), float(sim.spins[0, 1])]

    errors = [
        typical([run(fraction, vt, p, wall=False) for p in PHASES], run(1e-3, vt, 0.5, wall=True)) for vt in (0.5, 2.0)
    ]
    return max(errors) / 0.003


def incline(fraction: float) -> float:
    """Rolling and sliding down an incline; 0.1 %."""
    mu, g, worst = 0.25, 9.81, 0.0
    for degrees in (25, 55):
        theta = np.radians(degrees)
        material = Material(density=2500, youngs_modulus=1e8, poisson_ratio=0.25, restitution=0.2, friction=mu)
        sim = simulation(material, walls=[floor()], gravity=(g * np.sin(theta), 0, -g * np.cos(theta)))
        load = 4 / 3 * np.pi * 1e-6 * 2500 * g * np.cos(theta)
        overlap = (0.75 * load / (1e8 / (2 * (1 - 0.25**2)) * 0.1)) ** (2 / 3)
        sim.insert([[0, 0, 0.01 - overlap]], radii=0.01)
        sim.dt = fraction * sim.critical_times().collision
        sim.run(round(0.02 / sim.dt))
        start, speed = sim.time, sim.velocities[0, 0]
        sim.run(round(0.06 / sim.dt))
        rolling = np.tan(theta) <= 3.5 * mu
        expected = 5 / 7 * g * np.sin(theta) if rolling else g * (np.sin(theta) - mu * np.cos(theta))
        worst = max(worst, relative((sim.velocities[0, 0] - speed) / (sim.time - start), expected))
    return worst / 1e-3


def energy(law: str, e: float) -> Callable[[float], float]:
    """Largest growth of the energy of an isolated system, typical of several starts; 1e-12, without damping 1e-4."""

    def growth(fraction: float, seed: int) -> float:
        rng = np.random.default_rng(seed)
        stiffness = {"kn": 1e5} if law == "linear" else {"youngs_modulus": 1e6, "poisson_ratio": 0.3}
        material = Material(density=2, restitution=e, friction=0.4, **stiffness)
        sim = simulation(material, walls=box_walls("box", (0, 0, 0), (4, 4, 4), "m"), gravity=(0, 0, 0))
        grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3) + 0.5
        sim.insert(grid, radii=rng.uniform(0.35, 0.5, 64), velocities=rng.normal(0, 1, (64, 3)))
        sim.dt = fraction * sim.critical_times().collision
        energies = []
        for _ in range(400):
            sim.run(max(1, round(1e-3 / sim.dt)))
            energies.append(sim.energies()["total"])
        return max(0.0, float(np.diff(energies).max())) / energies[0] / (1e-4 if e == 1 else 1e-12)

    return lambda fraction: typical([growth(fraction, seed) for seed in SEEDS], 0.0, 1.0)


def settled_box(fraction: float) -> float:
    """Kinetic energy of 10 000 settled spheres against LAMMPS and LIGGGHTS; 1 %."""
    quantised = np.load(ROOT / "tests" / "dem" / "data" / "box10k.npz")["centres"]
    material = linear(restitution=None, gamma_n=50.0, gamma_t=0.0, friction=0.5)
    walls = box_walls("box", (0, 0, 0), (20, 20, 100), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1))
    sim.insert(quantised * 2.0**-26, radii=0.5)
    per = round(0.05 / (fraction * np.pi * np.sqrt(0.5 / 2e5)))
    sim.dt = 0.05 / per
    worst = 0.0
    for expected in (0.31279, 0.3256):
        sim.run(per)
        worst = max(worst, relative(sim.energies()["kinetic_translational"], expected))
    return worst / 0.01


CASES: dict[str, Callable[[float], float]] = {
    **{f"e from 0.5, {law}": restitution(law, of_each=True) for law in ("linear", "hertz")},
    **{f"e below 0.5, {law}": restitution(law, of_each=False) for law in ("linear", "hertz")},
    "Hertz's overlap and force": hertz,
    "oblique, Kureck 2016": kureck,
    "oblique, Chung & Ooi 2011": chung,
    "sphere × 1000 as a wall": large_sphere,
    "incline": incline,
    **{f"energy, {law}, e = {e:g}": energy(law, e) for law in ("linear", "hertz") for e in (0.3, 0.6, 1.0)},
    "settled box": settled_box,
}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fractions", default=",".join(map(str, FRACTIONS)))
    parser.add_argument("--cases", default="", help="only lines that contain this text")
    options = parser.parse_args()
    fractions = [float(part) for part in options.fractions.split(",")]
    warnings.simplefilter("ignore", TimeStepWarning)
    print(f"{'error / tolerance':<28}" + "".join(f"{part:>9g}" for part in fractions))
    passed = dict.fromkeys(fractions, True)
    with vicinal.threads(1):
        for name, case in CASES.items():
            if options.cases in name:
                errors = [case(part) for part in fractions]
                print(f"{name:<28}" + "".join(f"{error:>9.4g}" for error in errors), flush=True)
                for part, error in zip(fractions, errors, strict=True):
                    passed[part] &= error <= 1
    good = list(itertools.takewhile(lambda part: passed[part], sorted(fractions)))
    print(f"largest step at which, as at all smaller ones, errors are within tolerances: {max(good, default=np.nan):g}")
    print(f"default: {COLLISION_FRACTION:g}")


if __name__ == "__main__":
    main()
