"""Shortcuts and vector loops change speed only."""

import numpy as np
import pytest

from dem.grains import linear, simulation
from vicinal.dem import Material, MeshWall, Simulation, Tablet, box_walls

trimesh = pytest.importorskip("trimesh")

STICKY = Material(
    density=2000,
    youngs_modulus=1e6,
    poisson_ratio=0.3,
    restitution=0.4,
    friction=0.5,
    rolling_friction=0.1,
    cohesion=100.0,
)
HERTZ = {
    "youngs_modulus": 1e6,
    "poisson_ratio": 0.3,
    "restitution": 0.4,
    "rolling_friction": 0.1,
    "torsional_friction": 0.05,
}


def tumbler(material, spin=(0, 3.0, 0), **options):
    """Spheres in a turning box of triangles, some of them long and thin."""
    box = trimesh.creation.box((6, 6, 6))
    sliver = np.array([[-3, -1.0, -2.9], [3, -1.0, -2.9], [3, -1.0 + 1e-9, -2.9]])
    vertices = np.concatenate([box.vertices, sliver])
    faces = np.concatenate([box.faces, [[len(box.vertices) + k for k in range(3)]]])
    wall = MeshWall(name="box", material="m", vertices=vertices, faces=faces, spin=spin)
    sim = simulation(material, walls=[wall], gravity=(0, 0, -10), dt=2e-4, **options)
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * 1.1 - 1.65
    rng = np.random.default_rng(2)
    sim.insert(grid, radii=rng.uniform(0.3, 0.5, len(grid)), velocities=rng.normal(0, 2, grid.shape))
    return sim


def assert_same(a, b):
    for name in ("positions", "velocities", "spins", "orientations"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    for one, other in zip(a.walls, b.walls, strict=True):
        np.testing.assert_array_equal(one.force, other.force, err_msg=one.name)
        np.testing.assert_array_equal(one.torque, other.torque, err_msg=one.name)


@pytest.mark.parametrize("material", [linear(friction=0.3, restitution=0.5, kn=2e4), STICKY])
def test_far_walls_are_left_alone_without_a_difference(material):
    # One list for the whole run, in single steps (every call tests all walls again) or in one call.
    at_once, step_by_step = tumbler(material, skin=4.0), tumbler(material, skin=4.0)
    at_once.run(1500)
    for _ in range(1500):
        step_by_step.run(1)
    assert at_once.stats.builds < 5
    assert np.linalg.norm(at_once.walls[0].force) > 0
    assert_same(at_once, step_by_step)


SMOOTH = {"m": linear(friction=0.3, restitution=0.3, kn=2e4)}
ROUGH = {
    "m": Material(density=1900, friction=0.6, **HERTZ),
    "n": Material(density=2400, friction=0.2, **(HERTZ | {"youngs_modulus": 2e6})),
}


def tray(kind, materials=SMOOTH, motion=0.0):
    """Bodies that fall onto a floor between four sides, which are planes or two triangles each.

    They are spheres of several sizes, or tablets, of all materials in turn; the walls are of the first one. `motion` is
    how fast walls move and turn.
    """
    edge = 4.0
    if kind != "triangles":
        walls = box_walls("tray", (0, 0, 0), (edge, edge, edge), "m", sides=["-x", "+x", "-y", "+y", "-z"])
    else:
        box = trimesh.creation.box((edge, edge, edge))
        walls = [MeshWall(name="tray", material="m", vertices=box.vertices + edge / 2, faces=box.faces)]
    floor = walls[-1]
    floor.centre = np.array([2.0, 2.0, 0.0])
    floor.spin = motion * np.array([0.1, -0.05, 2.0])
    walls[0].velocity = motion * np.array([0.2, 0.3, 0.1])
    law = "linear" if materials["m"].kn is not None else "hertz"
    sim = Simulation(materials=materials, law=law, walls=walls, gravity=(0.5, 0.2, -10), dt=2e-4)
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)[:44] + 0.5
    rng = np.random.default_rng(3)
    velocities, turns = rng.normal(0, 0.5, grid.shape), rng.normal(size=(len(grid), 4))
    radii = rng.uniform(0.3, 0.5, len(grid))
    for k, name in enumerate(materials):
        of_name = np.arange(len(grid)) % len(materials) == k
        if kind == "tablets":
            bodies = {"shape": Tablet(0.45, 0.2, 0.1), "orientations": turns[of_name]}
        else:
            bodies = {"radii": radii[of_name]}
        sim.insert(grid[of_name], material=name, velocities=velocities[of_name], **bodies)
    return sim


