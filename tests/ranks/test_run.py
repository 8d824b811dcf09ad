"""``vicinal run`` on several MPI ranks writes the results of one process."""

from __future__ import annotations

import importlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from ranks.launch import finish, launch, needs_launcher, start_launcher
from vicinal.cli.exits import INTERRUPTED
from vicinal.sim.pictures.draw import Look, Painter
from vicinal.sim.restart import load_restart
from vicinal.sim.series import SeriesReader

pytest.importorskip("mpi4py", reason="ranks need mpi4py, which is not installed")
pytest.importorskip("h5py", reason="the results need h5py, which is not installed")

SCENE = """
title = "A stream of balls and dumbbells"
[run]
duration = 0.012
seed = 3
[output]
every = 0.004
contacts = true
[regions.top]
shape = "box"
low = [0.01, 0.01, 0.06]
high = [0.07, 0.07, 0.09]
[regions.bottom]
shape = "box"
low = [0.0, 0.0, 0.0]
high = [0.08, 0.08, 0.02]
[regions.drain]
shape = "box"
low = [-1.0, -1.0, -1.0]
high = [0.01, 1.0, 1.0]
[[walls]]
shape = "plane"
name = "slope"
material = "glass"
point = [0, 0, 0]
normal = [0.2, 0, 1]
[dem]
dt = 2e-5
[dem.materials.glass]
youngs_modulus = 1e6
poisson_ratio = 0.25
density = 2500
friction = 0.4
restitution = 0.6
[dem.bodies.ball]
material = "glass"
radius = { distribution = "uniform", low = 0.002, high = 0.003 }
[dem.bodies.pair]
shape = "clump"
material = "glass"
offsets = [[0, 0, 0], [0.002, 0, 0]]
radii = [0.002, 0.002]
[[dem.insert]]
kind = "fill"
region = "bottom"
bodies = "ball"
count = 200
[[dem.insert]]
kind = "emitter"
region = "top"
bodies = { ball = 0.5, pair = 0.5 }
rate = 4000
velocity = [0, 0, -0.5]
[[dem.outlets]]
region = "drain"
every = 0.002
"""


FAILING = """
import sys
from mpi4py import MPI
from vicinal.cli import main
from vicinal.dem.solver import GrainSolver

advance = GrainSolver.advance

def fail(self, until, steps):
    advance(self, until, steps)
    if MPI.COMM_WORLD.rank == 1 and self.step_count > 20:
        raise RuntimeError("the second rank has failed")

GrainSolver.advance = fail
main()
"""


def run(ranks: int, *arguments: str) -> None:
    result = launch(ranks, "-m", "vicinal.cli", "run", *arguments)
    assert result.returncode == 0, result.stdout + result.stderr


def assert_same(one: Path, other: Path) -> None:
    assert (one / "table.csv").read_bytes() == (other / "table.csv").read_bytes()
    states = [load_restart(folder / "restart.npz")[1]["dem"] for folder in (one, other)]
    assert len(states[0]["simulation"]["ids"]) > 200
    for name, value in states[0]["simulation"].items():
        if name not in {"settings", "shapes"}:  # a restart makes new shapes, with other numbers
            assert np.array_equal(value, states[1]["simulation"][name]), name


@needs_launcher
def test_a_scene_on_ranks_has_the_results_of_one_process(tmp_path: Path) -> None:
    scene = tmp_path / "stream.toml"
    scene.write_text(SCENE)
    for ranks in (1, 3):
        run(ranks, str(scene), "-o", str(tmp_path / str(ranks)))
    assert_same(tmp_path / "1", tmp_path / "3")
    run(3, str(scene), "--set", "run.duration=0.006", "-o", str(tmp_path / "half"))
    run(2, "--restart", str(tmp_path / "half" / "restart.npz"), "--set", "run.duration=0.012")
    assert_same(tmp_path / "1", tmp_path / "half")
    for name in ("particles.vtkhdf", "contacts.vtkhdf", "walls.vtkhdf"):
        assert_same_series(tmp_path / "1" / name, tmp_path / "3" / name)
        assert_same_series(tmp_path / "1" / name, tmp_path / "half" / name)
    assert not (tmp_path / "1" / "particles.vtkhdf.parts").exists()
    assert len(list((tmp_path / "3" / "particles.vtkhdf.parts").iterdir())) == 3  # a file of each rank
    assert len(list((tmp_path / "3" / "walls.vtkhdf.parts").iterdir())) == 1
    # Results of ranks are replaced like all others, and drawn like all others.
    run(1, str(scene), "--set", "run.duration=0.004", "-o", str(tmp_path / "3"), "--overwrite")
    assert not list((tmp_path / "3").glob("*.parts"))
    painter = Painter(tmp_path / "half" / "particles.vtkhdf", Look(pixels=(80, 60)))
    assert len(painter.particles) == 5
    assert painter.particles[-1].points.shape == SeriesReader(tmp_path / "1" / "particles.vtkhdf")[-1].points.shape


