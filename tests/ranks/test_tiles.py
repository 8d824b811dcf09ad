"""Tiles on disk: their tasks together find exactly what one search in memory finds."""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, reject
from hypothesis import strategies as st

import vicinal as vc
from vicinal import tiles

# The launcher of the MPI that pip installed beside mpi4py, or that of the system.
LAUNCHER = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}")


def pairs_of(columns: Any) -> Any:
    """Unordered pairs as sorted rows (smaller id, larger id)."""
    none = np.zeros((0, 2), np.int64)
    ids = np.sort(np.concatenate([none, *(np.stack(part, axis=1) for part in columns)]), axis=1)
    return ids[np.lexsort(ids.T[::-1])]


@given(
    size=st.integers(0, 300),
    per_tile=st.integers(1, 200),
    dim=st.sampled_from([2, 3]),
    dtype=st.sampled_from([np.float32, np.float64]),
    periodic=st.lists(st.booleans(), min_size=3, max_size=3),
    seed=st.integers(0, 1000),
)
def test_tiles_find_the_pairs_and_counts_of_one_search(
    tmp_path_factory: pytest.TempPathFactory, size: int, per_tile: int, dim: int, dtype: Any, periodic: Any, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    points = (rng.random((size, dim)) ** rng.integers(1, 4)).astype(dtype)
    points[: size // 9] = points[:1]
    box = tuple(1.0 if flag else None for flag in periodic[:dim])
    folder = tmp_path_factory.mktemp("tiles") / "t"
    made = tiles.write(points, folder, box=box, points_per_tile=per_tile)
    assert len(made) == size
    expected = np.stack(vc.pairs(points, 0.17, box=box, sort=True), axis=1)
    assert np.array_equal(pairs_of(made.pairs(0.17)), expected)
    assert np.array_equal(made.count(0.17), vc.count(points, 0.17, box=box))


@given(
    size=st.integers(0, 150),
    per_tile=st.integers(1, 80),
    edges=st.lists(st.lists(st.floats(-3, 3), min_size=3, max_size=3), min_size=3, max_size=3),
    periodic=st.lists(st.booleans(), min_size=3, max_size=3),
    far=st.sampled_from([1.0, 200.0]),
    dtype=st.sampled_from([np.float32, np.float64]),
    seed=st.integers(0, 1000),
)
def test_tiles_of_tilted_cells(
    tmp_path_factory: pytest.TempPathFactory,
    size: int,
    per_tile: int,
    edges: Any,
    periodic: Any,
    far: float,
    dtype: Any,
    seed: int,
) -> None:
    box = np.array(edges) + 4 * np.eye(3)
    points = (far * np.random.default_rng(seed).normal(size=(size, 3))).astype(dtype)
    try:
        expected = np.stack(vc.pairs(points, 1.1, box=box, periodic=periodic, sort=True), axis=1)
    except vc.InputError:  # such as a flat cell
        reject()
    folder = tmp_path_factory.mktemp("tiles") / "t"
    made = tiles.write(points, folder, box=box, periodic=periodic, points_per_tile=per_tile)
    assert np.array_equal(pairs_of(made.pairs(1.1)), expected)
    assert np.array_equal(made.count(1.1), vc.count(points, 1.1, box=box, periodic=periodic))


def test_distances_vectors_and_shifts_are_those_of_one_search(tmp_path: Path) -> None:
    points = np.random.default_rng(1).random((500, 3))
    made = tiles.write(points, tmp_path / "t", box=1.0, points_per_tile=60)
    whole = {
        (i, j): (d, *D, *S)
        for i, j, d, D, S in zip(*vc.pairs(points, 0.2, box=1.0, want="ijdDS", half=False), strict=True)
    }
    count = 0
    for columns in made.pairs(0.2, want="ijdDS"):
        for i, j, d, D, S in zip(*columns, strict=True):
            assert whole[i, j] == (d, *D, *S)
            count += 1
    assert 2 * count == len(whole)


def test_a_file_is_read_piece_by_piece_and_tiles_are_opened_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = np.random.default_rng(2).random((1000, 2))
    np.save(tmp_path / "points.npy", points)
    monkeypatch.setattr(tiles, "CHUNK", 64)
    made = tiles.write(tmp_path / "points.npy", tmp_path / "t", points_per_tile=100)
    assert len(made.sizes) == 10
    assert max(made.sizes) < 150
    again = tiles.Tiles.open(tmp_path / "t")
    assert again == made
    expected = np.stack(vc.pairs(points, 0.05, sort=True), axis=1)
    assert np.array_equal(pairs_of(again.pairs(0.05)), expected)
    assert not (tmp_path / "t.part").exists()


def test_tasks_run_anywhere(tmp_path: Path) -> None:
    """Tasks are pickled and run by Dask."""
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    points = np.random.default_rng(3).random((600, 3))
    made = tiles.write(points, tmp_path / "t", points_per_tile=100)
    tasks = [dask.delayed(pickle.loads(pickle.dumps(task)))() for task in made.tasks(0.1)]
    results = dask.compute(*tasks, scheduler="threads")
    assert [result.tile for result in results] == list(range(6))
    expected = np.stack(vc.pairs(points, 0.1, sort=True), axis=1)
    assert np.array_equal(pairs_of([result.columns for result in results]), expected)


def test_tasks_run_on_a_cluster_of_dask(tmp_path: Path) -> None:
    """Workers are processes of their own, as on several machines with one folder."""
    dask = pytest.importorskip("dask", reason="Dask is not installed")
    cluster = pytest.importorskip("distributed", reason="Dask's cluster (dask[distributed]) is not installed")
    points = np.random.default_rng(4).random((600, 3))
    made = tiles.write(points, tmp_path / "t", points_per_tile=200, box=1.0)
    with (
        cluster.LocalCluster(n_workers=1, threads_per_worker=1, processes=True, dashboard_address=None) as workers,
        cluster.Client(workers),
    ):
        results = dask.compute(*[dask.delayed(task)() for task in made.tasks(0.1)])
    expected = np.stack(vc.pairs(points, 0.1, box=1.0, sort=True), axis=1)
    assert np.array_equal(pairs_of([result.columns for result in results]), expected)


def test_wrong_input_is_named_and_leaves_nothing(tmp_path: Path) -> None:
    place = tmp_path / "t"
    with pytest.raises(vc.InputError, match=r"source must be finite in float64, got \[nan, 0\.0\] in row 1"):
        tiles.write([[0.0, 0.0], [np.nan, 0.0]], place)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(vc.InputError, match=r"source must be a readable \.npy file"):
        tiles.write(tmp_path / "none.npy", place)
    with pytest.raises(vc.InputError, match=r"source must have shape \(n, 2\) or \(n, 3\), got \(3,\)"):
        tiles.write([1.0, 2.0, 3.0], place)
    with pytest.raises(vc.InputError, match="folder must hold tiles"):
        tiles.Tiles.open(place)
    made = tiles.write(np.zeros((3, 2)), place)
    with pytest.raises(vc.InputError, match="folder must not exist"):
        tiles.write(np.zeros((3, 2)), place)
    with pytest.raises(vc.InputError, match="cutoff must be"):
        made.tasks(-1.0)
    (place / "000000.points").write_bytes(b"")
    with pytest.raises(vc.InputError, match="folder must hold 3 points in tile 0, got 0"):
        made.count(1.0)
    with pytest.raises(vc.InputError, match="source must be finite"):
        tiles.write([[np.inf, 0.0]], place, overwrite=True)
    assert len(tiles.Tiles.open(place)) == 3
    assert len(tiles.write(np.zeros((5, 2)), place, overwrite=True)) == 5


@pytest.mark.skipif(LAUNCHER is None, reason="ranks need mpiexec, which is not installed")
def test_ranks_search_tiles_on_the_command_line(tmp_path: Path) -> None:
    pytest.importorskip("mpi4py", reason="ranks need mpi4py, which is not installed")
    points = np.random.default_rng(4).random((900, 3))
    np.save(tmp_path / "points.npy", points)
    box = "1,0,0,0.3,1,0,0,-0.2,0.9"
    options = ["--cutoff", "0.1", "--box", box, "--tiles", "--per-tile", "100", "--runner", "mpi"]

    def vicinal(source: str) -> subprocess.CompletedProcess[str]:
        program = [sys.executable, "-m", "vicinal.cli", "pairs", source, *options, "-o", "pairs.npz"]
        command = [str(LAUNCHER), "-n", "3", *program]
        environment = {**os.environ, "VICINAL_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False, env=environment
        )

    failed = vicinal("none.npy")
    assert failed.returncode != 0
    assert "source must be a readable .npy file" in failed.stderr
    done = vicinal("points.npy")
    assert done.returncode == 0, done.stderr
    assert "9, searched by 3 ranks" in done.stdout
    tilted = [[1, 0, 0], [0.3, 1, 0], [0, -0.2, 0.9]]
    expected = np.stack(vc.pairs(points, 0.1, box=tilted, sort=True), axis=1)
    found = [np.load(path) for path in sorted((tmp_path / "pairs.npz").iterdir())]
    assert len(found) == 9
    assert np.array_equal(pairs_of([(file["i"], file["j"]) for file in found]), expected)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pairs.npz", "points.npy"]
