"""Runs: results, bit-identical restarts, interrupts, and the command line."""

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from typer.testing import CliRunner

from sim.busy import busy
from vicinal import InputError, dem, sim
from vicinal.cli.app import app
from vicinal.sim import load
from vicinal.sim.restart import load_restart
from vicinal.sim.run import make_solver
from vicinal.sim.series import SeriesReader
from vicinal.sim.toml import dump

# Shells start background programs with SIGINT ignored; the test needs the default handler.
PROGRAM = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);from vicinal.cli import main; main()"


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole") / "out"
    return sim.run(busy(), folder)


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
    assert {"vicinal", "versions", "python", "cpu"} <= set(report["machine"])
    assert {"numpy", "h5py"} <= set(report["machine"]["versions"])
    assert report["profile"]["particle_steps"] > 60 * 600
    assert 0 < report["dem"]["time_step"]["fraction_of_collision_time"] < 1
    assert load(whole.folder / "scene.toml") == busy()


def test_series_and_table_tell_what_the_simulation_knows(whole):
    grains = whole.solver.simulation
    particles = SeriesReader(whole.folder / "particles.vtkhdf")
    assert particles.times == pytest.approx([0, 0.004, 0.008, 0.012])
    last = particles[-1]
    assert last.points == pytest.approx(grains.positions, abs=1e-7)
    assert last.point_data["velocity"] == pytest.approx(grains.velocities, rel=1e-5, abs=1e-7)
    assert last.point_data["orientation"] == pytest.approx(grains.orientations, abs=1e-6)
    contacts = SeriesReader(whole.folder / "contacts.vtkhdf")[-1]
    assert len(contacts.points) == len(grains.contacts()["i"]) > 0
    assert contacts.point_data["force"] == pytest.approx(grains.contacts()["force"], rel=1e-5)
    walls = SeriesReader(whole.folder / "walls.vtkhdf")[-1]
    # The sides of the tray are rectangles of its size.
    assert walls.points[:36].min(axis=0) == pytest.approx([0, 0, 0])
    assert walls.points[:36].max(axis=0) == pytest.approx([0.03, 0.03, 0.1])
    table = np.genfromtxt(whole.folder / "table.csv", delimiter=",", names=True, deletechars="")
    assert list(table["step"]) == list(range(0, 601, 50))
    assert table["total"] == pytest.approx(
        table["kinetic_translational"] + table["kinetic_rotational"] + table["potential"] + table["elastic"]
    )
    floor = next(wall for wall in grains.walls if wall.name == "tray-z")
    assert table["tray-z.fz"][-1] == floor.force[2]


