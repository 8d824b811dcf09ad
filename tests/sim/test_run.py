"""Runs: what is left behind, restarts bit for bit, interrupts, and the command line."""

import json
import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest
from typer.testing import CliRunner

from sim.busy import busy
from vicinal import InputError, dem
from vicinal.cli import app
from vicinal.dem.config import load
from vicinal.sim.restart import load_restart
from vicinal.sim.toml import dump
from vicinal.sim.vtkhdf import SeriesReader

# Shells give programs in the background an ignored SIGINT; the test needs the ordinary one.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from vicinal.cli import main; main()"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "out"
    return dem.run(busy(), folder)


def test_a_run_leaves_its_results_and_everything_about_itself(whole):
    assert whole.status == "finished"
    assert sorted(entry.name for entry in whole.folder.iterdir()) == [
        "contacts.vtkhdf",
        "particles.vtkhdf",
        "restart.npz",
        "run.json",
        "scene.toml",
        "table.csv",
        "walls.vtkhdf",
    ]
    report = json.loads((whole.folder / "run.json").read_text())
    assert report["status"] == "finished"
    assert report["step"] == 600
    assert {"vicinal", "numpy", "h5py", "python"} <= set(report["versions"])
    assert report["profile"]["particle_steps"] > 60 * 600
    assert 0 < report["time_step"]["fraction_of_collision_time"] < 1
    assert load(whole.folder / "scene.toml") == busy()


def test_series_and_table_tell_what_the_simulation_knows(whole):
    sim = whole.simulation
    particles = SeriesReader(whole.folder / "particles.vtkhdf")
    assert particles.times == pytest.approx([0, 0.004, 0.008, 0.012])
    last = particles[-1]
    assert last.points == pytest.approx(sim.positions, abs=1e-7)
    assert last.point_data["velocity"] == pytest.approx(sim.velocities, rel=1e-5, abs=1e-7)
    assert last.point_data["orientation"] == pytest.approx(sim.orientations, abs=1e-6)
    contacts = SeriesReader(whole.folder / "contacts.vtkhdf")[-1]
    assert len(contacts.points) == len(sim.contacts()["i"]) > 0
    assert contacts.point_data["force"] == pytest.approx(sim.contacts()["force"], rel=1e-5)
    walls = SeriesReader(whole.folder / "walls.vtkhdf")[-1]
    # The sides of the tray are rectangles of its size.
    assert walls.points[:36].min(axis=0) == pytest.approx([0, 0, 0])
    assert walls.points[:36].max(axis=0) == pytest.approx([0.03, 0.03, 0.1])
    table = np.genfromtxt(whole.folder / "table.csv", delimiter=",", names=True, deletechars="")
    assert list(table["step"]) == list(range(0, 601, 50))
    assert table["total"] == pytest.approx(
        table["kinetic_translational"] + table["kinetic_rotational"] + table["potential"] + table["elastic"]
    )
    floor = next(wall for wall in sim.walls if wall.name == "tray-z")
    assert table["tray-z.fz"][-1] == floor.force[2]


