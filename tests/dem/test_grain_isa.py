"""Every instruction set gives the same bits. `make emulate` runs this file with AVX-512 in plain C."""

import numpy as np
import pytest

from dem.grains import bed, linear
from dem.test_loops import STICKY, tray, tumbler
from dem.test_state import HERTZ, mixed
from vicinal import _core
from vicinal.dem import Material, Polyhedron, Simulation, Tablet

COLUMNS = ("positions", "velocities", "spins", "orientations")
RATES = Material(density=2, kn=2e4, gamma_n=5.0, gamma_t=2.0, friction=0.5)


def tablets():
    """Tablets, polyhedra and spheres in a heap across a periodic border: most contacts are between shapes."""
    sim = Simulation(materials={"m": HERTZ}, gravity=(0, 0, 0), dt=2e-4, box=(3.2, 3.2, 3.2), max_overlap=2.0)
    rng = np.random.default_rng(4)
    places = np.stack(np.meshgrid(*[np.arange(4)] * 3, indexing="ij"), axis=-1).reshape(-1, 3) * 0.8
    kinds = [{"shape": Tablet(0.4, 0.3, 0.1)}, {"radii": 0.4}]
    kinds.append({"shape": Polyhedron(0.6 * np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 1.0]]))})
    for k, kind in zip((slice(0, 40), slice(40, 52), slice(52, 64)), kinds, strict=True):
        n = len(places[k])
        sim.insert(places[k], orientations=rng.normal(size=(n, 4)), velocities=rng.normal(0, 1, (n, 3)), **kind)
    return sim


SCENES = {
    "linear": lambda: bed(101),
    "hertz": lambda: bed(101, material=HERTZ),
    "rates": lambda: bed(101, material=RATES),
    "no history": lambda: bed(101, material=RATES, history=False),
    "sticky": lambda: bed(101, material=STICKY),
    "mixed": mixed,
    "mixed, hertz": lambda: mixed(HERTZ),
    "tablets": tablets,
    "tablets on planes": lambda: tray("tablets"),
    "mesh": lambda: tumbler(linear(friction=0.3, restitution=0.5, kn=2e4)),
    "mesh, sticky": lambda: tumbler(STICKY),
}


def states(make):
    sim = make()
    sim.run(600)
    contacts = sim.contacts()
    assert len(contacts["i"]) > 0
    walls = [column for wall in sim.walls for column in (wall.force, wall.torque)]
    return [getattr(sim, name) for name in COLUMNS] + walls + list(contacts.values())


@pytest.mark.usefixtures("isa")
@pytest.mark.parametrize("scene", SCENES)
def test_instruction_sets_do_not_change_bits(scene):
    _core.set_isa("baseline")
    baseline = states(SCENES[scene])
    for name in _core.available_isas()[1:]:
        _core.set_isa(name)
        for one, other in zip(states(SCENES[scene]), baseline, strict=True):
            np.testing.assert_array_equal(one, other, err_msg=name)