def test_time_left_counts_what_writing_takes(tmp_path, monkeypatch):
    from time import sleep

    from vicinal.sim.output import PictureWriter

    monkeypatch.setattr(PictureWriter, "append", lambda *_: sleep(0.05))
    scene = busy(output={"every": 2e-4, "table_every": 1.0, "restart_every": 1.0}, run={"duration": 2e-3})
    for progress in sim.RunLoop(scene, tmp_path / "out").go():
        if progress.share < 1:
            assert progress.remaining >= 0.05 * (progress.done // 10) / progress.done * (100 - progress.step) * 0.999


def test_bodies_are_inserted_and_removed(whole):
    table = np.genfromtxt(whole.folder / "table.csv", delimiter=",", names=True, deletechars="")
    # One at the start, then one every two milliseconds.
    assert table["bodies"][0] == 61
    emitted = load_restart(whole.folder / "restart.npz")[1]["dem"]["feeder"]["emitted"][1, 0]
    assert emitted == 7
    removed = json.loads((whole.folder / "run.json").read_text())["dem"]["removed"]
    assert len(whole.solver) == 60 + emitted - removed
    assert removed > 0


def interrupted(folder, step):
    """Stop a run at a step right after a restart file, without its regular end."""
    loop = sim.RunLoop(busy(), folder)
    loop._chunk = 7
    for progress in loop.go():
        loop._chunk = 7
        if progress.step >= step:
            loop.save()
            return


def flat(values, prefix=""):
    for name, value in values.items():
        if isinstance(value, dict):
            yield from flat(value, f"{prefix}{name}/")
        else:
            yield f"{prefix}{name}", value


@pytest.mark.parametrize("step", [161, 300, 447])
def test_a_restart_goes_on_bit_for_bit(whole, tmp_path, step):
    # Contact history, poses of walls, emitters, outlets and random numbers are those of the uninterrupted run.
    folder = tmp_path / "out"
    interrupted(folder, step)
    result = sim.run(busy(), folder, restart=folder / "restart.npz")
    assert result.status == "finished"
    one, other = (dict(flat(load_restart(run / "restart.npz")[1])) for run in (whole.folder, folder))
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
    longer = busy(run={"duration": 0.013}, output={"every": 0.0005})
    result = sim.run(longer, tmp_path / "longer", restart=restart)
    assert result.progress.step == 650
    with pytest.raises(InputError, match=r"gravity\.2 must be the same .* run\.duration"):
        sim.run(busy(gravity=[0, 0, 0]), tmp_path / "other", restart=restart)


def test_a_restart_takes_other_materials(whole, tmp_path):
    longer = busy(run={"duration": 0.013})
    materials = longer.dem.materials
    name, material = next(iter(materials.items()))
    rough = replace(material, friction=0.9)
    changed = replace(longer, dem=replace(longer.dem, materials={**materials, name: rough}))
    result = sim.run(changed, tmp_path / "rough", restart=whole.folder)  # the folder stands for its restart file
    assert result.solver.simulation.materials[name].friction == 0.9
    assert load_restart(tmp_path / "rough")[1]["dem"]["simulation"]["settings"].count('"friction": 0.9') == 1
    heavy = replace(longer, dem=replace(longer.dem, materials={**materials, name: replace(rough, density=1)}))
    with pytest.raises(InputError, match="must keep its density"):
        sim.run(heavy, tmp_path / "heavy", restart=whole.folder)


def test_the_announcement_has_the_size_of_meshes_and_parameters_without_effect(tmp_path):
    trimesh.creation.box((40, 20, 10)).export(tmp_path / "lid.stl")  # in millimetres, but without a scale
    scene = busy()
    mesh = {"shape": "mesh", "name": "lid", "material": "glass", "file": str(tmp_path / "lid.stl"), "move": [0, 0, 99]}
    glass = replace(scene.dem.materials["glass"], kn=1e4)
    scene = replace(scene, walls=(*scene.walls, mesh), dem=replace(scene.dem, materials={"glass": glass}))
    lines = make_solver(scene).summary()
    assert "lid: mesh of 12 triangles, 40 × 20 × 10 m" in lines
    assert 'kn of glass: no effect with the law "hertz"' in lines


def test_results_do_not_depend_on_the_number_of_threads(whole, tmp_path):
    two = sim.run(busy(run={"threads": 2, "duration": 0.004}), tmp_path / "two")
    one = sim.run(busy(run={"threads": 1, "duration": 0.004}), tmp_path / "one")
    assert np.array_equal(one.solver.simulation.positions, two.solver.simulation.positions)


def test_results_are_not_overwritten_unawares(whole, tmp_path):
    with pytest.raises(FileExistsError, match="another run"):
        sim.run(busy(), whole.folder)


def test_a_step_that_is_too_long_is_warned_of(tmp_path):
    scene = busy(
        run={"duration": 4e-4},
        dem={
            "dt": 2e-4,
            "insert": [{"kind": "place", "bodies": "bead", "positions": [[0.015, 0.005, 0.01]]}],
        },
    )
    with pytest.warns(sim.SimulationWarning, match="of the collision time"):
        sim.run(scene, tmp_path / "out")
    assert "collision" in json.loads((tmp_path / "out" / "run.json").read_text())["warnings"][0]


def test_runs_work_in_threads_where_signals_do_not(tmp_path):
    scene = busy(run={"duration": 2e-4})
    thread = threading.Thread(target=sim.run, args=(scene, tmp_path / "out"))
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
    result = invoke(file, "-o", out, "--set", "run.duration=0.002")
    assert result.exit_code == 0, result.output
    assert "of the collision time" in result.stderr
    assert "of the Rayleigh time" in result.stderr
    assert "step 100: t = 0.002 of 0.002 s" in result.stderr
    for word in ("particle-steps/s", "contacts", "left", "t = "):
        assert word in result.stderr
    assert "particle-steps per second" in result.stdout
    assert load(out / "scene.toml").run.duration == 0.002
    again = invoke(file, "-o", out, "--set", "run.duration=0.002")
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr
    more = invoke("--restart", out / "restart.npz", "--set", "run.duration=0.003")
    assert more.exit_code == 0, more.output
    assert "step 150: t = 0.003 of 0.003 s" in more.stderr
    assert json.loads((out / "run.json").read_text())["step"] == 150


def test_a_single_step_is_not_called_steps(file, tmp_path):
    result = invoke(file, "-o", tmp_path / "out", "--set", "run.duration=1e-5")
    assert "2e-05 s of 1e-05 s, 1 step\n" in re.sub(r" +\n", "\n", result.stdout)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["busy.toml", "--set", "dem.dtt=1"], 2, 'did you mean "dt"'),
        (["nothing.toml"], 1, "nothing.toml"),
        (["drumm"], 2, '"drum"'),
        ([], 2, "SCENE is missing"),
        (["--restart", "nothing.npz"], 1, "nothing.npz"),
        (["--restart", "busy.toml"], 2, "busy.toml: not a restart file of vicinal"),
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
    lines = invoke("--list").stdout.splitlines()
    assert any(line.split() == ["drum", "Rotating", "drum"] for line in lines)
    (column,) = {len(line) - len(line.split(maxsplit=1)[1]) for line in lines}  # titles are below each other
    assert column == max(len(line.split()[0]) for line in lines) + 2


