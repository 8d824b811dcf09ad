"""Faces and edges that lie on each other: patches of contact, and torsional friction of points."""

import numpy as np
import pytest

import vicinal
from dem.grains import floor, linear, simulation
from dem.test_state import assert_same
from dem.test_walls import drum_mesh, grid_floor
from vicinal import _core
from vicinal.dem import Cylinder, Material, MeshWall, Plane, Polyhedron, Simulation, Tablet, box_walls

CUBE = np.array(list(np.ndindex(2, 2, 2))) - 0.5
BRICK = CUBE * [1.0, 0.5, 0.3]
ANGLES = np.arange(6) * np.pi / 3
HEXAGON = np.array([[0.5 * np.cos(a), 0.5 * np.sin(a), z] for a in ANGLES for z in (-0.4, 0.4)])
SOLIDS = {"cube": CUBE, "brick": BRICK, "hexagonal prism": HEXAGON}
G = 9.81


def stone(law="linear", **changes):
    """Bodies of size 1 that overlap by about a thousandth of their size under their weight."""
    stiffness = {"kn": 1e7} if law == "linear" else {"youngs_modulus": 5e8, "poisson_ratio": 0.3}
    return Material(**({"density": 1000, "restitution": 0.3, "friction": 0.5} | stiffness | changes))


def resting(vertices, law="linear", *, gravity=(0, 0, -G), walls=None, **changes):
    """One body on the floor, at rest."""
    sim = simulation(stone(law, **changes), law=law, walls=walls or [floor()], gravity=gravity)
    sim.insert([[0, 0, -vertices[:, 2].min()]], shape=Polyhedron(vertices))
    advance(sim, 1.5)
    return sim


def advance(sim, seconds):
    sim.run(round(seconds / sim.dt))


def moved(sim, seconds):
    """The largest displacement of bodies and their corners."""
    places, turns = sim.positions, sim.orientations
    advance(sim, seconds)
    return max(np.abs(sim.positions - places).max(), np.abs(sim.orientations - turns).max())


def downhill(degrees, heading):
    slope, heading = np.radians(degrees), np.radians(heading)
    return G * np.array([np.sin(slope) * np.cos(heading), np.sin(slope) * np.sin(heading), -np.cos(slope)])


# --- rest -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("solid", SOLIDS)
@pytest.mark.parametrize("degrees, heading", [(22, 0), (22, 37), (10, 90)])
def test_solids_do_not_creep_on_a_slope(solid, law, degrees, heading):
    # The friction limit is at 26.6 degrees.
    sim = resting(SOLIDS[solid], law, gravity=downhill(degrees, heading))
    assert moved(sim, 10) < 1e-9
    assert sim.contact_count() == 1


def test_cube_on_an_inclined_plane_and_on_triangles_does_not_creep():
    slope = np.radians(20)
    turn = [np.cos(slope / 2), 0, np.sin(slope / 2), 0]
    normal = np.array([np.sin(slope), 0, np.cos(slope)])
    plane = Plane(name="plane", material="m", point=(0, 0, 0), normal=tuple(normal))
    mesh = grid_floor(n=7, size=5.0, seed=2)
    mesh.orientation = np.array(turn)
    heights = []
    for wall in (plane, mesh):
        sim = simulation(stone(), walls=[wall])
        sim.insert([0.5 * normal], shape=Polyhedron(CUBE), orientations=[turn])
        advance(sim, 1.5)
        assert moved(sim, 5) < 1e-9
        assert sim.contact_count() == 1
        heights.append(sim.positions[0] @ normal)
    # Many triangles in one plane are as stiff as the plane.
    assert heights[1] - 0.5 == pytest.approx(heights[0] - 0.5, rel=0.02)


