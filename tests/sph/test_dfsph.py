"""The scheme dfsph: a step against plain NumPy, flows against exact solutions and experiments, bits, and bad input."""

from __future__ import annotations

import csv
import warnings
from pathlib import Path

import numpy as np
import pytest

import vicinal as vc
from sim.parts import run_in_parts
from sph.fluids import assert_same_bits_everywhere, lattice, tank
from sph.plain_dfsph import Solution, dfsph_pass
from sph.test_bits import numbers, splash
from vicinal.errors import InputError
from vicinal.lab import flows
from vicinal.sim import load, run, scenes
from vicinal.sph import Artificial, Laminar, OverlapWarning, Simulation, SolverWarning
from vicinal.sph.viscosity import Viscosity


@pytest.mark.parametrize("dim", [2, 3])
def test_a_step_is_that_of_plain_arrays(dim: int) -> None:
    spacing, rng = 0.1, np.random.default_rng(3)
    x = lattice([0.0] * dim, [0.5] * dim, spacing)
    x += rng.uniform(-0.02, 0.02, x.shape)
    u, p = rng.normal(size=x.shape), rng.uniform(0, 5, len(x))
    walls = tank([0.5] * (dim - 1) + [0.6], spacing)
    cases: list[tuple[Viscosity, str, float]] = [(Artificial(0.1), "double", 1e-5), (Laminar(0.05), "single", 1e-3)]
    for viscosity, precision, tolerance in cases:
        sim = Simulation(
            x,
            spacing=spacing,
            density=2.0,
            velocities=u,
            pressures=p,
            gravity=[0.0] * (dim - 1) + [-2.0],
            walls=walls,
            viscosity=viscosity,
            scheme="dfsph",
            tolerance=0.001,
            precision=precision,
        )
        dt = (
            0.4 * spacing / np.linalg.norm(u, axis=1).max()
        )  # of the first step, for which pressures are found before it
        found, none = sim.accelerations, np.zeros(len(x))
        many = (int(sim.solved["density_iterations"]), int(sim.solved["divergence_iterations"]))
        assert many[0] > 2
        assert many[1] > 1
        plain, errors = dfsph_pass(sim, walls, dt, Solution(np.zeros(x.shape), p / 2, none, none), many)
        assert np.abs(found - plain.acceleration).max() < tolerance * np.abs(plain.acceleration).max()
        total = 2 * (plain.pressure + plain.correction)
        assert np.abs(sim.pressures - total).max() < tolerance * total.max()
        assert np.allclose(sim.densities, 2 + 2 * plain.excess, rtol=tolerance)
        assert sim.solved["density_error"] == pytest.approx(errors[0], rel=1e-2)
        assert sim.solved["divergence_error"] == pytest.approx(errors[1], rel=1e-2)
        assert max(errors) <= 0.001


@pytest.mark.parametrize("dim", [2, 3])
def test_a_tank_stays_at_rest_under_its_own_pressure(dim: int) -> None:
    spacing, height, g = (0.025, 1.0, 9.81) if dim == 2 else (0.1, 1.0, 9.81)
    size = [1.0] + [0.8] * (dim - 2) + [1.2]
    water = lattice([0.0] * dim, [*size[:-1], height], spacing)
    sim = Simulation(
        water,
        spacing=spacing,
        gravity=[0.0] * (dim - 1) + [-g],
        walls=tank(size, spacing),
        pressures=1000 * g * (height - water[:, -1]),
        scheme="dfsph",
    )
    potential = sim.energies()["potential"]
    for moment in (0.25, 0.5, 1.0):
        sim.run_until(moment)
        x = sim.positions
        assert sim.energies()["kinetic"] < (5e-5 if dim == 2 else 5e-4) * potential
        error = (sim.pressures - 1000 * g * (height - x[:, -1])) / (1000 * g * height)
        assert np.sqrt(np.mean(error**2)) < (0.03 if dim == 2 else 0.15)
    assert ((x > 0) & (x < size)).all()
    assert sim.compression() < 0.02


