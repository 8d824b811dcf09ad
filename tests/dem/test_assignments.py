"""Assignments to a simulation take effect from the next step on, or are refused."""

from dataclasses import replace

import numpy as np
import pytest

from dem.grains import bed, floor, linear, simulation
from vicinal import InputError
from vicinal.dem import Clump, Cylinder, MeshWall, Polyhedron, Simulation, Tablet, TimeStepWarning

ARRAYS = (
    *("positions", "velocities", "spins", "orientations"),
    *("radii", "masses", "inertias", "ids", "material_ids", "shape_ids", "gravity"),
)


@pytest.mark.parametrize("name", ARRAYS)
def test_arrays_are_read_only(name):
    sim = bed(8)
    with pytest.raises(ValueError, match="read-only"):
        getattr(sim, name)[0] = 1


ASSIGNABLE = {"positions", "velocities", "spins", "orientations", "gravity", "dt", "max_overlap", "materials", "pairs"}


def public(thing):
    return {name for name in dir(thing) if not name.startswith("_")}


@pytest.mark.parametrize("name", sorted(public(Simulation) - ASSIGNABLE))
def test_everything_else_of_a_simulation_cannot_be_assigned(name):
    sim = bed(8)
    with pytest.raises(AttributeError, match=f"{name} cannot be assigned; make a new Simulation, or assign to one of"):
        setattr(sim, name, getattr(sim, name))


def test_a_name_that_a_simulation_does_not_have_is_refused():
    sim = bed(8)
    for name in ("skin", "friction", "velocity", "position"):
        with pytest.raises(AttributeError, match=f"{name} must be an attribute of a simulation.*velocities"):
            setattr(sim, name, 1.0)


def test_positions_are_assigned_with_a_row_per_body():
    sim = bed(8)
    for wrong in ((5, 5, 5), [[5, 5, 5]], sim.positions[:7], sim.positions[:, :2]):
        before = sim.positions
        with pytest.raises(InputError, match=r"positions must have the shape \(8, 3\), a row per body, got \("):
            sim.positions = wrong
        assert np.array_equal(sim.positions, before)
    sim.velocities = (5, 5, 5)  # of all bodies
    assert (sim.velocities == 5).all()