@pytest.mark.parametrize("degrees", [0, 12])
@pytest.mark.parametrize("radius", [2.0, 6.0])
@pytest.mark.parametrize("kind", ["cylinder", "mesh"])
def test_cube_rests_inside_a_drum(kind, radius, degrees):
    # The face touches along two lines, which carry parts of the weight in two directions.
    drum = Cylinder(name="drum", material="m", start=(0, -5, 0), end=(0, 5, 0), radius=radius)
    if kind == "mesh":
        vertices, faces = drum_mesh(radius, 10.0, 64)
        drum = MeshWall(name="drum", material="m", vertices=vertices, faces=faces)
    sim = simulation(stone(), walls=[drum])
    a = np.radians(degrees)
    margin = Polyhedron(CUBE).margin
    low = np.sqrt((radius - margin) ** 2 - (0.5 - margin) ** 2) - (0.5 - margin) - 0.002 * radius
    place = [low * np.sin(a), 0, -low * np.cos(a)]
    sim.insert([place], shape=Polyhedron(CUBE), orientations=[[np.cos(a / 2), 0, -np.sin(a / 2), 0]])
    advance(sim, 4)
    assert moved(sim, 2) < 1e-9
    assert sim.contact_count() == 2
    assert np.hypot(*sim.positions[0, [0, 2]]) == pytest.approx(low, abs=0.02)
    assert sim.contacts()["force"].sum(axis=0) == pytest.approx([0, 0, sim.masses[0] * G], abs=1e-2)


def test_edges_close_together_touch_a_cylinder_once():
    # The deepest points found from the two sides of the body may be near each other, or two ends of one edge.
    angles = np.arange(24) * np.pi / 12
    prism = Polyhedron([[0.5 * np.cos(a), 0.5 * np.sin(a), z] for a in angles for z in (-3, 3)])
    rng = np.random.default_rng(1)
    touching = 0
    for heading in rng.uniform(0, 2 * np.pi, 60):
        pipe = Cylinder(name="pipe", material="m", start=(0, 0, 0), end=(0, 0, 1), radius=1.0)
        sim = simulation(stone(), walls=[pipe], dt=1e-4)
        away = rng.uniform(0.504, 0.508)
        sim.insert([[away * np.cos(heading), away * np.sin(heading), 0]], shape=prism)
        sim.check_overlaps()  # the body is longer than the pipe is wide, and lies along it
        points = sim.contacts()["point"]
        touching += len(points) > 0
        assert len(points) < 2 or np.linalg.norm(points[0] - points[1]) > 0.05
    assert touching > 20


@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_tablet_rests_on_its_band(law):
    # The axis is along the slope, so that the tablet could only slide or turn.
    sim = simulation(stone(law), law=law, walls=[floor()], gravity=downhill(20, 90))
    lying = [np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0]
    sim.insert([[0, 0, 0.5]], shape=Tablet(0.5, 0.6, 0.1), orientations=[lying])
    advance(sim, 1.5)
    assert moved(sim, 10) < 1e-9


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("band, cap, rounding", [(0.6, 0.1, None), (0.3, 0.1, 0.1), (0.3, 0.3, None), (0.4, 0.5, 0.1)])
def test_spin_of_a_tablet_on_its_band_stops_as_uniform_pressure_says(band, cap, rounding, law):
    # The pressure is uniform over the length of the band, which ends where the edges would be without rounding.
    sim = simulation(stone(law), law=law, walls=[floor()], gravity=(0, 0, -G))
    lying = [np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0]
    sim.insert([[0, 0, 0.5]], shape=Tablet(0.5, band, cap, rounding), orientations=[lying])
    advance(sim, 2)
    spin = 1.0
    sim.spins = [[0, 0, spin]]
    time = sim.inertias[0, 0] * spin / (0.5 * sim.masses[0] * G * band / 4)
    assert stopping_time(sim, time) == pytest.approx(time, rel=0.05)


@pytest.mark.parametrize("tilt", [0.001, 0.01, 0.05])
def test_load_on_a_tilted_band_stays_on_it(tilt):
    # It is at the lower end, with less than the deepest overlap.
    sim = simulation(linear(kn=1e4), walls=[floor()], gravity=(0, 0, 0), dt=1e-4)
    half, low = np.pi / 4 + tilt / 2, 0.27 * np.sin(tilt) - 1e-3
    sim.insert([[0, 0, 0.5 + low]], shape=Tablet(0.5, 0.6, 0.1), orientations=[[np.cos(half), np.sin(half), 0, 0]])
    contacts = sim.contacts()
    assert -0.3 < contacts["point"][0, 1] < -0.2
    assert 0.8 < contacts["normal_force"][0] / (1e4 * contacts["overlap"][0]) < 1.001