def assert_same_series(one: Path, other: Path) -> None:
    """Compare the steps of a series; rows may be in another order. A restart adds a step at its time."""
    series, more = SeriesReader(one), SeriesReader(other)
    assert set(series.times) <= set(more.times)
    for step, moment in enumerate(series.times):
        frames = [series[step], more[more.times.tolist().index(moment)]]
        names = sorted(set(frames[0].point_data) - {"shape"})  # a restart makes new shapes, with other numbers
        columns = [[frame.points, *(frame.point_data[name] for name in names)] for frame in frames]
        tables = [np.column_stack([np.asarray(column, float) for column in some]) for some in columns]
        ordered = [table[np.lexsort(table.T)] for table in tables]
        assert np.array_equal(*ordered), (one, step)


@needs_launcher
@pytest.mark.parametrize(
    "scene", [["wave_maker", "run.duration=0.06"], ["dam_break", "run.duration=0.06", "sph.scheme=dfsph"]]
)
def test_a_fluid_on_ranks_has_the_results_of_one_process(tmp_path: Path, scene: list[str]) -> None:
    settings = ["sph.spacing=0.05", "output.every=0.02", *scene[1:]]
    coarse = [scene[0], *(part for setting in settings for part in ("--set", setting))]
    for ranks in (1, 3):
        run(ranks, *coarse, "-o", str(tmp_path / str(ranks)))
    assert (tmp_path / "1" / "table.csv").read_bytes() == (tmp_path / "3" / "table.csv").read_bytes()
    one, three = (load_restart(tmp_path / ranks / "restart.npz")[1]["sph"]["simulation"] for ranks in ("1", "3"))
    assert len(one["particles"]) > 300
    for name in ("particles", "marks", "clock", "steps"):
        assert np.array_equal(one[name], three[name]), name
    for name in ("particles.vtkhdf", "walls.vtkhdf"):
        assert_same_series(tmp_path / "1" / name, tmp_path / "3" / name)
    assert len(list((tmp_path / "3" / "particles.vtkhdf.parts").iterdir())) == 3  # a file of each rank


@needs_launcher
def test_bodies_in_a_fluid_on_ranks_have_the_results_of_one_process(tmp_path: Path) -> None:
    coarse = ["floating_block", "--set", "sph.spacing=0.04", "--set", "output.every=0.01", "--set", "run.duration=0.05"]
    for ranks, more in ((1, 1), (3, 2)):  # steps are shortened at both ends
        folder = tmp_path / str(ranks)
        run(ranks, *coarse[:-1], "run.duration=0.02", "-o", str(folder))
        run(more, "--restart", str(folder / "restart.npz"), "--set", "run.duration=0.05")
    assert (tmp_path / "1" / "table.csv").read_bytes() == (tmp_path / "3" / "table.csv").read_bytes()
    for name in ("particles.vtkhdf", "bodies.vtkhdf", "walls.vtkhdf"):
        assert_same_series(tmp_path / "1" / name, tmp_path / "3" / name)


@needs_launcher
def test_errors_end_all_ranks_with_one_message(tmp_path: Path) -> None:
    scene = tmp_path / "stream.toml"
    scene.write_text(SCENE.replace("count = 200", "count = 100000000"))
    result = launch(2, "-m", "vicinal.cli", "run", str(scene), "-o", str(tmp_path / "out"))
    assert result.returncode == 2
    assert result.stderr.count("error:") == 1


