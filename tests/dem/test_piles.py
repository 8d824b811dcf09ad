"""Bodies that rest on each other: weight, stacks, a pyramid, energy, packing."""

import numpy as np
import pytest

from dem.grains import bed, floor, linear, simulation
from vicinal.dem import Material, Simulation, box_walls


@pytest.mark.parametrize("law", ["linear", "hertz"])
def test_floor_carries_the_weight(law):
    material = (
        linear(restitution=0.3)
        if law == "linear"
        else Material(density=2000, youngs_modulus=1e6, poisson_ratio=0.3, restitution=0.3)
    )
    sim = simulation(material, walls=[floor()], dt=2e-4 if law == "hertz" else 1e-4)
    sim.insert([[0, 0, 0.5], [3, 0, 0.6], [3, 0, 1.7]], radii=[0.5, 0.6, 0.5])
    sim.run(40_000)
    weight = 9.81 * sim.masses.sum()
    assert sim.walls[0].force == pytest.approx([0, 0, -weight], rel=1e-4, abs=1e-4 * weight)
    contacts = sim.contacts()
    assert sorted(contacts["wall"].tolist()) == [-1, 0, 0]
    assert contacts["normal_force"].sum() == pytest.approx(weight + 9.81 * sim.masses[2], rel=1e-4)
    assert contacts["force"][contacts["wall"] == 0].sum(axis=0) == pytest.approx(-sim.walls[0].force, rel=1e-4, abs=0.1)


def test_stack_is_compressed_as_hertz_says():
    # Contact k from the top carries k weights: k m g = 4/3 E* sqrt(R*) δ^(3/2); R* = R/2, on the floor R.
    n, r, e, nu = 5, 0.01, 2e6, 0.3
    material = Material(density=2500, youngs_modulus=e, poisson_ratio=nu, restitution=0.2)
    sim = simulation(material, walls=[floor()], dt=4e-5)
    sim.insert(np.c_[np.zeros((n, 2)), r * (2 * np.arange(n) + 1)], radii=r)
    sim.run(40_000)
    weight = 9.81 * sim.masses[0]
    modulus = e / (2 * (1 - nu**2))
    load = weight * np.arange(n, 0, -1)
    radius = np.r_[r, np.full(n - 1, r / 2)]
    overlaps = (0.75 * load / (modulus * np.sqrt(radius))) ** (2 / 3)
    z = sim.positions[:, 2]
    found = np.r_[r - z[0], 2 * r - np.diff(z)]
    assert found == pytest.approx(overlaps, rel=0.01)


# Kureck 2016, section 6.2.2: r 10 mm, three spheres on the ground, one on top of them (its y axis is our z), for 2 s.
# The material is not given; any material with friction is suitable.
R = 0.01
PYRAMID = (np.array([[0, 1, 0], [2, 1, 0], [1, 1, np.sqrt(3)], [1, 1 + 2 / 3 * np.sqrt(6), np.sqrt(3) / 3]]) * R)[
    :, [0, 2, 1]
]


def pyramid(law, restitution, *, history):
    stiffness = {"kn": 2e5} if law == "linear" else {"youngs_modulus": 5e7, "poisson_ratio": 0.3}
    material = Material(density=7800, restitution=restitution, friction=0.5, **stiffness)
    sim = simulation(material, walls=[floor()], history=history, dt=1e-5)
    sim.insert(PYRAMID, radii=R)
    return sim


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("restitution", [0.2, 0.5, 0.9])
def test_pyramid_of_four_stands_with_history(law, restitution):
    sim = pyramid(law, restitution, history=True)
    sim.run(100_000)
    after = sim.positions
    sim.run(100_000)
    assert np.linalg.norm(sim.positions - PYRAMID, axis=1).max() < 0.01 * R
    assert np.linalg.norm(sim.positions - after, axis=1).max() < 1e-5 * R


def test_pyramid_stands_while_bodies_are_sorted():
    # Bodies are reordered from time to time; if the two bodies of a contact exchange their order, its spring must be
    # reversed. A body that falls far away moves the origin of the order and causes new lists.
    def swapped(before, after):
        contacts = sim.contacts()
        i, j = (contacts[name][contacts["j"] >= 0] for name in "ij")
        where = [np.argsort(order[order < 4]) for order in (before, after)]
        return np.sum((where[0][i] < where[0][j]) != (where[1][i] < where[1][j]))

    swaps = 0
    for corner in ((-0.013, -0.007), (-0.031, 0.0), (0.0, -0.024), (-0.002, -0.038)):
        sim = pyramid("hertz", 0.5, history=True)
        sim.run(50_000)
        stood, before = sim.positions, sim._core.ids()
        sim.insert([[*corner, 9.0]], radii=R)
        sim.run(40_000)
        swaps += swapped(before, sim._core.ids())
        assert np.abs(sim.positions[:4] - stood).max() < 1e-5 * R
    assert swaps > 0


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("restitution", [0.5, 0.9])
def test_pyramid_of_four_falls_without_history(law, restitution):
    # With a dashpot alone the spheres creep apart, the more slowly the stronger the dashpot is.
    sim = pyramid(law, restitution, history=False)
    sim.run(200_000)
    assert np.linalg.norm(sim.positions - PYRAMID, axis=1).max() > 0.4 * R
    if restitution == 0.9:
        assert sim.positions[3, 2] == pytest.approx(R, rel=0.01)


