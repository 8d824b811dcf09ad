"""A shaken box: the largest grain rises to the top."""

import numpy as np
import pytest

from dem.grains import linear
from vicinal import sim as simulations
from vicinal.dem import Simulation, box_walls
from vicinal.sim.run import make_solver

SIDE, AMPLITUDE, PHASES = 7.0, 0.6, 24


def heights(ratio, cycles, acceleration=4.0):
    """Heights above the floor after every cycle: of a grain that starts on the floor, and the median of the others.

    `ratio` is the diameter of that grain over those of the others; the acceleration is in g.
    """
    rng = np.random.default_rng(1)
    walls = box_walls("box", (0, 0, 0), (SIDE, SIDE, 99), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    material = linear(kn=2000.0, restitution=0.6, friction=0.4)
    sim = Simulation(materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -1), dt=2e-3)
    nut = np.array([SIDE / 2, SIDE / 2, 0.5 * ratio])
    sim.insert([nut], radii=0.5 * ratio)
    per = int(SIDE)
    k = np.arange(600)
    places = np.c_[(k % per + 0.5) * SIDE / per, (k // per % per + 0.5) * SIDE / per, 0.5 + 1.02 * (k // per**2)]
    free = np.linalg.norm(places - nut, axis=1) > 0.5 * ratio + 0.52
    places = places[free][:300]
    sim.insert(places + rng.uniform(-0.005, 0.005, places.shape), radii=rng.uniform(0.44, 0.49, len(places)))
    sim.run(5000)
    rate = np.sqrt(acceleration / AMPLITUDE)
    steps = round(2 * np.pi / rate / PHASES / sim.dt)
    found = []
    for _ in range(cycles):
        for phase in range(PHASES):
            for wall in sim.walls:
                wall.velocity = (0, 0, AMPLITUDE * rate * np.cos(2 * np.pi * (phase + 0.5) / PHASES))
            sim.run(steps)
        z = sim.positions[:, 2] - sim.walls[4].position[2]
        found.append((z[0], np.median(z[1:])))
    return np.transpose(found)


def test_a_large_grain_rises_to_the_top_and_stays_there():
    # Rosato et al., Phys. Rev. Lett. 58 (1987) 1038: why the Brazil nuts are on top.
    nut, others = heights(3.0, 45)
    assert nut[0] < others[0]
    assert (nut[-10:] > others[-10:] + 1.5).all()
    # A grain of the same size as the others, at the same place, does not rise.
    same, others = heights(1.0, 15)
    assert same[-1] < others[-1]


def test_a_wall_of_a_scene_oscillates_and_stops_as_its_table_says():
    motion = {"type": "oscillating", "frequency": 5.0, "stroke": [0, 0, 0.002], "angle": 0.3, "ramp": 0.05}
    motion["stop"] = 0.25
    walls = [{"shape": "plane", "material": "a", "point": [0, 0, 0], "normal": [0, 0, 1], "motion": motion}]
    dem = {
        "materials": {"a": {"youngs_modulus": 1e6, "poisson_ratio": 0.25, "density": 2500, "restitution": 0.3}},
        "bodies": {"bead": {"material": "a", "radius": 0.003}},
        "insert": [{"kind": "place", "bodies": "bead", "positions": [[0, 0, 0.0031]]}],
        "dt": 5e-5,
    }
    solver = make_solver(simulations.Scene(run={"duration": 0.3}, walls=walls, dem=dem))
    wall = solver.simulation.walls[0]
    for time in (0.03, 0.11, 0.2, 0.3):
        solver.advance(time, 10**9)
        t = min(solver.time, 0.25)
        grown = min(t / 0.05, 1.0)
        swing = grown**2 * (3 - 2 * grown) * np.sin(10 * np.pi * t)
        assert wall.position[2] == pytest.approx(0.002 * swing, abs=1e-9)
        assert 2 * np.arcsin(wall.orientation[3]) == pytest.approx(0.3 * swing, abs=1e-9)
    assert not np.any(wall.velocity)
