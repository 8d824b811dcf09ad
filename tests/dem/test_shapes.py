"""Clumps, tablets and polyhedra."""

import numpy as np
import pytest

from dem.grains import floor, linear, simulation
from vicinal import InputError
from vicinal.dem import Clump, Material, Plane, Polyhedron, Tablet
from vicinal.dem.surfaces import surfaces

CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)


def test_clump_of_one_sphere_equals_a_sphere():
    def run(**how):
        sim = simulation(linear(friction=0.4, restitution=0.7), walls=[floor()], dt=1e-4, gravity=(1.0, 0.5, -9.0))
        sim.insert(
            [[0, 0, 0.7], [1.1, 0, 0.6]], velocities=[[1, 0, 0], [-1, 0, 0]], spins=[[1, 2, 3], [0, 0, 5]], **how
        )
        sim.run(4000)
        return sim

    sphere, clump = run(radii=0.5), run(shape=Clump([[3.0, 2.0, 1.0]], [0.5]))
    assert clump.masses == pytest.approx(sphere.masses, rel=1e-14)
    for name in ("positions", "velocities", "spins", "orientations"):
        assert getattr(clump, name) == pytest.approx(getattr(sphere, name), abs=1e-9)


def test_overlapping_spheres_count_once():
    # Two balls of radius 1 at distance d share π (4 + d)(2 - d)² / 12.
    d = 0.8
    p = Clump([[0, 0, 0], [0.48, 0.64, 0]], [1.0, 1.0]).properties()
    assert p.volume == pytest.approx(8 / 3 * np.pi - np.pi * (4 + d) * (2 - d) ** 2 / 12, rel=1e-8)
    assert p.centre == pytest.approx([0.24, 0.32, 0], abs=1e-12)
    # About the axis: 2 ∫ π/2 (1 - x²)² dx from -1 to d/2.
    x = d / 2
    axial = np.pi * ((x - 2 * x**3 / 3 + x**5 / 5) + 8 / 15)
    assert p.moments.min() == pytest.approx(axial, rel=1e-8)
    apart = Clump([[0, 0, 0], [3.0, 0, 0]], [1.0, 0.5]).properties()
    assert apart.volume == pytest.approx(4 / 3 * np.pi * 1.125, rel=1e-10)
    assert apart.centre == pytest.approx([3 * 0.125 / 1.125, 0, 0], abs=1e-10)


def test_sphere_inside_another_adds_nothing():
    p = Clump([[0, 0, 0], [0.1, 0.2, 0]], [1.0, 0.3]).properties()
    assert p.volume == pytest.approx(4 / 3 * np.pi, rel=1e-8)
    assert p.moments == pytest.approx(np.full(3, 0.4 * p.volume), rel=1e-8)


def test_tablet_and_cube_have_the_volumes_of_the_books():
    r, h, c = 2.0, 1.0, 0.5
    tablet = Tablet(r, h, c).properties()
    assert tablet.volume == pytest.approx(np.pi * r * r * h + 2 * np.pi * c * (3 * r * r + c * c) / 6, rel=1e-12)
    flat = Tablet(r, h, 1e-6).properties()
    assert flat.moments[2] == pytest.approx(0.5 * flat.volume * r * r, rel=1e-5)
    assert flat.moments[0] == pytest.approx(flat.volume * (3 * r * r + h * h) / 12, rel=1e-5)
    cube = Polyhedron(CUBE).properties()
    assert cube.volume == pytest.approx(1)
    assert cube.centre == pytest.approx([0.5, 0.5, 0.5])
    assert cube.moments == pytest.approx([1 / 6] * 3)
    rod = Polyhedron(CUBE * [1, 2, 3]).properties()
    assert rod.moments == pytest.approx([6 * 5 / 12, 6 * 10 / 12, 6 * 13 / 12])