@pytest.mark.parametrize("law", ["linear", "hertz"])
@pytest.mark.parametrize("restitution", [0.3, 0.6, 1.0])
@pytest.mark.parametrize("rolling", [0.0, 0.1])
def test_energy_of_an_isolated_system_never_grows(law, restitution, rolling):
    rng = np.random.default_rng(3)
    stiffness = {"kn": 1e5} if law == "linear" else {"youngs_modulus": 1e6, "poisson_ratio": 0.3}
    material = Material(density=2, restitution=restitution, friction=0.4, rolling_friction=rolling, **stiffness)
    sim = simulation(material, walls=box_walls("box", (0, 0, 0), (4, 4, 4), "m"), gravity=(0, 0, 0), dt=5e-5)
    grid = np.stack(np.meshgrid(*[np.arange(4)] * 3), axis=-1).reshape(-1, 3) + 0.5
    sim.insert(grid, radii=rng.uniform(0.35, 0.5, 64), velocities=rng.normal(0, 1, (64, 3)))
    energies = []
    for _ in range(400):
        sim.run(20)
        energies.append(sim.energies()["total"])
    start = energies[0]
    # Without damping, the energy fluctuates during contacts because of the finite step; with damping it only falls.
    assert np.diff(energies).max() <= (1e-4 if restitution == 1 else 1e-12) * start
    assert energies[-1] < (0.5 if restitution < 1 else 1.0) * start


def test_spheres_pack_as_random_packings_do():
    # Random loose to random close: 0.58 to 0.64, away from the walls.
    rng = np.random.default_rng(1)
    n, side = 600, 7.0
    material = linear(restitution=0.3, friction=0.2, kn=2e4)
    walls = box_walls("box", (0, 0, 0), (side, side, 100), "m", sides=["-z"])
    sim = Simulation(
        materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, -10), dt=3e-4, box=(side, side, None)
    )
    per = 6
    k = np.arange(n)
    grid = np.c_[k % per, k // per % per, k // per**2] * 1.1 + 0.55
    sim.insert(grid + rng.uniform(-0.04, 0.04, (n, 3)), radii=0.5, velocities=rng.normal(0, 1, (n, 3)))
    sim.run(18_000)  # over three seeds, the last spheres come to rest after 3 to 5 s
    z = sim.positions[:, 2]
    low, high = 3.0, np.sort(z)[-100]

    # Volume of the parts of spheres between two heights.
    def below(h):
        t = np.clip(h - z + 0.5, 0, 1)
        return (np.pi * t * t * (1.5 - t) / 3).sum()

    fraction = (below(high) - below(low)) / (side * side * (high - low))
    assert 0.58 < fraction < 0.64
    assert sim.energies()["kinetic_translational"] < 1e-3 * n


def test_settled_box_as_two_other_codes_have_it():
    # 10 000 spheres of d = m = g = 1 at rest; LIGGGHTS and LAMMPS give total translational kinetic energy 0.31278 to
    # 0.31280 at step 500 and 0.3255 to 0.3257 at step 1000 (kn 2e5, kt 2/7 kn, γn 50, μ 0.5, dt 1e-4).
    from pathlib import Path

    quantised = np.load(Path(__file__).parent / "data" / "box10k.npz")["centres"]
    sim = simulation(
        linear(restitution=None, gamma_n=50.0, gamma_t=0.0, friction=0.5),
        walls=box_walls("box", (0, 0, 0), (20, 20, 100), "m", sides=["-x", "+x", "-y", "+y", "-z"]),
        gravity=(0, 0, -1),
        dt=1e-4,
    )
    sim.insert(quantised * 2.0**-26, radii=0.5)
    for expected in (0.31279, 0.3256):
        sim.run(500)
        assert sim.energies()["kinetic_translational"] == pytest.approx(expected, rel=0.01)
    contacts = sim.contacts()
    assert 2 * (contacts["j"] >= 0).sum() / 10_000 == pytest.approx(4.09, abs=0.05)


def test_periodic_shear_between_plates_carries_stress():
    # A plate dragged over a bed confined in a periodic cell: tractions on plate and floor balance, and their ratio is a
    # friction coefficient below that of the grains, which roll on the smooth plates.
    rng = np.random.default_rng(5)
    n, side = 240, 6.0
    material = linear(restitution=0.4, friction=0.5, kn=1e5)
    walls = box_walls("cell", (0, 0, 0), (side, side, 8.0), "m", sides=["-z", "+z"])
    sim = Simulation(
        materials={"m": material}, law="linear", walls=walls, gravity=(0, 0, 0), dt=1e-4, box=(side, side, None)
    )
    k = np.arange(n)
    sim.insert(np.c_[k % 6, k // 6 % 6, k // 36] * 1.0 + 0.5 + rng.uniform(-0.02, 0.02, (n, 3)), radii=0.48)
    floor_wall, plate = sim.walls
    plate.velocity = (0, 0, -2.0)
    sim.run(15_100)  # until the grains fill 0.62 of the cell
    plate.velocity = (3.0, 0, 0)
    drags, loads = [], []
    for _ in range(60):
        sim.run(200)
        drags.append([plate.force[0], floor_wall.force[0]])
        loads.append([plate.force[2], floor_wall.force[2]])
    drag, load = np.mean(drags[20:], axis=0), np.mean(loads[20:], axis=0)
    assert load[0] == pytest.approx(-load[1], rel=0.05)
    assert drag[0] == pytest.approx(-drag[1], rel=0.25)
    assert 0.05 < -drag[0] / load[0] < 0.5
    assert (sim.positions[:, :2] > -1).all()
    assert (sim.positions[:, :2] < side + 1).all()


def test_beds_calm_down():
    sim = bed()
    sim.run(15_000)
    energies = sim.energies()
    assert energies["kinetic_translational"] + energies["kinetic_rotational"] < 0.05 * len(sim)
    assert (sim.positions > 0).all()
    assert sim.stats.builds > 3
