"""Moving walls, cylinders, and meshes that must act like the surfaces that they approximate."""

import numpy as np
import pytest

from dem.grains import bed, floor, linear, simulation
from vicinal import InputError
from vicinal.dem import Clump, Cylinder, Material, MeshWall, Plane, Simulation, box_walls
from vicinal.dem.near import wall_rows


def grid_floor(n=12, size=6.0, seed=None):
    """A flat floor of many triangles."""
    x = np.linspace(-size / 2, size / 2, n + 1)
    if seed is not None:
        x[1:-1] += np.random.default_rng(seed).uniform(-0.2, 0.2, n - 1) * size / n
    vertices = np.stack(np.meshgrid(x, x, [0.0], indexing="ij"), axis=-1).reshape(-1, 3)
    a = (np.arange(n)[:, None] * (n + 1) + np.arange(n)).ravel()
    faces = np.concatenate([np.c_[a, a + n + 1, a + n + 2], np.c_[a, a + n + 2, a + 1]])
    return MeshWall(name="floor", material="m", vertices=vertices, faces=faces)


def drum_mesh(radius, length, sides):
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.c_[radius * np.cos(angle), np.zeros(sides), radius * np.sin(angle)]
    half = np.array([0, length / 2, 0])
    vertices = np.concatenate([ring - half, ring + half])
    k = np.arange(sides)
    nxt = (k + 1) % sides
    faces = np.concatenate([np.c_[k, nxt, nxt + sides], np.c_[k, nxt + sides, k + sides]])
    return vertices, faces


def test_rolling_over_a_mesh_floor_is_rolling_over_a_plane():
    # There are no bumps at shared edges, and the tangential spring is kept from triangle to triangle.
    def run(wall):
        sim = simulation(linear(friction=0.5, restitution=0.5), walls=[wall], gravity=(1.5, 0.7, -9.0), dt=1e-4)
        sim.insert([[-2.0, -1.0, 0.5 - 9 / 2e5]], radii=0.5, velocities=[[0.4, 0.1, 0]])
        sim.run(10_000)
        return sim

    plane, mesh = run(floor()), run(grid_floor(seed=4))
    assert mesh.positions[0] == pytest.approx(plane.positions[0], abs=2e-4)
    assert mesh.velocities[0] == pytest.approx(plane.velocities[0], abs=2e-3)
    assert mesh.walls[0].force == pytest.approx(plane.walls[0].force, rel=1e-3)


def test_mesh_drum_is_a_cylinder():
    def run(drum):
        material = linear(friction=0.5, restitution=0.5, kn=2e4)
        ends = [Plane(name=f"end{s}", material="m", point=(0, s * 1.5, 0), normal=(0, -s, 0)) for s in (-1, 1)]
        sim = simulation(material, walls=[drum, *ends], dt=4e-4)
        drum.spin = (0, 1.0, 0)
        grid = np.stack(np.meshgrid([-1.2, 0, 1.2], [-0.75, 0.75], [-1.8, -0.6, 0.6]), axis=-1).reshape(-1, 3)
        sim.insert(grid, radii=0.5)
        heights, torques = [], []
        for _ in range(600):
            sim.run(20)
            heights.append(sim.positions.mean(axis=0))
            torques.append(drum.torque[1])
        return sim, np.mean(heights[100:], axis=0), np.mean(torques[100:])

    vertices, faces = drum_mesh(3.0, 4.0, 128)
    mesh = MeshWall(name="drum", material="m", vertices=vertices, faces=faces)
    _, place, torque = run(mesh)
    _, expected, turning = run(Cylinder(name="drum", material="m", start=(0, -2, 0), end=(0, 2, 0), radius=3.0))
    assert place == pytest.approx(expected, abs=0.1)
    assert abs(place[0]) > 0.1  # the drum carries the bed along
    assert torque == pytest.approx(turning, rel=0.15)
    assert mesh.orientation[0] == pytest.approx(np.cos(0.5 * 1.0 * 4.8), abs=1e-9)