@pytest.mark.parametrize(
    "shape",
    [
        Clump([[0, 0, 0], [0.7, 0, 0], [0, 0.4, 0]], [0.5, 0.3, 0.4]),
        Tablet(1.0, 0.6, 0.2),
        Polyhedron(CUBE * [1, 2, 3]),
    ],
)
def test_free_rotation_conserves_angular_momentum_and_energy(shape):
    sim = simulation(linear(kn=1000.0), gravity=(0, 0, 0), dt=1e-3)
    sim.insert([[0, 0, 0]], shape=shape, spins=[[1.0, 2.0, 3.0]], orientations=[[0.8, 0.2, 0.4, 0.4]])
    p = shape.properties()

    def momentum():
        q = sim.orientations[0]
        axes = np.column_stack([_turn(q, a) for a in p.axes.T])
        return axes @ (sim.inertias[0] * (axes.T @ sim.spins[0]))

    before, energy = momentum(), sim.energies()["kinetic_rotational"]
    spin = sim.spins[0].copy()
    sim.run(3000)
    assert np.abs(sim.spins[0] - spin).max() > 0.05
    assert momentum() == pytest.approx(before, rel=1e-9)
    assert sim.energies()["kinetic_rotational"] == pytest.approx(energy, rel=1e-5)


def _turn(q, v):
    axis = q[1:]
    t = 2 * np.cross(axis, v)
    return v + q[0] * t + np.cross(axis, t)


@pytest.mark.parametrize(
    "shape", [Clump([[0, 0, 0], [0.7, 0, 0]], [0.5, 0.4]), Tablet(0.6, 0.4, 0.15), Polyhedron(CUBE)]
)
def test_collision_of_shapes_conserves_momenta(shape):
    rng = np.random.default_rng(2)
    sim = simulation(linear(friction=0.3, restitution=1.0, kn=1e5), gravity=(0, 0, 0), dt=1e-4)
    sim.insert(
        [[0, 0, 0], [1.6, 0.2, 0.1]],
        shape=shape,
        velocities=[[1, 0, 0], [-1, 0, 0]],
        orientations=rng.normal(size=(2, 4)),
    )
    p = shape.properties()

    def totals():
        spin = np.zeros(3)
        for q, i, w in zip(sim.orientations, sim.inertias, sim.spins, strict=True):
            axes = np.column_stack([_turn(q, a) for a in p.axes.T])
            spin += axes @ (i * (axes.T @ w))
        m = sim.masses[:, None]
        return np.r_[(m * sim.velocities).sum(axis=0), (m * np.cross(sim.positions, sim.velocities)).sum(axis=0) + spin]

    before, energy = totals(), sim.energies()["total"]
    sim.run(8000)
    assert sim.contact_count() == 0
    assert np.abs(sim.spins).max() > 0.05
    assert totals() == pytest.approx(before, abs=1e-9)
    assert sim.energies()["total"] <= energy * (1 + 1e-3)


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("restitution", [0.5, 0.9])
@pytest.mark.parametrize("history", [True, False])
def test_leaning_tablet_stands_only_with_history(law, restitution, history):
    # Kureck 2016, figure 6.3: a tablet that leans at a wall for 5 s; without history it slips away.
    tablet = Tablet(0.01, 0.006, 0.002)
    stiffness = {"kn": 2e5} if law == "linear" else {"youngs_modulus": 2e7, "poisson_ratio": 0.3}
    material = Material(density=1500, restitution=restitution, friction=0.6, **stiffness)
    wall = Plane(name="wall", material="m", point=(0, 0, 0), normal=(1, 0, 0))
    sim = simulation(material, walls=[floor(), wall], history=history, dt=1e-5)
    # The axis of the tablet turned from z towards x, so that it stands on its rim, 65 degrees steep.
    steep = np.radians(65)
    q = [[np.cos(steep / 2), 0, np.sin(steep / 2), 0]]
    sim.insert([[0.05, 0, 0.05]], shape=tablet, orientations=q)
    # Moved down and left until it touches both.
    low, left = 0.05 - _reach(tablet, steep, (0, 0, -1)), 0.05 - _reach(tablet, steep, (-1, 0, 0))
    sim.positions = [[0.05 - left + 1e-7, 0, 0.05 - low + 1e-7]]
    start = sim.positions[0].copy()
    sim.run(100_000)
    after = sim.positions[0].copy()
    sim.run(400_000)
    fallen = start[2] - sim.positions[0, 2]
    if history:
        assert fallen < 0.003 * tablet.radius
        assert np.abs(sim.positions[0] - after).max() < 1e-5 * tablet.radius
    else:
        # With a light dashpot it has fallen; with a heavy one it still creeps down.
        assert fallen > (0.5 if restitution == 0.9 else 0.02) * tablet.radius