SHAPES = [Clump([[0, 0, 0]], [1.0]), Tablet(0.5, 0.3, 0.15), Polyhedron([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_shapes_cannot_be_changed(shape):
    for name in vars(shape):
        with pytest.raises(AttributeError):
            setattr(shape, name, 1.0)
        if isinstance(getattr(shape, name), np.ndarray):
            with pytest.raises(ValueError, match="read-only"):
                getattr(shape, name)[...] = 0


MOVING = {"velocity", "spin", "centre", "position", "orientation"}
WALLS = {
    "plane": lambda: floor(),
    "cylinder": lambda: Cylinder(name="w", material="m", start=(0, 0, 0), end=(0, 0, 1), radius=9.0),
    "mesh": lambda: MeshWall(name="w", material="m", vertices=np.eye(3) * 9, faces=np.array([[0, 1, 2]])),
}


@pytest.mark.parametrize("kind", WALLS)
def test_the_rest_of_a_wall_of_a_simulation_is_fixed(kind):
    wall = WALLS[kind]()
    sim = simulation(linear(), walls=[wall], dt=1e-5)
    sim.insert([[2, 2, 2.0]], radii=0.5)
    sim.run(1)
    for name in public(wall) - MOVING:
        with pytest.raises(AttributeError, match=rf"{name} of the wall .* is fixed in a simulation.*velocity, spin"):
            setattr(wall, name, getattr(wall, name))
        if isinstance(getattr(wall, name), np.ndarray) and name != "axis":
            with pytest.raises(ValueError, match="read-only"):
                getattr(wall, name)[0] = 1
    with pytest.raises(InputError, match="must belong to one simulation"):
        simulation(linear(), walls=[wall], dt=1e-3)


def test_the_arrays_of_the_caller_stay_writable():
    vertices = np.eye(3) * 9
    simulation(linear(), walls=[MeshWall(name="w", material="m", vertices=vertices, faces=[[0, 1, 2]])], dt=1e-3)
    vertices[0] = 1


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


def test_assigned_orientations_act():
    # A tablet on edge touches the floor, one that lies flat does not; a rotated one keeps rotating with its new axes.
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0.45]], shape=Tablet(0.5, 0.3, 0.15), spins=[[0, 0, 2.0]])
    sim.run(1)
    assert sim.contact_count() == 0
    before = sim._core.get("momenta")[0, 2]
    sim.orientations = [[1.0, 1.0, 0, 0]]
    np.testing.assert_allclose(sim.orientations, [[np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    sim.run(1)
    assert sim.contact_count() == 1
    assert abs(sim._core.get("momenta")[0, 2] / before - 1) > 0.1
    with pytest.raises(
        InputError, match="orientations must be quaternions w, x, y, z of length 1, got one of length 0"
    ):
        sim.orientations = [[0, 0, 0, 0]]


def test_an_assigned_step_acts_and_is_looked_at_again():
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, -10), dt=1e-4)
    sim.insert([[0, 0, 9.0]], radii=0.5)
    sim.run(10)
    sim.dt = 5e-3
    with pytest.warns(TimeStepWarning, match="dt=0.005 is"):
        sim.run(10)
    assert sim.time == pytest.approx(0.051)
    np.testing.assert_allclose(sim.velocities[0, 2], -10 * sim.time, rtol=1e-12)
    np.testing.assert_allclose(sim.positions[0, 2], 9 - 5 * sim.time**2, rtol=1e-12)
    for wrong in (0, -1.0, np.nan, "long"):
        with pytest.raises(InputError, match="dt must be"):
            sim.dt = wrong


def test_a_default_step_can_be_replaced():
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, -10))
    sim.insert([[0, 0, 9.0]], radii=0.5)
    sim.dt = 1e-5
    sim.run(10)
    np.testing.assert_allclose(sim.velocities[0, 2], -1e-3)


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
    # Values written into the array take effect too.
    sim.walls[0].velocity[2] = -1.0
    sim.run(50)
    np.testing.assert_allclose(sim.walls[0].position, [0, 0, 0.05])
    sim.walls[0].velocity[2] = np.nan
    with pytest.raises(InputError, match=r"floor\.velocity must be three finite numbers"):
        sim.run(1)


def test_assigned_spin_centre_and_orientation_of_a_wall_act():
    sim = simulation(linear(kn=2e3), walls=[floor()], gravity=(0, 0, 0), dt=1e-3)
    sim.insert([[0, 0, 3.0]], radii=0.5)
    sim.run(1)
    wall = sim.walls[0]
    wall.spin = (0, 0.5 * np.pi, 0)
    sim.run(1000)
    np.testing.assert_allclose(wall.orientation, [np.sqrt(0.5), 0, np.sqrt(0.5), 0], atol=1e-12)
    wall.spin = (0, 0, 0)
    wall.orientation = (2.0, 0, 0, 0)
    np.testing.assert_array_equal(wall.orientation, [1, 0, 0, 0])
    assert sim.contact_count() == 0
    # Turned upside down about a point above the body: the plane is at 2 × 1.3 - 0 and faces down.
    wall.centre = (0, 0, 1.3)
    wall.orientation = (0, 1, 0, 0)
    sim.run(1)
    assert sim.contact_count() == 1
    assert wall.force[2] > 0
    with pytest.raises(InputError, match=r"floor\.orientation must be a quaternion"):
        wall.orientation = (0, 0, 0, 0)
    with pytest.raises(ValueError, match="read-only"):
        wall.orientation[0] = 3