def test_a_tank_without_pressure_finds_it() -> None:
    water = lattice((0, 0), (1, 0.5), 0.05)
    sim = Simulation(water, spacing=0.05, gravity=(0, -9.81), walls=tank((1, 1), 0.05), scheme="dfsph")
    sim.run_until(1.0)
    exact = 9810 * (0.5 - sim.positions[:, 1])
    assert np.sqrt(np.mean((sim.pressures - exact) ** 2)) < 0.1 * 9810 * 0.5
    assert sim.positions[:, 1].max() == pytest.approx(0.475, abs=0.025)


def test_the_front_of_a_dam_break_follows_the_experiment_in_few_steps() -> None:
    found = flows.koshizuka_front(20, scheme="dfsph")
    assert found["rms"] < 0.1
    assert found["left"] == 0
    assert found["steps"] < 500  # delta takes ten times as many


def test_solvers_end_a_collision_without_compression() -> None:
    # Two blocks that meet: momentum is conserved to rounding, and each solver reaches its tolerance.
    left, right = lattice((0, 0), (0.5, 0.5), 0.05), lattice((0.5, 0), (1, 0.5), 0.05)
    x = np.concatenate([left, right])
    u = np.where(x[:, :1] < 0.5, [[1.0, 0.2]], [[-1.0, 0.0]])
    sim = Simulation(x, spacing=0.05, velocities=u, scheme="dfsph", precision="double")
    before = sim.velocities.sum(axis=0)
    most = 0.0
    for _ in range(30):
        sim.run(1)
        most = max(most, sim.compression())
        assert max(sim.solved["density_error"], sim.solved["divergence_error"]) <= 1e-3
        assert sim.solved["density_iterations"] < 100
    assert most < 0.1  # where blocks meet, for a few steps
    assert sim.compression() < 0.03
    assert np.allclose(sim.velocities.sum(axis=0), before, atol=1e-9)
    assert (sim.velocities[:100, 0] < 0.9).all()


@pytest.mark.parametrize("dim", [2, 3])
@pytest.mark.parametrize("precision", ["single", "double"])
def test_threads_instruction_sets_and_restarts_change_no_bit(dim: int, precision: str) -> None:
    def bits(threads: int) -> bytes:
        sim = splash(dim, precision=precision, scheme="dfsph")
        sim.run(6)
        sim = Simulation.restore(sim.state()) if threads == 2 else sim
        sim.run(6)
        assert sim.solved["density_iterations"] >= 2
        return numbers(sim) + sim.pressures.tobytes() + repr(sim.solved).encode()

    assert_same_bits_everywhere(bits)


