"""The run loop does not depend on grains: it works with another solver, whose steps vary in length."""

import json

import numpy as np
import pytest

from vicinal import InputError, sim
from vicinal.sim import solver
from vicinal.sim.restart import load_restart
from vicinal.sim.run import make_solver
from vicinal.sim.series import SeriesReader


@pytest.fixture(autouse=True)
def balls(monkeypatch):
    monkeypatch.setattr(solver, "SOLVERS", {"dem": "sim.balls"})


def scene(duration=0.3, **dem):
    output = {"every": 0.05, "table_every": 0.01, "restart_every": 0.1}
    return sim.Scene(run={"duration": duration}, output=output, dem={"count": 3, "speed": 2.0} | dem)


def test_a_solver_gets_table_series_report_and_restart_file(tmp_path):
    result = sim.run(scene(), tmp_path / "out")
    table = np.genfromtxt(tmp_path / "out" / "table.csv", delimiter=",", names=True)
    assert len(table) == 31
    assert table["height"][-1] == result.solver.balls[0, 2]
    # The first step that ends at a multiple of the interval, or later: late by less than a step.
    late = table["time"] - 0.01 * np.arange(31)
    assert (late > -1e-9).all()
    assert (late < 1e-3).all()
    series = SeriesReader(tmp_path / "out" / "balls.vtkhdf")
    assert len(series) == 7
    assert series[-1].points[0, 2] == pytest.approx(result.solver.balls[0, 2])
    assert json.loads((tmp_path / "out" / "run.json").read_text())["dem"] == {"balls": 3}
    assert load_restart(tmp_path / "out" / "restart.npz")[1]["dem"]["steps"] == result.progress.step


@pytest.mark.parametrize("chunk", [1, 13])
def test_a_restart_has_the_steps_and_events_of_the_whole_run(tmp_path, chunk):
    sim.run(scene(), tmp_path / "whole")
    loop = sim.RunLoop(scene(), tmp_path / "parts")
    for state in loop.go():
        loop._chunk = chunk
        if state.time > 0.17:
            loop.save()
            break
    sim.run(scene(), tmp_path / "parts", restart=tmp_path / "parts" / "restart.npz")
    whole, parts = (tmp_path / name for name in ("whole", "parts"))
    assert (whole / "table.csv").read_text() == (parts / "table.csv").read_text()
    assert np.array_equal(SeriesReader(whole / "balls.vtkhdf").times, SeriesReader(parts / "balls.vtkhdf").times)


def test_a_scene_needs_a_solver_and_its_table_is_checked():
    with pytest.raises(InputError, match=r"dem\.count must be a whole number from 1 to 100, got 0"):
        scene(count=0)
    with pytest.raises(InputError, match="has no solver; give one of the tables dem"):
        sim.Scene(run={"duration": 1})


def test_solvers_without_a_coupling_are_refused(monkeypatch):
    both = scene()
    monkeypatch.setattr(solver, "COUPLED", {})
    monkeypatch.setattr(sim.Scene, "solvers", lambda self: {"dem": self.dem, "sph": self.dem})
    with pytest.raises(InputError, match="one solver, got dem and sph"):
        make_solver(both)
