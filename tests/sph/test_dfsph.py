"""The scheme dfsph: a step against plain NumPy, flows against exact solutions and experiments, bits, and bad input."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest

import vicinal as vc
from sph.fluids import lattice, tank
from sph.plain_dfsph import Solution, dfsph_pass
from sph.test_bits import numbers, splash
from vicinal import _core
from vicinal.cli.main import main
from vicinal.errors import InputError
from vicinal.sph import Artificial, Laminar, Simulation
from vicinal.sph.viscosity import Viscosity


@pytest.mark.parametrize("dim", [2, 3])
def test_a_step_is_that_of_plain_arrays(dim: int) -> None:
    spacing, rng = 0.1, np.random.default_rng(3)
    size = [0.5] * (dim - 1) + [0.6]
    x = lattice([0.0] * dim, [0.5] * dim, spacing)
    x += rng.uniform(-0.02, 0.02, x.shape)
    u, p = rng.normal(size=x.shape), rng.uniform(0, 5, len(x))
    walls = tank(size, spacing)
    cases: list[tuple[Viscosity, str, float]] = [(Artificial(0.1), "double", 1e-5), (Laminar(0.05), "single", 1e-3)]
    for viscosity, precision, tolerance in cases:
        sim = Simulation(
            x,
            spacing=spacing,
            density=2.0,
            velocities=u,
            pressures=p,
            gravity=[0.0] * (dim - 1) + [-2.0],
            walls=walls,
            viscosity=viscosity,
            scheme="dfsph",
            tolerance=0.01,
            precision=precision,
        )
        dt = sim.dt
        # The steps before the first one: the pressures passed, and those that the solvers found with them.
        plain = Solution(np.zeros(x.shape), p / 2.0, np.zeros(len(x)), np.zeros(len(x)))
        found = sim.solved
        many = (int(found["density_iterations"]), int(found["divergence_iterations"]))
        before, most = plain, 0.0
        first = [each for each in ((k, m) for k in range(2, 101) for m in range(1, 101))][:0]
        assert first == []
        for _ in range(2):
            plain, errors = dfsph_pass(sim, walls, dt, before, many)
            before, most = plain, max(most, *errors)
        scale = np.abs(plain.acceleration).max()
        assert np.abs(sim.accelerations - plain.acceleration).max() < tolerance * scale