@needs_launcher
def test_ranks_with_other_scenes_are_refused(tmp_path: Path) -> None:
    scene = tmp_path / "stream.toml"
    scene.write_text(SCENE)
    # The number of steps of each rank's scene depends on its rank.
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "from mpi4py import MPI\n"
        "from vicinal import sim\n"
        "comm = MPI.COMM_WORLD\n"
        "scene = sim.load(sys.argv[1], settings=[f'run.duration={1 + comm.rank}'])\n"
        "sim.run(scene, sys.argv[2], comm=comm)\n"
    )
    result = launch(2, str(program), str(scene), str(tmp_path / "out"))
    assert result.returncode != 0
    assert "run.duration must be the same on all ranks, got 1.0 on rank 0 and 2.0 on rank 1" in result.stderr
    assert not (tmp_path / "out").exists()


@needs_launcher
@pytest.mark.parametrize("rank", [0, 1])
def test_the_kill_of_a_rank_ends_the_run_and_leaves_complete_results(tmp_path: Path, rank: int) -> None:
    scene, folder = tmp_path / "stream.toml", tmp_path / "out"
    scene.write_text(SCENE)
    process = start_launcher("-n", "2", *_endless(scene, folder))
    _wait_for_results(process, folder)
    os.kill(_process(folder, rank), signal.SIGKILL)
    assert finish(process).returncode != 0
    steps = len(SeriesReader(folder / "particles.vtkhdf"))
    assert steps >= 1
    run(1, str(scene), "-o", str(folder), "--overwrite")
    assert len(SeriesReader(folder / "particles.vtkhdf")) == 4


def test_a_launcher_without_mpi4py_or_of_another_mpi_is_named(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    import typer

    from vicinal.cli.run import run as command

    importlib.import_module("mpi4py.MPI")  # warns of other launchers when it is imported
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "4")
    with pytest.raises(typer.Exit):
        command("drum")
    assert "comm must have the 4 ranks that the launcher started, got 1" in capfd.readouterr().err
    monkeypatch.setattr("vicinal.extras._importable", lambda _: False)
    with pytest.raises(typer.Exit):
        command("drum")
    assert 'a run with mpiexec needs mpi4py; pip install "vicinal[mpi]"' in capfd.readouterr().err


def told_by(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    """Let the environment be that of another launcher."""
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PMI", "MPI_", "SLURM_")):
            monkeypatch.delenv(name)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


@pytest.mark.parametrize(
    ("variables", "ranks", "rank"),
    [
        ({}, 1, 0),
        ({"PMI_SIZE": "3", "PMI_RANK": "2"}, 3, 2),
        ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "3"}, 4, 3),  # srun with any --mpi
        ({"SLURM_STEP_NUM_TASKS": "2", "SLURM_PROCID": "1", "PMI_SIZE": "8", "PMI_RANK": "5"}, 8, 5),  # mpiexec
        ({"SLURM_NTASKS": "4"}, 1, 0),  # a script of sbatch, which runs once
        ({"PMIX_RANK": "0"}, 1, 0),
        ({"PMIX_RANK": "1", "SLURM_PROCID": "1", "SLURM_NTASKS": "4"}, 2, 1),  # at least
    ],
)
def test_what_launchers_tell_is_understood(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], ranks: int, rank: int
) -> None:
    from vicinal.distributed.launcher import own_rank, started_ranks

    importlib.import_module("mpi4py.MPI")
    told_by(monkeypatch, **variables)
    assert (started_ranks(), own_rank()) == (ranks, rank)


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"SLURM_STEP_NUM_TASKS": "4", "SLURM_PROCID": "1"}, "comm must have the 4 ranks that the launcher started"),
        ({"PMI_SIZE": "2", "MPI4PY_LIBMPI": "/nonexistent"}, "error: a run with mpiexec needs an MPI library that"),
        ({"PMIX_RANK": "0", "MPI4PY_LIBMPI": "/nonexistent"}, "uses PMIx needs an MPI library that mpi4py can load"),
    ],
)
def test_ranks_without_their_mpi_do_not_run_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, variables: dict[str, str], message: str
) -> None:
    told_by(monkeypatch, **variables)
    command = [sys.executable, "-m", "vicinal.cli", "run", "drum", "-o", str(tmp_path / "out")]
    result = subprocess.run(command, check=False, capture_output=True, text=True, timeout=100)
    assert result.returncode in {1, 2}
    assert message in result.stderr
    assert "pip install mpich" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (tmp_path / "out").exists()


