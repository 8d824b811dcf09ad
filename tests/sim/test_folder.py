"""The folder of results: one run at a time, no leftover files, and no invalid states."""

import copy
import errno
import json
import os
import pickle
import socket
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from sim.busy import busy
from vicinal import InputError, sim
from vicinal.cli.app import app
from vicinal.sim.lock import FolderInUseError, FolderLock
from vicinal.sim.restart import load_restart
from vicinal.sim.series import SeriesReader
from vicinal.sim.toml import dump

SHORT = {"run": {"duration": 4e-4}}


def invoke(*arguments):
    return CliRunner().invoke(app, ["run", *map(str, arguments)])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "busy.toml"
    path.write_text(dump(busy(**SHORT).table()))
    return path


# --- the lock ---------------------------------------------------------------------------------------------------------

HOLDER = """
import sys, time
from pathlib import Path
from vicinal.sim.lock import FolderLock
lock = FolderLock(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(600)
"""


@pytest.fixture
def other_process(tmp_path):
    """A process that has locked a folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    with subprocess.Popen([sys.executable, "-c", HOLDER, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_a_folder_in_use_is_refused_until_its_process_is_dead(file, tmp_path, other_process):
    out = tmp_path / "out"
    with pytest.raises(
        FolderInUseError, match=f"no other run writes into, got .*, in use .process {other_process.pid} on"
    ):
        sim.run(busy(**SHORT), out)
    refused = invoke(file, "-o", out, "--overwrite")
    assert refused.exit_code == 1
    assert "must be a folder that no other run writes into" in refused.stderr
    assert sorted(entry.name for entry in out.iterdir()) == ["run.lock"]
    # A killed process leaves the file, but not the lock.
    other_process.kill()
    other_process.wait()
    assert (out / "run.lock").exists()
    assert invoke(file, "-o", out).exit_code == 0
    assert not (out / "run.lock").exists()


@pytest.mark.parametrize("code", [errno.ENOSYS, errno.ENOTSUP, errno.ENOLCK])
def test_without_locks_of_the_system_the_process_counts(tmp_path, monkeypatch, code):
    def refuse(*_):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("fcntl.flock", refuse)
    with (
        FolderLock(tmp_path),
        pytest.raises(FolderInUseError, match=f"process {os.getpid()} on .*; wait until that run has ended"),
    ):
        FolderLock(tmp_path)
    left = json.dumps({"process": 999_999_999, "host": socket.gethostname(), "since": "yesterday"})
    (tmp_path / "run.lock").write_text(left)
    with FolderLock(tmp_path):
        assert json.loads((tmp_path / "run.lock").read_text())["process"] == os.getpid()
    assert not (tmp_path / "run.lock").exists()


FORK = """
import os, sys
from pathlib import Path
from vicinal.sim.lock import FolderInUseError, FolderLock
folder = Path(sys.argv[1])
lock = FolderLock(folder)
child = os.fork()
if child == 0:
    del lock
    os._exit(0)
os.waitpid(child, 0)
assert (folder / "run.lock").exists()
try:
    FolderLock(folder)
except FolderInUseError:
    print("still held")