def test_finer_meshes_come_closer_to_the_cylinder():
    # A sphere that swings in a rotating drum; chords of n sides deviate by R (1 - cos(π/n)), which falls with n².
    def run(drum):
        sim = simulation(linear(friction=0.5, restitution=0.5, kn=2e4), walls=[drum], dt=4e-4)
        drum.spin = (0, 1.0, 0)
        sim.insert([[2.0, 0, -1.45]], radii=0.5)
        path = []
        for _ in range(40):
            sim.run(100)
            path.append(sim.positions[0])
        return np.array(path)

    exact = run(Cylinder(name="drum", material="m", start=(0, -2, 0), end=(0, 2, 0), radius=3.0))
    assert exact[:, 0].min() < -1.0  # it has swung through the lowest point
    errors = []
    for sides in (64, 256):
        vertices, faces = drum_mesh(3.0, 4.0, sides)
        mesh = MeshWall(name="drum", material="m", vertices=vertices, faces=faces)
        errors.append(np.abs(run(mesh) - exact).max())
    assert errors[1] < 0.15 * errors[0]
    assert errors[1] < 0.01


def test_clump_goes_round_with_a_turntable():
    # Friction keeps the clump on its circle; the springs must rotate with the table, about the normal. Otherwise the
    # clump would lag by 2π times their stretch, 1e-3, in every turn.
    table = floor(spin=(0, 0, 1.0))
    sim = simulation(linear(friction=0.8, restitution=0.3, kn=2e4), walls=[table], dt=2e-4)
    feet = 0.6 * np.array([[1, 0, 0], [-0.5, np.sqrt(0.75), 0], [-0.5, -np.sqrt(0.75), 0]])
    sim.insert([[2.0, 0, 0.5]], shape=Clump(feet, [0.5] * 3), velocities=[[0, 2.0, 0]], spins=[[0, 0, 1.0]])

    def on_the_table():
        x, y, _ = sim.positions[0]
        return np.hypot(x, y), (np.arctan2(y, x) - sim.time + np.pi) % (2 * np.pi) - np.pi

    sim.run(10_000)
    before = on_the_table()
    assert before == pytest.approx((2.0, 0.0), abs=2e-3)
    sim.run(round(2 * np.pi / 2e-4))
    assert on_the_table() == pytest.approx(before, abs=1e-5)


def test_ball_on_a_turntable_runs_in_circles():
    # A solid ball that rolls without slipping moves in a circle at 2/7 of the rate of the table, for any start and any
    # speed (Weckesser, Am. J. Phys. 65 (1997) 736).
    rate = 1.4
    table = floor(spin=(0, 0, rate))
    sim = simulation(linear(friction=0.8, restitution=0.3, kn=1e5), walls=[table], dt=1e-4)
    place, velocity = np.array([1.0, 0.3, 0.5 - 9.81 / 1e5]), np.array([0.2, 0.9, 0.0])
    slip = velocity - np.cross([0, 0, rate], place)
    sim.insert([place], radii=0.5, velocities=[velocity], spins=[np.cross([0, 0, 1], slip) / 0.5])
    angles = []
    for _ in range(10):
        sim.run(5000)
        v = sim.velocities[0]
        assert np.hypot(v[0], v[1]) == pytest.approx(np.hypot(0.2, 0.9), rel=2e-3)
        angles.append(np.arctan2(v[1], v[0]) - np.arctan2(0.9, 0.2))
    assert np.unwrap([0, *angles])[-1] == pytest.approx(2 / 7 * rate * sim.time, rel=1e-3)


def test_huge_triangles_are_a_plane():
    # Two triangles ten thousand times as large as the grains, and a small one beside them: only bodies near the large
    # ones test them, and their common edge has no effect.
    size = 1e4
    corners = np.array([[-1, -1, 0], [1, -1, 0], [1, 1, 0], [-1, 1, 0]]) * size
    small = np.array([[30, 30, 1], [30.1, 30, 1], [30, 30.1, 1]])
    mesh = MeshWall(
        name="floor",
        material="m",
        vertices=np.concatenate([corners, small]),
        faces=np.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]]),
    )

    def run(wall):
        sides = box_walls("tray", (0, 0, 0), (7, 7, 9), "m", sides=["-x", "+x", "-y", "+y"])
        sim = bed(walls=[wall, *sides], n=200)
        sim.run(1000)
        return sim

    plane, huge = run(floor()), run(mesh)
    assert plane.walls[0].force[2] < 0
    assert (plane.positions[:, 2] < 1).sum() > 20
    assert huge.positions == pytest.approx(plane.positions, abs=1e-6)
    entries = wall_rows(huge.positions, huge.radii + 0.1, huge.walls[:1], np.zeros(len(huge), bool))[1]
    assert len(entries) <= 2 * (huge.positions[:, 2] < 0.6).sum()