def _reach(tablet, angle, direction):
    """The extent of the tablet in a direction; its axis is at an angle to z in the xz plane."""
    axis = np.array([np.sin(angle), 0, np.cos(angle)])
    d = np.asarray(direction, dtype=float)
    along, m = abs(d @ axis), tablet.margin
    across = np.sqrt(1 - along**2)
    ball = tablet.cap_radius - m
    centre = tablet.band / 2 + tablet.cap - tablet.cap_radius
    if ball * across <= tablet.radius - m:
        return ball + centre * along + m
    rim = centre + np.sqrt(ball**2 - (tablet.radius - m) ** 2)
    return (tablet.radius - m) * across + rim * along + m


@pytest.mark.parametrize("shape, height", [(Tablet(0.5, 0.4, 0.1), 0.3), (Polyhedron(CUBE), 0.5)])
def test_shapes_come_to_rest_on_the_floor(shape, height):
    sim = simulation(linear(friction=0.5, restitution=0.3), walls=[floor()], dt=1e-4)
    sim.insert([[0, 0, height + 0.05], [2.0, 0, height + 0.05]], shape=shape)
    sim.run(25_000)
    assert sim.positions[:, 2] == pytest.approx([height, height], abs=5e-3)
    forces = []
    for _ in range(200):  # it rocks from corner to corner by a fraction of the overlap
        sim.run(1)
        forces.append(sim.walls[0].force[2])
    assert np.mean(forces) == pytest.approx(-9.81 * sim.masses.sum(), rel=2e-3)


def test_sphere_rests_on_a_tablet_as_on_a_floor():
    # Two equal materials keep their kn, so the overlap is m g / kn.
    sim = simulation(linear(restitution=0.3), walls=[floor()], dt=1e-4)
    sim.insert([[0, 0, 0.3]], shape=Tablet(1.0, 0.4, 0.1))
    sim.insert([[0, 0, 0.6 + 0.5]], radii=0.5)
    sim.run(20_000)
    contacts = sim.contacts()
    of_pair = contacts["j"] >= 0
    assert contacts["overlap"][of_pair] == pytest.approx([9.81 / 2e5], rel=1e-3)


def test_surfaces_are_drawn_in_the_axes_in_which_shapes_are_described():
    corners = [(x, y, z) for x in (0, 1) for y in (0, 2) for z in (0, 3)]
    sim = simulation(linear())
    sim.insert([[5, 0, 0]], shape=Polyhedron(corners))
    sim.insert([[5, 9, 0]], shape=Polyhedron(corners), orientations=[np.sqrt(0.5), np.sqrt(0.5), 0, 0])
    drawn, owners = surfaces(sim)
    for body, edges in ((0, (1, 2, 3)), (1, (1, 3, 2))):
        assert np.ptp(drawn[owners == body].reshape(-1, 3), axis=0) == pytest.approx(edges)


def test_rim_of_a_flat_tablet_has_its_digits():
    # To first order in the height of the cap.
    radius, band, cap, rounding = 1.0, 0.5, 1e-7, 0.05
    rim = Tablet(radius, band, cap, rounding)._description(None)[0]["rim"]
    assert rim == pytest.approx(0.5 * band - rounding + cap * (1 - (1 - rounding) ** 2), abs=1e-13)


