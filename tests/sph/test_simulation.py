"""The rates of a fluid against plain NumPy, its steps, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from sph.fluids import Layers, lattice, tank
from sph.plain import one_pass
from vicinal.errors import InputError
from vicinal.sim.walls import box_walls
from vicinal.sph import (
    Artificial,
    Laminar,
    OverlapWarning,
    Simulation,
    SmoothingKernel,
    SoundSpeedWarning,
    SpacingWarning,
    UnstableError,
)
from vicinal.sph.boundary import wall_particles
from vicinal.sph.guard import Guard
from vicinal.sph.kernels import KERNELS


@pytest.mark.parametrize("dim", [2, 3])
def test_rates_are_those_of_plain_numpy(dim: int) -> None:
    rng = np.random.default_rng(3)
    spacing = 0.1
    size = [0.6] * dim
    water = lattice([0.0] * dim, [*size[:-1], 0.5], spacing)
    water += rng.uniform(-0.015, 0.015, water.shape)
    velocities = rng.normal(0, 0.5, water.shape)
    pressures = rng.uniform(-100, 900, len(water))
    for viscosity, slip, kernel in (
        (Artificial(0.3), True, "wendland_c2"),
        (Laminar(0.05), False, "quintic"),
        (Laminar(0.02), True, "cubic"),
        (Artificial(0.1), False, "wendland_c4"),
    ):
        walls = tank(size, spacing, 6, slip=slip)
        exact = None
        for precision, tolerance in (("double", 1e-6), ("single", 1e-4)):
            sim = Simulation(
                water,
                spacing=spacing,
                gravity=[0.0] * (dim - 1) + [-9.81],
                velocities=velocities,
                pressures=pressures,
                walls=walls,
                viscosity=viscosity,
                kernel=kernel,
                precision=precision,
            )
            if exact is None:
                first = one_pass(sim, walls, slip, None)
                exact = one_pass(sim, walls, slip, first)
            scale = np.abs(exact.acceleration).max()
            assert np.abs(sim.accelerations - exact.acceleration).max() < tolerance * scale, (kernel, precision)
            assert (sim.surface == exact.surface).all()
            pressure = sim.wall_pressures
            assert np.abs(pressure - exact.wall_pressure).max() < tolerance * np.abs(exact.wall_pressure).max()


def test_kernels_integrate_to_one_and_end_at_their_support() -> None:
    for name in KERNELS:
        for dim in (2, 3):
            kernel = SmoothingKernel(name, 0.7, dim)
            r = (np.arange(20000) + 0.5) * kernel.support / 20000
            shell = 2 * np.pi * r if dim == 2 else 4 * np.pi * r**2
            assert abs((kernel(r) * shell).sum() * kernel.support / 20000 - 1) < 1e-6
            assert kernel(1.001 * kernel.support) == 0 < kernel(0.99 * kernel.support)


@pytest.mark.parametrize("edge", [1.0, 0.7])  # 5 and 3.5 supports of the kernel
def test_a_periodic_fluid_does_not_notice_its_border(edge: float) -> None:
    rng = np.random.default_rng(5)
    water = lattice((0, 0), (edge, edge), 0.05)
    water += rng.uniform(-0.01, 0.01, water.shape)
    velocities = rng.normal(0, 0.1, water.shape)
    away = np.array([0.35, 0.6])
    moved = (water + away) % edge
    results = []
    for x in (water, moved):
        sim = Simulation(x, spacing=0.05, sound_speed=10.0, velocities=velocities, box=(edge, edge), precision="double")
        sim.run(20)
        results.append(sim)
    here, there = results
    assert np.abs(here.velocities - there.velocities).max() < 1e-9
    apart = (here.positions + away - there.positions) / edge
    assert np.abs(apart - np.round(apart)).max() < 1e-9
    assert ((there.positions >= 0) & (there.positions <= edge)).all()


@pytest.mark.parametrize("state", ["linear", "tait"])
def test_pressure_and_density_are_those_of_the_equation_of_state(state: str) -> None:
    water = lattice((0, 0), (0.4, 0.4), 0.05)
    pressures = np.linspace(-100, 900, len(water))
    sim = Simulation(
        water, spacing=0.05, sound_speed=10.0, pressures=pressures, state=state, box=(0.4, 0.4), precision="double"
    )
    ratio = pressures / (1000 * 10.0**2)
    expected = 1000 * ((1 + 7 * ratio) ** (1 / 7) if state == "tait" else 1 + ratio)
    assert sim.densities == pytest.approx(expected, rel=1e-12)
    assert sim.pressures == pytest.approx(pressures, abs=1e-9)


def test_pressure_and_viscosity_conserve_momentum_to_rounding() -> None:
    rng = np.random.default_rng(11)
    water = lattice((0, 0), (1, 1), 0.05) + rng.uniform(-0.01, 0.01, (400, 2))
    for viscosity in (Artificial(0.1), Laminar(0.01)):
        sim = Simulation(
            water,
            spacing=0.05,
            sound_speed=10.0,
            velocities=rng.normal(0, 0.3, water.shape),
            viscosity=viscosity,
            shifting=0.0,
            tensile_control=False,
        )
        before = sim.velocities.sum(axis=0)
        sim.run(100)
        assert np.abs(sim.velocities.sum(axis=0) - before).max() < 1e-5 * np.abs(sim.velocities).sum()


def test_a_lone_particle_falls_as_a_stone_and_steps_are_limited_by_what_they_say() -> None:
    sim = Simulation([[0.0, 0.0, 0.0]], spacing=0.1, gravity=(0, 0, -10.0))
    sim.run(100)
    assert np.isclose(sim.velocities[0, 2], -10 * sim.time)
    assert np.isclose(sim.positions[0, 2], -5 * sim.time**2, rtol=1e-4)
    assert sim.limit == "sound"
    thick = Simulation([[0.0, 0.0]], spacing=0.1, sound_speed=1.0, viscosity=Laminar(1.0))
    assert thick.limit == "viscosity"
    heavy = Simulation([[0.0, 0.0]], spacing=0.1, sound_speed=1.0, gravity=(0, -1e4))
    assert heavy.limit == "force"


def test_walls_that_move_carry_the_fluid_along() -> None:
    spacing = 0.1
    water = lattice((0, 0), (1, 0.5), spacing)
    walls = tank((1, 0.8), spacing)
    speed = np.array([2.0, 0.0])

    class Steady:
        """A tank in uniform motion."""

        def at(self, time: float) -> object:
            still = np.zeros_like(walls.positions)
            moved = type("State", (), {})()
            moved.positions, moved.normals = walls.positions + time * speed, walls.normals
            moved.velocities, moved.accelerations = still + speed, still
            return moved

    moving = Simulation(
        water,
        spacing=spacing,
        gravity=(0, -9.81),
        walls=walls,
        wall_motion=Steady(),  # type: ignore[arg-type]
        velocities=np.full(water.shape, [2.0, 0.0]),
        sound_speed=30.0,
        shifting=0.0,
        precision="double",
    )
    resting = Simulation(
        water, spacing=spacing, gravity=(0, -9.81), walls=walls, sound_speed=30.0, shifting=0.0, precision="double"
    )
    moving.run_until(0.1)
    resting.run_until(moving.time)
    assert np.abs(moving.positions - [2.0 * moving.time, 0] - resting.positions).max() < 1e-3


def test_a_fluid_that_explodes_says_which_particle_and_why() -> None:
    water = lattice((0, 0), (0.5, 0.5), 0.05)
    sim = Simulation(water, spacing=0.05, sound_speed=1.0, pressures=np.full(100, 1e4))
    with pytest.raises(UnstableError, match=r"particle \d+ at .* at t = .*, step \d+; particles that lie") as caught:
        sim.run_until(10.0)
    assert caught.value.step == sim.step_count > 0
    assert caught.value.time == sim.time
    with pytest.raises(UnstableError, match="particle"):
        sim.run(1)


def test_a_fluid_too_fast_for_its_sound_warns_once() -> None:
    sim = Simulation([[0.0, 0.0]], spacing=0.1, sound_speed=10.0, velocities=[[4.0, 0.0]])
    with pytest.warns(SoundSpeedWarning, match="use a sound_speed of 40"):
        sim.run(1)
    sim.run(1)


def test_a_sound_too_slow_for_the_weight_of_the_fluid_warns_at_the_start() -> None:
    water = lattice((0, 0), (0.5, 1.0), 0.1)
    with pytest.warns(SoundSpeedWarning, match=r"the weight of 1 of fluid compresses it by 39.2 %; use 44.3"):
        Simulation(water, spacing=0.1, gravity=(0, -9.81), sound_speed=5.0)


def test_particles_on_top_of_each_other_or_in_walls_are_warned_of() -> None:
    water = lattice((0, 0), (0.5, 0.5), 0.1)
    options = {"gravity": (0, -9.81), "walls": tank((0.5, 1.0), 0.1)}
    Simulation(water, spacing=0.1, **options)  # type: ignore[arg-type]
    with pytest.warns(OverlapWarning, match=r"40 pairs of .* closer than 0.55 spacings .* \(0.2 was passed\)"):
        Simulation(water, spacing=0.2, gravity=(0, -9.81))
    with pytest.warns(OverlapWarning, match=r"300 pairs of .*, the first 0 and 1 at \[0.05.*, 0.05.*\]: "):
        Simulation(water, spacing=10.0, sound_speed=1.0)  # all pairs
    with pytest.warns(OverlapWarning, match=r"5 particles are inside walls .* at \[-0.0.*, 0.05\]: .* with fill\("):
        Simulation(water - np.array([0.1, 0.0]), spacing=0.1, **options)  # type: ignore[arg-type]


def test_particles_too_far_apart_for_the_spacing_are_warned_of() -> None:
    water = lattice((0, 0), (0.8, 0.8), 0.1)
    for spacing in (0.05, 0.001):
        with pytest.warns(SpacingWarning, match=rf"which is about 0.1 \({spacing} was passed\)"):
            Simulation(water, spacing=spacing, gravity=(0, -9.81))
    periodic = Simulation(water, spacing=0.1, gravity=(0, -9.81), box=0.8)  # one length for both axes
    assert periodic.box == (0.8, 0.8)


def test_arrays_cannot_be_written_and_attributes_cannot_be_assigned() -> None:
    sim = Simulation(lattice((0, 0), (0.3, 0.3), 0.1), spacing=0.1, gravity=(0, -9.81), walls=tank((0.3, 0.3), 0.1))
    for name in ("positions", "velocities", "densities", "pressures", "masses", "ids", "gravity", "wall_positions"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(sim, name)[0] = 1
    with pytest.raises(AttributeError, match=r"gravity cannot be assigned; make a new Simulation with the positions"):
        sim.gravity = (0, 0)  # type: ignore[misc]
    with pytest.raises(AttributeError, match="a fluid has no attribute speed"):
        sim.speed = 1.0


@pytest.mark.parametrize("scheme", ["delta", "edac", "dfsph"])
@pytest.mark.parametrize("end", [1e-6, 0.03, 0.1])
def test_a_run_ends_at_its_end(scheme: str, end: float) -> None:
    water = lattice((0, 0), (0.5, 0.5), 0.05)
    walls = tank((0.5, 0.5), 0.05)
    sim = Simulation(water, spacing=0.05, gravity=(0, -9.81), walls=walls, sound_speed=30.0, scheme=scheme)
    sim.run_until(end)
    assert sim.time == end
    sim.run_until(end)
    assert sim.time == end
    steps = sim.step_count
    # The last two steps share what is left; none is much shorter than the state allows.
    usual = sim.dt
    sim.run_until(end + 1.001 * usual)
    assert sim.step_count == steps + 2
    assert sim.dt > 0.8 * usual  # the end does not stay
    with pytest.raises(InputError, match=r"time must be at least 0\.\d+, the present time, got \d"):
        sim.run_until(0.9 * end)
    assert sim.largest_speed < 5


def test_a_time_that_is_never_reached_is_refused() -> None:
    sim = Simulation([[0.0, 0.0]], spacing=0.1, sound_speed=1.0)
    for wrong in (np.nan, np.inf):
        with pytest.raises(InputError, match="time must be a finite number"):
            sim.run_until(wrong)
    with pytest.raises(InputError, match=r"state must be the result of state\(\) of a fluid, got dict"):
        Simulation.restore({})


def test_walls_are_passed_as_lists() -> None:
    walls = box_walls("tank", (0, 0, -1), (1, 1, 1), "")
    for slip in (True, "tank-x"):
        with pytest.raises(InputError, match="slip must be a list of names of walls, got"):
            wall_particles(walls, 0.1, 4, dim=2, slip=slip)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="walls must be a list of walls, got Plane"):
        Guard(walls[0], 0.1, dim=2)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="dim must be a whole number from 2 to 3, got 7"):
        Guard(walls, 0.1, dim=7)


def test_an_empty_fluid_runs() -> None:
    sim = Simulation(np.zeros((0, 2)), spacing=0.1, sound_speed=1.0)
    sim.run(3)
    assert sim.step_count == 3
    assert sim.positions.shape == (0, 2)


def test_wrong_arguments_are_refused() -> None:
    good = {"positions": [[0.0, 0.0]], "spacing": 0.1, "sound_speed": 1.0}
    layers = Layers(np.zeros((1, 3)), np.zeros((1, 3)), np.zeros(1, np.int32), np.zeros(1, bool))
    for wrong, message in (
        ({"positions": [[0.0]]}, "positions must have the shape"),
        ({"positions": [[0.0, np.nan]]}, "positions must be finite, got .* in row 0"),
        ({"spacing": 0}, "spacing must be a positive"),
        ({"sound_speed": None}, "sound_speed must be passed"),
        ({"velocities": [[0.0, 0.0], [1.0, 1.0]]}, "velocities must have the shape"),
        ({"pressures": [1.0, 2.0]}, "pressures must be 1 finite numbers"),
        ({"gravity": (0, 0, 1)}, "gravity must be 2 finite numbers"),
        ({"kernel": "gauss"}, "kernel must be one of"),
        ({"smoothing": 0.5}, "smoothing must be from 1 to 5"),
        ({"courant": 2}, "courant must be at most 1"),
        ({"box": (0.5, None)}, "box must be at least twice the support"),
        ({"box": (5.0,)}, "box must have 2 lengths"),
        ({"viscosity": 0.1}, "viscosity must be Artificial"),
        ({"precision": "half"}, "precision must be one of"),
        ({"walls": layers}, "walls must have 2 dimensions"),
        ({"wall_velocities": [[0.0, 0.0]]}, "walls must be passed"),
        ({"positions": np.ma.masked_equal([[0.0, 1.0]], 1)}, "positions must not be a masked array"),
        ({"positions": [["0", "1"]]}, "positions must hold real numbers"),
        ({"gravity": "down"}, "gravity must be 2 finite numbers"),
        ({"box": 0.1}, "box must be at least twice the support"),
        ({"box": np.eye(2)}, "box must have 2 lengths"),
        ({"walls": box_walls("tank", (0, 0, 0), (1, 1, 1), "")}, r"walls must be the result of wall_particles\(...\)"),
        ({"guard": True}, "guard must be a Guard, got bool"),
        ({"surface_tension": 0.07}, "surface_tension must be 0 without phases"),
    ):
        with pytest.raises(InputError, match=message):
            Simulation(**{**good, **wrong})  # type: ignore[arg-type]
    with pytest.raises(InputError, match="nu must be"):
        Laminar(-1.0)
