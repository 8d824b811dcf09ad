"""Bit-identical results after a restart and for any number of threads. Instruction sets: test_grain_isa.py."""

import numpy as np
import pytest

import vicinal
from compare import COPIES
from dem.grains import bed, floor, linear, simulation
from sim.busy import busy
from vicinal import InputError
from vicinal.dem import Clump, Cylinder, Material, MeshWall, Plane, Simulation, Tablet
from vicinal.dem.solver import GrainSolver

COLUMNS = ("positions", "velocities", "spins", "orientations")


def assert_same(one, other):
    assert one.step_count == other.step_count
    assert one.time == other.time
    for name in COLUMNS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    for a, b in zip(one.walls, other.walls, strict=True):
        np.testing.assert_array_equal(a.force, b.force)
        np.testing.assert_array_equal(a.orientation, b.orientation)


HERTZ = Material(density=2, youngs_modulus=5e5, poisson_ratio=0.3, restitution=0.5, friction=0.5, rolling_friction=0.05)


def mixed(material=None):
    """Spheres, clumps and tablets, and a rotating wall."""
    sim = bed(120, material=material)
    top = sim.positions[:, 2].max() + 1.2
    places = np.stack(np.meshgrid(*[np.arange(4)] * 2), axis=-1).reshape(-1, 2) * 1.2 + 0.7
    rng = np.random.default_rng(9)
    q = rng.normal(size=(16, 4))
    sim.insert(np.c_[places, np.full(16, top)], shape=Clump([[0, 0, 0], [0.4, 0, 0]], [0.3, 0.25]), orientations=q)
    sim.insert(np.c_[places, np.full(16, top + 1.2)], shape=Tablet(0.4, 0.3, 0.1), orientations=q)
    sim.walls[0].spin = (0.0, 0.1, 0.0)
    return sim


@pytest.mark.parametrize("make", [bed, lambda: bed(material=HERTZ), mixed])
@pytest.mark.parametrize("at", [0, 1, 777, 2001])
def test_restored_simulation_goes_on_bit_for_bit(make, at):
    straight = make()
    straight.run(at)
    straight.random.random(3)
    copy = Simulation.restore(straight.state())
    assert_same(copy, straight)
    for steps in (1, 700, 900):
        straight.run(steps)
        copy.run(steps)
        assert_same(copy, straight)
    assert copy.random.random() == straight.random.random()
    assert copy.stats.builds == straight.stats.builds


@pytest.mark.parametrize("way", COPIES)
def test_copies_share_nothing_with_the_original(way):
    sim = mixed()
    sim.run(100)
    copied = COPIES[way](sim)
    assert_same(copied, sim)
    sim.run(50)
    assert copied.step_count == 100
    copied.run(50)
    assert_same(copied, sim)
    copied.remove([0])
    assert len(sim) == len(copied) + 1
    assert sim.walls[0] is not copied.walls[0]
    assert copied.random.random() == sim.random.random()


@pytest.mark.parametrize("way", COPIES)
def test_copies_of_a_solver_have_one_simulation(way):
    solver = GrainSolver(busy())
    solver.advance(1.0, 100)
    copied = COPIES[way](solver)
    assert copied.simulation is not solver.simulation
    for one in (solver, copied):
        one.advance(1.0, 200)  # walls begin to move, bodies are inserted and removed
    assert_same(copied.simulation, solver.simulation)