def test_a_scene_runs_restarts_and_reports_its_solvers(tmp_path: Path) -> None:
    file, small = scenes.find("dam_break"), ["sph.spacing=0.1", "sph.scheme=dfsph", "run.threads=1"]
    scene = load(file, settings=[*small, "run.duration=0.6"])
    whole = run(scene, tmp_path / "whole").solver.simulation
    rest = run_in_parts(scene, tmp_path / "parts").solver.simulation
    assert numbers(rest) == numbers(whole)
    assert rest.time == whole.time == pytest.approx(0.6, rel=1e-9)
    assert ((whole.positions > 0) & (whole.positions < [4, 5])).all()
    with (tmp_path / "whole" / "table.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert rows[-1]["limit"] in {"5", "6"}  # flow, pressure
    assert all(2 <= float(row["density_iterations"]) < 100 for row in rows[1:])
    assert all(float(row["density_error"]) <= 1e-3 for row in rows)
    assert all(float(row["divergence_error"]) <= 1e-3 for row in rows)
    assert rows == list(csv.DictReader((tmp_path / "parts" / "table.csv").read_text().splitlines()))


def test_fluid_at_rest_without_forces_takes_finite_steps() -> None:
    water = lattice((0, 0), (0.5, 0.5), 0.1)
    sim = Simulation(water, spacing=0.1, sound_speed=10.0, viscosity=Laminar(0.0), scheme="dfsph")
    assert sim.dt == pytest.approx(0.4 * 0.1 / 0.01)  # a thousandth of the speed of sound
    sim.run(3)
    assert np.isfinite(sim.positions).all()
    assert np.abs(sim.positions - water).max() < 0.05
    # A particle without neighbours flies on.
    lone = Simulation([[0.0, 0.0]], spacing=0.1, velocities=[[1.0, 2.0]], viscosity=Laminar(0.0), scheme="dfsph")
    lone.run(10)
    assert np.allclose(lone.positions, lone.time * np.array([1.0, 2.0]))


def test_solvers_that_give_up_are_reported() -> None:
    water = lattice((0, 0), (0.5, 0.5), 0.05)
    options = {"gravity": (0, -9.81), "walls": tank((0.5, 1.0), 0.05), "scheme": "dfsph"}
    sim = Simulation(water, spacing=0.05, tolerance=1e-12, **options)  # type: ignore[arg-type]
    with pytest.warns(SolverWarning, match=r"gave up \d+ time\(s\) .* compression of up to .*; use a smaller courant"):
        sim.run(2)
    sim.run(1)  # once is enough


def test_pressures_of_a_crowd_stay_finite() -> None:
    # Two layers at nearly one place: steps of the solvers that suit a lattice would be too long.
    water = lattice((0, 0), (1, 1), 0.05)
    both = np.concatenate([water, water + np.array([0.012, 0.0])])
    with pytest.warns(OverlapWarning, match=r"pairs of particles are closer than 0.55 spacings"):
        sim = Simulation(both, spacing=0.05, sound_speed=1e4, scheme="dfsph")
    assert np.isfinite(sim.accelerations).all()
    assert 2 < sim.solved["density_iterations"] < 100
    assert sim.solved["density_error"] <= 1e-3


def test_fluid_without_a_free_surface_is_warned_of() -> None:
    water = lattice((0, 0), (1, 1), 0.1)
    flow = {"spacing": 0.1, "velocities": np.full(water.shape, 0.5), "scheme": "dfsph"}
    with pytest.warns(SolverWarning, match=r"no particle is at a free surface, .* use scheme=\"edac\""):
        Simulation(water, box=(1.0, 1.0), **flow).run(2)  # type: ignore[arg-type]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Simulation(water, box=(1.0, None), **flow).run(2)  # type: ignore[arg-type]


def test_options_of_other_schemes_are_refused() -> None:
    def make(**options: object) -> Simulation:
        return Simulation([[0.0, 0.0]], spacing=0.1, sound_speed=1.0, **{"scheme": "dfsph", **options})  # type: ignore[arg-type]

    refused: list[tuple[dict[str, object], str]] = [
        ({"state": "tait"}, "state must be"),
        ({"diffusion": 0.1}, "diffusion must be 0"),
        ({"shifting": 1.0}, "shifting must be 0"),
        ({"tolerance": 0.5}, "tolerance must be at most 0.1"),
        ({"tolerance": 0.01, "scheme": "delta"}, "tolerance must be used with"),
        ({"phases": [vc.sph.Phase(density=1.0)]}, "phases must be used with"),
        ({"courant": 2.0}, "courant must be at most 1"),
    ]
    for options, text in refused:
        with pytest.raises(InputError, match=text):
            make(**options)
    none = np.zeros((0, 3))
    with pytest.raises(InputError, match="must have the scheme delta"):
        make().set_bodies(0, none, none, np.zeros(0, np.uint32), slip=True)
    for setting in ("sph.diffusion=0.1", "sph.shifting=1", "sph.background=0.004"):
        with pytest.raises(InputError, match="must not be given with the scheme dfsph"):
            load(scenes.find("still_tank"), settings=["sph.scheme=dfsph", setting])
    for setting in ("sph.tolerance=0.01", "sph.background=0.004"):
        with pytest.raises(InputError, match="must not be given with the scheme delta"):
            load(scenes.find("still_tank"), settings=[setting])