def test_time_left_counts_what_writing_takes(tmp_path, monkeypatch):
    from time import sleep

    from vicinal.dem.output import PictureWriter

    monkeypatch.setattr(PictureWriter, "append", lambda *_: sleep(0.05))
    scene = busy(output={"every": 2e-4, "table_every": 1.0, "restart_every": 1.0}, solver={"duration": 2e-3})
    for progress in dem.Run(scene, tmp_path / "out").go():
        if progress.step < progress.steps:
            assert progress.remaining >= 0.05 * (progress.done // 10) / progress.done * (progress.steps - progress.step)


def test_bodies_come_and_go(whole):
    table = np.genfromtxt(whole.folder / "table.csv", delimiter=",", names=True, deletechars="")
    # One at once, then one every two milliseconds.
    assert table["bodies"][0] == 61
    emitted = load_restart(whole.folder / "restart.npz")[2]["emitted"][1, 0]
    assert emitted == 7
    assert len(whole.simulation) == 60 + emitted - json.loads((whole.folder / "run.json").read_text())["removed"]
    assert json.loads((whole.folder / "run.json").read_text())["removed"] > 0


def interrupted(folder, step):
    """A run that is stopped at a step without a chance to tidy up, after a restart file."""
    run = dem.Run(busy(), folder)
    run._chunk = 7
    for progress in run.go():
        run._chunk = 7
        if progress.step >= step:
            run.save()
            return


@pytest.mark.parametrize("step", [161, 300, 447])
def test_a_restart_goes_on_bit_for_bit(whole, tmp_path, step):
    # Contact history, poses of walls, emitters, outlets and chance: all as if nothing had happened.
    folder = tmp_path / "out"
    interrupted(folder, step)
    result = dem.run(busy(), folder, restart=folder / "restart.npz")
    assert result.status == "finished"
    for one, other in zip(
        load_restart(whole.folder / "restart.npz")[1:], load_restart(folder / "restart.npz")[1:], strict=True
    ):
        assert one.keys() == other.keys()
        for name, value in one.items():
            if isinstance(value, np.ndarray):
                assert np.array_equal(value, other[name]), name
    assert (folder / "table.csv").read_text() == (whole.folder / "table.csv").read_text()
    for name in ("particles.vtkhdf", "contacts.vtkhdf", "walls.vtkhdf"):
        a, b = SeriesReader(whole.folder / name), SeriesReader(folder / name)
        assert np.array_equal(a.times, b.times)
        for k in range(len(a)):
            assert np.array_equal(a[k].points, b[k].points)


def test_a_restart_takes_a_longer_duration_and_nothing_that_matters(whole, tmp_path):
    restart = whole.folder / "restart.npz"
    longer = busy(solver={"duration": 0.013}, output={"every": 0.0005})
    result = dem.run(longer, tmp_path / "longer", restart=restart)
    assert result.progress.step == 650
    with pytest.raises(InputError, match=r"gravity: differs .* solver\.duration"):
        dem.run(busy(gravity=[0, 0, 0]), tmp_path / "other", restart=restart)


def test_results_do_not_depend_on_the_number_of_threads(whole, tmp_path):
    two = dem.run(busy(solver={"threads": 2, "duration": 0.004}), tmp_path / "two")
    one = dem.run(busy(solver={"threads": 1, "duration": 0.004}), tmp_path / "one")
    assert np.array_equal(one.simulation.positions, two.simulation.positions)


def test_results_are_not_overwritten_unawares(whole, tmp_path):
    with pytest.raises(FileExistsError, match="another run"):
        dem.run(busy(), whole.folder)


def test_a_step_that_is_too_long_is_warned_of(tmp_path):
    scene = busy(
        solver={"dt": 2e-4, "duration": 4e-4},
        insert=[{"kind": "place", "bodies": "bead", "positions": [[0.015, 0.005, 0.01]]}],
    )
    with pytest.warns(dem.TimeStepWarning, match="of the collision time"):
        dem.run(scene, tmp_path / "out")
    assert "collision" in json.loads((tmp_path / "out" / "run.json").read_text())["warnings"][0]


def test_runs_work_in_threads_where_signals_do_not(tmp_path):
    scene = busy(solver={"duration": 2e-4})
    thread = threading.Thread(target=dem.run, args=(scene, tmp_path / "out"))
    thread.start()
    thread.join()
    assert json.loads((tmp_path / "out" / "run.json").read_text())["status"] == "finished"


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "busy.toml"
    path.write_text(dump(busy().table()))
    return path


def invoke(*arguments):
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


def test_the_command_runs_a_file(file, tmp_path):
    out = tmp_path / "out"
    result = invoke(file, "-o", out, "--set", "solver.duration=0.002")
    assert result.exit_code == 0, result.output
    assert "of the collision time" in result.stderr
    assert "of the Rayleigh time" in result.stderr
    assert "step 100 of 100" in result.stderr
    for word in ("particle-steps/s", "contacts", "left", "t = "):
        assert word in result.stderr
    assert "particle-steps per second" in result.stdout
    assert load(out / "scene.toml").solver.duration == 0.002
    again = invoke(file, "-o", out, "--set", "solver.duration=0.002")
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr
    more = invoke("--restart", out / "restart.npz", "--set", "solver.duration=0.003")
    assert more.exit_code == 0, more.output
    assert "step 150 of 150" in more.stderr
    assert json.loads((out / "run.json").read_text())["step"] == 150


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["busy.toml", "--set", "solver.dtt=1"], 2, 'did you mean "dt"'),
        (["nothing.toml"], 1, "nothing.toml"),
        (["drumm"], 2, '"drum"'),
        ([], 2, "SCENE: is missing"),
        (["--restart", "nothing.npz"], 1, "nothing.npz"),
        (["busy.toml", "--threads", "0"], 2, "--threads"),
    ],
)
def test_wrong_arguments_have_a_message_and_a_code(file, arguments, code, message, monkeypatch):
    monkeypatch.chdir(file.parent)
    result = invoke(*arguments)
    assert result.exit_code == code
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert [entry.name for entry in file.parent.iterdir()] == ["busy.toml"]


def test_a_scene_can_be_checked_and_scenes_are_listed(file):
    assert "no errors" in invoke(file, "--check").stdout
    assert "drum" in invoke("--list").stdout


def test_a_full_disk_is_reported_with_what_is_left(file, tmp_path, monkeypatch):
    from vicinal.dem.output import PictureWriter

    append = PictureWriter.append

    def full(self, sim):
        if sim.step_count > 300:
            raise OSError(28, "No space left on device")
        append(self, sim)

    monkeypatch.setattr(PictureWriter, "append", full)
    result = invoke(file, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert "restart.npz" in result.stderr
    assert len(SeriesReader(tmp_path / "out" / "particles.vtkhdf")) == 2


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
def test_an_interrupt_leaves_valid_output_and_a_restart_file(file, tmp_path):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", str(file), "-o", str(out), "--set", "solver.duration=1e4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert any("particle-steps/s" in line for line in process.stderr)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130, errors
    assert "vicinal run --restart" in errors
    assert "Traceback" not in errors
    assert "particle-steps per second" in output
    assert json.loads((out / "run.json").read_text())["status"] == "interrupted"
    assert len(SeriesReader(out / "particles.vtkhdf")) >= 1
    assert not list(out.glob("*.parts"))
    step = dem.Simulation.restore(load_restart(out / "restart.npz")[1]).step_count
    assert step == json.loads((out / "run.json").read_text())["step"] > 0