CORNERS = np.array([[-9.0, -9.0, 0.0], [9.0, -9.0, 0.0], [0.0, 9.0, 0.0]])
FLOORS = {
    "plane": lambda: Plane(name="floor", material="m", point=(0, 0, 0), normal=(0, 0, 1)),
    "cylinder": lambda: Cylinder(name="floor", material="m", start=(-1, 0, -5), end=(1, 0, -5), radius=5, inside=False),
    "mesh": lambda: MeshWall(name="floor", material="m", vertices=CORNERS, faces=np.array([[0, 1, 2]])),
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("floor", FLOORS)
def test_the_copy_of_a_used_wall_can_be_used_again(way, floor):
    def on(wall):
        sim = Simulation(materials={"m": Material(kn=1e4, density=1)}, law="linear", walls=[wall], dt=1e-4)
        sim.insert([[0, 0, 0.5]], radii=0.5)
        return sim

    wall = FLOORS[floor]()
    first = on(wall)
    first.run(200)
    with pytest.raises(InputError, match="must belong to one simulation"):
        on(wall)
    copied = COPIES[way](wall)
    second = on(copied)
    second.run(200)
    assert_same(second, first)
    copied.velocity[2] = 1.0
    second.run(1)
    assert wall.velocity[2] == wall.position[2] == 0
    with pytest.raises(ValueError, match="read-only"):
        copied.orientation[0] = 2


def test_state_is_plain():
    sim = bed(30)
    sim.run(100)
    for value in sim.state().values():
        assert isinstance(value, (np.ndarray, int, float, str))


def test_contacts_do_not_depend_on_threads():
    # More bodies than a block has; each block finds contacts of bodies, and contacts with walls.
    sim = simulation(linear(friction=0.5), walls=[floor()], dt=2e-4)
    lattice = np.stack(np.meshgrid(*[np.arange(17)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    sim.insert(
        0.995 * lattice + [0, 0, 0.495], radii=0.5, velocities=np.random.default_rng(1).normal(0, 0.1, (4913, 3))
    )
    sim.run(3)
    with vicinal.threads(1):
        alone = sim.contacts()
    with vicinal.threads(3):
        shared = sim.contacts()
    assert len(alone["i"]) > 10_000
    assert (alone["wall"] >= 0).sum() > 200
    assert (np.diff(alone["wall"] >= 0).astype(int) >= 0).all()  # those of bodies come first
    for name, column in alone.items():
        np.testing.assert_array_equal(column, shared[name], err_msg=name)


@pytest.mark.parametrize("make", [lambda: bed(17_000), mixed])
def test_threads_do_not_change_bits(make):
    with vicinal.threads(1):
        one = make()
        one.run(60)
    with vicinal.threads(3):
        three = make()
        three.run(60)
    assert_same(one, three)


def test_looking_does_not_change_bits():
    looked, unseen = bed(100), bed(100)
    for _ in range(20):
        looked.run(50)
        unseen.run(50)
        looked.contacts(), looked.energies(), looked.state(), looked.stats
    assert_same(looked, unseen)


def test_runs_may_be_split():
    whole, parts = mixed(), mixed()
    whole.run(1000)
    for steps in (1, 9, 490, 500):
        parts.run(steps)
    assert_same(whole, parts)


def test_runs_may_be_split_at_any_times_but_do_not_go_back():
    whole, parts = mixed(), mixed()
    end = 100.5 * whole.dt
    whole.run_until(end)
    assert whole.step_count == 101  # the first step that ends then or later
    for moment in np.linspace(0, end, 400):  # several within a step
        parts.run_until(moment)
    assert_same(whole, parts)
    with pytest.raises(
        InputError, match=r"time must be at least .*, the present time, got 0\.0\d+; runs cannot go back"
    ):
        whole.run_until(end - 2 * whole.dt)


def test_an_error_while_lists_are_built_loses_nothing(monkeypatch):
    # Lists expire in the middle of a step, between the motion of the bodies and the forces.
    whole, broken = mixed(), mixed()
    whole.run(600)
    build, calls = Simulation._build, []

    def interrupted(self):
        calls.append(self._core.drifted)
        if len(calls) == 2:
            raise KeyboardInterrupt
        build(self)

    monkeypatch.setattr(Simulation, "_build", interrupted)
    with pytest.raises(KeyboardInterrupt):
        broken.run(600)
    assert calls == [False, True]
    restored = Simulation.restore(broken.state())
    for sim in (broken, restored):
        sim.run(600 - sim.step_count)
        assert_same(sim, whole)


def test_skin_changes_speed_only():
    # Forces are added in the order of the bodies, independent of further entries of the lists.
    thin, thick = bed(100, skin=0.02), bed(100, skin=0.4)
    thin.run(300)
    thick.run(300)
    assert thin.stats.builds > thick.stats.builds
    np.testing.assert_allclose(thin.positions, thick.positions, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["second", "springs", "turnings", "normals"])
def test_memory_of_contacts_that_does_not_fit_together_is_refused(name):
    sim = bed(60)
    sim.run(2000)
    state = sim.state()
    assert len(state["walls_first"]) > 1
    state[f"walls_{name}"] = state[f"walls_{name}"][:1]
    with pytest.raises(ValueError, match=f"{name} must have .* numbers.*; restore all arrays of one state"):
        Simulation.restore(state)
