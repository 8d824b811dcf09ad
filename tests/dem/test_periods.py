"""Short periodic boxes: every contact acts once, and boxes in which two images of a body could touch are refused."""

import json

import numpy as np
import pytest

import vicinal as vc
from dem.grains import linear, simulation
from vicinal import InputError
from vicinal.dem import Clump, Material, Polyhedron, Simulation, Tablet

GLASS = Material(density=2500, youngs_modulus=1e7, poisson_ratio=0.2, restitution=0.8)
R = 0.01
CUBE = Polyhedron([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
CLUMP = Clump([[0, 0, 0], [0.4, 0, 0]], [0.3, 0.25])


def ordered(i, j):
    return sorted(zip(np.minimum(i, j).tolist(), np.maximum(i, j).tolist(), strict=True))


def two_spheres(edge):
    """Spheres that overlap across the border of a box of `edge` radii along y, and hardly touch otherwise."""
    sim = simulation(GLASS, box=(1.0, edge * R, None), gravity=(0, 0, 0), max_overlap=0.5, dt=1e-6)
    sim.insert([[0.03, 0, 0.05], [0.03 + 0.1 * R, (edge - 1.9) * R, 0.05]], radii=R)
    return sim


@pytest.mark.parametrize("edge", [4.0, 4.01, 4.1, 4.2, 5.0, 100.0])
def test_a_contact_in_a_short_box_acts_once(edge):
    sim = two_spheres(edge)
    sim.run(1)
    alone = simulation(GLASS, gravity=(0, 0, 0), max_overlap=0.5, dt=1e-6)
    alone.insert([[0.03, 0, 0.05], [0.03 + 0.1 * R, -1.9 * R, 0.05]], radii=R)
    alone.run(1)
    assert (sim.contact_count(), len(sim.contacts()["i"])) == (1, 1)
    assert sim.velocities == pytest.approx(alone.velocities, rel=1e-9, abs=1e-9)
    assert alone.velocities[1, 1] < -1e-5


@pytest.mark.parametrize("edge", [4.0, 4.3, 4.7, 4.99, 5.01, 6.0, 9.0])
@pytest.mark.parametrize("skin", [None, 0.01, 3.0])
def test_contacts_in_a_short_box_are_the_pairs_of_a_search(edge, skin):
    """The skin decides how many images are within reach; the radii are 0.25 to 1."""
    rng = np.random.default_rng(round(100 * edge))
    places, radii = rng.uniform(0, edge, (12, 3)), rng.uniform(0.25, 1.0, 12)
    radii[0] = 1.0
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-6, skin=skin, max_overlap=9, box=edge)
    sim.insert(places, radii=radii, velocities=rng.normal(0, 1, (12, 3)))
    for _ in range(3):
        contacts = sim.contacts()
        i, j = vc.pairs(sim.positions, radii=radii, box=edge)
        assert ordered(contacts["i"], contacts["j"]) == ordered(i, j)
        assert len(i) > 1
        sim.run(10)
        assert sim.contact_count() == len(vc.pairs(sim.positions, radii=radii, box=edge)[0])


@pytest.mark.parametrize(
    ("shape", "radius"),
    [(None, 0.5), (CLUMP, None), (Tablet(0.5, 0.3, 0.15), None), (CUBE, None)],
    ids=["spheres", "clumps", "tablets", "cubes"],
)
def test_bodies_in_a_short_box_move_as_in_one_of_twice_the_length(shape, radius):
    rng = np.random.default_rng(3)
    reach = radius or shape.properties().radius
    edge = 4 * reach
    count = 7
    places = np.column_stack([np.linspace(0.3, 1.1 * count * reach, count), rng.uniform(0, edge, (count, 2))])
    speeds, turns = rng.normal(0, 3, (count, 3)), rng.normal(0, 1, (count, 4))
    body = {"radii": radius} if shape is None else {"shape": shape}

    def moved(copies):
        sim = simulation(
            linear(friction=0.3), gravity=(0, 0, 0), dt=1e-4, max_overlap=9, box=(None, copies * edge, edge)
        )
        for copy in range(copies):
            sim.insert(places + np.array([0, copy * edge, 0]), velocities=speeds, orientations=turns, **body)
        sim.run(200)
        return sim

    short, twice = moved(1), moved(2)
    assert 2 * short.contact_count() == twice.contact_count()
    assert short.velocities == pytest.approx(twice.velocities[:count], rel=1e-6, abs=1e-6)
    assert not np.allclose(short.velocities, speeds)


@pytest.mark.filterwarnings("ignore::vicinal.dem.TimeStepWarning")
def test_a_fast_body_finds_its_contacts_in_a_short_box():
    """Its margin of a few steps is longer than the box."""
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-3, max_overlap=9, skin=8.0, box=4.0)
    sim.insert([[0.1, 2, 2], [3.9, 0.5, 2]], radii=1.0, velocities=[[-1400, 0, 0], [1400, 0, 0]])
    for _ in range(5):
        sim.velocities = [[-1400, 0, 0], [1400, 0, 0]]
        sim.run(1)
        assert sim.contact_count() == len(vc.pairs(sim.positions % 4.0, radii=[1.0, 1.0], box=4.0)[0])


@pytest.mark.parametrize("edge", [2.0, 3.0, 3.9, 3.999])
def test_a_box_in_which_two_images_could_touch_is_refused(edge):
    with pytest.raises(InputError, match=r"diameter of bodies, 0\.02, got a period of 0\.0\d+ along y") as error:
        two_spheres(edge)
    assert "use a period of 0.04 or more, None for an open axis, or smaller bodies" in str(error.value)


@pytest.mark.parametrize("shape", [CUBE, Tablet(0.5, 0.3, 0.15), CLUMP], ids=["cube", "tablet", "clump"])
def test_the_diameter_of_a_shape_is_that_of_the_sphere_around_it(shape):
    radius = shape.properties().radius
    simulation(linear(), dt=1e-4, box=(None, None, 4 * radius)).insert([[0, 0, 0]], shape=shape)
    sim = simulation(linear(), dt=1e-4, box=(None, None, 3.99 * radius))
    with pytest.raises(InputError, match="along z"):
        sim.insert([[0, 0, 0]], shape=shape)
    assert len(sim) == 0


def test_one_sphere_in_a_thin_slab_is_not_said_to_lie_on_itself():
    sim = simulation(linear(), gravity=(0, 0, 0), dt=1e-4, box=(9.0, 1.0, None))
    with pytest.raises(InputError, match="got a period of 1 along y"):
        sim.insert([[1, 0.5, 0]], radii=0.5)
    sim.insert([[1, 0.5, 0]], radii=0.25)
    sim.dt = 1e-5
    sim.run(10)
    assert sim.contact_count() == 0


def test_a_state_with_a_box_that_is_too_short_is_refused():
    state = two_spheres(4.0).state()
    settings = json.loads(state["settings"])
    settings["box"][1] = 3 * R
    with pytest.raises(InputError, match=r"got a period of 0\.03 along y"):
        Simulation.restore(state | {"settings": json.dumps(settings)})