def test_the_same_settings_make_the_same_run_whenever_they_are_assigned():
    # After every kind of assignment, a step equals that of a simulation that was made with these values.
    def fresh(**columns):
        sim = simulation(linear(friction=0.3), walls=[floor()], gravity=(1, 0, -9), dt=2e-4)
        sim.insert([[0, 0, 0.499], [0.98, 0.1, 0.6]], radii=0.5, **columns)
        return sim

    rng = np.random.default_rng(0)
    velocities, spins = rng.normal(size=(2, 2, 3))
    one, other = fresh(velocities=velocities, spins=spins), fresh()
    other.velocities, other.spins = velocities, spins
    for sim in (one, other):
        sim.run(50)
    np.testing.assert_array_equal(one.positions, other.positions)
    np.testing.assert_array_equal(one.spins, other.spins)


def test_a_wall_that_is_put_elsewhere_meets_bodies_there():
    sim = simulation(linear(), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 30.0]], radii=0.5)
    sim.run(10)
    assert sim.contact_count() == 0
    sim.walls[0].position = (0, 0, 29.6)
    sim.run(10)
    assert sim.contact_count() == 1
    assert sim.walls[0].force[2] < 0


def test_assigned_materials_act_from_the_next_step_on():
    # A block pushed along a floor: friction slows it down by µ g.
    before = linear(kn=2e5, friction=0.2, restitution=0.3, rolling_friction=0.0)
    sim = simulation(before, walls=[floor()], gravity=(0, 0, -10), dt=1e-4)
    cube = Polyhedron([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    sim.insert([[0, 0, 0.5]], shape=cube, velocities=[[3.0, 0, 0]])
    sim.run(2000)
    for friction in (0.2, 0.4):
        sim.materials = {"m": replace(before, friction=friction)}
        start = sim.velocities[0, 0]
        sim.run(1000)
        np.testing.assert_allclose(start - sim.velocities[0, 0], 10 * friction * 0.1, rtol=0.03)
    copy = Simulation.restore(sim.state())
    assert copy.materials["m"].friction == 0.4
    sim.run(100)
    copy.run(100)
    np.testing.assert_array_equal(copy.positions, sim.positions)


def test_assigned_parameters_of_pairs_act():
    sim = simulation(linear(kn=2e4, restitution=1.0), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0.6]], radii=0.5, velocities=[[0, 0, -1.0]])
    sim.pairs = {("m", "m"): {"restitution": 0.5}}
    sim.run(3000)
    np.testing.assert_allclose(sim.velocities[0, 2], 0.5, rtol=0.01)


def test_assigned_materials_that_do_not_fit_are_refused_and_change_nothing():
    material = linear(friction=0.3)
    sim = simulation(material, dt=1e-4)
    for wrong, message in (
        ({"n": material}, "materials must keep their names, m, got n"),
        ({"m": replace(material, density=1.0)}, r'materials\["m"\] must keep its density'),
        ({"m": replace(material, kn=None)}, r'materials\["m"\] must have kn'),
        ({"m": {"kn": 1.0}}, r'materials\["m"\] must be a Material, got dict'),
        (material, "materials must have names"),
    ):
        with pytest.raises(InputError, match=message):
            sim.materials = wrong
    with pytest.raises(InputError, match="pairs must map two names of materials to parameters, got 'm': 1"):
        sim.pairs = {"m": 1}
    assert dict(sim.materials) == {"m": material}
    assert not sim.pairs


def test_stiffer_materials_are_compared_with_the_step():
    sim = simulation(linear(), walls=[floor()], dt=1e-4)
    sim.insert([[0, 0, 9.0]], radii=0.5)
    sim.run(1)
    sim.materials = {"m": linear(kn=2e9)}
    with pytest.warns(TimeStepWarning):
        sim.run(1)


def test_a_run_until_a_time_ends_with_the_first_step_that_reaches_it():
    sim = simulation(linear(kn=2e3), dt=1e-3)
    sim.insert([[0, 0, 0.0]], radii=0.5)
    sim.run_until(0.0105)
    assert sim.step_count == 11
    sim.run_until(0.0105)
    assert sim.step_count == 11
    for wrong in (np.nan, np.inf, "end"):
        with pytest.raises(InputError, match="time must be a"):
            sim.run_until(wrong)