"""


def test_the_end_of_a_forked_process_leaves_the_lock_of_its_parent(tmp_path):
    output = subprocess.run([sys.executable, "-c", FORK, str(tmp_path)], capture_output=True, text=True, check=True)
    assert output.stdout == "still held\n"


def test_a_restart_of_a_run_that_goes_on_is_refused(tmp_path):
    loop = sim.RunLoop(busy(), tmp_path / "out")
    steps = loop.go()
    next(steps)
    loop.save()
    with pytest.raises(FolderInUseError, match=f"process {os.getpid()} "):
        sim.run(busy(), tmp_path / "out", restart=tmp_path / "out" / "restart.npz")
    steps.close()
    sim.run(busy(), tmp_path / "out", restart=tmp_path / "out" / "restart.npz")


def test_a_run_that_cannot_start_lets_go_of_its_folder(tmp_path):
    full = busy(dem={"insert": [{"bodies": "bead", "region": "tray", "count": 100_000}]})
    with pytest.raises(InputError):
        sim.run(full, tmp_path / "out")
    with FolderLock(tmp_path / "out"):
        pass
    sim.run(busy(**SHORT), tmp_path / "out")


# --- what is in it ----------------------------------------------------------------------------------------------------


def test_the_output_must_not_be_a_file(file, tmp_path):
    (tmp_path / "notes").write_text("mine")
    for output in (tmp_path / "notes", tmp_path / "notes" / "of" / "me"):
        result = invoke(file, "-o", output)
        assert result.exit_code == 2
        assert f"must be a folder, got the file {tmp_path / 'notes'}" in " ".join(result.stderr.split())
        assert "choose another name" in result.stderr
        assert (tmp_path / "notes").read_text() == "mine"


def test_temporary_files_of_killed_processes_are_removed(tmp_path):
    out = tmp_path / "out"
    (out / "particles.vtkhdf.parts").mkdir(parents=True)
    dead = 999_999_999
    left = [out / f".restart.npz.{dead}.part", out / "particles.vtkhdf.parts" / f".000001.h5.{dead}.part"]
    alive = out / f".particles.png.{os.getppid()}.part"
    mine = out / ".notes.part"
    for path in (*left, alive, mine):
        path.write_text("half")
    sim.run(busy(**SHORT), out)
    assert not any(path.exists() for path in left)
    assert alive.exists()
    assert mine.exists()


# --- an invalid state -------------------------------------------------------------------------------------------------


def test_bodies_at_the_same_place_are_refused_before_anything_is_written(tmp_path):
    place = {"kind": "place", "bodies": "bead", "positions": [[0.02, 0.02, 0.05]] * 2}
    with pytest.raises(InputError, match="different places, got body 0 and body 1"):
        sim.run(busy(dem={"insert": [place], "max_overlap": 1e9}), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


def test_nothing_of_a_state_that_is_not_finite_is_written(tmp_path):
    out = tmp_path / "out"
    loop = sim.RunLoop(busy(), out)
    loop.solver.simulation._core.set("velocities", np.full((61, 3), np.nan))
    with pytest.raises(sim.UnstableError, match=r"body 0 at .* and 60 more .*no restart file was written before") as e:
        list(loop.go())
    assert e.value.last_good is None
    check_finite(out)
    report = json.loads((out / "run.json").read_text())
    assert report["status"] == "failed"
    assert "no longer finite" in report["error"]
    assert not (out / "run.lock").exists()


def check_finite(out):
    table = np.genfromtxt(out / "table.csv", delimiter=",", skip_header=1, ndmin=2)
    assert np.isfinite(table).all()
    series = SeriesReader(out / "particles.vtkhdf")
    for k in range(len(series)):
        assert np.isfinite(series[k].points).all()
        assert np.isfinite(series[k].point_data["velocity"]).all()
    assert not list(out.glob("*.parts"))


def test_the_last_good_state_is_named_and_can_be_continued_with_a_smaller_step(file, tmp_path, monkeypatch):
    out = tmp_path / "out"
    from vicinal.dem.solver import GrainSolver

    advance = GrainSolver.advance

    def breaks(self, until, steps):
        if self.step_count >= 10 and self.simulation.dt == 2e-5:
            kicks = self.simulation._core.get("half_kicks")
            kicks[3] = np.nan
            self.simulation._core.set("half_kicks", kicks)
        advance(self, until, steps)

    monkeypatch.setattr(GrainSolver, "advance", breaks)
    often = ["--set", "output.every=4e-5", "--set", "output.restart_every=4e-5", "--set", "output.table_every=2e-5"]
    result = invoke(file, "-o", out, *often)
    assert result.exit_code == 1
    assert "no longer finite at t = 0.0002, step 10" in result.stderr
    assert f"the last good state is {out / 'restart.npz'} (t = 0.0002)" in result.stderr.replace("\n", "")
    assert "vicinal run --restart" in result.stderr
    check_finite(out)
    assert load_restart(out / "restart.npz")[1]["dem"]["simulation"]["steps"] == 10
    more = invoke("--restart", out / "restart.npz", "--set", "dem.dt=1e-5", *often)
    assert more.exit_code == 0, more.stderr
    assert json.loads((out / "run.json").read_text())["step"] == 30
    assert json.loads((out / "run.json").read_text())["dem"]["time_step"]["dt"] == 1e-5


def test_overlaps_at_the_start_are_reported_and_refused(tmp_path):
    out = tmp_path / "out"
    with pytest.raises(InputError, match=r"at most 0\.1 of the smaller radius, got .*max_overlap"):
        sim.run(busy(dem={"max_overlap": 0.1}), out)
    assert not (out / "table.csv").exists()
    result = sim.run(busy(**SHORT), out)
    found = json.loads((out / "run.json").read_text())["dem"]["overlaps_at_start"]
    assert found["bodies"] > 0
    assert found["with_walls"] > 0
    assert any("overlaps at the start: " in line and "'stirrer'" in line for line in result.solver.summary())


def test_restitution_that_is_left_out_is_seen(tmp_path):
    glass = dict(busy().table()["dem"]["materials"]["glass"])
    del glass["restitution"]
    result = sim.run(busy(dem={"materials": {"glass": glass}}, **SHORT), tmp_path / "out")
    assert "restitution = 1.0" in (tmp_path / "out" / "scene.toml").read_text()
    assert "restitution 1: collisions of glass lose no energy" in result.solver.summary()
    assert not any("restitution" in line for line in sim.run(busy(**SHORT), tmp_path / "b").solver.summary())


# --- runs that fail ---------------------------------------------------------------------------------------------------


def pushed():
    """A scene in which a wall reaches the region of an emitter."""
    return sim.Scene(
        run={"duration": 0.05, "threads": 1},
        regions={"gate": {"shape": "box", "low": [-0.02, -0.02, 0.0], "high": [0.02, 0.02, 0.02]}},
        walls=[
            {
                "shape": "plane",
                "name": "piston",
                "material": "glass",
                "point": [0, 0, -0.02],
                "normal": [0, 0, 1],
                "motion": {"type": "translating", "velocity": [0, 0, 1.0]},
            }
        ],
        output={"every": 0.005},
        dem={
            "dt": 2e-5,
            "materials": {"glass": dict(busy().table()["dem"]["materials"]["glass"])},
            "bodies": {"bead": {"material": "glass", "radius": 0.002}},
            "insert": [{"kind": "emitter", "bodies": "bead", "region": "gate", "rate": 500, "every": 0.004}],
        },
    )


def check_failed(out, error):
    report = json.loads((out / "run.json").read_text())
    assert report["status"] == "failed"
    assert error in report["error"]
    assert not (out / "run.lock").exists()


def test_input_that_fails_during_the_run_ends_it_and_says_what_was_kept(tmp_path):
    out = tmp_path / "out"
    file = tmp_path / "pushed.toml"
    file.write_text(dump(pushed().table()))
    result = invoke(file, "-o", out)
    assert result.exit_code == 2
    assert "bodies that were just placed must overlap by at most 0.1 of the smaller radius, got" in result.stderr
    assert f"continue with: vicinal run --restart {out / 'restart.npz'}" in result.stderr
    check_failed(out, "bodies that were just placed must overlap")
    check_finite(out)


@pytest.mark.parametrize("kind", [RuntimeError, MemoryError, KeyboardInterrupt])
def test_an_error_of_any_kind_ends_the_run_and_a_second_one_does_not_hide_it(tmp_path, monkeypatch, kind):
    out = tmp_path / "out"
    loop = sim.RunLoop(busy(), out)

    def fails(*_):
        raise kind("no such luck")

    def fails_too(*_):
        raise OSError("no space left")

    monkeypatch.setattr(loop.solver, "advance", fails)
    monkeypatch.setattr(loop.frames, "close", fails_too)
    with pytest.raises(kind, match="no such luck"):
        list(loop.go())
    assert loop.status == "failed"
    check_failed(out, "no such luck")


def test_the_last_good_state_is_that_of_the_restart_file_that_was_given(tmp_path):
    loop = sim.RunLoop(busy(), tmp_path / "a")
    next(loop.go())
    loop.save()
    given, begin = tmp_path / "a" / "restart.npz", loop.solver.time
    sim.run(busy(), tmp_path / "b")
    again = sim.RunLoop(busy(), tmp_path / "b", restart=given)
    again.solver.simulation._core.set("velocities", np.full((61, 3), np.nan))
    with pytest.raises(sim.UnstableError) as caught:
        list(again.go())
    assert caught.value.last_good == given
    assert str(caught.value).endswith(f"the last good state is {given} (t = {begin:.6g})")


def test_a_restart_must_have_something_left_to_do(tmp_path):
    out = tmp_path / "out"
    sim.run(busy(**SHORT), out)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    result = invoke("--restart", out / "restart.npz", "--set", "run.duration=2e-4")
    assert result.exit_code == 2
    assert "run.duration must be above 0.0004, the time of " in result.stderr
    assert ", got 0.0002; " in result.stderr
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda error: pickle.loads(pickle.dumps(error))])
def test_errors_come_back_from_other_processes(tmp_path, clone):
    error = sim.UnstableError("body 3 is gone", time=0.5, step=7)
    error.name_last_good(tmp_path / "restart.npz", 0.25)
    twin = clone(error)
    assert (type(twin), str(twin), twin.time, twin.step) == (sim.UnstableError, str(error), 0.5, 7)
    assert twin.last_good == tmp_path / "restart.npz"