def side_by_side(**moving):
    """Two heavy tablets whose bands touch along a line; they hardly accelerate."""
    sim = simulation(linear(kn=1e4, friction=50.0, density=1e8, restitution=1.0), gravity=(0, 0, 0), dt=1e-4)
    sim.insert([[0, 0, 0], [0.998, 0, 0]], shape=Tablet(0.5, 0.6, 0.1), **moving)
    return sim


def test_springs_on_a_line_are_stretched_by_the_way_that_bodies_move():
    sim = side_by_side(velocities=[[0, 0, 0], [0, 0, 0.1]])
    for _ in range(3):
        sim.run(10)
        # The stiffness is 2/7 of that against approach.
        assert sim.contacts()["tangential_force"] == pytest.approx([2 / 7 * 1e4 * 0.1 * sim.time])


def test_a_line_that_becomes_a_point_takes_over_the_mean_of_its_springs():
    # The springs of the line resist the turn. Their mean is zero, so the point transmits no force to the side.
    sim = side_by_side(spins=[[0, 0, 0], [0.1, 0, 0]])
    sim.run(20)
    assert sim.spins[0, 0] > 1e-13
    sim.velocities = sim.spins = np.zeros((2, 3))
    sim.orientations = [[1, 0, 0, 0], [np.cos(0.15), np.sin(0.15), 0, 0]]
    sim.run(20)
    assert np.abs(sim.velocities[:, 1:]).max() < 1e-15


def test_contacts_of_a_tablet_are_those_of_its_present_orientation():
    standing, lying = [1, 0, 0, 0], [np.cos(np.pi / 4), 0, np.sin(np.pi / 4), 0]
    sim = simulation(stone("linear"), law="linear", walls=[floor()], gravity=(0, 0, 0))
    sim.insert([[0, 0, 0.499]], shape=Tablet(0.5, 0.6, 0.1), orientations=[lying])
    # The load on the band acts in its middle, before any step.
    assert sim.contacts()["point"][0, :2] == pytest.approx([0, 0], abs=1e-9)
    sim.orientations = [standing]
    sim.positions = [[0, 0, 0.399]]
    sim.run(1)
    sim.orientations = [lying]
    sim.positions = [[0, 0, 0.499]]
    assert sim.contacts()["point"][0, :2] == pytest.approx([0, 0], abs=1e-9)


def test_weight_is_carried_with_the_stiffness_of_the_law():
    sim = resting(CUBE)
    contact = sim.contacts()
    weight = sim.masses[0] * G
    assert contact["overlap"] == pytest.approx([weight / 1e7], rel=1e-6)
    assert contact["normal_force"] == pytest.approx([weight], rel=1e-6)
    assert contact["point"][0] == pytest.approx([0, 0, 0], abs=1e-9)
    assert -sim.walls[0].force[2] == pytest.approx(weight, rel=1e-6)
    tilted = resting(CUBE, gravity=downhill(15, 0))
    contact = tilted.contacts()
    assert contact["tangential_force"] == pytest.approx([weight * np.sin(np.radians(15))], rel=1e-6)
    # The load moves downhill until it is below the centre of mass.
    assert contact["point"][0, 0] == pytest.approx(0.5 * np.tan(np.radians(15)), rel=0.01)


@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_tower_of_ten_stands(law):
    # No two cubes are exactly above each other. A tower sways slowly, which dashpots hardly damp; the amplitude is
    # below a hundredth of a cube.
    sim = simulation(stone(law, restitution=0.1), law=law, walls=[floor()])
    places = np.array([[0.04 * (-1) ** k, 0.03 * (k % 3 - 1), 0.5 + k] for k in range(10)])
    sim.insert(places, shape=Polyhedron(CUBE))
    sim.dt *= 4 / 3
    advance(sim, 3)
    energy = sim.energies()["total"]
    for _ in range(10):
        advance(sim, 0.7)
        assert np.abs(sim.positions - places)[:, :2].max() < 1e-2
    assert sim.energies()["total"] < energy
    assert sim.contact_count() == 10