@needs_launcher
@pytest.mark.parametrize(
    ("number", "receiver"),
    [(number, receiver) for number in (signal.SIGINT, signal.SIGTERM) for receiver in (0, 1, "the launcher")],
)
def test_a_signal_stops_all_ranks_after_the_same_step(tmp_path: Path, number: int, receiver: int | str) -> None:
    scene, folder = tmp_path / "stream.toml", tmp_path / "out"
    scene.write_text(SCENE)
    process = start_launcher("-n", "2", *_endless(scene, folder))
    _wait_for_results(process, folder)
    if isinstance(receiver, int):
        os.kill(_process(folder, receiver), number)
    else:
        process.send_signal(number)
    result = finish(process)
    assert result.returncode == INTERRUPTED
    assert "interrupted; continue with: vicinal run --restart" in result.stderr
    report = json.loads((folder / "run.json").read_text())
    assert report["status"] == "interrupted"
    assert load_restart(folder / "restart.npz")[1]["dem"]["simulation"]["steps"] == report["step"]
    assert not (folder / "run.lock").exists()


SIGNALLED = """
import os, signal, sys
from mpi4py import MPI
from vicinal.cli import main
from vicinal.dem.solver import GrainSolver

def build(scene, comm):
    if comm.rank == {rank}:
        os.kill(os.getpid(), signal.SIGTERM)
    comm.Barrier()

GrainSolver.build = build
main()
"""


@needs_launcher
@pytest.mark.parametrize("rank", [0, 1])
def test_a_signal_to_one_rank_while_bodies_are_placed_ends_all(tmp_path: Path, rank: int) -> None:
    program, scene = tmp_path / "program.py", tmp_path / "stream.toml"
    program.write_text(SIGNALLED.format(rank=rank))
    scene.write_text(SCENE)
    command = (sys.executable, str(program), "run", str(scene), "-o", str(tmp_path / "out"))
    result = finish(start_launcher("-n", "2", *command))
    assert result.returncode == INTERRUPTED
    assert result.stderr.count("error: interrupted") == 1
    run(1, str(scene), "-o", str(tmp_path / "out"))


@needs_launcher
def test_a_rank_that_fails_alone_ends_the_job_with_its_message(tmp_path: Path) -> None:
    for rank in ("0", "1"):
        (tmp_path / rank).mkdir()
    (tmp_path / "0" / "stream.toml").write_text(SCENE)
    command = (sys.executable, "-m", "vicinal.cli", "run", "stream.toml")
    # Every rank has a folder of its own, and one of them has no scene.
    ranks = [("-n", "1", "-wdir", str(tmp_path / rank), *command) for rank in ("0", "1")]
    result = finish(start_launcher(*ranks[0], ":", *ranks[1]))
    assert result.returncode == 1
    assert "error: stream.toml: no such file (rank 1 of 2)" in result.stderr

    program = tmp_path / "program.py"
    program.write_text(FAILING)
    scene = str(tmp_path / "0" / "stream.toml")
    command = (sys.executable, str(program), "run", scene, "--set", "run.duration=1000", "-o", str(tmp_path / "out"))
    result = finish(start_launcher("-n", "2", *command))
    assert result.returncode == 1
    assert "error: the second rank has failed (rank 1 of 2)" in result.stderr


def _wait_for_results(process: subprocess.Popen[str], folder: Path) -> None:
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline and not _runs(folder):
        time.sleep(0.1)


# Every rank writes the number of its process. Shells start background programs with SIGINT ignored.
NAMED = """
import os, pathlib, signal, sys
from mpi4py import MPI
from vicinal.cli import main
signal.signal(signal.SIGINT, signal.default_int_handler)
pathlib.Path(f"{sys.argv.pop(1)}.rank{MPI.COMM_WORLD.rank}").write_text(str(os.getpid()))
main()
"""


def _endless(scene: Path, folder: Path) -> tuple[str, ...]:
    """Return the command of a run that does not end by itself, for `start_launcher`."""
    options = ("run", str(scene), "--set", "run.duration=1000", "-o", str(folder))
    return (sys.executable, "-c", NAMED, str(folder), *options)


def _process(folder: Path, rank: int) -> int:
    """Return the number of the process of a rank."""
    return int(Path(f"{folder}.rank{rank}").read_text())


def _runs(folder: Path) -> bool:
    """Return whether a run has written its first results, after which it listens for signals."""
    return (folder / "table.csv").exists() and len((folder / "table.csv").read_text().splitlines()) > 2