def test_bad_shapes_are_named():
    with pytest.raises(InputError, match="cap"):
        Tablet(1.0, 0.5, 2.0)
    with pytest.raises(InputError, match=r"cap must be at least 1e-07 of the radius 1\.0, got 1e-09"):
        Tablet(1.0, 0.5, 1e-9)
    with pytest.raises(InputError, match="rounding"):
        Tablet(1.0, 0.5, 0.2, rounding=0.4)
    with pytest.raises(InputError, match="one plane"):
        Polyhedron(CUBE[:4])
    with pytest.raises(InputError, match="radii"):
        Clump([[0, 0, 0]], [-1.0])


HEXAGON = np.array([[0.5 * np.cos(a), 0.5 * np.sin(a), z] for a in np.arange(6) * np.pi / 3 for z in (-0.4, 0.4)])
SOLIDS = {
    "cube": (CUBE - 0.5, 8),
    "brick": ((CUBE - 0.5) * [1, 0.5, 0.1], 8),
    "hexagonal prism": (HEXAGON, 12),
    "octahedron": (np.concatenate([np.eye(3), -np.eye(3)]) * 0.6, 6),
}
INEXACT = {
    "float32": lambda v, _: v.astype(np.float32),
    "7 decimals": lambda v, _: np.round(v, 7),
} | {
    f"noise {noise:g}": lambda v, rng, noise=noise: v + rng.uniform(-noise, noise, v.shape)
    for noise in (1e-9, 1e-8, 1e-7, 1e-6)
}


@pytest.mark.parametrize("inexact", INEXACT)
@pytest.mark.parametrize("solid", SOLIDS)
def test_inexact_vertices_change_mass_and_inertia_by_no_more_than_they_are_inexact(solid, inexact):
    vertices, corners = SOLIDS[solid]
    rng = np.random.default_rng(1)
    exact = Polyhedron(vertices).properties()
    tolerance = 1e-4 if (solid, inexact) == ("brick", "noise 1e-06") else 1e-5  # of a height of 0.1
    for _ in range(20):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        shape = Polyhedron(INEXACT[inexact](vertices @ turn + [0.3, 0.2, 0.1], rng))
        found = shape.properties()
        assert found.volume == pytest.approx(exact.volume, rel=tolerance)
        assert found.moments == pytest.approx(exact.moments, rel=tolerance)
        assert found.centre == pytest.approx([0.3, 0.2, 0.1], abs=1e-5)
        assert shape.margin == pytest.approx(Polyhedron(vertices).margin, rel=1e-4)
        assert len(shape.core()) == corners
        assert np.linalg.norm(shape.core() - found.centre, axis=1).max() == pytest.approx(
            np.linalg.norm(Polyhedron(vertices).core(), axis=1).max(), rel=1e-4
        )


def test_points_inside_the_hull_or_on_its_faces_and_edges_change_nothing():
    rng = np.random.default_rng(1)
    on_faces = rng.uniform(0, 1, (12, 3))
    on_faces[np.arange(12), np.arange(12) % 3] = np.arange(12) % 2
    more = np.concatenate([rng.uniform(0, 1, (9, 3)), on_faces, [[0.5, 0, 0], [1, 1, 0.25]], CUBE, CUBE])
    shape = Polyhedron(more)
    assert shape.properties().volume == pytest.approx(1, rel=1e-9)
    assert shape.properties().moments == pytest.approx(np.full(3, 1 / 6), rel=1e-9)
    assert len(shape.core()) == 8


def test_hull_of_random_points_has_the_volume_of_qhull():
    spatial = pytest.importorskip("scipy.spatial")
    rng = np.random.default_rng(1)
    for n in (4, 8, 20):
        points = rng.normal(size=(n, 3))
        hull = spatial.ConvexHull(points)
        assert Polyhedron(points).properties().volume == pytest.approx(hull.volume, rel=1e-12)
