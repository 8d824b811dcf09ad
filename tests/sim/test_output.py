"""Output files: VTKHDF series, tables and restart files, also after a kill or on a full disk."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sim.busy import busy
from vicinal import InputError, sim
from vicinal.dem import Simulation
from vicinal.dem.solver import GrainSolver
from vicinal.sim.frame_log import append_frame, read_frames
from vicinal.sim.restart import load_restart, save_restart
from vicinal.sim.series import LOOSE_PARTS, SeriesReader, SeriesWriter, log_of
from vicinal.sim.table import Table
from vicinal.sim.vtkhdf import Frame, vertices


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def frame(k):
    """A step whose numbers of points and cells differ from those of all others; some have none."""
    rng = np.random.default_rng(k)
    n = int(rng.integers(0, 9)) if k else 5
    m = int(rng.integers(0, 4)) if n > 1 else 0
    lines = (rng.integers(0, max(n, 1), 2 * m).astype(np.int32), np.arange(0, 2 * m + 1, 2, dtype=np.int32))
    data = {"radius": rng.random(n), "velocity": rng.random((n, 3)).astype(np.float32)}
    points = rng.random((n, 3)).astype(np.float32)
    return Frame(0.1 * k, points, {**vertices(n), "Lines": lines}, data, {"force": rng.random(n + m)})


def check(path, count):
    series = SeriesReader(path)
    assert series.times == pytest.approx(0.1 * np.arange(count))
    for k in range(count):
        read, expected = series[k], frame(k)
        assert np.array_equal(read.points, expected.points)
        for name, values in expected.point_data.items():
            assert np.array_equal(read.point_data[name], values)
        assert np.array_equal(read.cell_data["force"], expected.cell_data["force"])
        for kind, (ids, offsets) in expected.cells.items():
            if len(offsets) > 1:
                assert np.array_equal(read.cells[kind][0], ids)
                assert np.array_equal(read.cells[kind][1], offsets)


@pytest.fixture(params=["every step is indexed", "steps wait in the log", "some wait"])
def writer(request, monkeypatch):
    """Makes writers that write the index at fixed steps instead of at times."""
    monkeypatch.setattr("vicinal.sim.series.INDEX_SECONDS", 0.0 if request.param.startswith("every") else np.inf)
    monkeypatch.setattr("vicinal.sim.series.INDEX_SHARE", np.inf)
    if request.param == "some wait":
        monkeypatch.setattr("vicinal.sim.series.LOG_BYTES", 3000)
    return SeriesWriter


def test_a_series_is_complete_after_every_step_and_one_file_at_the_end(tmp_path, writer):
    path = tmp_path / "a.vtkhdf"
    count = LOOSE_PARTS + 3
    with writer(path) as series:
        for k in range(count):
            series.append(frame(k))
            assert len(series) == k + 1
            if k in {0, 1, LOOSE_PARTS - 1, LOOSE_PARTS, count - 1}:
                check(path, k + 1)
    check(path, count)
    assert names(tmp_path) == ["a.vtkhdf"]


@pytest.mark.parametrize("closed", [True, False])
def test_a_series_goes_on_from_any_of_its_steps(tmp_path, closed, writer):
    path = tmp_path / "a.vtkhdf"
    series = writer(path)
    for k in range(4):
        series.append(frame(k))
    if closed:
        series.close()
    with writer(path, keep=0.15) as series:
        check(path, 2)
        for k in range(2, 5):
            series.append(frame(k))
    check(path, 5)
    assert names(tmp_path) == ["a.vtkhdf"]


def test_the_files_can_be_moved_while_they_are_written(tmp_path):
    (tmp_path / "here").mkdir()
    series = SeriesWriter(tmp_path / "here" / "a.vtkhdf")
    series.append(frame(0))
    series.append(frame(1))
    shutil.move(tmp_path / "here", tmp_path / "there")
    check(tmp_path / "there" / "a.vtkhdf", 2)


def test_vtk_reads_what_we_write(tmp_path):
    hdf = pytest.importorskip("vtkmodules.vtkIOHDF", reason="vtk is not installed; pip install vtk to check with it")
    from vtkmodules.util.numpy_support import vtk_to_numpy

    path = tmp_path / "a.vtkhdf"
    series = SeriesWriter(path)
    for k in range(LOOSE_PARTS + 2):
        series.append(frame(k))
        if k % 2:
            series.index()
    for finished in (False, True):
        if finished:
            series.close()
        reader = hdf.vtkHDFReader()
        reader.SetFileName(str(path))
        reader.UpdateInformation()
        assert reader.GetNumberOfSteps() == LOOSE_PARTS + 2
        for k in range(LOOSE_PARTS + 2):
            reader.SetStep(k)
            reader.Update()
            read, expected = reader.GetOutput(), frame(k)
            assert reader.GetTimeValue() == pytest.approx(expected.time)
            assert read.GetNumberOfPoints() == read.GetVerts().GetNumberOfCells() == len(expected.points)
            if len(expected.points):
                assert np.array_equal(vtk_to_numpy(read.GetPoints().GetData()), expected.points)
                velocity = vtk_to_numpy(read.GetPointData().GetArray("velocity"))
                assert np.array_equal(velocity, expected.point_data["velocity"])
                force = vtk_to_numpy(read.GetCellData().GetArray("force"))
                assert np.array_equal(force, expected.cell_data["force"])


def test_a_frame_is_written_in_as_many_calls_as_the_system_needs(tmp_path, monkeypatch):
    log, write, left = tmp_path / "log", os.write, [10**9]

    def little(descriptor, content):
        if left[0] <= 0:
            raise OSError(28, "No space left on device")
        left[0] -= 7
        return write(descriptor, content[:7])

    monkeypatch.setattr(os, "write", little)
    size = append_frame(log, frame(0))
    assert log.stat().st_size == size > 7
    left[0] = 70  # the disk is full after a few calls
    with pytest.raises(OSError, match="No space left"):
        append_frame(log, frame(1))
    monkeypatch.setattr(os, "write", lambda *_: 0)
    with pytest.raises(OSError, match="No space left"):
        append_frame(log, frame(1))
    assert log.stat().st_size == size
    assert [found.time for found in read_frames(log)] == [0.0]


def test_files_of_steps_stay_few(tmp_path, monkeypatch):
    monkeypatch.setattr("vicinal.sim.series.INDEX_SECONDS", 0.0)
    monkeypatch.setattr("vicinal.sim.series.INDEX_SHARE", np.inf)
    path = tmp_path / "a.vtkhdf"
    series = SeriesWriter(path)
    steps = 3 * LOOSE_PARTS + 1
    for k in range(steps):
        series.append(frame(k))
    assert len(list(series.folder.iterdir())) <= LOOSE_PARTS
    check(path, steps)


def test_a_log_gives_back_its_frames_up_to_one_that_was_cut_off(tmp_path):
    log = tmp_path / "log"
    assert read_frames(log) == []
    sizes = [append_frame(log, frame(k)) for k in range(3)]
    whole = log.read_bytes()
    assert len(whole) == sum(sizes)
    for cut in (sum(sizes), sum(sizes) - 1, sizes[0] + sizes[1], sizes[0] + 7, 3):
        log.write_bytes(whole[:cut])
        assert [f.time for f in read_frames(log)] == [0.1 * k for k in range(3) if sum(sizes[: k + 1]) <= cut]
    log.write_bytes(whole[:-9] + b"\x01" + whole[-8:])
    assert len(read_frames(log)) == 2


def test_steps_that_are_in_the_index_and_in_the_log_count_once(tmp_path):
    # As after a kill between writing the index and removing the log.
    path = tmp_path / "a.vtkhdf"
    series = SeriesWriter(path)
    for k in range(3):
        series.append(frame(k))
    log = log_of(path).read_bytes()
    series.index()
    log_of(path).write_bytes(log)
    check(path, 3)
    with SeriesWriter(path, keep=1.0) as series:
        series.append(frame(3))
    check(path, 4)


def test_what_is_not_a_series_is_refused(tmp_path):
    (tmp_path / "a.vtkhdf").write_text("no")
    with pytest.raises(InputError, match="not a VTKHDF time series"):
        SeriesReader(tmp_path / "a.vtkhdf")
    with pytest.raises(FileNotFoundError):
        SeriesReader(tmp_path / "b.vtkhdf")


# Writes step after step, and prints the number of complete steps.
WRITER = """
import sys
sys.path.insert(0, {tests!r})
from pathlib import Path
from sim.test_output import frame
from vicinal.sim import series as module
module.INDEX_SECONDS, module.INDEX_SHARE = {seconds!r}, 1e9
series = module.SeriesWriter(Path({path!r}))
for k in range(100000):
    series.append(frame(k))
    print(k + 1, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals are different there")
@pytest.mark.parametrize("delay", [0.0, 0.013, 0.029])
@pytest.mark.parametrize("seconds", [0.0, 5.0])
def test_a_kill_at_any_moment_leaves_every_finished_step(tmp_path, delay, seconds):
    path = tmp_path / "a.vtkhdf"
    code = WRITER.format(tests=str(Path(__file__).parents[1]), path=str(path), seconds=seconds)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        try:
            for line in process.stdout:
                if int(line) == LOOSE_PARTS + 1:
                    break
            time.sleep(delay)
        finally:
            process.send_signal(signal.SIGKILL)
        said = [int(line) for line in process.stdout.read().split()]
    done = max([LOOSE_PARTS + 1, *said])
    count = len(SeriesReader(path))
    assert done <= count <= done + 1
    check(path, count)
    # And it can be continued.
    with SeriesWriter(path, keep=0.55) as series:
        series.append(frame(6))
    check(path, 7)


FULL = """
import resource, sys
sys.path.insert(0, {tests!r})
from pathlib import Path
import numpy as np
from sim.test_output import frame
from vicinal.sim.series import SeriesWriter
from vicinal.sim.vtkhdf import Frame, vertices
series = SeriesWriter(Path({path!r}))
for k in range(3):
    series.append(frame(k))
# Limits the size of files, as if the disk were full.
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
large = Frame(0.3, np.zeros((20_000, 3)), vertices(20_000), {{"radius": np.ones(20_000),
    "velocity": np.ones((20_000, 3), np.float32)}}, {{"force": np.ones(20_000)}})
try:
    series.append(large)
except OSError as error:
    print("failed:", type(error).__name__)
resource.setrlimit(resource.RLIMIT_FSIZE, (30_000, 100_000))
try:
    series.close()
except OSError as error:
    print("failed:", type(error).__name__)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits on file sizes are needed to simulate a full disk")
def test_a_full_disk_leaves_every_finished_step(tmp_path):
    path = tmp_path / "a.vtkhdf"
    code = FULL.format(tests=str(Path(__file__).parents[1]), path=str(path))
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert result.stdout.startswith("failed: OSError"), result.stderr
    check(path, 3)
    assert not [name for name in names(tmp_path) if name.endswith(".part")]


def test_a_table_keeps_whole_lines_only(tmp_path):
    path = tmp_path / "table.csv"
    solver = GrainSolver.build(busy())
    table = Table(path, solver.columns)
    table.append(0, 0.0, solver.row())
    solver.advance(1.0, 3)
    table.append(solver.step_count, solver.time, solver.row())
    whole = path.read_text()
    assert len({line.count(",") for line in whole.splitlines()}) == 1
    path.write_text(whole + "9,0.1,half a li")
    Table(path, solver.columns, keep=5)
    assert path.read_text() == whole
    Table(path, solver.columns, keep=2)
    assert path.read_text().count("\n") == 2


def test_a_line_of_the_table_looks_at_contacts_once(monkeypatch):
    solver = GrainSolver.build(busy())
    solver.advance(1.0, 3)
    calls = []
    contacts = Simulation.contacts
    monkeypatch.setattr(Simulation, "contacts", lambda self: calls.append(1) or contacts(self))
    solver.row()
    assert len(calls) == 1


def test_restart_files_hold_everything_exactly(tmp_path):
    path = tmp_path / "restart.npz"
    state = {"x": np.array([0.1, np.pi]), "name": "a", "number": 3, "dt": 1 / 3, "empty": np.zeros((0, 3))}
    save_restart(path, "title = 'x'", {"dem": {"simulation": state, "removed": np.int64(7)}})
    scene, states = load_restart(path)
    read = states["dem"]["simulation"]
    assert scene == "title = 'x'"
    assert np.array_equal(read["x"], state["x"])
    assert read["empty"].shape == (0, 3)
    assert (read["name"], read["number"], read["dt"], states["dem"]["removed"]) == ("a", 3, 1 / 3, 7)
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(InputError, match="not a restart file"):
        load_restart(path)


def test_the_contacts_of_a_step_are_computed_once(tmp_path, monkeypatch):
    # For the line of the table and for the frame. A state that was changed in between has its own contacts.
    fill = [{"bodies": "bead", "region": "tray", "count": 60}]
    output = {"every": 0.002, "table_every": 0.002, "contacts": True}
    scene = busy(run={"duration": 0.004}, output=output, dem={"insert": fill})
    computed = []
    contacts = Simulation.contacts
    monkeypatch.setattr(Simulation, "contacts", lambda sim: computed.append(sim.step_count) or contacts(sim))
    result = sim.run(scene, tmp_path / "out")
    assert computed == [0, 0, 100, 200]  # the first ones are checked for overlaps
    series = SeriesReader(tmp_path / "out" / "contacts.vtkhdf")
    assert len(series[2].points) == len(contacts(result.solver.simulation)["i"]) > 0
    first = result.solver.frames()["contacts.vtkhdf"]
    result.solver.row()
    result.solver.advance(0.005, 10)
    assert result.solver.frames()["contacts.vtkhdf"].time > first.time
    assert computed[4:] == [200, 200, 210]
