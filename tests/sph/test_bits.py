"""The same bits for any number of threads, on every instruction set, and after a restart."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import vicinal as vc
from sph.fluids import lattice, tank
from vicinal import _core
from vicinal.sph import Artificial, Laminar, Simulation


def splash(dim: int, **options: object) -> Simulation:
    """A block of water that falls into a tank, with particles that are not on a lattice."""
    spacing = 0.05
    size = [1.0] + [0.3] * (dim - 2) + [0.9]
    water = lattice([0.0] * dim, [0.4, *size[1:-1], 0.6], spacing)
    water += np.random.default_rng(7).uniform(-0.005, 0.005, water.shape)
    gravity = [0.0] * (dim - 1) + [-9.81]
    return Simulation(water, spacing=spacing, gravity=gravity, walls=tank(size, spacing), **options)  # type: ignore[arg-type]


def numbers(sim: Simulation) -> bytes:
    """All results of a simulation."""
    parts = (sim.positions, sim.velocities, sim.densities, sim.accelerations, sim.wall_pressures, np.array(sim.time))
    return b"".join(part.tobytes() for part in parts)


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_threads_and_instruction_sets_change_no_bit(dim: int, precision: str) -> None:
    best, found = _core.get_isa(), set()
    steps = 60 if dim == 2 else 20
    try:
        for isa in _core.available_isas():
            _core.set_isa(isa)
            for threads in (1, 2):
                with vc.threads(threads):
                    sim = splash(dim, precision=precision)
                    sim.run(steps)
                    found.add(numbers(sim))
    finally:
        _core.set_isa(best)
    assert len(found) == 1


def test_every_kernel_and_viscosity_has_the_same_bits_on_all_instruction_sets() -> None:
    best = _core.get_isa()
    try:
        for kernel in ("wendland_c2", "wendland_c4", "quintic", "cubic"):
            for viscosity in (Artificial(0.1), Laminar(0.01)):
                found = set()
                for isa in _core.available_isas():
                    _core.set_isa(isa)
                    sim = splash(2, kernel=kernel, viscosity=viscosity, state="tait")
                    sim.run(10)
                    found.add(numbers(sim))
                assert len(found) == 1, (kernel, viscosity)
    finally:
        _core.set_isa(best)


def test_a_restored_simulation_continues_bit_for_bit() -> None:
    sim = splash(2)
    sim.run(50)
    others = [Simulation.restore(sim.state()), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))]
    end = sim.time + 48.3 * sim.dt
    sim.run_until(end)
    for other in others:
        other.run(20)
        other.run_until(end)
        assert numbers(other) == numbers(sim)


def test_single_precision_follows_double_precision() -> None:
    single, double = splash(2), splash(2, precision="double")
    for sim in (single, double):
        sim.run_until(0.1)
    assert np.abs(single.positions - double.positions).max() < 1e-4