def test_wall_of_bricks_stands():
    # Ten courses of five bricks, every second one with half bricks at its ends.
    size = np.array([0.4, 0.2, 0.2])
    sim = simulation(stone(density=2000, kn=1e6, restitution=0.2, friction=0.6), walls=[floor()])
    heights = 0.1 + 0.2 * np.arange(10)
    bricks = [[0.4005 * (k + 0.5 * (c % 2)), 0, z] for c, z in enumerate(heights) for k in range(5 - c % 2)]
    ends = [[x, 0, z] for z in heights[1::2] for x in (-0.1, 4 * 0.4005 + 0.1)]
    sim.insert(bricks, shape=Polyhedron(CUBE * size))
    sim.insert(ends, shape=Polyhedron(CUBE * 0.2))
    sim.dt *= 1.28
    start = sim.positions
    advance(sim, 7)
    # An elastic oscillation of the whole wall, by a few 1e-9, decays slowly.
    settled, turns = sim.positions, sim.orientations
    for _ in range(20):
        advance(sim, 0.25)
        assert np.abs(sim.positions - settled).max() < 1e-8
        assert np.abs(sim.orientations - turns).max() < 1e-8
    assert np.abs((sim.positions - start)[:, :2]).max() < 1e-3
    assert sim.contact_count() == 95
    assert sim.energies()["kinetic_translational"] < 1e-12


def arch(count=9, inner=1.0, outer=1.35, width=0.4):
    """A half circle of wedges on the floor."""
    half = 0.5 * np.pi / count
    corners = [
        [r * np.cos(a), y, r * np.sin(a)]
        for y in (-width / 2, width / 2)
        for r in (inner, outer)
        for a in (-half, half)
    ]
    wedge = Polyhedron(np.array(corners), rounding=0.01)
    angle = (2 * np.arange(count) + 1) * half
    centre = wedge.properties().centre
    places = np.c_[centre[0] * np.cos(angle), np.zeros(count), centre[0] * np.sin(angle)]
    return wedge, places, np.c_[np.cos(angle / 2), 0 * angle, -np.sin(angle / 2), 0 * angle]


def test_arch_stands():
    wedge, places, turns = arch()
    sim = simulation(stone(density=2000, restitution=0.2, friction=0.7), walls=[floor()])
    sim.insert(places, shape=wedge, orientations=turns)
    advance(sim, 4)
    assert moved(sim, 6) < 1e-6
    assert sim.positions == pytest.approx(places, abs=0.02)


def test_cube_stands_on_its_edge_until_it_is_pushed():
    # Diagonal upright: an unstable equilibrium that symmetry preserves. Released at an angle, it falls about its edge.
    half = np.pi / 8
    sim = simulation(stone(friction=2.0), walls=[floor()])
    margin = Polyhedron(CUBE).margin
    height = margin + (0.5 - margin) * np.sqrt(2)
    sim.insert([[0, 0, height]], shape=Polyhedron(CUBE), orientations=[[np.cos(half), 0, np.sin(half), 0]])
    advance(sim, 0.5)
    assert abs(sim.positions[0, 0]) < 1e-6
    assert np.abs(sim.spins).max() < 1e-6
    assert sim.contacts()["point"][0] == pytest.approx([0, 0, 0], abs=1e-6)

    tilt = np.radians(3)
    angle = 2 * half + tilt
    sim = simulation(stone(friction=2.0), walls=[floor()])
    arm = (0.5 - margin) * np.sqrt(2)
    place = [arm * np.sin(tilt), 0, margin + arm * np.cos(tilt)]
    sim.insert([place], shape=Polyhedron(CUBE), orientations=[[np.cos(angle / 2), 0, np.sin(angle / 2), 0]])
    # The cube rolls on its rounded edge. Energy: the centre of mass is above the centre of the rounding, which moves.
    while sim.positions[0, 2] > margin + arm * np.cos(np.radians(30)):
        sim.run(20)
    now = np.arccos((sim.positions[0, 2] - margin) / arm)
    mass, inertia = sim.masses[0], sim.inertias[0, 1]
    square = arm**2 + margin**2 + 2 * arm * margin * np.cos(now)  # from the centre of mass to the point of contact
    expected = np.sqrt(2 * mass * G * arm * (np.cos(tilt) - np.cos(now)) / (inertia + mass * square))
    assert sim.spins[0, 1] == pytest.approx(expected, rel=0.01)
    advance(sim, 4)
    assert sim.positions[0, 2] == pytest.approx(0.5, abs=2e-3)
    assert moved(sim, 2) < 1e-9


