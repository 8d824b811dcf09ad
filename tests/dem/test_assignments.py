"""What is assigned to a simulation acts from the next step on, or is refused."""

import numpy as np
import pytest

from dem.grains import bed, floor, linear, simulation
from vicinal import InputError
from vicinal.dem import Simulation

ARRAYS = (
    *("positions", "velocities", "spins", "orientations"),
    *("radii", "masses", "inertias", "ids", "material_ids", "shape_ids", "gravity"),
)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name):
    sim = bed(8)
    with pytest.raises(ValueError, match="read-only"):
        getattr(sim, name)[0] = 1


@pytest.mark.parametrize("name", ["materials", "pairs", "law", "history", "walls", "shapes", "box", "radii", "masses"])
def test_fixed_settings_cannot_be_assigned(name):
    sim = bed(8)
    with pytest.raises(AttributeError, match=name):
        setattr(sim, name, getattr(sim, name))


def test_materials_and_walls_cannot_be_exchanged():
    sim = bed(8)
    with pytest.raises(TypeError):
        sim.materials["m"] = linear()
    with pytest.raises(TypeError):
        sim.walls[0] = floor()
    with pytest.raises(AttributeError, match=r"point of the wall 'tray-x' is fixed"):
        sim.walls[0].point = (0, 0, 1)
    with pytest.raises(AttributeError, match="material"):
        sim.walls[0].material = "other"


@pytest.mark.parametrize(
    "change", [{"positions": (1.0, 2.0, 3.0)}, {"velocities": (1.0, 0, 0)}, {"spins": (0, 0, 3.0)}]
)
def test_assigned_columns_act(change):
    sim = simulation(linear(kn=2e3), gravity=(0, 0, 0), dt=1e-3)
    sim.insert([[0, 0, 0.0]], radii=0.5)
    sim.run(10)
    for name, value in change.items():
        setattr(sim, name, [value])
        sim.run(1)
        moved = np.array(value) + sim.dt * sim.velocities[0] if name == "positions" else value
        np.testing.assert_allclose(getattr(sim, name)[0], moved)


def test_assigned_gravity_acts_from_the_next_step_on():
    sim = simulation(linear(kn=2e3), gravity=(0, 0, -10), dt=1e-3)
    sim.insert([[0, 0, 0.0]], radii=0.5)
    sim.run(100)
    sim.gravity = (5, 0, 0)
    falling = sim.velocities[0, 2]
    sim.run(100)
    np.testing.assert_allclose(sim.velocities[0], [0.5, 0, falling], rtol=1e-12)
    copy = Simulation.restore(sim.state())
    np.testing.assert_array_equal(copy.gravity, [5, 0, 0])
    with pytest.raises(InputError, match="gravity must be three finite numbers"):
        sim.gravity = 9.81


def test_assigned_motion_of_a_wall_is_checked_and_acts():
    sim = simulation(linear(kn=2e3), walls=[floor()], gravity=(0, 0, 0), dt=1e-3)
    sim.insert([[0, 0, 3.0]], radii=0.5)
    sim.run(10)
    with pytest.raises(InputError, match=r"floor\.velocity must be three finite numbers"):
        sim.walls[0].velocity = (0, 1)
    sim.walls[0].velocity = (0, 0, 1.0)
    sim.run(100)
    np.testing.assert_allclose(sim.walls[0].position, [0, 0, 0.1])


def test_a_wall_that_is_put_elsewhere_meets_bodies_there():
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 30.0]], radii=0.5)
    sim.run(10)
    assert sim.contact_count() == 0
    sim.walls[0].position = (0, 0, 29.6)
    sim.run(10)
    assert sim.contact_count() == 1
    assert sim.walls[0].force[2] < 0