@pytest.mark.parametrize(("materials", "motion"), [(SMOOTH, 0.0), (ROUGH, 1.0)], ids=["still", "moving"])
@pytest.mark.parametrize("kind", ["planes", "triangles", "tablets"])
def test_contacts_with_walls_that_last_are_those_of_single_steps(kind, materials, motion):
    # In one call, a body that rests on a wall is followed by short loops; every call begins with the general code.
    at_once, step_by_step = (tray(kind, materials, motion) for _ in range(2))
    at_once.run(2500)
    for _ in range(2500):
        step_by_step.run(1)
    contacts = at_once.contacts()
    assert (contacts["wall"] >= 0).sum() > 10
    assert_same(at_once, step_by_step)
    for name, column in step_by_step.contacts().items():
        np.testing.assert_array_equal(contacts[name], column, err_msg=name)


def test_a_sphere_leaves_a_wall_and_a_triangle_as_it_should():
    # It rolls off a table of two triangles, over the diagonal and then over the border, and falls.
    corners = np.array([[-1.0, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]])
    wall = MeshWall(name="table", material="m", vertices=corners, faces=[[0, 1, 2], [0, 2, 3]])
    sim = simulation(linear(friction=0.5, restitution=0.5, kn=2e4), walls=[wall], gravity=(0, 0, -10), dt=1e-4)
    sim.insert([[-0.5, 0.3, 0.2]], radii=0.2, velocities=[[2.0, 0, 0]], spins=[[0, 10.0, 0]])
    sim.run(5000)
    assert sim.positions[0, 0] == pytest.approx(0.5, abs=1e-3)
    assert sim.positions[0, 2] == pytest.approx(0.2, abs=1e-3)
    sim.run(7000)  # it reaches the border after 2500 of them
    assert sim.positions[0, 2] < -0.2


def test_bodies_stay_inside_a_box_of_triangles():
    sim = tumbler(linear(friction=0.3, restitution=0.5, kn=2e4), spin=(0, 0, 0))
    sim.run(8000)
    assert np.abs(sim.positions).max() < 3.0
    weight = 10 * sim.masses.sum()
    assert sim.walls[0].force[2] == pytest.approx(-weight, rel=0.2)


def test_a_fast_body_does_not_use_up_the_lists_of_all():
    n, speed, steps = 300, 50.0, 1000
    still = np.stack([np.arange(n) * 1.01, np.zeros(n), np.zeros(n)], axis=1)
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4)
    sim.insert(still, radii=0.5)
    sim.insert([[0, 3.0, 0]], radii=0.5, velocities=[[speed, 0, 0]])
    sim.run(steps)
    way, half_a_skin = speed * steps * sim.dt, 0.5 * sim.stats.skin
    assert sim.positions[-1, 0] == pytest.approx(way)
    assert sim.stats.builds < 0.2 * way / half_a_skin


def test_different_materials_in_one_block_have_their_own_parameters():
    # The restitution shows which pair of materials collided.
    soft, hard = linear(restitution=0.3), linear(restitution=0.9)
    sim = Simulation(materials={"soft": soft, "hard": hard}, law="linear", gravity=(0, 0, 0), dt=1e-5)
    for k, kinds in enumerate(
        [("soft", "soft"), ("hard", "hard"), ("soft", "soft"), ("hard", "hard"), ("soft", "soft")]
    ):
        for side, kind in zip((-0.51, 0.51), kinds, strict=True):
            sim.insert([[side, 3.0 * k, 0]], radii=0.5, material=kind, velocities=[[-side, 0, 0]])
    sim.run(8000)
    left = sim.velocities[1::2, 0] / 0.51
    np.testing.assert_allclose(left, [0.3, 0.9, 0.3, 0.9, 0.3], rtol=0.01)