def noisy(noise, seed=1):
    """A cube whose faces are not quite flat."""
    return CUBE + np.random.default_rng(seed).uniform(-noise, noise, CUBE.shape)


@pytest.mark.parametrize("noise", [1e-7, 1e-5, 1e-4])
def test_cube_with_inexact_vertices_does_not_creep_and_its_spin_stops(noise):
    sim = resting(noisy(noise), gravity=downhill(15, 0))
    assert moved(sim, 5) < 1e-9
    times = []
    for vertices in (CUBE, noisy(noise)):
        sim = resting(vertices, friction=0.3)
        sim.spins = [[0, 0, 2.0]]
        times.append(stopping_time(sim, 0.32))
        assert np.linalg.norm(sim.positions[0, :2]) < 1e-3
    assert times[1] == pytest.approx(times[0], rel=0.01)


# --- motion -----------------------------------------------------------------------------------------------------------


def stopping_time(sim, expected):
    """The time until the spin about z is less than a hundredth; twice the expected time if it does not stop."""
    start, spin = sim.time, sim.spins[0, 2]
    while sim.spins[0, 2] > 0.01 * spin and sim.time - start < 2 * expected:
        sim.run(max(round(expected / 300 / sim.dt), 1))
    return sim.time - start


def mean_distance(outline):
    """The mean distance of the points of a polygon from its centroid."""
    rng = np.random.default_rng(1)
    places = rng.uniform(outline.min(axis=0), outline.max(axis=0), (200_000, 2))
    sides = np.roll(outline, -1, axis=0) - outline
    away = places[:, None] - outline
    inside = (sides[:, 0] * away[..., 1] - sides[:, 1] * away[..., 0] > 0).all(axis=1)
    return np.linalg.norm(places[inside] - places[inside].mean(axis=0), axis=1).mean()


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("solid", SOLIDS)
def test_spin_on_a_face_stops_as_uniform_pressure_says(solid, law):
    vertices, friction, spin = SOLIDS[solid], 0.3, 2.0
    sim = resting(vertices, law, friction=friction)
    outline = vertices[vertices[:, 2] < 0][:, :2]
    outline = outline[np.argsort(np.arctan2(outline[:, 1], outline[:, 0]))]
    properties = Polyhedron(vertices).properties()
    inertia = 1000 * (properties.axes @ np.diag(properties.moments) @ properties.axes.T)[2, 2]
    time = inertia * spin / (friction * sim.masses[0] * G * mean_distance(outline))
    sim.spins = [[0, 0, spin]]
    assert stopping_time(sim, time) == pytest.approx(time, rel=0.05)
    assert np.linalg.norm(sim.positions[0, :2]) < 1e-3
    advance(sim, 2)
    assert moved(sim, 1) < 1e-9


@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_sliding_block_stops_where_it_should(law):
    friction, speed = 0.3, 1.0
    sim = resting(BRICK, law, friction=friction)
    start = sim.positions[0].copy()
    sim.velocities = [[0.8 * speed, 0.6 * speed, 0]]
    advance(sim, 0.1)
    assert np.linalg.norm(sim.velocities[0]) == pytest.approx(speed - friction * G * 0.1, rel=0.01)
    advance(sim, 2 * speed / (friction * G))
    path = sim.positions[0] - start
    assert np.linalg.norm(path[:2]) == pytest.approx(speed**2 / (2 * friction * G), rel=0.01)
    assert path[1] / path[0] == pytest.approx(0.75, abs=0.01)  # straight on
    assert np.abs(sim.orientations[0, 1:]).max() < 2e-3
    assert moved(sim, 2) < 1e-9