@pytest.mark.parametrize("use", ["wall", "region"])
def test_the_check_of_a_scene_reads_its_meshes(file, tmp_path, use):
    part = tmp_path / "part.stl"
    trimesh.creation.box((0.02, 0.02, 0.02)).export(part)
    tables = {
        "wall": '[[walls]]\nshape = "mesh"\nmaterial = "glass"\nfile = "part.stl"\n',
        "region": '[regions.part]\nshape = "mesh"\nfile = "part.stl"\n',
    }
    file.write_text(file.read_text() + "\n" + tables[use])
    assert "no errors" in invoke(file, "--check").stdout
    whole = part.read_bytes()
    for content, message in ((whole[:-50], "must have 12 triangles"), (b"", "at least 84 bytes"), (bytes(84), "got 0")):
        part.write_bytes(content)
        result = invoke(file, "--check")
        assert (result.exit_code, result.stdout) == (2, "")
        assert message in result.stderr


def test_a_full_disk_is_reported_with_what_is_left(file, tmp_path, monkeypatch):
    from vicinal.sim.output import PictureWriter

    append = PictureWriter.append

    def full(self, frames):
        if frames["particles.vtkhdf"].time > 0.006:
            raise OSError(28, "No space left on device")
        append(self, frames)

    monkeypatch.setattr(PictureWriter, "append", full)
    result = invoke(file, "-o", tmp_path / "out")
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert "restart.npz" in result.stderr
    assert len(SeriesReader(tmp_path / "out" / "particles.vtkhdf")) == 2


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_valid_output_and_a_restart_file(file, tmp_path, number):
    out = tmp_path / "out"
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "run", str(file), "-o", str(out), "--set", "run.duration=1e4"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert any("particle-steps/s" in line for line in process.stderr)
        process.send_signal(number)
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
    step = dem.Simulation.restore(load_restart(out / "restart.npz")[1]["dem"]["simulation"]).step_count
    assert step == json.loads((out / "run.json").read_text())["step"] > 0


IN_SET_UP = """
import os, signal, time
from vicinal.cli import main
from vicinal.dem.solver import GrainSolver
signal.signal(signal.SIGINT, signal.default_int_handler)
def build(*_):
    os.kill(os.getpid(), {number})
    time.sleep(60)
GrainSolver.build = build
main()
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_while_bodies_are_placed_leaves_no_lock(file, tmp_path, number):
    out = tmp_path / "out"
    program = IN_SET_UP.format(number=int(number))
    command = [sys.executable, "-c", program, "run", str(file), "-o", str(out)]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=50)
    assert (result.returncode, result.stderr) == (130, "error: interrupted\n")
    assert list(out.iterdir()) == []


def test_sigterm_while_a_run_is_prepared_raises_as_ctrl_c_does(tmp_path, monkeypatch):
    from vicinal.dem.solver import GrainSolver

    monkeypatch.setattr(GrainSolver, "build", lambda *_: os.kill(os.getpid(), signal.SIGTERM))
    with pytest.raises(KeyboardInterrupt):
        sim.run(busy(), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_sigterm_is_not_lost_in_code_that_catches_everything(tmp_path, monkeypatch):
    from vicinal.dem.solver import GrainSolver

    build = GrainSolver.build

    def catch(*arguments):
        with contextlib.suppress(BaseException):
            os.kill(os.getpid(), signal.SIGTERM)
        return build(*arguments)

    monkeypatch.setattr(GrainSolver, "build", catch)
    with pytest.raises(KeyboardInterrupt):
        sim.run(busy(), tmp_path / "out")
    assert not (tmp_path / "out" / "run.lock").exists()
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