def test_walls_feel_force_and_torque():
    # A ball falls onto a plate beside its middle: torque = r × F about its centre. A spinning ball drags the plate
    # along, and the force on the plate is opposite to that on the ball: I dω/dt = -r × F.
    plate = floor(centre=(1.0, 2.0, 0.0))
    sim = simulation(linear(friction=0.4, restitution=0.3), walls=[plate], dt=1e-4)
    sim.insert([[4.0, 2.5, 0.5]], radii=0.5)
    sim.run(20_000)
    weight = 9.81 * sim.masses[0]
    assert plate.force == pytest.approx([0, 0, -weight], rel=1e-4, abs=1e-6)
    assert plate.torque == pytest.approx(np.cross([3.0, 0.5, 0], [0, 0, -weight]), rel=1e-4, abs=1e-5)

    vertices, faces = drum_mesh(2.0, 4.0, 256)
    for wall in (
        Cylinder(name="drum", material="m", start=(0, -1, 0), end=(0, 1, 0), radius=2.0),
        MeshWall(name="drum", material="m", vertices=vertices, faces=faces),
    ):
        sim = simulation(linear(friction=0.4, restitution=0.3), walls=[wall], dt=1e-4)
        sim.insert([[0, 0, -1.5]], radii=0.5, spins=[[0, 40.0, 0]])
        sim.run(3000)
        before = sim.inertias[0, 1] * sim.spins[0, 1] + sim.masses[0] * np.cross(sim.positions, sim.velocities)[0, 1]
        torques = []
        for _ in range(100):
            sim.run(1)
            # The torques of gravity and of the wall about the axis change the angular momentum of the ball.
            torques.append(-wall.torque[1] + np.cross(sim.positions[0], [0, 0, -9.81 * sim.masses[0]])[1])
        after = sim.inertias[0, 1] * sim.spins[0, 1] + sim.masses[0] * np.cross(sim.positions, sim.velocities)[0, 1]
        assert abs(np.mean(torques)) > 0.1
        assert after - before == pytest.approx(np.sum(torques) * 1e-4, rel=0.02)


def test_concave_edge_has_one_contact_with_each_side():
    vertices = np.array([[0, -5, 0], [5, -5, 0], [5, 5, 0], [0, 5, 0], [0, -5, 5], [0, 5, 5]], dtype=float)
    faces = [[0, 1, 2], [0, 2, 3], [0, 3, 5], [0, 5, 4]]
    wall = MeshWall(name="corner", material="m", vertices=vertices, faces=np.array(faces))
    sim = simulation(linear(), walls=[wall], dt=1e-4, gravity=(0, 0, 0))
    sim.insert([[0.499, 0.3, 0.499]], radii=0.5)
    contacts = sim.contacts()
    assert sorted(contacts["normal"].round(9).tolist()) == [[-1, 0, 0], [0, 0, -1]]
    assert contacts["overlap"] == pytest.approx([0.001, 0.001])