def test_dominoes_fall_one_after_the_other():
    size, apart, count = np.array([0.05, 0.2, 0.4]), 0.2, 8
    shape = Polyhedron(CUBE * size)

    def released(degrees):
        sim = simulation(stone(density=2000, kn=4e6, friction=0.4), walls=[floor()])
        angle = np.radians(degrees)
        places = np.array([[apart * k, 0, size[2] / 2] for k in range(count)])
        turns = np.tile([1.0, 0, 0, 0], (count, 1))
        turns[0] = [np.cos(angle / 2), 0, np.sin(angle / 2), 0]
        x, z = size[0] / 2 - shape.margin, shape.margin - size[2] / 2
        places[0, 2] = shape.margin + np.sin(angle) * x - np.cos(angle) * z
        sim.insert(places, shape=shape, orientations=turns)
        sim.dt *= 4 / 3
        return sim

    def tilts(sim):
        return np.degrees(2 * np.arctan2(sim.orientations[:, 2], sim.orientations[:, 0]))

    # The first domino is tilted beyond its angle of balance, 6.5 degrees (7.1 with sharp edges), so it falls.
    sim = released(9)
    times = np.full(count, np.nan)
    while np.isnan(times).any() and sim.time < 4:
        advance(sim, 0.005)
        times[np.isnan(times) & (tilts(sim) > 12)] = sim.time
    gaps = np.diff(times)
    assert (gaps > 0).all()
    assert gaps[-1] == pytest.approx(gaps[-2], rel=0.15)  # the wave has reached its final speed
    advance(sim, 3)
    assert (tilts(sim) > 70).all()
    assert moved(sim, 0.5) < 1e-3
    # A domino that leans less falls back.
    sim = released(5)
    advance(sim, 1.5)
    assert np.abs(tilts(sim)).max() < 5.1
    assert np.abs(sim.positions[1:, 0] - apart * np.arange(1, count)).max() < 1e-3


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("on", ["floor", "sphere"])
def test_torsional_friction_stops_the_spin_of_a_sphere(law, on):
    # A constant moment μ R* N.
    torsion, spin, radius = 0.1, 5.0, 0.5
    sim = simulation(stone(law, torsional_friction=torsion, friction=0.5), law=law, walls=[floor()])
    reach = radius
    sim.insert([[0, 0, radius]], radii=radius)
    if on == "sphere":  # the floor holds the lower sphere: twice the weight acts at twice the effective radius
        reach = radius / 2
        sim.remove([0])
        sim.insert([[0, 0, 3 * radius], [0, 0, radius]], radii=radius)
    advance(sim, 1)
    spins = np.zeros((len(sim), 3))
    spins[0, 2] = spin
    sim.spins = spins
    time = sim.inertias[0, 2] * spin / (torsion * reach * sim.masses[0] * G)
    assert stopping_time(sim, time) == pytest.approx(time, rel=0.02)
    if on == "floor":  # a sphere on a sphere rolls off eventually
        advance(sim, 1)
        assert moved(sim, 1) < 1e-6
    free = simulation(stone(law), law=law, walls=[floor()])
    free.insert([[0, 0, radius]], radii=radius, spins=[[0, 0, spin]])
    advance(free, 1)
    assert free.spins[0, 2] == pytest.approx(spin, rel=1e-9)


# --- energy -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("restitution, growth", [(1.0, 2e-3), (0.9, 1e-6)])
def test_collisions_of_polyhedra_do_not_create_energy(law, restitution, growth):
    rng = np.random.default_rng(0)
    stiffness = {"kn": 1e5} if law == "linear" else {"youngs_modulus": 1e6, "poisson_ratio": 0.3}
    material = Material(density=1, restitution=restitution, friction=0.0, **stiffness)
    sim = simulation(material, walls=box_walls("box", (0, 0, 0), (5, 5, 5), "m"), gravity=(0, 0, 0), dt=1e-4)
    grid = np.stack(np.meshgrid(*[np.arange(3)] * 3), axis=-1).reshape(-1, 3) * 1.6 + 0.9
    velocities, turns = rng.normal(0, 1, (27, 3)), rng.normal(size=(27, 4))
    sim.insert(grid, shape=Polyhedron(CUBE * [1, 0.6, 0.4]), velocities=velocities, orientations=turns)
    start = sim.energies()["total"]
    energies = []
    for _ in range(50):
        sim.run(200)
        energies.append(sim.energies()["total"])
    assert max(energies) < start * (1 + growth)
    if restitution == 1:
        assert energies[-1] == pytest.approx(start, rel=5e-3)
    else:
        assert energies[-1] < 0.9 * start


# --- the same bits ----------------------------------------------------------------------------------------------------