def test_a_contact_that_begins_as_one_around_a_corner_ends_has_a_spring_of_its_own():
    floor_corners, side_corners = [[-9, -9, 0], [9, -9, 0], [0, 9, 0]], [[2, -9, 9], [2, 9, 9], [2, 0, -9]]

    def motion(x, *meshes):
        walls = [
            MeshWall(name=f"w{k}", material="m", vertices=np.array(v, float), faces=np.arange(len(v)).reshape(-1, 3))
            for k, v in enumerate(meshes)
        ]
        sim = simulation(linear(friction=1.0), walls=walls, dt=1e-4, gravity=(0, 0, 0))
        sim.insert([[x, 0, 0.5 - 1e-3]], radii=0.5, velocities=[[1.0, 0.7, 0]])
        states = []
        for _ in range(100):
            sim.run(1)
            states.append(np.concatenate([sim.positions[0], sim.velocities[0], sim.spins[0]]))
        return np.array(states)

    alone = motion(0.0, floor_corners)
    leaves = int(np.argmax(alone[:, 2] >= 0.5))  # the step at whose end the sphere does not touch the floor any more
    start = 1.5 - alone[leaves - 1 : leaves + 1, 0].mean()  # it touches the side at the end of the same step
    one = motion(start, [*floor_corners, *side_corners])
    assert 0 < leaves < 99
    assert one[leaves - 1, 0] < 1.5 < one[leaves, 0]
    assert one[leaves - 1, 2] < 0.5 <= one[leaves, 2]
    np.testing.assert_array_equal(one, motion(start, floor_corners, side_corners))


def test_belt_drags_a_sphere_to_its_speed():
    wall = floor(velocity=(2.0, 0, 0))
    sim = simulation(linear(friction=0.4, restitution=0.3), walls=[wall], dt=1e-4)
    sim.insert([[0, 0, 0.5]], radii=0.5)
    sim.run(20_000)
    surface = sim.velocities[0, 0] - 0.5 * sim.spins[0, 1]
    assert surface == pytest.approx(2.0, rel=1e-3)
    # Sliding stops when v + R w = V with I w = -m v R ... : v = 2/7 V.
    assert sim.velocities[0, 0] == pytest.approx(2 / 7 * 2.0, rel=0.01)
    assert wall.position == pytest.approx([4.0, 0, 0])


def test_piston_lifts_its_load():
    piston = floor(velocity=(0, 0, 0.5))
    sim = simulation(linear(restitution=0.2), walls=[piston], dt=1e-4)
    sim.insert([[0, 0, 0.5]], radii=0.5)
    sim.run(10_000)
    assert sim.positions[0, 2] == pytest.approx(1.0 - 9.81 / 2e5 + 0, abs=1e-3)
    assert sim.stats.builds > 1


@pytest.mark.parametrize("kind", ["plane", "cylinder", "mesh", "turning"])
def test_walls_that_come_from_afar_are_noticed(kind):
    # Only the wall moves, so only its motion requires new lists. An elastic sphere leaves at twice the speed of the
    # wall.
    speed = np.array([0, 0, 1.0])
    corners = np.array([[-3, -3, -3], [3, -3, -3], [0, 4, -3]], dtype=float)
    mesh = {"name": "w", "material": "m", "vertices": corners, "faces": np.array([[0, 1, 2]])}
    walls = {
        "plane": Plane(name="w", material="m", point=(0, 0, -3), normal=(0, 0, 1), velocity=speed),
        "cylinder": Cylinder(
            name="w", material="m", start=(-1, 0, -4), end=(1, 0, -4), radius=1.0, inside=False, velocity=speed
        ),
        "mesh": MeshWall(**mesh, velocity=speed),
        # The axis is 20 to the left, and the rate gives the same speed at the position of the sphere.
        "turning": MeshWall(**mesh, centre=(-20, 0, 0), spin=(0, -1 / 20, 0)),
    }
    sim = simulation(linear(restitution=1.0), walls=[walls[kind]], gravity=(0, 0, 0), dt=2e-4)
    sim.insert([[0, 0, 0]], radii=0.5)
    sim.run(16_000)
    assert sim.contact_count() == 0
    assert np.linalg.norm(sim.velocities[0]) == pytest.approx(2.0, rel=0.01)


def test_sphere_outside_a_cylinder_is_pushed_outwards():
    rod = Cylinder(name="rod", material="m", start=(0, -1, 0), end=(0, 1, 0), radius=1.0, inside=False)
    sim = simulation(linear(), walls=[rod], gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 1.49]], radii=0.5)
    contacts = sim.contacts()
    assert contacts["normal"].tolist() == [[0, 0, -1]]
    assert contacts["overlap"] == pytest.approx([0.01])