def heap(law="linear", count=4):
    """Bricks, prisms, tablets and spheres that fall onto a floor of triangles: patches of all kinds."""
    stiffness = {"kn": 2e5} if law == "linear" else {"youngs_modulus": 5e6, "poisson_ratio": 0.3}
    torsion = {"torsional_friction": 0.05, "rolling_friction": 0.05} if law == "hertz" else {}
    material = Material(density=2, restitution=0.3, friction=0.5, **stiffness, **torsion)
    side = 1.2 * count
    walls = box_walls("tray", (-side / 2, -side / 2, 0), (side / 2, side / 2, 9), "m", sides=["-x", "+x", "-y", "+y"])
    drum = Cylinder(name="drum", material="m", start=(0, -9, 0), end=(0, 9, 0), radius=0.4, inside=False)
    walls += [grid_floor(n=5, size=2 * side), drum]
    sim = Simulation(materials={"m": material}, law=law, walls=walls, dt=1e-4, max_overlap=1)
    x = 1.2 * (np.arange(count) - 0.5 * (count - 1))
    places = np.stack(np.meshgrid(x, x), axis=-1).reshape(-1, 2)
    shapes = [Polyhedron(BRICK), Polyhedron(CUBE * 0.7), Tablet(0.4, 0.5, 0.1), Polyhedron(HEXAGON * 0.8)]
    rng = np.random.default_rng(6)
    for level, shape in enumerate(shapes):
        at = np.c_[places, np.full(len(places), 0.95 + 0.9 * level)]
        turns = None if level < 2 else rng.normal(size=(len(at), 4))
        sim.insert(at, shape=shape, orientations=turns, velocities=rng.normal(0, 0.1, (len(at), 3)))
    sim.insert(np.c_[places, np.full(len(places), 4.9)], radii=0.3)
    return sim


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("at", [1, 4000])
def test_restored_patches_go_on_bit_for_bit(law, at):
    straight = heap(law)
    straight.run(at)
    copy = Simulation.restore(straight.state())
    for steps in (1, 400):
        straight.run(steps)
        copy.run(steps)
        assert_same(copy, straight)
    assert straight.state()["pairs_springs"].shape[1:] == (4, 3)


def test_threads_do_not_change_bits_of_patches():
    ends = []
    for threads in (1, 3):
        with vicinal.threads(threads):
            sim = heap(count=42)  # enough for several blocks of rows
            sim.run(25)
            ends.append(sim)
    assert len(ends[0]) > 8192
    assert_same(*ends)


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_instruction_sets_do_not_change_bits_of_patches(law):
    ends = []
    for name in _core.available_isas():
        _core.set_isa(name)
        sim = heap(law)
        sim.run(2500)
        ends.append(sim)
    for other in ends[1:]:
        assert_same(other, ends[0])


def test_order_of_rows_does_not_move_points():
    # The points of a patch do not depend on which of the two bodies is the first.
    ends = []
    for swap in (False, True):
        sim = simulation(stone(), walls=[floor()], gravity=downhill(15, 30))
        sim.insert([[0, 0, 0.5], [0.2, 0.1, 1.5]], shape=Polyhedron(CUBE))
        advance(sim, 2)
        ids = sim._core.ids()
        if swap:
            sim._core.take(np.array([1, 0], dtype=np.uint32))
            sim._order = None
            assert sim._core.ids().tolist() == ids[::-1].tolist()
        advance(sim, 2)
        ends.append(sim.positions)
    assert ends[1] == pytest.approx(ends[0], abs=1e-9)


def test_mesh_of_one_triangle_carries_what_is_on_it():
    # Half of the cube hangs over the edge; its centre of mass is above the triangle.
    corners = np.array([[0.1, -9, 0], [0.1, 9, 0], [-20.0, 0, 0]])
    wall = MeshWall(name="w", material="m", vertices=corners, faces=np.array([[0, 1, 2]]))
    sim = simulation(stone(), walls=[wall])
    sim.insert([[0, 0, 0.5]], shape=Polyhedron(CUBE))
    advance(sim, 2)
    assert moved(sim, 1) < 1e-9
    assert sim.contacts()["point"][0] == pytest.approx([0, 0, 0], abs=1e-3)