def test_bodies_come_and_go():
    sim = simulation(linear(friction=0.3), walls=box_walls("b", (0, 0, 0), (4, 4, 9), "m"), dt=1e-4)
    first = sim.insert([[1, 1, 0.5], [1, 1, 1.5], [3, 3, 0.5]], radii=0.5)
    sim.run(500)
    second = sim.insert([[3, 1, 4]], radii=0.4, velocities=[[0, 0, -1]])
    assert second.tolist() == [3]
    sim.run(500)
    sim.remove(first[1:2])
    assert sim.ids.tolist() == [0, 2, 3]
    sim.run(500)
    assert sim.radii.tolist() == [0.5, 0.5, 0.4]
    assert sim.positions[2, 2] == pytest.approx(4 - 0.1 - 0.5 * 9.81 * 0.01, abs=1e-6)
    with pytest.raises(InputError, match="no such body"):
        sim.remove([1])
    for wrong, match in (([0.5], "whole numbers"), (["a"], "whole numbers"), ([-1], "from 0"), ([0, 0], "repeat")):
        with pytest.raises(InputError, match=f"ids must .*{match}"):
            sim.remove(wrong)
    assert sim.ids.tolist() == [0, 2, 3]
    for radii in ("big", ["a"], None, [[1], [1, 2]], True):
        with pytest.raises(InputError, match="radii"):
            sim.insert([[3, 3, 8]], radii=radii)
    assert sim.insert([[3, 3, 8]], radii=0.3).tolist() == [4]


def test_pairs_of_materials_replace_the_mixture():
    materials = {
        "a": Material(density=1, youngs_modulus=1e6, poisson_ratio=0.2, restitution=0.9, friction=0.4),
        "b": Material(density=1, youngs_modulus=4e6, poisson_ratio=0.3, restitution=0.4, friction=0.1),
    }
    mixed = Simulation(materials=materials)._core.coefficients(0, 1)
    assert mixed["friction"] == pytest.approx(np.sqrt(0.4 * 0.1))
    assert mixed["kn"] == pytest.approx(1 / ((1 - 0.04) / 1e6 + (1 - 0.09) / 4e6))
    core = Simulation(materials=materials, pairs={("b", "a"): {"friction": 0.7}})._core
    replaced = core.coefficients(0, 1)
    assert replaced == core.coefficients(1, 0)
    assert replaced["friction"] == pytest.approx(0.7)
    assert replaced["kn"] == mixed["kn"]


@pytest.mark.parametrize(
    "change, match",
    [
        (lambda: Material(restitution=1.2), "restitution must be a finite number above 0 and at most 1, got 1.2"),
        (lambda: Material(friction=-1), "friction"),
        (
            lambda: simulation(linear(), dt=1e-4).insert([[0, 0, 0], [3, 0, 0.0]], radii=[0.5, 0.5, 0.5]),
            r"radii must be one number, or 2 numbers for 2 positions, got the shape \(3,\)",
        ),
        (lambda: Simulation(materials={"m": Material()}), "youngs_modulus"),
        (
            lambda: Simulation(materials={"m": Material(kn=1.0)}, law="linearr"),
            "law must be one of linear, hertz.*, got 'linearr'",
        ),
        (lambda: simulation(linear(), walls=[floor(), floor()]), "walls must have different names, got 'floor' twice"),
        (lambda: simulation(linear(), walls=[floor(material="x")]), "floor.material"),
        (lambda: simulation(linear(), dt=-1.0), "dt"),
        (lambda: simulation(linear()).insert([[0, 0, 0]]), "radii"),
        (lambda: simulation(linear()).insert([[0, 0]], radii=1), "positions"),
        (lambda: simulation(linear()).insert([[0, 0, 0]], radii=-1), "radii"),
        (lambda: Plane(name="p", material="m", point=(0, 0, 0), normal=(0, 0, 0)), "p.normal"),
        (lambda: simulation(linear(friction=0.5, gamma_n=1.0, gamma_t=0.0), history=False), "tangential damping"),
    ],
)
def test_bad_input_is_named(change, match):
    with pytest.raises(InputError, match=match):
        change()
